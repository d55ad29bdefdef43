//! The tags of a resource, as a set of key and value pairs.

use crate::text::Text;

/// The tags (labels) of one resource, sorted.
///
/// A set of pairs and not a map: IBM Cloud holds several tags whose text begins with one key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tags(Vec<(Text, Text)>);

impl Tags {
    /// No tags.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The first value of `key`.
    pub fn get(&self, key: &str) -> Option<&Text> {
        let at = self.0.partition_point(|(k, _)| &**k < key);
        self.0.get(at).filter(|(k, _)| &**k == key).map(|(_, v)| v)
    }

    /// Whether this very pair is there.
    pub fn has(&self, key: &str, value: &str) -> bool {
        self.position(key, value).is_ok()
    }

    /// Adds a pair beside whatever is there.
    pub fn attach(&mut self, key: Text, value: Text) {
        if let Err(at) = self.position(&key, &value) {
            self.0.insert(at, (key, value));
        }
    }

    /// Sets `key` to `value`, in place of its other values.
    pub fn set(&mut self, key: Text, value: Text) {
        self.0.retain(|(k, _)| *k != key);
        self.attach(key, value);
    }

    /// Removes this very pair; says whether it was there.
    pub fn remove(&mut self, key: &str, value: &str) -> bool {
        match self.position(key, value) {
            Ok(at) => {
                self.0.remove(at);
                true
            }
            Err(_) => false,
        }
    }

    /// Every pair, in order.
    pub fn iter(&self) -> impl Iterator<Item = &(Text, Text)> {
        self.0.iter()
    }

    /// The pairs whose key begins with `prefix`.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a (Text, Text)> {
        let from = self.0.partition_point(|(k, _)| &**k < prefix);
        self.0[from..]
            .iter()
            .take_while(move |(k, _)| k.starts_with(prefix))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn position(&self, key: &str, value: &str) -> Result<usize, usize> {
        self.0
            .binary_search_by(|(k, v)| (&**k, &**v).cmp(&(key, value)))
    }
}

impl FromIterator<(Text, Text)> for Tags {
    fn from_iter<I: IntoIterator<Item = (Text, Text)>>(pairs: I) -> Self {
        let mut sorted: Vec<_> = pairs.into_iter().collect();
        sorted.sort();
        sorted.dedup();
        Self(sorted)
    }
}
