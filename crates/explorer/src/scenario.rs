//! Scenarios: what a run begins with, what may happen in it, and what must come of it.

use std::collections::BTreeSet;

use cloud_sim::{Account, Actor, Settings, VirtualClock};
use ownership::blueprint::{Blueprint, Expr, IfMissing, InnerWish, Slot, SlotName, Source};
use ownership::decide::Evidence;
use ownership::kind::{BirthProof, CreateMode, InnerProof, Kind, Marking, Naming};
use ownership::ledger::{Known, Origin};
use ownership::mark::{Dialect, OwnershipMark, Tags};
use ownership::part::{InnerPart, Props};
use ownership::step::Create;
use ownership::time::Millis;
use ownership::{
    Claim, Freehold, Holder, Identity, Ledger, Phase, ResourceId, Step, Target, Text, name,
};

use crate::fault::{Fault, Menu};
use crate::run;
use crate::special;
use crate::stranger;

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
    pub kinds: Vec<&'static Kind>,
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
    /// Whether intents are lost with the status: the place where they must not be.
    pub intents_in_status: bool,
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
}

impl Scenario {
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
]);

/// Every scenario.
pub(crate) fn all() -> Vec<Scenario> {
    let mut all = Vec::new();
    for kind in synthetic_kinds() {
        families(kind, &mut all);
    }
    for kind in cloud_port::aws::KINDS {
        families(kind, &mut all);
    }
    let valuable = Kind {
        name: "synthetic/valuable",
        valuable: true,
        ..synthetic(
            BirthProof::Marks,
            false,
            CreateMode::Insert,
            Marking::Mutable,
            Naming::Free,
            true,
        )
    };
    let valuable: &'static Kind = Box::leak(Box::new(valuable));
    all.push(twins(&base(valuable), valuable));
    all.extend(crate::kkp::scenarios());
    all.into_iter().map(Scenario::later).collect()
}

/// A Kind for every combination of capabilities that the catalogue admits.
fn synthetic_kinds() -> Vec<&'static Kind> {
    let mut kinds = Vec::new();
    let births = [
        BirthProof::Marks,
        BirthProof::Token,
        BirthProof::Nonce,
        BirthProof::Circumstantial,
    ];
    let flags = [false, true];
    for birth in births {
        for token in flags {
            for create in [CreateMode::Insert, CreateMode::Upsert] {
                for marking in [Marking::Mutable, Marking::CreateOnly, Marking::Never] {
                    for naming in [Naming::Account, Naming::Free] {
                        for has_creation_time in flags {
                            let kind =
                                synthetic(birth, token, create, marking, naming, has_creation_time);
                            if kind.check().is_ok() {
                                kinds.push(&*Box::leak(Box::new(kind)));
                            }
                        }
                    }
                }
            }
        }
    }
    kinds
}

fn synthetic(
    birth: BirthProof,
    token: bool,
    create: CreateMode,
    marking: Marking,
    naming: Naming,
    has_creation_time: bool,
) -> Kind {
    use ownership::kind::PropRule;
    let name = format!(
        "synthetic/{birth:?}{}{}{}{}{}",
        if token { "-token" } else { "" },
        if create == CreateMode::Upsert {
            "-upsert"
        } else {
            ""
        },
        match marking {
            Marking::Mutable => "",
            Marking::CreateOnly => "-create-only",
            Marking::Never => "-never",
        },
        if naming == Naming::Free {
            "-free"
        } else {
            "-named"
        },
        if has_creation_time { "-timed" } else { "" },
    );
    Kind {
        name: Box::leak(name.to_lowercase().into_boxed_str()),
        noun: "thing",
        carrier: ownership::mark::Carrier::AwsTags,
        birth,
        token: token.then_some(Millis::seconds(24 * 3600)),
        create,
        marking,
        naming,
        has_creation_time,
        valuable: false,
        settling: Millis::seconds(15),
        props: &[
            PropRule {
                name: "size",
                mutable: true,
            },
            PropRule {
                name: "parent",
                mutable: false,
            },
        ],
        inner: &[],
    }
}

/// Everything that can be special about a Kind.
fn families(kind: &'static Kind, all: &mut Vec<Scenario>) {
    let alone = base(kind);
    all.push(Scenario {
        depth: 2,
        ..named(&alone, "alone")
    });
    all.push(Scenario {
        faults: MACHINERY.or(Menu::of(stranger::ALL)),
        ..named(&alone, "stranger")
    });
    all.push(Scenario {
        writers: 2,
        ..named(&alone, "two-writers")
    });
    all.push(Scenario {
        retains: true,
        ..named(&alone, "retain")
    });
    all.push(Scenario {
        status_refuses: true,
        ..named(&alone, "status-refuses")
    });
    all.push(Scenario {
        faults: MACHINERY.or(Fault::UnmarkedInFlight.bit()),
        lifted: Lifted {
            a2: true,
            ..Lifted::default()
        },
        expect: Expect::Reported,
        ..named(&alone, "a2-lifted")
    });
    all.push(Scenario {
        lifted: Lifted {
            a3: true,
            ..Lifted::default()
        },
        expect: Expect::Reported,
        ..named(&alone, "a3-lifted")
    });
    all.extend(held(&alone));
    if kind.naming == Naming::Free && kind.birth == BirthProof::Marks {
        all.push(twins(&alone, kind));
        all.push(Scenario {
            writers: 2,
            ..named(&twins(&alone, kind), "two-writers")
        });
    }
    if kind.naming == Naming::Free
        && kind.birth == BirthProof::Marks
        && !kind.name.starts_with("aws/")
    {
        all.push(Scenario {
            writers: 2,
            ..bare_twins(&alone, kind)
        });
    }
    if kind.birth == BirthProof::Circumstantial && kind.naming == Naming::Free {
        all.push(lookalike(&alone, kind));
    }
    if kind
        .inner
        .iter()
        .any(|inner| inner.proof == InnerProof::OwnMark)
    {
        all.push(guest(&alone, kind));
    }
    if kind.name_finds_marks() {
        all.extend(taken_names(&alone, kind));
    }
    all.extend(special::scenarios(&alone, kind));
    if kind.birth == BirthProof::Circumstantial {
        all.push(Scenario {
            faults: Menu::of(&[
                Fault::CrashAfter,
                Fault::LoseAnswer,
                Fault::LateByOne,
                Fault::LateAtRestart,
                Fault::NoTime,
                Fault::LongTime,
                Fault::StrangerCreates,
            ]),
            lifted: Lifted {
                a1: true,
                ..Lifted::default()
            },
            expect: Expect::Reported,
            ..named(&alone, "a1-lifted")
        });
    }
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

/// The Kinds of scenarios, one a line.
pub(crate) fn kinds(scenarios: &[Scenario]) -> String {
    let kinds: BTreeSet<String> = scenarios.iter().map(|known| kind(&known.name)).collect();
    kinds.into_iter().collect::<Vec<_>>().join("\n")
}

pub(crate) fn slot_name(name: &str) -> SlotName {
    SlotName::new(name).expect("a legal slot name")
}

fn text(value: &str) -> Expr {
    Expr::Text(value.into())
}

pub(crate) fn identity(uuid: &str, cluster: &str, holder: &str, dialect: Dialect) -> Identity {
    Identity {
        claim: Claim::new("Cluster.kubermatic.k8c.io", "", cluster, uuid).expect("a legal claim"),
        holder: Holder::of_cluster(holder),
        taken_over: BTreeSet::new(),
        dialect,
    }
}

pub(crate) fn kkp() -> Dialect {
    Dialect::Kkp {
        cluster: CLUSTER.into(),
    }
}

/// One claim with one slot of this Kind, on a fresh account.
fn base(kind: &'static Kind) -> Scenario {
    let account = Account::new(Settings::default(), VirtualClock::new()).with_kinds(&[kind]);
    let vpc = account.default_vpc().map(|vpc| vpc.id.clone());
    let mut slot = Slot::own(slot_name("thing"), kind, "prod-thing");
    slot.source = Source::Own {
        if_missing: IfMissing::Create,
    };
    slot.cluster_mark = true;
    for rule in kind.props {
        let value = match rule.name {
            "vpc" => vpc.as_ref().map(ResourceId::as_str),
            "cidr" if kind.name == "aws/vpc" => Some("10.0.0.0/16"),
            "cidr" => Some("172.31.128.0/24"),
            "zone" => Some("zone-a"),
            "description" => Some("of the cluster prod"),
            "trust" => Some(r#"{"Statement":[]}"#),
            "size" => Some("3"),
            _ => None,
        };
        slot.props
            .extend(value.map(|value| (rule.name, text(value))));
    }
    for inner in kind.inner.iter().filter(|inner| !inner.single) {
        for key in inner_keys(inner.name) {
            let value = if inner.name == "inline-policy" {
                "{}"
            } else {
                ""
            };
            slot.inner.push(InnerWish {
                kind: inner.name,
                key: text(key),
                value: value.into(),
            });
        }
        slot.exclusive.push(inner.name);
    }
    let blueprint = Blueprint::new(vec![slot]).expect("a legal blueprint");
    Scenario {
        name: kind.name.to_owned(),
        account,
        ledger: Ledger::default(),
        identity: identity(UUID, CLUSTER, "management-a", kkp()),
        actor: Actor::Engine(0),
        blueprint,
        evidence: Evidence::default(),
        kinds: vec![kind],
        faults: MACHINERY,
        depth: 1,
        writers: 1,
        retains: false,
        status_refuses: false,
        intents_in_status: false,
        lifted: Lifted::default(),
        adopts: BTreeSet::new(),
        expect: Expect::Filled,
        must_report: false,
        blocker: None,
        long: Millis::seconds(120),
        logs: false,
    }
}

fn inner_keys(inner: &str) -> &'static [&'static str] {
    match inner {
        "rule" => &["ingress tcp 22-22 0.0.0.0/0", "ingress icmp all 0.0.0.0/0"],
        "inline-policy" => &["kubernetes-control-plane"],
        "attached-policy" => &["arn:aws:iam::aws:policy/ReadOnlyAccess"],
        _ => &[],
    }
}

/// The claim was restored under another management cluster: held there, or taken over here.
fn held(alone: &Scenario) -> [Scenario; 2] {
    let there = identity(UUID, CLUSTER, "management-b", kkp());
    let by = |actor| Scenario {
        identity: there.clone(),
        actor,
        ..alone.clone()
    };
    let (held, _) = run::prepare(&by(Actor::Engine(1)), &Freehold);
    let (taken, _) = run::prepare(&by(Actor::Engine(0)), &Freehold);
    let mut identity = alone.identity.clone();
    identity.taken_over.insert(there.holder.clone());
    let no_deletion = alone.faults.without(Fault::EndNow.bit());
    // An old backup: it has the finalizers, and none of what came after.
    let ledger = Ledger {
        pinned: true,
        ..Ledger::default()
    };
    [
        Scenario {
            account: held,
            ledger: ledger.clone(),
            expect: Expect::Held,
            faults: no_deletion,
            ..named(alone, "held")
        },
        Scenario {
            account: taken,
            ledger,
            identity,
            expect: Expect::Taken,
            ..named(alone, "taken-over")
        },
    ]
}

/// The slot's name is taken, by different people in different ways.
pub(crate) fn taken_names(alone: &Scenario, kind: &'static Kind) -> Vec<Scenario> {
    let planted = |tags: &Tags| {
        let mut account = alone.account.clone();
        let slot = &alone.blueprint.slots()[0];
        let props = ownership::blueprint::resolve_props(&slot.props, &|_| None).unwrap_or_default();
        let born = account
            .plant(Actor::Stranger, kind.name, &slot.label, &props, tags)
            .expect("the name is free");
        let target = Target::new(kind.name, born.id.clone());
        for inner in kind.inner.iter().filter(|inner| !inner.single) {
            let part = InnerPart {
                key: match inner.name {
                    "rule" => "ingress tcp 443-443 0.0.0.0/0".into(),
                    "attached-policy" => "arn:aws:iam::aws:policy/SecurityAudit".into(),
                    _ => "somebody-elses".into(),
                },
                value: if inner.name == "inline-policy" {
                    "{}".into()
                } else {
                    "".into()
                },
                tags: Tags::new(),
            };
            account
                .add_parts(Actor::Stranger, &target, inner.name, &[part])
                .expect("room for it");
        }
        (account, target)
    };
    let mut all = Vec::new();
    let used = |what: &str, tags: &Tags| Scenario {
        account: planted(tags).0,
        expect: Expect::Used,
        faults: alone.faults.without(Fault::LoseStatus.bit()),
        ..named(alone, what)
    };
    all.push(Scenario {
        depth: 2,
        ..used("name-used", &Tags::new())
    });
    all.push(Scenario {
        writers: 2,
        ..used("name-used-two-writers", &Tags::new())
    });
    let cluster_key: Text = format!("kubernetes.io/cluster/{CLUSTER}").into();
    all.push(used(
        "cluster-mark-there",
        &[(cluster_key.clone(), "".into())].into_iter().collect(),
    ));
    all.push(used(
        "cluster-key-there",
        &[(cluster_key, "shared".into())].into_iter().collect(),
    ));

    let strict = Dialect::PowerVs {
        cluster: CLUSTER.into(),
        uuid: UUID.into(),
    };
    let conflict = |what: &str, account: Account| Scenario {
        account,
        expect: Expect::Conflict,
        ..named(alone, what)
    };
    all.push(Scenario {
        identity: identity(UUID, CLUSTER, "management-a", strict),
        ..conflict("name-taken", planted(&Tags::new()).0)
    });
    let namesake = Scenario {
        identity: identity(OTHER_UUID, CLUSTER, "management-a", kkp()),
        actor: Actor::Engine(1),
        ..alone.clone()
    };
    all.push(conflict("namesake", run::prepare(&namesake, &Freehold).0));
    let legacy_tags = kkp().ownership(kind.carrier, None).expect("legal tags");
    all.push(conflict("legacy", planted(&legacy_tags).0));

    let (account, target) = planted(&legacy_tags);
    let evidence = Evidence {
        adopt: BTreeSet::from([slot_name("thing")]),
        ..Evidence::default()
    };
    if kind.marking == Marking::Mutable {
        all.push(Scenario {
            account,
            evidence,
            adopts: BTreeSet::from([target]),
            expect: Expect::Adopted,
            ..named(alone, "legacy-with-evidence")
        });
    }
    all.extend(wrong_ids(alone, kind, planted(&Tags::new())));
    all
}

/// The recorded id is wrong: ours but dead, ours but somebody else's resource, or the user's wish.
fn wrong_ids(alone: &Scenario, kind: &'static Kind, planted: (Account, Target)) -> Vec<Scenario> {
    let recorded = |id: &ResourceId, ours: bool| {
        let mut ledger = Ledger {
            pinned: true,
            ..Ledger::default()
        };
        ledger.ids.insert(slot_name("thing"), id.clone());
        if ours {
            let known = Known {
                slot: slot_name("thing"),
                origin: Origin::Created,
            };
            let target = Target::new(kind.name, id.clone());
            ledger.known.insert(target, known);
        }
        ledger
    };
    let dead = ResourceId::new("dead-0123456789");
    let faults = alone.faults.without(Fault::LoseStatus.bit());
    vec![
        Scenario {
            ledger: recorded(&dead, true),
            faults,
            ..named(alone, "recorded-id-dead")
        },
        Scenario {
            ledger: recorded(&dead, false),
            faults,
            ..named(alone, "wish-dead")
        },
        Scenario {
            ledger: recorded(&planted.1.id, false),
            account: planted.0,
            expect: Expect::Used,
            faults,
            ..named(alone, "wish")
        },
    ]
}

/// Twins that nothing depends on, the younger one recorded: who has lost the status keeps the other.
fn bare_twins(alone: &Scenario, kind: &'static Kind) -> Scenario {
    let mut scenario = twins(alone, kind);
    scenario.name = format!("{}/bare-twins", alone.name);
    let slot = slot_name("thing");
    let child = scenario
        .blueprint
        .slots()
        .iter()
        .find(|slot| slot.name.as_str() == "child")
        .cloned();
    if let Some(child) = child {
        let made = scenario
            .account
            .alive(child.kind.name)
            .find(|r| r.name == child.label)
            .cloned();
        if let Some(made) = made {
            let target = Target::new(child.kind.name, made.id.clone());
            scenario
                .account
                .delete(Actor::Engine(0), &target)
                .expect("nothing depends on it");
        }
    }
    scenario.blueprint = alone.blueprint.clone();
    let younger = scenario
        .ledger
        .known
        .keys()
        .find(|target| scenario.ledger.ids.get(&slot) != Some(&target.id));
    if let Some(target) = younger.cloned() {
        scenario.ledger.ids.insert(slot, target.id);
    }
    scenario
}

/// Somebody else's resource looks just like ours, and was there before.
fn lookalike(alone: &Scenario, kind: &'static Kind) -> Scenario {
    let mut scenario = named(alone, "lookalike-before");
    let slot = &scenario.blueprint.slots()[0];
    let props = ownership::blueprint::resolve_props(&slot.props, &|_| None).unwrap_or_default();
    let label = slot.label.clone();
    scenario
        .account
        .plant(Actor::Stranger, kind.name, &label, &props, &Tags::new())
        .expect("names are free");
    scenario
}

/// Another claim uses our resource and has put a part of its own inside.
fn guest(alone: &Scenario, kind: &'static Kind) -> Scenario {
    let (mut account, ledger) = run::prepare(alone, &Freehold);
    let there = identity(
        OTHER_UUID,
        "guest",
        "management-a",
        Dialect::Kkp {
            cluster: "guest".into(),
        },
    );
    let mark = OwnershipMark {
        claim: there.claim.hash().clone(),
        slot: slot_name("thing"),
        attempt: 0,
        holder: there.holder.clone(),
    };
    let part = InnerPart {
        key: "ingress tcp 443-443 0.0.0.0/0".into(),
        value: "".into(),
        tags: mark.encode(kind.carrier).into_iter().collect(),
    };
    let id = ledger.ids[&slot_name("thing")].clone();
    account
        .add_parts(
            Actor::Engine(1),
            &Target::new(kind.name, id),
            "rule",
            &[part],
        )
        .expect("room for it");
    Scenario {
        account,
        ledger,
        expect: Expect::Reported,
        ..named(alone, "guest")
    }
}

/// Two resources of ours fill one slot. The recorded one has nothing that depends on it; the other
/// one has.
pub(crate) fn twins(alone: &Scenario, kind: &'static Kind) -> Scenario {
    let mut scenario = named(alone, "twins");
    let slot = scenario.blueprint.slots()[0].clone();
    let props = ownership::blueprint::resolve_props(&slot.props, &|_| None).unwrap_or_default();
    let mut make = |slot: &Slot, attempt, props: &Props| {
        let tags = scenario
            .identity
            .ownership_tags(slot.kind, slot, attempt)
            .expect("legal tags");
        let cluster = scenario
            .identity
            .dialect
            .cluster(slot.kind.carrier)
            .expect("legal tags");
        let step = Step::Create(Create {
            slot: slot.name.clone(),
            kind: slot.kind,
            attempt,
            name: slot.label.clone(),
            props: props.clone(),
            tags: tags.into_iter().chain(cluster.iter().cloned()).collect(),
            token: slot
                .kind
                .token
                .map(|_| name::client_token(&scenario.identity.claim, &slot.name, attempt)),
        });
        let effect = scenario
            .account
            .perform(Actor::Engine(0), &step)
            .expect("room for it");
        effect.born.expect("a create makes something").id.clone()
    };
    let mut second_props = props.clone();
    if kind.name == "aws/vpc" || kind.name == "aws/subnet" {
        second_props.set(
            "cidr",
            if kind.name == "aws/vpc" {
                "10.1.0.0/16".into()
            } else {
                "172.31.129.0/24".into()
            },
        );
    }
    let first = make(&slot, 1, &props);
    let second = make(&slot, 2, &second_props);
    let has_parent = kind.props.iter().any(|rule| rule.name == "parent");
    let mut slots = vec![slot.clone()];
    if has_parent {
        let mut child = Slot::own(slot_name("child"), kind, "prod-child");
        child.props = vec![("parent", Expr::Slot(slot.name.clone()))];
        child.cluster_mark = true;
        make(
            &child,
            1,
            &[("parent", second.text())].into_iter().collect(),
        );
        slots.push(child);
    }
    scenario.blueprint = Blueprint::new(slots).expect("a legal blueprint");
    scenario.ledger = Ledger {
        pinned: true,
        ..Ledger::default()
    };
    scenario.ledger.ids.insert(slot.name.clone(), first.clone());
    scenario.ledger.attempts.insert(slot.name.clone(), 2);
    for id in [first, second] {
        let known = Known::new(&slot, Origin::Created);
        scenario
            .ledger
            .known
            .insert(Target::new(kind.name, id), known);
    }
    scenario
}
