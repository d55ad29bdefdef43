//! Scenarios in which less is wanted than before: slots, parts, tags and traces are ended in life.

use cloud_port::Sample;
use cloud_sim::{Account, Actor, Settings, VirtualClock};
use ownership::Blueprint;
use ownership::blueprint::{Asked, Expr, Family, InnerWish, Slot};
use ownership::kind::{CreateMode, InnerKind, InnerProof, Kind};
use ownership::mark::Tags;
use ownership::part::Props;

use crate::fault::{Fault, Menu};
use crate::kinds;
use crate::scenario::{
    CLUSTER, Expect, MACHINERY, Scenario, UUID, identity, kkp, named, slot_name, text,
};

const RULE: &str = "rule";

const BY_SPEC: &[Family] = &[
    family("network", Asked::BySpec),
    family("zone-", Asked::BySpec),
];

/// Zones come from elsewhere.
const BY_FACTS: &[Family] = &[
    family("network", Asked::BySpec),
    family("zone-", Asked::ByFacts),
];

/// Nobody knows what a zone is.
const NO_ZONES: &[Family] = &[family("network", Asked::BySpec)];

/// Slots of these names are wanted by the spec.
pub(crate) fn by_spec(names: &[&'static str]) -> &'static [Family] {
    let families = names.iter().map(|name| family(name, Asked::BySpec));
    Box::leak(families.collect())
}

const fn family(name: &'static str, asked: Asked) -> Family {
    Family { name, asked }
}

/// Everything that shrinks.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let own = sample("shrinking", InnerProof::OwnMark, false);
    let parent = sample("shrinking-parent", InnerProof::ParentMark, false);
    let data = sample("shrinking-data", InnerProof::OwnMark, true);
    let mut all = families(&shrinking(own));
    all.extend(families(&shrinking(parent)));
    for (sample, why, families) in [(data, "facts", BY_FACTS), (own, "unknown", NO_ZONES)] {
        all.push(Scenario {
            must_report: true,
            ..left(sample, why, |all| all.within(families, 1))
        });
    }
    all.push(left(own, "partial", |all| all.within(BY_SPEC, 1).partial()));
    all.push(replaced(data));
    all.push(needed(own));
    all
}

fn families(shrinking: &Scenario) -> Vec<Scenario> {
    vec![
        named(shrinking, "alone"),
        Scenario {
            writers: 2,
            ..named(shrinking, "two-writers")
        },
        Scenario {
            glances: true,
            ..named(shrinking, "glancing")
        },
        Scenario {
            faults: shrinking
                .faults
                .or(Menu::of(&[Fault::StrangerDeletes, Fault::StrangerUnmarks])),
            ..named(shrinking, "stranger")
        },
    ]
}

fn sample(name: &str, proof: InnerProof, valuable: bool) -> &'static Sample {
    let rule = InnerKind {
        name: RULE,
        noun: "rule",
        proof,
        create: CreateMode::Insert,
        blocks_deletion: false,
        batch: true,
        single: false,
        comes_along: &[],
        born_with: None,
        is_listed: true,
    };
    let plain = kinds::plain();
    let mut kind = Kind {
        name: Box::leak(format!("synthetic/{name}").into_boxed_str()),
        inner: Box::leak(Box::new([rule])),
        valuable,
        ..plain
    };
    if valuable {
        kind.course.failed = ownership::life::Failed::Reported;
    }
    kinds::sample(kind)
}

/// A network with two zones, and rules in somebody's resource: then less, then more again, then another
/// network than ours.
fn shrinking(sample: &'static Sample) -> Scenario {
    let spec = |slots: Vec<Slot>| {
        let all = Blueprint::new(slots).expect("a legal blueprint");
        all.within(BY_SPEC, 1)
    };
    let (a, b) = (zone(sample, "zone-a"), zone(sample, "zone-b"));
    let network = |team| tagged(own(sample, "network"), team);
    let theirs = |size| find(sample, "network", size);
    let whole = vec![
        network("blue"),
        a.clone(),
        b.clone(),
        shared(sample, &["80", "443"], Some("blue")),
    ];
    let changes = vec![
        spec(vec![
            network("red"),
            a,
            shared(sample, &["80"], Some("red")),
        ]),
        spec(vec![network("red"), b, shared(sample, &[], None)]),
        spec(vec![theirs("8")]),
    ];
    Scenario {
        changes,
        faults: MACHINERY.or(Fault::SpecChange.bit()),
        ..scenario(sample, spec(whole), Settings::default())
    }
}

/// A zone less, which is left as it is.
fn left(sample: &'static Sample, why: &str, scope: impl Fn(Blueprint) -> Blueprint) -> Scenario {
    let network = vec![own(sample, "network")];
    let less = Blueprint::new(network).expect("a legal blueprint");
    keeping(sample, why, "zone-a", scope(less), Settings::default())
}

/// Another zone instead, which fails: what it replaces stays.
fn replaced(sample: &'static Sample) -> Scenario {
    let slots = vec![own(sample, "network"), zone(sample, "zone-b")];
    let other = Blueprint::new(slots).expect("a legal blueprint");
    let other = other.within(BY_SPEC, 1);
    let mut scenario = keeping(sample, "replaced", "zone-a", other, Settings::default());
    scenario.account.fail_next("there is no room");
    scenario
}

/// A zone that cannot move to another network, in a cloud that does not look who uses what.
fn needed(sample: &'static Sample) -> Scenario {
    let mut zone = own(sample, "zone-a");
    zone.props.push(("parent", text("another")));
    let moved = Blueprint::new(vec![zone]).expect("a legal blueprint");
    let settings = Settings {
        careless: true,
        ..Settings::default()
    };
    keeping(
        sample,
        "needed",
        "network",
        moved.within(BY_SPEC, 1),
        settings,
    )
}

/// A network with one zone is there, and this is what is wanted now; one slot must stay.
fn keeping(
    sample: &'static Sample,
    why: &str,
    stays: &str,
    wanted: Blueprint,
    settings: Settings,
) -> Scenario {
    let slots = vec![own(sample, "network"), zone(sample, "zone-a")];
    let whole = Blueprint::new(slots).expect("a legal blueprint");
    let scenario = scenario(sample, whole.within(BY_SPEC, 1), settings);
    let (account, ledger) = crate::run::prepare(&scenario, &ownership::Freehold);
    Scenario {
        account,
        ledger,
        blueprint: wanted,
        keeps: vec![slot_name(stays)],
        expect: Expect::Reported,
        ..named(&scenario, why)
    }
}

fn scenario(sample: &'static Sample, blueprint: Blueprint, settings: Settings) -> Scenario {
    let kind = sample.kind;
    let mut account = Account::new(settings, VirtualClock::new()).with_kinds(&[kind]);
    for size in ["8", "9"] {
        let props: Props = [("size", size.into())].into_iter().collect();
        account
            .plant(Actor::Stranger, kind, "theirs", &props, &Tags::new())
            .expect("room for it");
    }
    let identity = identity(UUID, CLUSTER, "management-a", kkp());
    Scenario::plain(kind.name, account, identity, blueprint, &[kind])
}

fn own(sample: &'static Sample, name: &str) -> Slot {
    Slot {
        cluster_mark: true,
        props: vec![("size", text("3"))],
        ..Slot::own(slot_name(name), sample.kind, format!("prod-{name}"))
    }
}

fn zone(sample: &'static Sample, name: &str) -> Slot {
    let mut zone = own(sample, name);
    zone.props
        .push(("parent", Expr::Slot(slot_name("network"))));
    zone
}

fn find(sample: &'static Sample, name: &str, size: &str) -> Slot {
    Slot {
        cluster_mark: true,
        ..Slot::find(slot_name(name), sample.kind, vec![("size", text(size))])
    }
}

fn tagged(mut slot: Slot, team: &str) -> Slot {
    slot.user_tags.push(("team".into(), team.into()));
    slot
}

/// Somebody's resource, with these rules of ours in it and perhaps a tag.
fn shared(sample: &'static Sample, rules: &[&str], team: Option<&str>) -> Slot {
    let wish = |key: &&str| InnerWish {
        kind: RULE,
        key: text(key),
        value: "".into(),
    };
    let slot = Slot {
        inner: rules.iter().map(wish).collect(),
        ..find(sample, "shared", "9")
    };
    match team {
        Some(team) => tagged(slot, team),
        None => slot,
    }
}
