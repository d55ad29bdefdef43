//! Nobody may give away what they do not have.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::User;
use super::rbac::{Attributes, Rule, authorize, covers_path, role_rules, rules_of};
use crate::builtin::Builtin;
use crate::meta;
use crate::resource::Resource;
use crate::state::State;
use crate::status::{ApiError, ApiResult};
use crate::text::go_quote;

/// Refuses a role or a binding that gives away more than its writer has. `name` is that of the
/// request, which is empty at a creation.
pub(crate) fn escalation(
    state: &State,
    user: &User,
    resource: &Resource,
    (namespace, name): (&str, &str),
    new: &Value,
    old: Option<&Value>,
) -> ApiResult<()> {
    let Some(kind) = resource.builtin().filter(|_| !user.is_master()) else {
        return Ok(());
    };
    let is_role = matches!(kind, Builtin::Role | Builtin::ClusterRole);
    let is_binding = matches!(kind, Builtin::RoleBinding | Builtin::ClusterRoleBinding);
    if !is_role && !is_binding {
        return Ok(());
    }
    // What only the garbage collector needs may be changed by anybody.
    if old.is_some_and(|old| same_but_for_owners(new, old)) {
        return Ok(());
    }
    let own_name = meta::text(new, "name");
    let wanted = if is_role {
        let attributes = Attributes {
            verb: "escalate",
            group: &resource.group,
            resource: &resource.plural,
            sub: "",
            namespace,
            name,
            path: None,
        };
        if authorize(state, user, &attributes).allowed {
            return Ok(());
        }
        Rule::all_of(new)
    } else {
        let reference = &new["roleRef"];
        let text = |key: &str| reference[key].as_str().unwrap_or_default();
        let plural = match text("kind") {
            "ClusterRole" => "clusterroles",
            "Role" => "roles",
            _ => "",
        };
        let attributes = Attributes {
            verb: "bind",
            group: text("apiGroup"),
            resource: plural,
            sub: "",
            namespace,
            name: text("name"),
            path: None,
        };
        if !plural.is_empty() && authorize(state, user, &attributes).allowed {
            return Ok(());
        }
        role_rules(state, reference, namespace)
            .map_err(|_| ApiError::not_found(resource.about(), text("name")))?
    };
    let refuse = |why: &str| Err(ApiError::forbidden(resource.about(), own_name, why));
    if let Some(why) = missing(state, user, namespace, &wanted) {
        return refuse(&why);
    }
    let gathers = |role: &Value| {
        let selectors = role["aggregationRule"]["clusterRoleSelectors"].as_array();
        selectors.is_some_and(|selectors| !selectors.is_empty())
    };
    if is_role && (gathers(new) || old.is_some_and(gathers)) {
        let star = || vec!["*".to_owned()];
        let everything = [
            Rule {
                verbs: star(),
                groups: star(),
                resources: star(),
                ..Rule::default()
            },
            Rule {
                verbs: star(),
                urls: star(),
                ..Rule::default()
            },
        ];
        if missing(state, user, namespace, &everything).is_some() {
            return refuse("must have cluster-admin privileges to use the aggregationRule");
        }
    }
    Ok(())
}

fn same_but_for_owners(new: &Value, old: &Value) -> bool {
    let without = |value: &Value| {
        let mut copy = value.clone();
        let meta = meta::of(&mut copy);
        for key in [
            "ownerReferences",
            "finalizers",
            "managedFields",
            "resourceVersion",
        ] {
            meta.remove(key);
        }
        copy
    };
    without(new) == without(old)
}

/// More parts of rules than anybody grants: one rule with long lists would come to billions.
const MOST_PARTS: usize = 100_000;

/// How many parts these rules come to.
fn parts(rules: &[Rule]) -> usize {
    let one = |rule: &Rule| {
        let of = |list: &[String]| list.len().max(1);
        let things = of(&rule.groups)
            .saturating_mul(of(&rule.resources))
            .saturating_mul(of(&rule.names))
            .saturating_add(rule.urls.len());
        rule.verbs.len().saturating_mul(things)
    };
    rules.iter().map(one).fold(0, usize::saturating_add)
}

/// What of these rules a user does not have, in words.
fn missing(state: &State, user: &User, namespace: &str, wanted: &[Rule]) -> Option<String> {
    let (own, errors) = rules_of(state, user, namespace);
    let covered = |rule: &Rule| own.iter().any(|own| covers(own, rule));
    let wanted: Vec<Rule> = wanted
        .iter()
        .filter(|rule| !covered(rule))
        .cloned()
        .collect();
    if parts(&wanted) > MOST_PARTS {
        return Some(format!(
            "these rules come to more than {MOST_PARTS} permissions"
        ));
    }
    let uncovered: Vec<Rule> = wanted
        .iter()
        .flat_map(atoms)
        .filter(|atom| !own.iter().any(|rule| covers(rule, atom)))
        .collect();
    if uncovered.is_empty() {
        return None;
    }
    let mut why = format!(
        "user {} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
        go_quote(&user.name),
        quoted(&user.groups),
        compact(uncovered).join("\n")
    );
    if !errors.is_empty() {
        why = format!("{why}; resolution errors: [{}]", errors.join(" "));
    }
    Some(why)
}

/// A rule in parts with one verb for one thing each.
fn atoms(rule: &Rule) -> Vec<Rule> {
    let mut parts = Vec::new();
    let one = |text: &String| vec![text.clone()];
    for verb in &rule.verbs {
        for url in &rule.urls {
            parts.push(Rule {
                verbs: one(verb),
                urls: one(url),
                ..Rule::default()
            });
        }
    }
    for group in &rule.groups {
        for resource in &rule.resources {
            for verb in &rule.verbs {
                let whole = Rule {
                    verbs: one(verb),
                    groups: one(group),
                    resources: one(resource),
                    ..Rule::default()
                };
                if rule.names.is_empty() {
                    parts.push(whole.clone());
                }
                for name in &rule.names {
                    parts.push(Rule {
                        names: one(name),
                        ..whole.clone()
                    });
                }
            }
        }
    }
    parts
}

fn covers(own: &Rule, atom: &Rule) -> bool {
    let all = |own: &[String], wanted: &[String]| {
        own.iter().any(|text| text == "*") || wanted.iter().all(|text| own.contains(text))
    };
    let resource = |path: &String| {
        own.resources.contains(path)
            || path
                .split_once('/')
                .is_some_and(|(_, sub)| own.resources.contains(&format!("*/{sub}")))
    };
    let resources =
        own.resources.iter().any(|text| text == "*") || atom.resources.iter().all(resource);
    let names = own.names.is_empty()
        || (!atom.names.is_empty() && atom.names.iter().all(|name| own.names.contains(name)));
    let urls = atom
        .urls
        .iter()
        .all(|path| own.urls.iter().any(|url| covers_path(url, path)));
    all(&own.verbs, &atom.verbs) && all(&own.groups, &atom.groups) && resources && names && urls
}

/// The rules in words: those about one thing together, in the order of their texts.
fn compact(rules: Vec<Rule>) -> Vec<String> {
    let mut simple: BTreeMap<(String, String, Option<String>), Rule> = BTreeMap::new();
    let mut texts = BTreeSet::new();
    for rule in rules {
        let (Some(group), Some(resource)) = (rule.groups.first(), rule.resources.first()) else {
            texts.insert(shown(&rule));
            continue;
        };
        let key = (group.clone(), resource.clone(), rule.names.first().cloned());
        match simple.get_mut(&key) {
            Some(known) => known.verbs.extend(rule.verbs),
            None => drop(simple.insert(key, rule)),
        }
    }
    texts.extend(simple.values().map(shown));
    texts.into_iter().collect()
}

fn shown(rule: &Rule) -> String {
    let parts = [
        ("APIGroups", &rule.groups),
        ("Resources", &rule.resources),
        ("NonResourceURLs", &rule.urls),
        ("ResourceNames", &rule.names),
        ("Verbs", &rule.verbs),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(name, list)| format!("{name}:{}", quoted(list)))
        .collect();
    format!("{{{}}}", parts.join(", "))
}

fn quoted(list: &[String]) -> String {
    let texts: Vec<String> = list.iter().map(|text| go_quote(text)).collect();
    format!("[{}]", texts.join(" "))
}
