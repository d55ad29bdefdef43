//! Scenarios of wishes that refer to other slots: to their ids, to what the cloud gave them, in
//! properties and in parts, one after the other and in a circle.

use cloud_port::Sample;
use cloud_sim::{Account, Settings, VirtualClock};
use ownership::Blueprint;
use ownership::blueprint::{Expr, InnerWish, Slot};
use ownership::kind::{Change, CreateMode, InnerKind, InnerProof, Kind, PropRule};

use crate::fault::{Fault, Menu};
use crate::scenario::{
    CLUSTER, MACHINERY, Scenario, UUID, base, identity, kkp, named, slot_name, text,
};
use crate::{kinds, stranger, twins};

const RULE: &str = "rule";

/// Everything that refers.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let sample = sample();
    let alone = alone(sample);
    vec![
        named(&alone, "alone"),
        Scenario {
            faults: MACHINERY.or(Menu::of(stranger::ALL)),
            ..named(&alone, "stranger")
        },
        Scenario {
            writers: 2,
            ..named(&alone, "two-writers")
        },
        Scenario {
            glances: true,
            ..named(&alone, "glancing")
        },
        Scenario {
            changes: vec![less(sample)],
            faults: MACHINERY.or(Fault::SpecChange.bit()),
            ..named(&alone, "spec")
        },
        of_twins(sample),
    ]
}

/// A Kind with an address that the cloud gives, a property that can follow it, and rules inside.
fn sample() -> &'static Sample {
    let plain = kinds::plain();
    let rule = |name, change| PropRule { name, change };
    let kind = Kind {
        name: "synthetic/referring",
        props: Box::leak(Box::new([
            rule("size", Change::InPlace),
            rule("parent", Change::Never),
            rule("peer", Change::InPlace),
            rule("address", Change::Given),
        ])),
        inner: &[InnerKind {
            name: RULE,
            noun: "rule",
            proof: InnerProof::OwnMark,
            create: CreateMode::Upsert,
            blocks_deletion: false,
            batch: true,
            single: false,
            comes_along: &[],
            born_with: None,
            is_listed: true,
        }],
        ..plain
    };
    let sample = Sample {
        nests: Some("parent"),
        ..*kinds::sample(kind)
    };
    Box::leak(Box::new(sample))
}

/// Two that let each other in, and a third that follows the address of the first.
fn alone(sample: &'static Sample) -> Scenario {
    let account = Account::new(Settings::default(), VirtualClock::new()).with_kinds(&[sample.kind]);
    let identity = identity(UUID, CLUSTER, "management-a", kkp());
    let blueprint = blueprint(
        sample,
        vec![lets_in("left", "right"), lets_in("right", "left")],
    );
    Scenario::plain(
        sample.kind.name,
        account,
        identity,
        blueprint,
        &[sample.kind],
    )
}

/// The second lets nobody in any more.
fn less(sample: &'static Sample) -> Blueprint {
    blueprint(
        sample,
        vec![lets_in("left", "right"), ("right", Vec::new())],
    )
}

type Parts = (&'static str, Vec<InnerWish>);

/// A rule that names the other, and says where it is.
fn lets_in(slot: &'static str, other: &str) -> Parts {
    let other = slot_name(other);
    let rule = InnerWish {
        kind: RULE,
        key: Expr::join([text("from "), Expr::Slot(other.clone())]),
        value: Expr::Prop(other, "address"),
    };
    (slot, vec![rule])
}

fn blueprint(sample: &'static Sample, pair: Vec<Parts>) -> Blueprint {
    let own = |name: &str| Slot {
        cluster_mark: true,
        props: vec![("size", text("3"))],
        ..Slot::own(slot_name(name), sample.kind, format!("prod-{name}"))
    };
    let mut slots: Vec<Slot> = pair
        .into_iter()
        .map(|(name, inner)| Slot { inner, ..own(name) })
        .collect();
    let mut follower = own("follower");
    let address = Expr::Prop(slot_name("left"), "address");
    follower
        .props
        .push(("peer", Expr::join([text("to "), address])));
    slots.push(follower);
    Blueprint::new(slots).expect("a legal blueprint")
}

/// The slot that is referred to has twins, and the one that stays is not the first that was recorded.
fn of_twins(sample: &'static Sample) -> Scenario {
    let twins = twins::twins(&base(sample), sample);
    let mut slots = twins.blueprint.slots().to_vec();
    let mut late = Slot::own(slot_name("late"), sample.kind, "prod-late");
    late.props = vec![
        ("size", text("3")),
        ("parent", Expr::Slot(slot_name("thing"))),
    ];
    late.cluster_mark = true;
    slots.push(late);
    Scenario {
        blueprint: Blueprint::new(slots).expect("a legal blueprint"),
        ..twins
    }
}
