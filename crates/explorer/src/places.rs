//! Scenarios of a claim in two places: what is there and what is here do not see each other, and a slot
//! stays where it is.

use cloud_port::Sample;
use cloud_sim::{Account, Settings, VirtualClock};
use ownership::blueprint::{Blueprint, Expr, Slot};
use ownership::kind::{BirthProof, CreateMode, Kind, Marking, Naming};
use ownership::{KindAt, Place};

use crate::fault::{Fault, Menu};
use crate::scenario::{
    CLUSTER, Expect, MACHINERY, Scenario, UUID, identity, kkp, named, slot_name, text,
};
use crate::{kinds, stranger};

/// Everything in two places.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let free = sample("in-places", BirthProof::Marks, Naming::Free);
    let alike = sample("in-places-named", BirthProof::Marks, Naming::Account);
    let alone = scenario(free, &["left", "right", "beside"], Settings::default());
    // What has lost its mark stays, and would stand in the way of what it lies in.
    let careless = Settings {
        careless: true,
        ..Settings::default()
    };
    vec![
        named(&alone, "alone"),
        named(
            &scenario(alike, &["left", "right"], Settings::default()),
            "alone",
        ),
        Scenario {
            writers: 2,
            ..named(&alone, "two-writers")
        },
        Scenario {
            faults: MACHINERY.or(Menu::of(stranger::ALL)),
            ..named(
                &scenario(free, &["left", "right", "beside"], careless),
                "stranger",
            )
        },
        Scenario {
            changes: vec![
                blueprint(free, &["left"]),
                blueprint(free, &["left", "right"]),
            ],
            faults: MACHINERY.or(Fault::SpecChange.bit()),
            ..named(&alone, "spec")
        },
        moved(free),
    ]
}

fn sample(name: &str, birth: BirthProof, naming: Naming) -> &'static Sample {
    let mutable = Marking::Mutable;
    let kind = Kind {
        name: Box::leak(format!("synthetic/{name}").into_boxed_str()),
        ..kinds::synthetic(birth, false, CreateMode::Insert, mutable, naming, true)
    };
    kinds::sample(kind)
}

fn far() -> Place {
    Place::named("far").expect("a legal name")
}

/// All are called the same: "left" is here; "right", which lies in it, is far away; and "beside" is here
/// again and lies in that.
fn blueprint(sample: &'static Sample, slots: &[&str]) -> Blueprint {
    let slot = |name: &&str| {
        let mut slot = Slot::own(slot_name(name), sample.kind, "prod-thing");
        slot.cluster_mark = true;
        slot.props.push(("size", text("3")));
        let lies_in = |parent| ("parent", Expr::Slot(slot_name(parent)));
        match *name {
            "right" => {
                slot.props.push(lies_in("left"));
                slot.at(&far())
            }
            "beside" => {
                slot.props.push(lies_in("right"));
                slot
            }
            _ => slot,
        }
    };
    let all = Blueprint::new(slots.iter().map(slot).collect());
    let families = crate::shrink::by_spec(&["left", "right", "beside"]);
    all.expect("a legal blueprint").within(families, 1)
}

fn scenario(sample: &'static Sample, slots: &[&str], settings: Settings) -> Scenario {
    let kind = sample.kind;
    let account = Account::new(settings, VirtualClock::new())
        .with_kinds(&[kind])
        .with_place(&far(), &[kind]);
    let identity = identity(UUID, CLUSTER, "management-a", kkp());
    let blueprint = blueprint(sample, slots);
    let mut scenario = Scenario::plain(kind.name, account, identity, blueprint, &[kind]);
    scenario.kinds.extend(KindAt::all(&far(), &[kind]));
    scenario
}

/// What is here is wanted far away, and somebody cleared its id: the record alone knows of it.
fn moved(sample: &'static Sample) -> Scenario {
    let scenario = scenario(sample, &["left"], Settings::default());
    let (account, mut ledger) = crate::run::prepare(&scenario, &ownership::Freehold);
    ledger.ids.clear();
    let slots = scenario.blueprint.slots().iter().cloned();
    let slots = slots.map(|slot| slot.at(&far())).collect();
    Scenario {
        account,
        ledger,
        blueprint: Blueprint::new(slots).expect("a legal blueprint"),
        faults: scenario.faults.without(Fault::LoseStatus.bit()),
        must_report: true,
        expect: Expect::Reported,
        ..named(&scenario, "moved")
    }
}
