//! Tags: the user's own, and the names that the original gives.

use std::collections::BTreeMap;

use ownership::input::InputError;
use ownership::mark::{self, Carrier};
use ownership::{Slot, Text};

use super::Cluster;

const TAGS: &str = "spec.additionalTags";
const NAME: &str = "Name";

impl Cluster {
    /// The slot of something that is made for the cluster: with its role, its name and the user's tags.
    pub(super) fn ours(&self, slot: Slot, role: &str, name: &str) -> Slot {
        let tags = self.tags([(NAME, name)], &BTreeMap::new());
        tagged(slot, role, tags)
    }

    /// The user's tags for everything, those for this resource, and what is said besides; the last word
    /// counts.
    pub(super) fn tags<'t>(
        &self,
        others: impl IntoIterator<Item = (&'t str, &'t str)>,
        own: &BTreeMap<String, String>,
    ) -> Vec<(Text, Text)> {
        let mut all: BTreeMap<&str, &str> = BTreeMap::new();
        // What stands in the object's record of tags may be marks, which are written anyway.
        let own = own.iter().filter(|(key, _)| !is_kept(key));
        let user = self.tags.iter().filter(|(key, _)| !self.is_mark(key));
        all.extend(
            user.chain(own)
                .map(|(key, value)| (key.as_str(), value.as_str())),
        );
        let others: Vec<(&str, &str)> = others.into_iter().collect();
        all.extend(others);
        let texts = all.into_iter();
        texts
            .map(|(key, value)| (key.into(), value.into()))
            .collect()
    }

    /// Checks the user's tags for everything.
    pub(super) fn check_tags(&self) -> Result<(), InputError> {
        for (key, value) in self.tags.iter().filter(|(key, _)| !self.is_mark(key)) {
            let field = || format!("{TAGS}.{key}");
            Carrier::AwsTags
                .check(key, value)
                .map_err(|error| InputError::new(field(), value, error.rule))?;
            if let Some(rule) = mark::reserved(Carrier::AwsTags, key) {
                return Err(InputError::new(field(), value, rule));
            }
        }
        Ok(())
    }

    /// Whether a key is the cluster's own mark, which people of the original's write among their tags.
    fn is_mark(&self, key: &str) -> bool {
        key.strip_prefix("kubernetes.io/cluster/") == Some(&self.name)
    }

    /// What says that tags are too many.
    pub(super) fn blame_tags(value: &str, rule: &str) -> InputError {
        InputError::new(TAGS, value, rule)
    }
}

/// A slot with its role and these tags.
pub(super) fn tagged(slot: Slot, role: &str, user_tags: Vec<(Text, Text)>) -> Slot {
    Slot {
        role: Some(role.into()),
        user_tags,
        ..slot
    }
}

fn is_kept(key: &str) -> bool {
    key == NAME || key.starts_with("aws:") || mark::reserved(Carrier::AwsTags, key).is_some()
}
