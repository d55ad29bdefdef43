//! Blueprints are DAGs of declared wishes; everything else is refused by slot.

use ownership::blueprint::{BlueprintError, Expr};
use ownership::kind::{BirthProof, CreateMode, Marking, Naming, PropRule};
use ownership::mark::Carrier;
use ownership::time::Millis;
use ownership::{Blueprint, Kind, Slot, SlotName};
use proptest::prelude::*;

static THING: Kind = Kind {
    name: "test/thing",
    noun: "thing",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: None,
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    naming: Naming::Free,
    has_creation_time: false,
    valuable: false,
    settling: Millis::seconds(10),
    props: &[PropRule {
        name: "parent",
        mutable: false,
    }],
    inner: &[],
};

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
        r#"slot a: test/thing has no property "colour""#
    );
    let mut tagged = slot("a", &[]);
    tagged.user_tags = vec![("aws:mine".into(), "".into())];
    assert!(matches!(
        Blueprint::new(vec![tagged]),
        Err(BlueprintError::Input { .. })
    ));
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
