//! The fields of roles, bindings and reviews.

use super::fields::{kind, label_selector, texts};
use crate::typed::{Field, Struct, Type, always, field, list, map, object, pointer};

fn rules() -> Field {
    let rule = object(
        "PolicyRule",
        vec![
            always("verbs", texts()),
            field("apiGroups", texts()),
            field("resources", texts()),
            field("resourceNames", texts()),
            field("nonResourceURLs", texts()),
        ],
    );
    always("rules", list(rule))
}

pub(super) fn role() -> Struct {
    kind("Role", vec![rules()])
}

pub(super) fn cluster_role() -> Struct {
    let selectors = field("clusterRoleSelectors", list(label_selector()));
    let aggregation = object("AggregationRule", vec![selectors]);
    kind(
        "ClusterRole",
        vec![rules(), pointer("aggregationRule", aggregation)],
    )
}

fn binding(name: &'static str) -> Struct {
    let subject = object(
        "Subject",
        vec![
            always("kind", Type::String),
            field("apiGroup", Type::String),
            always("name", Type::String),
            field("namespace", Type::String),
        ],
    );
    let reference = object(
        "RoleRef",
        vec![
            always("apiGroup", Type::String),
            always("kind", Type::String),
            always("name", Type::String),
        ],
    );
    kind(
        name,
        vec![
            field("subjects", list(subject)),
            always("roleRef", reference),
        ],
    )
}

pub(super) fn role_binding() -> Struct {
    binding("RoleBinding")
}

pub(super) fn cluster_role_binding() -> Struct {
    binding("ClusterRoleBinding")
}

fn texts_named(names: &[&'static str]) -> Vec<Field> {
    names
        .iter()
        .map(|&name| field(name, Type::String))
        .collect()
}

fn attributes() -> Vec<Field> {
    let requirement = |name| {
        object(
            name,
            vec![
                always("key", Type::String),
                always("operator", Type::String),
                field("values", texts()),
            ],
        )
    };
    let selector = |name, part| {
        object(
            name,
            vec![
                field("rawSelector", Type::String),
                field("requirements", list(requirement(part))),
            ],
        )
    };
    let names = [
        "namespace",
        "verb",
        "group",
        "version",
        "resource",
        "subresource",
        "name",
    ];
    let mut resource = texts_named(&names);
    let fields = selector("FieldSelectorAttributes", "FieldSelectorRequirement");
    let labels = selector("LabelSelectorAttributes", "LabelSelectorRequirement");
    resource.push(pointer("fieldSelector", fields));
    resource.push(pointer("labelSelector", labels));
    let other = texts_named(&["path", "verb"]);
    vec![
        pointer("resourceAttributes", object("ResourceAttributes", resource)),
        pointer(
            "nonResourceAttributes",
            object("NonResourceAttributes", other),
        ),
    ]
}

fn decision() -> Field {
    let mut fields = vec![always("allowed", Type::Bool), field("denied", Type::Bool)];
    fields.extend(texts_named(&["reason", "evaluationError"]));
    always("status", object("SubjectAccessReviewStatus", fields))
}

fn access_review(name: &'static str) -> Struct {
    let mut spec = attributes();
    spec.push(field("user", Type::String));
    spec.push(field("groups", texts()));
    spec.push(field("extra", map(texts())));
    spec.push(field("uid", Type::String));
    let spec = always("spec", object("SubjectAccessReviewSpec", spec));
    kind(name, vec![spec, decision()])
}

pub(super) fn subject_review() -> Struct {
    access_review("SubjectAccessReview")
}

pub(super) fn local_review() -> Struct {
    access_review("LocalSubjectAccessReview")
}

pub(super) fn self_review() -> Struct {
    let spec = always("spec", object("SelfSubjectAccessReviewSpec", attributes()));
    kind("SelfSubjectAccessReview", vec![spec, decision()])
}

pub(super) fn rules_review() -> Struct {
    let spec = object(
        "SelfSubjectRulesReviewSpec",
        vec![field("namespace", Type::String)],
    );
    let status = object(
        "SubjectRulesReviewStatus",
        vec![
            always("resourceRules", Type::Any),
            always("nonResourceRules", Type::Any),
            always("incomplete", Type::Bool),
            field("evaluationError", Type::String),
        ],
    );
    kind(
        "SelfSubjectRulesReview",
        vec![always("spec", spec), always("status", status)],
    )
}

fn user() -> Type {
    let mut fields = texts_named(&["username", "uid"]);
    fields.push(field("groups", texts()));
    fields.push(field("extra", map(texts())));
    object("UserInfo", fields)
}

pub(super) fn token_review() -> Struct {
    let spec = object(
        "TokenReviewSpec",
        vec![field("token", Type::String), field("audiences", texts())],
    );
    let status = object(
        "TokenReviewStatus",
        vec![
            field("authenticated", Type::Bool),
            always("user", user()),
            field("audiences", texts()),
            field("error", Type::String),
        ],
    );
    kind(
        "TokenReview",
        vec![always("spec", spec), always("status", status)],
    )
}

pub(super) fn who_am_i() -> Struct {
    let status = object("SelfSubjectReviewStatus", vec![always("userInfo", user())]);
    kind("SelfSubjectReview", vec![always("status", status)])
}
