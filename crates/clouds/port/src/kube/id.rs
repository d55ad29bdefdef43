//! Ids of objects: namespace, name and uid, so that no later object has the same.

use std::fmt;

use ownership::ResourceId;

/// Which object an id means. It is written `namespace/name/uid`, outside of namespaces `name/uid`: no name
/// has a slash.
///
/// ```
/// use cloud_port::kube::ObjectId;
/// use ownership::ResourceId;
///
/// let id = ResourceId::new("team-a/settings/1f2e");
/// let object = ObjectId::parse(&id).unwrap();
/// assert_eq!((object.namespace, object.name), (Some("team-a"), "settings"));
/// assert_eq!(object.id(), id);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectId<'a> {
    /// The namespace, where it is in one.
    pub namespace: Option<&'a str>,
    /// The name.
    pub name: &'a str,
    /// The uid.
    pub uid: &'a str,
}

impl<'a> ObjectId<'a> {
    /// Reads an id; `None` if it is none of an object.
    pub fn parse(id: &'a ResourceId) -> Option<Self> {
        Self::of(id.as_str())
    }

    /// Reads the text of an id; `None` if it is none of an object.
    pub fn of(text: &'a str) -> Option<Self> {
        let (path, uid) = text.rsplit_once('/')?;
        let (namespace, name) = match path.split_once('/') {
            Some((namespace, name)) => (Some(namespace), name),
            None => (None, path),
        };
        let whole = !name.is_empty() && !uid.is_empty() && !name.contains('/');
        (whole && namespace != Some("")).then_some(Self {
            namespace,
            name,
            uid,
        })
    }

    /// The id.
    pub fn id(&self) -> ResourceId {
        ResourceId::new(self.to_string())
    }
}

impl fmt::Display for ObjectId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = self.namespace {
            write!(f, "{namespace}/")?;
        }
        write!(f, "{}/{}", self.name, self.uid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_id_is_not_read_as_one() {
        for text in [
            "",
            "settings",
            "/1f2e",
            "settings/",
            "/settings/1f2e",
            "a/b/c/d",
        ] {
            assert_eq!(ObjectId::of(text), None, "{text}");
        }
        let outside = ObjectId::of("team-a/1f2e").unwrap();
        assert_eq!((outside.namespace, outside.name), (None, "team-a"));
    }
}
