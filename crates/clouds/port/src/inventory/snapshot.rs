//! A snapshot: everything of one Kind at one time, and how to find something in it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ownership::part::{InnerPart, Resource};
use ownership::query::InnerAnswer;
use ownership::time::CloudTime;
use ownership::{Answer, Kind, Query, ResourceId, Text};

use super::Silent;

/// Everything of one Kind at one time.
#[derive(Debug)]
pub(super) struct Snapshot {
    kind: &'static Kind,
    date: CloudTime,
    resources: Vec<Arc<Resource>>,
    ids: BTreeMap<ResourceId, usize>,
    names: BTreeMap<Text, Vec<usize>>,
    keys: BTreeMap<Text, Vec<usize>>,
    inner: BTreeMap<&'static str, BTreeMap<ResourceId, Vec<InnerPart>>>,
}

impl Snapshot {
    pub(super) fn new(kind: &'static Kind, survey: Answer) -> Self {
        let mut snapshot = Self {
            kind,
            date: survey.date,
            resources: survey.resources,
            ids: BTreeMap::new(),
            names: BTreeMap::new(),
            keys: BTreeMap::new(),
            inner: BTreeMap::new(),
        };
        for (at, resource) in snapshot.resources.iter().enumerate() {
            snapshot.ids.insert(resource.id.clone(), at);
            let named = snapshot.names.entry(resource.name.clone());
            named.or_default().push(at);
            for (key, _) in resource.tags.iter() {
                let tagged = snapshot.keys.entry(key.clone()).or_default();
                // A resource may have several tags of one key.
                if tagged.last() != Some(&at) {
                    tagged.push(at);
                }
            }
        }
        let mut documents = BTreeSet::new();
        for mut told in survey.inner {
            for part in &mut told.parts {
                share(&mut documents, &mut part.value);
            }
            let inside = snapshot.inner.entry(told.inner).or_default();
            inside.insert(told.of.id, told.parts);
        }
        snapshot
    }

    /// The cloud's own time of the survey.
    pub(super) fn date(&self) -> CloudTime {
        self.date
    }

    /// Whether there is a resource of this id.
    pub(super) fn has(&self, id: &ResourceId) -> bool {
        self.ids.contains_key(id)
    }

    /// What it shows. `complete` gives a resource what the listing left out.
    pub(super) fn answer(
        &self,
        query: &Query,
        complete: impl Fn(&Arc<Resource>) -> Result<Arc<Resource>, Silent>,
    ) -> Result<Answer, Silent> {
        let mut answer = Answer {
            date: self.date,
            ..Answer::default()
        };
        if let Query::Inner { of, inner } = query {
            let parts = self.inner.get(inner).and_then(|all| all.get(&of.id));
            answer.inner.push(InnerAnswer {
                of: of.clone(),
                inner,
                parts: parts.cloned().unwrap_or_default(),
            });
            return Ok(answer);
        }
        let by_marks = matches!(query, Query::Marks { .. });
        for at in self.candidates(query) {
            let listed = &self.resources[at];
            // Marks may be missing from the listing; everything else is there.
            if by_marks || query.means(listed) {
                let whole = complete(listed)?;
                if query.means(&whole) {
                    answer.resources.push(whole);
                }
            }
        }
        Ok(answer)
    }

    /// The resources to look at.
    fn candidates(&self, query: &Query) -> Vec<usize> {
        let listed = |places: Option<&Vec<usize>>| places.cloned().unwrap_or_default();
        match query {
            Query::Id(target) => self.ids.get(&target.id).copied().into_iter().collect(),
            Query::Name { name, .. } => listed(self.names.get(name)),
            Query::Match { name, .. } if !name.is_empty() => listed(self.names.get(name)),
            Query::Marks { keys, .. } if self.kind.lists_marks => {
                let tagged = keys.iter().filter_map(|key| self.keys.get(key)).flatten();
                let all: BTreeSet<usize> = tagged.copied().collect();
                all.into_iter().collect()
            }
            _ => (0..self.resources.len()).collect(),
        }
    }
}

/// Thousands of roles have the same policy: it is kept once.
fn share(known: &mut BTreeSet<Text>, text: &mut Text) {
    match known.get(text) {
        Some(same) => text.clone_from(same),
        None => {
            known.insert(text.clone());
        }
    }
}
