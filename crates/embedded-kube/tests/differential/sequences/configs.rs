//! What several managers apply to the same few objects.

use serde_json::{Value, json};

use super::generate::Random;
use super::operation::{Operation, Version};

/// One request of a sequence in which managers meet: most apply, some write in other ways.
pub(super) fn operation(random: &mut Random, plural: &str, name: &str) -> Operation {
    let plural_at = match plural {
        "widgets" if random.one_in(4) => "widgets@v1beta1",
        plural => plural,
    };
    let (item, part) = match plural {
        "widgets" => (
            format!("{plural_at}/{name}"),
            *random.pick(&["", "", "", "/status", "/scale"]),
        ),
        _ => (format!("{plural_at}/{name}"), ""),
    };
    let path = format!("{item}{part}");
    match random.below(12) {
        0 => Operation::Create {
            plural: plural_at.to_owned(),
            name: name.to_owned(),
            query: manager(random),
            body: config(random, plural, ""),
        },
        1 if part != "/scale" => Operation::Replace {
            path,
            query: manager(random),
            version: Version::Seen,
            body: config(random, plural, part),
        },
        2..4 => Operation::Merge {
            path,
            query: manager(random),
            version: Version::Absent,
            patch: config(random, plural, part),
        },
        4 => Operation::Merge {
            path: item,
            query: manager(random),
            version: Version::Absent,
            patch: managers(random),
        },
        5 => Operation::Get { path: item },
        6 if random.one_in(3) => Operation::Delete {
            path: item,
            version: Version::Absent,
            options: json!({}),
        },
        _ => Operation::Apply {
            path,
            query: apply_query(random),
            version: if random.one_in(8) {
                Version::Stale
            } else {
                Version::Absent
            },
            body: config(random, plural, part),
        },
    }
}

fn manager(random: &mut Random) -> String {
    (*random.pick(&["", "?fieldManager=one", "?fieldManager=two"])).to_owned()
}

fn apply_query(random: &mut Random) -> String {
    let manager = *random.pick(&["one", "two", "three", "kubectl"]);
    let more = match random.below(8) {
        0..3 => "&force=true",
        3 => "&dryRun=All",
        4 => "&force=true&fieldValidation=Strict",
        _ => "",
    };
    format!("?fieldManager={manager}{more}")
}

/// What somebody says of the managers themselves.
fn managers(random: &mut Random) -> Value {
    let lists = [
        json!([]),
        json!([{}]),
        json!(null),
        json!([{"manager": "said", "operation": "Update", "apiVersion": "v1",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:k": {}}}}]),
        json!([{"manager": "said", "operation": "Apply", "apiVersion": "fixture.freehold.dev/v1",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:size": {}, "f:note": {}}}}]),
        json!([{"manager": "broken", "operation": "Neither"}]),
    ];
    json!({"metadata": {"managedFields": random.pick(&lists)}})
}

/// A configuration that says little, so that others have something to say.
pub(super) fn config(random: &mut Random, plural: &str, part: &str) -> Value {
    let mut config = json!({});
    if random.one_in(2) {
        config["metadata"] = metadata(random);
    }
    let (field, pools) = match (plural, part) {
        (_, "/status") => ("status", STATUS),
        (_, "/scale") => ("spec", SCALE),
        ("configmaps", _) => ("data", TEXTS),
        ("secrets", _) => (*random.pick(&["stringData", "data"]), BYTES),
        ("leases", _) => ("spec", LEASE),
        ("notes", _) => ("spec", NOTE),
        _ => ("spec", WIDGET),
    };
    let mut parts = json!({});
    for (name, pool) in pools {
        if random.one_in(3) {
            let pool: Vec<Value> = pool
                .iter()
                .map(|text| serde_json::from_str(text).expect("JSON"))
                .collect();
            parts[*name] = random.pick(&pool).clone();
        }
    }
    if plural == "widgets" && part != "/status" && random.one_in(2) {
        parts["size"] = random.pick(&[json!(1), json!(2), json!(3)]).clone();
    }
    // One thing that is wrong at most: of several the real server tells any.
    if random.one_in(25) && (plural, part) != ("widgets", "") {
        parts = json!({"nope": 1});
    } else if random.one_in(25) && (plural, part) == ("widgets", "") {
        parts = random
            .pick(&[
                json!({"size": "x"}),
                json!({"size": 1, "color": "pink"}),
                json!({"size": 1, "tags": ["a", "a"]}),
                json!({"nope": 1}),
            ])
            .clone();
    }
    config[field] = parts;
    if plural == "widgets" && part.is_empty() && random.one_in(6) {
        config["status"] = json!({"phase": *random.pick(&["x", "y"])});
    }
    config
}

type Pools = &'static [(&'static str, &'static [&'static str])];

const TEXTS: Pools = &[
    ("k", &[r#""1""#, r#""2""#]),
    ("l", &[r#""1""#, r#""""#]),
    ("m", &[r#""1""#]),
];
const BYTES: Pools = &[("k", &[r#""aGk=""#, r#""eW8=""#]), ("l", &[r#""aGk=""#])];
const LEASE: Pools = &[
    ("holderIdentity", &[r#""me""#, r#""you""#]),
    ("leaseDurationSeconds", &["15", "30"]),
    ("leaseTransitions", &["1", "2"]),
];
const NOTE: Pools = &[
    (
        "a",
        &["1", "2", r#"{"b": 1}"#, r#"{"b": 2, "c": {}}"#, r#""x""#],
    ),
    ("b", &["[1]", "[1, 2]", "[]"]),
    (
        "c",
        &["null", "{}", r#"{"d": {"e": 1}}"#, r#"{"d": {"f": 1}}"#],
    ),
];
const SCALE: Pools = &[("replicas", &["1", "2", "3"])];
const STATUS: Pools = &[
    ("phase", &[r#""x""#, r#""y""#]),
    ("replicas", &["1", "2"]),
    (
        "conditions",
        &[
            r#"[{"type": "Ready", "status": "True"}]"#,
            r#"[{"type": "Ready"}, {"type": "Late"}]"#,
            "[]",
        ],
    ),
];
const WIDGET: Pools = &[
    ("color", &[r#""red""#, r#""blue""#]),
    ("note", &[r#""abc""#, r#""""#]),
    ("replicas", &["1", "2", "0"]),
    ("port", &["80", r#""http""#]),
    (
        "free",
        &[
            r#"{"x": {"y": [1]}}"#,
            r#"{"x": {"z": 1}, "known": {"a": "b"}}"#,
            r#"{"x": 1}"#,
            "{}",
        ],
    ),
    (
        "labels",
        &[r#"{"a": "1"}"#, r#"{"b": "2"}"#, r#"{"a": "2"}"#, "{}"],
    ),
    (
        "tags",
        &[r#"["a"]"#, r#"["b", "a"]"#, r#"["c", "a", "d"]"#, "[]"],
    ),
    (
        "parts",
        &[
            r#"[{"name": "p"}]"#,
            r#"[{"name": "q", "weight": 2}, {"name": "p"}]"#,
            r#"[{"name": "p", "weight": 3}]"#,
            "[]",
        ],
    ),
    (
        "nested",
        &[
            "{}",
            r#"{"level": "x"}"#,
            r#"{"deep": {}}"#,
            r#"{"deep": {"on": false}}"#,
        ],
    ),
    ("ratio", &["1", "1.5", "1.0"]),
    ("maybe", &["null", r#""x""#]),
];

fn metadata(random: &mut Random) -> Value {
    let mut metadata = json!({});
    if random.one_in(2) {
        metadata["labels"] = random
            .pick(&[
                json!({"team": "x"}),
                json!({"team": "y"}),
                json!({"other": "x"}),
                json!({}),
            ])
            .clone();
    }
    if random.one_in(4) {
        metadata["annotations"] = random
            .pick(&[
                json!({"note": "one"}),
                json!({"kubectl.kubernetes.io/last-applied-configuration":
                    r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1"}}"#}),
            ])
            .clone();
    }
    if random.one_in(4) {
        metadata["finalizers"] = random
            .pick(&[
                json!(["example.com/a"]),
                json!(["example.com/b", "example.com/a"]),
                json!([]),
            ])
            .clone();
    }
    metadata
}
