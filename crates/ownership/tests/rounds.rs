//! Rounds: what slots need that do not depend on each other is done at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use ownership::blueprint::Expr;
use ownership::decide::{Call, Entry, Evidence, Halt, Op};
use ownership::kind::{BirthProof, Change, CreateMode, Ids, Marking, Naming, PropRule};
use ownership::life::{Course, Life};
use ownership::mark::{Carrier, Dialect};
use ownership::part::Resource;
use ownership::step::{Create, Effect};
use ownership::time::{Millis, Tick};
use ownership::{
    Answer, Blueprint, Case, Claim, Class, CloudError, Decision, Edit, Freehold, Holder, Identity,
    Kind, KindAt, Ledger, Phase, Reason, ResourceId, Sightings, Slot, SlotName, Step, View, decide,
};

static DISK: Kind = Kind {
    name: "test/disk",
    noun: "disk",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: None,
    create: CreateMode::Insert,
    recorded: true,
    marking: Marking::Mutable,
    tags_together: true,
    naming: Naming::Account,
    names: ownership::name::NameRule::longest(255),
    ids: Ids::Unique,
    has_creation_time: true,
    lists_marks: true,
    valuable: false,
    settling: Millis::seconds(15),
    course: Course::PLAIN,
    props: &[PropRule {
        name: "parent",
        change: Change::Never,
    }],
    inner: &[],
};

fn named(name: &str) -> SlotName {
    SlotName::new(name).expect("a legal slot name")
}

fn slot(name: &str, label: &str, parent: Option<&str>) -> Slot {
    let parent = parent.map(|parent| ("parent", Expr::Slot(named(parent))));
    Slot {
        props: parent.into_iter().collect(),
        ..Slot::own(named(name), &DISK, label)
    }
}

fn identity() -> Identity {
    let uuid = "8f4e2f6a-3c1b-4e0e-9a53-0d2f8c6b7a11";
    Identity {
        claim: Claim::new("Cluster.test", "", "prod", uuid).expect("a legal claim"),
        holder: Holder::of_cluster("here"),
        taken_over: BTreeMap::new(),
        dialect: Dialect::Kkp {
            cluster: "prod".into(),
        },
    }
}

/// A pass over an empty cloud.
struct Pass {
    blueprint: Blueprint,
    ledger: Ledger,
    view: View,
    sightings: Sightings,
    now: Tick,
}

impl Pass {
    fn new(slots: Vec<Slot>) -> Self {
        Self {
            blueprint: Blueprint::new(slots).expect("a legal blueprint"),
            ledger: Ledger {
                pinned: true,
                ..Ledger::default()
            },
            view: View::new(),
            sightings: Sightings::new(),
            now: Tick(1_000_000),
        }
    }

    fn ask(&mut self) -> Decision {
        let identity = identity();
        let case = Case {
            identity: &identity,
            blueprint: &self.blueprint,
            evidence: &Evidence::default(),
            kinds: &KindAt::home(&[&DISK]),
            phase: Phase::Live,
        };
        let (ledger, view) = (&self.ledger, &self.view);
        decide(
            &Freehold,
            &case,
            ledger,
            view,
            &mut self.sightings,
            self.now,
        )
        .decision
    }

    /// What is needed when every question has been answered with nothing.
    fn after_looking(&mut self) -> Decision {
        loop {
            let decision = self.ask();
            let Decision::Call(calls) = &decision else {
                return decision;
            };
            for call in calls {
                let Op::Read(query) = &call.op else {
                    return decision;
                };
                self.view.learn(query.clone(), Answer::default(), self.now);
            }
        }
    }

    /// The entries that are needed next; they are written.
    fn entries(&mut self) -> Vec<Entry> {
        let entries = match self.after_looking() {
            Decision::Write(entries) => Some(entries),
            _ => None,
        };
        let entries = entries.expect("a write is needed");
        for Entry { edits, reason } in &entries {
            for edit in edits {
                self.ledger.apply(edit);
            }
            self.view.wrote(edits, self.now, reason);
        }
        entries
    }

    /// The slots for which something is created next.
    fn creates(&mut self) -> Vec<Create> {
        let calls = match self.after_looking() {
            Decision::Call(calls) => Some(calls),
            _ => None,
        };
        let create = |Call { op, .. }| match op {
            Op::Perform(Step::Create(create)) => Some(create),
            _ => None,
        };
        let creates = calls.map(|calls| calls.into_iter().map(create).collect());
        creates.flatten().expect("creates are needed")
    }

    fn made(&mut self, create: &Create) {
        let born = Resource {
            kind: create.kind,
            id: ResourceId::new(format!("res-{}", create.slot)),
            unique: None,
            name: create.name.clone(),
            tags: create.tags.clone(),
            props: create.props.clone(),
            created: None,
            life: Life::Ready,
            place: create.place.clone(),
        };
        let effect = Effect {
            born: Some(Arc::new(born)),
            ..Effect::default()
        };
        let step = Step::Create(create.clone());
        self.view.performed(&step, effect, self.now);
    }
}

fn slots(creates: &[Create]) -> Vec<&str> {
    creates.iter().map(|it| it.slot.as_str()).collect()
}

fn announced(entries: &[Entry]) -> Vec<&str> {
    let edits = entries.iter().flat_map(|entry| &entry.edits);
    let opened = edits.filter_map(|edit| match edit {
        Edit::OpenIntent { slot, .. } => Some(slot.as_str()),
        _ => None,
    });
    opened.collect()
}

fn lost() -> CloudError {
    CloudError::new(Class::Unknown, "RequestTimeout", "no answer came")
}

#[test]
fn one_write_announces_what_is_then_sent_at_once() {
    let mut pass = Pass::new(vec![
        slot("first", "one", None),
        slot("inside", "two", Some("first")),
        slot("second", "three", None),
    ]);
    assert_eq!(announced(&pass.entries()), ["first", "second"]);
    let creates = pass.creates();
    assert_eq!(slots(&creates), ["first", "second"]);
    for create in &creates {
        pass.made(create);
    }
    // Both are recorded before anything else begins; then what needs the first goes on.
    let recorded = pass.entries();
    assert_eq!(recorded.len(), 2, "{recorded:?}");
    assert_eq!(announced(&pass.entries()), ["inside"]);
}

#[test]
fn slots_of_one_unique_name_take_turns() {
    let mut pass = Pass::new(vec![
        slot("first", "same", None),
        slot("second", "same", None),
        slot("third", "another", None),
    ]);
    assert_eq!(announced(&pass.entries()), ["first", "third"]);
    assert_eq!(slots(&pass.creates()), ["first", "third"]);
}

#[test]
fn a_pass_that_has_failed_records_what_its_other_calls_made_and_begins_nothing() {
    let mut pass = Pass::new(vec![
        slot("first", "one", None),
        slot("inside", "two", Some("first")),
        slot("second", "three", None),
    ]);
    pass.entries();
    let creates = pass.creates();
    pass.made(&creates[0]);
    pass.view.fail(lost());
    let entries = pass.entries();
    let reasons: Vec<&Reason> = entries.iter().map(|entry| &entry.reason).collect();
    assert_eq!(reasons, [&Reason::RecordNew(named("first"))]);
    assert_eq!(pass.ask(), Decision::Halt(Halt::Failed(lost())));
}

#[test]
fn after_a_refused_write_each_entry_goes_by_itself_and_what_was_made_first() {
    let mut pass = Pass::new(vec![
        slot("first", "one", None),
        slot("inside", "two", Some("first")),
        slot("second", "three", None),
    ]);
    pass.entries();
    let creates = pass.creates();
    for create in &creates {
        pass.made(create);
    }
    pass.view.write_singly();
    let whys: Vec<Vec<Entry>> = (0..3).map(|_| pass.entries()).collect();
    let whys: Vec<Reason> = whys.into_iter().flatten().map(|it| it.reason).collect();
    let expected = [
        Reason::RecordNew(named("first")),
        Reason::RecordNew(named("second")),
        Reason::NothingFound(named("inside")),
    ];
    assert_eq!(whys, expected);
}

#[test]
fn at_most_twenty_slots_get_something_at_once() {
    let slots = (0..45).map(|nth| slot(&format!("disk-{nth}"), &format!("{nth}"), None));
    let mut pass = Pass::new(slots.collect());
    assert_eq!(announced(&pass.entries()).len(), 20);
    assert_eq!(pass.creates().len(), 20);
}
