//! Records: everything that one id ever stood for, with the states that reads may still show.

use std::sync::Arc;

use ownership::Text;
use ownership::life::Life;
use ownership::part::{InnerPart, Resource};
use ownership::time::Tick;

use crate::provenance;

/// Everything that one id ever stood for. An IAM name can have several lives.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Oldest first, newest last; the first says that there was nothing.
    versions: Vec<Version>,
    /// Oldest first; only the last can be alive.
    pub(crate) lives: Vec<provenance::Life>,
}

/// What one write left behind.
#[derive(Clone, Debug)]
struct Version {
    at: Tick,
    state: Option<State>,
}

/// A resource and what is inside it.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) resource: Arc<Resource>,
    /// The parts of each inner Kind, in the order of the declaration.
    pub(crate) inner: Vec<Arc<Vec<InnerPart>>>,
}

/// Which state a read shows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sight {
    Newest,
    AsOf(Tick),
    /// Before the last writes, but for those at or before `since`: every read shows them.
    Before {
        writes: usize,
        since: Tick,
    },
}

/// How many states before the newest one a read may ask for.
const KEPT: usize = 2;

impl Record {
    pub(crate) fn new(life: provenance::Life, at: Tick, state: State) -> Self {
        let nothing = Version {
            at: Tick(0),
            state: None,
        };
        let mut versions = Vec::with_capacity(KEPT + 2);
        versions.push(nothing);
        versions.push(Version {
            at,
            state: Some(state),
        });
        Self {
            versions,
            lives: vec![life],
        }
    }

    /// The state that a read sees.
    pub(crate) fn seen(&self, sight: Sight) -> Option<&State> {
        let newest = self.versions.len() - 1;
        let at = match sight {
            Sight::Newest => newest,
            Sight::Before { writes, since } => {
                let young = |version: &&Version| version.at > since;
                let hidden = self.versions[1..]
                    .iter()
                    .rev()
                    .take(writes)
                    .take_while(young);
                newest - hidden.count()
            }
            Sight::AsOf(time) => self
                .versions
                .iter()
                .rposition(|version| version.at <= time)
                .unwrap_or(0),
        };
        self.versions[at].state.as_ref()
    }

    /// The resource as it is.
    pub(crate) fn current(&self) -> Option<&State> {
        self.seen(Sight::Newest)
    }

    /// The resource as it is, or was when it ended.
    pub(crate) fn last_seen_alive(&self) -> Option<&State> {
        self.versions.iter().rev().find_map(|v| v.state.as_ref())
    }

    /// Every tag key that a read may show.
    pub(crate) fn keys_seen(&self, mut see: impl FnMut(&Text)) {
        for state in self.versions.iter().filter_map(|v| v.state.as_ref()) {
            state.resource.tags.iter().for_each(|(key, _)| see(key));
        }
    }

    /// The newest life.
    pub(crate) fn life(&self) -> &provenance::Life {
        self.lives.last().expect("a record begins with a life")
    }

    /// The newest life, to be written on.
    pub(crate) fn life_mut(&mut self) -> &mut provenance::Life {
        self.lives.last_mut().expect("a record begins with a life")
    }

    /// Takes in a write; states that no read can show any more are dropped. `horizon` is the oldest
    /// time that a lagging read shows.
    pub(crate) fn push(&mut self, at: Tick, state: Option<State>, horizon: Tick) {
        self.versions.push(Version { at, state });
        let surplus = self.versions.len().saturating_sub(KEPT + 1);
        let unseen = self.versions[1..]
            .iter()
            .take(surplus)
            .take_while(|version| version.at <= horizon)
            .count();
        self.versions.drain(..unseen);
    }

    /// A resource that was coming is ready, or has failed; that is no write, so no read lags behind it.
    pub(crate) fn lives_on(&mut self, life: &Life) {
        for state in self.versions.iter_mut().filter_map(|v| v.state.as_mut()) {
            if state.resource.life == Life::Coming {
                Arc::make_mut(&mut state.resource).life = life.clone();
            }
        }
    }
}

impl State {
    /// Looks for a part.
    pub(crate) fn part(&self, inner: usize, key: &str) -> Option<&InnerPart> {
        self.inner.get(inner)?.iter().find(|part| &*part.key == key)
    }
}
