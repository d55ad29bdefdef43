//! A secret goes through everything that is printed or stored, and shows nowhere but in the cloud's
//! request.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cloud_port::driver::{Driver, Journal, LedgerError, LedgerStore, PassEnd, Term};
use cloud_port::{Cloud, Deadline, Effect, words};
use cloud_sim::{Account, Actor, Settings, SharedAccount, VirtualClock};
use futures_util::FutureExt as _;
use ownership::decide::{Case, Evidence, Phase};
use ownership::kind::{BirthProof, Change, CreateMode, Ids, Kind, Marking, Naming, PropRule};
use ownership::ledger::Edit;
use ownership::life::Course;
use ownership::mark::{Carrier, Dialect};
use ownership::name::NameRule;
use ownership::secret::Secrets;
use ownership::step::Create;
use ownership::time::Millis;
use ownership::{
    Answer, Blueprint, Claim, Class, CloudError, Freehold, Holder, Identity, KindAt, Ledger, Place,
    Query, Reason, Secret, Sightings, Slot, SlotName, Step,
};

use super::events::Events;
use super::record::{self, Bond};

static DATABASE: Kind = Kind {
    name: "test/database",
    noun: "database",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: Some(Millis::seconds(24 * 3600)),
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    tags_together: true,
    naming: Naming::Account,
    names: NameRule::longest(63),
    ids: Ids::Unique,
    has_creation_time: true,
    lists_marks: true,
    recorded: true,
    valuable: false,
    settling: Millis::seconds(15),
    course: Course::PLAIN,
    props: &[PropRule {
        name: "password",
        change: Change::Secret,
    }],
    inner: &[],
};
const ONE: &str = "canary-one";
const TWO: &str = "canary-two";

/// A cloud that gets a create twice before it makes something, and repeats what it was sent.
struct Talkative {
    account: SharedAccount,
    received: Mutex<Vec<Create>>,
}

impl Talkative {
    fn received(&self) -> MutexGuard<'_, Vec<Create>> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cloud for Talkative {
    async fn read(&self, query: &Query) -> Result<Answer, CloudError> {
        self.account.read(query).await
    }

    async fn perform(&self, step: &Step, by: Deadline<'_>) -> Result<Effect, CloudError> {
        if let Step::Create(create) = step {
            let before = self.received().len();
            self.received().push(create.clone());
            let sent = create.secrets.get("password").map_or("", Secret::reveal);
            let class = [Class::Unknown, Class::Retryable].into_iter().nth(before);
            if let Some(class) = class {
                let message = format!("no answer to the request password={sent}");
                return Err(CloudError::new(class, "NoAnswer", message));
            }
        }
        self.account.perform(step, by).await
    }
}

/// An object whose ledger is nothing but its annotation, and everything that anybody is shown.
#[derive(Default)]
struct Object {
    annotation: Option<String>,
    shown: Vec<String>,
}

impl Object {
    fn ledger(&self) -> Ledger {
        let Some(text) = &self.annotation else {
            return Ledger::default();
        };
        let (_, ledger) = record::decode(text, &[&DATABASE]).expect("what was encoded");
        Ledger {
            pinned: true,
            ..ledger
        }
    }

    fn show(&mut self, what: &impl std::fmt::Debug) {
        self.shown.push(format!("{what:?} {what:#?}"));
    }
}

impl LedgerStore for Object {
    async fn load(&mut self) -> Result<Ledger, LedgerError> {
        Ok(self.ledger())
    }

    async fn write(&mut self, edits: &[Edit]) -> Result<(), LedgerError> {
        let mut ledger = self.ledger();
        for edit in edits {
            ledger.apply(edit);
        }
        let annotation = record::encode(&Bond::default(), &ledger);
        self.show(&(edits, &ledger));
        self.shown.push(annotation.clone());
        self.annotation = Some(annotation);
        Ok(())
    }
}

/// What was done, as people see it.
#[derive(Default)]
struct Witness(Vec<String>, Events);

impl Journal for Witness {
    fn step(&mut self, step: &Step, reason: &Reason, outcome: Result<(), &CloudError>) {
        self.0.push(words::deed(step));
        self.0
            .push(format!("{step:?} {step:#?} {reason} {reason:?}"));
        self.0
            .extend(outcome.err().map(|error| format!("{error} {error:?}")));
        self.1.step(step, reason, outcome);
    }
}

fn identity() -> Identity {
    let uuid = "b0b3f3c0-5c7a-4b0e-9a53-3f6f0f3c9c11";
    Identity {
        claim: Claim::new("Cluster.kubermatic.k8c.io", "", "abc", uuid).unwrap(),
        holder: Holder::of_cluster("here"),
        taken_over: BTreeMap::new(),
        dialect: Dialect::Kkp {
            cluster: "abc".into(),
        },
    }
}

fn wants(password: &str) -> Blueprint {
    let secret = Secret::new(password, "canary-key");
    let slot = Slot {
        secrets: Secrets::from_iter([("password", secret)]),
        ..Slot::own(SlotName::new("database").unwrap(), &DATABASE, "abc")
    };
    Blueprint::new(vec![slot]).unwrap()
}

/// Passes until the claim is at rest or gone, or a call has failed.
fn passes(
    cloud: &Talkative,
    object: &mut Object,
    sightings: &mut Sightings,
    wants: &Blueprint,
    phase: Phase,
) {
    let clock = cloud.account.lock().clock().clone();
    let identity = identity();
    let driver = Driver {
        rules: &Freehold,
        cloud,
        clock: &clock,
        term: Term::alone(),
    };
    let case = Case {
        identity: &identity,
        blueprint: wants,
        evidence: &Evidence::default(),
        kinds: &KindAt::home(&[&DATABASE]),
        phase,
    };
    for _ in 0..20 {
        let plan = driver.plan(&case, &object.ledger()).now_or_never().unwrap();
        let plan = plan.unwrap();
        object
            .shown
            .extend(plan.steps().map(|planned| words::deed(&planned.step)));
        object.show(&(&case, &plan));
        let mut witness = Witness::default();
        let pass = driver.pass(&case, object, sightings, &mut witness);
        let end = pass.now_or_never().expect("the cloud answers at once");
        object.show(&end);
        object.show(&witness.1);
        object.shown.append(&mut witness.0);
        match end {
            PassEnd::Rest(_, Some(until)) | PassEnd::Wait(until, ..) => {
                clock.advance(until - clock.now());
            }
            _ => return,
        }
    }
    panic!("the claim does not come to rest");
}

#[test]
fn a_secret_shows_nowhere_but_in_the_request() {
    let account = Account::new(Settings::default(), VirtualClock::new()).with_kinds(&[&DATABASE]);
    let cloud = Talkative {
        account: SharedAccount::new(account, Actor::Engine(0)),
        received: Mutex::default(),
    };
    let (mut object, mut sightings) = (Object::default(), Sightings::new());
    // Lost, then refused, both with the request in the words; then the secret is another.
    for password in [ONE, ONE, TWO] {
        passes(
            &cloud,
            &mut object,
            &mut sightings,
            &wants(password),
            Phase::Live,
        );
    }
    let query = Query::Marks {
        place: Place::HOME,
        kind: &DATABASE,
        keys: vec![identity().key(&DATABASE)],
    };
    let answer = cloud.read(&query).now_or_never().unwrap().unwrap();
    assert_eq!(answer.resources.len(), 1);
    object.show(&answer);
    passes(
        &cloud,
        &mut object,
        &mut sightings,
        &wants(TWO),
        Phase::Ending,
    );

    let received = cloud.received();
    let secrets = received.iter().map(|create| create.secrets.get("password"));
    let secrets: Vec<_> = secrets.map(|secret| secret.unwrap().reveal()).collect();
    assert_eq!(secrets, [ONE, ONE, TWO]);
    let tokens: Vec<_> = received
        .iter()
        .map(|create| create.token.unwrap())
        .collect();
    assert_eq!(tokens[0], tokens[1], "a retry with the same secret");
    assert_ne!(tokens[1], tokens[2], "a create with another secret");
    let account = cloud.account.lock();
    let born = account.lives().find(|life| life.target.kind == &DATABASE);
    let born = born.unwrap().secrets.get("password").unwrap();
    assert_eq!(born.reveal(), TWO, "the cloud has it");

    assert!(object.shown.iter().any(|text| text.contains("(secret)")));
    let digest = Secret::new(ONE, "canary-key").digest(
        &identity().claim,
        &SlotName::new("database").unwrap(),
        "password",
    );
    let record = format!(r#""secrets":{{"password":"{digest}"}}"#);
    assert!(object.shown.iter().any(|text| text.contains(&record)));
    let told = object.shown.iter().find(|text| text.contains("canary"));
    assert_eq!(told, None);
}
