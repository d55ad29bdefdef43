//! Blueprints are DAGs of declared wishes; everything else is refused by slot.

use ownership::blueprint::{Asked, BlueprintError, Expr, Family, InnerWish};
use ownership::kind::{
    BirthProof, Change, CreateMode, Ids, InnerKind, InnerProof, Marking, Naming, PropRule,
};
use ownership::life::Course;
use ownership::mark::Carrier;
use ownership::secret::Secrets;
use ownership::time::Millis;
use ownership::{Blueprint, Kind, Secret, Slot, SlotName};
use proptest::prelude::*;

static THING: Kind = Kind {
    name: "test/thing",
    noun: "thing",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: None,
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    tags_together: true,
    naming: Naming::Free,
    names: ownership::name::NameRule::longest(255),
    ids: Ids::Unique,
    has_creation_time: false,
    lists_marks: true,
    recorded: true,
    valuable: false,
    settling: Millis::seconds(10),
    course: Course::PLAIN,
    props: &[PropRule {
        name: "parent",
        change: Change::Never,
    }],
    inner: &[
        inner("rule", InnerProof::OwnMark),
        inner("policy", InnerProof::ParentMark),
    ],
};

const fn inner(name: &'static str, proof: InnerProof) -> InnerKind {
    InnerKind {
        name,
        noun: name,
        proof,
        create: CreateMode::Insert,
        blocks_deletion: false,
        batch: false,
        single: false,
        comes_along: &[],
        born_with: None,
        is_listed: true,
    }
}

/// A Kind with a secret.
fn vault() -> &'static Kind {
    let prop = |name, change| PropRule { name, change };
    let props = Box::new([
        prop("size", Change::Never),
        prop("password", Change::Secret),
    ]);
    Box::leak(Box::new(Kind {
        name: "test/vault",
        props: Box::leak(props),
        ..THING.clone()
    }))
}

fn named(name: &str) -> SlotName {
    SlotName::new(name).expect("a legal slot name")
}

fn slot(name: &str, after: &[&str]) -> Slot {
    Slot {
        after: after.iter().map(|after| named(after)).collect(),
        ..Slot::own(named(name), &THING, "")
    }
}

#[test]
fn a_circle_is_refused_and_shown() {
    let slots = vec![
        slot("a", &["c"]),
        slot("b", &["a"]),
        slot("c", &["b"]),
        slot("d", &[]),
    ];
    let error = Blueprint::new(slots).unwrap_err();
    assert_eq!(
        error.to_string(),
        "slots depend on each other in a circle: a → c → b → a"
    );
}

#[test]
fn unknown_duplicate_and_undeclared_are_refused_by_slot() {
    let said = |slots| Blueprint::new(slots).unwrap_err().to_string();
    assert_eq!(
        said(vec![slot("a", &["b"])]),
        "slot a: depends on b, which is not in the blueprint"
    );
    assert_eq!(
        said(vec![slot("a", &[]), slot("a", &[])]),
        "slot a: the name is used twice"
    );
    let mut undeclared = slot("a", &[]);
    undeclared.props = vec![("colour", Expr::Text("red".into()))];
    assert_eq!(
        said(vec![undeclared]),
        r#"slot a: props: test/thing has no property "colour""#
    );
    let by = vec![("colour", Expr::Text("red".into()))];
    assert_eq!(
        said(vec![Slot::find(named("a"), &THING, by)]),
        r#"slot a: find by: test/thing has no property "colour""#
    );
    let mut undeclared = slot("a", &[]);
    undeclared.exclusive = vec!["rule", "rules"];
    assert_eq!(
        said(vec![undeclared]),
        r#"slot a: exclusive: test/thing has no inner part "rules""#
    );
    let mut undeclared = slot("a", &[]);
    undeclared.inner = vec![wish("rules", Expr::Text("ssh".into()))];
    assert_eq!(
        said(vec![undeclared]),
        r#"slot a: inner: test/thing has no inner part "rules""#
    );
}

#[test]
fn a_secret_is_wished_for_as_one() {
    let said = |slots| Blueprint::new(slots).map_err(|error| error.to_string());
    let kind = vault();
    let vault = |name: &str| Slot::own(named(name), kind, "");
    let text = || Expr::Text("canary".into());
    let secret = |name| Secrets::from_iter([(name, Secret::new("canary", "uid"))]);
    let mut good = vault("a");
    good.secrets = secret("password");
    good.props = vec![("size", text())];
    assert!(said(vec![good.clone()]).is_ok());

    let mut plain = vault("a");
    plain.props = vec![("password", text())];
    let rule = r#"slot a: props: "password" of test/vault is secret: wish for it in secrets, and find nothing by it"#;
    assert_eq!(said(vec![plain]).unwrap_err(), rule);
    let by = vec![("password", text())];
    let sought = Slot::find(named("a"), kind, by);
    let rule = r#"slot a: find by: "password" of test/vault is secret: wish for it in secrets, and find nothing by it"#;
    assert_eq!(said(vec![sought]).unwrap_err(), rule);
    let mut open = vault("a");
    open.secrets = secret("size");
    let rule = r#"slot a: secrets: "size" of test/vault is not secret: wish for it in props"#;
    assert_eq!(said(vec![open]).unwrap_err(), rule);
    let mut unknown = vault("a");
    unknown.secrets = secret("colour");
    let rule = r#"slot a: secrets: test/vault has no property "colour""#;
    assert_eq!(said(vec![unknown]).unwrap_err(), rule);
    let mut used = Slot::find(named("a"), kind, Vec::new());
    used.secrets = secret("password");
    let rule = r#"slot a: secrets: "password" of test/vault is chosen at birth, but this slot is only looked up"#;
    assert_eq!(said(vec![used]).unwrap_err(), rule);
    let mut curious = vault("b");
    curious.props = vec![("size", Expr::Prop(named("a"), "password"))];
    let rule = r#"slot b: reference: "password" of test/vault is secret: nothing can refer to it"#;
    assert_eq!(said(vec![good, curious]).unwrap_err(), rule);
}

fn wish(kind: &'static str, key: Expr) -> InnerWish {
    InnerWish {
        kind,
        key,
        value: "".into(),
    }
}

#[test]
fn nothing_is_wished_for_twice() {
    let said = |slot| {
        Blueprint::new(vec![slot, self::slot("b", &[])])
            .map_or_else(|e| e.to_string(), |_| String::new())
    };
    let parent = || ("parent", Expr::Text("x".into()));
    let mut twice = slot("a", &[]);
    twice.props = vec![parent(), ("parent", Expr::Text("y".into()))];
    assert_eq!(
        said(twice),
        r#"slot a: props: "parent" must not be wished for twice"#
    );
    assert_eq!(
        said(Slot::find(named("a"), &THING, vec![parent(), parent()])),
        r#"slot a: find by: "parent" must not be wished for twice"#
    );
    let inner = |wishes: Vec<InnerWish>| Slot {
        inner: wishes,
        ..slot("a", &[])
    };
    let text = |key: &str| Expr::Text(key.into());
    assert_eq!(
        said(inner(vec![
            wish("rule", text("ssh")),
            wish("rule", text("ssh"))
        ])),
        r#"slot a: inner: "rule ssh" must not be wished for twice"#
    );
    let b = || Expr::Slot(named("b"));
    assert_eq!(
        said(inner(vec![wish("rule", b()), wish("rule", b())])),
        r#"slot a: inner: "rule <b>" must not be wished for twice"#
    );
    // Another kind of part, and what may turn out to be something else.
    assert_eq!(
        said(inner(vec![
            wish("rule", text("b")),
            wish("policy", text("b")),
            wish("rule", b())
        ])),
        ""
    );
}

#[test]
fn user_tags_stay_clear_of_marks() {
    let said = |keys: &[&str]| {
        let tagged = Slot {
            user_tags: keys.iter().map(|key| ((*key).into(), "".into())).collect(),
            ..slot("a", &[])
        };
        Blueprint::new(vec![tagged]).map_or_else(|e| e.to_string(), |_| String::new())
    };
    assert_eq!(
        said(&["team", "Team", "freehold.development", "crossplane-names"]),
        ""
    );
    assert!(said(&["aws:mine"]).starts_with("slot a: tag key: "));
    assert_eq!(
        said(&["freehold.dev/mine"]),
        r#"slot a: tag key: "freehold.dev/mine" must not begin with "freehold.dev/", which is kept for marks"#
    );
    assert_eq!(
        said(&["crossplane-kind"]),
        r#"slot a: tag key: "crossplane-kind" must not be "crossplane-kind", which is kept for marks"#
    );
    for key in [
        "Freehold.dev/x",
        "kubernetes.io/cluster/prod",
        "owned-by.kubermatic.k8c.io/prod",
        "sigs.k8s.io/cluster-api-provider-aws/role",
        "powervs.cluster.x-k8s.io/owner",
        "crossplane-name",
        "crossplane-providerconfig",
        "cloud-manager.kyma-project.io/scope",
    ] {
        assert!(said(&[key]).ends_with("kept for marks"), "{key}");
    }
    assert_eq!(
        said(&["team", "cost", "team"]),
        r#"slot a: tag key: "team" must not be there twice"#
    );
}

#[test]
fn user_tags_leave_room_for_marks() {
    let said = |tags: usize, parts: usize| {
        let tagged = Slot {
            user_tags: (0..tags)
                .map(|n| (n.to_string().into(), "".into()))
                .collect(),
            inner: (0..parts)
                .map(|n| wish("policy", Expr::Text(n.to_string().into())))
                .collect(),
            ..slot("a", &[])
        };
        Blueprint::new(vec![tagged]).map_or_else(|e| e.to_string(), |_| String::new())
    };
    assert_eq!(said(45, 0), "");
    assert_eq!(
        said(46, 0),
        r#"slot a: user tags: "46" are too many: beside the marks, this thing has room for 45"#
    );
    assert_eq!(said(43, 2), "");
    assert!(said(44, 2).ends_with("room for 43"));
    assert_eq!(said(0, 60), "", "without user tags it is not about them");
}

#[test]
fn kinds_for_which_the_laws_cannot_be_kept_are_refused() {
    let refused = |kind: Kind| kind.check().is_err();
    assert!(THING.check().is_ok());
    assert!(refused(Kind {
        marking: Marking::Never,
        ..THING.clone()
    }));
    assert!(refused(Kind {
        birth: BirthProof::Circumstantial,
        ..THING.clone()
    }));
    assert!(refused(Kind {
        birth: BirthProof::Token,
        ..THING.clone()
    }));
    assert!(refused(Kind {
        birth: BirthProof::Nonce,
        ..THING.clone()
    }));
    assert!(refused(Kind {
        create: CreateMode::Upsert,
        ..THING.clone()
    }));
    let upsert = Kind {
        birth: BirthProof::Nonce,
        create: CreateMode::Upsert,
        naming: Naming::Account,
        names: ownership::name::NameRule::longest(255),
        ids: Ids::Names(&[]),
        ..THING.clone()
    };
    assert!(upsert.check().is_ok());
    assert!(refused(Kind {
        token: Some(Millis::seconds(86_400)),
        ..upsert
    }));
    assert!(refused(Kind {
        token: Some(Millis::seconds(20)),
        ..THING.clone()
    }));
    let late_marks = Kind {
        birth: BirthProof::Token,
        token: Some(Millis::seconds(86_400)),
        ..THING.clone()
    };
    assert!(refused(Kind {
        marking: Marking::CreateOnly,
        ..late_marks.clone()
    }));
    assert!(late_marks.check().is_ok());
}

/// What is under way keeps its name, and the blueprint what it says of other slots.
#[test]
fn other_names_leave_everything_else_as_it_was() {
    const FAMILIES: &[Family] = &[Family {
        name: "sub-",
        asked: Asked::BySpec,
    }];
    let before = Blueprint::new(vec![slot("a", &[]), slot("b", &["a"])]).unwrap();
    let before = before.within(FAMILIES, 7).partial();
    let label = |it: &Slot| (it.name.as_str() == "b").then(|| "other".into());
    let after = before.clone().labelled(label);
    assert_eq!(&*after.slots()[1].label, "other");
    assert_eq!(after.slots()[0], before.slots()[0]);
    assert!(after.shrinks() && after.is_partial());
    assert_eq!(after.revision(), 7);
}

proptest! {
    /// Any graph is either sorted so that dependencies come first, or refused.
    #[test]
    fn dependencies_come_first(edges in proptest::collection::vec((0..8_usize, 0..8_usize), 0..20)) {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let slots: Vec<Slot> = (0..8)
            .map(|at| {
                let after: Vec<&str> =
                    edges.iter().filter(|(from, _)| *from == at).map(|(_, to)| names[*to]).collect();
                slot(names[at], &after)
            })
            .collect();
        match Blueprint::new(slots) {
            Ok(blueprint) => {
                for slot in blueprint.slots() {
                    for before in slot.dependencies() {
                        prop_assert!(blueprint.rank(before) < blueprint.rank(&slot.name));
                    }
                }
            }
            Err(BlueprintError::Cycle(circle)) => {
                prop_assert!(circle.len() >= 2 && circle.first() == circle.last());
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}
