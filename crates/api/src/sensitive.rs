//! Texts that must not show up in logs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A password or key: it can be read and sent, but is not shown by `{:?}`.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sensitive(String);

impl Sensitive {
    /// Hides `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for whoever has to send it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Sensitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<hidden>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_sent_but_not_shown() {
        let key = Sensitive::new("wJalrXUtnFEMI");
        assert_eq!(format!("{key:?}"), "<hidden>");
        assert_eq!(serde_json::to_value(&key).unwrap(), "wJalrXUtnFEMI");
        assert_eq!(key.reveal(), "wJalrXUtnFEMI");
    }
}
