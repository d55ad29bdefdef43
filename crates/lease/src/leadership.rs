//! What the rest of the process knows of its leadership.

use std::sync::Arc;
use std::time::Duration;

use cloud_port::driver::Term;
use ownership::time::{Millis, Tick};
use tokio::sync::watch;

use crate::Clock;

/// A term as it was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    /// Not before: the holder before may have sent calls with a longer T than ours.
    pub(crate) starts: Tick,
    /// When the wait for the calls of others began; `None` if there are none.
    pub(crate) began: Option<Tick>,
    pub(crate) ends: Tick,
}

impl Held {
    /// Whether every call that was sent before this term has taken effect; `timeout` is T.
    pub(crate) fn is_past_others(&self, now: Tick, timeout: Millis) -> bool {
        self.began.is_none_or(|began| now >= began + timeout)
    }
}

/// Whether this process leads, as of the moment of asking.
///
/// # Guarantees
/// A term ends when its time is over, also if the [`Elector`](crate::Elector) hangs or is gone.
#[derive(Clone)]
pub struct Leadership {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) state: watch::Receiver<Option<Held>>,
}

impl Leadership {
    /// The present term, for the driver; `None` if somebody else leads, or nobody.
    pub fn term(&self) -> Option<Term> {
        let held = *self.state.borrow();
        let now = self.clock.now();
        let held = held.filter(|held| held.starts <= now && now < held.ends);
        held.map(|held| Term {
            began: held.began,
            ends: Some(held.ends),
        })
    }

    /// What is left of the term, unless it is renewed.
    pub fn left(&self) -> Millis {
        let ends = self.term().and_then(|term| term.ends);
        ends.map_or(Millis(0), |ends| ends - self.clock.now())
    }

    /// Waits for a term; `None` if there will be none, because the elector has ended.
    pub async fn gained(&mut self) -> Option<Term> {
        loop {
            self.state.mark_unchanged();
            if let Some(term) = self.term() {
                return Some(term);
            }
            let now = self.clock.now();
            let held = *self.state.borrow();
            match held.map(|held| held.starts).filter(|starts| now < *starts) {
                Some(starts) => {
                    let left = Duration::from_millis((starts - now).0);
                    tokio::select! {
                        changed = self.state.changed() => changed.ok()?,
                        () = tokio::time::sleep(left) => {}
                    }
                }
                None => self.state.changed().await.ok()?,
            }
        }
    }

    /// Waits until there is no term any more.
    pub async fn lost(&mut self) {
        loop {
            self.state.mark_unchanged();
            let left = self.left();
            if left == Millis(0) {
                return;
            }
            let over = tokio::time::sleep(Duration::from_millis(left.0));
            tokio::select! {
                changed = self.state.changed() => {
                    if changed.is_err() {
                        // Nobody renews it any more: it ends when its time is over.
                        tokio::time::sleep(Duration::from_millis(self.left().0)).await;
                    }
                }
                () = over => {}
            }
        }
    }
}
