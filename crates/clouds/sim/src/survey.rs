//! Surveys: everything of one Kind, by the operations that list it.

use std::sync::Arc;

use ownership::mark::Tags;
use ownership::query::InnerAnswer;
use ownership::{Answer, CloudError, Kind};

use crate::account::{Account, Place};
use crate::provider::Told;
use crate::read::Staleness;

impl Account {
    /// Shows everything of one Kind with everything inside. The operations count once a page: that
    /// which lists the resources, and one for each sort of part that it does not tell.
    ///
    /// # Errors
    /// A throttled call, or a Kind that this account does not have.
    pub fn survey(
        &mut self,
        kind: &'static Kind,
        staleness: Staleness,
    ) -> Result<Answer, CloudError> {
        self.take_course();
        let shelf = self.shelf_or_refuse(&ownership::Place::HOME, kind)?;
        let row = self.shelves[shelf].row;
        self.admit(row, row.list)?;
        let sight = self.sight(shelf, staleness, false);
        let mut answer = self.empty_answer();
        for (at, record) in self.shelves[shelf].records.iter().enumerate() {
            let seen = record.seen(sight);
            let Some(state) = seen.filter(|_| !self.is_hidden(Place { shelf, record: at })) else {
                continue;
            };
            let of = state.resource.target();
            let inside = kind.inner.iter().zip(&state.inner);
            let inside = inside.filter(|(inner, _)| inner.is_listed);
            answer
                .inner
                .extend(inside.map(|(inner, parts)| InnerAnswer {
                    of: of.clone(),
                    inner: inner.name,
                    parts: parts.to_vec(),
                }));
            let mut resource = state.resource.clone();
            if !kind.lists_marks {
                Arc::make_mut(&mut resource).tags = Tags::new();
            }
            answer.resources.push(resource);
        }
        self.count_pages(row.list, answer.resources.len());
        self.count_tags(row, answer.resources.len());
        for (at, inner) in kind.inner.iter().enumerate() {
            let inner_row = row.inner(at);
            if inner.is_listed && inner_row.told == Told::Never {
                self.admit(row, inner_row.list)?;
                let told = answer.inner.iter().filter(|told| told.inner == inner.name);
                let parts = told.map(|told| told.parts.len()).sum();
                self.count_pages(inner_row.list, parts);
            }
        }
        Ok(answer)
    }
}
