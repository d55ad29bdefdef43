//! Makes sequences from a seed.

use serde_json::{Value, json};

use super::configs;
use super::operation::{OWNERS, Operation, PLURALS, Version};

const NAMES: [&str; 3] = ["a", "b", "c"];

/// The sequence of this number of this seed.
pub(crate) fn sequence(seed: u64, index: u64) -> Vec<Operation> {
    let mut random = Random::new(seed, index);
    // Few kinds and names a sequence, so that its requests meet.
    let kinds: Vec<&str> = (0..2).map(|_| *random.pick(&PLURALS)).collect();
    let length = 6 + random.below(14);
    (0..length)
        .map(|_| {
            let plural = *random.pick(&kinds);
            if index.is_multiple_of(3) {
                let name = *random.pick(&NAMES[..2]);
                return configs::operation(&mut random, plural, name);
            }
            operation(&mut random, plural)
        })
        .collect()
}

/// A sequence of objects that own each other, and of their deletions.
pub(crate) fn family(seed: u64, index: u64) -> Vec<Operation> {
    let mut random = Random::new(seed ^ 0xfa31, index);
    let kinds: Vec<&str> = (0..2).map(|_| *random.pick(&PLURALS)).collect();
    // First some that can be owners.
    let founders = NAMES.iter().take(2).map(|name| Operation::Create {
        plural: kinds[0].to_owned(),
        name: (*name).to_owned(),
        query: String::new(),
        body: valid_body(kinds[0]),
    });
    let mut operations: Vec<Operation> = founders.collect();
    let length = 6 + random.below(8);
    operations.extend((0..length).map(|_| relation(&mut random, &kinds)));
    operations
}

fn relation(random: &mut Random, kinds: &[&str]) -> Operation {
    let plural = *random.pick(kinds);
    let name = (*random.pick(&NAMES)).to_owned();
    let path = format!("{plural}/{name}");
    match random.below(20) {
        0..9 => {
            let mut body = valid_body(plural);
            body["metadata"] = family_metadata(random);
            if random.one_in(2) {
                body[OWNERS] = owners(random, kinds);
            }
            Operation::Create {
                plural: plural.to_owned(),
                name,
                query: String::new(),
                body,
            }
        }
        9..12 => {
            let mut patch = json!({"metadata": {}});
            if random.one_in(2) {
                patch[OWNERS] = owners(random, kinds);
            } else {
                let finalizers = [json!(null), json!(["example.com/a"])];
                patch["metadata"]["finalizers"] = random.pick(&finalizers).clone();
            }
            Operation::Merge {
                path,
                query: String::new(),
                version: Version::Absent,
                patch,
            }
        }
        12 => Operation::Get { path },
        13..19 => Operation::Delete {
            path,
            version: Version::Absent,
            options: propagation(random),
        },
        _ => Operation::DeleteAll {
            plural: plural.to_owned(),
            query: random
                .pick(&[
                    "?propagationPolicy=Foreground",
                    "?propagationPolicy=Orphan",
                    "?propagationPolicy=Background",
                ])
                .to_string(),
        },
    }
}

fn valid_body(plural: &str) -> Value {
    match plural {
        "widgets" => json!({"spec": {"size": 1}}),
        _ => json!({}),
    }
}

fn family_metadata(random: &mut Random) -> Value {
    match random.below(12) {
        0..2 => json!({"finalizers": ["example.com/a"]}),
        2 => json!({"finalizers": ["foregroundDeletion"]}),
        3 => json!({"finalizers": ["orphan"]}),
        _ => json!({}),
    }
}

/// None, one or two owners: living, gone, or never there, of either kind.
fn owners(random: &mut Random, kinds: &[&str]) -> Value {
    let count = *random.pick(&[0, 1, 1, 1, 2]);
    (0..count)
        .map(|_| {
            let item = format!("{}/{}", random.pick(kinds), random.pick(&NAMES));
            let which = match random.below(8) {
                0 => "first",
                1 => "nobody",
                _ => "last",
            };
            let blocks = random.pick(&[json!(null), json!(true), json!(true), json!(false)]);
            json!([item, which, blocks])
        })
        .collect()
}

fn propagation(random: &mut Random) -> Value {
    match random.below(5) {
        0 => json!({}),
        1 => json!({"propagationPolicy": "Background"}),
        2 => json!({"propagationPolicy": "Orphan"}),
        _ => json!({"propagationPolicy": "Foreground"}),
    }
}

fn operation(random: &mut Random, plural: &str) -> Operation {
    let name = (*random.pick(&NAMES)).to_owned();
    let plural_at = match plural {
        "widgets" if random.one_in(4) => "widgets@v1beta1",
        plural => plural,
    };
    let item = format!("{plural_at}/{name}");
    let path = sub_resource(random, plural, &item);
    match random.below(20) {
        0..6 => Operation::Create {
            plural: plural_at.to_owned(),
            name,
            query: write_query(random),
            body: body(random, plural),
        },
        6..9 => Operation::Replace {
            query: write_query(random),
            version: version(random),
            body: body(random, plural),
            path,
        },
        9..13 => Operation::Merge {
            query: write_query(random),
            version: version(random),
            patch: merge_patch(random, plural),
            path,
        },
        13 => Operation::Patch {
            patch: json_patch(random),
            path,
        },
        14 => Operation::Get { path },
        15 | 16 => Operation::List {
            plural: plural_at.to_owned(),
            query: list_query(random, plural),
        },
        17 | 18 => Operation::Delete {
            path: item,
            version: if random.one_in(4) {
                version(random)
            } else {
                Version::Absent
            },
            options: delete_options(random),
        },
        _ => Operation::DeleteAll {
            plural: plural_at.to_owned(),
            query: random
                .pick(&[
                    "",
                    "?labelSelector=team%3Dx",
                    "?fieldSelector=metadata.name%3Da",
                    "?dryRun=All",
                ])
                .to_string(),
        },
    }
}

fn write_query(random: &mut Random) -> String {
    match random.below(10) {
        0 => "?dryRun=All",
        1 => "?fieldValidation=Strict",
        2 => "?fieldValidation=Ignore",
        3 => "?fieldManager=one",
        _ => "",
    }
    .to_owned()
}

fn list_query(random: &mut Random, plural: &str) -> String {
    let queries: &[&str] = &[
        "",
        "?labelSelector=team",
        "?labelSelector=team%3Dx",
        "?labelSelector=team!%3Dx",
        "?labelSelector=team%20in%20(x,y),!other",
        "?fieldSelector=metadata.name%3Db",
        "?fieldSelector=metadata.name!%3Db",
        "?limit=1",
        "?limit=2&labelSelector=team",
        "?resourceVersion=0",
    ];
    if plural == "widgets" && random.one_in(3) {
        let fields = [
            "?fieldSelector=spec.color%3Dred",
            "?fieldSelector=spec.color!%3Dred,metadata.name%3Da",
        ];
        return (*random.pick(&fields)).to_owned();
    }
    (*random.pick(queries)).to_owned()
}

fn version(random: &mut Random) -> Version {
    match random.below(6) {
        0 => Version::Absent,
        1 => Version::Stale,
        _ => Version::Seen,
    }
}

fn delete_options(random: &mut Random) -> Value {
    match random.below(8) {
        0 => json!({"propagationPolicy": "Background"}),
        1 => json!({"gracePeriodSeconds": 0}),
        2 => json!({"dryRun": ["All"]}),
        3 => json!({"gracePeriodSeconds": 10}),
        _ => json!({}),
    }
}

fn sub_resource(random: &mut Random, plural: &str, item: &str) -> String {
    match plural {
        "widgets" if random.one_in(3) => format!("{item}/status"),
        "notes" if random.one_in(12) => format!("{item}/status"),
        _ => item.to_owned(),
    }
}

fn metadata(random: &mut Random) -> Value {
    let mut metadata = json!({});
    if random.one_in(2) {
        let pool = [
            json!("x"),
            json!("y"),
            json!(""),
            json!("not ok!"),
            json!(null),
        ];
        let team = random.pick(&pool).clone();
        metadata["labels"] = json!({"team": team});
    }
    if random.one_in(4) {
        metadata["annotations"] = json!({"note": *random.pick(&["one", "two"])});
    }
    if random.one_in(3) {
        metadata["finalizers"] = random
            .pick(&[
                json!([]),
                json!(["example.com/a"]),
                json!(["example.com/a", "example.com/b"]),
                json!(null),
            ])
            .clone();
    }
    if random.one_in(15) {
        metadata["generation"] = json!(7);
    }
    if random.one_in(25) {
        metadata["nope"] = json!(1);
    }
    metadata
}

fn body(random: &mut Random, plural: &str) -> Value {
    let mut body = json!({"metadata": metadata(random)});
    match plural {
        "configmaps" => {
            if random.one_in(2) {
                body["data"] = values(random, &[json!("1"), json!("2"), json!(""), json!(null)]);
            }
            if random.one_in(12) {
                body["immutable"] = json!(random.one_in(2));
            }
        }
        "secrets" => {
            if random.one_in(2) {
                // No null: the real server stores no bytes and empty bytes as the same thing, but takes
                // them for different ones when it looks for a change.
                body["data"] = values(random, &[json!("aGk="), json!(""), json!("bad!")]);
            }
            if random.one_in(2) {
                body["stringData"] = values(random, &[json!("text"), json!("")]);
            }
        }
        "leases" => {
            let mut spec = json!({});
            if random.one_in(2) {
                spec["holderIdentity"] = json!(*random.pick(&["me", "you"]));
            }
            if random.one_in(2) {
                spec["leaseDurationSeconds"] = json!(*random.pick(&[15, 30, 0]));
            }
            body["spec"] = spec;
        }
        "notes" => {
            if random.one_in(2) {
                body["spec"] = random
                    .pick(&[
                        json!({"a": 1}),
                        json!([1, 2]),
                        json!("x"),
                        json!({"a": {"b": null}}),
                    ])
                    .clone();
            }
            if random.one_in(3) {
                body["status"] = json!({"phase": *random.pick(&["x", "y"])});
            }
        }
        _ => {
            body["spec"] = widget_spec(random, true);
            if random.one_in(3) {
                body["status"] = widget_status(random);
            }
        }
    }
    body
}

fn values(random: &mut Random, pool: &[Value]) -> Value {
    let mut map = json!({});
    for key in ["k", "l"] {
        if random.one_in(2) {
            map[key] = random.pick(pool).clone();
        }
    }
    if random.one_in(20) {
        map["bad key"] = json!("1");
    }
    map
}

/// A part with CEL rules: some look at it, some at what it was before.
fn ruled(random: &mut Random) -> Value {
    let mut part = json!({});
    for (name, pool) in [
        ("low", [json!(1), json!(5), json!(20), json!(null)]),
        ("high", [json!(5), json!(8), json!(10), json!("x")]),
        ("tag", [json!("a"), json!("a"), json!("b"), json!(null)]),
    ] {
        if !random.one_in(3) {
            part[name] = random.pick(&pool).clone();
        }
    }
    part
}

fn widget_spec(random: &mut Random, whole: bool) -> Value {
    let mut spec = json!({});
    if whole && !random.one_in(12) {
        spec["size"] = random
            .pick(&[json!(1), json!(50), json!(100), json!(2)])
            .clone();
    }
    let fields: [(&str, &[Value]); 10] = [
        (
            "size",
            &[
                json!(3),
                json!(101),
                json!(-1),
                json!("x"),
                json!(1.5),
                json!(null),
            ],
        ),
        (
            "color",
            &[
                json!("red"),
                json!("blue"),
                json!("pink"),
                json!(null),
                json!(1),
            ],
        ),
        (
            "note",
            &[json!("abc"), json!("ABC"), json!(""), json!(null)],
        ),
        (
            "tags",
            &[
                json!(["a"]),
                json!(["a", "a"]),
                json!([]),
                json!([1]),
                json!(null),
            ],
        ),
        (
            "parts",
            &[
                json!([{"name": "p"}]),
                json!([{"name": "p"}, {"name": "p"}]),
                json!([{"weight": 3}]),
                json!([{"name": "p", "nope": 1}, null]),
            ],
        ),
        (
            "nested",
            &[
                json!({}),
                json!({"deep": {}}),
                json!({"level": 1}),
                json!(null),
            ],
        ),
        (
            "free",
            &[
                json!({"x": {"y": [1, null]}}),
                json!({"known": {"a": "b", "c": 1}}),
            ],
        ),
        ("port", &[json!(80), json!("http"), json!(1.5), json!({})]),
        ("maybe", &[json!(null), json!("x")]),
        ("newer", &[json!("n")]),
    ];
    for (name, pool) in fields {
        if random.one_in(8) {
            spec[name] = random.pick(pool).clone();
        }
    }
    if random.one_in(3) {
        spec["ruled"] = ruled(random);
    }
    if random.one_in(10) {
        spec["nope"] = json!(1);
    }
    if random.one_in(10) {
        spec["older"] = json!("o");
    }
    spec
}

fn widget_status(random: &mut Random) -> Value {
    random
        .pick(&[
            json!({"phase": "x"}),
            json!({"phase": "y", "nope": 1}),
            json!({"phase": 1}),
            json!({"conditions": [{"type": "Ready", "status": "True"}]}),
            json!({"conditions": [{"status": "True"}]}),
            json!(null),
            json!({}),
        ])
        .clone()
}

fn merge_patch(random: &mut Random, plural: &str) -> Value {
    let mut patch = json!({});
    if random.one_in(2) {
        patch["metadata"] = metadata(random);
    }
    if random.one_in(2) {
        let whole = body(random, plural);
        for field in ["data", "stringData", "spec", "status", "immutable"] {
            if let Some(value) = whole.get(field)
                && random.one_in(2)
            {
                patch[field] = value.clone();
            }
        }
        if plural == "widgets" {
            patch["spec"] = widget_spec(random, false);
        }
    }
    if random.one_in(30) {
        patch["nope"] = json!(1);
    }
    patch
}

fn json_patch(random: &mut Random) -> Value {
    let operations = vec![
        json!({"op": "add", "path": "/metadata/labels", "value": {"team": "x"}}),
        json!({"op": "remove", "path": "/metadata/labels"}),
        json!({"op": "add", "path": "/metadata/labels/team", "value": "y"}),
        json!({"op": "remove", "path": "/metadata/finalizers"}),
        json!({"op": "remove", "path": "/metadata/finalizers/0"}),
        json!({"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/c"}),
        json!({"op": "replace", "path": "/spec/size", "value": 9}),
        json!({"op": "replace", "path": "/spec", "value": {"size": 8}}),
        json!({"op": "test", "path": "/metadata/name", "value": "a"}),
        json!({"op": "copy", "from": "/metadata/name", "path": "/metadata/annotations"}),
        json!({"op": "add", "path": "/status", "value": {"phase": "p"}}),
        json!({"op": "add", "path": "/data", "value": {"k": "aGk="}}),
        json!({"op": "remove", "path": "/metadata/name"}),
    ];
    let count = 1 + random.below(2);
    (0..count)
        .map(|_| random.pick(&operations).clone())
        .collect()
}

/// A small generator (splitmix64): the same everywhere, for ever.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64, index: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ index);
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).expect("a small number");
        usize::try_from(self.next() % limit).expect("a small number")
    }

    pub(super) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(super) fn pick<'a, T>(&mut self, pool: &'a [T]) -> &'a T {
        &pool[self.below(pool.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(seed: u64, index: u64) -> Vec<String> {
        sequence(seed, index)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn a_seed_gives_its_sequence_again() {
        assert_eq!(shown(1, 7), shown(1, 7));
        assert_ne!(shown(1, 7), shown(2, 7));
        assert_ne!(shown(1, 7), shown(1, 8));
        let family =
            |index| -> Vec<String> { family(1, index).iter().map(ToString::to_string).collect() };
        assert_eq!(family(7), family(7));
        assert_ne!(family(7), family(8));
    }
}
