//! Scenarios: what a run begins with, what may happen in it, and what must come of it.

use std::collections::{BTreeMap, BTreeSet};

use cloud_port::Sample;
use cloud_sim::{Account, Actor, Settings, VirtualClock};
use ownership::blueprint::{Blueprint, Expr, IfMissing, InnerWish, Slot, SlotName, Source};
use ownership::decide::Evidence;
use ownership::kind::Kind;
use ownership::mark::Dialect;
use ownership::time::Millis;
use ownership::{Claim, Holder, Identity, KindAt, Ledger, Phase, ResourceId, Target};

use crate::fault::{Fault, Menu};
use crate::mutants::Flaw;
use crate::{families, kinds, samples, twins};

/// What a run begins with, what may happen in it, and what must come of it.
#[derive(Clone)]
pub(crate) struct Scenario {
    /// Its name: the Kind, then what is special.
    pub name: String,
    /// The account at the beginning.
    pub account: Account,
    /// The object's ledger at the beginning.
    pub ledger: Ledger,
    /// Who acts.
    pub identity: Identity,
    /// As whom the simulation knows the engine.
    pub actor: Actor,
    /// What is wanted.
    pub blueprint: Blueprint,
    /// What the object says.
    pub evidence: Evidence,
    /// The Kinds that the claim may own.
    pub kinds: Vec<KindAt>,
    /// What may happen.
    pub faults: Menu,
    /// How many faults are enumerated exhaustively.
    pub depth: u8,
    /// How many processes work on the claim at once.
    pub writers: u8,
    /// Whether the claim ends with `deletion: retain`.
    pub retains: bool,
    /// Whether the object's status accepts nothing at first.
    pub status_refuses: bool,
    /// What is wrong around the engine, in a mutant.
    pub flaw: Option<Flaw>,
    /// Which assumptions do not hold.
    pub lifted: Lifted,
    /// Somebody else's resources that evidence gives to us.
    pub adopts: BTreeSet<Target>,
    /// What must come of it.
    pub expect: Expect,
    /// Whether every call is written down.
    pub logs: bool,
    /// Whether a claim that [`Expect::Reported`] rests only with a finding.
    pub must_report: bool,
    /// What keeps a resource from being deleted, until the claim ends.
    pub blocker: Option<ResourceId>,
    /// How much time passes at `long-time`.
    pub long: Millis,
    /// Other claims in the same world, each as a scenario of its own. Only what is said of a claim
    /// counts there: its account, its faults and what goes for a whole run do not.
    pub others: Vec<Scenario>,
    /// Whether the claim begins only when the one before it has gone.
    pub follows: bool,
    /// Whether such a claim begins as soon as the resources are gone: it has waited for their names.
    pub waits_for_names: bool,
    /// Whether the last claim ends first.
    pub last_first: bool,
    /// Whether claims at rest are only glanced at, by way of an inventory.
    pub glances: bool,
    /// What the object's author wants instead, change by change.
    pub changes: Vec<Blueprint>,
    /// The slots that no spec wants and that must stay all the same.
    pub keeps: Vec<SlotName>,
    /// How long the first writer leads; then the second one does. Else all lead at once.
    pub term: Option<Millis>,
    /// Whether the claim's object is being deleted when the run begins.
    pub ends_at_once: bool,
    /// Whether the annotation `rules: exclusive` is there: what others put into our resources goes.
    pub exclusive: bool,
}

impl Scenario {
    /// A claim that nobody interferes with, under the faults of machinery, one at a time.
    pub(crate) fn plain(
        name: &str,
        account: Account,
        identity: Identity,
        blueprint: Blueprint,
        kinds: &[&'static Kind],
    ) -> Self {
        Self {
            name: name.to_owned(),
            account,
            ledger: Ledger::default(),
            identity,
            actor: Actor::Engine(0),
            blueprint,
            evidence: Evidence::default(),
            kinds: KindAt::home(kinds),
            faults: MACHINERY,
            depth: 1,
            writers: 1,
            retains: false,
            status_refuses: false,
            flaw: None,
            lifted: Lifted::default(),
            adopts: BTreeSet::new(),
            expect: Expect::Filled,
            must_report: false,
            blocker: None,
            long: Millis::seconds(120),
            logs: false,
            others: Vec::new(),
            follows: false,
            waits_for_names: false,
            last_first: false,
            glances: false,
            changes: Vec::new(),
            keeps: Vec::new(),
            term: None,
            ends_at_once: false,
            exclusive: false,
        }
    }

    /// Every claim of the run.
    pub(crate) fn claims(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.others)
    }

    /// One of the claims.
    pub(crate) fn claim(&self, claim: usize) -> &Self {
        match claim {
            0 => self,
            n => &self.others[n - 1],
        }
    }

    /// What the claim wants, after so many changes.
    pub(crate) fn spec(&self, changes: usize) -> &Blueprint {
        match changes {
            0 => &self.blueprint,
            n => &self.changes[n - 1],
        }
    }

    /// How many writers there are for all claims together.
    pub(crate) fn all_writers(&self) -> usize {
        self.claims().map(|claim| usize::from(claim.writers)).sum()
    }

    /// The Kinds that an inventory keeps.
    pub(crate) fn surveyed(&self) -> Vec<&'static Kind> {
        let mut kinds: Vec<&'static Kind> = Vec::new();
        for claim in self.claims() {
            let slots = claim.blueprint.slots().iter().map(|slot| slot.kind);
            for kind in claim.kinds.iter().map(|at| at.kind).chain(slots) {
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
        }
        kinds
    }

    /// How the claim ends.
    pub(crate) fn end_phase(&self) -> Phase {
        if self.retains {
            Phase::Retaining
        } else {
            Phase::Ending
        }
    }

    /// The same, long after everything in the account was made.
    fn later(mut self) -> Self {
        self.account = self
            .account
            .fork(VirtualClock::at(self.account.clock().now()));
        self.account.clock().advance(Millis::seconds(3600));
        self
    }
}

/// Which assumptions do not hold.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lifted {
    /// A stranger may make an identical resource while an intent is open.
    pub a1: bool,
    /// A stranger may remove our mark between read and call.
    pub a2: bool,
    /// A request may take effect at any time.
    pub a3: bool,
}

/// What must come of a scenario, if nobody interferes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    /// Every slot has one resource that we created, and nothing is left at the end.
    Filled,
    /// Every slot has the one resource that was created before, by us under another holder.
    Taken,
    /// The slot's resource is somebody's: used, and left as it was.
    Used,
    /// The slot's resource is somebody else's: reported, nothing created.
    Conflict,
    /// The slot's resource is ours, held elsewhere: shown, untouched, never ended.
    Held,
    /// The slot's resource becomes ours on evidence.
    Adopted,
    /// An assumption does not hold: reported, not stolen.
    Reported,
    /// Nobody can tell what came of a create: no second one, and the claim does not end.
    AtMostOne,
}

pub(crate) const CLUSTER: &str = "prod";
pub(crate) const UUID: &str = "8f4e2f6a-3c1b-4e0e-9a53-0d2f8c6b7a11";
pub(crate) const OTHER_UUID: &str = "0c9d7a52-6b1f-4f7e-8a4d-5e2b1c3d4f60";

/// The faults of processes, networks and servers.
pub(crate) const MACHINERY: Menu = Menu::of(&[
    Fault::CrashBefore,
    Fault::CrashAfter,
    Fault::Fail,
    Fault::Throttle,
    Fault::LoseCall,
    Fault::LoseAnswer,
    Fault::LateByOne,
    Fault::LateByTwo,
    Fault::LateByThree,
    Fault::LateAtRestart,
    Fault::StaleByOne,
    Fault::StaleByTwo,
    Fault::Conflict,
    Fault::Refuse,
    Fault::NoTime,
    Fault::LongTime,
    Fault::EndNow,
    Fault::LoseStatus,
    Fault::LateToTheLast,
    Fault::Slow,
    Fault::LastFirst,
]);

/// Every scenario.
pub(crate) fn all() -> Vec<Scenario> {
    let mut all = Vec::new();
    let synthetic = kinds::synthetic_all();
    for sample in synthetic.into_iter().chain(cloud_port::samples()) {
        families::of(sample, &mut all);
    }
    let valuable = Kind {
        name: "synthetic/valuable",
        valuable: true,
        ..kinds::plain()
    };
    let valuable = kinds::sample(valuable);
    for sample in kinds::narrow() {
        families::of(sample, &mut all);
    }
    families::of(crate::objects::sample(), &mut all);
    all.push(twins::twins(&base(valuable), valuable));
    all.extend(crate::refers::scenarios());
    all.extend(crate::course::scenarios());
    all.extend(crate::secrets::scenarios());
    all.extend(crate::shrink::scenarios());
    all.extend(crate::places::scenarios());
    all.extend(crate::objects::scenarios());
    all.extend(crate::finding::scenarios());
    all.extend(crate::at_once::scenarios());
    all.extend(crate::kkp::scenarios());
    all.extend(crate::capa::scenarios());
    all.extend(crate::powervs::scenarios());
    all.into_iter().map(Scenario::later).collect()
}

pub(crate) fn named(scenario: &Scenario, what: &str) -> Scenario {
    Scenario {
        name: format!("{}/{what}", scenario.name),
        ..scenario.clone()
    }
}

/// The first two words of a scenario's name.
pub(crate) fn kind(name: &str) -> String {
    name.splitn(3, '/').take(2).collect::<Vec<_>>().join("/")
}

/// What is special about a scenario: its name without its Kind.
pub(crate) fn family(name: &str) -> &str {
    name.splitn(3, '/').nth(2).unwrap_or(name)
}

/// The Kinds of scenarios, one a line.
pub(crate) fn kinds(scenarios: &[Scenario]) -> String {
    let kinds: BTreeSet<String> = scenarios.iter().map(|known| kind(&known.name)).collect();
    kinds.into_iter().collect::<Vec<_>>().join("\n")
}

pub(crate) fn slot_name(name: &str) -> SlotName {
    SlotName::new(name).expect("a legal slot name")
}

pub(crate) fn text(value: &str) -> Expr {
    Expr::Text(value.into())
}

pub(crate) fn identity(uuid: &str, cluster: &str, holder: &str, dialect: Dialect) -> Identity {
    Identity {
        claim: Claim::new("Cluster.kubermatic.k8c.io", "", cluster, uuid).expect("a legal claim"),
        holder: Holder::of_cluster(holder),
        taken_over: BTreeMap::new(),
        dialect,
    }
}

pub(crate) fn kkp() -> Dialect {
    Dialect::Kkp {
        cluster: CLUSTER.into(),
    }
}

/// One claim with one slot of this Kind, on a fresh account.
pub(crate) fn base(sample: &'static Sample) -> Scenario {
    let kind = sample.kind;
    let settings = if cloud_sim::IBM.kinds().any(|known| known == kind) {
        Settings {
            paces: cloud_sim::ibm_paces(),
            ..Settings::ibm()
        }
    } else {
        Settings {
            paces: cloud_sim::aws_paces(),
            ..Settings::default()
        }
    };
    let mut account = Account::new(settings, VirtualClock::new()).with_kinds(&[kind]);
    let mut slot = Slot::own(slot_name("thing"), kind, "prod-thing");
    slot.source = Source::Own {
        if_missing: IfMissing::Create,
    };
    slot.cluster_mark = true;
    if let Some(taken) = sample.takes {
        let taken_one = samples::make(&mut account, taken.sample, &[]);
        slot.props.push((taken.prop, Expr::Text(taken_one.text())));
    }
    samples::want(&mut slot, sample.props);
    for part in sample.parts {
        slot.inner
            .extend(part.wanted.iter().map(|(key, value)| InnerWish {
                kind: part.inner,
                key: text(key),
                value: (*value).into(),
            }));
        slot.exclusive.push(part.inner);
    }
    if let Some(parent) = sample.parent {
        let home = samples::home(&mut account, parent);
        samples::put_into(&mut slot, parent, &home);
    }
    let blueprint = Blueprint::new(vec![slot]).expect("a legal blueprint");
    let identity = identity(UUID, CLUSTER, "management-a", kkp());
    Scenario {
        exclusive: true,
        ..Scenario::plain(kind.name, account, identity, blueprint, &[kind])
    }
}
