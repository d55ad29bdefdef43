//! Watches: a stream of the changes of a resource.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::faults::FaultKind;
use crate::http::LostAnswer;
use crate::json;
use crate::resource::{Resource, Sub};
use crate::selectors::Selector;
use crate::server::Cluster;
use crate::state::State;
use crate::status::ApiError;
use crate::storage::{Body, Event, Stored};
use crate::table::Shape;
use crate::typed::{self, Findings};

/// How often a watch that wants bookmarks gets one.
const BOOKMARK_EVERY: Duration = Duration::from_mins(1);
/// How long before its end it gets the last one.
const BOOKMARK_BEFORE: Duration = Duration::from_secs(2);

/// What is to be watched.
#[derive(Clone, Debug)]
pub(crate) struct WatchOptions {
    pub(crate) selector: Selector,
    /// Where to start; `None` is "now, after the present state".
    pub(crate) version: u64,
    pub(crate) bookmarks: bool,
    /// The present state first, and a bookmark when it is complete.
    pub(crate) initial_events: Option<bool>,
    pub(crate) timeout: Duration,
}

/// A watch under way.
pub(crate) struct Watch {
    cluster: Cluster,
    resource: Arc<Resource>,
    prefix: String,
    options: WatchOptions,
    /// What the objects look like.
    shape: Shape,
    /// Whether the columns of a table have been named.
    headed: bool,
    /// All changes up to here have been told.
    position: u64,
    epoch: u64,
    deadline: Instant,
    /// None if no more bookmark comes.
    next_bookmark: Option<Instant>,
    /// Bytes that are still to be sent.
    pending: Vec<u8>,
    /// The next event is not told (a fault).
    blind: bool,
    finished: bool,
}

impl Watch {
    /// Starts a watch: the present state is taken now.
    pub(crate) fn start(
        cluster: Cluster,
        state: &mut State,
        resource: Arc<Resource>,
        namespace: &str,
        options: WatchOptions,
        shape: Shape,
        fault: Option<FaultKind>,
    ) -> Self {
        let prefix = match (resource.namespaced, namespace) {
            (true, namespace) if !namespace.is_empty() => format!("{namespace}/"),
            _ => String::new(),
        };
        let now = Instant::now();
        let epoch = state.storage.collection(&resource.store).epoch;
        let mut watch = Self {
            cluster,
            resource,
            prefix,
            shape,
            headed: false,
            position: options.version,
            epoch,
            deadline: now + options.timeout,
            next_bookmark: None,
            pending: Vec::new(),
            blind: fault == Some(FaultKind::UnobservedEvent),
            finished: false,
            options,
        };
        if watch.options.timeout.is_zero() {
            watch.finished = true;
            return watch;
        }
        watch.next_bookmark = watch.bookmark_after(now);
        watch.begin(state);
        if fault == Some(FaultKind::WatchCut) {
            watch.gather(state);
            watch.finished = true;
        }
        watch
    }

    fn begin(&mut self, state: &State) {
        let current = state.storage.revision();
        let wants_state = match self.options.initial_events {
            Some(wants) => wants,
            None => self.options.version == 0,
        };
        if !wants_state {
            if self.options.version == 0 {
                self.position = current;
            }
            return;
        }
        // A state that is still to come is not waited for.
        if self.options.version > current {
            self.error(&ApiError::version_too_large(self.options.version, current));
            return;
        }
        self.position = current;
        let empty = BTreeMap::new();
        let objects = state
            .storage
            .get(&self.resource.store)
            .map_or(&empty, |collection| &collection.objects);
        for (key, object) in objects {
            if key.starts_with(&self.prefix) && self.selects(state, object) {
                self.tell(state, "ADDED", object);
            }
        }
        if self.options.initial_events == Some(true) && self.options.bookmarks {
            self.bookmark(state.now(), true);
        }
    }

    fn selects(&self, state: &State, object: &Stored) -> bool {
        let view = |stored: &Stored| state.view(&self.resource, stored);
        self.options.selector.matches(&self.resource, object, view)
    }

    fn tell(&mut self, state: &State, kind: &str, object: &Stored) {
        if std::mem::take(&mut self.blind) {
            return;
        }
        self.pending.extend_from_slice(b"{\"type\":\"");
        self.pending.extend_from_slice(kind.as_bytes());
        self.pending.extend_from_slice(b"\",\"object\":");
        let converted: Option<Body> = state.presented(&self.resource, object);
        let body = converted.as_ref().unwrap_or(&object.body);
        if self.shape.is_whole() {
            body.append_to(&mut self.pending);
        } else {
            let value = json::parse(&body.to_bytes()).map(|document| document.value);
            let shaped = self.shaped(state.now(), value.unwrap_or_default());
            Body::write(&shaped, None).append_to(&mut self.pending);
        }
        self.pending.extend_from_slice(b"}\n");
    }

    /// An object in the form that is asked for; a table names its columns once.
    fn shaped(&mut self, now: Timestamp, value: Value) -> Value {
        let headers = !std::mem::replace(&mut self.headed, true);
        let whole = value.clone();
        let shaped = self
            .shape
            .of(&self.resource, Sub::None, value, now, headers);
        shaped.unwrap_or(whole)
    }

    /// When the next bookmark comes, if one does.
    fn bookmark_after(&self, now: Instant) -> Option<Instant> {
        let last = self.deadline.checked_sub(BOOKMARK_BEFORE)?;
        let next = last.min(now + BOOKMARK_EVERY);
        (self.options.bookmarks && next > now).then_some(next)
    }

    fn bookmark(&mut self, now: Timestamp, end_of_state: bool) {
        let mut metadata = json!({"resourceVersion": self.position.to_string()});
        if end_of_state {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        let mut object = json!({
            "kind": &*self.resource.kind,
            "apiVersion": self.resource.api_version(),
            "metadata": metadata,
        });
        // Of a built-in kind an empty object is told, with the fields that are never left out.
        if let Some(builtin) = self.resource.builtin() {
            let decoded = typed::decode(&mut object, builtin.fields(), &mut Findings::default());
            debug_assert!(decoded.is_ok(), "what is written here fits every kind");
        }
        if !self.shape.is_whole() {
            object = self.shaped(now, object);
        }
        let event = json!({"type": "BOOKMARK", "object": object});
        self.line(&event.to_string());
    }

    fn error(&mut self, error: &ApiError) {
        let event = json!({"type": "ERROR", "object": error.body()});
        self.line(&event.to_string());
        self.finished = true;
    }

    fn line(&mut self, text: &str) {
        self.pending.extend_from_slice(text.as_bytes());
        self.pending.push(b'\n');
    }

    /// Takes up the changes since the last look.
    fn gather(&mut self, state: &State) {
        if self.finished {
            return;
        }
        let Some(collection) = state.storage.get(&self.resource.store) else {
            return;
        };
        let events: Vec<Event> = match collection.since(self.position) {
            Ok(events) => events.cloned().collect(),
            Err(oldest) => {
                let message = format!("too old resource version: {} ({oldest})", self.position);
                self.error(&ApiError::expired(message));
                return;
            }
        };
        for event in events {
            self.position = event.revision;
            if event.key.starts_with(&self.prefix) {
                self.change(state, &event);
            }
        }
        if collection.epoch != self.epoch {
            self.finished = true;
        }
        self.position = self.position.max(state.storage.revision());
    }

    fn change(&mut self, state: &State, event: &Event) {
        let before = event
            .previous
            .as_ref()
            .is_some_and(|previous| self.selects(state, previous));
        let after = !event.deleted && self.selects(state, &event.object);
        match (before, after) {
            (false, true) => self.tell(state, "ADDED", &event.object),
            (true, true) => self.tell(state, "MODIFIED", &event.object),
            (true, false) if event.deleted => self.tell(state, "DELETED", &event.object),
            (true, false) => {
                // It left the selection: told as its last selected state, at this revision.
                if let Some(previous) = &event.previous {
                    let mut value = previous.value();
                    value["metadata"]["resourceVersion"] = json!(event.revision.to_string());
                    let last = Stored {
                        revision: event.revision,
                        facts: previous.facts.clone(),
                        body: Body::write(&value, None),
                        written_as: Arc::clone(&previous.written_as),
                        untidy: false,
                    };
                    self.tell(state, "DELETED", &last);
                }
            }
            (false, false) => {}
        }
    }

    /// The next bytes of the stream; `None` is its end.
    pub(crate) async fn next(&mut self) -> Option<Result<Bytes, LostAnswer>> {
        loop {
            let (bell, shown) = {
                let cluster = self.cluster.clone();
                cluster.step(0, |state| {
                    self.gather(state);
                    let collection = state.storage.get(&self.resource.store);
                    let bell = collection.map(|collection| Arc::clone(&collection.bell));
                    (bell, state.storage.revision())
                })
            };
            // The bell is heard from here on: nothing can change between the look and the wait
            // without ringing it, since a ring wakes every `notified` that exists.
            let bell = bell?;
            let rung = bell.notified();
            tokio::pin!(rung);
            rung.as_mut().enable();
            if self.missed() {
                continue;
            }
            if !self.pending.is_empty() {
                // The position may be one that is still to come, and that no disk ever reaches.
                if self.cluster.is_kept() && self.cluster.written(shown).await.is_err() {
                    return Some(Err(LostAnswer));
                }
                return Some(Ok(std::mem::take(&mut self.pending).into()));
            }
            if self.finished {
                return None;
            }
            let bookmark = self.next_bookmark.unwrap_or(self.deadline);
            let wake = self.deadline.min(bookmark);
            tokio::select! {
                biased;
                () = &mut rung => {}
                () = tokio::time::sleep_until(wake) => self.timer(),
            }
        }
    }

    /// Whether something changed since the last look.
    fn missed(&self) -> bool {
        if self.finished {
            return false;
        }
        let state = self.cluster.lock();
        state
            .storage
            .get(&self.resource.store)
            .is_some_and(|collection| {
                collection.epoch != self.epoch
                    || collection
                        .since(self.position)
                        .map_or(true, |mut events| events.next().is_some())
            })
    }

    fn timer(&mut self) {
        let now = Instant::now();
        if self.next_bookmark.is_some_and(|next| now >= next) {
            let cluster = self.cluster.clone();
            let present = cluster.step(0, |state| {
                self.gather(state);
                state.now()
            });
            if !self.finished {
                self.bookmark(present, false);
            }
            self.next_bookmark = self.bookmark_after(now);
        }
        if now >= self.deadline {
            self.finished = true;
        }
    }
}
