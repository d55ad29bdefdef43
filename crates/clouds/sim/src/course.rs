//! What takes its time: resources that come and go, and the operations that make them.

use std::sync::Arc;

use ownership::life::{Life, Progress};
use ownership::mark::Tags;
use ownership::part::{InnerPart, Resource};
use ownership::query::InnerAnswer;
use ownership::step::Effect;
use ownership::time::Tick;
use ownership::{Answer, Class, CloudError, Kind, Target, Text};

use crate::account::{Account, Place};
use crate::provenance::Actor;

/// Everything that is under way in an account.
#[derive(Clone, Debug, Default)]
pub(crate) struct Courses {
    changes: Vec<Change>,
    /// Accepted, and not to be seen yet.
    hidden: Vec<Place>,
    operations: Vec<Operation>,
    /// What has failed, whatever became of it.
    failed: Vec<Place>,
    /// Why the next create will come to nothing.
    fails: Option<Text>,
}

/// Something that will happen to a resource.
#[derive(Clone, Debug)]
struct Change {
    place: Place,
    at: Tick,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Ready,
    Fails(Text),
    Gone(Actor),
}

/// A long-running create.
#[derive(Clone, Debug)]
struct Operation {
    name: Text,
    place: Place,
    progress: Progress,
}

impl Account {
    /// The next create is accepted, and what it makes fails.
    pub fn fail_next(&mut self, why: &str) {
        self.courses.fails = Some(why.into());
    }

    /// The next create comes to nothing, unless it does so for another reason.
    pub(crate) fn dooms_next(&mut self, why: &str) {
        self.courses.fails.get_or_insert_with(|| why.into());
    }

    /// The life of a new resource, as its create is accepted.
    pub(crate) fn first_life(&self, kind: &Kind, at_once: bool) -> Life {
        let takes_time = self.settings.pace(kind).comes.0 > 0 || self.courses.fails.is_some();
        Life::ready_if(at_once || !takes_time)
    }

    /// A resource has been accepted that is coming.
    pub(crate) fn begins(&mut self, kind: &Kind, place: Place) {
        let pace = self.settings.pace(kind);
        let what = self.courses.fails.take().map_or(What::Ready, What::Fails);
        let at = self.clock.now() + pace.comes;
        self.courses.changes.push(Change { place, at, what });
        if pace.hides {
            self.courses.hidden.push(place);
        }
        if pace.names_operations {
            let name = self.next_id("operation-").text();
            let progress = Progress::Running;
            self.courses.operations.push(Operation {
                name,
                place,
                progress,
            });
        }
    }

    /// Puts into a new resource what comes along inside it.
    pub(crate) fn bring_along(&mut self, target: &Target) {
        for (at, inner) in target.kind.inner.iter().enumerate() {
            let new = |key: &&str| InnerPart::new(*key, "", Tags::new());
            let parts: Vec<InnerPart> = inner.comes_along.iter().map(new).collect();
            if !parts.is_empty() {
                self.put_parts(Actor::Cloud, target, at, &parts);
            }
        }
    }

    /// What a create's answer tells.
    pub(crate) fn effect(&self, place: Place, resource: Arc<Resource>) -> Effect {
        let mut operations = self.courses.operations.iter().rev();
        let operation = operations.find(|operation| operation.place == place);
        let shelf = &self.shelves[place.shelf];
        let inner = if self.settings.pace(shelf.kind).tells_inside {
            let state = self.record(place).current();
            let parts = state.into_iter().flat_map(|state| &state.inner);
            let parts = shelf.kind.inner.iter().zip(parts);
            let of = resource.target();
            parts
                .map(|(inner, parts)| InnerAnswer {
                    of: of.clone(),
                    inner: inner.name,
                    parts: parts.to_vec(),
                })
                .collect()
        } else {
            Vec::new()
        };
        Effect {
            born: (!self.is_hidden(place)).then_some(resource),
            inner,
            operation: operation.map(|operation| operation.name.clone()),
        }
    }

    /// Somebody takes a deletion back, as clouds allow for some days: what is going can be used again, with
    /// its tags and what is inside. Says whether it was going.
    pub fn restore(&mut self, target: &Target) -> bool {
        self.take_course();
        let Some(place) = self.place(target).filter(|_| self.is_going(target)) else {
            return false;
        };
        let changes = &mut self.courses.changes;
        changes.retain(|change| change.place != place);
        let mut state = self.record(place).current().cloned();
        if let Some(state) = &mut state {
            Arc::make_mut(&mut state.resource).life = Life::Ready;
        }
        self.commit(place, state, |_| {});
        true
    }

    /// Whether a resource is being deleted.
    pub fn is_going(&self, target: &Target) -> bool {
        let resource = self.resource(target);
        resource.is_some_and(|resource| resource.life == Life::Going)
    }

    /// Whether a resource has ever failed.
    pub fn has_failed(&self, target: &Target) -> bool {
        let place = self.place(target);
        place.is_some_and(|place| self.courses.failed.contains(&place))
    }

    /// A deletion has been accepted: whether it takes its time.
    pub(crate) fn goes_slowly(&mut self, by: Actor, place: Place) -> bool {
        let pace = self.settings.pace(self.shelves[place.shelf].kind);
        if pace.goes.0 == 0 {
            return false;
        }
        self.courses.changes.retain(|change| change.place != place);
        let mut state = self.record(place).current().cloned();
        if let Some(state) = &mut state {
            Arc::make_mut(&mut state.resource).life = Life::Going;
        }
        self.commit(place, state, |_| {});
        self.courses.changes.push(Change {
            place,
            at: self.clock.now() + pace.goes,
            what: What::Gone(by),
        });
        true
    }

    /// Nothing more happens to a resource that has ended, and what was to make it has failed.
    pub(crate) fn ends_course(&mut self, place: Place) {
        let courses = &mut self.courses;
        courses.changes.retain(|change| change.place != place);
        courses.hidden.retain(|hidden| *hidden != place);
        for operation in &mut courses.operations {
            if operation.place == place && operation.progress == Progress::Running {
                let error = CloudError::new(Class::Retryable, "OperationFailed", "it was deleted");
                operation.progress = Progress::Failed(error);
            }
        }
    }

    /// Whether no read shows a resource yet.
    pub(crate) fn is_hidden(&self, place: Place) -> bool {
        !self.courses.hidden.is_empty() && self.courses.hidden.contains(&place)
    }

    /// How far an operation has come.
    pub(crate) fn read_operation(
        &mut self,
        place: &ownership::Place,
        kind: &'static Kind,
        name: &Text,
    ) -> Result<Answer, CloudError> {
        let shelf = self.shelf_or_refuse(place, kind)?;
        let row = self.shelves[shelf].row;
        self.admit(row, row.get)?;
        let mut operations = self.courses.operations.iter();
        let found =
            operations.find(|operation| operation.name == *name && operation.place.shelf == shelf);
        Ok(Answer {
            progress: found.map(|operation| operation.progress.clone()),
            ..self.empty_answer()
        })
    }

    /// Lets everything happen whose time has come.
    pub(crate) fn take_course(&mut self) {
        let now = self.clock.now();
        if self.courses.changes.iter().all(|change| change.at > now) {
            return;
        }
        let all = std::mem::take(&mut self.courses.changes);
        let (due, later): (Vec<_>, Vec<_>) = all.into_iter().partition(|change| change.at <= now);
        self.courses.changes = later;
        for change in due {
            self.happens(change);
        }
    }

    fn happens(&mut self, Change { place, what, .. }: Change) {
        let hidden = self.is_hidden(place);
        self.courses.hidden.retain(|hidden| *hidden != place);
        let (life, progress) = match what {
            What::Gone(by) => return self.end(by, place),
            What::Ready => (
                Life::Ready,
                Progress::Done(Some(self.record(place).life().target.id.clone())),
            ),
            What::Fails(why) => {
                self.courses.failed.push(place);
                let error = CloudError::new(Class::Retryable, "OperationFailed", why.clone());
                (Life::Failed(why), Progress::Failed(error))
            }
        };
        // What nobody has seen leaves nothing.
        if hidden && matches!(life, Life::Failed(_)) {
            self.end(Actor::Cloud, place);
        } else {
            Arc::make_mut(&mut self.shelves[place.shelf].records[place.record]).lives_on(&life);
        }
        let mut operations = self.courses.operations.iter_mut();
        if let Some(operation) = operations.find(|operation| operation.place == place) {
            operation.progress = progress;
        }
    }
}
