//! Messages, reasons, paths, and what keeps a rule from being asked.

use serde_json::json;

use super::{each, things};
use crate::harness::run;

#[test]
fn messages() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}, "t": {"type": "string", "maxLength": 6000}},
        "x-kubernetes-validations": [
            {"rule": "self.n > 0"},
            {"rule": "self.n > 1", "message": "more than one, please"},
            {"rule": "self.n > 2", "message": "  trimmed  "},
            {"rule": "self.n > 3", "messageExpression": "'%d is not enough'.format([self.n])"},
            {"rule": "self.n > 4", "message": "fallback", "messageExpression": "self.t + '!'"},
            {"rule": "self.n > 5", "message": "no newlines", "messageExpression": "'a\\nb'"},
            {"rule": "self.n > 6", "messageExpression": "'  '"},
            {"rule": "self.n\n > 7", "message": "rule in two lines"},
            {"rule": "self.n > 8", "message": "not so long", "messageExpression": "self.t"},
        ]});
        things(s, schema).await;
        each(
            s,
            &[
                json!({"n": 0}),
                json!({"n": 9}),
                json!({"n": 0, "t": "t".repeat(5_200)}),
            ],
        )
        .await;
    });
}

#[test]
fn reasons_and_paths() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "object", "properties": {"b": {"type": "string", "maxLength": 20}, "c.d": {"type": "string", "maxLength": 20}}},
            "m": {"type": "object", "maxProperties": 5, "additionalProperties": {"type": "integer"}},
            "n": {"type": "integer", "x-kubernetes-validations": [
                {"rule": "self > 0", "reason": "FieldValueDuplicate"},
                {"rule": "self > 1", "reason": "FieldValueForbidden"},
                {"rule": "self > 2", "reason": "FieldValueRequired"},
                {"rule": "self > 3", "reason": "FieldValueInvalid"},
            ]},
        }, "x-kubernetes-validations": [
            {"rule": "self.n > 4", "fieldPath": ".a.b", "reason": "FieldValueRequired"},
            {"rule": "self.n > 5", "fieldPath": ".a['c.d']", "reason": "FieldValueDuplicate"},
            {"rule": "self.n > 6", "fieldPath": ".m.key", "message": "m"},
            {"rule": "self.n > 7", "fieldPath": "['m']['other']", "reason": "FieldValueForbidden"},
        ]});
        things(s, schema).await;
        each(s, &[json!({"n": 0}), json!({"n": 3}), json!({"n": 8})]).await;
    });
}

#[test]
fn rules_of_the_root_have_no_path() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"n": {"type": "integer"}}}},
        "x-kubernetes-validations": [
            {"rule": "has(self.spec)"},
            {"rule": "self.spec.n > 1", "fieldPath": ".spec.n"},
            {"rule": "self.spec.n > 2", "reason": "FieldValueForbidden"},
        ]});
        let crd = s.definition("things", "Thing", schema);
        s.crd(crd).await;
        s.create("things", "a", json!({})).await;
        s.create("things", "b", json!({"spec": {"n": 0}})).await;
        s.create("things", "c", json!({"spec": {"n": 3}})).await;
    });
}

#[test]
fn what_blocks_rules() {
    run(async |s| {
        let schema = json!({"type": "object", "required": ["n"], "properties": {
            "n": {"type": "integer", "minimum": 0, "x-kubernetes-validations": [{"rule": "self != 1"}]},
            "e": {"type": "string", "enum": ["a", "b"]},
            "l": {"type": "array", "maxItems": 1, "items": {"type": "string", "maxLength": 20}},
            "s": {"type": "string", "maxLength": 3},
            "p": {"type": "string", "pattern": "^x"},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string", "maxLength": 20}},
        }});
        things(s, schema).await;
        each(
            s,
            &[
                json!({"n": 1}),
                json!({"n": 1, "e": "c"}),
                json!({"n": 1, "l": ["a", "b"]}),
                json!({"n": 1, "s": "long"}),
                json!({"n": 1, "p": "y"}),
                json!({"n": 1, "set": ["a", "a"]}),
                json!({"n": "1"}),
                json!({}),
                json!({"n": -1}),
            ],
        )
        .await;
    });
}

#[test]
fn faults_of_rules() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {
            "n": {"type": "integer"}, "l": {"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 20}},
            "m": {"type": "object", "maxProperties": 5, "additionalProperties": {"type": "string", "maxLength": 20}},
            "x": {"x-kubernetes-int-or-string": true},
        }, "x-kubernetes-validations": [
            {"rule": "self.n > 0"},
            {"rule": "self.l[2] == ''"},
            {"rule": "self.m['k'] == 'v'", "message": "about k"},
            {"rule": "10 / self.n > 0"},
            {"rule": "self.x > 1"},
            {"rule": "int(self.l[0]) == 1"},
            {"rule": "duration(self.l[0]) > duration('1s')"},
            {"rule": "timestamp(self.l[0]) > timestamp('2020-01-01T00:00:00Z')"},
            {"rule": "self.l.min() == ''"},
            {"rule": "true || self.n > 0"},
            {"rule": "self.n > 0 && false"},
            {"rule": "quantity(self.l[0]).isInteger()"},
        ]});
        things(s, schema).await;
        each(
            s,
            &[
                json!({}),
                json!({"n": 0, "l": ["x"], "m": {}, "x": "a"}),
                json!({"l": []}),
            ],
        )
        .await;
    });
}

#[test]
fn several_versions_have_their_own_rules() {
    run(async |s| {
        let version = |name: &str, storage: bool, rule: &str| {
            json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": {"type": "object",
                    "x-kubernetes-validations": [{"rule": rule}],
                    "properties": {"n": {"type": "integer"}}}}}}})
        };
        let versions = json!([
            version("v1", true, "self.n > 1"),
            version("v2", false, "self.n > 2")
        ]);
        let crd = s.definition_of("things", "Thing", versions);
        s.crd(crd).await;
        s.create("things", "a", json!({"spec": {"n": 2}})).await;
        s.create("things@v2", "b", json!({"spec": {"n": 2}})).await;
        s.merge("things@v2/a", json!({"metadata": {"labels": {"l": "v"}}}))
            .await;
        s.merge("things@v2/a", json!({"spec": {"n": 1}})).await;
        s.merge("things/a", json!({"spec": {"n": 1}})).await;
    });
}
