//! What a cluster does wrong on purpose: the faults that controllers must survive.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// A write is refused with 409 `Conflict`, without effect.
    Conflict,
    /// A write takes effect, but its answer never arrives: the client sees a broken connection.
    LostAnswer,
    /// The request is refused with 429 and `Retry-After`, without effect.
    TooManyRequests {
        /// The seconds in `Retry-After`.
        retry_after: u32,
    },
    /// The request is refused with 500, without effect.
    InternalError,
    /// A watch ends at once, after what it had to tell already.
    WatchCut,
    /// A list or get answers with the state before the last `by` writes of that resource.
    StaleRead {
        /// How many writes are not seen.
        by: usize,
    },
    /// The next event of a watch is not delivered.
    UnobservedEvent,
}

/// One planned fault: what, on which requests, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What goes wrong.
    pub kind: FaultKind,
    /// Only requests with this verb (`get`, `list`, `watch`, `create`, `update`, `patch`, `delete`,
    /// `deletecollection`); any that the kind can hit, if none.
    pub verb: Option<&'static str>,
    /// Only requests on this resource (plural, as in URLs); any, if none.
    pub resource: Option<String>,
    /// Only requests on an object of this name; any, if none.
    pub name: Option<String>,
    /// How many matching requests pass unharmed first.
    pub skip: u32,
    /// How many requests it then hits.
    pub times: u32,
}

impl Fault {
    /// A fault that hits the next request that it can hit.
    pub fn new(kind: FaultKind) -> Self {
        Self {
            kind,
            verb: None,
            resource: None,
            name: None,
            skip: 0,
            times: 1,
        }
    }

    /// Only on requests with this verb.
    #[must_use]
    pub fn verb(mut self, verb: &'static str) -> Self {
        self.verb = Some(verb);
        self
    }

    /// Only on this resource (its plural).
    #[must_use]
    pub fn resource(mut self, plural: impl Into<String>) -> Self {
        self.resource = Some(plural.into());
        self
    }

    /// Only on objects of this name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Lets this many matching requests pass first.
    #[must_use]
    pub fn after(mut self, skip: u32) -> Self {
        self.skip = skip;
        self
    }

    /// Hits this many requests.
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        self.times = times;
        self
    }

    fn matches(&self, verb: &str, resource: &str, name: Option<&str>) -> bool {
        self.kind.can_hit(verb)
            && self.verb.is_none_or(|wanted| wanted == verb)
            && self
                .resource
                .as_deref()
                .is_none_or(|wanted| wanted == resource)
            && self
                .name
                .as_deref()
                .is_none_or(|wanted| Some(wanted) == name)
    }
}

impl FaultKind {
    fn can_hit(self, verb: &str) -> bool {
        let write = !matches!(verb, "get" | "list" | "watch");
        match self {
            Self::Conflict => matches!(verb, "create" | "update" | "patch" | "delete"),
            Self::LostAnswer => write,
            Self::TooManyRequests { .. } | Self::InternalError => true,
            Self::WatchCut | Self::UnobservedEvent => verb == "watch",
            Self::StaleRead { .. } => matches!(verb, "get" | "list"),
        }
    }
}

/// The faults that a cluster still has to commit, and those that it has committed.
///
/// # Expected flow
/// 1. A test, the explorer or chaos adds faults with [`FaultPlan::add`].
/// 2. Each request asks for the first fault that matches it; the fault fires as often as it says.
/// 3. [`FaultPlan::fired`] tells what happened, [`FaultPlan::clear`] stops everything.
#[derive(Debug, Default)]
pub struct FaultPlan {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    pending: VecDeque<Fault>,
    fired: Vec<String>,
}

impl FaultPlan {
    /// Plans a fault. Faults are tried in the order in which they were added; one fires per request.
    pub fn add(&self, fault: Fault) {
        self.lock().pending.push_back(fault);
    }

    /// Forgets the faults that have not fired yet.
    pub fn clear(&self) {
        self.lock().pending.clear();
    }

    /// How many planned faults have not been used up.
    pub fn pending(&self) -> usize {
        self.lock().pending.len()
    }

    /// The faults that fired, in order, each as `kind verb resource/name`.
    pub fn fired(&self) -> Vec<String> {
        self.lock().fired.clone()
    }

    /// The fault that this request meets, if any.
    pub(crate) fn strike(
        &self,
        verb: &str,
        resource: &str,
        name: Option<&str>,
    ) -> Option<FaultKind> {
        let mut state = self.lock();
        let mut hit = None;
        for (index, fault) in state.pending.iter_mut().enumerate() {
            if !fault.matches(verb, resource, name) {
                continue;
            }
            if fault.skip > 0 {
                fault.skip -= 1;
                continue;
            }
            fault.times = fault.times.saturating_sub(1);
            hit = Some((index, fault.kind, fault.times == 0));
            break;
        }
        let (index, kind, used_up) = hit?;
        if used_up {
            state.pending.remove(index);
        }
        state.fired.push(format!(
            "{kind:?} {verb} {resource}/{}",
            name.unwrap_or("*")
        ));
        Some(kind)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
