//! OpenAPI documents, as far as clients look at them.

use serde_json::{Value, json};

use crate::harness::{Script, run};

/// Without words.
fn strip(value: Value) -> Value {
    match value {
        Value::Object(map) => map
            .into_iter()
            .filter(|(key, value)| !(key == "description" && value.is_string()))
            .map(|(key, value)| (key, strip(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(strip).collect(),
        other => other,
    }
}

/// The document of a group, once it has this model: the real server is late.
async fn document(s: &Script, place: &str, model: &str) -> Value {
    let path = format!("/openapi/v3/{place}");
    let answer = s
        .until_peek(&path, |answer| {
            !answer.body["components"]["schemas"][model].is_null()
        })
        .await;
    answer.body
}

/// What the model of the case's own kind is called.
fn own(s: &Script, kind: &str) -> String {
    format!("com.example.{}.v1.{kind}", s.ns)
}

async fn own_model(s: &mut Script, schema: Value) {
    let crd = s.definition("things", "Thing", schema);
    s.crd(crd).await;
    let model = own(s, "Thing");
    let place = format!("apis/{}/v1", s.group);
    let new = document(s, &place, &model).await;
    s.note(
        "version 3",
        strip(new["components"]["schemas"][&model].clone()),
    );
    let list = own(s, "ThingList");
    s.note("list", strip(new["components"]["schemas"][&list].clone()));
    let old = s
        .until_peek("/openapi/v2", |answer| {
            !answer.body["definitions"][&model].is_null()
        })
        .await;
    s.note("version 2", strip(old.body["definitions"][&model].clone()));
    s.note("list", strip(old.body["definitions"][&list].clone()));
}

#[test]
fn of_a_plain_schema() {
    run(async |s| {
        let schema = json!({"type": "object", "description": "Things.", "required": ["spec"],
        "properties": {
            "spec": {"type": "object", "description": "What is wanted.", "properties": {
                "size": {"type": "integer", "format": "int32", "minimum": 0, "maximum": 9,
                    "default": 3},
                "name": {"type": "string", "maxLength": 5, "minLength": 1, "pattern": "^a",
                    "enum": ["a", "ab"]},
                "list": {"type": "array", "maxItems": 3, "minItems": 1,
                    "items": {"type": "string"}},
                "map": {"type": "object", "maxProperties": 3,
                    "additionalProperties": {"type": "boolean"}},
                "any": {"type": "object", "additionalProperties": true},
            }},
            "status": {"type": "object", "properties": {"ok": {"type": "boolean"}}},
        }});
        own_model(s, schema).await;
    });
}

#[test]
fn of_a_schema_with_extensions() {
    run(async |s| {
        let object = json!({"type": "object", "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true});
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object",
        "properties": {
            "port": {"x-kubernetes-int-or-string": true},
            "ports": {"x-kubernetes-int-or-string": true,
                "anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": "^.$"},
            "limited": {"x-kubernetes-int-or-string": true, "anyOf": [{"pattern": "^a"}]},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                "properties": {"a": {"type": "string"}}},
            "nothing": {"x-kubernetes-preserve-unknown-fields": true},
            "object": object,
            "named": {"type": "object", "x-kubernetes-embedded-resource": true,
                "properties": {"spec": {"type": "object"}}},
            "set": {"type": "array", "x-kubernetes-list-type": "set",
                "items": {"type": "string"}},
            "keyed": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object",
                    "required": ["k"], "properties": {"k": {"type": "string"}}}},
            "atomic": {"type": "object", "x-kubernetes-map-type": "atomic"},
        }}}});
        own_model(s, schema).await;
    });
}

#[test]
fn of_a_schema_with_nulls_and_choices() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object",
        "required": ["maybe", "always"], "properties": {
            "maybe": {"type": "string", "nullable": true},
            "always": {"type": "string"},
            "items": {"type": "array", "nullable": true, "items": {"type": "string"}},
            "object": {"type": "object", "nullable": true,
                "properties": {"a": {"type": "string"}}},
            "one": {"type": "object", "properties": {"a": {"type": "string"},
                "b": {"type": "string"}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
            "not": {"type": "string", "not": {"pattern": "^x"}},
        }}}});
        own_model(s, schema).await;
    });
}

#[test]
fn of_a_schema_that_keeps_everything() {
    run(async |s| {
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "properties": {"spec": {"type": "object"}}});
        own_model(s, schema).await;
    });
}

/// What clients look at in a path: its methods, what kind they are about, and their parameters.
fn outline(path: &Value) -> Value {
    let methods = path.as_object().into_iter().flatten();
    let methods = methods.filter(|(method, _)| *method != "parameters");
    let outline: serde_json::Map<String, Value> = methods
        .map(|(method, operation)| {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            // One that is for disasters is not taken here, and `pretty` changes nothing.
            let mut names: Vec<&str> = parameters
                .filter_map(|parameter| parameter["name"].as_str())
                .filter(|name| {
                    !name.contains("ClusterBreaking") && *name != "pretty" && *name != "body"
                })
                .collect();
            names.sort_unstable();
            let bodies = operation["requestBody"]["content"].as_object();
            let bodies = bodies
                .into_iter()
                .flatten()
                .map(|(media, _)| media.as_str());
            let bodies: Vec<&str> = bodies.filter(|media| !media.contains("cbor")).collect();
            let outline = json!({
                "action": operation["x-kubernetes-action"],
                "kind": operation["x-kubernetes-group-version-kind"],
                // Those of reading are many, and no client looks.
                "parameters": if matches!(method.as_str(), "get" | "delete") {
                    Value::Null
                } else {
                    json!(names)
                },
                "patches": if method == "patch" { json!(bodies) } else { Value::Null },
            });
            (method.clone(), outline)
        })
        .collect();
    outline.into()
}

#[test]
fn paths() {
    run(async |s| {
        let core = s.peek("/openapi/v3/api/v1").await.body;
        for path in [
            "/api/v1/configmaps",
            "/api/v1/namespaces/{namespace}/configmaps",
            "/api/v1/namespaces/{namespace}/configmaps/{name}",
            "/api/v1/namespaces/{namespace}/persistentvolumeclaims/{name}/status",
            "/api/v1/persistentvolumes",
        ] {
            s.note(path, outline(&core["paths"][path]));
        }
        let fixture = s
            .peek("/openapi/v3/apis/fixture.freehold.dev/v1")
            .await
            .body;
        for path in [
            "/apis/fixture.freehold.dev/v1/widgets",
            "/apis/fixture.freehold.dev/v1/namespaces/{namespace}/widgets",
            "/apis/fixture.freehold.dev/v1/namespaces/{namespace}/widgets/{name}",
            "/apis/fixture.freehold.dev/v1/gadgets/{name}/status",
        ] {
            s.note(path, outline(&fixture["paths"][path]));
        }
    });
}

#[test]
fn models_of_built_in_kinds() {
    run(async |s| {
        for (place, models) in [
            (
                "api/v1",
                &[
                    "io.k8s.api.core.v1.ConfigMap",
                    "io.k8s.api.core.v1.ConfigMapList",
                    "io.k8s.api.core.v1.Secret",
                    "io.k8s.api.core.v1.Namespace",
                    "io.k8s.api.core.v1.NamespaceSpec",
                    "io.k8s.api.core.v1.NamespaceStatus",
                    "io.k8s.api.core.v1.NamespaceCondition",
                    "io.k8s.api.core.v1.Event",
                    "io.k8s.api.core.v1.EventSeries",
                    "io.k8s.api.core.v1.ObjectReference",
                    "io.k8s.api.core.v1.ServiceAccount",
                    "io.k8s.api.core.v1.LocalObjectReference",
                    "io.k8s.api.core.v1.PersistentVolume",
                    "io.k8s.api.core.v1.PersistentVolumeStatus",
                    "io.k8s.api.core.v1.CSIPersistentVolumeSource",
                    "io.k8s.api.core.v1.PersistentVolumeClaim",
                    "io.k8s.api.core.v1.PersistentVolumeClaimSpec",
                    "io.k8s.api.core.v1.TypedObjectReference",
                    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
                    "io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference",
                    "io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry",
                    "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector",
                    "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta",
                    "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
                    "io.k8s.apimachinery.pkg.api.resource.Quantity",
                ][..],
            ),
            (
                "apis/coordination.k8s.io/v1",
                &[
                    "io.k8s.api.coordination.v1.Lease",
                    "io.k8s.api.coordination.v1.LeaseSpec",
                ][..],
            ),
            (
                "apis/events.k8s.io/v1",
                &[
                    "io.k8s.api.events.v1.Event",
                    "io.k8s.api.events.v1.EventSeries",
                ][..],
            ),
            (
                "apis/apiextensions.k8s.io/v1",
                &[
                    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
                    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.\
                     CustomResourceDefinitionSpec",
                    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.\
                     CustomResourceDefinitionVersion",
                    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.\
                     CustomResourceDefinitionStatus",
                ][..],
            ),
            (
                "apis/rbac.authorization.k8s.io/v1",
                &[
                    "io.k8s.api.rbac.v1.Role",
                    "io.k8s.api.rbac.v1.ClusterRole",
                    "io.k8s.api.rbac.v1.PolicyRule",
                    "io.k8s.api.rbac.v1.AggregationRule",
                    "io.k8s.api.rbac.v1.RoleBinding",
                    "io.k8s.api.rbac.v1.ClusterRoleBindingList",
                    "io.k8s.api.rbac.v1.RoleRef",
                    "io.k8s.api.rbac.v1.Subject",
                ][..],
            ),
            (
                "apis/authorization.k8s.io/v1",
                &[
                    "io.k8s.api.authorization.v1.SubjectAccessReview",
                    "io.k8s.api.authorization.v1.SubjectAccessReviewSpec",
                    "io.k8s.api.authorization.v1.SubjectAccessReviewStatus",
                    "io.k8s.api.authorization.v1.ResourceAttributes",
                    "io.k8s.api.authorization.v1.SelfSubjectRulesReviewSpec",
                ][..],
            ),
            (
                "apis/authentication.k8s.io/v1",
                &[
                    "io.k8s.api.authentication.v1.TokenReview",
                    "io.k8s.api.authentication.v1.TokenReviewSpec",
                    "io.k8s.api.authentication.v1.SelfSubjectReview",
                ][..],
            ),
            (
                "apis/admissionregistration.k8s.io/v1",
                &[
                    "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicy",
                    "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicySpec",
                    "io.k8s.api.admissionregistration.v1.MatchResources",
                    "io.k8s.api.admissionregistration.v1.NamedRuleWithOperations",
                    "io.k8s.api.admissionregistration.v1.Validation",
                    "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec",
                ][..],
            ),
        ] {
            let new = s.peek(&format!("/openapi/v3/{place}")).await.body;
            for model in models {
                s.note(model, strip(new["components"]["schemas"][model].clone()));
            }
        }
        let old = s.peek("/openapi/v2").await.body;
        for model in [
            "io.k8s.api.core.v1.ConfigMap",
            "io.k8s.api.core.v1.NamespaceStatus",
            "io.k8s.api.core.v1.PersistentVolumeClaimSpec",
            "io.k8s.api.coordination.v1.LeaseSpec",
            "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
            "io.k8s.apimachinery.pkg.api.resource.Quantity",
        ] {
            s.note(model, strip(old["definitions"][model].clone()));
        }
    });
}

#[test]
fn the_index() {
    run(async |s| {
        let crd = s.definition("things", "Thing", json!({"type": "object"}));
        s.crd(crd.clone()).await;
        let place = format!("apis/{}/v1", s.group);
        let (model, list) = (own(s, "Thing"), own(s, "ThingList"));
        document(s, &place, &model).await;
        let address = |index: &Value, place: &str| {
            let url = index["paths"][place]["serverRelativeURL"].clone();
            url.as_str().unwrap_or_default().to_owned()
        };
        let index = s.peek("/openapi/v3").await;
        s.note("type", json!([index.status, index.content_type]));
        let before = address(&index.body, &place);
        for place in [place.as_str(), "api/v1", "apis/coordination.k8s.io/v1"] {
            let url = address(&index.body, place);
            let (path, hash) = url.split_once("?hash=").unwrap_or_default();
            s.note(place, json!([path, hash.is_empty()]));
            let found = s.peek(&url).await;
            s.note(
                place,
                json!([found.status, found.content_type, found.body["openapi"]]),
            );
        }
        // The address changes with what is there.
        let mut patch = json!({"spec": {"versions": crd["spec"]["versions"]}});
        patch["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] = json!("New.");
        s.merge(
            &format!("customresourcedefinitions/things.{}", s.group),
            patch,
        )
        .await;
        let changed = s
            .until_peek("/openapi/v3", |index| {
                address(&index.body, &place) != before
            })
            .await;
        s.note("changed", json!(address(&changed.body, &place) != before));
        s.delete(&format!("customresourcedefinitions/things.{}", s.group))
            .await;
        let gone = s
            .until_peek("/openapi/v3", |index| {
                address(&index.body, &place).is_empty()
            })
            .await;
        s.note("gone", json!(address(&gone.body, &place)));
        s.note("models", json!([model.is_empty(), list.is_empty()]));
    });
}

#[test]
fn negotiation() {
    run(async |s| {
        let protobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
        let newer = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
        let both = format!("{protobuf};q=0.5,application/json");
        for accept in [
            "application/json",
            "*/*",
            "application/*",
            protobuf,
            newer,
            &both,
            "text/html",
            "application/yaml",
            "nonsense",
        ] {
            let answer = s.ask_with("/openapi/v2", &[("accept", accept)]).await;
            s.note(
                accept,
                json!([answer.status, answer.content_type, answer.body["swagger"]]),
            );
        }
        for path in [
            "/openapi",
            "/openapi/v1",
            "/openapi/v3/apis/none.example.com/v1",
            "/openapi/v3/api/v2",
            "/openapi/v3/nonsense",
        ] {
            let answer = s.peek(path).await;
            s.note(
                path,
                json!([answer.status, answer.content_type, answer.body]),
            );
        }
        for accept in ["application/json", "*/*", "text/html"] {
            let answer = s
                .ask_with("/openapi/v3/api/v1", &[("accept", accept)])
                .await;
            s.note(
                accept,
                json!([answer.status, answer.content_type, answer.body["openapi"]]),
            );
        }
    });
}
