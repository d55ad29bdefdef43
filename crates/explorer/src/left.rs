//! Scenarios of what controllers inside a cluster left behind: it goes with the claim if a person asks for
//! that, and only where it lies in a network of ours (decision 19).

use std::collections::BTreeSet;

use cloud_sim::{Account, Actor, Settings, VirtualClock};
use ownership::blueprint::{Expr, Leftover, Slot};
use ownership::kind::{BirthProof, CreateMode, Ids, InnerKind, InnerProof, Kind, Marking, Naming};
use ownership::mark::{Dialect, Tags};
use ownership::part::{InnerPart, Props};
use ownership::{Blueprint, Freehold, Target};

use crate::fault::{Fault, Menu};
use crate::scenario::{CLUSTER, MACHINERY, Scenario, UUID, identity, named, slot_name, text};
use crate::{kinds, run};

const NETWORK: &str = "network";
const PARENT: &str = "parent";
const RULE: &str = "rule";

/// A network, groups whose rules name each other, and balancers that are known by their names only.
struct Kinds {
    network: &'static Kind,
    group: &'static Kind,
    balancer: &'static Kind,
}

/// Everything that is left behind.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let kinds = declare();
    let asked = asked(&kinds);
    vec![
        named(&asked, "asked"),
        Scenario {
            writers: 2,
            ..named(&asked, "two-writers")
        },
        // What lost its mark is released, and with it what lies in it.
        Scenario {
            faults: MACHINERY.or(Menu::of(&[Fault::StrangerUnmarks, Fault::StrangerDeletes])),
            ..named(&asked, "stranger")
        },
        Scenario {
            retains: true,
            leaves: BTreeSet::new(),
            ..named(&asked, "retain")
        },
        unasked(&asked),
    ]
}

fn declare() -> Kinds {
    let kind = |name: &str, naming| {
        let (birth, insert) = (BirthProof::Marks, CreateMode::Insert);
        Kind {
            name: Box::leak(format!("synthetic/left-behind-{name}").into_boxed_str()),
            ..kinds::synthetic(birth, false, insert, Marking::Mutable, naming, true)
        }
    };
    let leak = |kind| -> &'static Kind { Box::leak(Box::new(kind)) };
    Kinds {
        network: leak(kind(NETWORK, Naming::Free)),
        group: leak(Kind {
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
            ..kind("group", Naming::Free)
        }),
        balancer: leak(Kind {
            ids: Ids::Names(&[]),
            ..kind("balancer", Naming::Account)
        }),
    }
}

/// A network with a group in it, and somebody's network that is only used.
fn alone(kinds: &Kinds) -> Scenario {
    let all = [kinds.network, kinds.group, kinds.balancer];
    let mut account = Account::new(Settings::default(), VirtualClock::new()).with_kinds(&all);
    let props: Props = [("size", "8".into())].into_iter().collect();
    account
        .plant(
            Actor::Stranger,
            kinds.network,
            "theirs",
            &props,
            &Tags::new(),
        )
        .expect("room for it");
    let own = |name: &str, kind| Slot {
        props: vec![("size", text("3"))],
        ..Slot::own(slot_name(name), kind, format!("prod-{name}"))
    };
    let mut group = own("group", kinds.group);
    group.props.push((PARENT, Expr::Slot(slot_name(NETWORK))));
    let slots = vec![
        own(NETWORK, kinds.network),
        Slot::find(
            slot_name("theirs"),
            kinds.network,
            vec![("size", text("8"))],
        ),
        group,
    ];
    let leftover = |kind| Leftover {
        kind,
        within: PARENT,
        slot: NETWORK,
    };
    let leftovers = Box::leak(Box::new([leftover(kinds.balancer), leftover(kinds.group)]));
    let blueprint = Blueprint::new(slots).expect("a legal blueprint");
    let dialect = Dialect::Capa {
        cluster: CLUSTER.into(),
    };
    let identity = identity(UUID, CLUSTER, "management-a", dialect);
    let blueprint = blueprint.leaving(leftovers);
    Scenario::plain("synthetic/left-behind", account, identity, blueprint, &all)
}

/// Controllers left a balancer and two groups that name each other, and a rule in our group that names one
/// of them; and the same in the network that is only used.
fn asked(kinds: &Kinds) -> Scenario {
    let mut scenario = alone(kinds);
    scenario.evidence.left_behind = true;
    let (account, ledger) = run::prepare(&scenario, &Freehold);
    (scenario.account, scenario.ledger) = (account, ledger);
    let (ours, theirs) = networks(&scenario);
    let left = leave(&mut scenario.account, kinds, &ours, "ours");
    leave(&mut scenario.account, kinds, &theirs, "theirs");
    let host = slot_name("group");
    let host = Target::new(kinds.group, scenario.ledger.ids[&host].clone());
    let guest = InnerPart::new(format!("from {}", left[1].id), "", Tags::new());
    scenario
        .account
        .add_parts(Actor::Stranger, &host, RULE, &[guest])
        .expect("room for it");
    scenario.leaves = left.into_iter().collect();
    scenario
}

/// Nobody has asked: everything stays, and that is told.
fn unasked(asked: &Scenario) -> Scenario {
    let mut scenario = named(asked, "unasked");
    scenario.evidence.left_behind = false;
    Scenario {
        leaves: BTreeSet::new(),
        end_waits: true,
        ..scenario
    }
}

/// Our network, and the one that is only used.
fn networks(scenario: &Scenario) -> (Target, Target) {
    let kind = scenario.blueprint.slots()[0].kind;
    let ours = Target::new(kind, scenario.ledger.ids[&slot_name(NETWORK)].clone());
    let mut all = scenario.account.alive(kind);
    let theirs = all.find(|it| it.id != ours.id).expect("it was planted");
    let theirs = theirs.target();
    (ours, theirs)
}

/// What controllers of the cluster leave in a network.
fn leave(account: &mut Account, kinds: &Kinds, network: &Target, name: &str) -> [Target; 3] {
    let key = format!("kubernetes.io/cluster/{CLUSTER}");
    let tags: Tags = [(key.into(), "owned".into())].into_iter().collect();
    let mut make = |kind, what: &str| {
        let name = format!("{what}-{name}");
        plant(account, kind, &name, network, &tags)
    };
    let left = [
        make(kinds.balancer, "balancer"),
        make(kinds.group, "one"),
        make(kinds.group, "two"),
    ];
    for (of, by) in [(1, 2), (2, 1)] {
        let rule = InnerPart::new(format!("from {}", left[by].id), "", Tags::new());
        account
            .add_parts(Actor::Stranger, &left[of], RULE, &[rule])
            .expect("room for it");
    }
    left
}

fn plant(
    account: &mut Account,
    kind: &'static Kind,
    name: &str,
    network: &Target,
    tags: &Tags,
) -> Target {
    let props = [("size", "1".into()), (PARENT, network.id.text())];
    let props: Props = props.into_iter().collect();
    let planted = account.plant(Actor::Stranger, kind, name, &props, tags);
    planted.expect("names are free")
}
