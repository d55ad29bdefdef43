//! Steps as Kubernetes events: what was created, adopted, deleted or refused, and why.

use cloud_port::driver::Journal;
use cloud_port::words;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::api::{Api, PostParams};
use kube::{Client, Resource, ResourceExt as _};
use ownership::{CloudError, Reason, Step};

/// The longest note that the API server takes.
const LONGEST: usize = 1024;
const REPORTER: &str = "freehold.dev/operator";

/// The Steps of one pass.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    notes: Vec<Note>,
}

#[derive(Debug)]
struct Note {
    kind: &'static str,
    reason: &'static str,
    action: &'static str,
    words: String,
}

impl Steps {
    /// How many Steps there were.
    pub(crate) fn count(&self) -> usize {
        self.notes.len()
    }

    /// Writes the events. They are for people: one that cannot be written is not missed.
    pub(crate) async fn publish<K>(&self, client: &Client, object: &K, now: Timestamp)
    where
        K: Resource<DynamicType = ()>,
    {
        let namespace = object.namespace().unwrap_or_else(|| "default".to_owned());
        let api: Api<Event> = Api::namespaced(client.clone(), &namespace);
        for (number, note) in self.notes.iter().enumerate() {
            let name = format!(
                "{}.{:x}.{number}",
                object.name_any(),
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
                note: Some(note.words.chars().take(LONGEST).collect()),
                reason: Some(note.reason.to_owned()),
                regarding: Some(reference(object)),
                reporting_controller: Some(REPORTER.to_owned()),
                reporting_instance: Some(REPORTER.to_owned()),
                type_: Some(note.kind.to_owned()),
                ..Event::default()
            };
            if let Err(error) = api.create(&PostParams::default(), &event).await {
                tracing::debug!(%error, "an event was not written");
            }
        }
    }
}

fn reference<K: Resource<DynamicType = ()>>(object: &K) -> ObjectReference {
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

impl Journal for Steps {
    fn step(&mut self, step: &Step, reason: &Reason, outcome: Result<(), &CloudError>) {
        let deed = words::deed(step);
        match outcome {
            Ok(()) => tracing::info!(step = step.verb(), %reason, "{deed}"),
            Err(error) => tracing::warn!(step = step.verb(), %error, "{deed}"),
        }
        let (kind, said, words) = match outcome {
            Ok(()) => ("Normal", done(step), format!("{deed}: {reason}")),
            Err(error) => (
                "Warning",
                "Refused",
                format!("{} {deed}: {error}", step.verb()),
            ),
        };
        self.notes.push(Note {
            kind,
            reason: said,
            action: step.verb(),
            words,
        });
    }
}

fn done(step: &Step) -> &'static str {
    match step {
        Step::Create(_) => "Created",
        Step::Mark { .. } => "Marked",
        Step::Unmark { .. } => "Unmarked",
        Step::AddInner { .. } => "Added",
        Step::RemoveInner { .. } => "Removed",
        Step::Update { .. } => "Updated",
        Step::Delete { .. } => "Deleted",
    }
}
