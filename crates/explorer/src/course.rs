//! Scenarios of what takes its time: resources that come, fail and go slowly, operations that make them,
//! and what is not made again when it is gone.

use cloud_port::Sample;
use cloud_sim::{Account, Pace, Settings, VirtualClock};
use ownership::blueprint::{Expr, InnerWish};
use ownership::kind::{BirthProof, CreateMode, InnerKind, InnerProof, Kind, Marking, Naming};
use ownership::life::{Course, Failed, Lost};
use ownership::time::Millis;
use ownership::{Blueprint, Slot};

use crate::fault::{Fault, Menu};
use crate::kinds;
use crate::scenario::{CLUSTER, MACHINERY, Scenario, UUID, identity, kkp, named, slot_name, text};

const LISTENER: &str = "listener";

/// How long what is slow takes: longer than a call may be late and its effect unseen.
const SLOW: Millis = Millis::seconds(90);

/// Longer than any of them takes.
const HIDDEN: Millis = Millis::seconds(150);

const COURSE: Course = Course {
    ask_every: Millis::seconds(20),
    ..Course::PLAIN
};

const COMES_AND_GOES: Pace = Pace {
    comes: SLOW,
    goes: SLOW,
    hides: false,
    names_operations: false,
    tells_inside: false,
};

const OPERATED: Pace = Pace {
    comes: SLOW,
    goes: Millis(0),
    hides: true,
    names_operations: true,
    tells_inside: false,
};

/// Everything that takes its time.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let hidden = Course {
        hidden_for: HIDDEN,
        ..COURSE
    };
    let slow = Course {
        lingers: true,
        ..COURSE
    };
    let kept = Course {
        failed: Failed::Reported,
        lost: Lost::Reported,
        ..slow
    };
    let unnamed = Pace {
        names_operations: false,
        ..OPERATED
    };
    let all = [
        alone(kind("slow", BirthProof::Marks, false, slow), COMES_AND_GOES),
        alone(kind("operated", BirthProof::Marks, false, hidden), OPERATED),
        alone(
            kind("operated-token", BirthProof::Token, true, hidden),
            OPERATED,
        ),
        alone(
            kind("hidden-token", BirthProof::Token, true, hidden),
            unnamed,
        ),
        alone(kind("kept", BirthProof::Marks, true, kept), COMES_AND_GOES),
    ];
    let brought = [bringing("bringing", false), bringing("bringing-told", true)];
    all.iter().chain(&brought).flat_map(families).collect()
}

fn families(alone: &Scenario) -> [Scenario; 4] {
    [
        named(alone, "alone"),
        Scenario {
            faults: alone
                .faults
                .or(Menu::of(&[Fault::StrangerDeletes, Fault::StrangerUnmarks])),
            ..named(alone, "stranger")
        },
        Scenario {
            writers: 2,
            ..named(alone, "two-writers")
        },
        Scenario {
            glances: true,
            ..named(alone, "glancing")
        },
    ]
}

fn kind(name: &str, birth: BirthProof, token: bool, course: Course) -> Kind {
    let insert = CreateMode::Insert;
    Kind {
        name: Box::leak(format!("synthetic/{name}").into_boxed_str()),
        course,
        ..kinds::synthetic(birth, token, insert, Marking::Mutable, Naming::Free, true)
    }
}

/// A resource that comes with a listener, which is not wanted.
fn bringing(name: &str, told: bool) -> Scenario {
    let listener = InnerKind {
        name: LISTENER,
        noun: "listener",
        proof: InnerProof::OwnMark,
        create: CreateMode::Insert,
        blocks_deletion: true,
        batch: false,
        single: false,
        comes_along: &["80"],
        born_with: None,
        is_listed: true,
    };
    let kind = Kind {
        inner: Box::leak(Box::new([listener])),
        ..kind(name, BirthProof::Marks, false, COURSE)
    };
    let pace = Pace {
        tells_inside: told,
        ..Pace::default()
    };
    let mut scenario = alone(kind, pace);
    let listens = InnerWish {
        kind: LISTENER,
        key: text("443"),
        value: "".into(),
    };
    let mut slots = scenario.blueprint.slots().to_vec();
    slots[0].inner.push(listens);
    slots[0].exclusive.push(LISTENER);
    scenario.blueprint = Blueprint::new(slots).expect("a legal blueprint");
    scenario
}

/// One resource, and one that lies in it.
fn alone(kind: Kind, pace: Pace) -> Scenario {
    let sample: &'static Sample = kinds::sample(kind);
    let kind = sample.kind;
    let settings = Settings {
        paces: vec![(kind, pace)],
        ..Settings::default()
    };
    let account = Account::new(settings, VirtualClock::new()).with_kinds(&[kind]);
    let own = |name: &str| Slot {
        cluster_mark: true,
        props: vec![("size", text("3"))],
        ..Slot::own(slot_name(name), kind, format!("prod-{name}"))
    };
    let mut child = own("child");
    child.props.push(("parent", Expr::Slot(slot_name("thing"))));
    let blueprint = Blueprint::new(vec![own("thing"), child]).expect("a legal blueprint");
    let identity = identity(UUID, CLUSTER, "management-a", kkp());
    Scenario {
        faults: MACHINERY.or(Fault::Fails.bit()),
        ..Scenario::plain(kind.name, account, identity, blueprint, &[kind])
    }
}
