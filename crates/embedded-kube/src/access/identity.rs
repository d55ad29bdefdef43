//! From a request to the user who asks.

use std::borrow::Cow;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};

use super::rbac::{Attributes, authorize};
use super::{ANONYMOUS, AUTHENTICATED, Access, UNAUTHENTICATED, User};
use crate::state::State;
use crate::status::{ApiError, ApiResult};
use crate::text::percent_decode;

/// The user of a request; a trusted one needs no token. With no [`Access`] everybody else is the
/// administrator, and may be who they like.
pub(crate) fn identify(
    state: &State,
    access: Option<&Access>,
    headers: &HeaderMap,
    trusted: Option<&User>,
    request: &Attributes<'_>,
) -> ApiResult<User> {
    let user = authenticate(access, headers, trusted)?;
    let request = access.map(|_| request);
    impersonate(state, request, user, headers)
}

fn authenticate(
    access: Option<&Access>,
    headers: &HeaderMap,
    trusted: Option<&User>,
) -> ApiResult<User> {
    let Some(access) = access else {
        return Ok(trusted.cloned().unwrap_or_else(User::administrator));
    };
    let header = headers.get(AUTHORIZATION).map(text);
    let token = header.as_deref().and_then(|text| {
        let (scheme, token) = text.trim().split_once(' ')?;
        (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
    });
    match (token, trusted) {
        (Some(token), _) => known(access, token).ok_or_else(ApiError::unauthorized),
        (None, Some(user)) => Ok(user.clone()),
        (None, None) if access.anonymous => Ok(User::new(ANONYMOUS, &[UNAUTHENTICATED])),
        (None, None) => Err(ApiError::unauthorized()),
    }
}

/// The user who shows a token.
pub(super) fn known(access: &Access, token: &str) -> Option<User> {
    let mut user = access.tokens.get(token.trim())?.clone();
    user.groups.push(AUTHENTICATED.to_owned());
    Some(user)
}

/// What a header says, in whatever bytes.
fn text(value: &HeaderValue) -> Cow<'_, str> {
    String::from_utf8_lossy(value.as_bytes())
}

/// What somebody wants to be: the resource that stands for it, and its part and name there.
struct Wish {
    group: &'static str,
    resource: &'static str,
    sub: String,
    namespace: String,
    name: String,
}

impl Wish {
    fn new(resource: &'static str, name: &str) -> Self {
        Self {
            group: "",
            resource,
            sub: String::new(),
            namespace: String::new(),
            name: name.to_owned(),
        }
    }
}

/// The user that a request wants to be, if it may.
fn impersonate(
    state: &State,
    request: Option<&Attributes<'_>>,
    user: User,
    headers: &HeaderMap,
) -> ApiResult<User> {
    const EXTRA: &str = "impersonate-extra-";
    let texts = |name: &str| -> Vec<String> {
        let values = headers.get_all(name).into_iter();
        values.map(|value| text(value).into_owned()).collect()
    };
    let name = texts("impersonate-user")
        .into_iter()
        .next()
        .unwrap_or_default();
    let uid = texts("impersonate-uid")
        .into_iter()
        .next()
        .unwrap_or_default();
    let groups = texts("impersonate-group");
    let mut extra: Vec<(String, String)> = Vec::new();
    for key in headers.keys() {
        if let Some(rest) = key.as_str().strip_prefix(EXTRA) {
            let rest = percent_decode(rest, false);
            let values = texts(key.as_str()).into_iter();
            extra.extend(values.map(|value| (rest.clone(), value)));
        }
    }
    if name.is_empty() {
        if groups.is_empty() && uid.is_empty() && extra.is_empty() {
            return Ok(user);
        }
        let message = "requested to be somebody without impersonating a user";
        return Err(ApiError::bad_request(message));
    }
    let account = name
        .strip_prefix("system:serviceaccount:")
        .and_then(|rest| rest.split_once(':'))
        .filter(|(namespace, account)| {
            !namespace.is_empty() && !account.is_empty() && !account.contains(':')
        });
    let mut wishes = vec![match account {
        Some((namespace, account)) => Wish {
            namespace: namespace.to_owned(),
            ..Wish::new("serviceaccounts", account)
        },
        None => Wish::new("users", &name),
    }];
    wishes.extend(groups.iter().map(|group| Wish::new("groups", group)));
    wishes.extend(extra.iter().map(|(key, value)| Wish {
        group: "authentication.k8s.io",
        sub: key.clone(),
        ..Wish::new("userextras", value)
    }));
    if !uid.is_empty() {
        wishes.push(Wish {
            group: "authentication.k8s.io",
            ..Wish::new("uids", &uid)
        });
    }
    for (wish, request) in wishes.iter().zip(std::iter::repeat(request)) {
        let Some(request) = request else { break };
        let attributes = Attributes {
            verb: "impersonate",
            group: wish.group,
            resource: wish.resource,
            sub: &wish.sub,
            namespace: &wish.namespace,
            name: &wish.name,
            path: None,
        };
        let decision = authorize(state, &user, &attributes);
        if !decision.allowed {
            // The last thing that the real server tries is a right to do just this as somebody else.
            let what = if account.is_some() {
                "serviceaccount"
            } else {
                "user-info"
            };
            let verb = format!("impersonate-on:{what}:{}", request.verb);
            let attributes = Attributes {
                verb: &verb,
                ..*request
            };
            decision.or_refuse(&user, &attributes)?;
        }
    }
    let mut other = User::new(&name, &[]);
    other.uid = uid;
    match account {
        Some((namespace, _)) if groups.is_empty() => {
            other.groups = vec![
                "system:serviceaccounts".to_owned(),
                format!("system:serviceaccounts:{namespace}"),
            ];
        }
        _ => other.groups = groups,
    }
    for (key, value) in extra {
        other.extra.entry(key).or_default().push(value);
    }
    let everybody = if name == ANONYMOUS {
        UNAUTHENTICATED
    } else {
        AUTHENTICATED
    };
    let settled =
        |group: &String| group == everybody || (name != ANONYMOUS && group == UNAUTHENTICATED);
    if !other.groups.iter().any(settled) {
        other.groups.push(everybody.to_owned());
    }
    Ok(other)
}
