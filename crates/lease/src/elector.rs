//! The candidate for a Lease: looks, acquires, renews, releases.

use std::sync::Arc;
use std::time::Duration;

use cloud_port::Calls;
use k8s_openapi::api::coordination::v1::Lease;
use kube::Client;
use kube::api::{Api, PostParams};
use ownership::input::InputError;
use ownership::time::{Millis, Tick};
use tokio::sync::watch;

use crate::leadership::{Held, Leadership};
use crate::record::{self, Before, Entry};
use crate::{CALL_TIMEOUT, Clock, RENEW_EVERY, RETRY_EVERY, Times};

/// Who stands for which Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The Lease's namespace.
    pub namespace: String,
    /// The Lease's name.
    pub name: String,
    /// What the Lease shows of its holder. If two candidates have the same, still only one holds.
    pub identity: String,
}

/// A candidate for a Lease.
///
/// # Expected flow
/// 1. [`Elector::new`]; hand its [`Leadership`] to whoever needs a term.
/// 2. [`Elector::run`] in a task of its own.
/// 3. To stop: end the work, then let `run`'s `stop` come true. The Lease is released, and the next
///    holder need not wait for its end; nor for anything else if no call is under way.
///
/// # Guarantees
/// Those of the [crate]. Dropping the future of `run` is a crash: the Lease runs out by itself.
pub struct Elector {
    api: Api<Lease>,
    candidate: Candidate,
    times: Times,
    /// The calls of this process to clouds.
    calls: Calls,
    clock: Arc<dyn Clock>,
    state: watch::Sender<Option<Held>>,
    /// What the Lease said when it was last read or written; `None` if it has to be read first.
    known: Option<Known>,
    /// The last foreign record, and when it was first seen here: kept when the Lease is gone.
    foreign: Option<Foreign>,
    /// The entry of our term, or of an attempt whose outcome is not known.
    entry: Option<Entry>,
    /// The holder before that entry.
    before: Before,
}

enum Known {
    Absent,
    Is(Box<Lease>),
}

struct Foreign {
    lease: Lease,
    since: Tick,
}

impl Foreign {
    fn ends(&self) -> Tick {
        self.since + record::duration(&self.lease)
    }
}

impl Elector {
    /// A candidate, and what the rest of the process sees of it.
    ///
    /// # Errors
    /// A part of the candidate that is empty: a Lease whose holder has no name is free.
    pub fn new(
        client: Client,
        candidate: Candidate,
        times: Times,
        calls: Calls,
        clock: Arc<dyn Clock>,
    ) -> Result<(Self, Leadership), InputError> {
        for (field, value) in [
            ("lease namespace", &candidate.namespace),
            ("lease name", &candidate.name),
            ("lease identity", &candidate.identity),
        ] {
            if value.is_empty() {
                return Err(InputError::new(field, value, "must not be empty"));
            }
        }
        let (state, receiver) = watch::channel(None);
        let leadership = Leadership {
            clock: Arc::clone(&clock),
            state: receiver,
        };
        let elector = Self {
            api: Api::namespaced(client, &candidate.namespace),
            candidate,
            times,
            calls,
            clock,
            state,
            known: None,
            foreign: None,
            entry: None,
            before: Before::of(None),
        };
        Ok((elector, leadership))
    }

    /// Stands for the Lease until `stop`, then releases it.
    ///
    /// `stop` must not come true before the work that needs a term has ended.
    pub async fn run(mut self, stop: impl Future<Output = ()>) {
        tokio::pin!(stop);
        loop {
            let turn = async {
                let pause = self.turn().await;
                tokio::time::sleep(Duration::from_millis(pause.0)).await;
            };
            tokio::select! {
                () = &mut stop => break,
                () = turn => {}
            }
        }
        let held = self.state.send_replace(None);
        self.release(held).await;
    }

    /// Reads if need be, writes if the Lease is ours or free; says when to come again.
    async fn turn(&mut self) -> Millis {
        if self.known.is_none() && self.read().await.is_err() {
            return RETRY_EVERY;
        }
        let now = self.clock.now();
        if self.may_write(now) {
            return match self.write().await {
                Ok(()) => RENEW_EVERY,
                Err(()) => RETRY_EVERY,
            };
        }
        // Look again: that is how its renewals are seen.
        self.known = None;
        let ends = self.foreign.as_ref().map_or(now, Foreign::ends);
        (ends - now).clamp(Millis(1), RETRY_EVERY)
    }

    fn may_write(&self, now: Tick) -> bool {
        let expired = || self.foreign.as_ref().is_none_or(|f| now >= f.ends());
        match &self.known {
            None => false,
            // Its holder may not have noticed yet.
            Some(Known::Absent) => expired(),
            Some(Known::Is(lease)) => {
                self.is_ours(lease) || record::holder(lease).is_none() || expired()
            }
        }
    }

    fn is_ours(&self, lease: &Lease) -> bool {
        self.entry.as_ref().is_some_and(|entry| entry.is_in(lease))
    }

    async fn read(&mut self) -> Result<(), ()> {
        let answer = in_time(self.api.get_opt(&self.candidate.name)).await;
        let lease = answer.ok_or(())?.map_err(drop)?;
        let now = self.clock.now();
        if !lease.as_ref().is_some_and(|lease| self.is_ours(lease)) {
            self.state.send_replace(None);
        }
        if let Some(lease) = &lease {
            self.observe(lease, now);
        }
        self.known = Some(lease.map_or(Known::Absent, |lease| Known::Is(Box::new(lease))));
        Ok(())
    }

    /// Starts the foreign holder's time anew if its record has changed.
    fn observe(&mut self, lease: &Lease, now: Tick) {
        if self.is_ours(lease) || record::holder(lease).is_none() {
            self.foreign = None;
            return;
        }
        let same = |foreign: &Foreign| foreign.lease.spec == lease.spec;
        if !self.foreign.as_ref().is_some_and(same) {
            self.foreign = Some(Foreign {
                lease: lease.clone(),
                since: now,
            });
        }
    }

    /// Writes our entry over the version that is known; only its acknowledgement counts.
    async fn write(&mut self) -> Result<(), ()> {
        let Candidate {
            namespace, name, ..
        } = &self.candidate;
        let (old, is_new) = match self.known.take() {
            Some(Known::Is(lease)) => (*lease, false),
            _ => (record::blank(namespace, name), true),
        };
        let wall = self.clock.wall();
        let before = (!is_new).then_some(&old);
        if !self.is_ours(&old) {
            let gone = self.foreign.as_ref().map(|foreign| &foreign.lease);
            self.before = Before::of(before.or(gone));
        }
        let entry = match self.entry.take() {
            Some(entry) if entry.is_in(&old) || entry.follows(before) => entry,
            _ => Entry::new(&self.candidate.identity, wall, before),
        };
        let lease = entry.write(old, wall, &self.times);
        self.entry = Some(entry);
        let sent = self.clock.now();
        let post = posts();
        let answer = if is_new {
            in_time(self.api.create(&post, &lease)).await
        } else {
            in_time(self.api.replace(name, &post, &lease)).await
        };
        let lease = answer.ok_or(())?.map_err(drop)?;
        let now = self.clock.now();
        let ends = sent + self.times.duration();
        self.state.send_modify(|held| {
            let held = held.get_or_insert_with(|| self.before.held(now, &self.times));
            held.ends = ends;
        });
        self.foreign = None;
        self.known = Some(Known::Is(Box::new(lease)));
        Ok(())
    }

    /// Gives the Lease back, if it is ours. If that fails it runs out by itself.
    async fn release(&mut self, held: Option<Held>) {
        if self.entry.is_none() || self.read().await.is_err() {
            return;
        }
        if let Some(Known::Is(lease)) = self.known.take()
            && self.is_ours(&lease)
        {
            let lease = record::released(*lease, self.clock.wall(), self.is_clean(held));
            let post = posts();
            drop(in_time(self.api.replace(&self.candidate.name, &post, &lease)).await);
        }
    }

    /// Whether no call can take effect any more: of ours, or of those who held the Lease before a
    /// term that was too short to wait for them.
    fn is_clean(&self, held: Option<Held>) -> bool {
        let (now, timeout) = (self.clock.now(), self.times.request_timeout());
        held.is_some_and(|held| held.is_past_others(now, timeout)) && self.calls.are_over(timeout)
    }
}

/// How the Lease is written.
fn posts() -> PostParams {
    PostParams {
        field_manager: Some("freehold".to_owned()),
        ..PostParams::default()
    }
}

impl Before {
    /// A term after this holder, acknowledged now.
    fn held(&self, now: Tick, times: &Times) -> Held {
        if self.clean {
            return Held {
                starts: now,
                began: None,
                ends: now,
            };
        }
        // Its calls have taken effect T of its own after now.
        let starts = now + Millis(self.timeout.0.saturating_sub(times.request_timeout().0));
        Held {
            starts,
            began: Some(starts),
            ends: now,
        }
    }
}

/// The answer, unless it takes too long.
async fn in_time<T>(call: impl Future<Output = T>) -> Option<T> {
    let timeout = Duration::from_millis(CALL_TIMEOUT.0);
    tokio::time::timeout(timeout, call).await.ok()
}
