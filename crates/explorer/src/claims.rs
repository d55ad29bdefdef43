//! Scenarios of several claims in one world: neighbours, namesakes, two on one used resource, and
//! one after the other.

use cloud_port::Sample;
use cloud_sim::{Account, Actor};
use ownership::blueprint::{Empty, Expr, InnerWish, resolve_props};
use ownership::decide::Evidence;
use ownership::kind::{Ids, Kind, Marking, Naming};
use ownership::mark::{Dialect, Tags};
use ownership::part::Props;
use ownership::{Blueprint, Freehold, Holder, Ledger, Slot, Target};

use crate::fault::{Fault, Menu};
use crate::scenario::{
    CLUSTER, Expect, OTHER_UUID, Scenario, UUID, identity, kkp, named, slot_name, text,
};
use crate::{names, run, samples};

/// What meets a name that a lagging replica takes for taken: few faults, so that every pair of them
/// is walked.
const FEW: Menu = Menu::of(&[
    Fault::DuplicateByLag,
    Fault::StaleByOne,
    Fault::LoseAnswer,
    Fault::CrashAfter,
    Fault::LateToTheLast,
    Fault::NoTime,
]);

/// What lets a call on a living claim's resource take effect when the next claim has its name: few
/// faults, so that every pair of them is walked.
const LATE: Menu = Menu::of(&[
    Fault::LateToTheLast,
    Fault::LateAtRestart,
    Fault::LateByThree,
    Fault::EndNow,
    Fault::NoTime,
    Fault::StrangerUnmarksPartly,
]);

/// The scenarios of several claims for a Kind.
pub(crate) fn scenarios(alone: &Scenario, sample: &'static Sample) -> Vec<Scenario> {
    let kind = sample.kind;
    let mut all = neighbours(alone, sample);
    all.push(heir(alone));
    if kind.ids == Ids::Names {
        all.push(late_heir(alone, sample));
        all.push(one_name(alone));
    }
    if kind.naming != Naming::Free {
        all.push(Scenario {
            faults: FEW,
            depth: 2,
            ..named(&heir(alone), "lag")
        });
    }
    if kind.name_finds_marks() && kind.inner.iter().any(|inner| !inner.single) {
        all.extend(one_used_resource(alone, sample));
    }
    if kind.name_finds_marks() && kind.marking == Marking::Mutable {
        all.extend(namesakes(alone, sample));
    }
    if kind.marking == Marking::Mutable {
        all.push(taken_over_twice(alone));
    }
    all
}

/// A second claim beside the first: another object, cluster and management cluster.
fn second(alone: &Scenario, cluster: &str, holder: &str) -> Scenario {
    let dialect = Dialect::Kkp {
        cluster: cluster.into(),
    };
    Scenario {
        identity: identity(OTHER_UUID, cluster, holder, dialect),
        actor: Actor::Engine(1),
        ..alone.clone()
    }
}

/// The first claim's scenario with a second claim in it, and the same with the second ending first.
pub(crate) fn both_orders(first: &Scenario, second: Scenario, what: &str) -> [Scenario; 2] {
    let scenario = Scenario {
        others: vec![second],
        ..named(first, what)
    };
    let other = Scenario {
        last_first: true,
        ..named(&scenario, "last-first")
    };
    [scenario, other]
}

/// Two clusters in one account that share nothing. In one process, that glances, they share the
/// inventory.
fn neighbours(alone: &Scenario, sample: &Sample) -> Vec<Scenario> {
    let mut slot = alone.blueprint.slots()[0].clone();
    slot.label = "dev-thing".into();
    let mut alone = alone.clone();
    for (name, value) in samples::beside(&mut alone.account, sample) {
        samples::want_one(&mut slot, name, Expr::Text(value));
    }
    let beside = Scenario {
        blueprint: Blueprint::new(vec![slot]).expect("a legal blueprint"),
        ..second(&alone, "dev", "management-a")
    };
    let [scenario, _] = both_orders(&alone, beside, "neighbours");
    let glancing = Scenario {
        glances: true,
        ..named(&scenario, "glancing")
    };
    vec![scenario, glancing]
}

/// The same name again, as soon as the claim has ended: calls of the first may still be under way.
pub(crate) fn heir(alone: &Scenario) -> Scenario {
    let heir = Scenario {
        follows: true,
        ..second(alone, CLUSTER, "management-a")
    };
    Scenario {
        others: vec![heir],
        ..named(alone, "heir")
    }
}

/// The same, with an heir that wants other parts: what comes late from the first one shows.
fn late_heir(alone: &Scenario, sample: &Sample) -> Scenario {
    let mut scenario = Scenario {
        faults: LATE,
        depth: 2,
        ..named(&heir(alone), "late")
    };
    for heir in &mut scenario.others {
        let mut slot = heir.blueprint.slots()[0].clone();
        let mut inner = other_parts(sample, &slot.inner);
        inner.drain(..inner.len().min(1));
        slot.inner = inner;
        heir.blueprint = Blueprint::new(vec![slot]).expect("a legal blueprint");
    }
    scenario
}

/// Two clusters of one name want the same name: one has it and ends, the other waits for it. What the first has
/// sent must not meet what the second makes.
fn one_name(alone: &Scenario) -> Scenario {
    let reported = |base: &Scenario| Scenario {
        expect: Expect::Reported,
        ..base.clone()
    };
    let waits = Scenario {
        follows: true,
        waits_for_names: true,
        ..reported(&second(alone, CLUSTER, "management-b"))
    };
    Scenario {
        faults: LATE.without(Fault::StrangerUnmarksPartly.bit()),
        depth: 2,
        ..one_comes(&reported(alone), waits, "two-claims/one-name")
    }
}

/// Two clusters use somebody's resource and put equal and different parts into it.
fn one_used_resource(alone: &Scenario, sample: &Sample) -> Vec<Scenario> {
    let (account, _) = names::plant(alone, sample, &Tags::new());
    let used = Scenario {
        account,
        expect: Expect::Used,
        faults: alone.faults.without(Fault::LoseStatus.bit()),
        ..alone.clone()
    };
    let mut slot = used.blueprint.slots()[0].clone();
    slot.inner = other_parts(sample, &slot.inner);
    let other = Scenario {
        blueprint: Blueprint::new(vec![slot]).expect("a legal blueprint"),
        ..second(&used, "dev", "management-a")
    };
    let mut all = both_orders(&used, other.clone(), "two-claims/one-used-resource").to_vec();
    all.push(one_comes(&used, other, "two-claims/one-comes-one-goes"));
    // A claim that owns nothing has its parts alone to say who holds it.
    all.push(taken_over_twice(&named(&used, "used")));
    all
}

/// Of the parts inside, one that is equal and one that is not.
fn other_parts(sample: &Sample, wishes: &[InnerWish]) -> Vec<InnerWish> {
    // Of the sort that leads to no other one.
    let sorts = sample.kind.inner.iter();
    let mut sorts = sorts.filter(|sort| sample.part(sort.name).is_some());
    let first = sorts.find_map(|sort| wishes.iter().find(|wish| wish.kind == sort.name));
    let mut parts: Vec<InnerWish> = first.into_iter().cloned().collect();
    let others = parts.first().and_then(|first| sample.part(first.kind));
    parts.extend(others.map(|part| InnerWish {
        kind: part.inner,
        key: text(part.others[1].0),
        value: part.others[1].1.into(),
    }));
    // What it lies in stays.
    let home = sample.parent.and_then(|parent| parent.part);
    let home = wishes.iter().filter(|wish| Some(wish.kind) == home);
    parts.extend(home.cloned());
    parts
}

/// The first claim is at rest and ends; the second begins at the same time.
pub(crate) fn one_comes(first: &Scenario, second: Scenario, what: &str) -> Scenario {
    let (account, ledger) = run::prepare(first, &Freehold);
    Scenario {
        account,
        ledger,
        ends_at_once: true,
        others: vec![second],
        ..named(first, what)
    }
}

/// Both management clusters have taken over the claim from each other, and both have its object: they
/// must not write against each other for ever. One acts; the other says that it does not.
fn taken_over_twice(alone: &Scenario) -> Scenario {
    let (account, ledger) = run::prepare(alone, &Freehold);
    let in_cluster = |here: &str, there: &str| {
        let mut identity = identity(UUID, CLUSTER, here, kkp());
        identity.taken_over.insert(Holder::of_cluster(there), 0);
        Scenario {
            account: account.clone(),
            ledger: ledger.clone(),
            identity,
            expect: Expect::Reported,
            ..alone.clone()
        }
    };
    // When one of them ends the claim, or reads what is old, the other's end is none of its own.
    let faults = alone.faults.without(Menu::of(&[
        Fault::EndNow,
        Fault::StaleByOne,
        Fault::StaleByTwo,
        Fault::LoseStatus,
    ]));
    Scenario {
        faults,
        others: vec![in_cluster("management-b", "management-a")],
        ..named(
            &in_cluster("management-a", "management-b"),
            "two-claims/taken-over-twice",
        )
    }
}

/// Two clusters of one name in two management clusters. Each owns something, and both use what is
/// somebody's. Whichever ends, the other one's tags stay.
fn namesakes(alone: &Scenario, sample: &Sample) -> Vec<Scenario> {
    let (mut account, thing) = (alone.account.clone(), &alone.blueprint.slots()[0]);
    let mut shared = Slot {
        name: slot_name("shared"),
        label: "shared-thing".into(),
        inner: Vec::new(),
        exclusive: Vec::new(),
        ..thing.clone()
    };
    samples::want(&mut shared, sample.beside);
    let props = resolve_props(&shared.props, &Empty).unwrap_or_default();
    let name = sample.kind.names.fit("shared-thing");
    let target = plant(&mut account, sample.kind, &name, &props);
    let claim = |base: &Scenario, label: &str| {
        let thing = Slot {
            label: label.into(),
            ..thing.clone()
        };
        let mut ledger = Ledger {
            pinned: true,
            ..Ledger::default()
        };
        ledger.ids.insert(shared.name.clone(), target.id.clone());
        Scenario {
            account: account.clone(),
            blueprint: Blueprint::new(vec![thing, shared.clone()]).expect("a legal blueprint"),
            ledger,
            evidence: sweeping(),
            faults: base.faults.without(Fault::LoseStatus.bit().or(OVERTAKEN)),
            ..base.clone()
        }
    };
    let first = claim(alone, "prod-thing");
    let namesake = claim(&second(alone, CLUSTER, "management-b"), "prod-b-thing");
    both_orders(&first, namesake, "two-claims/namesakes").to_vec()
}

/// What lets a sweep's call land when a namesake has begun since it was decided. Cluster marks name no
/// claim, so nothing can tell: the namesake puts its mark back at its next look (law 7).
pub(crate) const OVERTAKEN: Menu = Menu::of(&[
    Fault::EndNow,
    Fault::LateByOne,
    Fault::LateByTwo,
    Fault::LateByThree,
    Fault::LateAtRestart,
    Fault::LateToTheLast,
    Fault::Slow,
]);

pub(crate) fn plant(
    account: &mut Account,
    kind: &'static Kind,
    name: &str,
    props: &Props,
) -> Target {
    account
        .plant(Actor::Stranger, kind, name, props, &Tags::new())
        .expect("the name is free")
}

/// What the served API says: the cluster mark goes at the end, whoever wrote it.
pub(crate) fn sweeping() -> Evidence {
    Evidence {
        sweep: true,
        ..Evidence::default()
    }
}
