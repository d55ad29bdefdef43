//! Which rules a definition may have.

use serde_json::{Value, json};

use super::offer;
use crate::harness::run;

fn schema() -> Value {
    json!({"type": "object", "properties": {
        "n": {"type": "integer"}, "t": {"type": "string"}, "b": {"type": "boolean"},
        "f": {"type": "number"}, "l": {"type": "array", "maxItems": 3, "items": {"type": "string"}},
        "m": {"type": "object", "maxProperties": 3, "additionalProperties": {"type": "integer"}},
        "o": {"type": "object", "properties": {"x": {"type": "string"}}},
        "d": {"type": "string", "format": "duration"},
        "i": {"x-kubernetes-int-or-string": true},
    }})
}

fn rules(list: &[&str]) -> Vec<Value> {
    list.iter().map(|rule| json!({"rule": rule})).collect()
}

#[test]
fn names_that_nobody_knows() {
    run(async |s| {
        let list = [
            "self.nope == 1",
            "self.o.y == ''",
            "has(self.nope)",
            "self.nope.deeper == 1 && self.other == 2",
            "other == 1",
            "self.n.nope()",
            "nope(self.n)",
            "self.l.all(x, y == 'a')",
            "self.n == foo.bar",
            "object.spec == 1",
            "cel.bind(x, 1, x == 1)",
            "math.greatest(1, 2) == 2",
            "base64.encode(b'a') == ''",
            "oldSelf.nope == 1",
            "params == 1",
            "Foo{a: 1} == 1",
        ];
        offer(s, &schema(), &rules(&list)).await;
    });
}

#[test]
fn types_that_do_not_fit() {
    run(async |s| {
        let list = [
            "self.n == 'a'",
            "self.n + self.t == 1",
            "self.n",
            "'text'",
            "self.n && self.b",
            "self.b || self.t",
            "!self.n",
            "-self.t == ''",
            "self.n > 'a'",
            "self.n == 1.0",
            "self.n < 1.5",
            "self.f == 1",
            "self.l == 'a'",
            "self.l[0] == 1",
            "self.l['a'] == ''",
            "self.m[0] == 1",
            "self.m.k == ''",
            "self.o == self.m",
            "self.o == null",
            "self.n == null",
            "self.d > 5",
            "self.d == '1h'",
            "self.i == 5 && self.i == 'a'",
            "self.n.startsWith('a')",
            "self.t.startsWith(1)",
            "self.t.size() == '1'",
            "size(self.n) == 1",
            "self.l.all(x, x)",
            "self.l.exists(x, x + 1)",
            "self.l.exists_one(x, x)",
            "self.l.filter(x, 1) == []",
            "self.l.map(x, x.size()) == ['a']",
            "self.n.all(x, true)",
            "self.t.map(x, x) == []",
            "self.b ? 1 : 'a'",
            "self.n ? true : false",
            "[1, 'a'].size() == 2",
            "[1, 'a', true, null].size() == 4",
            "[[1, [2]], [3]].flatten(2).size() == 3",
            "'%s'.format([['a', 1.5, true, null]]) == ''",
            "[1, dyn('a')].size() == 2",
            "{'a': 1, 'b': 'c'}.size() == 2",
            "{1: 'a', 'b': 'c'}.size() == 2",
            "1 in ['a']",
            "self.n in self.l",
            "self.t in self.o",
            "self.o.x.y == ''",
            "self.?n == 1",
            "self.?n.orValue('a') == 'a'",
            "self.n.orValue(1) == 1",
            "type(self.n) == 'int'",
            "self.l.join(1) == ''",
            "self.l.sum() == ''",
            "self.o.all(k, true)",
            "self == oldSelf.o",
            "self.l.sortBy(x, [x]) == []",
            "self.m.transformMapEntry(k, v, 1) == {}",
            "self.l.optMap(x, x).hasValue()",
        ];
        offer(s, &schema(), &rules(&list)).await;
    });
}

#[test]
fn constants_that_mean_nothing() {
    run(async |s| {
        let list = [
            "duration('1x') > self.d",
            "timestamp('yesterday') > timestamp('2020-01-01T00:00:00Z')",
            "self.t.matches('[')",
            "self.t.find('[') == ''",
            "'%d'.format([1, 2]) == ''",
            "'%d %d'.format([1]) == ''",
            "'%q'.format([1]) == ''",
            "'%d'.format(['a']) == ''",
            "self.n == 99999999999999999999",
            "int('x') == self.n",
            "bool('maybe')",
            "double('1e') == self.f",
            "uint('-1') == 1u",
            "int(1e30) == self.n",
            "[1, 'a'].size() == 2 && duration('1x') > self.d",
        ];
        offer(s, &schema(), &rules(&list)).await;
    });
}

#[test]
fn what_is_no_expression() {
    run(async |s| {
        let list = [
            "self.n >",
            "self.n == 1)",
            "(self.n == 1",
            "self.n = 1",
            "self..n",
            "for == 1",
            "self.n == 'a",
            "self.l.all(1, true)",
            "self.l.map(x.y, true) == []",
            "has(self)",
            "has(self.l[0])",
            "self.l.all(x, x, true)",
            "self.?n.optMap(x.y, x).hasValue()",
            "self.n ? true",
            "#",
        ];
        offer(s, &schema(), &rules(&list)).await;
    });
}

#[test]
fn rules_that_are_written_badly() {
    run(async |s| {
        let list = [
            json!({"rule": ""}),
            json!({"rule": "   "}),
            json!({"message": "no rule"}),
            json!({"rule": "true", "message": "  "}),
            json!({"rule": "true", "message": "a\nb"}),
            json!({"rule": "true ||\n true"}),
            json!({"rule": "true", "messageExpression": "  "}),
            json!({"rule": "true", "messageExpression": "self.n"}),
            json!({"rule": "true", "messageExpression": "self.nope"}),
            json!({"rule": "true", "messageExpression": "self.t +"}),
            json!({"rule": "true", "reason": "NoReason"}),
            json!({"rule": "true", "reason": ""}),
            json!({"rule": "true", "fieldPath": ".nope"}),
            json!({"rule": "true", "fieldPath": "n"}),
            json!({"rule": "true", "fieldPath": " "}),
            json!({"rule": "true", "fieldPath": ".l[0]"}),
            json!({"rule": "true", "fieldPath": ".o.x"}),
            json!({"rule": "true", "fieldPath": ".m['a\nb']"}),
            json!({"rule": "true", "optionalOldSelf": true}),
            json!({"rule": "true", "optionalOldSelf": false}),
            json!({"rule": "oldSelf.hasValue()", "optionalOldSelf": true}),
            json!({"rule": "oldSelf.n > 1", "optionalOldSelf": true}),
            json!({"rule": "self.nope", "messageExpression": "self.nope", "reason": "FieldValueInvalid"}),
            json!({"rule": 5}),
            json!({"rule": "true", "unknown": 1, "message": null}),
            json!("text"),
        ];
        offer(s, &schema(), &list).await;
    });
}

#[test]
fn the_past_is_not_known_everywhere() {
    run(async |s| {
        let rule = json!([{"rule": "self == oldSelf"}]);
        let leaf = json!({"type": "string", "x-kubernetes-validations": rule});
        for spec in [
            json!({"type": "array", "maxItems": 3, "items": leaf}),
            json!({"type": "array", "maxItems": 3, "x-kubernetes-list-type": "set", "items": leaf}),
            json!({"type": "array", "maxItems": 3, "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object", "required": ["k"],
                    "properties": {"k": {"type": "string", "maxLength": 5}, "v": leaf}}}),
            json!({"type": "object", "maxProperties": 3, "additionalProperties": leaf}),
            json!({"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": leaf}}),
            json!({"type": "array", "maxItems": 3, "items": {"type": "object", "properties": {
                "deep": {"type": "object", "properties": {"a": leaf}}}}}),
        ] {
            let root = json!({"type": "object", "properties": {"spec": spec}});
            let crd = s.definition("things", "Thing", root);
            s.post("customresourcedefinitions?dryRun=All", crd).await;
        }
    });
}

#[test]
fn rules_where_there_can_be_none() {
    run(async |s| {
        let rule = json!([{"rule": "self == 1"}]);
        for spec in [
            json!({"x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": rule}),
            json!({"type": "integer", "allOf": [{"x-kubernetes-validations": rule}]}),
            json!({"type": "integer", "not": {"x-kubernetes-validations": rule}}),
            json!({"type": "integer", "anyOf": [{"x-kubernetes-validations": rule}]}),
            json!({"type": "integer", "uniqueItems": true, "x-kubernetes-validations": [{"rule": "nope"}]}),
            json!({"type": "object", "properties": {"a": {"type": "integer", "x-kubernetes-validations": [{"rule": "nope"}]},
                "b": {"type": "array", "items": {"type": "string"}, "uniqueItems": true}}}),
            json!({"type": "integer", "x-kubernetes-validations": []}),
        ] {
            let root = json!({"type": "object", "properties": {"spec": spec}});
            let crd = s.definition("things", "Thing", root);
            s.post("customresourcedefinitions?dryRun=All", crd).await;
        }
    });
}

#[test]
fn a_definition_keeps_its_rules() {
    run(async |s| {
        let schema = json!({"type": "object", "x-kubernetes-validations": [
            {"rule": "true", "message": "", "reason": "FieldValueInvalid", "fieldPath": "", "extra": 1}]});
        let crd = s.definition("things", "Thing", schema);
        s.crd(crd).await;
        s.get("customresourcedefinitions/things.{group}").await;
    });
}
