//! What happened, as Kubernetes events: what was created, found, deleted or refused, and why.

use std::collections::{BTreeMap, BTreeSet};

use api::names::RULES;
use api::written;
use cloud_port::driver::Journal;
use cloud_port::words;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::api::Api;
use kube::{Client, Resource, ResourceExt as _};
use ownership::decide::Guest;
use ownership::{ClaimHash, CloudError, Reason, SlotName, Step, Target};

use super::others::Names;

/// The longest note that the API server takes, in bytes.
const LONGEST: usize = 1024;
/// The action of events that tell a condition.
pub(crate) const REPORT: &str = "report";
const REPORTER: &str = "freehold.dev/operator";

/// What one event says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// Whether somebody should look at it.
    pub(crate) warns: bool,
    /// One word for programs.
    pub(crate) reason: &'static str,
    /// What was tried.
    pub(crate) action: &'static str,
    /// A sentence for people.
    pub(crate) words: String,
}

/// What happened in one pass.
#[derive(Debug, Default)]
pub(crate) struct Events {
    notes: Vec<Note>,
    /// What others have done, which is nothing that happened in the pass.
    guests: Vec<Note>,
}

impl Events {
    /// Whether anything happened.
    pub(crate) fn any(&self) -> bool {
        !self.notes.is_empty()
    }

    /// Whether something was refused.
    pub(crate) fn warn(&self) -> bool {
        self.notes.iter().any(|note| note.warns)
    }

    /// Others have put parts into resources of ours, or need those that we put there: told once, and
    /// left. What other claims have there is told claim by claim.
    pub(crate) fn guests(&mut self, guests: &[Guest], names: &Names) {
        let mut by_claim: BTreeMap<(&Target, &ClaimHash), Vec<String>> = BTreeMap::new();
        for guest in guests {
            let part = format!("{} {}", guest.noun, guest.key);
            match &guest.by {
                Some(claim) => by_claim
                    .entry((&guest.target, claim))
                    .or_default()
                    .push(part),
                None => self.guest(format!(
                    "the {part} in {} was put there by somebody else: it is left alone, also where \
                     it is in the way of a deletion ({RULES}: exclusive removes it)",
                    words::resource(&guest.target),
                )),
            }
        }
        for ((target, claim), parts) in by_claim {
            self.guest(format!(
                "{} uses {} too, and needs in it: {}. If this object is deleted, that deletion waits \
                 until {} lets go of it",
                names.of(claim),
                words::resource(target),
                parts.join(", "),
                names.of(claim),
            ));
        }
    }

    fn guest(&mut self, words: String) {
        self.guests.push(Note {
            warns: false,
            reason: "Guest",
            action: REPORT,
            words,
        });
    }

    /// Leaves out the warnings that the last pass gave in the same words, and remembers those of
    /// this one.
    pub(crate) fn unheard(&mut self, heard: &mut BTreeSet<String>) {
        let warnings = self.notes.iter().filter(|note| note.warns);
        let now: BTreeSet<String> = warnings.map(|note| note.words.clone()).collect();
        self.notes
            .retain(|note| !note.warns || !heard.contains(&note.words));
        *heard = now;
    }

    /// Writes the events.
    pub(crate) async fn publish<K>(&self, client: &Client, object: &K, now: Timestamp)
    where
        K: Resource<DynamicType = ()>,
    {
        let reference = reference(object);
        publish(client, &reference, now, "step", &self.notes).await;
        publish(client, &reference, now, "stranger", &self.guests).await;
    }
}

/// What of this was not told before; it is now.
pub(crate) fn news_of(guests: &[Guest], told: &mut Vec<Guest>) -> Vec<Guest> {
    let new = guests.iter().filter(|guest| !told.contains(guest)).cloned();
    let new = new.collect();
    *told = guests.to_vec();
    new
}

/// Writes events. They are for people: one that cannot be written is not missed. Those of one moment
/// and `series` are numbered.
pub(crate) async fn publish(
    client: &Client,
    object: &ObjectReference,
    now: Timestamp,
    series: &str,
    notes: &[Note],
) {
    let namespace = object.namespace.clone();
    let namespace = namespace.unwrap_or_else(|| "default".to_owned());
    let api: Api<Event> = Api::namespaced(client.clone(), &namespace);
    for (number, note) in notes.iter().enumerate() {
        let name = format!(
            "{}.{:x}.{series}-{number:03}",
            object.name.as_deref().unwrap_or_default(),
            now.as_nanosecond().unsigned_abs()
        );
        let event = Event {
            metadata: ObjectMeta {
                name: Some(name),
                namespace: Some(namespace.clone()),
                ..ObjectMeta::default()
            },
            action: Some(note.action.to_owned()),
            event_time: Some(MicroTime(now)),
            note: Some(cut(&note.words).to_owned()),
            reason: Some(note.reason.to_owned()),
            regarding: Some(object.clone()),
            reporting_controller: Some(REPORTER.to_owned()),
            reporting_instance: Some(REPORTER.to_owned()),
            type_: Some(if note.warns { "Warning" } else { "Normal" }.to_owned()),
            ..Event::default()
        };
        if let Err(error) = api.create(&written::posts(), &event).await {
            tracing::debug!(%error, "an event was not written");
        }
    }
}

/// As much of a text as a note can hold, in bytes.
fn cut(words: &str) -> &str {
    &words[..words.floor_char_boundary(LONGEST)]
}

/// An object, as events name it.
pub(crate) fn reference<K: Resource<DynamicType = ()>>(object: &K) -> ObjectReference {
    ObjectReference {
        api_version: Some(K::api_version(&()).into_owned()),
        kind: Some(K::kind(&()).into_owned()),
        name: Some(object.name_any()),
        namespace: object.namespace(),
        uid: object.uid(),
        resource_version: None,
        field_path: None,
    }
}

impl Journal for Events {
    fn step(&mut self, step: &Step, reason: &Reason, outcome: Result<(), &CloudError>) {
        let deed = words::deed(step);
        match outcome {
            Ok(()) => tracing::info!(step = step.verb(), %reason, "{deed}"),
            Err(error) => tracing::warn!(step = step.verb(), %error, "{deed}"),
        }
        let (said, words) = match outcome {
            Ok(()) => (done(step), format!("{deed}: {reason}")),
            Err(error) => ("Refused", format!("{} {deed}: {error}", step.verb())),
        };
        self.notes.push(Note {
            warns: outcome.is_err(),
            reason: said,
            action: step.verb(),
            words,
        });
    }

    fn found(&mut self, slot: &SlotName, target: &Target) {
        let found = words::resource(target);
        tracing::info!(%slot, "{found} was there already");
        self.notes.push(Note {
            warns: false,
            reason: "Found",
            action: "record",
            words: format!("{found} for {slot}: it was there already, and its id is recorded"),
        });
    }
}

fn done(step: &Step) -> &'static str {
    match step {
        Step::Create(_) => "Created",
        Step::Mark { .. } | Step::MarkInner(_) => "Marked",
        Step::Unmark { .. } | Step::UnmarkInner(_) => "Unmarked",
        Step::AddInner { .. } => "Added",
        Step::RemoveInner(_) => "Removed",
        Step::Update(_) => "Updated",
        Step::Delete(_) => "Deleted",
    }
}
