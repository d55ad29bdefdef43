//! What takes its time.

use ownership::life::{Life, Progress};
use ownership::part::Props;
use ownership::time::Millis;
use ownership::{Kind, Place, Query, ResourceId, Step, Target, Text};

use super::{PLAIN, account_with, create};
use crate::{Account, Actor, Pace, Staleness};

static THING: Kind = PLAIN;

const A_MINUTE: Millis = Millis::seconds(60);

fn account(pace: Pace) -> Account {
    account_with(|settings| settings.paces = vec![(&THING, pace)]).with_kinds(&[&THING])
}

fn new_thing(account: &mut Account) -> (Option<ResourceId>, Option<Text>) {
    let step = Step::Create(create(&THING, "a", &Props::new()));
    let effect = account.perform(Actor::Engine(0), &step).unwrap();
    (effect.born.map(|born| born.id.clone()), effect.operation)
}

fn life(account: &mut Account, id: &ResourceId) -> Option<Life> {
    let query = Query::Id(Target::new(&THING, id.clone()));
    let answer = account.read(&query, Staleness::Settled).unwrap();
    answer
        .resources
        .first()
        .map(|resource| resource.life.clone())
}

fn progress(account: &mut Account, kind: &'static Kind, name: &Text) -> Option<Progress> {
    let name = name.clone();
    let answer = account.read(
        &Query::Operation {
            place: Place::HOME,
            kind,
            name,
        },
        Staleness::Settled,
    );
    answer.unwrap().progress
}

#[test]
fn what_comes_and_goes_slowly_says_so() {
    let mut account = account(Pace {
        comes: A_MINUTE,
        goes: A_MINUTE,
        ..Pace::default()
    });
    let (born, operation) = new_thing(&mut account);
    let id = born.unwrap();
    assert_eq!(operation, None);
    assert_eq!(life(&mut account, &id), Some(Life::Coming));
    account.clock().advance(A_MINUTE);
    assert_eq!(life(&mut account, &id), Some(Life::Ready));
    account
        .delete(Actor::Engine(0), &Target::new(&THING, id.clone()))
        .unwrap();
    assert_eq!(life(&mut account, &id), Some(Life::Going));
    account.clock().advance(A_MINUTE);
    assert_eq!(life(&mut account, &id), None);
}

#[test]
fn a_hidden_create_is_known_by_its_operation() {
    let mut account = account(Pace {
        comes: A_MINUTE,
        hides: true,
        names_operations: true,
        ..Pace::default()
    });
    let (born, operation) = new_thing(&mut account);
    let operation = operation.unwrap();
    assert_eq!(born, None);
    assert_eq!(
        progress(&mut account, &THING, &operation),
        Some(Progress::Running)
    );
    account.clock().advance(A_MINUTE);
    let Some(Progress::Done(Some(id))) = progress(&mut account, &THING, &operation) else {
        panic!("it is done");
    };
    assert_eq!(life(&mut account, &id), Some(Life::Ready));
    assert_eq!(progress(&mut account, &THING, &"another".into()), None);
}

#[test]
fn what_failed_unseen_leaves_nothing() {
    let mut account = account(Pace {
        comes: A_MINUTE,
        hides: true,
        names_operations: true,
        ..Pace::default()
    });
    account.fail_next("no room");
    let operation = new_thing(&mut account).1.unwrap();
    account.clock().advance(A_MINUTE);
    let told = progress(&mut account, &THING, &operation);
    assert!(matches!(told, Some(Progress::Failed(error)) if &*error.message == "no room"));
    assert_eq!(account.alive(&THING).count(), 0);
}

#[test]
fn what_failed_in_sight_stays_and_says_why() {
    let mut account = account(Pace::default());
    account.fail_next("no room");
    let id = new_thing(&mut account).0.unwrap();
    assert_eq!(
        life(&mut account, &id),
        Some(Life::Failed("no room".into()))
    );
}
