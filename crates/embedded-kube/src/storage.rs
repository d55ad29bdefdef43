//! The storage of one cluster: objects by resource and key, one revision counter, the history that
//! watches and paged lists need.
//!
//! An object is kept as the bytes that answer a `get`, with the few facts that the server itself
//! asks for. So reads cost no encoding, and an idle object costs no tree of values.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize as _;
use serde_json::Value;
use tokio::sync::Notify;

use crate::deep;
use crate::journal::Change;
use crate::json;
use crate::meta::Facts;
use crate::resource::Resource;
use crate::text::json_float;

/// An object as it is stored.
#[derive(Debug)]
pub(crate) struct Stored {
    /// The revision of its last change: its `resourceVersion`.
    pub(crate) revision: u64,
    pub(crate) facts: Facts,
    pub(crate) body: Body,
    /// The resource (with its version) that the bytes are written in.
    pub(crate) written_as: Arc<Resource>,
    /// Whether the real store would hold more than is ever shown: then a change without effect is a
    /// change.
    pub(crate) untidy: bool,
}

impl Stored {
    /// The object as a tree of values.
    pub(crate) fn value(&self) -> Value {
        json::parse(&self.body.to_bytes())
            .map(|d| d.value)
            .unwrap_or_default()
    }
}

/// The JSON of an object; it begins with `apiVersion` and `kind`, and ends with a line end.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    /// How many bytes `{"apiVersion":…,"kind":…,` takes.
    prefix: usize,
    head: Bytes,
    /// A part that many objects share (the `spec` of a definition), and what follows it.
    shared: Option<(Bytes, Bytes)>,
}

impl Body {
    /// Writes an object. `share` may replace the bytes of its `spec` by equal, shared ones.
    pub(crate) fn write(object: &Value, share: Option<fn(Vec<u8>) -> Bytes>) -> Self {
        let mut out = Vec::with_capacity(512);
        out.push(b'{');
        for key in ["apiVersion", "kind"] {
            write_json(&mut out, &Value::from(key));
            out.push(b':');
            write_json(&mut out, &object[key]);
            out.push(b',');
        }
        let prefix = out.len();
        let mut shared = None;
        let mut rest = Vec::new();
        for (key, value) in object.as_object().into_iter().flatten() {
            if matches!(key.as_str(), "apiVersion" | "kind") {
                continue;
            }
            if let Some(share) = share
                && key == "spec"
            {
                shared = Some(share(to_vec(value)));
                continue;
            }
            if !rest.is_empty() {
                rest.push(b',');
            }
            write_json(&mut rest, &Value::from(key.as_str()));
            rest.push(b':');
            write_json(&mut rest, value);
        }
        out.extend_from_slice(&rest);
        let end: &'static [u8] = b"}\n";
        out.extend_from_slice(if shared.is_some() { b",\"spec\":" } else { end });
        let shared = shared.map(|shared| (shared, Bytes::from_static(end)));
        out.shrink_to_fit();
        Self {
            prefix,
            head: out.into(),
            shared,
        }
    }

    /// The whole object.
    pub(crate) fn to_bytes(&self) -> Bytes {
        if self.shared.is_none() {
            return self.head.clone();
        }
        let mut out = Vec::with_capacity(self.len());
        self.append_to(&mut out);
        out.push(b'\n');
        out.into()
    }

    /// Appends the whole object, without the line end.
    pub(crate) fn append_to(&self, out: &mut Vec<u8>) {
        self.append_from(0, out);
    }

    fn append_from(&self, start: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.head[start..]);
        if let Some((shared, tail)) = &self.shared {
            out.extend_from_slice(shared);
            out.extend_from_slice(tail);
        }
        out.pop();
    }

    /// Appends the object without `apiVersion` and `kind`, as items of typed lists are.
    pub(crate) fn append_untyped(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        self.append_from(self.prefix, out);
    }

    /// How deep it nests.
    pub(crate) fn depth(&self) -> usize {
        let shared = self.shared.as_ref().map_or(0, |(spec, _)| deep::of(spec));
        deep::of(&self.head).max(shared + 1)
    }

    /// How many bytes it takes on the wire.
    pub(crate) fn len(&self) -> usize {
        self.head.len()
            + self
                .shared
                .as_ref()
                .map_or(0, |(shared, tail)| shared.len() + tail.len())
    }
}

fn write_json(out: &mut Vec<u8>, value: &Value) {
    let mut serializer = serde_json::Serializer::with_formatter(out, Floats);
    // Writing a tree of values to memory cannot fail.
    let _ = value.serialize(&mut serializer);
}

/// Compact JSON with floats as the real server writes them.
struct Floats;

impl serde_json::ser::Formatter for Floats {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(json_float(value).as_bytes())
    }
}

pub(crate) fn to_vec(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write_json(&mut out, value);
    out
}

/// How many bytes of past states a resource keeps at most, however few changes that are.
const HISTORY_BYTES: usize = 64 * 1024 * 1024;

/// One change.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) revision: u64,
    pub(crate) key: Box<str>,
    /// The state after it; for a deletion the last state, under the revision of the deletion.
    pub(crate) object: Arc<Stored>,
    /// The state before it; none for a creation.
    pub(crate) previous: Option<Arc<Stored>>,
    pub(crate) deleted: bool,
}

/// The objects of one resource.
#[derive(Debug)]
pub(crate) struct Collection {
    pub(crate) objects: BTreeMap<Box<str>, Arc<Stored>>,
    log: VecDeque<Event>,
    /// How many bytes the objects of the log have.
    log_bytes: usize,
    /// All changes after this revision are in the log.
    floor: u64,
    /// Rises when watches must end, because what they watch is served in another way from now on.
    pub(crate) epoch: u64,
    /// Rung at every change.
    pub(crate) bell: Arc<Notify>,
}

impl Collection {
    fn new(revision: u64) -> Self {
        Self {
            objects: BTreeMap::new(),
            log: VecDeque::new(),
            log_bytes: 0,
            floor: revision,
            epoch: 0,
            bell: Arc::new(Notify::new()),
        }
    }

    /// The changes after `revision`; an error names the oldest revision that can still be told.
    pub(crate) fn since(
        &self,
        revision: u64,
    ) -> Result<impl DoubleEndedIterator<Item = &Event>, u64> {
        if revision < self.floor {
            return Err(self.floor);
        }
        let start = self.log.partition_point(|event| event.revision <= revision);
        Ok(self.log.range(start..))
    }

    /// The objects as they were at `revision`, for keys that start with `prefix`.
    pub(crate) fn at(
        &self,
        revision: u64,
        prefix: &str,
    ) -> Result<BTreeMap<Box<str>, Arc<Stored>>, u64> {
        let mut objects: BTreeMap<Box<str>, Arc<Stored>> = self
            .objects
            .range::<str, _>((
                std::ops::Bound::Included(prefix),
                std::ops::Bound::Unbounded,
            ))
            .take_while(|(key, _)| key.starts_with(prefix))
            .map(|(key, object)| (key.clone(), Arc::clone(object)))
            .collect();
        for event in self.since(revision)?.rev() {
            if !event.key.starts_with(prefix) {
                continue;
            }
            match &event.previous {
                Some(previous) => objects.insert(event.key.clone(), Arc::clone(previous)),
                None => objects.remove(&event.key),
            };
        }
        Ok(objects)
    }

    /// The revision before the last `by` changes.
    pub(crate) fn revision_before(&self, by: usize, current: u64) -> u64 {
        let index = self.log.len().saturating_sub(by);
        self.log
            .get(index)
            .map_or(current, |event| event.revision - 1)
    }

    /// Takes back a change that was written down. One that was forgotten at once says at least
    /// how much cannot be told.
    pub(crate) fn restore(&mut self, event: Event, floor: u64) {
        self.floor = floor;
        if event.revision > floor {
            self.log_bytes += event.object.body.len();
            self.log.push_back(event);
        }
    }

    fn record(&mut self, event: Event, history: usize) {
        self.log_bytes += event.object.body.len();
        self.log.push_back(event);
        while self.log.len() > history || self.log_bytes > HISTORY_BYTES {
            let Some(forgotten) = self.log.pop_front() else {
                break;
            };
            self.floor = forgotten.revision;
            self.log_bytes -= forgotten.object.body.len();
        }
        self.bell.notify_waiters();
    }
}

/// Everything that a cluster stores.
#[derive(Debug)]
pub(crate) struct Storage {
    revision: u64,
    history: usize,
    collections: BTreeMap<Box<str>, Collection>,
    /// What was changed and is still to be written down, if anything ever is.
    unwritten: Option<Vec<Change>>,
}

impl Storage {
    /// An empty storage that remembers `history` changes of each resource.
    pub(crate) fn new(history: usize) -> Self {
        Self {
            revision: 1,
            history,
            collections: BTreeMap::new(),
            unwritten: None,
        }
    }

    /// From now on changes are noted, to be written down.
    pub(crate) fn note_changes(&mut self) {
        self.unwritten = Some(Vec::new());
    }

    /// What was changed since the last time.
    pub(crate) fn take_changes(&mut self) -> Vec<Change> {
        self.unwritten
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// Goes on at a revision, with collections that were read back.
    pub(crate) fn resume_at(&mut self, revision: u64) {
        self.revision = revision;
    }

    fn note(&mut self, store: &str, event: &Event) {
        let floor = self.collection(store).floor;
        if let Some(unwritten) = &mut self.unwritten {
            let written =
                |stored: &Stored| (stored.written_as.version.clone(), stored.body.to_bytes());
            unwritten.push(Change {
                store: store.into(),
                key: event.key.clone(),
                revision: event.revision,
                deleted: event.deleted,
                object: written(&event.object),
                previous: event.previous.as_deref().map(written),
                floor,
            });
        }
    }

    /// The revision of the last change.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// The collection of this name, if it has ever been used.
    pub(crate) fn get(&self, store: &str) -> Option<&Collection> {
        self.collections.get(store)
    }

    /// The collection of this name.
    pub(crate) fn collection(&mut self, store: &str) -> &mut Collection {
        if !self.collections.contains_key(store) {
            self.collections
                .insert(store.into(), Collection::new(self.revision));
        }
        self.collections
            .get_mut(store)
            .expect("it was inserted above")
    }

    /// The names of all collections.
    pub(crate) fn stores(&self) -> impl Iterator<Item = (&str, &Collection)> {
        self.collections
            .iter()
            .map(|(name, collection)| (&**name, collection))
    }

    /// The object of this key.
    pub(crate) fn object(&self, store: &str, key: &str) -> Option<&Arc<Stored>> {
        self.collections.get(store)?.objects.get(key)
    }

    /// The revision that the next change will have.
    pub(crate) fn next_revision(&self) -> u64 {
        self.revision + 1
    }

    /// Stores an object that was written for [`Storage::next_revision`].
    pub(crate) fn put(&mut self, store: &str, key: &str, object: Arc<Stored>) {
        self.revision += 1;
        let (revision, history) = (self.revision, self.history);
        let collection = self.collection(store);
        let previous = collection.objects.insert(key.into(), Arc::clone(&object));
        let event = Event {
            revision,
            key: key.into(),
            object,
            previous,
            deleted: false,
        };
        self.record(store, event, history);
    }

    fn record(&mut self, store: &str, event: Event, history: usize) {
        if self.unwritten.is_none() {
            self.collection(store).record(event, history);
            return;
        }
        self.collection(store).record(event.clone(), history);
        self.note(store, &event);
    }

    /// Removes an object; `last` is its last state, written for [`Storage::next_revision`].
    pub(crate) fn remove(&mut self, store: &str, key: &str, last: Arc<Stored>) {
        self.revision += 1;
        let (revision, history) = (self.revision, self.history);
        let collection = self.collection(store);
        if let Some(previous) = collection.objects.remove(key) {
            let event = Event {
                revision,
                key: key.into(),
                object: last,
                previous: Some(previous),
                deleted: true,
            };
            self.record(store, event, history);
        }
    }

    /// Ends all watches of a collection.
    pub(crate) fn end_watches(&mut self, store: &str) {
        let collection = self.collection(store);
        collection.epoch += 1;
        collection.bell.notify_waiters();
    }

    /// Forgets all history.
    pub(crate) fn compact(&mut self) {
        for collection in self.collections.values_mut() {
            collection.log = VecDeque::new();
            collection.log_bytes = 0;
            collection.floor = self.revision;
        }
    }
}
