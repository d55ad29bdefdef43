//! Scenarios of slots that do not depend on each other: what is done for them at once gets there in any
//! order, and in part.

use cloud_sim::{Account, Actor, Settings, VirtualClock};
use ownership::Blueprint;
use ownership::blueprint::{Expr, Slot};
use ownership::kind::{BirthProof, CreateMode, Kind, Marking, Naming};
use ownership::life::Failed;
use ownership::mark::Tags;
use ownership::part::Props;

use crate::fault::{Fault, Menu};
use crate::kinds;
use crate::scenario::{CLUSTER, MACHINERY, Scenario, UUID, identity, kkp, named, slot_name, text};

/// What meets a round: few faults, so that every pair of them is walked.
const FEW: Menu = Menu::of(&[
    Fault::CrashAfter,
    Fault::Fail,
    Fault::LoseAnswer,
    Fault::Throttle,
    Fault::Refuse,
    Fault::Conflict,
    Fault::LastFirst,
]);

/// Everything that is done at once.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let own = kind("at-once", BirthProof::Marks, false, Naming::Free);
    // Marked by a second call, and recorded before that, or taken back.
    let late = kind(
        "at-once-late",
        BirthProof::Circumstantial,
        false,
        Naming::Free,
    );
    let token = kind("at-once-token", BirthProof::Token, true, Naming::Free);
    let mut all = families(&diamond(own));
    all.push(shared(own));
    all.extend(families(&diamond(late)));
    all.extend(families(&diamond(token)));
    all
}

fn families(diamond: &Scenario) -> Vec<Scenario> {
    vec![
        named(diamond, "alone"),
        Scenario {
            faults: FEW,
            depth: 2,
            ..named(diamond, "at-once")
        },
        // What lost its mark would keep our network from its end: that is told, and no fault.
        Scenario {
            faults: MACHINERY.or(Menu::of(&[Fault::StrangerCreates, Fault::StrangerDeletes])),
            ..named(diamond, "stranger")
        },
        Scenario {
            writers: 2,
            ..named(diamond, "two-writers")
        },
        Scenario {
            glances: true,
            ..named(diamond, "glancing")
        },
        Scenario {
            status_refuses: true,
            ..named(diamond, "status-refuses")
        },
    ]
}

fn kind(name: &str, birth: BirthProof, token: bool, naming: Naming) -> &'static Kind {
    let insert = CreateMode::Insert;
    Box::leak(Box::new(Kind {
        name: Box::leak(format!("synthetic/{name}").into_boxed_str()),
        ..kinds::synthetic(birth, token, insert, Marking::Mutable, naming, true)
    }))
}

/// Holds data: a second one is told, and stays.
fn valuable(kind: &'static Kind) -> &'static Kind {
    let mut data = Kind {
        name: Box::leak(format!("{}-data", kind.name).into_boxed_str()),
        valuable: true,
        ..kind.clone()
    };
    data.course.failed = Failed::Reported;
    Box::leak(Box::new(data))
}

/// A network; two zones in it, one of which holds data; what needs both; and data that needs nobody.
fn diamond(kind: &'static Kind) -> Scenario {
    let data = valuable(kind);
    let within = |mut slot: Slot, parent: &str| {
        slot.props.push(("parent", Expr::Slot(slot_name(parent))));
        slot
    };
    let both = Slot {
        after: vec![slot_name("right")],
        ..within(own(kind, "both"), "left")
    };
    let slots = vec![
        own(kind, "network"),
        within(own(kind, "left"), "network"),
        within(own(data, "right"), "network"),
        both,
        own(data, "alone"),
    ];
    scenario(kind, &[kind, data], slots)
}

/// Two slots that lead to one resource of somebody's, and want different tags on it.
fn shared(kind: &'static Kind) -> Scenario {
    let tagged = |name: &str, key: &str| Slot {
        user_tags: vec![(key.into(), "ours".into())],
        cluster_mark: true,
        ..Slot::find(slot_name(name), kind, vec![("size", text("8"))])
    };
    let slots = vec![
        tagged("one", "team"),
        tagged("other", "cost"),
        own(kind, "alone"),
    ];
    let mut scenario = scenario(kind, &[kind], slots);
    let props: Props = [("size", "8".into())].into_iter().collect();
    scenario
        .account
        .plant(Actor::Stranger, kind, "theirs", &props, &Tags::new())
        .expect("room for it");
    named(&scenario, "shared")
}

fn scenario(kind: &'static Kind, kinds: &[&'static Kind], slots: Vec<Slot>) -> Scenario {
    let account = Account::new(Settings::default(), VirtualClock::new()).with_kinds(kinds);
    let identity = identity(UUID, CLUSTER, "management-a", kkp());
    let blueprint = Blueprint::new(slots).expect("a legal blueprint");
    Scenario::plain(kind.name, account, identity, blueprint, kinds)
}

fn own(kind: &'static Kind, name: &str) -> Slot {
    Slot {
        cluster_mark: true,
        props: vec![("size", text("3"))],
        ..Slot::own(slot_name(name), kind, format!("prod-{name}"))
    }
}
