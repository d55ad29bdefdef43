//! Scenarios of what the ledger does not list, because name and mark tell all: objects of a Kubernetes
//! API are so. They come in numbers, in another place, and go in a while.

use cloud_port::Sample;
use cloud_sim::{Account, Pace, Settings, VirtualClock};
use ownership::blueprint::{Blueprint, Expr, Slot};
use ownership::kind::{BirthProof, CreateMode, Kind, Marking, Naming};
use ownership::life::Course;
use ownership::mark::Carrier;
use ownership::time::Millis;
use ownership::{KindAt, Place};

use crate::fault::{Fault, Menu};
use crate::scenario::{
    CLUSTER, Expect, MACHINERY, Scenario, UUID, identity, kkp, named, slot_name, text,
};
use crate::{kinds, shrink};

/// What meets a create that nothing but its Kind announces: few faults, so that every pair is walked.
const FEW: Menu = Menu::of(&[
    Fault::CrashAfter,
    Fault::LoseAnswer,
    Fault::LateByTwo,
    Fault::LateAtRestart,
    Fault::LateToTheLast,
    Fault::NoTime,
    Fault::EndNow,
    Fault::SpecChange,
]);

/// How long an object may be there that is being deleted: somebody's finalizer is on it.
const GOES: Millis = Millis::seconds(20);

/// An object like any other: it is explored like every Kind.
pub(crate) fn sample() -> &'static Sample {
    let sample = Sample {
        nests: None,
        props: &[("size", "3"), ("parent", "team-a")],
        beside: &[("parent", "team-b")],
        moved: &[("parent", "team-c")],
        ..*kinds::sample(kind("object", Course::PLAIN))
    };
    Box::leak(Box::new(sample))
}

/// Objects as children, beside something that the ledger lists.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let kind = Box::leak(Box::new(kind(
        "objects",
        Course {
            lingers: true,
            ..Course::PLAIN
        },
    )));
    let host = Box::leak(Box::new(Kind {
        name: "synthetic/host-of-objects",
        ..kinds::plain()
    }));
    let alone = scenario(host, kind, &["one", "two"]);
    let spec = |children: &[&str]| blueprint(host, kind, children);
    vec![
        named(&alone, "alone"),
        Scenario {
            writers: 2,
            ..named(&alone, "two-writers")
        },
        Scenario {
            changes: vec![spec(&["two"]), spec(&["two", "three"]), spec(&[])],
            faults: MACHINERY.or(Fault::SpecChange.bit()),
            ..named(&alone, "spec")
        },
        Scenario {
            changes: vec![spec(&["two"])],
            faults: FEW,
            depth: 2,
            ..named(&alone, "late")
        },
        Scenario {
            changes: vec![spec(&["two"]), spec(&["one", "two"])],
            faults: MACHINERY.or(Fault::SpecChange.bit()),
            glances: true,
            ..named(&alone, "glancing")
        },
        moved(&alone),
    ]
}

fn kind(name: &str, course: Course) -> Kind {
    let (insert, mutable) = (CreateMode::Insert, Marking::Mutable);
    let naming = Naming::Within("parent");
    Kind {
        name: Box::leak(format!("synthetic/{name}").into_boxed_str()),
        carrier: Carrier::KubeMetadata,
        recorded: false,
        tags_together: false,
        settling: Millis(0),
        course,
        ..kinds::synthetic(BirthProof::Marks, false, insert, mutable, naming, true)
    }
}

fn far() -> Place {
    Place::named("cluster").expect("a legal name")
}

/// A host here, and its children in a cluster: each of them says whose it is.
fn blueprint(host: &'static Kind, kind: &'static Kind, children: &[&str]) -> Blueprint {
    let own = |name: &str, kind| Slot {
        cluster_mark: true,
        props: vec![("size", text("3"))],
        ..Slot::own(slot_name(name), kind, format!("prod-{name}"))
    };
    let child = |name: &&str| {
        let mut child = own(name, kind);
        let within = Expr::join([text("of-"), Expr::Slot(slot_name("host"))]);
        child.props.push(("parent", within));
        child.at(&far())
    };
    let slots = std::iter::once(own("host", host)).chain(children.iter().map(child));
    let all = Blueprint::new(slots.collect()).expect("a legal blueprint");
    all.within(shrink::by_spec(&["one", "two", "three"]), 1)
}

fn scenario(host: &'static Kind, kind: &'static Kind, children: &[&str]) -> Scenario {
    let pace = Pace {
        goes: GOES,
        ..Pace::default()
    };
    let settings = Settings {
        paces: vec![(kind, pace)],
        ..Settings::default()
    };
    let account = Account::new(settings, VirtualClock::new())
        .with_kinds(&[host])
        .with_place(&Place::HOME, &[kind])
        .with_place(&far(), &[kind]);
    let identity = identity(UUID, CLUSTER, "management-a", kkp());
    let blueprint = blueprint(host, kind, children);
    let mut scenario = Scenario::plain(kind.name, account, identity, blueprint, &[host, kind]);
    scenario.kinds.extend(KindAt::all(&far(), &[kind]));
    scenario
}

/// What is there is wanted here.
fn moved(alone: &Scenario) -> Scenario {
    let (account, ledger) = crate::run::prepare(alone, &ownership::Freehold);
    let slots = alone.blueprint.slots().iter().cloned();
    let slots = slots.map(|slot| slot.at(&Place::HOME)).collect();
    Scenario {
        account,
        ledger,
        blueprint: Blueprint::new(slots).expect("a legal blueprint"),
        must_report: true,
        expect: Expect::Reported,
        ..named(alone, "moved")
    }
}
