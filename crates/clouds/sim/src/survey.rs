//! Surveys: everything of one Kind, by the operations that list it.

use std::sync::Arc;

use ownership::mark::Tags;
use ownership::query::InnerAnswer;
use ownership::{Answer, CloudError, Kind, Target};

use crate::account::Account;
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
        self.make_ready();
        let shelf = self.shelf_or_refuse(kind)?;
        let row = self.shelves[shelf].row;
        self.admit(row, row.list)?;
        let sight = self.sight(shelf, staleness, false);
        let mut answer = self.empty_answer();
        for record in &self.shelves[shelf].records {
            let Some(state) = record.seen(sight) else {
                continue;
            };
            let of = Target::new(kind, state.resource.id.clone());
            let inside = kind.inner.iter().zip(&state.inner);
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
        for (at, inner) in kind.inner.iter().enumerate() {
            let inner_row = row.inner(at);
            if inner_row.told == Told::Never {
                self.admit(row, inner_row.list)?;
                let told = answer.inner.iter().filter(|told| told.inner == inner.name);
                let parts = told.map(|told| told.parts.len()).sum();
                self.count_pages(inner_row.list, parts);
            }
        }
        Ok(answer)
    }
}
