//! Lists that are sets or maps, and what has one manager as a whole.

use serde_json::{Value, json};

use crate::harness::{Script, run};

/// A kind with a list of every sort.
async fn shelves(s: &mut Script) {
    let item = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "protocol": {"type": "string", "default": "TCP"},
        "port": {"type": "integer"}, "weight": {"type": "integer"},
        "inner": {"type": "array", "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["id"],
            "items": {"type": "object", "required": ["id"], "properties": {
                "id": {"type": "integer"}, "v": {"type": "string"}}}}}});
    let list = |kind: &str, items: &Value, keys: Value| {
        let mut list = json!({"type": "array", "x-kubernetes-list-type": kind, "items": items});
        if !keys.is_null() {
            list["x-kubernetes-list-map-keys"] = keys;
        }
        list
    };
    let text = json!({"type": "string"});
    let pair = json!({"type": "object", "properties": {"a": text, "b": text}});
    let mut atomic = pair.clone();
    atomic["x-kubernetes-map-type"] = json!("atomic");
    let mut granular = pair.clone();
    granular["x-kubernetes-map-type"] = json!("granular");
    let mut atomic_map = json!({"type": "object", "additionalProperties": text});
    atomic_map["x-kubernetes-map-type"] = json!("atomic");
    let crd = s.definition(
        "shelves",
        "Shelf",
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "ports": list("map", &item, json!(["name", "protocol"])),
            "parts": list("map", &item, json!(["name"])),
            "names": list("set", &text, json!(null)),
            "numbers": list("set", &json!({"type": "integer"}), json!(null)),
            "pairs": list("set", &atomic, json!(null)),
            "all": list("atomic", &pair, json!(null)),
            "plain": {"type": "array", "items": text},
            "whole": atomic, "apart": granular, "texts": atomic_map,
            "map": {"type": "object", "additionalProperties": pair},
            "lists": {"type": "object", "additionalProperties": list("set", &text, json!(null))},
        }}}}),
    );
    s.crd(crd).await;
}

#[test]
fn items_of_a_map_have_managers() {
    run(async |s| {
        shelves(s).await;
        let part = |name: &str, weight: i64| json!({"name": name, "weight": weight});
        s.apply_as(
            "one",
            "shelves/a",
            json!({"spec": {"parts": [part("a", 1), part("b", 1)]}}),
        )
        .await;
        s.apply_as(
            "two",
            "shelves/a",
            json!({"spec": {"parts": [part("c", 1), part("b", 1)]}}),
        )
        .await;
        s.apply_as(
            "two",
            "shelves/a",
            json!({"spec": {"parts": [part("a", 2)]}}),
        )
        .await;
        s.apply_as(
            "one",
            "shelves/a",
            json!({"spec": {"parts": [part("a", 1)]}}),
        )
        .await;
        s.apply_as(
            "two",
            "shelves/a",
            json!({"spec": {"parts": [{"name": "a", "port": 1}]}}),
        )
        .await;
        s.apply_as(
            "one",
            "shelves/a",
            json!({"spec": {"parts": [{"name": "a"}]}}),
        )
        .await;
        s.apply_as("one", "shelves/a", json!({"spec": {"parts": []}}))
            .await;
        s.apply_as("two", "shelves/a", json!({"spec": {"parts": []}}))
            .await;
        s.apply_as("two", "shelves/a", json!({"spec": {}})).await;
        s.merge(
            "shelves/a?fieldManager=three",
            json!({"spec": {"parts": [part("z", 1), part("y", 2)]}}),
        )
        .await;
        s.merge(
            "shelves/a?fieldManager=four",
            json!({"spec": {"parts": [part("y", 3), part("z", 1)]}}),
        )
        .await;
    });
}

#[test]
fn keys_have_defaults() {
    run(async |s| {
        shelves(s).await;
        s.apply_as(
            "one",
            "shelves/a",
            json!({"spec": {"ports": [{"name": "a", "port": 1},
                {"name": "a", "protocol": "UDP", "port": 2}]}}),
        )
        .await;
        s.apply_as(
            "two",
            "shelves/a",
            json!({"spec": {"ports": [{"name": "a", "protocol": "TCP", "weight": 7}]}}),
        )
        .await;
        s.apply_as(
            "two",
            "shelves/a",
            json!({"spec": {"ports": [{"name": "a", "port": 9}]}}),
        )
        .await;
        s.apply_as(
            "one",
            "shelves/a",
            json!({"spec": {"ports": [{"name": "a", "protocol": "UDP", "port": 2}]}}),
        )
        .await;
        s.apply_as(
            "one",
            "shelves/a",
            json!({"spec": {"ports": [{"name": "b"}, {"name": "b", "protocol": "TCP"}]}}),
        )
        .await;
        s.apply_as(
            "one",
            "shelves/a",
            json!({"spec": {"ports": [{"port": 1}]}}),
        )
        .await;
        s.apply_as(
            "one",
            "shelves/a",
            json!({"spec": {"parts": [{"port": 1}]}}),
        )
        .await;
        s.apply_as("one", "shelves/a", json!({"spec": {"parts": [null]}}))
            .await;
        s.apply_as("one", "shelves/a", json!({"spec": {"parts": ["x"]}}))
            .await;
    });
}

#[test]
fn maps_in_maps() {
    run(async |s| {
        shelves(s).await;
        let part = |name: &str, inner: Value| json!({"name": name, "inner": inner});
        s.apply_as(
            "one",
            "shelves/a",
            json!({"spec": {"parts": [part("a", json!([{"id": 1, "v": "x"}, {"id": 1_000_000}]))]}}),
        )
        .await;
        s.apply_as(
            "two",
            "shelves/a",
            json!({"spec": {"parts": [part("a", json!([{"id": 2, "v": "y"}, {"id": 1}]))]}}),
        )
        .await;
        s.apply_as(
            "two",
            "shelves/a",
            json!({"spec": {"parts": [part("a", json!([{"id": 1_000_000, "v": "y"}, {"id": 1, "v": "z"}]))]}}),
        )
        .await;
        s.apply_as(
            "one",
            "shelves/a",
            json!({"spec": {"parts": [part("a", json!([{"id": 1, "v": "x"}]))]}}),
        )
        .await;
        s.apply_as(
            "two",
            "shelves/a",
            json!({"spec": {"parts": [{"name": "b"}]}}),
        )
        .await;
        s.apply_as(
            "three",
            "shelves/a",
            json!({"spec": {"parts": [part("a", json!([{"id": 1_000_000, "v": "q"}]))]}}),
        )
        .await;
        s.apply_as(
            "two",
            "shelves/a",
            json!({"spec": {"parts": [part("a", json!([{"id": 1_000_000, "v": "r"}]))]}}),
        )
        .await;
    });
}

#[test]
fn items_of_a_set_have_managers() {
    run(async |s| {
        shelves(s).await;
        s.apply_as(
            "one",
            "shelves/a",
            json!({"spec": {"names": ["a", "b"], "numbers": [1, 2]}}),
        )
        .await;
        s.apply_as(
            "two",
            "shelves/a",
            json!({"spec": {"names": ["c", "b"], "numbers": [3, 2]}}),
        )
        .await;
        s.apply_as(
            "one",
            "shelves/a",
            json!({"spec": {"names": ["a"], "numbers": [1]}}),
        )
        .await;
        s.apply_as(
            "two",
            "shelves/a",
            json!({"spec": {"names": [], "numbers": []}}),
        )
        .await;
        s.merge(
            "shelves/a?fieldManager=three",
            json!({"spec": {"names": ["x", "a"]}}),
        )
        .await;
        s.merge(
            "shelves/a?fieldManager=three",
            json!({"spec": {"names": ["<&>", "a\"b\\c"]}}),
        )
        .await;
        s.apply_as("one", "shelves/a", json!({"spec": {"names": ["a", "a"]}}))
            .await;
        s.apply_as("one", "shelves/a", json!({"spec": {"names": [null]}}))
            .await;
        s.apply_as("one", "shelves/a", json!({"spec": {"names": [["a"]]}}))
            .await;
        s.apply_as("one", "shelves/a", json!({"spec": {"pairs": [{"a": "1"}]}}))
            .await;
        s.merge("shelves/a", json!({"spec": {"pairs": [{"a": "1"}]}}))
            .await;
    });
}

#[test]
fn the_order_of_what_is_applied() {
    run(async |s| {
        shelves(s).await;
        let orders: [(&[&str], &[&str]); 7] = [
            (&["a", "b", "c"], &["c", "b", "a"]),
            (&["a", "b", "c"], &["x", "b", "y"]),
            (&["a", "b", "c", "d"], &["d", "x", "a"]),
            (&["a"], &["b", "c"]),
            (&["c", "d"], &["a", "c", "b", "d"]),
            (&["a", "b", "c", "d", "e"], &["e", "c", "x", "a"]),
            (&["x", "a", "y", "b", "z"], &["b", "a"]),
        ];
        for (index, (before, after)) in orders.iter().enumerate() {
            let item = format!("shelves/s{index}");
            let parts =
                |names: &[&str]| -> Value { names.iter().map(|n| json!({"name": n})).collect() };
            s.apply_as(
                "one",
                &item,
                json!({"spec": {"names": before, "parts": parts(before)}}),
            )
            .await;
            s.apply_as(
                "two",
                &item,
                json!({"spec": {"names": after, "parts": parts(after)}}),
            )
            .await;
            s.apply_as("one", &item, json!({"spec": {"names": [], "parts": []}}))
                .await;
        }
    });
}

#[test]
fn what_is_atomic_has_one_manager() {
    run(async |s| {
        shelves(s).await;
        let pair = |a: &str, b: &str| json!({"a": a, "b": b});
        s.apply_as(
            "one",
            "shelves/a",
            json!({"spec": {"all": [pair("1", "2")], "plain": ["x"], "whole": pair("1", "2"),
                "texts": {"k": "1"}, "apart": pair("1", "2")}}),
        )
        .await;
        s.apply_as("two", "shelves/a", json!({"spec": {"whole": {"a": "1"}}}))
            .await;
        s.apply_as("two", "shelves/a", json!({"spec": {"texts": {"l": "1"}}}))
            .await;
        s.apply_as("two", "shelves/a", json!({"spec": {"plain": ["y"]}}))
            .await;
        s.apply_as("two", "shelves/a", json!({"spec": {"all": [{"a": "1"}]}}))
            .await;
        s.apply_as("two", "shelves/a", json!({"spec": {"apart": {"a": "1"}}}))
            .await;
        s.apply_as(
            "two&force=true",
            "shelves/a",
            json!({"spec": {"whole": {"a": "1"}, "texts": {"l": "1"}, "plain": [], "all": []}}),
        )
        .await;
        s.apply_as("one", "shelves/a", json!({"spec": {}})).await;
        s.apply_as("two", "shelves/a", json!({"spec": {}})).await;
        s.merge(
            "shelves/a?fieldManager=three",
            json!({"spec": {"whole": pair("3", "4")}}),
        )
        .await;
        s.merge(
            "shelves/a?fieldManager=four",
            json!({"spec": {"whole": {"a": "5"}}}),
        )
        .await;
    });
}

#[test]
fn maps_by_name() {
    run(async |s| {
        shelves(s).await;
        s.apply_as(
            "one",
            "shelves/a",
            json!({"spec": {"map": {"x": {"a": "1"}, "y": {}}, "lists": {"l": ["a"], "m": []}}}),
        )
        .await;
        s.apply_as(
            "two",
            "shelves/a",
            json!({"spec": {"map": {"x": {"b": "1"}}, "lists": {"l": ["b"]}}}),
        )
        .await;
        s.apply_as(
            "one",
            "shelves/a",
            json!({"spec": {"map": {"x": {}}, "lists": {"l": []}}}),
        )
        .await;
        s.apply_as(
            "two",
            "shelves/a",
            json!({"spec": {"map": {}, "lists": {}}}),
        )
        .await;
        s.apply_as("one", "shelves/a", json!({"spec": {}})).await;
        s.apply_as("two", "shelves/a", json!({"spec": {}})).await;
    });
}

#[test]
fn duplicates_that_are_there_already() {
    run(async |s| {
        let list = |extra: Value| {
            let mut list = json!({"type": "array", "items": {"type": "string"}});
            if let (Some(list), Some(extra)) = (list.as_object_mut(), extra.as_object()) {
                list.extend(extra.clone());
            }
            json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
                "tags": list, "other": {"type": "string"}}}}})
        };
        let crd = s.definition("heaps", "Heap", list(json!({})));
        s.crd(crd.clone()).await;
        s.create(
            "heaps?fieldManager=maker",
            "a",
            json!({"spec": {"tags": ["a", "a", "b"]}}),
        )
        .await;
        let mut changed = crd;
        changed["spec"]["versions"][0]["schema"]["openAPIV3Schema"] =
            list(json!({"x-kubernetes-list-type": "set"}));
        let path = format!("customresourcedefinitions/heaps.{}", s.group);
        s.merge(&path, json!({"spec": changed["spec"]})).await;
        // A new object with duplicates is refused once the change is served.
        let body = s.object("heaps", "probe", json!({"spec": {"tags": ["a", "a"]}}));
        s.until_code("POST", "heaps?dryRun=All", body, 422).await;
        s.merge("heaps/a?fieldManager=two", json!({"spec": {"other": "x"}}))
            .await;
        s.apply_as("one", "heaps/a", json!({"spec": {"tags": ["c"]}}))
            .await;
        s.apply_as("one", "heaps/a", json!({"spec": {"tags": ["a"]}}))
            .await;
        s.merge("heaps/a?fieldManager=two", json!({"spec": {"tags": ["b"]}}))
            .await;
    });
}
