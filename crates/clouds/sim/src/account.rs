//! The account: what is in it, and the two doors that the port has to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use cloud_port::Effect;
use ownership::error::Blocker;
use ownership::kind::Kind;
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props, Resource};
use ownership::secret::Secrets;
use ownership::time::{Millis, Tick};
use ownership::{Class, CloudError, ResourceId, Step, Target, Text};

use crate::clock::VirtualClock;
use crate::course::Courses;
use crate::op::{Counters, Op};
use crate::provenance::{Actor, Deed, Harm, Life};
use crate::provider::Row;
use crate::record::{Record, State};
use crate::settings::Settings;
use crate::shelf::Shelf;
use crate::throttle::Buckets;

/// One simulated account, seen from one of its regions.
///
/// What belongs to a region is there alone; what is global, such as the identities of AWS, is the same
/// in all. [`Account::enter`] goes to another region. Calls are counted, and what was done is noted, for
/// the whole account.
///
/// A clone is a snapshot that lives on by itself, on the same clock; [`Account::fork`] puts it on
/// another. Nothing is random: the same calls at the same times give the same answers and ids.
#[derive(Clone, Debug)]
pub struct Account {
    pub(crate) settings: Arc<Settings>,
    pub(crate) clock: VirtualClock,
    region: &'static str,
    pub(crate) shelves: Vec<Shelf>,
    pub(crate) tokens: BTreeMap<(usize, u128), Token>,
    pub(crate) pins: Vec<Pin>,
    pub(crate) courses: Courses,
    deeds: Vec<Arc<Deed>>,
    counters: Counters,
    buckets: Buckets,
    ids: u64,
}

/// Where a record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) shelf: usize,
    pub(crate) record: usize,
}

/// What a client token was used for.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) at: Tick,
    pub(crate) name: Text,
    pub(crate) props: Props,
    pub(crate) secrets: Secrets,
    pub(crate) tags: Tags,
    pub(crate) place: Place,
}

/// Something outside the simulated Kinds that uses a resource and so blocks its deletion.
#[derive(Clone, Debug)]
pub(crate) struct Pin {
    pub(crate) on: Target,
    pub(crate) blocker: Blocker,
}

impl Account {
    /// A new account: the Kinds of its cloud, and what its first region comes with.
    pub fn new(settings: Settings, clock: VirtualClock) -> Self {
        let region = settings.region;
        let mut account = Self {
            settings: Arc::new(settings),
            clock,
            region: "",
            shelves: Vec::new(),
            tokens: BTreeMap::new(),
            pins: Vec::new(),
            courses: Courses::default(),
            deeds: Vec::new(),
            counters: Counters::default(),
            buckets: Buckets::default(),
            ids: 0,
        };
        account.enter(region);
        account
    }

    /// Goes to a region: from now on its resources are shown, and those that are global. A region that
    /// nobody was in before comes as new.
    pub fn enter(&mut self, region: &'static str) {
        self.region = region;
        if self
            .shelves
            .iter()
            .any(|shelf| shelf.region == Some(region))
        {
            return;
        }
        let provider = self.settings.provider;
        for kind in provider.kinds() {
            self.add_kind(kind);
        }
        (provider.furnish)(self);
    }

    /// The same account with further Kinds, which follow their declarations.
    #[must_use]
    pub fn with_kinds(mut self, kinds: &[&'static Kind]) -> Self {
        for kind in kinds {
            self.add_kind(kind);
        }
        self
    }

    /// The same account, standing for another place of a claim too: with these Kinds, which follow their
    /// declarations. What is there and what is here do not see each other.
    ///
    /// For whoever has one account for all places of a claim; else each place is an account of its own,
    /// and it does not matter to it what claims call it.
    #[must_use]
    pub fn with_place(mut self, place: &ownership::Place, kinds: &[&'static Kind]) -> Self {
        for kind in kinds {
            let row = self.settings.provider.row(kind);
            let mut shelf = Shelf::new(kind, row, self.region);
            shelf.place = place.clone();
            self.shelves.push(shelf);
        }
        self
    }

    fn add_kind(&mut self, kind: &'static Kind) {
        if self.shelf(kind).is_none() {
            let row = self.settings.provider.row(kind);
            self.shelves.push(Shelf::new(kind, row, self.region));
        }
    }

    /// A snapshot on a clock of its own.
    #[must_use]
    pub fn fork(&self, clock: VirtualClock) -> Self {
        Self {
            clock,
            ..self.clone()
        }
    }

    /// The region that it is seen from.
    pub(crate) fn region(&self) -> &'static str {
        self.region
    }

    /// The clock it runs on.
    pub fn clock(&self) -> &VirtualClock {
        &self.clock
    }

    /// Performs one side effect, once.
    ///
    /// # Errors
    /// Whatever the real account refuses, with its code; then nothing has changed.
    pub fn perform(&mut self, actor: Actor, step: &Step) -> Result<Effect, CloudError> {
        self.take_course();
        match step {
            Step::Create(create) => {
                let (place, born) = self.create_for(actor, create)?;
                return Ok(self.effect(place, born));
            }
            Step::Mark { targets, tags, .. } => self.tag(actor, targets, tags)?,
            Step::Unmark { targets, tags, .. } => self.untag(actor, targets, tags)?,
            Step::AddInner {
                target,
                inner,
                parts,
            } => self.add_parts(actor, target, inner, parts)?,
            Step::MarkInner(tags) => self.tag_parts(actor, tags)?,
            Step::UnmarkInner(tags) => self.untag_parts(actor, tags)?,
            Step::RemoveInner(removal) => {
                let (target, inner) = (removal.target(), removal.inner());
                self.remove_these(actor, target, inner, removal.parts())?;
            }
            Step::Update(update) => {
                self.update(actor, update.owned().target(), update.props())?;
            }
            Step::Delete(deletion) => self.delete(actor, deletion.target())?,
        }
        Ok(Effect::default())
    }

    /// Lets something that is not simulated, such as a stranger's network interface, use a resource:
    /// its deletion is blocked until [`Account::unpin`]. Returns the user's id.
    pub fn pin(&mut self, on: &Target, noun: &str) -> ResourceId {
        let id = self.next_id((self.settings.provider.foreign_id)(noun));
        self.pins.push(Pin {
            on: on.clone(),
            blocker: Blocker {
                noun: noun.into(),
                id: id.clone(),
            },
        });
        id
    }

    /// The user that [`Account::pin`] made goes away.
    pub fn unpin(&mut self, id: &ResourceId) {
        self.pins.retain(|pin| pin.blocker.id != *id);
    }

    /// Every resource that ever was, with its provenance: for the oracle.
    pub fn lives(&self) -> impl Iterator<Item = &Life> {
        self.shelves_here()
            .flat_map(|shelf| &shelf.records)
            .flat_map(|record| &record.lives)
    }

    /// The newest life of a resource, alive or not.
    pub fn life(&self, target: &Target) -> Option<&Life> {
        self.place(target).map(|place| self.record(place).life())
    }

    /// A resource as it is, whatever reads show; `None` if it is not alive.
    pub fn resource(&self, target: &Target) -> Option<&Arc<Resource>> {
        let state = self.record(self.place(target)?).current()?;
        Some(&state.resource)
    }

    /// The parts of one inner Kind inside a resource as they are, whatever reads show.
    pub fn parts(&self, target: &Target, inner: &str) -> &[InnerPart] {
        let parts = || {
            let place = self.place(target)?;
            let kind = self.shelves[place.shelf].kind;
            let at = kind.inner.iter().position(|i| i.name == inner)?;
            Some(self.record(place).current()?.inner[at].as_slice())
        };
        parts().unwrap_or_default()
    }

    /// Every resource of a Kind that is alive, whatever reads show.
    pub fn alive<'a>(&'a self, kind: &'a Kind) -> impl Iterator<Item = &'a Arc<Resource>> {
        self.states(kind).map(|state| &state.resource)
    }

    /// The same, with what is inside.
    pub(crate) fn states<'a>(&'a self, kind: &'a Kind) -> impl Iterator<Item = &'a State> {
        let shelves = self.shelves_here().filter(move |shelf| shelf.kind == kind);
        let records = shelves.flat_map(|shelf| &shelf.records);
        records.filter_map(|record| record.current())
    }

    /// Every destructive effect so far, oldest first: theft can be told from it alone.
    pub fn deeds(&self) -> &[Arc<Deed>] {
        &self.deeds
    }

    /// How often an engine called each operation.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The shelves that are seen from this region.
    pub(crate) fn shelves_here(&self) -> impl Iterator<Item = &Shelf> {
        self.shelves.iter().filter(|shelf| self.is_here(shelf))
    }

    fn is_here(&self, shelf: &Shelf) -> bool {
        shelf.region.is_none_or(|region| region == self.region)
    }

    pub(crate) fn shelf(&self, kind: &Kind) -> Option<usize> {
        self.shelf_at(&ownership::Place::HOME, kind)
    }

    /// The shelf of a place that the account stands for, or its only one.
    fn shelf_at(&self, place: &ownership::Place, kind: &Kind) -> Option<usize> {
        let stands_for = self.shelves.iter().any(|shelf| shelf.place == *place);
        let mut shelves = self.shelves.iter();
        shelves.position(|shelf| {
            let there = shelf.place == *place || !stands_for;
            shelf.kind == kind && there && self.is_here(shelf)
        })
    }

    pub(crate) fn shelf_or_refuse(
        &self,
        place: &ownership::Place,
        kind: &Kind,
    ) -> Result<usize, CloudError> {
        self.shelf_at(place, kind).ok_or_else(|| {
            let message = format!("this account has no resources of the kind {kind}");
            CloudError::new(Class::Fatal, "UnsupportedOperation", message)
        })
    }

    pub(crate) fn record(&self, place: Place) -> &Record {
        &self.shelves[place.shelf].records[place.record]
    }

    /// Where a resource's record stands, alive or not.
    pub(crate) fn place(&self, target: &Target) -> Option<Place> {
        let shelf = self.shelf_at(&target.place, target.kind)?;
        self.place_on(shelf, &target.id)
    }

    pub(crate) fn place_on(&self, shelf: usize, id: &ResourceId) -> Option<Place> {
        let record = self.shelves[shelf].by_id(id)?;
        Some(Place { shelf, record })
    }

    /// A living resource that a call is aimed at; `op` names the call in the refusal.
    pub(crate) fn living(&self, target: &Target, op: Op) -> Result<(Place, &State), CloudError> {
        let shelf = self.shelf_or_refuse(&target.place, target.kind)?;
        let found = self.place_on(shelf, &target.id);
        found
            .and_then(|place| Some((place, self.record(place).current()?)))
            .ok_or_else(|| {
                let shelf = &self.shelves[shelf];
                let message = format!("the {} '{}' does not exist", shelf.kind.noun, target.id);
                refuse(shelf.row, op, shelf.row.not_found, message)
            })
    }

    /// Counts a write and throttles it if there were too many. What others than an engine do is
    /// neither counted nor throttled.
    pub(crate) fn admit_write(&mut self, by: Actor, row: &Row, op: Op) -> Result<(), CloudError> {
        match by {
            Actor::Engine(_) => self.admit(row, op),
            Actor::Stranger | Actor::Cloud => Ok(()),
        }
    }

    /// Counts a call and throttles it if there were too many.
    pub(crate) fn admit(&mut self, row: &Row, op: Op) -> Result<(), CloudError> {
        self.counters.count(op, 1);
        let Some(limit) = self.settings.throttle else {
            return Ok(());
        };
        let service = row.service;
        let region = if service.is_global { "" } else { self.region };
        let bucket = (service.name, region);
        if self.buckets.take(bucket, limit, self.clock.now()) {
            return Ok(());
        }
        self.counters.throttle();
        let message = "too many requests, slow down".to_owned();
        Err(refuse(row, op, service.throttled, message))
    }

    /// Counts calls that belong to one that was admitted: further pages, details.
    pub(crate) fn count(&mut self, op: Op, calls: usize) {
        self.counters.count(op, calls);
    }

    pub(crate) fn log(&mut self, place: Place, by: Actor, harm: Harm) {
        let record = self.record(place);
        let Some(state) = record.last_seen_alive() else {
            return;
        };
        let life = record.life();
        let deed = Deed {
            at: self.clock.now(),
            by,
            victim: state.resource.clone(),
            made_by: life.by,
            slot: life.slot.clone(),
            harm,
        };
        self.deeds.push(Arc::new(deed));
    }

    /// Takes in a write to a record.
    pub(crate) fn commit(
        &mut self,
        place: Place,
        state: Option<State>,
        note: impl FnOnce(&mut Life),
    ) {
        let now = self.clock.now();
        let lag = self.settings.lag.by_id.max(self.settings.lag.by_filter);
        let horizon = before(now, lag);
        let record = Arc::make_mut(&mut self.shelves[place.shelf].records[place.record]);
        record.push(now, state, horizon);
        note(record.life_mut());
    }

    /// An id like the real ones: a prefix and 17 hexadecimal digits, in no order.
    pub(crate) fn next_id(&mut self, prefix: &str) -> ResourceId {
        self.ids += 1;
        // The finaliser of SplitMix64: a bijection, so ids do not collide.
        let mut x = (self.settings.seed ^ self.ids).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^= x >> 31;
        ResourceId::new(format!("{prefix}0{x:016x}"))
    }
}

/// The time `span` before `now`.
pub(crate) fn before(now: Tick, span: Millis) -> Tick {
    Tick(now.0.saturating_sub(span.0))
}

/// A refusal with the code and class that the service's error table gives it.
pub(crate) fn refuse(row: &Row, op: Op, code: &str, message: String) -> CloudError {
    (row.service.error)(op.name(), code, &message)
}
