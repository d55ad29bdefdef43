//! Lets in who may ask what they ask.

use http::Method;
use http::request::Parts;

use super::query::Query;
use super::route::{Route, Target};
use crate::access::{self, Attributes, User};
use crate::selectors::Selector;
use crate::server::Cluster;
use crate::status::ApiResult;
use crate::text::percent_decode;

/// Who asks, if it matters: refuses who is unknown, and what they may not do.
pub(super) fn admit(
    cluster: &Cluster,
    trusted: Option<&User>,
    parts: &Parts,
    query: &Query,
    route: &Route,
) -> ApiResult<Option<User>> {
    let access = cluster.access();
    if access.is_none() {
        return Ok(None);
    }
    let method = parts.method.as_str().to_ascii_lowercase();
    let path = percent_decode(parts.uri.path(), false);
    let nothing = Target::default();
    let target = match route {
        Route::Resource(target) => target,
        _ => &nothing,
    };
    let named = !target.name.is_empty();
    let verb = match parts.method {
        _ if target.plural.is_empty() => &method,
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE if named => "delete",
        Method::DELETE => "deletecollection",
        _ if target.watch => "watch",
        _ if named => "get",
        _ if query.watch() => "watch",
        _ => "list",
    };
    // Who asks for all objects of one name asks for one object.
    let fields = query.get("fieldSelector").unwrap_or_default();
    let selected = match verb {
        "list" | "watch" if !named => Selector::parse("", fields).ok(),
        _ => None,
    };
    let name = selected
        .as_ref()
        .and_then(|selector| selector.equal("metadata.name"))
        .unwrap_or(&target.name);
    let is_namespace = target.plural == "namespaces" && target.group.is_empty();
    let attributes = Attributes {
        verb,
        group: &target.group,
        resource: &target.plural,
        sub: target.sub.split('/').next().unwrap_or_default(),
        namespace: if is_namespace {
            &target.name
        } else {
            &target.namespace
        },
        name,
        path: target.plural.is_empty().then_some(path.as_str()),
    };
    let state = cluster.lock();
    let user = access::identify(&state, access, &parts.headers, trusted, &attributes)?;
    access::authorize(&state, &user, &attributes).or_refuse(&user, &attributes)?;
    Ok(Some(user))
}
