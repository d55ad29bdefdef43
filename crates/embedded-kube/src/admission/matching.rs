//! Which writes a policy is about.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Failure, Policy, Write};
use crate::builtin::{Builtin, string_list};
use crate::resource::Resource;
use crate::strategy;

impl Write<'_> {
    /// The version of the resource in which these constraints match, if they do.
    pub(super) fn matched(&self, constraints: &Value) -> Option<Arc<Resource>> {
        if !self.namespace_fits(&constraints["namespaceSelector"])
            || !self.labels_fit(&constraints["objectSelector"])
        {
            return None;
        }
        let resource = self.call.resource;
        let mut versions = vec![Arc::clone(resource)];
        if constraints["matchPolicy"] != "Exact"
            && let Some(definition) = self.state.definitions.get(&resource.store)
        {
            let served = |other: &&Arc<Resource>| {
                other.version != resource.version && other.custom().is_some_and(|c| c.served)
            };
            versions.extend(definition.versions.iter().filter(served).cloned());
        }
        let rules = |key: &str| constraints[key].as_array().cloned().unwrap_or_default();
        let excluded = rules("excludeResourceRules");
        let wanted = rules("resourceRules");
        let fits = |rules: &[Value], version: &Resource| {
            rules.iter().any(|rule| self.rule_fits(rule, version))
        };
        if versions.iter().any(|version| fits(&excluded, version)) {
            return None;
        }
        if wanted.is_empty() {
            return versions.into_iter().next();
        }
        versions.into_iter().find(|version| fits(&wanted, version))
    }

    fn rule_fits(&self, rule: &Value, resource: &Resource) -> bool {
        let has = |key: &str, text: &str| {
            let list = string_list(&rule[key]);
            list.iter().any(|own| own == "*" || own == text)
        };
        let sub = self.call.sub.name();
        let of = |pattern: &String| match pattern.split_once('/') {
            None => sub.is_empty() && (pattern == "*" || **pattern == *resource.plural),
            Some((plural, part)) => {
                (plural == "*" || *plural == *resource.plural) && (part == "*" || part == sub)
            }
        };
        let names = string_list(&rule["resourceNames"]);
        let scope = match rule["scope"].as_str() {
            Some("Cluster") => !resource.namespaced,
            Some("Namespaced") => resource.namespaced,
            _ => true,
        };
        has("operations", self.operation)
            && has("apiGroups", &resource.group)
            && has("apiVersions", &resource.version)
            && string_list(&rule["resources"]).iter().any(of)
            && (names.is_empty() || names.iter().any(|own| own == self.name))
            && scope
    }

    /// A namespace is judged by its own labels, what is in one by those of the namespace.
    fn namespace_fits(&self, selector: &Value) -> bool {
        if is_empty(selector) {
            return true;
        }
        if self.call.resource.builtin() == Some(Builtin::Namespace) {
            return self.labels_fit(selector);
        }
        if !self.call.resource.namespaced {
            return true;
        }
        selects(selector, &self.namespace()["metadata"]["labels"])
    }

    fn labels_fit(&self, selector: &Value) -> bool {
        let objects = [self.object, self.old];
        is_empty(selector)
            || objects
                .into_iter()
                .flatten()
                .any(|object| selects(selector, &object["metadata"]["labels"]))
    }

    fn namespace(&self) -> Value {
        let found = self.state.storage.object("namespaces", self.call.namespace);
        found.map_or(Value::Null, |stored| stored.value())
    }

    /// What a policy finds wrong with the write, which it sees in this version.
    pub(super) fn failures(&self, policy: &Policy, version: &Arc<Resource>) -> Vec<Failure> {
        let seen = |value: Option<&Value>| {
            let mut value = value.cloned()?;
            if version.version != self.call.resource.version {
                strategy::convert(version, &mut value);
            }
            Some(value)
        };
        let namespaced = self.call.resource.namespaced;
        let namespace = namespaced.then(|| self.namespace());
        let request = self.request(version);
        policy.failures(
            &seen(self.object).unwrap_or_default(),
            &seen(self.old).unwrap_or_default(),
            &request,
            &namespace.unwrap_or_default(),
        )
    }

    /// The request as expressions see it.
    fn request(&self, version: &Resource) -> Value {
        let kind = |resource: &Resource| {
            json!({"group": &*resource.group,
            "version": &*resource.version, "kind": &*resource.kind})
        };
        let plural = |resource: &Resource| {
            json!({"group": &*resource.group,
            "version": &*resource.version, "resource": &*resource.plural})
        };
        let own = self.call.resource;
        let mut request = json!({
            "uid": "",
            "kind": kind(version),
            "resource": plural(version),
            "requestKind": kind(own),
            "requestResource": plural(own),
            "operation": self.operation,
            "userInfo": self.user.info(),
            "dryRun": self.call.dry_run,
        });
        let texts = [
            ("name", self.name),
            ("namespace", self.call.namespace),
            ("subResource", self.call.sub.name()),
            ("requestSubResource", self.call.sub.name()),
        ];
        for (key, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            request[key] = json!(text);
        }
        request
    }
}

fn is_empty(selector: &Value) -> bool {
    selector.as_object().is_none_or(serde_json::Map::is_empty)
}

/// Whether a selector means these labels.
fn selects(selector: &Value, labels: &Value) -> bool {
    let wanted = selector["matchLabels"].as_object().into_iter().flatten();
    let terms = selector["matchExpressions"]
        .as_array()
        .into_iter()
        .flatten();
    wanted
        .into_iter()
        .all(|(key, value)| labels[key.as_str()] == *value)
        && terms.into_iter().all(|term| {
            let key = term["key"].as_str().unwrap_or_default();
            let found = labels.get(key).and_then(Value::as_str);
            let listed = || {
                let values = string_list(&term["values"]);
                found.is_some_and(|found| values.iter().any(|value| value == found))
            };
            match term["operator"].as_str() {
                Some("In") => listed(),
                Some("NotIn") => !listed(),
                Some("Exists") => found.is_some(),
                _ => found.is_none(),
            }
        })
}
