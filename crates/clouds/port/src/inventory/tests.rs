//! When the inventory asks, when it does not, and when it says that it cannot tell.

use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use futures_util::FutureExt as _;
use ownership::life::Life;
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props, Resource};
use ownership::query::InnerAnswer;
use ownership::step::MarkRight;
use ownership::time::{CloudTime, Millis, Tick};
use ownership::{Answer, Class, CloudError, Kind, Place, Query, ResourceId, Step, Target, Text};

use super::{Inventory, LIFE, Show as _, Silent, Survey};
use crate::aws::instance_profile::INSTANCE_PROFILE;
use crate::aws::role::ROLE;
use crate::aws::security_group::SECURITY_GROUP;
use crate::aws::vpc::{DNS_ATTRIBUTE, DNS_SUPPORT, VPC};
use crate::cloud::{Cloud, Deadline, Effect};

const START: Tick = Tick(1_000_000);

/// A cloud of a few named resources that notes what it is asked.
#[derive(Default)]
struct Fake {
    there: Mutex<Vec<Resource>>,
    /// The DNS attributes that are on, VPC by VPC.
    inside: Mutex<Vec<(String, Vec<InnerPart>)>>,
    asked: Mutex<Vec<String>>,
    refuses: AtomicBool,
    /// Surveys and reads wait.
    slow: AtomicBool,
}

impl Fake {
    fn put(&self, kind: &'static Kind, name: &str, tag: &str, created: u64) {
        let mut there = self.there.lock().unwrap();
        there.retain(|resource| &*resource.name != name);
        there.push(Resource {
            place: Place::HOME,
            kind,
            id: ResourceId::new(name),
            unique: None,
            name: name.into(),
            tags: Tags::from_iter([(Text::from(tag), Text::from(""))]),
            props: Props::new(),
            created: Some(CloudTime(created)),
            life: Life::Ready,
        });
    }

    fn switch(&self, vpc: &str, attributes: &[&'static str]) {
        let part = |key: &&'static str| InnerPart::new(*key, "", Tags::new());
        let parts = attributes.iter().map(part).collect();
        let mut inside = self.inside.lock().unwrap();
        inside.retain(|(id, _)| id != vpc);
        inside.push((vpc.to_owned(), parts));
    }

    fn inside(&self, of: &Target, inner: &'static str) -> Answer {
        let inside = self.inside.lock().unwrap();
        let found = inside.iter().find(|(id, _)| *id == *of.id.as_str());
        let parts = found.map(|(_, parts)| parts.clone()).unwrap_or_default();
        let of = of.clone();
        Answer {
            inner: vec![InnerAnswer { of, inner, parts }],
            ..Answer::default()
        }
    }

    fn of(&self, kind: &Kind, wanted: impl Fn(&Resource) -> bool) -> Answer {
        let there = self.there.lock().unwrap();
        let found = there.iter().filter(|r| r.kind == kind && wanted(r));
        Answer {
            resources: found.cloned().map(Into::into).collect(),
            ..Answer::default()
        }
    }

    fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    async fn ask<T>(&self, note: String, answer: impl Fn() -> T) -> Result<T, CloudError> {
        self.asked.lock().unwrap().push(note);
        let answer = answer();
        std::future::poll_fn(|_| {
            if self.slow.load(Ordering::Relaxed) {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
        if self.refuses.load(Ordering::Relaxed) {
            return Err(CloudError::new(Class::Fatal, "AccessDenied", "no"));
        }
        Ok(answer)
    }
}

impl Cloud for Fake {
    async fn read(&self, query: &Query) -> Result<Answer, CloudError> {
        let note = format!("read {}", query.kind());
        let answer = || match query {
            Query::Inner { of, inner } => self.inside(of, inner),
            query => self.of(query.kind(), |r| query.means(r)),
        };
        self.ask(note, answer).await
    }

    async fn perform(&self, _: &Step, _: Deadline<'_>) -> Result<Effect, CloudError> {
        Ok(Effect::default())
    }
}

impl Survey for Fake {
    async fn survey(&self, kind: &'static Kind) -> Result<Answer, CloudError> {
        let note = format!("survey {}", kind.name);
        let mut answer = self.ask(note, || self.of(kind, |_| true)).await?;
        if !kind.lists_marks {
            for resource in &mut answer.resources {
                std::sync::Arc::make_mut(resource).tags = Tags::new();
            }
        }
        Ok(answer)
    }
}

fn inventory() -> Inventory<Fake> {
    let fake = Fake::default();
    fake.put(&SECURITY_GROUP, "group", "ours", 1);
    fake.put(&INSTANCE_PROFILE, "profile", "ours", 1);
    fake.put(&INSTANCE_PROFILE, "other", "theirs", 1);
    let kinds = [&SECURITY_GROUP, &INSTANCE_PROFILE, &VPC];
    Inventory::new(fake, &kinds)
}

fn by_id(kind: &'static Kind, id: &str) -> Query {
    Query::Id(Target::new(kind, ResourceId::new(id)))
}

fn by_mark(kind: &'static Kind, key: &str) -> Query {
    Query::Marks {
        place: Place::HOME,
        kind,
        keys: vec![key.into()],
    }
}

/// The names of what it shows.
fn show(inventory: &Inventory<Fake>, query: &Query, now: Tick) -> Result<Vec<String>, Silent> {
    let shown = inventory.show(query, now, None).now_or_never().unwrap()?;
    let found = shown.answer.resources.iter();
    Ok(found.map(|resource| resource.name.to_string()).collect())
}

fn read(inventory: &Inventory<Fake>, query: &Query) {
    inventory.read(query).now_or_never().unwrap().unwrap();
}

fn mark(inventory: &Inventory<Fake>, kind: &'static Kind, id: &str) {
    let step = Step::Mark {
        targets: vec![Target::new(kind, ResourceId::new(id))],
        tags: Vec::new(),
        right: MarkRight::Trace,
    };
    inventory
        .perform(&step, Deadline::never())
        .now_or_never()
        .unwrap()
        .unwrap();
}

#[test]
fn a_snapshot_serves_everybody_until_it_is_too_old() {
    let inventory = inventory();
    let last = START + Millis(LIFE.0 - 1);
    for now in [START, START, last] {
        let found = show(&inventory, &by_id(&SECURITY_GROUP, "group"), now);
        assert_eq!(found.unwrap(), ["group"]);
        let found = show(&inventory, &by_mark(&SECURITY_GROUP, "theirs"), now);
        assert!(found.unwrap().is_empty());
    }
    assert_eq!(
        inventory.cloud().take_notes(),
        ["survey aws/security-group"]
    );
    show(&inventory, &by_id(&SECURITY_GROUP, "gone"), START + LIFE).unwrap();
    assert_eq!(
        inventory.cloud().take_notes(),
        ["survey aws/security-group"]
    );
}

#[test]
fn what_it_shows_is_as_old_as_the_beginning_of_its_survey() {
    let inventory = inventory();
    let query = by_id(&SECURITY_GROUP, "group");
    for now in [START, START + Millis(7)] {
        let shown = inventory.show(&query, now, None).now_or_never().unwrap();
        assert_eq!(shown.unwrap().at, START);
    }
}

#[test]
fn those_who_come_at_once_wait_for_one_survey() {
    let inventory = inventory();
    let query = by_id(&SECURITY_GROUP, "group");
    let mut context = Context::from_waker(Waker::noop());
    let mut first = pin!(inventory.show(&query, START, None));
    let mut second = pin!(inventory.show(&query, START, None));
    inventory.cloud().slow.store(true, Ordering::Relaxed);
    assert!(first.as_mut().poll(&mut context).is_pending());
    assert!(second.as_mut().poll(&mut context).is_pending());
    inventory.cloud().slow.store(false, Ordering::Relaxed);
    assert!(first.as_mut().poll(&mut context).is_ready());
    assert!(second.as_mut().poll(&mut context).is_ready());
    assert_eq!(inventory.cloud().take_notes().len(), 1);
}

#[test]
fn a_survey_that_is_dropped_is_begun_again_by_the_next() {
    let inventory = inventory();
    let query = by_id(&SECURITY_GROUP, "group");
    inventory.cloud().slow.store(true, Ordering::Relaxed);
    assert!(inventory.show(&query, START, None).now_or_never().is_none());
    inventory.cloud().slow.store(false, Ordering::Relaxed);
    assert_eq!(show(&inventory, &query, START).unwrap(), ["group"]);
    assert_eq!(inventory.cloud().take_notes().len(), 2);
}

#[test]
fn a_step_forgets_the_kind_that_it_works_on() {
    let inventory = inventory();
    let group = by_id(&SECURITY_GROUP, "group");
    let profile = by_id(&INSTANCE_PROFILE, "gone");
    show(&inventory, &group, START).unwrap();
    show(&inventory, &profile, START).unwrap();
    inventory.cloud().take_notes();
    mark(&inventory, &SECURITY_GROUP, "group");
    show(&inventory, &group, START).unwrap();
    show(&inventory, &profile, START).unwrap();
    assert_eq!(
        inventory.cloud().take_notes(),
        ["survey aws/security-group"]
    );
}

#[test]
fn a_survey_that_crossed_a_step_serves_nobody_else() {
    let inventory = inventory();
    let query = by_id(&SECURITY_GROUP, "group");
    inventory.cloud().slow.store(true, Ordering::Relaxed);
    let mut context = Context::from_waker(Waker::noop());
    let mut crossed = pin!(inventory.show(&query, START, None));
    assert!(crossed.as_mut().poll(&mut context).is_pending());
    mark(&inventory, &SECURITY_GROUP, "group");
    inventory.cloud().slow.store(false, Ordering::Relaxed);
    assert!(crossed.as_mut().poll(&mut context).is_ready());
    show(&inventory, &query, START).unwrap();
    assert_eq!(inventory.cloud().take_notes().len(), 2);
}

#[test]
fn a_failed_survey_is_told_to_everybody_and_not_repeated_for_each() {
    let inventory = inventory();
    let query = by_id(&SECURITY_GROUP, "group");
    inventory.cloud().refuses.store(true, Ordering::Relaxed);
    for _ in 0..3 {
        let told = show(&inventory, &query, START).unwrap_err();
        assert!(matches!(&told, Silent::Survey(error) if &*error.code == "AccessDenied"));
    }
    assert_eq!(inventory.cloud().take_notes().len(), 1);
    inventory.cloud().refuses.store(false, Ordering::Relaxed);
    assert_eq!(show(&inventory, &query, START + LIFE).unwrap(), ["group"]);
}

#[test]
fn there_is_nothing_of_kinds_that_it_does_not_keep() {
    let told = show(&inventory(), &by_id(&ROLE, "role"), START);
    assert_eq!(told, Err(Silent::Kind(&ROLE)));
}

#[test]
fn marks_that_no_listing_shows_must_have_been_read() {
    let inventory = inventory();
    let profile = by_id(&INSTANCE_PROFILE, "profile");
    let ours = by_mark(&INSTANCE_PROFILE, "ours");
    let unknown = |id| {
        let target = Target::new(&INSTANCE_PROFILE, ResourceId::new(id));
        Err(Silent::Marks(target))
    };
    assert_eq!(show(&inventory, &profile, START), unknown("profile"));
    // What is not there has no marks.
    let gone = by_id(&INSTANCE_PROFILE, "gone");
    assert_eq!(show(&inventory, &gone, START), Ok(Vec::new()));

    read(&inventory, &profile);
    assert_eq!(show(&inventory, &profile, START).unwrap(), ["profile"]);
    // The other might have the mark, too.
    assert_eq!(show(&inventory, &ours, START), unknown("other"));
    read(&inventory, &by_id(&INSTANCE_PROFILE, "other"));
    assert_eq!(show(&inventory, &ours, START).unwrap(), ["profile"]);

    mark(&inventory, &INSTANCE_PROFILE, "profile");
    assert_eq!(show(&inventory, &profile, START), unknown("profile"));
}

#[test]
fn marks_are_those_of_the_very_resource() {
    let inventory = inventory();
    let profile = by_id(&INSTANCE_PROFILE, "profile");
    read(&inventory, &profile);
    read(&inventory, &by_id(&INSTANCE_PROFILE, "other"));
    // It is not the oldest when the survey comes, and has been made anew since it was read.
    read(&inventory, &profile);
    inventory
        .cloud()
        .put(&INSTANCE_PROFILE, "profile", "theirs", 2);
    let told = show(&inventory, &profile, START);
    assert!(matches!(told, Err(Silent::Marks(_))), "{told:?}");
}

#[test]
fn an_answer_that_crossed_a_step_is_not_remembered() {
    let inventory = inventory();
    let profile = by_id(&INSTANCE_PROFILE, "profile");
    inventory.cloud().slow.store(true, Ordering::Relaxed);
    let mut context = Context::from_waker(Waker::noop());
    let mut crossed = pin!(inventory.read(&profile));
    assert!(crossed.as_mut().poll(&mut context).is_pending());
    mark(&inventory, &INSTANCE_PROFILE, "profile");
    inventory.cloud().slow.store(false, Ordering::Relaxed);
    assert!(crossed.as_mut().poll(&mut context).is_ready());
    let told = show(&inventory, &profile, START);
    assert!(matches!(told, Err(Silent::Marks(_))), "{told:?}");
}

#[test]
fn each_survey_reads_the_oldest_marks_again() {
    let inventory = inventory();
    for id in ["profile", "other"] {
        read(&inventory, &by_id(&INSTANCE_PROFILE, id));
    }
    inventory.cloud().take_notes();
    for id in ["profile", "other"] {
        inventory.cloud().put(&INSTANCE_PROFILE, id, "changed", 1);
    }
    let changed = by_mark(&INSTANCE_PROFILE, "changed");
    let survey = ["survey aws/instance-profile", "read aws/instance-profile"];
    assert_eq!(show(&inventory, &changed, START).unwrap(), ["profile"]);
    assert_eq!(inventory.cloud().take_notes(), survey);
    let both = show(&inventory, &changed, START + LIFE).unwrap();
    assert_eq!(both, ["profile", "other"]);
    assert_eq!(inventory.cloud().take_notes(), survey);
}

#[test]
fn parts_that_no_listing_shows_must_have_been_read() {
    let inventory = inventory();
    let fake = inventory.cloud();
    fake.put(&VPC, "vpc-1", "ours", 1);
    fake.switch("vpc-1", &[DNS_SUPPORT]);
    let inside = |id: &str| Query::Inner {
        of: Target::new(&VPC, ResourceId::new(id)),
        inner: DNS_ATTRIBUTE,
    };
    let shown = |id: &str, now| {
        let shown = inventory
            .show(&inside(id), now, None)
            .now_or_never()
            .unwrap();
        let parts = shown.map(|shown| shown.answer.inner[0].parts.clone())?;
        Ok::<_, Silent>(parts.iter().map(|part| part.key.to_string()).collect())
    };
    let unknown: Result<Vec<String>, _> =
        Err(Silent::Inside(Target::new(&VPC, ResourceId::new("vpc-1"))));
    assert_eq!(shown("vpc-1", START), unknown);
    // Nothing is inside what is not there.
    assert_eq!(shown("vpc-2", START), Ok(Vec::new()));
    read(&inventory, &inside("vpc-1"));
    assert_eq!(shown("vpc-1", START), Ok(vec![DNS_SUPPORT.to_owned()]));
    // The next survey reads it again.
    fake.switch("vpc-1", &[]);
    fake.take_notes();
    assert_eq!(shown("vpc-1", START + LIFE), Ok(Vec::new()));
    assert_eq!(fake.take_notes(), ["survey aws/vpc", "read aws/vpc"]);
    // Marks are not parts; a Step on what is inside is.
    mark(&inventory, &VPC, "vpc-1");
    assert_eq!(shown("vpc-1", START + LIFE), Ok(Vec::new()));
    let step = Step::AddInner {
        target: Target::new(&VPC, ResourceId::new("vpc-1")),
        inner: DNS_ATTRIBUTE,
        parts: vec![InnerPart::new(DNS_SUPPORT, "", Tags::new())],
    };
    let done = inventory.perform(&step, Deadline::never()).now_or_never();
    done.unwrap().unwrap();
    assert_eq!(shown("vpc-1", START + LIFE), unknown);
}
