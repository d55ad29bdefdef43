//! How an apply is said.

use serde_json::json;

use crate::harness::run;

const APPLY: &str = "application/apply-patch+yaml";

#[test]
fn a_manager_must_be_named() {
    run(async |s| {
        let config = s.object("configmaps", "a", json!({"data": {"a": "1"}}));
        s.apply("configmaps/a", config.clone()).await;
        s.apply("configmaps/a?fieldManager=", config.clone()).await;
        let long = "x".repeat(129);
        s.apply(&format!("configmaps/a?fieldManager={long}"), config.clone())
            .await;
        s.apply("configmaps/a?fieldManager=a%0Ab", config.clone())
            .await;
        s.apply("configmaps/a?force=true", config.clone()).await;
        s.apply("widgets/a", s.object("widgets", "a", json!({})))
            .await;
        s.apply("configmaps/a?fieldManager=%20", config.clone())
            .await;
        s.merge("configmaps/a?force=true", json!({})).await;
        s.merge("configmaps/a?force=false&fieldManager=x", json!({}))
            .await;
    });
}

#[test]
fn yaml_and_json() {
    run(async |s| {
        let yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels:\n    app: 'yes'\ndata:\n  a: \"1\"\n  b: |\n    two\n    lines\n";
        s.typed("PATCH", "configmaps/a?fieldManager=one", APPLY, yaml)
            .await;
        let widget = "# a comment\n---\napiVersion: fixture.freehold.dev/v1\nkind: Widget\nmetadata: {name: a}\nspec:\n  size: 1\n  ratio: 1.0\n  tags:\n  - a\n  - b\n  parts:\n  - name: p\n    weight: 2\n";
        s.typed("PATCH", "widgets/a?fieldManager=one", APPLY, widget)
            .await;
        s.typed(
            "PATCH",
            "widgets/a?fieldManager=one",
            APPLY,
            format!("{widget}---\nx: 1\n"),
        )
        .await;
        let charset = "application/apply-patch+yaml; charset=utf-8";
        s.typed("PATCH", "widgets/a?fieldManager=one", charset, widget)
            .await;
        s.typed("PATCH", "configmaps/a?fieldManager=one", charset, yaml)
            .await;
        s.get("widgets/a").await;
    });
}

#[test]
fn bodies_that_are_no_configuration() {
    run(async |s| {
        for plural in ["configmaps", "widgets"] {
            let path = format!("{plural}/a?fieldManager=one");
            for body in [
                "",
                "null",
                "{}",
                "[]",
                "\"x\"",
                "1",
                "{",
                "a: b: c",
                "---\n",
                "a:\n\tb: 1",
            ] {
                s.typed("PATCH", &path, APPLY, body).await;
            }
        }
    });
}

#[test]
fn another_kind_name_or_place() {
    run(async |s| {
        for plural in ["configmaps", "widgets"] {
            let path = format!("{plural}/a?fieldManager=one");
            let good = s.object(plural, "a", json!({}));
            for change in [
                json!({"kind": "Secret"}),
                json!({"kind": ""}),
                json!({"kind": null}),
                json!({"apiVersion": "v2"}),
                json!({"apiVersion": "apps/v1"}),
                json!({"apiVersion": "a/b/c"}),
                json!({"apiVersion": null}),
                json!({"apiVersion": "fixture.freehold.dev/v1beta1", "kind": "Widget"}),
                json!({"metadata": {"name": "b"}}),
                json!({"metadata": {"name": ""}}),
                json!({"metadata": {"namespace": "elsewhere"}}),
                json!({"metadata": "x"}),
                json!({"metadata": null}),
                json!({"metadata": {"name": 1}}),
            ] {
                let mut body = good.clone();
                for (key, value) in change.as_object().into_iter().flatten() {
                    match (key.as_str(), value) {
                        ("metadata", value) if value.is_object() => {
                            for (key, value) in value.as_object().into_iter().flatten() {
                                body["metadata"][key] = value.clone();
                            }
                        }
                        _ => body[key] = value.clone(),
                    }
                }
                s.apply(&path, body).await;
            }
            s.apply(&path, s.object(plural, "", json!({}))).await;
        }
    });
}

#[test]
fn a_configuration_names_no_managers() {
    run(async |s| {
        for plural in ["configmaps", "widgets"] {
            let item = format!("{plural}/a");
            for list in [
                json!([]),
                json!([{}]),
                json!([{"manager": "x", "operation": "Update", "apiVersion": "v1",
                    "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {}}}]),
                json!(null),
                json!("x"),
                json!({}),
            ] {
                let config = json!({"metadata": {"managedFields": list}, "spec": {"size": 1}});
                let config = match plural {
                    "widgets" => config,
                    _ => json!({"metadata": {"managedFields": list}}),
                };
                s.apply_as("one", &item, config).await;
            }
        }
    });
}

#[test]
fn what_only_the_server_sets() {
    run(async |s| {
        for plural in ["configmaps", "notes"] {
            let item = format!("{plural}/a");
            s.apply_as(
                "one",
                &item,
                json!({"metadata": {"generation": 7,
                "creationTimestamp": "2020-01-01T00:00:00Z", "selfLink": "x"}}),
            )
            .await;
            s.apply_as(
                "one",
                &item,
                json!({"metadata": {"generation": 9,
                "creationTimestamp": "2021-01-01T00:00:00Z", "generateName": "g-"}}),
            )
            .await;
            s.apply_as(
                "one",
                &item,
                json!({"metadata": {"creationTimestamp": null}}),
            )
            .await;
            s.get(&item).await;
        }
    });
}

#[test]
fn keys_that_come_twice() {
    run(async |s| {
        let body = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"1","a":"2"}}"#;
        for validation in ["Ignore", "Warn", "Strict"] {
            let path = format!("configmaps/a?fieldManager=one&fieldValidation={validation}");
            s.typed("PATCH", &path, APPLY, body).await;
        }
        let body = r#"{"apiVersion":"fixture.freehold.dev/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":1,"nope":1,"size":2}}"#;
        s.typed(
            "PATCH",
            "widgets/a?fieldManager=one&fieldValidation=Strict",
            APPLY,
            body,
        )
        .await;
    });
}

#[test]
fn other_content_types() {
    run(async |s| {
        let config = s.object("configmaps", "a", json!({})).to_string();
        let widget = s
            .object("widgets", "a", json!({"spec": {"size": 1}}))
            .to_string();
        for kind in [
            "application/apply-patch+cbor",
            "application/apply-patch+json",
            "application/apply-patch",
            "application/APPLY-patch+yaml",
            "application/yaml",
        ] {
            s.typed(
                "PATCH",
                "configmaps/a?fieldManager=one",
                kind,
                config.clone(),
            )
            .await;
            s.typed("PATCH", "widgets/a?fieldManager=one", kind, widget.clone())
                .await;
        }
        s.typed(
            "PUT",
            "configmaps/a?fieldManager=one",
            APPLY,
            config.clone(),
        )
        .await;
        s.typed("POST", "configmaps?fieldManager=one", APPLY, config)
            .await;
        s.typed("PATCH", "configmaps?fieldManager=one", APPLY, "{}")
            .await;
    });
}
