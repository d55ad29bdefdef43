//! Where an apply meets what others manage.

use serde_json::json;

use crate::harness::run;

#[test]
fn one_field_of_one_manager() {
    run(async |s| {
        s.apply_as("one", "configmaps/a", json!({"data": {"a": "1"}}))
            .await;
        s.apply_as("two", "configmaps/a", json!({"data": {"a": "2"}}))
            .await;
        s.create(
            "widgets?fieldManager=maker",
            "a",
            json!({"spec": {"size": 1}}),
        )
        .await;
        s.apply_as("two", "widgets/a", json!({"spec": {"size": 2}}))
            .await;
        s.merge(
            "widgets/a/status?fieldManager=watcher",
            json!({"status": {"phase": "x"}}),
        )
        .await;
        s.apply_as("two", "widgets/a/status", json!({"status": {"phase": "y"}}))
            .await;
    });
}

#[test]
fn several_fields_of_one_manager() {
    run(async |s| {
        s.apply_as(
            "one",
            "widgets/a",
            json!({"metadata": {"labels": {"a": "1"}}, "spec": {"size": 1, "note": "x",
                "parts": [{"name": "p", "weight": 2}], "tags": ["t"], "free": {"x": {"y": 1}}}}),
        )
        .await;
        s.apply_as(
            "two",
            "widgets/a",
            json!({"metadata": {"labels": {"a": "2"}}, "spec": {"size": 2, "note": "y",
                "parts": [{"name": "p", "weight": 3}], "tags": ["t", "u"], "free": {"x": {"y": 2}}}}),
        )
        .await;
    });
}

#[test]
fn several_managers() {
    run(async |s| {
        s.create(
            "configmaps?fieldManager=maker",
            "a",
            json!({"data": {"a": "1"}}),
        )
        .await;
        s.apply_as("one", "configmaps/a", json!({"data": {"b": "1"}}))
            .await;
        s.apply_as("two", "configmaps/a", json!({"data": {"b": "1", "c": "1"}}))
            .await;
        s.apply_as(
            "three",
            "configmaps/a",
            json!({"data": {"a": "2", "b": "2", "c": "2"}}),
        )
        .await;
        s.get("configmaps/a").await;
    });
}

#[test]
fn force_takes_the_fields() {
    run(async |s| {
        s.create(
            "configmaps?fieldManager=maker",
            "a",
            json!({"data": {"a": "1"}}),
        )
        .await;
        s.apply_as("one", "configmaps/a", json!({"data": {"b": "1", "c": "1"}}))
            .await;
        let config = json!({"data": {"a": "2", "b": "2"}});
        s.apply_as("two&force=false", "configmaps/a", config.clone())
            .await;
        s.apply_as("two&force=true", "configmaps/a", config.clone())
            .await;
        // They lost it, so it stays when they apply again without it.
        s.apply_as("one", "configmaps/a", json!({"data": {"c": "1"}}))
            .await;
        s.apply_as("one&force=0", "configmaps/a", json!({"data": {"b": "3"}}))
            .await;
        s.apply_as("one&force=1", "configmaps/a", json!({"data": {"b": "3"}}))
            .await;
        s.apply_as(
            "one&force=perhaps",
            "configmaps/a",
            json!({"data": {"a": "4"}}),
        )
        .await;
        s.apply_as("one&force=", "configmaps/a", json!({"data": {"a": "5"}}))
            .await;
    });
}

#[test]
fn the_same_value_is_no_conflict() {
    run(async |s| {
        s.apply_as("one", "widgets/a", json!({"spec": {"size": 1, "ratio": 1}}))
            .await;
        s.apply_as(
            "two",
            "widgets/a",
            json!({"spec": {"size": 1, "ratio": 1.0}}),
        )
        .await;
        s.apply_as(
            "three",
            "widgets/a",
            json!({"spec": {"size": 1, "ratio": 1.5}}),
        )
        .await;
    });
}

#[test]
fn other_versions_conflict_as_well() {
    run(async |s| {
        s.apply_as(
            "one",
            "widgets/a",
            json!({"spec": {"size": 1, "note": "x"}}),
        )
        .await;
        s.apply_as("two", "widgets@v1beta1/a", json!({"spec": {"note": "y"}}))
            .await;
        s.merge(
            "widgets@v1beta1/a?fieldManager=maker",
            json!({"spec": {"ratio": 1}}),
        )
        .await;
        s.apply_as("two", "widgets/a", json!({"spec": {"ratio": 2}}))
            .await;
        s.apply_as("two&force=true", "widgets/a", json!({"spec": {"ratio": 2}}))
            .await;
    });
}

#[test]
fn who_updates_takes_without_asking() {
    run(async |s| {
        s.apply_as("one", "configmaps/a", json!({"data": {"a": "1", "b": "1"}}))
            .await;
        s.merge("configmaps/a?fieldManager=two", json!({"data": {"a": "2"}}))
            .await;
        s.apply_as("one", "configmaps/a", json!({"data": {"a": "1", "b": "1"}}))
            .await;
        s.apply_as("one", "configmaps/a", json!({"data": {"a": "2", "b": "1"}}))
            .await;
        s.apply_as("one", "configmaps/a", json!({"data": {"b": "1"}}))
            .await;
    });
}

#[test]
fn a_field_and_what_is_below_it() {
    run(async |s| {
        s.apply_as("one", "notes/a", json!({"spec": {"a": {"b": 1}}}))
            .await;
        s.apply_as("two", "notes/a", json!({"spec": {"a": "x"}}))
            .await;
        s.apply_as("two&force=true", "notes/a", json!({"spec": {"a": "x"}}))
            .await;
        s.apply_as("one", "notes/a", json!({"spec": {"a": {"b": 1}}}))
            .await;
        s.apply_as(
            "one&force=true",
            "notes/a",
            json!({"spec": {"a": {"c": 1}}}),
        )
        .await;
        s.apply_as("one", "notes/a", json!({"spec": {"a": [1]}}))
            .await;
        s.apply_as("one", "notes/a", json!({"spec": {"a": null}}))
            .await;
        s.apply_as("one", "notes/a", json!({"spec": {"a": {}}}))
            .await;
        s.apply_as("one", "notes/a", json!({"spec": {}})).await;
        s.apply_as("one", "notes/a", json!({})).await;
    });
}
