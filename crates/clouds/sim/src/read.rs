//! Reads: what a query shows, and how old it is.

use ownership::query::InnerAnswer;
use ownership::{Answer, CloudError, Query, Target};

use crate::account::{Account, Place, before};
use crate::op::Op;
use crate::provider::{Row, Told};
use crate::record::{Sight, State};
use crate::shelf::Candidates;

/// How old the state is that a read shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Staleness {
    /// The newest state.
    Settled,
    /// The state as it was before the settings' lag, on the virtual clock.
    Lagging,
    /// Of each resource, the state before its last writes (one or two of them): it may not have
    /// existed yet, or still have existed. Writes older than the settling time are always shown.
    Before(u8),
}

impl Account {
    /// Answers a query.
    ///
    /// # Errors
    /// A throttled call, or a Kind that this account does not have. An absent resource is an empty
    /// answer.
    pub fn read(&mut self, query: &Query, staleness: Staleness) -> Result<Answer, CloudError> {
        self.take_course();
        match query {
            Query::Id(target) => self.read_one(target, staleness),
            Query::Name { .. } | Query::Marks { .. } | Query::Match { .. } => {
                self.read_many(query, staleness)
            }
            Query::Inner { of, inner } => self.read_inner(of, inner, staleness),
            Query::Operation { kind, place, name } => self.read_operation(place, kind, name),
        }
    }

    fn read_one(&mut self, target: &Target, staleness: Staleness) -> Result<Answer, CloudError> {
        let shelf = self.shelf_or_refuse(&target.place, target.kind)?;
        let row = self.shelves[shelf].row;
        self.admit(row, row.get)?;
        let sight = self.sight(shelf, staleness, true);
        let mut answer = self.empty_answer();
        if let Some(place) = self
            .place_on(shelf, &target.id)
            .filter(|it| !self.is_hidden(*it))
            && let Some(state) = self.record(place).seen(sight)
        {
            self.show(place.shelf, state, false, &mut answer);
        }
        self.count_tags(row, answer.resources.len());
        Ok(answer)
    }

    fn read_many(&mut self, query: &Query, staleness: Staleness) -> Result<Answer, CloudError> {
        let shelf = self.shelf_or_refuse(query.place(), query.kind())?;
        let row = self.shelves[shelf].row;
        let by_name = row.service.finds_names
            && match query {
                Query::Name { .. } => true,
                Query::Match { name, .. } => !name.is_empty(),
                _ => false,
            };
        let op = if by_name { row.get } else { row.list };
        self.admit(row, op)?;
        let sight = self.sight(shelf, staleness, by_name);
        let mut answer = self.empty_answer();
        let on = &self.shelves[shelf];
        let candidates = match query {
            Query::Name { name, .. } => on.maybe_named(name),
            Query::Marks { keys, .. } if keys.len() == 1 => on.maybe_tagged(&keys[0]),
            _ => Candidates::All(0..on.records.len()),
        };
        for at in candidates {
            if let Some(state) = on.records[at].seen(sight)
                && !self.is_hidden(Place { shelf, record: at })
                && query.means(&state.resource)
            {
                self.show(shelf, state, !by_name, &mut answer);
            }
        }
        if by_name {
            self.count_tags(row, answer.resources.len());
            return Ok(answer);
        }
        let listed = if row.service.filters {
            answer.resources.len()
        } else {
            self.shelves[shelf].alive
        };
        self.count_pages(op, listed);
        self.count_tags(row, listed);
        if !self.shelves[shelf].kind.lists_marks {
            self.count(row.get, listed);
        }
        Ok(answer)
    }

    fn read_inner(
        &mut self,
        of: &Target,
        inner: &'static str,
        staleness: Staleness,
    ) -> Result<Answer, CloudError> {
        let shelf = self.shelf_or_refuse(&of.place, of.kind)?;
        let (row, at) = (self.shelves[shelf].row, self.inner_at(shelf, inner)?);
        let inner_row = row.inner(at);
        self.admit(row, inner_row.list)?;
        self.count(inner_row.list, inner_row.list_calls - 1);
        let sight = self.sight(shelf, staleness, true);
        let state = self
            .place_on(shelf, &of.id)
            .and_then(|place| self.record(place).seen(sight));
        let parts = state.map_or_else(Vec::new, |state| state.inner[at].to_vec());
        self.count_pages(inner_row.list, parts.len());
        if let Some(get) = inner_row.get {
            self.count(get, parts.len());
        }
        let mut answer = self.empty_answer();
        answer.inner.push(InnerAnswer {
            of: of.clone(),
            inner,
            parts,
        });
        Ok(answer)
    }

    pub(crate) fn sight(&self, shelf: usize, staleness: Staleness, by_id: bool) -> Sight {
        match staleness {
            Staleness::Settled => Sight::Newest,
            Staleness::Before(writes) => Sight::Before {
                writes: usize::from(writes),
                since: before(self.clock.now(), self.shelves[shelf].kind.settling),
            },
            Staleness::Lagging => {
                let lag = self.settings.lag;
                let lag = if by_id { lag.by_id } else { lag.by_filter };
                Sight::AsOf(before(self.clock.now(), lag))
            }
        }
    }

    pub(crate) fn empty_answer(&self) -> Answer {
        Answer {
            date: self.clock.cloud_time(),
            ..Answer::default()
        }
    }

    fn show(&self, shelf: usize, state: &State, listing: bool, answer: &mut Answer) {
        let shelf = &self.shelves[shelf];
        for (at, inner) in shelf.kind.inner.iter().enumerate() {
            let told = match shelf.row.inner(at).told {
                Told::Never => false,
                Told::InList => listing,
                Told::Always => true,
            };
            if told {
                answer.inner.push(InnerAnswer {
                    of: state.resource.target(),
                    inner: inner.name,
                    parts: state.inner[at].to_vec(),
                });
            }
        }
        answer.resources.push(state.resource.clone());
    }

    /// Counts the calls that show the tags of so many resources, where no read does.
    pub(crate) fn count_tags(&mut self, row: &Row, resources: usize) {
        if let Some(op) = row.shows_tags {
            self.count(op, resources.div_ceil(op.page()));
        }
    }

    /// Counts the pages of a listing after the first.
    pub(crate) fn count_pages(&mut self, op: Op, items: usize) {
        let page = self.settings.page_size.unwrap_or(op.page()).max(1);
        self.count(op, items.div_ceil(page).saturating_sub(1));
    }
}
