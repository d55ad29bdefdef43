//! Structural schemas: what is refused, and in which words.

use serde_json::{Value, json};

use crate::harness::{Script, run};

/// Installs a kind `things` with this schema of `spec`.
async fn things(s: &mut Script, spec: Value) {
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    let crd = s.definition("things", "Thing", schema);
    s.crd(crd).await;
}

/// Creates an object for each value of `spec`.
async fn each(s: &mut Script, specs: &[Value]) {
    for (index, spec) in specs.iter().enumerate() {
        s.create("things", &format!("t{index}"), json!({"spec": spec}))
            .await;
    }
}

#[test]
fn required_enum_and_limits() {
    run(async |s| {
        for (index, spec) in [
            json!({}),
            json!({"size": -1}),
            json!({"size": 101}),
            json!({"size": 1.5}),
            json!({"size": 2.0}),
            json!({"size": "1"}),
            json!({"size": true}),
            json!({"size": []}),
            json!({"size": 1, "color": "pink"}),
            json!({"size": 1, "color": 5}),
            json!({"size": 1, "note": "UPPER"}),
            json!({"size": 1, "note": "a".repeat(21)}),
            json!({"size": -1, "color": "pink", "note": "UPPER"}),
            json!([]),
            json!("text"),
        ]
        .iter()
        .enumerate()
        {
            s.create("widgets", &format!("w{index}"), json!({"spec": spec}))
                .await;
        }
        s.create("widgets", "no-spec", json!({})).await;
    });
}

#[test]
fn int_or_string() {
    run(async |s| {
        for (name, port) in [
            ("a", json!(80)),
            ("b", json!("http")),
            ("c", json!(1.5)),
            ("d", json!(true)),
            ("e", json!({})),
        ] {
            s.create("widgets", name, json!({"spec": {"size": 1, "port": port}}))
                .await;
        }
    });
}

#[test]
fn sets_and_list_maps() {
    run(async |s| {
        for (name, spec) in [
            ("a", json!({"tags": ["x", "y"]})),
            ("b", json!({"tags": ["x", "x"]})),
            ("c", json!({"tags": ["x", "x", "y", "y"]})),
            ("d", json!({"parts": [{"name": "p"}, {"name": "q"}]})),
            (
                "e",
                json!({"parts": [{"name": "p"}, {"name": "p", "weight": 2}]}),
            ),
            ("f", json!({"parts": [{"weight": 2}]})),
            ("g", json!({"parts": [{}, {}]})),
            ("h", json!({"parts": ["p"]})),
        ] {
            let spec = crate::harness::merge(json!({"size": 1}), spec);
            s.create("widgets", name, json!({"spec": spec})).await;
        }
    });
}

#[test]
fn maps_of_strings() {
    run(async |s| {
        for (name, labels) in [
            ("a", json!({"x": "y"})),
            ("b", json!({"x": 1})),
            ("c", json!({"x": null})),
        ] {
            s.create(
                "widgets",
                name,
                json!({"spec": {"size": 1, "labels": labels}}),
            )
            .await;
        }
        s.create("widgets", "d", json!({"spec": {"size": 1, "labels": []}}))
            .await;
        s.create("widgets", "e", json!({"spec": {"size": 1, "ratio": "x"}}))
            .await;
        s.create("widgets", "f", json!({"spec": {"size": 1, "ratio": 1}}))
            .await;
        s.create("widgets", "g", json!({"spec": {"size": 1, "ratio": 1.25}}))
            .await;
    });
}

#[test]
fn string_limits() {
    run(async |s| {
        let spec = json!({"type": "object", "properties": {
            "short": {"type": "string", "minLength": 2, "maxLength": 3},
            "exact": {"type": "string", "pattern": "^[a-f]+$"},
            "both": {"type": "string", "minLength": 2, "maxLength": 3, "pattern": "^[a-f]+$"},
        }});
        things(s, spec).await;
        each(
            s,
            &[
                json!({"short": "a"}),
                json!({"short": "abcd"}),
                json!({"short": "äöü"}),
                json!({"exact": "abc"}),
                json!({"exact": "xyz"}),
                json!({"exact": ""}),
                json!({"both": "x"}),
                json!({"both": "xyzxyz"}),
                json!({"both": "xyz"}),
            ],
        )
        .await;
    });
}

#[test]
fn number_limits() {
    run(async |s| {
        let spec = json!({"type": "object", "properties": {
            "open": {"type": "number", "minimum": 0, "exclusiveMinimum": true,
                "maximum": 10, "exclusiveMaximum": true},
            "even": {"type": "integer", "multipleOf": 2},
            "half": {"type": "number", "multipleOf": 0.5},
            "i32": {"type": "integer", "format": "int32"},
            "i64": {"type": "integer", "format": "int64"},
            "float": {"type": "number", "format": "float"},
        }});
        things(s, spec).await;
        each(
            s,
            &[
                json!({"open": 0}),
                json!({"open": 10}),
                json!({"open": 5.5}),
                json!({"even": 3}),
                json!({"even": 4}),
                json!({"half": 1.25}),
                json!({"half": 1.5}),
                json!({"i32": 3_000_000_000_i64}),
                json!({"i64": 9_000_000_000_000_000_000_i64}),
                json!({"float": 1e300}),
            ],
        )
        .await;
    });
}

#[test]
fn list_limits() {
    run(async |s| {
        let spec = json!({"type": "object", "properties": {
            "list": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "integer"}},
            "map": {"type": "object", "minProperties": 1, "maxProperties": 2,
                "additionalProperties": {"type": "integer"}},
        }});
        things(s, spec).await;
        each(
            s,
            &[
                json!({"list": []}),
                json!({"list": [1, 2, 3]}),
                json!({"list": [1, "x"]}),
                json!({"list": "x"}),
                json!({"map": {}}),
                json!({"map": {"a": 1, "b": 2, "c": 3}}),
                json!({"map": {"a": "x"}}),
            ],
        )
        .await;
    });
}

#[test]
fn formats() {
    run(async |s| {
        let string = |format: &str| json!({"type": "string", "format": format});
        let names = [
            "date-time",
            "date",
            "duration",
            "byte",
            "ipv4",
            "ipv6",
            "cidr",
            "uri",
            "email",
            "hostname",
            "uuid",
            "mac",
            "password",
            "nonsense",
        ];
        let properties: serde_json::Map<String, Value> = names
            .iter()
            .map(|name| ((*name).to_owned(), string(name)))
            .collect();
        things(s, json!({"type": "object", "properties": properties})).await;
        for (index, name) in names.iter().enumerate() {
            s.create(
                "things",
                &format!("bad{index}"),
                json!({"spec": {*name: "not one!"}}),
            )
            .await;
        }
        for (index, spec) in [
            json!({"date-time": "2020-01-01T00:00:00Z"}),
            json!({"date-time": "2020-01-01T00:00:00.123+02:00"}),
            json!({"date": "2020-02-30"}),
            json!({"date": "2020-02-28"}),
            json!({"duration": "5m3s"}),
            json!({"duration": "5 days"}),
            json!({"byte": "aGVsbG8="}),
            json!({"ipv4": "10.0.0.1"}),
            json!({"ipv4": "::1"}),
            json!({"ipv6": "::1"}),
            json!({"ipv6": "10.0.0.1"}),
            json!({"cidr": "10.0.0.0/8"}),
            json!({"uri": "https://example.com/x"}),
            json!({"email": "a@example.com"}),
            json!({"hostname": "a.example.com"}),
            json!({"uuid": "12345678-1234-1234-1234-123456789abc"}),
            json!({"mac": "00:11:22:33:44:55"}),
        ]
        .iter()
        .enumerate()
        {
            s.create("things", &format!("good{index}"), json!({"spec": spec}))
                .await;
        }
    });
}

#[test]
fn one_of_any_of_all_of_and_not() {
    run(async |s| {
        let spec = json!({"type": "object",
            "properties": {
                "a": {"type": "integer"}, "b": {"type": "integer"}, "c": {"type": "integer"},
                "d": {"type": "string"},
            },
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
            "anyOf": [{"properties": {"c": {"minimum": 10}}}, {"properties": {"c": {"maximum": 0}}}],
            "allOf": [{"properties": {"a": {"minimum": 1}}}],
            "not": {"properties": {"d": {"pattern": "^forbidden$"}}, "required": ["d"]},
        });
        things(s, spec).await;
        each(
            s,
            &[
                json!({"a": 1}),
                json!({"b": 1}),
                json!({"a": 1, "b": 1}),
                json!({"d": "x"}),
                json!({"a": 1, "c": 5}),
                json!({"a": 1, "c": 50}),
                json!({"a": 0}),
                json!({"a": 1, "d": "forbidden"}),
                json!({"a": 1, "d": "allowed"}),
            ],
        )
        .await;
    });
}

#[test]
fn nullable() {
    run(async |s| {
        let spec = json!({"type": "object", "properties": {
            "yes": {"type": "object", "nullable": true, "properties": {"x": {"type": "string"}}},
            "no": {"type": "object", "properties": {"x": {"type": "string"}}},
            "list": {"type": "array", "items": {"type": "string", "nullable": true}},
            "strict": {"type": "array", "items": {"type": "string"}},
            "required": {"type": "string"},
        }, "required": ["required"]});
        things(s, spec).await;
        each(
            s,
            &[
                json!({"required": "x", "yes": null}),
                json!({"required": "x", "no": null}),
                json!({"required": "x", "list": ["a", null]}),
                json!({"required": "x", "strict": ["a", null]}),
                json!({"required": null}),
            ],
        )
        .await;
    });
}

#[test]
fn embedded_resources() {
    run(async |s| {
        let spec = json!({"type": "object", "properties": {
            "template": {"type": "object", "x-kubernetes-embedded-resource": true,
                "x-kubernetes-preserve-unknown-fields": true},
        }});
        things(s, spec).await;
        each(
            s,
            &[
                json!({"template": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
                    "data": {"x": "y"}}}),
                json!({"template": {"metadata": {"name": "a"}}}),
                json!({"template": {"apiVersion": "v1", "kind": "ConfigMap",
                    "metadata": {"name": "Bad Name"}}}),
                json!({"template": {"apiVersion": "v1", "kind": "ConfigMap",
                    "metadata": {"labels": {"a": "not ok!"}}}}),
                json!({"template": {"apiVersion": "v1", "kind": "ConfigMap",
                    "metadata": {"nope": 1, "name": "a"}}}),
                json!({"template": {"apiVersion": "a/b/c", "kind": "bad kind"}}),
                json!({"template": {"apiVersion": 1, "kind": "X"}}),
            ],
        )
        .await;
    });
}

#[test]
fn rules_on_metadata_name() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {
            "metadata": {"type": "object", "properties": {
                "name": {"type": "string", "maxLength": 5, "pattern": "^x"},
            }},
        }});
        let crd = s.definition("things", "Thing", schema);
        s.crd(crd).await;
        s.create("things", "xyz", json!({})).await;
        s.create("things", "xyzxyz", json!({})).await;
        s.create("things", "abc", json!({})).await;
    });
}

#[test]
fn many_errors_at_once() {
    run(async |s| {
        let spec = json!({"type": "object", "required": ["a", "b"], "properties": {
            "a": {"type": "string"}, "b": {"type": "string"},
            "list": {"type": "array", "items": {"type": "object", "required": ["x"],
                "properties": {"x": {"type": "integer", "minimum": 3}}}},
        }});
        things(s, spec).await;
        each(
            s,
            &[
                json!({"list": [{"x": 1}, {}, {"x": "y"}, {"x": 5}]}),
                json!({"a": 1, "b": 2}),
                json!({"a": {"deep": [1]}, "b": [1]}),
            ],
        )
        .await;
    });
}

#[test]
fn ratcheting_lets_old_faults_be() {
    run(async |s| {
        let schema = |maximum: u32| {
            json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
                "n": {"type": "integer", "maximum": maximum},
                "other": {"type": "string"},
            }}}})
        };
        let crd = s.definition("things", "Thing", schema(10));
        let made = s.crd(crd).await;
        s.create("things", "a", json!({"spec": {"n": 8}})).await;
        let name = made.name();
        let path = "/spec/versions/0/schema/openAPIV3Schema";
        let patch = json!([{"op": "replace", "path": path, "value": schema(5)}]);
        s.patch(&format!("customresourcedefinitions/{name}"), patch)
            .await;
        // Wait until the new schema is in force.
        let probe = s.object("things", "probe", json!({"spec": {"n": 8}}));
        s.until_code("POST", "things?dryRun=All", probe, 422).await;
        s.merge("things/a", json!({"spec": {"other": "x"}})).await;
        s.merge("things/a", json!({"spec": {"n": 9}})).await;
        s.merge("things/a", json!({"spec": {"n": 4}})).await;
        s.merge("things/a", json!({"spec": {"n": 8}})).await;
    });
}

#[test]
fn scalar_and_root_preserving_kinds() {
    run(async |s| {
        s.create(
            "notes",
            "a",
            json!({"spec": [1, "x", null], "more": {"n": null}}),
        )
        .await;
        s.create(
            "notes",
            "b",
            json!({"spec": "text", "n": 1.0, "m": 1e3, "big": 12_345_678_901_i64}),
        )
        .await;
        s.get("notes").await;
    });
}
