//! What roles and bindings allow.

use serde_json::Value;

use super::User;
use crate::builtin::string_list;
use crate::state::State;
use crate::status::{About, ApiError, ApiResult};
use crate::text::go_quote;

/// What somebody wants to do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attributes<'a> {
    pub(crate) verb: &'a str,
    pub(crate) group: &'a str,
    pub(crate) resource: &'a str,
    pub(crate) sub: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    /// The path of a request that is for no resource.
    pub(crate) path: Option<&'a str>,
}

/// Whether it is allowed, and why.
#[derive(Debug)]
pub(crate) struct Decision {
    pub(crate) allowed: bool,
    pub(crate) reason: String,
}

impl Decision {
    /// Refuses what is not allowed.
    pub(crate) fn or_refuse(self, user: &User, attributes: &Attributes<'_>) -> ApiResult<()> {
        if self.allowed {
            return Ok(());
        }
        let mut why = attributes.forbidden(user);
        if !self.reason.is_empty() {
            why = format!("{why}: {}", self.reason);
        }
        let about = About {
            group: attributes.group,
            resource: attributes.resource,
        };
        Err(match attributes.path {
            Some(_) => ApiError::forbidden_path(&why),
            None => ApiError::forbidden(about, attributes.name, &why),
        })
    }
}

impl Attributes<'_> {
    fn forbidden(&self, user: &User) -> String {
        let (name, verb) = (go_quote(&user.name), self.verb);
        let text = if let Some(path) = self.path {
            format!("User {name} cannot {verb} path {}", go_quote(path))
        } else {
            let place = match self.namespace {
                "" => "at the cluster scope".to_owned(),
                namespace => format!("in the namespace {}", go_quote(namespace)),
            };
            let (resource, group) = (go_quote(&self.combined()), go_quote(self.group));
            format!("User {name} cannot {verb} resource {resource} in API group {group} {place}")
        };
        text.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
    }

    fn combined(&self) -> String {
        if self.sub.is_empty() {
            self.resource.to_owned()
        } else {
            format!("{}/{}", self.resource, self.sub)
        }
    }
}

/// A rule of a role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) verbs: Vec<String>,
    pub(crate) groups: Vec<String>,
    pub(crate) resources: Vec<String>,
    pub(crate) names: Vec<String>,
    pub(crate) urls: Vec<String>,
}

impl Rule {
    fn read(value: &Value) -> Self {
        Self {
            verbs: string_list(&value["verbs"]),
            groups: string_list(&value["apiGroups"]),
            resources: string_list(&value["resources"]),
            names: string_list(&value["resourceNames"]),
            urls: string_list(&value["nonResourceURLs"]),
        }
    }

    /// The rules of a role.
    pub(crate) fn all_of(role: &Value) -> Vec<Self> {
        let rules = role["rules"].as_array().into_iter().flatten();
        rules.map(Self::read).collect()
    }

    fn allows(&self, wanted: &Attributes<'_>) -> bool {
        let has = |list: &[String], text: &str| list.iter().any(|own| own == "*" || own == text);
        if !has(&self.verbs, wanted.verb) {
            return false;
        }
        if let Some(path) = wanted.path {
            return self.urls.iter().any(|url| covers_path(url, path));
        }
        let combined = wanted.combined();
        let of_all = format!("*/{}", wanted.sub);
        let resource = |own: &String| {
            own == "*" || *own == combined || (!wanted.sub.is_empty() && *own == of_all)
        };
        has(&self.groups, wanted.group)
            && self.resources.iter().any(resource)
            && (self.names.is_empty() || self.names.iter().any(|name| name == wanted.name))
    }
}

/// Whether the address of a rule means this path.
pub(super) fn covers_path(url: &str, path: &str) -> bool {
    url == path || url == "*" || (url.ends_with('*') && path.starts_with(url.trim_end_matches('*')))
}

/// The subject of a binding.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    kind: String,
    name: String,
    namespace: String,
}

impl Subject {
    fn read(value: &Value) -> Self {
        let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        Self {
            kind: text("kind"),
            name: text("name"),
            namespace: text("namespace"),
        }
    }

    fn is(&self, user: &User, namespace: &str) -> bool {
        match self.kind.as_str() {
            "User" => user.name == self.name,
            "Group" => user.groups.contains(&self.name),
            "ServiceAccount" => {
                let namespace = self.namespace_or(namespace);
                let name = format!("system:serviceaccount:{namespace}:{}", self.name);
                !namespace.is_empty() && user.name == name
            }
            _ => false,
        }
    }

    fn namespace_or<'a>(&'a self, namespace: &'a str) -> &'a str {
        if self.namespace.is_empty() {
            namespace
        } else {
            &self.namespace
        }
    }

    fn shown(&self, namespace: &str) -> String {
        let name = if self.kind == "ServiceAccount" {
            format!("{}/{}", self.name, self.namespace_or(namespace))
        } else {
            self.name.clone()
        };
        format!("{} {}", self.kind, go_quote(&name))
    }
}

/// The rules of a role that a binding refers to; or why there are none.
pub(crate) fn role_rules(
    state: &State,
    reference: &Value,
    namespace: &str,
) -> Result<Vec<Rule>, ApiError> {
    let name = reference["name"].as_str().unwrap_or_default();
    let kind = reference["kind"].as_str().unwrap_or_default();
    let (plural, key) = match kind {
        "Role" => ("roles", format!("{namespace}/{name}")),
        _ => ("clusterroles", name.to_owned()),
    };
    let store = format!("{plural}.rbac.authorization.k8s.io");
    let role = state.storage.object(&store, &key).ok_or_else(|| {
        let about = About {
            group: "rbac.authorization.k8s.io",
            resource: plural.trim_end_matches('s'),
        };
        ApiError::not_found(about, name)
    })?;
    Ok(Rule::all_of(&role.value()))
}

/// Shows every rule that holds for a user in a namespace, or at large, with where it comes from, and
/// every role that is missing, until `look` has seen enough.
fn visit(
    state: &State,
    user: &User,
    namespace: &str,
    mut look: impl FnMut(Result<(&dyn Fn() -> String, &Rule), String>) -> bool,
) {
    let kinds = [
        ("clusterrolebindings.rbac.authorization.k8s.io", ""),
        ("rolebindings.rbac.authorization.k8s.io", namespace),
    ];
    for (index, (store, namespace)) in kinds.into_iter().enumerate() {
        if index == 1 && namespace.is_empty() {
            return;
        }
        let Some(collection) = state.storage.get(store) else {
            continue;
        };
        for stored in collection.objects.values() {
            if index == 1 && *stored.facts.namespace != *namespace {
                continue;
            }
            let binding = stored.value();
            let subjects = binding["subjects"].as_array().into_iter().flatten();
            let subject = subjects
                .map(Subject::read)
                .find(|subject| subject.is(user, namespace));
            let Some(subject) = subject else { continue };
            let reference = &binding["roleRef"];
            let rules = match role_rules(state, reference, namespace) {
                Ok(rules) => rules,
                Err(error) => {
                    if !look(Err(error.message().to_owned())) {
                        return;
                    }
                    continue;
                }
            };
            let source = || {
                let text = |key: &str| reference[key].as_str().unwrap_or_default();
                let name = binding["metadata"]["name"].as_str().unwrap_or_default();
                let (kind, name) = if index == 0 {
                    ("ClusterRoleBinding", name.to_owned())
                } else {
                    ("RoleBinding", format!("{name}/{namespace}"))
                };
                format!(
                    "{kind} {} of {} {} to {}",
                    go_quote(&name),
                    text("kind"),
                    go_quote(text("name")),
                    subject.shown(namespace)
                )
            };
            for rule in &rules {
                if !look(Ok((&source, rule))) {
                    return;
                }
            }
        }
    }
}

/// Whether a user may do something.
pub(crate) fn authorize(state: &State, user: &User, wanted: &Attributes<'_>) -> Decision {
    if user.is_master() {
        return Decision {
            allowed: true,
            reason: String::new(),
        };
    }
    let mut allowed = None;
    let mut missing: Vec<String> = Vec::new();
    visit(state, user, wanted.namespace, |found| match found {
        Ok((source, rule)) if rule.allows(wanted) => {
            allowed = Some(format!("RBAC: allowed by {}", source()));
            false
        }
        Ok(_) => true,
        Err(why) => {
            if !missing.contains(&why) {
                missing.push(why);
            }
            true
        }
    });
    let reason = match (&allowed, missing.as_slice()) {
        (Some(why), _) => why.clone(),
        (None, []) => String::new(),
        (None, [one]) => format!("RBAC: {one}"),
        (None, many) => format!("RBAC: [{}]", many.join(", ")),
    };
    Decision {
        allowed: allowed.is_some(),
        reason,
    }
}

/// All rules that hold for a user in a namespace, and the roles that are missing.
pub(crate) fn rules_of(state: &State, user: &User, namespace: &str) -> (Vec<Rule>, Vec<String>) {
    let (mut rules, mut missing) = (Vec::new(), Vec::new());
    visit(state, user, namespace, |found| {
        match found {
            Ok((_, rule)) => rules.push(rule.clone()),
            Err(why) => missing.push(why),
        }
        true
    });
    (rules, missing)
}
