//! Calls under way: what a process has sent that may still take effect.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ownership::CloudError;
use ownership::error::Class;
use ownership::time::{Millis, Tick};

use crate::driver::Clock;

/// The calls of a process that change something in a cloud, and may still do so.
///
/// # Expected flow
/// 1. Every [`Inventory`](crate::Inventory) of the process counts on the same one.
/// 2. When the work has ended, [`Calls::are_over`] says whether the next process has something to
///    wait for (assumption A3).
///
/// # Guarantees
/// A call is under way from before it is sent until it is answered. One whose outcome is not known,
/// or that nobody waits for any more, counts for T from then on: a Step may be more than one request,
/// and the last may have been sent at that very moment.
#[derive(Clone)]
pub struct Calls {
    clock: Arc<dyn Clock>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// How many wait for their answer.
    open: usize,
    /// When the last one ended without an answer that says what came of it.
    unknown: Option<Tick>,
}

impl Calls {
    /// None yet.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let state = Arc::default();
        Self { clock, state }
    }

    /// Whether no call can take effect any more; `timeout` is T.
    pub fn are_over(&self, timeout: Millis) -> bool {
        let now = self.clock.now();
        let state = self.state();
        state.open == 0 && state.unknown.is_none_or(|ended| now >= ended + timeout)
    }

    /// Counts a call that is about to be sent.
    pub fn begin(&self) -> Begun<'_> {
        self.state().open += 1;
        Begun {
            calls: self,
            is_known: false,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in there can be half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Calls").field(&*self.state()).finish()
    }
}

/// A call under way. Dropped without an outcome it was given up.
#[derive(Debug)]
#[must_use]
pub struct Begun<'a> {
    calls: &'a Calls,
    is_known: bool,
}

impl Begun<'_> {
    /// The call was answered.
    pub fn end<T>(mut self, outcome: Result<&T, &CloudError>) {
        let unknown = |error: &CloudError| error.class == Class::Unknown;
        self.is_known = !outcome.is_err_and(unknown);
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        let now = self.calls.clock.now();
        let mut state = self.calls.state();
        state.open = state.open.saturating_sub(1);
        if !self.is_known {
            state.unknown = state.unknown.max(Some(now));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::task::{Context, Poll, Waker};

    use ownership::step::MarkRight;
    use ownership::time::REQUEST_TIMEOUT;
    use ownership::{Answer, Query, Step};

    use super::*;
    use crate::{Cloud, Deadline, Effect, Inventory};

    #[derive(Default)]
    struct Hand(AtomicU64);

    impl Clock for Hand {
        fn now(&self) -> Tick {
            Tick(self.0.load(Ordering::Relaxed))
        }
    }

    /// Answers every Step with this; without it, never.
    struct Fake(Option<Result<Effect, CloudError>>);

    impl Cloud for Fake {
        async fn read(&self, _: &Query) -> Result<Answer, CloudError> {
            Ok(Answer::default())
        }

        async fn perform(&self, _: &Step, _: Deadline<'_>) -> Result<Effect, CloudError> {
            match &self.0 {
                Some(answer) => answer.clone(),
                None => std::future::pending().await,
            }
        }
    }

    /// Begins a Step, lets T minus a millisecond pass, gives it up if it was not answered, and says
    /// whether the calls were over: after that time, when it was given up, and for how long not.
    fn over_after(answer: Option<Result<Effect, CloudError>>) -> (bool, bool, u64) {
        let clock = Arc::new(Hand::default());
        let calls = Calls::new(clock.clone());
        let inventory = Inventory::new(Fake(answer), &[]).counted(calls.clone());
        let is_over = || calls.are_over(REQUEST_TIMEOUT);
        assert!(is_over(), "nothing was sent");
        let step = Step::Mark {
            targets: Vec::new(),
            tags: Vec::new(),
            right: MarkRight::Trace,
        };
        let before = {
            let mut call = pin!(inventory.perform(&step, Deadline::never()));
            let mut context = Context::from_waker(Waker::noop());
            let waits = matches!(call.as_mut().poll(&mut context), Poll::Pending);
            assert!(!waits || !is_over(), "it waits for its answer");
            clock.0.fetch_add(REQUEST_TIMEOUT.0 - 1, Ordering::Relaxed);
            is_over()
        };
        let dropped = is_over();
        let from = clock.now();
        while !is_over() {
            clock.0.fetch_add(1, Ordering::Relaxed);
        }
        (before, dropped, (clock.now() - from).0)
    }

    #[test]
    fn a_call_is_under_way_until_its_outcome_is_known_or_cannot_change() {
        let failed = |class| Some(Err(CloudError::new(class, "x", "x")));
        assert_eq!(over_after(Some(Ok(Effect::default()))), (true, true, 0));
        assert_eq!(over_after(failed(Class::Fatal)), (true, true, 0));
        assert_eq!(over_after(failed(Class::Throttled)), (true, true, 0));
        assert_eq!(
            over_after(failed(Class::Unknown)),
            (false, false, 1),
            "T from its end on"
        );
        assert_eq!(
            over_after(None),
            (false, false, REQUEST_TIMEOUT.0),
            "T from when it was given up"
        );
    }
}
