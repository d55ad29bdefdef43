//! From an object to what the engine needs to know of it: the same for whoever works on it and for
//! whoever only looks.

use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use cloud_port::Places;
use kube::{Resource as _, ResourceExt as _};
use ownership::decide::{Case, Evidence, Phase};
use ownership::time::Millis;
use ownership::{Blueprint, Identity, KindAt, Place};

use super::ask::{Ask, Key};
use super::clock::WallClock;
use super::guest::{self, Seen};
use super::pass::Reconciler;
use super::pin::Pin;
use super::rival::Rival;
use super::store::Store;
use super::system::{Sources, System, Trouble, api_of};
use super::{namesake, switches, unserved};

/// An object that the engine can be asked about.
pub(crate) struct Prepared<'r, S: Sources> {
    /// What the engine is asked.
    pub(crate) question: Question,
    /// Its record.
    pub(crate) store: Store<'r, S>,
    /// Where its resources are.
    pub(crate) places: Places<S::Cloud>,
    /// Why nothing is done, although it is known what would be.
    pub(crate) stop: Option<Stop>,
    /// Whether it was restored and nobody has pinned it anew: it is no copy, and kept here.
    pub(crate) restored: bool,
    /// What it needs until it has ended.
    pub(crate) hosts: Vec<Seen>,
    /// What the facts say, in one number.
    pub(crate) knew: u64,
}

/// Why nothing is done for an object, although it is known what would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Its own switch says so.
    Paused(&'static str),
    /// It is a copy, or another management cluster keeps its record: in words with the way out.
    Conflict(String),
    /// Others need it until they have ended: in words that name them.
    Guests(String),
    /// It is only looked at.
    Observed,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paused(by) => f.write_str(by),
            Self::Conflict(words) | Self::Guests(words) => f.write_str(words),
            Self::Observed => f.write_str("freehold.dev/management is observe"),
        }
    }
}

/// Why it cannot even be told what would be done.
#[derive(Debug)]
pub(crate) enum Unready {
    /// Nobody can tell which claim it is.
    Identity(String),
    /// It cannot be worked on.
    Trouble(Trouble),
    /// The account is asked too much: not for so long.
    Slowed(Millis),
}

impl<T: Into<Trouble>> From<T> for Unready {
    fn from(trouble: T) -> Self {
        Self::Trouble(trouble.into())
    }
}

/// What the engine is asked about an object.
pub(crate) struct Question {
    /// Who asks.
    pub(crate) identity: Arc<Identity>,
    /// Whether it lives, or how it ends.
    pub(crate) phase: Phase,
    /// What it wants.
    pub(crate) blueprint: Blueprint,
    /// What it says that the marks do not.
    evidence: Evidence,
    /// What its claim may own.
    kinds: Vec<KindAt>,
}

impl Question {
    /// The same in the engine's own words.
    pub(crate) fn case(&self) -> Case<'_> {
        Case {
            identity: &self.identity,
            blueprint: &self.blueprint,
            evidence: &self.evidence,
            kinds: &self.kinds,
            phase: self.phase,
        }
    }
}

impl<S: Sources, K: WallClock> Reconciler<S, K> {
    /// Prepares an object that was read from the API server just now.
    ///
    /// # Expected flow
    /// 1. Who is it: its pin. May it be touched: its switches.
    /// 2. What must be known besides, what does it want, where is that.
    /// 3. Is it a copy, is it where its resources are, is its record ours: else nothing is done.
    ///
    /// # Guarantees
    /// Nothing is written.
    ///
    /// # Errors
    /// Why it cannot be told what would be done.
    pub(crate) async fn prepare(&self, object: &S::Object) -> Result<Prepared<'_, S>, Unready> {
        let meta = object.meta();
        let phase = switches::phase(meta);
        let pin =
            Pin::read(meta, S::FINALIZER).map_err(|error| Unready::Identity(error.to_string()))?;
        switches::check(meta)?;
        let recorded = S::ids(object)?;
        if phase == Phase::Live {
            unserved::check(object, S::UNSERVED)?;
        }
        let moved = pin.moved && phase == Phase::Live;
        let (facts, knew, hosts) = self.facts(object).await?;
        let mut wants = switches::apply(meta, S::wants(object, &facts)?)?;
        let claim = pin.claim(S::CLAIM_KIND, meta)?;
        let places = self.system.open(&facts).await?;
        if let Some(until) = places.slowed(self.clock.now()) {
            return Err(Unready::Slowed(until - self.clock.now()));
        }
        let identity = Arc::new(self.identity(claim, &wants));
        let rival = Rival {
            places: &places,
            object,
            pin: &pin,
            identity: &identity,
            blueprint: &wants.blueprint,
        };
        let copy = if phase == Phase::Live && self.guards.rival {
            self.copied_from(&rival).await?
        } else {
            None
        };
        let store = Store::new(
            (&self.system, facts),
            places.clone(),
            api_of(&self.client, object.namespace().as_deref()),
            object.clone(),
            (pin, recorded),
            identity.clone(),
            self.guards,
        )?;
        if self.guards.place {
            store.check_place()?;
        }
        if phase == Phase::Live {
            S::check(object, places.home().cloud())?;
        }
        if phase != Phase::Live || namesake::matter(store.ledger()) {
            let used = self.namesakes_use(object, wants.dialect.cluster_name());
            wants.evidence.namesakes_use = used.await?;
        }
        let restored = moved && copy.is_none() && store.kept_elsewhere().is_none();
        let stop = if let Some(by) = S::pause(object) {
            Some(Stop::Paused(by))
        } else if let Some(words) = copy.or_else(|| store.kept_elsewhere()) {
            Some(Stop::Conflict(words))
        } else if let Some(words) = guest::holds(meta).filter(|_| phase != Phase::Live) {
            Some(Stop::Guests(words))
        } else {
            switches::observes(meta).then_some(Stop::Observed)
        };
        let question = Question {
            identity,
            phase,
            blueprint: store.named_by_intents(&wants.blueprint),
            evidence: wants.evidence,
            kinds: owned(&self.system, &places),
        };
        Ok(Prepared {
            question,
            store,
            places,
            stop,
            restored,
            hosts,
            knew,
        })
    }

    /// What must be known besides the object, the same in one number, and what it needs until it has
    /// ended.
    pub(crate) async fn facts(
        &self,
        object: &S::Object,
    ) -> Result<(S::Facts, u64, Vec<Seen>), Trouble> {
        let asker: Key = (object.namespace(), object.name_any());
        self.references.begin(&asker);
        let ask = Ask::new(&self.client, &asker, &self.references);
        let facts = self.system.facts(&ask, object).await?;
        let hosts = ask.hosts();
        let mut hasher = DefaultHasher::new();
        facts.hash(&mut hasher);
        for seen in &hosts {
            let holds = seen.is_held_for(S::CLAIM_KIND);
            (&seen.host, holds, seen.ends()).hash(&mut hasher);
        }
        Ok((facts, hasher.finish(), hosts))
    }

    /// What must be known besides an object that somebody else asks about.
    pub(crate) async fn facts_for(
        &self,
        asker: &Key,
        object: &S::Object,
    ) -> Result<S::Facts, Trouble> {
        let ask = Ask::new(&self.client, asker, &self.references);
        self.system.facts(&ask, object).await
    }
}

/// What a system's claims may own in these places.
pub(super) fn owned<S: System>(system: &S, places: &Places<S::Cloud>) -> Vec<KindAt> {
    let mut kinds = KindAt::all(&Place::HOME, system.owns());
    for (place, _) in places.others() {
        kinds.extend(KindAt::all(place, system.owns_in(place)));
    }
    kinds
}
