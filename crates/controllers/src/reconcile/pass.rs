//! One pass over one object.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cloud_port::driver::{Driver, PassEnd, Report, Term};
use cloud_port::{LedgerError, LedgerStore as _, Places, words};
use kube::{Client, Resource as _, ResourceExt as _};
use ownership::decide::{Filled, Phase};
use ownership::error::Class;
use ownership::{Claim, Edit, Freehold, Holder, Identity};
use tracing::Instrument as _;

use super::ask::{Key, References};
use super::clock::WallClock;
use super::events::{self, Events};
use super::guards::Guards;
use super::guest::{Seen, Unlodged};
use super::memory::{self, Due, Memory};
use super::monitor::{Monitor, Nobody, Passed};
use super::outcome::{Conditions, INVALID_FIELD, READY};
use super::pin;
use super::prepare::{Prepared, Question, Stop, Unready};
use super::record;
use super::store::Store;
use super::switches;
use super::system::{Sources, System, Told, Trouble, Wants, api_of};

/// How a reconciler behaves.
#[derive(Clone, Debug)]
pub struct Settings {
    /// This management cluster.
    pub holder: Holder,
    /// Others whose claims it has taken over, each up to the generation that was confirmed.
    pub taken_over: BTreeMap<Holder, u32>,
    /// How often an object at rest is looked at. All of them at once: they share what is read.
    pub resync: Duration,
    /// How soon a failed pass is repeated, at first; each failure doubles it, up to the resync.
    pub retry: Duration,
    /// The rules of the engine.
    pub rules: Freehold,
}

/// Reconciles the objects of one system.
pub struct Reconciler<S, K> {
    /// The system.
    pub system: S,
    /// The management cluster.
    pub client: Client,
    /// The clock.
    pub clock: K,
    /// How it behaves.
    pub settings: Settings,
    monitor: Arc<dyn Monitor>,
    pub(super) guards: Guards,
    /// Who asked for what besides its object.
    pub(super) references: Arc<References>,
    /// For how long this process may act.
    pub term: Arc<dyn Fn() -> Term + Send + Sync>,
    memory: Mutex<BTreeMap<Key, Memory>>,
}

/// How soon an end that something holds is tried again.
pub(super) const HELD: Duration = Duration::from_secs(30);

/// When an object is looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// After this time, or when it changes.
    After(Duration),
    /// Only when it changes: it is on its way out, or not ours.
    OnChange,
}

/// What came of looking at an object.
struct Attended {
    /// What is to be told about it, if anything.
    told: Option<Conditions>,
    next: Next,
    /// What the object said by then, so that an event about it can wait; `None` if it must not.
    said: Option<u64>,
    /// What was known besides, in one number.
    knew: Option<u64>,
    /// What fills its slots, if everything was looked at.
    report: Option<Report>,
    /// The generation of the object that this is about, after our own writes.
    generation: Option<i64>,
}

impl Attended {
    /// This is told, and nothing more is known.
    fn new(told: Option<Conditions>, next: Next, said: Option<u64>) -> Self {
        Self {
            told,
            next,
            said,
            knew: None,
            report: None,
            generation: None,
        }
    }
}

impl<S: Sources, K: WallClock> Reconciler<S, K> {
    /// A reconciler that remembers nothing yet.
    pub fn new(
        system: S,
        client: Client,
        clock: K,
        settings: Settings,
        term: Arc<dyn Fn() -> Term + Send + Sync>,
    ) -> Self {
        Self {
            system,
            client,
            clock,
            settings,
            monitor: Arc::new(Nobody),
            guards: Guards::ALL,
            references: Arc::new(References::of::<S>()),
            term,
            memory: Mutex::default(),
        }
    }

    /// The same, with somebody who takes note of its passes.
    #[must_use]
    pub fn monitored(self, monitor: Arc<dyn Monitor>) -> Self {
        Self { monitor, ..self }
    }

    /// The same, with these checks around the engine.
    #[must_use]
    pub fn guarded(self, guards: Guards) -> Self {
        Self { guards, ..self }
    }

    /// One pass over the object of this name.
    ///
    /// # Expected flow
    /// 1. Read the object from the API server: a cache may be old.
    /// 2. Who is it, may it be touched, what does it want, where is that.
    /// 3. One visit of the driver: a glance if it rested, else a pass. Tell the outcome, if it is
    ///    not told already.
    pub async fn reconcile(&self, name: &str, namespace: Option<&str>) -> Next {
        let api = api_of::<S::Object>(&self.client, namespace);
        let key: Key = (namespace.map(str::to_owned), name.to_owned());
        let object = match api.get_opt(name).await {
            Ok(Some(object)) => object,
            Ok(None) => {
                self.forget(&key);
                // Whoever is still listed by then was only not shown yet.
                return Next::After(self.settings.resync);
            }
            Err(_) => {
                // Whatever activated it is still to be looked at.
                if let Some(memory) = self.memory().get_mut(&key) {
                    memory.due = None;
                }
                return Next::After(self.settings.retry);
            }
        };
        let mut memory = self.memory().remove(&key).unwrap_or_default();
        if memory.uid != object.uid() {
            memory = Memory::of(object.uid());
        }
        if !S::was_reconciled(&object) {
            // Everything is looked at in full: a glance is not enough.
            memory.rested.look_in_full();
        }
        memory.due = None;
        let began = self.clock.now();
        // On the heap: whoever waits for many passes would carry them all on the stack.
        let mut attended = Box::pin(self.attend(&object, &mut memory)).await;
        let told = attended.told.as_ref().map(|conditions| Told {
            conditions,
            report: attended.report.as_ref(),
        });
        let mut there = true;
        let generation = attended.generation.or(object.meta().generation);
        if let Ok(is_there) = self.tell(&object, generation, told).await {
            there = is_there;
        } else {
            // What was not told is told soon.
            attended.next = Next::After(self.settings.retry);
            attended.said = None;
        }
        let Attended {
            told,
            next,
            said,
            knew,
            ..
        } = attended;
        let took = self.clock.now() - began;
        let passed = Passed {
            kind: S::CLAIM_KIND,
            object: &shown(&key),
            told: told.as_ref(),
            next,
            took: Duration::from_millis(took.0),
            at: self.clock.wall(),
        };
        passed.log();
        self.monitor.passed(&passed);
        if !there {
            // It went without a word: its last write was answered by nobody, or somebody removed it.
            let needed = record::hosts(object.meta()).unwrap_or_default();
            self.look_after(needed).await;
        }
        if !there || (told.is_none() && next == Next::OnChange) {
            // It has ended, or is not ours: nobody comes to say that it is gone.
            self.forget(&key);
            return Next::OnChange;
        }
        if let (Next::After(wait), Some(said)) = (next, said) {
            let reconciled = S::was_reconciled(&object) || told.is_some_and(|t| t.reconciled);
            let at = memory::after(self.clock.now(), wait);
            memory.due = Some(Due {
                said,
                knew,
                reconciled,
                at,
            });
        }
        self.memory().insert(key, memory);
        next
    }

    /// How long an event about an object can wait: nothing but what we wrote ourselves has changed
    /// since its last pass, nor what was asked for, and the next one is not due. Without this a pass
    /// would be the cause of the next, and a failed one would not be backed off from.
    pub(crate) async fn can_wait(&self, object: &S::Object) -> Option<Duration> {
        let key = (object.namespace(), object.name_any());
        let due = self.memory().get(&key)?.due?;
        let left = due
            .at
            .0
            .checked_sub(self.clock.now().0)
            .filter(|left| *left > 0)?;
        let same = due.said == memory::fingerprint(object)
            && (S::was_reconciled(object) || !due.reconciled);
        let wait = same.then(|| Duration::from_millis(left))?;
        if self.references.has_changed(&key) {
            let knows = self.facts(object).await.ok().map(|(_, knows, _)| knows);
            if knows.is_none() || knows != due.knew {
                return None;
            }
        }
        Some(wait)
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, BTreeMap<Key, Memory>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, key: &Key) {
        self.memory().remove(key);
        self.references.forget(key);
        self.monitor.forgotten(S::CLAIM_KIND, &shown(key));
    }

    /// What comes of looking at an object.
    async fn attend(&self, object: &S::Object, memory: &mut Memory) -> Attended {
        let as_read = |told, next| Attended::new(told, next, Some(memory::fingerprint(object)));
        if !is_ours::<S>(object) {
            return as_read(not_ours::<S>(object), Next::OnChange);
        }
        let paused = |by| as_read(Some(Conditions::paused(by)), Next::OnChange);
        // What was restored is pinned anew first, whoever may not touch its resources.
        if let Some(by) = S::pause(object).filter(|_| !pin::was_moved(object.meta())) {
            return paused(by);
        }
        let held = HELD.min(self.settings.resync);
        let prepared = match self.prepare(object).await {
            Ok(prepared) => prepared,
            Err(_) if let Some(by) = S::pause(object) => return paused(by),
            Err(Unready::Identity(words)) => {
                return as_read(Some(Conditions::conflict(&words)), Next::OnChange);
            }
            Err(Unready::Trouble(trouble)) => {
                let next = self.after(&trouble, memory);
                return as_read(Some(troubled::<S>(object, &trouble)), next);
            }
            Err(Unready::Slowed(left)) => {
                let left = Duration::from_millis(left.0);
                let wait = left + memory::scattered(left, &memory.uid);
                return as_read(None, Next::After(wait.min(self.settings.resync)));
            }
        };
        let knew = Some(prepared.knew);
        let attended = match &prepared.stop {
            None => self.pass(prepared, memory).await,
            Some(Stop::Paused(_) | Stop::Observed) if prepared.restored => {
                self.pin_anew(prepared, memory).await
            }
            Some(Stop::Observed) => self.observe(&prepared).await,
            Some(Stop::Paused(by)) => paused(by),
            Some(Stop::Guests(words)) => as_read(Some(Conditions::held(words)), Next::After(held)),
            // The other may go, and nothing of that shows here.
            Some(Stop::Conflict(words)) => {
                as_read(Some(Conditions::conflict(words)), Next::After(held))
            }
        };
        Attended { knew, ..attended }
    }

    /// Pins a restored object that nobody may work on. Until that is done it looks like a copy, whose
    /// finalizers anybody may take off. Then it is looked at again.
    async fn pin_anew(&self, prepared: Prepared<'_, S>, memory: &mut Memory) -> Attended {
        let mut store = prepared.store;
        match store.write(&[Edit::Pin]).await {
            Ok(()) => Attended::new(None, Next::After(Duration::ZERO), None),
            Err(error) => {
                let words = Trouble::Kubernetes(error.to_string());
                let told = troubled::<S>(store.object(), &words);
                Attended::new(Some(told), self.later(memory), None)
            }
        }
    }

    /// When an object is looked at again that cannot be worked on: what a person must put right, or
    /// what comes by itself, activates it.
    fn after(&self, trouble: &Trouble, memory: &mut Memory) -> Next {
        match trouble {
            Trouble::Input(_) | Trouble::Waits(_) | Trouble::Paused(_) => {
                Next::After(self.settings.resync)
            }
            Trouble::Unwatched(_) => Next::After(HELD.min(self.settings.resync)),
            Trouble::Cloud(error) if error.class == Class::Fatal => {
                Next::After(self.settings.resync)
            }
            _ => self.later(memory),
        }
    }

    /// One visit of the driver, and what comes of it.
    async fn pass(&self, prepared: Prepared<'_, S>, memory: &mut Memory) -> Attended {
        let Prepared {
            mut store,
            places,
            question,
            hosts,
            ..
        } = prepared;
        // A copy's record is another claim's, and names hosts all the same.
        let mut needed = record::hosts(store.object().meta()).unwrap_or_default();
        let begun = match self.lodge(&mut store, &hosts, question.phase).await {
            Ok(()) => self.make_known(&question, &mut store).await,
            Err(Unlodged::Ledger(error)) => Err(error),
            Err(Unlodged::Trouble(trouble)) => {
                let said = Some(memory::fingerprint(store.object()));
                let next = self.after(&trouble, memory);
                return Attended::new(Some(Conditions::trouble(&trouble)), next, said);
            }
        };
        needed.extend(store.hosts().iter().cloned());
        let case = question.case();
        let driver = self.driver(&places);
        let mut events = Events::default();
        let mut end = match begun {
            Ok(()) => {
                let (sightings, rested) = (&mut memory.sightings, &mut memory.rested);
                let claim = tracing::info_span!("claim", hash = %case.identity.claim.hash());
                driver
                    .visit(&case, &mut store, sightings, rested, &mut events)
                    .instrument(claim)
                    .await
            }
            Err(error) => PassEnd::Ledger(error),
        };
        if let PassEnd::Rest(report, _) | PassEnd::Wait(_, _, report) = &mut end {
            let own = case.identity.claim.hash();
            self.name_blockers(&places, own, &mut report.findings).await;
        }
        let live = case.phase == Phase::Live;
        if live {
            if let Err(error) = self.tidy(&mut store, &end, &hosts).await {
                end = PassEnd::Ledger(error);
            }
            let left = needed.difference(store.hosts()).cloned().collect();
            self.look_after(left).await;
        }
        if let PassEnd::Rest(report, _) = &end {
            let new = events::news_of(&report.guests, &mut memory.guests);
            let names = self.name_guests(&new).await;
            events.guests(&new, &names);
        }
        let object = store.object();
        events.unheard(&mut memory.warned);
        events
            .publish(&self.client, object, self.clock.wall())
            .await;
        let was_ready = S::STATUS.said(object, READY).is_some_and(|said| said.holds);
        let mut told = Conditions::of(&end, case.phase, was_ready);
        told.reconciled &= events.any() || !S::was_reconciled(object);
        told.explained = events.warn();
        if let PassEnd::Rest(report, _) | PassEnd::Wait(_, _, report) = &end {
            let names = self.name_owners(report).await;
            told.share(report, case.blueprint, &names);
        }
        if let PassEnd::Failed(error, _) = &end
            && let Some(input) = S::blames(object, error)
        {
            told.blame(&input);
        }
        let now = self.clock.now();
        if !matches!(end, PassEnd::Failed(..) | PassEnd::Ledger(_)) {
            memory.failures = 0;
        }
        let next = match &end {
            PassEnd::Done(_) => {
                let news = told.news(|_| None);
                let reference = events::reference(object);
                events::publish(&self.client, &reference, self.clock.wall(), "told", &news).await;
                self.look_after(needed).await;
                return Attended::new(None, Next::OnChange, None);
            }
            PassEnd::Rest(_, books) if live => {
                places.speed_up();
                let resync = memory::until_next(self.settings.resync, now);
                // What is open in the ledger is closed when it can be: nobody waits for that.
                let books = books.map(|at| Duration::from_millis((at - now).0.max(1)));
                Next::After(books.map_or(resync, |books| books.min(resync)))
            }
            // Somebody waits for the end, and what holds it may be gone any moment.
            PassEnd::Rest(..) => Next::After(HELD.min(self.settings.resync)),
            PassEnd::Wait(until, ..) | PassEnd::NotNow(until) => {
                let wait = Duration::from_millis((*until - now).0);
                Next::After(wait.clamp(Duration::from_millis(1), self.settings.resync))
            }
            PassEnd::Failed(error, _) if error.class == Class::Fatal => {
                Next::After(self.settings.resync)
            }
            // The account is asked too much: everybody there slows down.
            PassEnd::Failed(error, _) if error.class == Class::Throttled => {
                places.slow_down(now, self.settings.retry, self.settings.resync);
                self.later(memory)
            }
            // Somebody wrote in between, or it is not there any more. What a person wrote is read at
            // once; another operator's record is not, or the two would chase each other.
            PassEnd::Ledger(LedgerError::Conflict | LedgerError::Gone) => {
                let said = Some(memory::fingerprint(object));
                return Attended::new(None, Next::After(self.settings.retry), said);
            }
            PassEnd::Failed(..) | PassEnd::Ledger(_) => self.later(memory),
        };
        let said = Some(memory::fingerprint(object));
        // At its end nothing fills a slot any more, whatever is still there.
        let report = match end {
            PassEnd::Rest(report, _) if live => Some(in_order(report)),
            _ => None,
        };
        Attended {
            report,
            generation: object.meta().generation,
            ..Attended::new(Some(told), next, said)
        }
    }

    /// The engine in an account, for as long as this process may act.
    pub(super) fn driver<'a>(
        &'a self,
        places: &'a Places<S::Cloud>,
    ) -> Driver<'a, Places<S::Cloud>, K> {
        Driver {
            rules: &self.settings.rules,
            cloud: places,
            clock: &self.clock,
            term: if self.guards.term {
                (self.term)()
            } else {
                Term::alone()
            },
        }
    }

    /// An object that ends and was never pinned to the letter (restored, copied, edited, another
    /// operator's) is pinned first: its end looks for everything that its UUID could have marked. What
    /// it will forget, then and in life, namesakes know.
    async fn make_known(
        &self,
        question: &Question,
        store: &mut Store<'_, S>,
    ) -> Result<(), LedgerError> {
        if question.phase != Phase::Live && !store.ledger().pinned {
            store.write(&[Edit::Pin]).await?;
        }
        let case = question.case();
        self.hand_over_marks(store.object(), &case, store.ledger())
            .await
    }

    /// What the object says is brought to its canonical form at rest. Evidence that has done its duty
    /// goes: that of a slot when its resource carries our mark, whatever else there is to find; all of
    /// it when all is as it should be.
    async fn tidy(
        &self,
        store: &mut Store<'_, S>,
        end: &PassEnd,
        hosts: &[Seen],
    ) -> Result<(), LedgerError> {
        let (PassEnd::Rest(report, _) | PassEnd::Wait(_, _, report) | PassEnd::Failed(_, report)) =
            end
        else {
            return Ok(());
        };
        let rests = matches!(end, PassEnd::Rest(..));
        if rests {
            store.needs(hosts.iter().map(|seen| seen.host.clone()).collect());
            store.tidy(report).await?;
        }
        let ready = rests && report.findings.is_empty();
        let migrated = if ready {
            S::migrated(store.object())
        } else {
            Vec::new()
        };
        let adopts = switches::still_adopts(store.object().meta(), report, ready);
        store.let_go(&migrated, adopts.as_deref()).await
    }

    /// What would be done for an object that is only looked at.
    async fn observe(&self, prepared: &Prepared<'_, S>) -> Attended {
        let object = prepared.store.object();
        let driver = self.driver(&prepared.places);
        let case = prepared.question.case();
        let told = match driver.plan(&case, prepared.store.ledger()).await {
            Ok(plan) => {
                let steps: Vec<String> = plan
                    .now
                    .iter()
                    .map(|planned| {
                        format!("{} {}", planned.step.verb(), words::deed(&planned.step))
                    })
                    .collect();
                Conditions::observed(&steps, &plan)
            }
            Err(error) => troubled::<S>(object, &Trouble::Cloud(error)),
        };
        let said = Some(memory::fingerprint(object));
        Attended::new(Some(told), Next::After(self.settings.resync), said)
    }

    /// Who asks.
    pub(crate) fn identity(&self, claim: Claim, wants: &Wants) -> Identity {
        Identity {
            claim,
            holder: self.settings.holder.clone(),
            taken_over: self.settings.taken_over.clone(),
            dialect: wants.dialect.clone(),
        }
    }

    fn later(&self, memory: &mut Memory) -> Next {
        Next::After(memory.back_off(self.settings.retry, self.settings.resync))
    }
}

/// What is told of a trouble; as the fault of a field where it is one.
pub(super) fn troubled<S: System>(object: &S::Object, trouble: &Trouble) -> Conditions {
    if let Trouble::Unwatched(error) = trouble
        && object.meta().deletion_timestamp.is_some()
    {
        return Conditions::waits_for(error);
    }
    let mut told = Conditions::trouble(trouble);
    if let Trouble::Cloud(error) = trouble
        && let Some(input) = S::blames(object, error)
    {
        told.blame(&input);
    }
    told
}

/// A report in an order that does not depend on what was read when.
fn in_order(mut report: Report) -> Report {
    report.filled.sort_by(|one, other| {
        let place = |filled: &Filled| (filled.slot.clone(), filled.target.id.clone());
        place(one).cmp(&place(other))
    });
    report
}

/// Whether there is anything to do about an object: it is the system's, or was once.
fn is_ours<S: System>(object: &S::Object) -> bool {
    let meta = object.meta();
    let finalizers = meta.finalizers.as_deref().unwrap_or_default();
    let ours = |name: &String| {
        *name == S::FINALIZER
            || api::names::uuid_in_finalizer(name).is_some()
            || S::OLD_FINALIZERS.contains(&name.as_str())
    };
    let lives = meta.deletion_timestamp.is_none();
    (lives && S::is_ours(object)) || finalizers.iter().any(ours)
}

/// What is told of an object that is not the system's: that a misspelt name keeps it from being that,
/// and later that it does not any more.
fn not_ours<S: System>(object: &S::Object) -> Option<Conditions> {
    let lives = object.meta().deletion_timestamp.is_none();
    if let Some(error) = S::almost_ours(object).filter(|_| lives) {
        return Some(Conditions::trouble(&Trouble::Input(error)));
    }
    let told = |kind| S::STATUS.said(object, kind);
    let blamed = told("Invalid").is_some_and(|said| said.holds && said.reason == INVALID_FIELD);
    blamed.then(Conditions::not_served)
}

/// An object as people name it: with its namespace before it where it has one.
pub(super) fn shown((namespace, name): &Key) -> String {
    match namespace {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.clone(),
    }
}
