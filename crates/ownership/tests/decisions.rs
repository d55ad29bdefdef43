//! Whatever is in the cloud and whatever the ledger claims: no decision deletes or changes what is
//! not proved to be ours, the same question has the same answer, and rest stays rest.
//!
//! A small world answers the engine's questions. It knows whose each resource really is, which the
//! engine must find out; the ledger it starts with may lie.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ownership::blueprint::{Expr, InnerWish};
use ownership::decide::{Entry, Evidence, Op};
use ownership::kind::{
    BirthProof, Change, CreateMode, Ids, InnerKind, InnerProof, Marking, Naming, PropRule,
};
use ownership::ledger::{Intent, Known, Origin, TraceOf};
use ownership::life::Course;
use ownership::life::Life;
use ownership::mark::{Carrier, Dialect, OwnershipMark, Tags};
use ownership::part::{InnerPart, Props, Resource};
use ownership::place::{KindAt, Place};
use ownership::query::InnerAnswer;
use ownership::secret::Digests;
use ownership::step::{Effect, MarkRight, UnmarkRight};
use ownership::time::{CloudTime, Millis, Tick};
use ownership::{
    Answer, Blueprint, Case, Claim, Decision, Freehold, Holder, Identity, Kind, Ledger, Phase,
    Query, ResourceId, Sightings, Slot, SlotName, Step, Target, View, decide,
};
use proptest::prelude::*;

static GROUP: Kind = Kind {
    name: "test/group",
    noun: "group",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: None,
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    tags_together: true,
    naming: Naming::Account,
    names: ownership::name::NameRule::longest(255),
    ids: Ids::Unique,
    has_creation_time: false,
    lists_marks: true,
    recorded: true,
    valuable: false,
    settling: Millis::seconds(10),
    course: Course::PLAIN,
    props: &[PropRule {
        name: "size",
        change: Change::InPlace,
    }],
    inner: &[InnerKind {
        name: "rule",
        noun: "rule",
        proof: InnerProof::OwnMark,
        create: CreateMode::Insert,
        blocks_deletion: false,
        batch: true,
        single: false,
        comes_along: &[],
        born_with: None,
        is_listed: true,
    }],
};

static DISK: Kind = Kind {
    name: "test/disk",
    noun: "disk",
    naming: Naming::Free,
    names: ownership::name::NameRule::longest(255),
    ids: Ids::Unique,
    birth: BirthProof::Token,
    token: Some(Millis::seconds(86_400)),
    props: &[
        PropRule {
            name: "group",
            change: Change::Never,
        },
        PropRule {
            name: "size",
            change: Change::InPlace,
        },
    ],
    inner: &[],
    ..GROUP
};

const UUID: &str = "8f4e2f6a-3c1b-4e0e-9a53-0d2f8c6b7a11";
const OTHER: &str = "0c9d7a52-6b1f-4f7e-8a4d-5e2b1c3d4f60";

/// Whose a generated resource really is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Ours,
    /// Ours, but in the hands of another management cluster.
    HeldElsewhere,
    AnotherClaims,
    /// It carries our mark and another claim's.
    Disputed,
    /// The original's mark with our name, and none of Freehold's.
    Legacy,
    Nobodys,
}

#[derive(Clone, Debug)]
struct Thing {
    resource: Resource,
    whose: Whose,
    rules: Vec<InnerPart>,
}

/// What a case starts with.
#[derive(Clone, Debug)]
struct Start {
    things: Vec<Thing>,
    ledger: Ledger,
    adopt: BTreeSet<SlotName>,
    phase: Phase,
}

fn slot_name(name: &str) -> SlotName {
    SlotName::new(name).expect("a legal slot name")
}

fn claim(uuid: &str) -> Claim {
    Claim::new("Cluster.test", "", "prod", uuid).expect("a legal claim")
}

fn identity() -> Identity {
    Identity {
        claim: claim(UUID),
        holder: Holder::of_cluster("here"),
        taken_over: BTreeMap::new(),
        dialect: Dialect::Kkp {
            cluster: "prod".into(),
        },
    }
}

fn blueprint() -> Blueprint {
    let rule = InnerWish {
        kind: "rule",
        key: Expr::Text("tcp 22".into()),
        value: "".into(),
    };
    let group = Slot {
        props: vec![("size", Expr::Text("3".into()))],
        inner: vec![rule],
        cluster_mark: true,
        ..Slot::own(slot_name("group"), &GROUP, "prod-group")
    };
    let disk = Slot {
        props: vec![
            ("group", Expr::Slot(slot_name("group"))),
            ("size", Expr::Text("3".into())),
        ],
        ..Slot::own(slot_name("disk"), &DISK, "prod-disk")
    };
    Blueprint::new(vec![group, disk]).expect("a blueprint")
}

fn marks(whose: Whose, slot: &str, attempt: u32) -> Tags {
    let mark = |uuid: &str, holder: &str| {
        let mark = OwnershipMark {
            claim: claim(uuid).hash().clone(),
            slot: slot_name(slot),
            attempt,
            holder: Holder::of_cluster(holder),
            generation: 0,
        };
        mark.encode(Carrier::AwsTags).expect("a mark fits a tag")
    };
    let legacy = || identity().dialect.ownership(Carrier::AwsTags, None);
    let mut tags = Tags::new();
    let mut put = |(key, value)| tags.set(key, value);
    match whose {
        Whose::Ours => put(mark(UUID, "here")),
        Whose::HeldElsewhere => put(mark(UUID, "there")),
        Whose::AnotherClaims => put(mark(OTHER, "here")),
        Whose::Disputed => {
            put(mark(UUID, "here"));
            put(mark(OTHER, "here"));
        }
        Whose::Legacy | Whose::Nobodys => {}
    }
    if matches!(whose, Whose::Ours | Whose::HeldElsewhere | Whose::Legacy) {
        for (key, value) in legacy().expect("the dialect fits a tag").iter() {
            put((key.clone(), value.clone()));
        }
    }
    tags
}

fn thing(at: usize) -> impl Strategy<Value = Thing> {
    let whose = prop_oneof![
        Just(Whose::Ours),
        Just(Whose::HeldElsewhere),
        Just(Whose::AnotherClaims),
        Just(Whose::Disputed),
        Just(Whose::Legacy),
        Just(Whose::Nobodys),
    ];
    let rules = prop::collection::vec(
        prop::sample::select(vec!["tcp 22", "tcp 80", "udp 53"]),
        0..3,
    );
    (whose, any::<bool>(), 1..3_u32, 2..5_u32, rules).prop_map(
        move |(whose, is_group, attempt, size, rules)| {
            let kind = if is_group { &GROUP } else { &DISK };
            let slot = if is_group { "group" } else { "disk" };
            let mut props = Props::new();
            props.set("size", size.to_string().into());
            let resource = Resource {
                place: Place::HOME,
                kind,
                id: ResourceId::new(format!("res-{at}")),
                unique: None,
                name: format!("prod-{slot}").into(),
                tags: marks(whose, slot, attempt),
                props,
                created: None,
                life: Life::Ready,
            };
            let keys: BTreeSet<&str> = rules.into_iter().collect();
            let rule = |key: &str| InnerPart::new(key, "", Tags::new());
            let rules = keys.into_iter().map(rule).collect();
            Thing {
                resource,
                whose,
                rules,
            }
        },
    )
}

/// A ledger that may be right, outdated or wrong about every resource.
fn ledger(count: usize) -> impl Strategy<Value = Ledger> {
    let ids = prop::collection::vec((0..count + 1, any::<bool>(), 0..4_u8), 0..4);
    (any::<bool>(), ids, any::<Option<bool>>()).prop_map(|(pinned, ids, intent)| {
        let mut ledger = Ledger {
            pinned,
            ..Ledger::default()
        };
        for (at, is_group, how) in ids {
            let (kind, slot) = if is_group {
                (&GROUP, slot_name("group"))
            } else {
                (&DISK, slot_name("disk"))
            };
            let target = Target::new(kind, ResourceId::new(format!("res-{at}")));
            let origin = match how {
                0 => Origin::Found,
                1 => Origin::Adopted,
                _ => Origin::Created,
            };
            let known = Known {
                slot: slot.clone(),
                origin,
                unique: None,
                wrote: None,
                tags: BTreeSet::new(),
            };
            ledger.known.insert(target.clone(), known);
            if how == 3 {
                ledger.condemned.insert(target);
            } else {
                ledger.ids.insert(slot, target.id);
            }
        }
        if let Some(is_group) = intent {
            let (kind, slot) = if is_group {
                (&GROUP, "group")
            } else {
                (&DISK, "disk")
            };
            let mut props = Props::new();
            props.set("size", "3".into());
            let intent = Intent {
                place: Place::HOME,
                kind,
                attempt: 3,
                sends: 1,
                name: format!("prod-{slot}").into(),
                props,
                secrets: Digests::new(),
                before: None,
                adopts: None,
                operation: None,
            };
            ledger.attempts.insert(slot_name(slot), 3);
            ledger.intents.insert(slot_name(slot), intent);
        }
        ledger
    })
}

fn start() -> impl Strategy<Value = Start> {
    let phase = prop_oneof![
        3 => Just(Phase::Live),
        2 => Just(Phase::Ending),
        1 => Just(Phase::Retaining)
    ];
    let things = (0..5_usize).prop_flat_map(|count| {
        let things: Vec<_> = (0..count).map(thing).collect();
        (things, ledger(count))
    });
    (things, phase, any::<[bool; 2]>()).prop_map(|((mut things, ledger), phase, adopt)| {
        // Names are unique, as the Kind says: of several groups only the first has the name, and
        // only that can be ours.
        let groups = things
            .iter_mut()
            .filter(|thing| thing.resource.kind == &GROUP);
        for thing in groups.skip(1) {
            thing.resource.name = format!("other-{}", thing.resource.id).into();
            thing.whose = Whose::AnotherClaims;
            thing.resource.tags = marks(thing.whose, "group", 1);
        }
        let adopt = ["group", "disk"]
            .into_iter()
            .zip(adopt)
            .filter(|(_, yes)| *yes)
            .map(|(slot, _)| slot_name(slot))
            .collect();
        Start {
            things,
            ledger,
            adopt,
            phase,
        }
    })
}

/// The cloud and the object, and the judge of every Step.
struct World {
    things: BTreeMap<Target, Thing>,
    ledger: Ledger,
    tokens: BTreeMap<String, Target>,
    created: BTreeSet<Target>,
    adopted: BTreeSet<Target>,
    adopt: BTreeSet<SlotName>,
    writes: usize,
}

impl World {
    fn answer(&self, query: &Query) -> Answer {
        let mut answer = Answer {
            date: CloudTime(0),
            ..Answer::default()
        };
        if let Query::Inner { of, inner } = query {
            let parts = self.things.get(of).map(|thing| thing.rules.clone());
            answer.inner.push(InnerAnswer {
                of: of.clone(),
                inner,
                parts: parts.unwrap_or_default(),
            });
            return answer;
        }
        let asked = |resource: &Resource| match query {
            Query::Id(target) => resource.kind == target.kind && resource.id == target.id,
            Query::Name { kind, name, .. } => resource.kind == *kind && resource.name == *name,
            Query::Marks { kind, keys, .. } => {
                resource.kind == *kind && keys.iter().any(|key| resource.tags.get(key).is_some())
            }
            Query::Match {
                kind, name, props, ..
            } => resource.kind == *kind && resource.name == *name && resource.props.include(props),
            Query::Inner { .. } | Query::Operation { .. } => false,
        };
        answer.resources = self
            .things
            .values()
            .filter(|thing| asked(&thing.resource))
            .map(|thing| Arc::new(thing.resource.clone()))
            .collect();
        answer
    }

    /// Whether we may delete or change it: the truth, not what marks say.
    fn is_ours(&self, target: &Target) -> bool {
        self.created.contains(target)
            || self.adopted.contains(target)
            || self
                .things
                .get(target)
                .is_some_and(|thing| thing.whose == Whose::Ours)
    }

    /// Performs a Step, or says which law it breaks.
    fn perform(&mut self, step: &Step) -> Result<Option<Arc<Resource>>, String> {
        self.writes += 1;
        let stolen = |what: &Target| Err(format!("{} on {what}, which is not ours", step.verb()));
        match step {
            Step::Create(create) => {
                let token = create.token.map(|token| token.to_string());
                if let Some(target) = token.as_ref().and_then(|token| self.tokens.get(token)) {
                    return Ok(self
                        .things
                        .get(target)
                        .map(|t| Arc::new(t.resource.clone())));
                }
                let id = ResourceId::new(format!("new-{}", self.writes));
                let target = Target::new(create.kind, id.clone());
                let resource = Resource {
                    place: Place::HOME,
                    kind: create.kind,
                    id,
                    unique: None,
                    name: create.name.clone(),
                    tags: create.tags.clone(),
                    props: create.props.clone(),
                    created: None,
                    life: Life::Ready,
                };
                let thing = Thing {
                    resource: resource.clone(),
                    whose: Whose::Ours,
                    rules: Vec::new(),
                };
                if let Some(token) = token {
                    self.tokens.insert(token, target.clone());
                }
                self.created.insert(target.clone());
                self.things.insert(target, thing);
                return Ok(Some(Arc::new(resource)));
            }
            Step::Delete(_) | Step::Update(_) if !self.is_ours(&step.targets()[0]) => {
                return stolen(&step.targets()[0]);
            }
            Step::Delete(deletion) => {
                self.things.remove(deletion.target());
            }
            Step::MarkInner(_) | Step::UnmarkInner(_) => {
                return Err("no claim shares anything here".to_owned());
            }
            Step::Update(update) => {
                if let Some(thing) = self.things.get_mut(update.owned().target()) {
                    for (name, value) in update.props().iter() {
                        thing.resource.props.set(name, value.clone());
                    }
                }
            }
            Step::Mark {
                targets,
                tags,
                right,
            } => {
                for target in targets {
                    let (ours, adopts) = (self.is_ours(target), self.may_adopt(target));
                    let Some(thing) = self.things.get_mut(target) else {
                        continue;
                    };
                    let new = tags
                        .iter()
                        .all(|(key, _)| thing.resource.tags.get(key).is_none());
                    match right {
                        MarkRight::Repair(_) if ours => {}
                        MarkRight::Birth if ours => {}
                        MarkRight::Birth if adopts => {
                            self.adopted.insert(target.clone());
                        }
                        MarkRight::Trace if new => {}
                        _ => return stolen(target),
                    }
                    for (key, value) in tags {
                        thing.resource.tags.set(key.clone(), value.clone());
                    }
                }
            }
            Step::Unmark {
                targets,
                tags,
                right,
            } => {
                for target in targets {
                    let traced = tags.iter().all(|(key, value)| {
                        let (key, value) = (key.clone(), value.clone());
                        let on = target.clone();
                        let what = TraceOf::Tag { key, value };
                        self.ledger
                            .traces
                            .contains_key(&ownership::ledger::Trace { on, what })
                    });
                    match right {
                        UnmarkRight::Retain(_) if self.is_ours(target) => {}
                        UnmarkRight::Trace if traced => {}
                        _ => return stolen(target),
                    }
                    if let Some(thing) = self.things.get_mut(target) {
                        for (key, value) in tags {
                            thing.resource.tags.remove(key, value);
                        }
                    }
                }
            }
            Step::AddInner { target, parts, .. } => {
                if let Some(thing) = self.things.get_mut(target) {
                    let there =
                        |part: &InnerPart| thing.rules.iter().any(|old| old.key == part.key);
                    if parts.iter().any(there) {
                        return Err(format!("adds a rule to {target} that is there"));
                    }
                    thing.rules.extend(parts.iter().cloned());
                }
            }
            Step::RemoveInner(removal) => {
                let (target, parts) = (removal.target(), removal.parts());
                let ours = self.is_ours(target);
                let key = identity().key(&GROUP);
                if !ours && parts.iter().any(|part| part.tags.get(&key).is_none()) {
                    return stolen(target);
                }
                if let Some(thing) = self.things.get_mut(target) {
                    thing
                        .rules
                        .retain(|old| !parts.iter().any(|part| part.key == old.key));
                }
            }
        }
        Ok(None)
    }

    /// Evidence of the user's, or our own record of having made it, allows to mark what has no mark
    /// of Freehold's.
    fn may_adopt(&self, target: &Target) -> bool {
        let slot = slot_name(if target.kind == &GROUP {
            "group"
        } else {
            "disk"
        });
        let known = self.ledger.known.get(target);
        let evidence =
            self.adopt.contains(&slot) || known.is_some_and(|known| known.origin != Origin::Found);
        let whose = self.things.get(target).map(|thing| thing.whose);
        evidence && matches!(whose, Some(Whose::Legacy | Whose::Nobodys))
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Rest,
    Done,
}

/// Asks until the claim rests or has ended; every question is asked twice.
fn run(world: &mut World, phase: Phase, now: &mut Tick) -> Result<End, TestCaseError> {
    let (identity, blueprint) = (identity(), blueprint());
    let evidence = Evidence {
        adopt: world.adopt.clone(),
        ..Evidence::default()
    };
    let case = Case {
        identity: &identity,
        blueprint: &blueprint,
        evidence: &evidence,
        kinds: &KindAt::home(&[&GROUP, &DISK]),
        phase,
    };
    let mut sightings = Sightings::new();
    for _pass in 0..40 {
        let mut view = View::new();
        for _question in 0..200 {
            let mut again = sightings.clone();
            let decided = decide(&Freehold, &case, &world.ledger, &view, &mut sightings, *now);
            let same = decide(&Freehold, &case, &world.ledger, &view, &mut again, *now);
            prop_assert_eq!(&decided.decision, &same.decision);
            prop_assert_eq!(&decided.findings, &same.findings);
            *now = *now + Millis(1);
            match decided.decision {
                Decision::Write(entries) => {
                    world.writes += 1;
                    for Entry { edits, reason } in &entries {
                        for edit in edits {
                            world.ledger.apply(edit);
                        }
                        view.wrote(edits, *now, reason);
                    }
                }
                Decision::Call(calls) => {
                    prop_assert!(!calls.is_empty(), "a round of nothing");
                    for call in calls {
                        match call.op {
                            Op::Read(query) => {
                                let answer = world.answer(&query);
                                view.learn(query, answer, *now);
                            }
                            Op::Perform(step) => {
                                let born = world.perform(&step).map_err(TestCaseError::fail)?;
                                let effect = Effect {
                                    born,
                                    ..Effect::default()
                                };
                                view.performed(&step, effect, *now);
                            }
                        }
                    }
                }
                Decision::Wait(until) => {
                    prop_assert!(until >= *now || until + Millis(1) >= *now);
                    *now = until.max(*now);
                    break;
                }
                Decision::Rest(None) => return Ok(End::Rest),
                Decision::Rest(Some(until)) => {
                    *now = until.max(*now);
                    break;
                }
                Decision::EndTurn(slot, error) => view.end_turn(slot, error),
                Decision::Done => return Ok(End::Done),
                Decision::Halt(halt) => return Err(TestCaseError::fail(format!("{halt:?}"))),
            }
        }
    }
    Err(TestCaseError::fail("it does not come to rest"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn no_decision_touches_what_is_not_proved_ours(start in start()) {
        let things: BTreeMap<Target, Thing> = start
            .things
            .iter()
            .map(|thing| (Target::new(thing.resource.kind, thing.resource.id.clone()), thing.clone()))
            .collect();
        let mut world = World {
            things: things.clone(),
            ledger: start.ledger.clone(),
            tokens: BTreeMap::new(),
            created: BTreeSet::new(),
            adopted: BTreeSet::new(),
            adopt: start.adopt.clone(),
            writes: 0,
        };
        let mut now = Tick(1_000_000);
        let end = run(&mut world, start.phase, &mut now)?;
        for (target, before) in &things {
            if before.whose == Whose::Ours || world.adopted.contains(target) {
                continue;
            }
            let after = world.things.get(target);
            prop_assert!(after.is_some(), "{} was deleted", target);
            let after = after.expect("just checked");
            prop_assert_eq!(&after.resource.props, &before.resource.props);
            for (key, value) in before.resource.tags.iter() {
                prop_assert!(after.resource.tags.has(key, value), "{} lost {}", target, key);
            }
            for rule in &before.rules {
                prop_assert!(after.rules.contains(rule), "{} lost a rule", target);
            }
        }
        if end == End::Done && start.phase == Phase::Ending && start.ledger.pinned {
            let left = world.things.iter().find(|(target, _)| world.is_ours(target));
            prop_assert!(left.is_none(), "{:?} is left", left);
        }
        // Rest is silent: the same world asked again, by a process that remembers nothing.
        if end == End::Rest {
            world.writes = 0;
            let again = run(&mut world, start.phase, &mut now)?;
            prop_assert_eq!(again, End::Rest);
            prop_assert_eq!(world.writes, 0);
        }
    }
}
