//! Rules that look back, and what was wrong before.

use serde_json::{Value, json};

use super::things;
use crate::harness::{Script, run};

/// Creates `a` with a spec, and replaces it by each of the others.
async fn walk(s: &mut Script, first: Value, others: &[Value]) {
    s.create("things", "a", json!({"spec": first})).await;
    for spec in others {
        let current = s.peek("things/a").await;
        let rest = json!({"metadata": {"resourceVersion": current.rv()}, "spec": spec});
        s.replace("things", "a", rest).await;
    }
}

#[test]
fn transitions() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {
            "fixed": {"type": "string", "maxLength": 20, "x-kubernetes-validations": [
                {"rule": "self == oldSelf", "message": "fixed cannot change"}]},
            "grows": {"type": "integer", "x-kubernetes-validations": [
                {"rule": "self >= oldSelf", "messageExpression": "'%d is less than %d'.format([self, oldSelf])"}]},
        }, "x-kubernetes-validations": [
            {"rule": "!has(oldSelf.fixed) || has(self.fixed)", "message": "fixed cannot go"},
        ]});
        things(s, schema).await;
        walk(
            s,
            json!({"grows": 3}),
            &[
                json!({"grows": 2}),
                json!({"grows": 4, "fixed": "x"}),
                json!({"grows": 4, "fixed": "y"}),
                json!({"grows": 4}),
                json!({"fixed": "x"}),
                json!({"fixed": "x", "grows": 0}),
            ],
        )
        .await;
    });
}

#[test]
fn optional_pasts() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {
            "n": {"type": "integer", "x-kubernetes-validations": [
                {"rule": "oldSelf.hasValue() || self == 1", "optionalOldSelf": true, "message": "begin with one"},
                {"rule": "!oldSelf.hasValue() || self >= oldSelf.value()", "optionalOldSelf": true,
                 "messageExpression": "oldSelf.hasValue() ? 'there was one' : 'there was none'"},
                {"rule": "oldSelf.optMap(o, self - o < 5).orValue(true)", "optionalOldSelf": true},
            ]},
        }});
        things(s, schema).await;
        walk(s, json!({"n": 2}), &[]).await;
        walk(
            s,
            json!({"n": 1}),
            &[
                json!({"n": 0}),
                json!({"n": 9}),
                json!({"n": 3}),
                json!({}),
                json!({"n": 2}),
                json!({"n": 1}),
            ],
        )
        .await;
    });
}

#[test]
fn items_with_keys_have_a_past() {
    run(async |s| {
        let item = json!({"type": "object", "required": ["k"], "properties": {
            "k": {"type": "string", "maxLength": 20}, "v": {"type": "integer", "x-kubernetes-validations": [
                {"rule": "self >= oldSelf", "message": "v cannot fall"}]}}});
        let schema = json!({"type": "object", "properties": {
            "l": {"type": "array", "maxItems": 5, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": item},
            "m": {"type": "object", "maxProperties": 5, "additionalProperties": {"type": "integer",
                "x-kubernetes-validations": [{"rule": "self >= oldSelf", "message": "m cannot fall"}]}},
        }});
        things(s, schema).await;
        walk(
            s,
            json!({"l": [{"k": "a", "v": 3}, {"k": "b", "v": 5}], "m": {"x": 1}}),
            &[
                json!({"l": [{"k": "b", "v": 4}, {"k": "a", "v": 3}], "m": {"x": 1}}),
                json!({"l": [{"k": "b", "v": 6}, {"k": "c", "v": 0}], "m": {"y": 0}}),
                json!({"l": [{"k": "a", "v": 0}], "m": {"x": 0, "y": -1}}),
            ],
        )
        .await;
    });
}

#[test]
fn what_was_wrong_before_is_a_warning() {
    run(async |s| {
        let schema = |rules: bool| {
            let rule = |rule: &str, message: &str| {
                if rules {
                    json!([{"rule": rule, "message": message}])
                } else {
                    json!([])
                }
            };
            json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
                "n": {"type": "integer", "x-kubernetes-validations": rule("self > 5", "n too small")},
                "o": {"type": "object", "x-kubernetes-validations": rule("self.a == self.b", "a is not b"),
                    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
                "l": {"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 20,
                    "x-kubernetes-validations": rule("self != 'bad'", "bad item")}},
                "k": {"type": "array", "maxItems": 5, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                    "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string", "maxLength": 20},
                        "v": {"type": "string", "maxLength": 20, "x-kubernetes-validations": rule("self != 'bad'", "bad entry")}}}},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                    "x-kubernetes-validations": rule("!has(self.q)", "q is not allowed"),
                    "properties": {"q": {"type": "string", "maxLength": 20}}},
                "t": {"type": "integer", "x-kubernetes-validations": rule("self >= oldSelf && self > 5", "t too small")},
            }}}})
        };
        let crd = s.definition("things", "Thing", schema(false));
        s.crd(crd).await;
        let spec = json!({"n": 1, "o": {"a": 1, "b": 2}, "l": ["bad"], "k": [{"k": "x", "v": "bad"}],
            "free": {"q": "", "z": 1}, "t": 1});
        s.create("things", "a", json!({"spec": spec})).await;
        s.create(
            "things",
            "b",
            json!({"spec": {"n": 1, "o": {"a": 1, "b": 2}}}),
        )
        .await;
        let current = s.peek("customresourcedefinitions/things.{group}").await;
        let mut crd = s.definition("things", "Thing", schema(true));
        crd["metadata"]["resourceVersion"] = json!(current.rv());
        s.put("customresourcedefinitions/things.{group}", crd).await;
        let probe = s.object("things", "probe", json!({"spec": {"n": 1}}));
        s.until_code("POST", "things?dryRun=All", probe, 422).await;
        s.merge("things/b", json!({"metadata": {"labels": {"l": "v"}}}))
            .await;
        s.merge("things/b", json!({"spec": {"o": {"a": 3}}})).await;
        s.merge("things/b", json!({"spec": {"n": 2}})).await;
        s.merge("things/b", json!({"spec": {"n": 6}})).await;
        for patch in [
            json!({"metadata": {"labels": {"l": "v"}}}),
            json!({"spec": {"t": 2}}),
            json!({"spec": {"t": 7}}),
            json!({"spec": {"l": ["bad", "x"]}}),
            json!({"spec": {"l": ["x"]}}),
            json!({"spec": {"k": [{"k": "y"}, {"k": "x", "v": "bad"}]}}),
            json!({"spec": {"k": [{"k": "y", "v": "bad"}]}}),
            json!({"spec": {"free": {"z": 2}}}),
            json!({"spec": {"n": 7, "free": null, "o": null}}),
        ] {
            s.merge("things/a", patch).await;
        }
    });
}

#[test]
fn the_status_and_its_rules() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {"n": {"type": "integer",
                "x-kubernetes-validations": [{"rule": "self > 0"}]}}},
            "status": {"type": "object", "properties": {"phase": {"type": "string",
                "x-kubernetes-validations": [{"rule": "self != 'Bad'"}, {"rule": "oldSelf != 'Done' || self == 'Done'"}]}}},
        }, "x-kubernetes-validations": [
            {"rule": "!has(self.status) || !has(self.status.phase) || self.status.phase != 'Big' || self.spec.n > 10"},
        ]});
        let mut crd = s.definition("things", "Thing", schema);
        crd["spec"]["versions"][0]["subresources"] = json!({"status": {}});
        s.crd(crd).await;
        s.create(
            "things",
            "a",
            json!({"spec": {"n": 1}, "status": {"phase": "Bad"}}),
        )
        .await;
        for phase in ["Bad", "Big", "Done", "Other", "Done"] {
            s.merge("things/a/status", json!({"status": {"phase": phase}}))
                .await;
        }
        s.merge("things/a", json!({"spec": {"n": 0}})).await;
        s.merge("things/a/status", json!({"status": {"phase": 5}}))
            .await;
        s.merge("things/a/status", json!({"status": null})).await;
    });
}

#[test]
fn patches_and_scales_obey() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {"replicas": {"type": "integer",
                "x-kubernetes-validations": [{"rule": "self <= 3"}, {"rule": "self - oldSelf < 3"}]}}},
            "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
        }});
        let mut crd = s.definition("things", "Thing", schema);
        crd["spec"]["versions"][0]["subresources"] = json!({"status": {}, "scale": {
            "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}});
        s.crd(crd).await;
        s.create("things", "a", json!({"spec": {"replicas": 0}}))
            .await;
        s.merge("things/a/scale", json!({"spec": {"replicas": 3}}))
            .await;
        s.merge("things/a/scale", json!({"spec": {"replicas": 2}}))
            .await;
        s.merge("things/a/scale", json!({"spec": {"replicas": 4}}))
            .await;
        s.patch(
            "things/a",
            json!([{"op": "replace", "path": "/spec/replicas", "value": 9}]),
        )
        .await;
        s.patch(
            "things/a",
            json!([{"op": "remove", "path": "/spec/replicas"}]),
        )
        .await;
    });
}

#[test]
fn keyed_lists_are_compared_as_such() {
    run(async |s| {
        let keyed = json!({"type": "array", "maxItems": 5, "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            "x-kubernetes-validations": [
                {"rule": "self == oldSelf", "message": "the lists differ"},
                {"rule": "(self + oldSelf).map(x, x.k) == ['a', 'b']", "message": "other keys"},
                {"rule": "(self + oldSelf)[0].v == 1", "message": "another value"},
                {"rule": "oldSelf.all(x, x in self)", "message": "something is gone"},
            ],
            "items": {"type": "object", "required": ["k"], "properties": {
                "k": {"type": "string", "maxLength": 5}, "v": {"type": "integer"}}}});
        things(s, json!({"type": "object", "properties": {"l": keyed}})).await;
        walk(
            s,
            json!({"l": [{"k": "a", "v": 1}, {"k": "b"}]}),
            &[
                json!({"l": [{"k": "b"}, {"k": "a", "v": 1}]}),
                json!({"l": [{"k": "a", "v": 2}, {"k": "b"}]}),
                json!({"l": [{"k": "a", "v": 1}, {"k": "b"}, {"k": "c"}]}),
                json!({"l": [{"k": "a", "v": 1}]}),
                json!({}),
            ],
        )
        .await;
    });
}
