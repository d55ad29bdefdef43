//! Carriers: where a cloud can hold marks, and what it accepts there.

use std::borrow::Cow;

use crate::input::{self, InputError};
use crate::text::Text;

/// Where a cloud can hold marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Carrier {
    /// Tags of EC2, IAM and the other AWS services.
    AwsTags,
    /// IBM Cloud user tags: one string `key:value`, attached by CRN.
    IbmTags,
    /// Google Cloud labels.
    GcpLabels,
    /// Azure tags, through `Microsoft.Resources/tags`.
    AzureTags,
    /// The metadata of Kubernetes objects: labels. A value that no label can hold is in an annotation,
    /// beside an empty label of the same key, so that a selector finds every mark by its key.
    KubeMetadata,
}

impl Carrier {
    /// Every carrier.
    pub const ALL: [Self; 5] = [
        Self::AwsTags,
        Self::IbmTags,
        Self::GcpLabels,
        Self::AzureTags,
        Self::KubeMetadata,
    ];

    /// The tag that everything of ours carries besides its mark, whosever it is: where there are many
    /// resources that are not ours, a listing is narrowed to it.
    pub const fn badge(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::KubeMetadata => Some(("freehold.dev/managed", "true")),
            Self::AwsTags | Self::IbmTags | Self::GcpLabels | Self::AzureTags => None,
        }
    }

    /// Whether a tag stands beside another one of its key with another value: then nothing is overwritten.
    pub const fn stands_beside(self) -> bool {
        match self {
            Self::IbmTags => true,
            Self::AwsTags | Self::GcpLabels | Self::AzureTags | Self::KubeMetadata => false,
        }
    }

    /// How many tags one resource holds.
    pub const fn capacity(self) -> usize {
        match self {
            Self::AwsTags | Self::AzureTags => 50,
            // Kubernetes counts no tags, but the bytes of all metadata.
            Self::IbmTags | Self::KubeMetadata => 1000,
            Self::GcpLabels => 64,
        }
    }

    /// Writes a mark's key and value as this carrier accepts them.
    ///
    /// Where `/` is illegal it is written `_`, where `.` is illegal in a key too; [`Self::decode`]
    /// undoes it for values. A key of Kubernetes has one `/` at most: the others are written `_`.
    ///
    /// # Errors
    /// A key or value that cannot be written without losing something: too long, characters that
    /// have no place here, a `_` that could not be told from an escaped `/`, or upper case on a
    /// carrier that folds case.
    pub fn encode(self, key: &str, value: &str) -> Result<(Text, Text), InputError> {
        let key = self.encode_key(key);
        let value = match self {
            Self::AwsTags | Self::AzureTags | Self::KubeMetadata => Cow::from(value),
            Self::IbmTags => escape("tag value", value)?.into(),
            Self::GcpLabels => escape("label value", value)?.into(),
        };
        self.check(&key, &value)?;
        Ok((key.into(), value.into()))
    }

    /// Writes a mark's key, or the beginning of one, without checking it.
    pub(super) fn encode_key(self, key: &str) -> Cow<'_, str> {
        match self {
            Self::AwsTags => key.into(),
            Self::IbmTags | Self::AzureTags => key.replace('/', "_").into(),
            Self::GcpLabels => key.replace(['/', '.'], "_").into(),
            Self::KubeMetadata => match key.split_once('/') {
                Some((domain, name)) if name.contains('/') => {
                    format!("{domain}/{}", name.replace('/', "_")).into()
                }
                _ => key.into(),
            },
        }
    }

    /// What two keys share that this carrier takes for one.
    pub(crate) fn fold_key(self, key: &str) -> String {
        match self {
            Self::AzureTags => key.to_lowercase(),
            Self::AwsTags | Self::IbmTags | Self::GcpLabels | Self::KubeMetadata => key.to_owned(),
        }
    }

    /// Reads a value back that [`Self::encode`] wrote.
    pub fn decode(self, value: &str) -> String {
        match self {
            Self::AwsTags | Self::AzureTags | Self::KubeMetadata => value.to_owned(),
            Self::IbmTags | Self::GcpLabels => value.replace('_', "/"),
        }
    }

    /// The rules that the cloud itself enforces on a tag.
    ///
    /// # Errors
    /// The broken rule, with the key or value that breaks it.
    pub fn check(self, key: &str, value: &str) -> Result<(), InputError> {
        let refuse = |field, text: &str, rule: &str| Err(InputError::new(field, text, rule));
        let (longest_key, longest_value) = match self {
            Self::AwsTags => (128, 256),
            Self::IbmTags => (126, 126),
            Self::GcpLabels => (63, 63),
            Self::AzureTags => (512, 256),
            Self::KubeMetadata => (317, 1024),
        };
        if key.is_empty() {
            return refuse("tag key", key, "must not be empty");
        }
        if is_longer(key, longest_key) {
            return refuse(
                "tag key",
                key,
                &format!("must have at most {longest_key} characters"),
            );
        }
        if is_longer(value, longest_value) {
            let rule = format!("must have at most {longest_value} characters");
            return refuse("tag value", value, &rule);
        }
        match self {
            Self::AwsTags => {
                let sign = |c| matches!(c, ' ' | '_' | '.' | ':' | '/' | '=' | '+' | '-' | '@');
                let legal = |c: char| c.is_ascii_alphanumeric() || sign(c) || c.is_alphanumeric();
                if key.get(..4).is_some_and(|p| p.eq_ignore_ascii_case("aws:")) {
                    return refuse(
                        "tag key",
                        key,
                        "must not begin with 'aws:', which AWS reserves",
                    );
                }
                for (field, text) in [("tag key", key), ("tag value", value)] {
                    if !text.chars().all(legal) {
                        let rule = "must consist of letters, digits, spaces and _ . : / = + - @";
                        return refuse(field, text, rule);
                    }
                }
            }
            Self::IbmTags => {
                let legal = |c: char| {
                    c.is_ascii_lowercase()
                        || c.is_ascii_digit()
                        || matches!(c, ' ' | '_' | '-' | '.')
                };
                for (field, text) in [("tag key", key), ("tag value", value)] {
                    if !text.chars().all(legal) {
                        let rule = "must consist of a-z, 0-9, space, _ - and . (case is not kept)";
                        return refuse(field, text, rule);
                    }
                }
                if key.len() + 1 + value.len() > 128 {
                    return refuse(
                        "tag",
                        key,
                        "must have at most 128 characters with its value",
                    );
                }
            }
            Self::GcpLabels => {
                let legal = |c: char| {
                    c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-')
                };
                for (field, text) in [("label key", key), ("label value", value)] {
                    if !text.chars().all(legal) {
                        return refuse(field, text, "must consist of a-z, 0-9, _ and -");
                    }
                }
                if !key.starts_with(|c: char| c.is_ascii_lowercase()) {
                    return refuse("label key", key, "must begin with a letter");
                }
            }
            Self::AzureTags => {
                if key.contains(['<', '>', '%', '&', '\\', '?', '/']) {
                    return refuse("tag name", key, r"must not contain any of < > % & \ ? /");
                }
                if key.chars().chain(value.chars()).any(char::is_control) {
                    return refuse("tag", key, "must not contain control characters");
                }
            }
            Self::KubeMetadata => {
                let (domain, name) = key.split_once('/').unwrap_or(("", key));
                if key.contains('/') {
                    input::object_name("domain of the label key", domain)?;
                }
                if name.is_empty() || !is_label_text(name) {
                    let rule = "must have at most 63 letters, digits, _ . and -, the first and the last a \
                                letter or digit, and before a '/' at most a domain";
                    return refuse("label key", key, rule);
                }
            }
        }
        Ok(())
    }
}

/// Whether a text can be the value of a label of Kubernetes.
pub fn is_label_text(text: &str) -> bool {
    let sign = |c| matches!(c, '-' | '_' | '.');
    let framed = |c: char| c.is_ascii_alphanumeric();
    text.len() <= 63
        && text.chars().all(|c| framed(c) || sign(c))
        && (text.is_empty() || (text.starts_with(framed) && text.ends_with(framed)))
}

/// Whether a text has more characters than that. Most have fewer bytes already.
fn is_longer(text: &str, most: usize) -> bool {
    text.len() > most && text.chars().count() > most
}

/// Writes `/` as `_`; a `_` of its own would come back as `/` and is refused.
fn escape(field: &'static str, value: &str) -> Result<String, InputError> {
    if value.contains('_') {
        return Err(InputError::new(
            field,
            value,
            "must not contain '_', which stands for '/' here",
        ));
    }
    Ok(value.replace('/', "_"))
}
