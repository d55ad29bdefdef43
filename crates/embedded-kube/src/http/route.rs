//! What a path addresses.

use crate::text::percent_decode;

/// What a path addresses.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// `/api`, `/apis`, and below, as far as they name groups and versions.
    Discovery(Vec<String>),
    /// A resource, or an object, or a part of one.
    Resource(Target),
    /// `/version`, `/healthz` and the like.
    Other(String),
}

/// The address of a resource, an object, or a part of an object.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) namespace: String,
    pub(super) plural: String,
    pub(super) name: String,
    pub(super) sub: String,
    /// Whether the path begins with the old `watch/`.
    pub(super) watch: bool,
}

/// Reads a path.
pub(super) fn route(path: &str) -> Route {
    // An escaped slash is a slash, as everywhere.
    let path = &percent_decode(path, false);
    if path.starts_with("//") {
        return Route::Other(path.to_owned());
    }
    if path.contains("//") {
        // An empty name is the name of nothing: too many parts for any document.
        let first = path.split('/').nth(1).unwrap_or_default();
        let mut parts = vec![first.to_owned()];
        parts.resize(5, String::new());
        return Route::Discovery(parts);
    }
    let parts: Vec<String> = path
        .split('/')
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect();
    let depth = match parts.first().map(String::as_str) {
        Some("api") => 2,
        Some("apis") => 3,
        _ => return Route::Other(path.to_owned()),
    };
    if parts.len() <= depth {
        return Route::Discovery(parts);
    }
    let mut target = Target {
        version: parts[depth - 1].clone(),
        ..Target::default()
    };
    if depth == 3 {
        target.group.clone_from(&parts[1]);
    }
    let mut rest = &parts[depth..];
    if rest[0] == "watch" {
        target.watch = true;
        rest = &rest[1..];
    }
    if rest.first().is_some_and(|part| part == "namespaces") && rest.len() > 1 {
        target.namespace.clone_from(&rest[1]);
        let own_part = rest
            .get(2)
            .is_some_and(|part| part == "status" || part == "finalize");
        if rest.len() > 2 && !own_part {
            rest = &rest[2..];
        }
    }
    let part = |index: usize| rest.get(index).cloned().unwrap_or_default();
    target.plural = part(0);
    target.name = part(1);
    target.sub = rest.get(2..).unwrap_or_default().join("/");
    if target.plural == "namespaces" && target.group.is_empty() {
        target.namespace.clear();
    }
    Route::Resource(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(path: &str) -> (String, String, String, String) {
        match route(path) {
            Route::Resource(t) => (t.namespace, t.plural, t.name, t.sub),
            other => panic!("{other:?}"),
        }
    }

    fn expect(a: &str, b: &str, c: &str, d: &str) -> (String, String, String, String) {
        (a.into(), b.into(), c.into(), d.into())
    }

    #[test]
    fn paths_are_read() {
        assert_eq!(
            target("/api/v1/namespaces/a"),
            expect("", "namespaces", "a", "")
        );
        assert_eq!(
            target("/api/v1/namespaces/a/status"),
            expect("", "namespaces", "a", "status")
        );
        assert_eq!(
            target("/api/v1/namespaces/a/secrets/b"),
            expect("a", "secrets", "b", "")
        );
        assert_eq!(
            target("/apis/g.io/v1/namespaces/a/things/b/status"),
            expect("a", "things", "b", "status")
        );
        assert_eq!(target("/apis/g.io/v1/things"), expect("", "things", "", ""));
        assert_eq!(
            route("/apis/g.io"),
            Route::Discovery(vec!["apis".into(), "g.io".into()])
        );
        assert_eq!(route("/version"), Route::Other("/version".into()));
    }
}
