//! The kinds that every cluster has: their fields, defaults, and rules.

mod access_fields;
mod data;
mod event;
mod fields;
mod policies;
mod roles;
mod volume;

use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::crd;
use crate::meta;
use crate::names::{self, NameRule};
use crate::resource::{Resource, Rules, Sub};
use crate::status::FieldError;
use crate::typed::{Struct, seconds};

pub(crate) use event::{from_core as event_from_core, to_core as event_to_core};

/// A kind that every cluster has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    Namespace,
    Secret,
    ConfigMap,
    Event,
    /// The same objects as [`Builtin::Event`], under `events.k8s.io`.
    NewEvent,
    ServiceAccount,
    Volume,
    Claim,
    Lease,
    Definition,
    Role,
    ClusterRole,
    RoleBinding,
    ClusterRoleBinding,
    /// `SubjectAccessReview`, and its sisters: questions that are answered and not stored.
    SubjectReview,
    LocalReview,
    SelfReview,
    RulesReview,
    TokenReview,
    /// `SelfSubjectReview`.
    WhoAmI,
    /// `ValidatingAdmissionPolicy`, and its binding.
    Policy,
    PolicyBinding,
}

/// The namespaces that cannot be deleted.
pub(crate) const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];
/// The namespaces of a new cluster.
pub(crate) const INITIAL: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// All built-in resources, in the order of discovery.
pub(crate) static RESOURCES: LazyLock<Vec<Arc<Resource>>> = LazyLock::new(|| {
    use Builtin::*;
    let resource = |builtin: Builtin,
                    group: &str,
                    kind: &str,
                    plural: &str,
                    namespaced: bool,
                    short: &[&str],
                    categories: &[&str]| {
        let store = if builtin == NewEvent {
            "events".to_owned()
        } else if group.is_empty() {
            plural.to_owned()
        } else {
            format!("{plural}.{group}")
        };
        Arc::new(Resource {
            group: group.into(),
            version: "v1".into(),
            plural: plural.into(),
            singular: kind.to_lowercase().into(),
            kind: kind.into(),
            list_kind: format!("{kind}List").into(),
            short_names: short.iter().map(|&s| s.into()).collect(),
            categories: categories.iter().map(|&s| s.into()).collect(),
            namespaced,
            store: store.into(),
            rules: Rules::Builtin(builtin),
        })
    };
    let extensions = "apiextensions.k8s.io";
    let mut all = vec![
        resource(ConfigMap, "", "ConfigMap", "configmaps", true, &["cm"], &[]),
        resource(Event, "", "Event", "events", true, &["ev"], &[]),
        resource(
            Namespace,
            "",
            "Namespace",
            "namespaces",
            false,
            &["ns"],
            &[],
        ),
        resource(
            Claim,
            "",
            "PersistentVolumeClaim",
            "persistentvolumeclaims",
            true,
            &["pvc"],
            &[],
        ),
        resource(
            Volume,
            "",
            "PersistentVolume",
            "persistentvolumes",
            false,
            &["pv"],
            &[],
        ),
        resource(Secret, "", "Secret", "secrets", true, &[], &[]),
        resource(
            ServiceAccount,
            "",
            "ServiceAccount",
            "serviceaccounts",
            true,
            &["sa"],
            &[],
        ),
        resource(
            Definition,
            extensions,
            "CustomResourceDefinition",
            "customresourcedefinitions",
            false,
            &["crd", "crds"],
            &["api-extensions"],
        ),
        resource(
            Lease,
            "coordination.k8s.io",
            "Lease",
            "leases",
            true,
            &[],
            &[],
        ),
        resource(
            NewEvent,
            "events.k8s.io",
            "Event",
            "events",
            true,
            &["ev"],
            &[],
        ),
    ];
    let roles = "rbac.authorization.k8s.io";
    let (may, who) = ("authorization.k8s.io", "authentication.k8s.io");
    let more = [
        (Role, roles, "Role", "roles", true),
        (ClusterRole, roles, "ClusterRole", "clusterroles", false),
        (RoleBinding, roles, "RoleBinding", "rolebindings", true),
        (
            ClusterRoleBinding,
            roles,
            "ClusterRoleBinding",
            "clusterrolebindings",
            false,
        ),
        (
            SubjectReview,
            may,
            "SubjectAccessReview",
            "subjectaccessreviews",
            false,
        ),
        (
            LocalReview,
            may,
            "LocalSubjectAccessReview",
            "localsubjectaccessreviews",
            true,
        ),
        (
            SelfReview,
            may,
            "SelfSubjectAccessReview",
            "selfsubjectaccessreviews",
            false,
        ),
        (
            RulesReview,
            may,
            "SelfSubjectRulesReview",
            "selfsubjectrulesreviews",
            false,
        ),
        (TokenReview, who, "TokenReview", "tokenreviews", false),
        (
            WhoAmI,
            who,
            "SelfSubjectReview",
            "selfsubjectreviews",
            false,
        ),
    ];
    for (builtin, group, kind, plural, namespaced) in more {
        all.push(resource(builtin, group, kind, plural, namespaced, &[], &[]));
    }
    let admission = "admissionregistration.k8s.io";
    for (builtin, kind, plural) in [
        (
            Policy,
            "ValidatingAdmissionPolicy",
            "validatingadmissionpolicies",
        ),
        (
            PolicyBinding,
            "ValidatingAdmissionPolicyBinding",
            "validatingadmissionpolicybindings",
        ),
    ] {
        let categories = &["api-extensions"];
        all.push(resource(
            builtin,
            admission,
            kind,
            plural,
            false,
            &[],
            categories,
        ));
    }
    all
});

/// The resource of a built-in kind.
pub(crate) fn resource(builtin: Builtin) -> &'static Arc<Resource> {
    RESOURCES
        .iter()
        .find(|resource| resource.builtin() == Some(builtin))
        .expect("every built-in kind is in the table")
}

impl Builtin {
    pub(crate) fn has_status(self) -> bool {
        matches!(
            self,
            Self::Namespace | Self::Volume | Self::Claim | Self::Definition | Self::Policy
        )
    }

    pub(crate) fn is_policy(self) -> bool {
        matches!(self, Self::Policy | Self::PolicyBinding)
    }

    pub(crate) fn is_rbac(self) -> bool {
        matches!(
            self,
            Self::Role | Self::ClusterRole | Self::RoleBinding | Self::ClusterRoleBinding
        )
    }

    /// Whether it is a question that is answered and not stored.
    pub(crate) fn is_review(self) -> bool {
        matches!(
            self,
            Self::SubjectReview
                | Self::LocalReview
                | Self::SelfReview
                | Self::RulesReview
                | Self::TokenReview
                | Self::WhoAmI
        )
    }

    /// Whether an update may come without a `resourceVersion`.
    pub(crate) fn unconditional_update(self) -> bool {
        !matches!(self, Self::Lease | Self::Definition) && !self.is_policy()
    }

    /// Whether an update may create.
    pub(crate) fn create_on_update(self) -> bool {
        matches!(self, Self::Lease | Self::Event | Self::NewEvent) || self.is_rbac()
    }

    /// Whether a deletion answers with the object, not with a `Status`.
    pub(crate) fn returns_deleted(self) -> bool {
        matches!(
            self,
            Self::Namespace | Self::ServiceAccount | Self::Volume | Self::Claim
        )
    }

    /// Whether deletion knows propagation policies.
    pub(crate) fn collected(self) -> bool {
        !matches!(self, Self::Event | Self::NewEvent)
    }

    /// Its fields.
    pub(crate) fn fields(self) -> &'static Struct {
        fields::of(self)
    }

    fn name_rule(self) -> NameRule {
        match self {
            Self::Namespace => names::dns_label,
            kind if kind.is_rbac() => names::path_segment,
            _ => names::dns_subdomain,
        }
    }

    /// Fills in defaults after decoding.
    pub(crate) fn default(self, value: &mut Value) {
        match self {
            Self::Namespace => {
                let name = meta::text(value, "name").to_owned();
                if !name.is_empty() {
                    set_default(&mut value["metadata"], "labels", json!({}));
                    value["metadata"]["labels"]["kubernetes.io/metadata.name"] = json!(name);
                }
                set_default(&mut value["status"], "phase", json!("Active"));
            }
            Self::Secret => {
                set_default(value, "type", json!("Opaque"));
                data::merge_string_data(value);
            }
            Self::Volume => {
                set_default(&mut value["status"], "phase", json!("Pending"));
                set_default(
                    &mut value["spec"],
                    "persistentVolumeReclaimPolicy",
                    json!("Retain"),
                );
                set_default(&mut value["spec"], "volumeMode", json!("Filesystem"));
                if value["spec"]["hostPath"].is_object() {
                    set_default(&mut value["spec"]["hostPath"], "type", json!(""));
                }
            }
            Self::Claim => {
                set_default(&mut value["status"], "phase", json!("Pending"));
                set_default(&mut value["spec"], "volumeMode", json!("Filesystem"));
            }
            Self::Definition => crd::default(value),
            Self::Policy => policies::default(value),
            Self::PolicyBinding => policies::default_matching(value, "matchResources"),
            Self::RoleBinding | Self::ClusterRoleBinding => roles::default(value),
            _ => {}
        }
    }

    /// What the server itself sets at a creation, before validation.
    pub(crate) fn prepare_create(self, value: &mut Value, now: Timestamp) {
        match self {
            Self::Namespace => {
                value["status"] = json!({"phase": "Active"});
                let mut finalizers = string_list(&value["spec"]["finalizers"]);
                if !finalizers.iter().any(|f| f == "kubernetes") {
                    finalizers.push("kubernetes".to_owned());
                }
                value["spec"] = json!({"finalizers": finalizers});
            }
            Self::Volume => {
                value["status"] =
                    json!({"phase": "Pending", "lastPhaseTransitionTime": seconds(now)});
                add_finalizer(value, "kubernetes.io/pv-protection");
            }
            Self::Claim => {
                value["status"] = json!({"phase": "Pending"});
                add_finalizer(value, "kubernetes.io/pvc-protection");
            }
            Self::Definition => crd::prepare_create(value),
            kind if kind.is_policy() => policies::prepare_create(kind, value),
            Self::Lease => drop_coordination(value),
            Self::ServiceAccount => keep_names_of_secrets(value),
            _ => {}
        }
    }

    /// What an update may not change, taken from the old object.
    pub(crate) fn prepare_update(self, sub: Sub, new: &mut Value, old: &Value, now: Timestamp) {
        let keep = |new: &mut Value, key: &str| match old.get(key) {
            Some(value) => new[key] = value.clone(),
            None => {
                if let Some(map) = new.as_object_mut() {
                    map.remove(key);
                }
            }
        };
        match (self, sub) {
            (Self::Namespace, Sub::None) => {
                keep(new, "spec");
                keep(new, "status");
            }
            (Self::Namespace, Sub::Finalize) => keep(new, "status"),
            (Self::Namespace | Self::Claim, Sub::Status) => keep(new, "spec"),
            (Self::Volume | Self::Claim, Sub::None) => keep(new, "status"),
            (Self::Volume, Sub::Status) => {
                keep(new, "spec");
                volume::transition(new, old, now);
            }
            (Self::Lease, _) => drop_coordination(new),
            (Self::ServiceAccount, _) => keep_names_of_secrets(new),
            (Self::Definition | Self::Policy, Sub::Status) => keep(new, "spec"),
            (Self::Policy | Self::PolicyBinding, _) => {
                keep(new, "status");
                policies::prepare_update(new, old);
            }
            (Self::Definition, _) => {
                keep(new, "status");
                crd::prepare_update(new, old);
            }
            _ => {}
        }
    }

    /// The complaints about a new object.
    pub(crate) fn validate_create(self, value: &Value) -> Vec<FieldError> {
        let namespaced = resource(self).namespaced;
        match self {
            Self::Definition => return crd::validate::create(value),
            Self::Event => return event::validate(value, false),
            Self::NewEvent => return event::validate_new(value),
            _ => {}
        }
        let mut errors = meta::validate(value, namespaced, self.name_rule());
        errors.extend(self.plain_finalizers(value));
        errors.extend(self.validate_content(value));
        errors
    }

    /// Core kinds want finalizers with a domain.
    fn plain_finalizers(self, value: &Value) -> Vec<FieldError> {
        if self == Self::Lease || self.is_policy() {
            return Vec::new();
        }
        let finalizers = meta::finalizers(value);
        let places = finalizers.iter().enumerate();
        places
            .filter_map(|(index, f)| plain_finalizer(f, &format!("metadata.finalizers[{index}]")))
            .collect()
    }

    fn validate_content(self, value: &Value) -> Vec<FieldError> {
        match self {
            Self::Namespace => string_list(&value["spec"]["finalizers"])
                .iter()
                .flat_map(|finalizer| finalizer_errors(finalizer, "spec.finalizers"))
                .collect(),
            Self::Secret => data::validate_secret(value),
            Self::ConfigMap => data::validate_config_map(value),
            Self::Lease => validate_lease(value),
            Self::Volume => volume::validate(value),
            Self::Claim => volume::validate_claim(value),
            kind if kind.is_rbac() => roles::validate(kind, value),
            Self::Policy => policies::validate(value),
            Self::PolicyBinding => policies::validate_binding(value),
            _ => Vec::new(),
        }
    }

    /// The complaints about a change.
    pub(crate) fn validate_update(self, sub: Sub, new: &Value, old: &Value) -> Vec<FieldError> {
        match (self, sub) {
            (Self::Definition, Sub::Status) => return meta::validate_update(new, old),
            (Self::Definition, _) => return crd::validate::update(new, old),
            (Self::Event, _) => return event::validate(new, false),
            (Self::NewEvent, _) => return event::validate_new_update(new, old),
            _ => {}
        }
        let mut errors = meta::validate_update(new, old);
        errors.extend(self.plain_finalizers(new));
        match (self, sub) {
            (Self::Namespace, Sub::Status) => errors.extend(namespace_phase(new)),
            (Self::Namespace, Sub::Finalize) => {
                let finalizers = string_list(&new["spec"]["finalizers"]);
                for (index, finalizer) in finalizers.iter().enumerate() {
                    let place = format!("spec.finalizers[{index}]");
                    errors.extend(finalizer_errors(finalizer, &place));
                }
            }
            (Self::Volume | Self::Claim, Sub::Status) => {}
            (Self::Secret | Self::ConfigMap, _) => {
                if self == Self::Secret {
                    errors.extend(meta::immutable("type", &new["type"], &old["type"]));
                }
                errors.extend(data::immutable_data(new, old));
                errors.extend(self.validate_create(new));
            }
            (Self::Lease, _) => errors.extend(self.validate_content(new)),
            (Self::RoleBinding | Self::ClusterRoleBinding, _) => {
                errors.extend(self.validate_create(new));
                errors.extend(roles::same_reference(new, old));
            }
            (Self::Volume, _) => {
                errors.extend(self.validate_create(new));
                errors.extend(volume::validate_update(new, old));
            }
            (Self::Claim, _) => {
                errors.extend(self.validate_create(new));
                errors.extend(volume::validate_claim_update(new, old));
            }
            _ => errors.extend(self.validate_create(new)),
        }
        errors
    }

    /// What the writer of an object is told besides.
    pub(crate) fn warnings(self, value: &Value) -> Vec<String> {
        match self {
            Self::Secret => data::certificate_warnings(value),
            Self::Volume => volume::warnings(value),
            Self::Claim => volume::claim_warnings(value),
            _ => Vec::new(),
        }
    }

    /// The last touch before an object is stored.
    pub(crate) fn canonicalize(self, value: &mut Value) {
        match self {
            Self::Namespace => self.default(value),
            Self::Role | Self::ClusterRole => roles::clean(value),
            _ => {}
        }
    }

    /// The fields that field selectors can name besides name and namespace, with their values.
    pub(crate) fn selectable(self, value: &Value) -> Option<Vec<(&'static str, String)>> {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        Some(match self {
            Self::Namespace => vec![("status.phase", text(&value["status"]["phase"]))],
            Self::Secret => vec![("type", text(&value["type"]))],
            Self::Event | Self::NewEvent => event::selectable(self, value),
            Self::Volume | Self::Claim => vec![("name", meta::text(value, "name").to_owned())],
            _ => return None,
        })
    }
}

/// A list of texts.
pub(crate) fn string_list(value: &Value) -> Vec<String> {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}

fn set_default(value: &mut Value, key: &str, default: Value) {
    if value.is_null() {
        *value = json!({});
    }
    if value[key].is_null() {
        value[key] = default;
    }
}

fn add_finalizer(value: &mut Value, name: &str) {
    let mut finalizers = meta::finalizers(value);
    if !finalizers.iter().any(|f| f == name) {
        finalizers.push(name.to_owned());
        meta::set_finalizers(value, &finalizers);
    }
}

fn finalizer_errors(finalizer: &str, path: &str) -> Vec<FieldError> {
    let mut errors: Vec<FieldError> = names::qualified_name(finalizer)
        .into_iter()
        .map(|complaint| FieldError::invalid(path, finalizer, complaint))
        .collect();
    errors.extend(plain_finalizer(finalizer, path));
    errors
}

/// The complaint about a finalizer without a domain.
fn plain_finalizer(finalizer: &str, path: &str) -> Option<FieldError> {
    let standard = ["kubernetes", meta::ORPHAN, meta::FOREGROUND];
    let plain = !finalizer.contains('/') && !standard.contains(&finalizer);
    let detail = "name is neither a standard finalizer name nor is it fully qualified";
    plain.then(|| FieldError::invalid(path, finalizer, detail))
}

fn validate_lease(value: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let spec = &value["spec"];
    if let Some(seconds) = spec["leaseDurationSeconds"].as_i64()
        && seconds <= 0
    {
        let path = "spec.leaseDurationSeconds";
        errors.push(FieldError::invalid(path, seconds, "must be greater than 0"));
    }
    if let Some(count) = spec["leaseTransitions"].as_i64()
        && count < 0
    {
        let detail = "must be greater than or equal to 0";
        errors.push(FieldError::invalid("spec.leaseTransitions", count, detail));
    }
    errors
}

/// Of the secrets of a service account only the names count.
fn keep_names_of_secrets(value: &mut Value) {
    for secret in value
        .get_mut("secrets")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        if let Value::Object(map) = secret {
            map.retain(|key, _| key == "name");
        }
    }
}

/// Fields of a feature that is off.
fn drop_coordination(value: &mut Value) {
    if let Some(Value::Object(spec)) = value.get_mut("spec") {
        spec.remove("strategy");
        spec.remove("preferredHolder");
    }
}

fn namespace_phase(new: &Value) -> Option<FieldError> {
    let phase = new["status"]["phase"].as_str().unwrap_or_default();
    let (wanted, when) = if new["metadata"]["deletionTimestamp"].is_null() {
        ("Active", "empty")
    } else {
        ("Terminating", "not empty")
    };
    (phase != wanted).then(|| {
        let detail = format!("may only be '{wanted}' if `deletionTimestamp` is {when}");
        FieldError::invalid("status.Phase", phase, detail)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn string_data_is_written_into_data() {
        let mut secret = json!({"stringData": {"a": "x"}, "data": {"b": "eQ=="}});
        Builtin::Secret.default(&mut secret);
        assert_eq!(
            secret,
            json!({"data": {"a": "eA==", "b": "eQ=="}, "type": "Opaque"})
        );
    }

    #[test]
    fn an_immutable_config_map_keeps_its_data() {
        let meta = json!({"name": "a", "namespace": "n", "resourceVersion": "1"});
        let old = json!({"metadata": meta, "immutable": true, "data": {"a": "b"}});
        let mut new = old.clone();
        assert!(
            Builtin::ConfigMap
                .validate_update(Sub::None, &new, &old)
                .is_empty()
        );
        new["data"]["a"] = json!("c");
        let errors = Builtin::ConfigMap.validate_update(Sub::None, &new, &old);
        assert_eq!(
            errors[0].to_string(),
            "data: Forbidden: field is immutable when `immutable` is set"
        );
    }
}
