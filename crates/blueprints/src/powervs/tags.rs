//! The user's tags, as IBM Cloud keeps them.

use ownership::input::InputError;
use ownership::mark::{self, Carrier};
use ownership::{Slot, Text};

use super::Cluster;

impl Cluster {
    /// The user's tags for a slot.
    pub(super) fn tagged(&self, slot: Slot) -> Slot {
        let tags = self.tags.iter().map(|(key, value)| fold(key, value));
        let mut user_tags: Vec<(Text, Text)> = Vec::with_capacity(self.tags.len());
        for tag in tags {
            if !user_tags.contains(&tag) {
                user_tags.push(tag);
            }
        }
        Slot { user_tags, ..slot }
    }

    /// Checks the user's tags.
    pub(super) fn check_tags(&self) -> Result<(), InputError> {
        for (at, (key, value)) in self.tags.iter().enumerate() {
            let field = |what: &str| format!("spec.tags[{at}].{what}");
            for (what, text) in [("key", key), ("value", value)] {
                if let Some(bad) = text.chars().find(|c| matches!(c, '/' | ':' | ',')) {
                    let rule = format!(
                        "must not contain '{bad}': a tag of IBM Cloud is one text key:value of letters, \
                         digits, spaces, _, - and ."
                    );
                    return Err(InputError::new(field(what), text, rule));
                }
            }
            let (folded, low) = fold(key, value);
            Carrier::IbmTags.check(&folded, &low).map_err(|error| {
                let what = if error.field.contains("value") {
                    "value"
                } else {
                    "key"
                };
                InputError::new(field(what), &error.value, error.rule)
            })?;
            if let Some(rule) = mark::reserved(Carrier::IbmTags, &folded) {
                return Err(InputError::new(field("key"), key, rule));
            }
            let before = self.tags[..at].iter().map(|(key, value)| fold(key, value));
            if before.into_iter().any(|(other, _)| other == folded) {
                let rule = "must not be there twice; upper and lower case are one to IBM Cloud";
                return Err(InputError::new(field("key"), key, rule));
            }
        }
        Ok(())
    }

    /// What is said of tags that IBM Cloud keeps in another spelling: each with how it keeps it.
    pub fn folded_tags(&self) -> Vec<String> {
        let written = self.tags.iter().enumerate();
        written
            .filter(|(_, (key, value))| {
                let (low, value_low) = fold(key, value);
                *low != **key || *value_low != **value
            })
            .map(|(at, (key, value))| {
                let (low, value_low) = fold(key, value);
                format!(
                    "spec.tags[{at}]: IBM Cloud keeps no upper case: {key}:{value} is written \
                     {low}:{value_low}"
                )
            })
            .collect()
    }
}

/// A tag as IBM Cloud keeps it: in lower case.
fn fold(key: &str, value: &str) -> (Text, Text) {
    (key.to_lowercase().into(), value.to_lowercase().into())
}
