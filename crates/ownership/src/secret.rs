//! Secrets in wishes: values that the cloud must get and nobody else may see.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::blueprint::SlotName;
use crate::claim::Claim;
use crate::error::CloudError;
use crate::text::Text;

/// A secret value of a wish: user data, a password.
///
/// # Guarantees
/// - Shown, it is `(secret)`. [`Secret::reveal`] is the only way to the value, and it is for whoever
///   builds the request of the cloud.
/// - The memory that holds it is overwritten when the last clone is dropped.
///
/// # Caveats
/// What others made of the value before and after (a decoded object, a request) is theirs to
/// overwrite.
///
/// ```
/// # use ownership::secret::Secret;
/// let password = Secret::new("correct horse", "b0b3f3c0-5c7a-4b0e-9a53-3f6f0f3c9c11");
/// assert_eq!(format!("{password} {password:?}"), "(secret) (secret)");
/// assert_eq!(password.reveal(), "correct horse");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    value: Arc<Zeroizing<String>>,
    key: Arc<Zeroizing<String>>,
}

/// What the ledger remembers of a secret: enough to tell whether it is still the same.
///
/// It is the HMAC of claim, slot, property and value under the secret's own key, in hexadecimal. So
/// equal values of two claims, slots or properties have different digests, and whoever does not know
/// the key cannot tell whether a guess is right (`docs/decisions/0014-secrets-in-wishes.md`).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(Text);

/// Secrets by property.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets(BTreeMap<&'static str, Secret>);

/// The digests of secrets, by property.
pub type Digests = BTreeMap<&'static str, Digest>;

impl Secret {
    /// Wraps a value.
    ///
    /// Its digests are keyed with `key`: something that whoever may read the object does not know, and
    /// that stays as long as the secret does. The uid of the Kubernetes Secret that holds the value is
    /// both. Under another key an equal value counts as another secret, which costs time and nothing
    /// else.
    pub fn new(value: impl Into<String>, key: impl Into<String>) -> Self {
        let hide = |text| Arc::new(Zeroizing::new(text));
        Self {
            value: hide(value.into()),
            key: hide(key.into()),
        }
    }

    /// The value, for the request that the cloud gets, and for nothing else.
    pub fn reveal(&self) -> &str {
        &self.value
    }

    /// What the ledger remembers of it.
    pub fn digest(&self, claim: &Claim, slot: &SlotName, prop: &str) -> Digest {
        let mac = Hmac::<Sha256>::new_from_slice(self.key.as_bytes());
        let mut mac = mac.expect("HMAC takes keys of every length");
        // Neither of the first three has a line break in it.
        for part in [claim.hash().as_str(), slot.as_str(), prop] {
            mac.update(part.as_bytes());
            mac.update(b"\n");
        }
        mac.update(self.value.as_bytes());
        let bytes = mac.finalize().into_bytes();
        let first = bytes
            .first_chunk()
            .expect("32 bytes, of which 16 are enough");
        Digest(Uuid::from_bytes(*first).simple().to_string().into())
    }

    /// Whether a text repeats the value, or one of its lines that is long enough to be told from
    /// anything else.
    fn is_told_in(&self, text: &str) -> bool {
        let value = self.value.trim();
        let whole = !value.is_empty() && text.contains(value);
        let mut lines = value.lines().map(str::trim);
        whole || lines.any(|line| line.len() >= TELLING && text.contains(line))
    }
}

/// What is told in place of a cloud's words.
const WITHHELD: &str = "the cloud's message is withheld, because it repeats a secret";

/// How long a line of a secret is that no message has by chance.
const TELLING: usize = 8;

impl Digest {
    /// How many characters a digest has.
    const LEN: usize = 32;

    /// Reads a digest back from a ledger; `None` if it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        (text.len() == Self::LEN && text.chars().all(hex)).then(|| Self(text.into()))
    }

    /// The hexadecimal characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Secrets {
    /// No secrets.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// The secret of a property.
    pub fn get(&self, prop: &str) -> Option<&Secret> {
        self.0.get(prop)
    }

    /// The properties that are secret.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the ledger remembers of them.
    pub fn digests(&self, claim: &Claim, slot: &SlotName) -> Digests {
        let digest = |(prop, secret): (&&'static str, &Secret)| {
            let prop: &'static str = prop;
            (prop, secret.digest(claim, slot, prop))
        };
        self.0.iter().map(digest).collect()
    }

    /// What a cloud says as it may be told: not at all, if it repeats one of these.
    pub fn withhold_words(&self, words: &Text) -> Text {
        if self.0.values().any(|secret| secret.is_told_in(words)) {
            return WITHHELD.into();
        }
        words.clone()
    }

    /// A failure as it may be told: without the cloud's words, if they repeat one of these.
    #[must_use]
    pub fn withhold(&self, error: CloudError) -> CloudError {
        let repeats =
            |secret: &Secret| secret.is_told_in(&error.message) || secret.is_told_in(&error.code);
        if !self.0.values().any(repeats) {
            return error;
        }
        CloudError::new(error.class, "Withheld", WITHHELD)
    }
}

impl FromIterator<(&'static str, Secret)> for Secrets {
    fn from_iter<I: IntoIterator<Item = (&'static str, Secret)>>(secrets: I) -> Self {
        Self(secrets.into_iter().collect())
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::error::Class;

    const UUID: &str = "8f4e2f6a-3c1b-4e0e-9a53-0d2f8c6b7a11";

    fn claim(name: &str) -> Claim {
        Claim::new("Cluster.kubermatic.k8c.io", "", name, UUID).unwrap()
    }

    fn slot(name: &str) -> SlotName {
        SlotName::new(name).unwrap()
    }

    #[test]
    fn a_digest_tells_change_and_nothing_else() {
        let secret = Secret::new("correct horse", "key");
        let of = |secret: &Secret, claim: &Claim, name: &str, prop: &str| {
            secret.digest(claim, &slot(name), prop)
        };
        let first = of(&secret, &claim("prod"), "database", "password");
        assert_eq!(
            first,
            of(&secret.clone(), &claim("prod"), "database", "password")
        );
        // Whatever else differs, no two look equal.
        let all = BTreeSet::from([
            first,
            of(
                &Secret::new("battery staple", "key"),
                &claim("prod"),
                "database",
                "password",
            ),
            of(
                &Secret::new("correct horse", "other"),
                &claim("prod"),
                "database",
                "password",
            ),
            of(&secret, &claim("test"), "database", "password"),
            of(&secret, &claim("prod"), "replica", "password"),
            of(&secret, &claim("prod"), "database", "admin-password"),
        ]);
        assert_eq!(all.len(), 6);
        for digest in all {
            assert_eq!(Digest::parse(digest.as_str()), Some(digest));
        }
        assert_eq!(Digest::parse("correct horse"), None);
    }

    #[test]
    fn neither_value_nor_key_is_shown() {
        let secrets: Secrets = [("password", Secret::new("canary-1", "canary-2"))]
            .into_iter()
            .collect();
        let digests = secrets.digests(&claim("prod"), &slot("database"));
        let shown = format!(
            "{secrets:?} {secrets:#?} {digests:?} {}",
            secrets.0["password"]
        );
        assert!(!shown.contains("canary"), "{shown}");
    }

    #[test]
    fn a_message_that_repeats_a_secret_is_withheld() {
        let script = "#!/bin/sh\njoin --token canary-token\n";
        let secrets: Secrets = [
            ("user-data", Secret::new(script, "")),
            ("empty", Secret::new("", "")),
        ]
        .into_iter()
        .collect();
        let told = |message: &str| {
            let error = CloudError::new(Class::Fatal, "InvalidUserData", message);
            secrets.withhold(error)
        };
        let harmless = "the user data is too long";
        assert_eq!(&*told(harmless).message, harmless);
        assert_eq!(&*secrets.withhold_words(&harmless.into()), harmless);
        for line in ["line 2: join --token canary-token: not found", script] {
            let error = told(line);
            assert!(!format!("{error} {error:?}").contains("canary"), "{error}");
            assert_eq!(error.class, Class::Fatal);
            let told = secrets.withhold_words(&line.into());
            assert!(!told.contains("canary"), "{told}");
        }
    }
}
