//! What came in, how long moto took, and what came of it.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::call::Call;

/// A call that came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// `CreateVpc`; method and path of what is no call in the query protocol.
    pub operation: String,
    /// Whether it may change something.
    pub writes: bool,
    /// When it came in, since the proxy was started.
    pub at: Duration,
    /// How long moto took for it; `None` while it does, and where moto has not heard of it.
    pub moto: Option<Duration>,
    /// How long it was from its coming in to moto's answer: its effect came no later.
    pub effect: Option<Duration>,
    /// The status it was answered with; `None` where there was no answer, or is none yet.
    pub status: Option<u16>,
    /// The fault that struck it.
    pub fault: Option<&'static str>,
    /// Whether it is under way still.
    pub under_way: bool,
}

/// How often an operation was called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// How many calls came in.
    pub calls: usize,
    /// Whether it may change something.
    pub writes: bool,
}

/// The calls so far, in the order in which they came in.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    /// Each of them.
    pub all: Vec<Seen>,
}

impl Calls {
    /// How often this operation was called.
    pub fn of(&self, operation: &str) -> usize {
        self.all
            .iter()
            .filter(|seen| seen.operation == operation)
            .count()
    }

    /// How many calls may have changed something.
    pub fn writes(&self) -> usize {
        self.all.iter().filter(|seen| seen.writes).count()
    }

    /// How often which operation was called.
    pub fn by_operation(&self) -> BTreeMap<&str, Count> {
        let mut counts = BTreeMap::<_, Count>::new();
        for seen in &self.all {
            let count = counts.entry(seen.operation.as_str()).or_default();
            count.calls += 1;
            count.writes = seen.writes;
        }
        counts
    }

    /// How many are under way: they came in and were not answered yet.
    pub fn under_way(&self) -> usize {
        self.all.iter().filter(|seen| seen.under_way).count()
    }

    /// The longest that moto took for one call.
    pub fn slowest_answer(&self) -> Duration {
        let took = self.all.iter().filter_map(|seen| seen.moto);
        took.max().unwrap_or_default()
    }

    /// The longest from a call's coming in to its effect, with what the proxy made of it: delays,
    /// and waiting for the writes before it. Where this stays below T, assumption A3 held.
    pub fn slowest_effect(&self) -> Duration {
        let took = self.all.iter().filter_map(|seen| seen.effect);
        took.max().unwrap_or_default()
    }
}

/// Where calls are written down.
#[derive(Debug)]
pub(crate) struct Log {
    started: Instant,
    seen: Mutex<Vec<Seen>>,
    troubles: Mutex<Vec<String>>,
}

impl Log {
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
            seen: Mutex::default(),
            troubles: Mutex::default(),
        }
    }

    pub(crate) fn calls(&self) -> Calls {
        Calls {
            all: self.seen().clone(),
        }
    }

    pub(crate) fn writes_under_way(&self) -> usize {
        let seen = self.seen();
        seen.iter()
            .filter(|seen| seen.writes && seen.under_way)
            .count()
    }

    /// A call has come in.
    pub(crate) fn begin(&self, call: Option<&Call>, otherwise: String) -> Entry<'_> {
        let mut seen = self.seen();
        seen.push(Seen {
            operation: call.map_or(otherwise, |call| call.operation.clone()),
            writes: call.is_some_and(Call::writes),
            at: self.started.elapsed(),
            moto: None,
            effect: None,
            status: None,
            fault: None,
            under_way: true,
        });
        Entry {
            log: self,
            at: seen.len() - 1,
        }
    }

    /// A request came to nothing, and no fault was to blame.
    pub(crate) fn trouble(&self, error: &io::Error) {
        self.said().push(error.to_string());
    }

    pub(crate) fn troubles(&self) -> Vec<String> {
        self.said().clone()
    }

    fn said(&self) -> MutexGuard<'_, Vec<String>> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn seen(&self) -> MutexGuard<'_, Vec<Seen>> {
        // Nothing here panics half way.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The entry of a call; the call is under way until this is dropped.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    log: &'a Log,
    at: usize,
}

impl Entry<'_> {
    pub(crate) fn struck(&self, fault: &'static str) {
        self.write(|seen| seen.fault = Some(fault));
    }

    /// moto has answered, after this time.
    pub(crate) fn done(&self, took: Duration) {
        let now = self.log.started.elapsed();
        self.write(|seen| {
            seen.moto = Some(took);
            seen.effect = Some(now - seen.at);
        });
    }

    pub(crate) fn answered(&self, status: u16) {
        self.write(|seen| seen.status = Some(status));
    }

    fn write(&self, change: impl FnOnce(&mut Seen)) {
        if let Some(seen) = self.log.seen().get_mut(self.at) {
            change(seen);
        }
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.write(|seen| seen.under_way = false);
    }
}
