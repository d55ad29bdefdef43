//! How rules see objects: types, presence, lists of all kinds, names.

use serde_json::json;

use super::{ask, each, things};
use crate::harness::run;

#[test]
fn ints_or_strings() {
    run(async |s| {
        let rules = [
            "type(self) == int ? self > 0 : self != ''",
            "self == 80",
            "self == 'http'",
            "self > 5",
            "self.startsWith('h')",
            "self + 1 == 81",
            "string(self) == '80'",
            "self in [80, 81]",
            "self in ['a', 'http']",
        ];
        let schema = json!({"x-kubernetes-int-or-string": true, "maxLength": 20});
        ask(s, schema, &[json!(80), json!("http"), json!("")], &rules).await;
    });
}

#[test]
fn presence() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "string", "maxLength": 20},
            "n": {"type": "string", "nullable": true},
            "d": {"type": "integer", "default": 5},
            "o": {"type": "object", "properties": {"x": {"type": "string", "maxLength": 20}}},
            "l": {"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 20, "nullable": true}},
            "m": {"type": "object", "maxProperties": 5, "additionalProperties": {"type": "string", "maxLength": 20, "nullable": true}},
        }, "x-kubernetes-validations": [
            {"rule": "has(self.a)"},
            {"rule": "has(self.n)"},
            {"rule": "self.d == 5"},
            {"rule": "has(self.o) && has(self.o.x)"},
            {"rule": "!has(self.l) || self.l.all(x, x != 'a')"},
            {"rule": "!has(self.m) || self.m.all(k, self.m[k] != 'v')"},
            {"rule": "self.a == 'x' || self.d == 5"},
            {"rule": "has(self.o.x)"},
        ]});
        things(s, schema).await;
        each(
            s,
            &[
                json!({}),
                json!({"a": "x", "n": "y", "o": {"x": "z"}, "l": ["a"], "m": {"k": "v"}}),
                json!({"n": null, "d": 6, "o": {}}),
                json!({"l": ["a", null], "m": {"k": null}}),
            ],
        )
        .await;
    });
}

#[test]
fn preserved_fields() {
    run(async |s| {
        let free = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "properties": {"known": {"type": "string", "maxLength": 20}}});
        let schema = json!({"type": "object", "properties": {
            "f": free, "g": free,
            "any": {"x-kubernetes-preserve-unknown-fields": true},
        }, "x-kubernetes-validations": [
            {"rule": "!has(self.f) || !has(self.g) || self.f.known == self.g.known"},
            {"rule": "!has(self.f) || !has(self.f.known) || self.f.known != 'bad'"},
        ]});
        things(s, schema).await;
        each(
            s,
            &[
                json!({"f": {"known": "a", "x": 1}, "g": {"known": "a", "y": {"z": []}}}),
                json!({"f": {"known": "a"}, "g": {"known": "b"}}),
                json!({"f": {"x": 1, "y": 2, "z": 3}, "any": [1, "x"]}),
                json!({"f": {"known": "bad", "x": 1}}),
            ],
        )
        .await;
        // What the schema does not know cannot be named.
        let rules = ["self.f.x == 1", "self.any == 1", "has(self.any)"];
        let rules = rules.map(|rule| json!({"rule": rule}));
        let schema = json!({"type": "object", "properties": {
            "f": free, "any": {"x-kubernetes-preserve-unknown-fields": true}}});
        super::offer(s, &schema, &rules).await;
    });
}

#[test]
fn the_root_sees_names_only() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object"}},
        "x-kubernetes-validations": [
            {"rule": "self.metadata.name.startsWith('ok')"},
            {"rule": "self.kind == 'Thing' && self.apiVersion.endsWith('/v1')"},
            {"rule": "!has(self.metadata.generateName)"},
        ]});
        let crd = s.definition("things", "Thing", schema);
        s.crd(crd).await;
        s.create("things", "ok-a", json!({})).await;
        s.create("things", "bad", json!({})).await;
        let path = "things";
        let api_version = format!("{}/v1", s.group);
        s.post(
            path,
            json!({"apiVersion": api_version, "kind": "Thing", "metadata": {"generateName": "ok-g-"}}),
        )
        .await;
        for rule in [
            "has(self.metadata.labels)",
            "self.metadata.namespace == 'x'",
        ] {
            let schema = json!({"type": "object", "x-kubernetes-validations": [{"rule": rule}]});
            let crd = s.definition("others", "Other", schema);
            s.post("customresourcedefinitions?dryRun=All", crd).await;
        }
    });
}

#[test]
fn embedded_resources() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {
            "r": {"type": "object", "x-kubernetes-embedded-resource": true,
                "x-kubernetes-preserve-unknown-fields": true,
                "x-kubernetes-validations": [
                    {"rule": "self.kind == 'Pod'"},
                    {"rule": "self.metadata.name != 'forbidden'"},
                ]},
        }, "x-kubernetes-validations": [{"rule": "!has(self.r) || self.r.apiVersion == 'v1'"}]});
        things(s, schema).await;
        each(
            s,
            &[
                json!({"r": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}}),
                json!({"r": {"apiVersion": "v2", "kind": "Job", "metadata": {"name": "forbidden"}}}),
                json!({"r": {"apiVersion": "v1", "kind": "Pod", "metadata": {}, "x": 1}}),
            ],
        )
        .await;
    });
}

#[test]
fn sets_are_compared_as_such() {
    run(async |s| {
        let set = json!({"type": "array", "x-kubernetes-list-type": "set", "maxItems": 5, "items": {"type": "string", "maxLength": 20}});
        let plain =
            json!({"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 20}});
        let schema = json!({"type": "object", "properties": {
            "s": set, "t": set, "p": plain, "q": plain,
        }, "x-kubernetes-validations": [
            {"rule": "!has(self.s) || self.s == self.t", "message": "sets differ"},
            {"rule": "!has(self.p) || self.p == self.q", "message": "lists differ"},
            {"rule": "!has(self.s) || self.s + self.t == self.s", "message": "not a part"},
            {"rule": "!has(self.s) || (self.s + self.t).size() == 2", "message": "not two"},
            {"rule": "!has(self.p) || (self.p + self.q).size() == 4", "message": "not four"},
        ]});
        things(s, schema).await;
        each(
            s,
            &[
                json!({"s": ["a", "b"], "t": ["b", "a"]}),
                json!({"s": ["a", "b"], "t": ["b", "c"]}),
                json!({"p": ["a", "b"], "q": ["b", "a"]}),
                json!({"p": ["a", "b"], "q": ["a", "b"]}),
            ],
        )
        .await;
    });
}

#[test]
fn odd_names() {
    run(async |s| {
        let text = json!({"type": "string", "maxLength": 20});
        let schema = json!({"type": "object", "properties": {
            "namespace": text, "a-b": text, "x.y": text, "p/q": text, "u__v": text, "_w": text,
            "if": text, "1st": text, "with space": text, "in": text,
        }, "x-kubernetes-validations": [
            {"rule": "!has(self.__namespace__) || self.__namespace__ == 'ok'"},
            {"rule": "!has(self.a__dash__b) || self.a__dash__b == 'ok'"},
            {"rule": "!has(self.x__dot__y) || self.x__dot__y == 'ok'"},
            {"rule": "!has(self.p__slash__q) || self.p__slash__q == 'ok'"},
            {"rule": "!has(self.u__underscores__v) || self.u__underscores__v == 'ok'"},
            {"rule": "!has(self._w) || self._w == 'ok'"},
            {"rule": "!has(self.__if__) || self.__if__ == 'ok'"},
            {"rule": "!has(self.__in__) || self.__in__ == 'ok'"},
        ]});
        things(s, schema.clone()).await;
        for name in [
            "namespace",
            "a-b",
            "x.y",
            "p/q",
            "u__v",
            "_w",
            "if",
            "1st",
            "with space",
            "in",
        ] {
            let mut spec = json!({});
            spec[name] = json!("ok");
            let ok = spec.clone();
            spec[name] = json!("bad");
            each(s, &[ok, spec]).await;
        }
        let rules = [
            "self.namespace == ''",
            "self.if == ''",
            "self.in == ''",
            "has(self.a-b)",
        ];
        super::offer(s, &schema, &rules.map(|rule| json!({"rule": rule}))).await;
    });
}

#[test]
fn nested_lists_and_maps() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {
            "groups": {"type": "object", "maxProperties": 5, "additionalProperties": {
                "type": "array", "maxItems": 5,
                "x-kubernetes-validations": [{"rule": "self.size() > 0", "message": "empty group"}],
                "items": {"type": "object", "properties": {"n": {"type": "integer",
                    "x-kubernetes-validations": [{"rule": "self % 2 == 0", "message": "odd"}]}}}}},
        }, "x-kubernetes-validations": [
            {"rule": "self.groups.all(g, self.groups[g].exists(i, has(i.n)))", "message": "a group without n"},
        ]});
        things(s, schema).await;
        each(
            s,
            &[
                json!({"groups": {"a": [{"n": 2}], "b": [{"n": 4}, {}]}}),
                json!({"groups": {"a": [], "b": [{"n": 3}, {"n": 5}]}}),
                json!({"groups": {"a.b/c": [{"n": 1}]}}),
                json!({}),
            ],
        )
        .await;
    });
}
