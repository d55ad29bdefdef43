//! Whose pass it is: each claim is an actor of its own, so that theft between claims is seen.
//!
//! The reconciler says it itself, in the spans that it works in; nothing that a Step says of itself is
//! believed. Two lives of one name have two UUIDs, so they are two claims.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex};

use cloud_sim::Actor;
use ownership::mark::Tags;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// The span of a pass over an object, and the one inside it of the work for its claim.
const SPANS: [&str; 2] = ["pass", "claim"];

/// A claim that has performed a Step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Who {
    /// The object's name, with its namespace before it where it has one.
    pub(super) name: String,
    /// The claim's hash.
    pub(super) hash: String,
}

/// The claims of one run, in the order of their first Steps: a claim's place is its actor's number.
#[derive(Clone, Debug, Default)]
pub(super) struct Claims(Arc<Mutex<Vec<Who>>>);

impl Claims {
    /// The actor of the pass that this is called in.
    pub(super) fn current(&self) -> Actor {
        let [name, hash] = SPANS.map(current);
        let (Some(name), Some(hash)) = (name, hash) else {
            panic!("a Step is performed outside of the spans {SPANS:?} of a pass");
        };
        let who = Who { name, hash };
        let mut all = self.0.lock().unwrap();
        let at = all.iter().position(|other| *other == who);
        let at = at.unwrap_or_else(|| {
            all.push(who);
            all.len() - 1
        });
        Actor::Engine(u8::try_from(at).unwrap())
    }

    /// The claim of an actor; `None` if it is none.
    pub(super) fn who(&self, actor: Actor) -> Option<Who> {
        let Actor::Engine(number) = actor else {
            return None;
        };
        self.0.lock().unwrap().get(usize::from(number)).cloned()
    }

    /// Whether tags hold the mark of a claim of this run other than `who`.
    pub(super) fn others_marked(&self, who: &Who, tags: &Tags) -> bool {
        let all = self.0.lock().unwrap();
        all.iter()
            .any(|other| other.hash != who.hash && other.marked(tags))
    }
}

impl Who {
    /// Whether tags hold this claim's mark.
    pub(super) fn marked(&self, tags: &Tags) -> bool {
        let key = format!("freehold.dev/{}", self.hash);
        tags.iter().any(|(held, _)| **held == *key)
    }
}

/// Begins to listen to spans, in the whole process.
pub(super) fn listen() {
    tracing::subscriber::set_global_default(Listener::default()).unwrap();
}

thread_local! {
    /// What this thread is in: the spans' names and values, innermost last.
    static ENTERED: RefCell<Vec<Said>> = const { RefCell::new(Vec::new()) };
}

/// A span's name, and the first thing that it says.
type Said = (&'static str, Arc<str>);

fn current(name: &str) -> Option<String> {
    ENTERED.with_borrow(|entered| {
        let mut inwards = entered.iter().rev();
        let (_, value) = inwards.find(|(span, _)| *span == name)?;
        Some(value.to_string())
    })
}

/// Keeps track of which pass each thread is in. Spans that say the same have the same id.
#[derive(Default)]
struct Listener(Mutex<Heard>);

#[derive(Default)]
struct Heard {
    ids: BTreeMap<Said, NonZeroU64>,
    said: BTreeMap<NonZeroU64, Said>,
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span()
            && SPANS.contains(&metadata.name())
            && metadata.target().starts_with("controllers")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut value = First::default();
        span.record(&mut value);
        let said = (span.metadata().name(), value.0.unwrap_or_default().into());
        let mut heard = self.0.lock().unwrap();
        let next = u64::try_from(heard.ids.len()).unwrap();
        let next = NonZeroU64::MIN.saturating_add(next);
        let id = *heard.ids.entry(said.clone()).or_insert(next);
        heard.said.insert(id, said);
        Id::from_non_zero_u64(id)
    }

    fn enter(&self, span: &Id) {
        let said = self.0.lock().unwrap().said[&span.into_non_zero_u64()].clone();
        ENTERED.with_borrow_mut(|entered| entered.push(said));
    }

    fn exit(&self, _: &Id) {
        ENTERED.with_borrow_mut(Vec::pop);
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}
}

/// The first field of a span.
#[derive(Default)]
struct First(Option<String>);

impl Visit for First {
    fn record_debug(&mut self, _: &Field, value: &dyn fmt::Debug) {
        self.0.get_or_insert_with(|| format!("{value:?}"));
    }
}
