//! The inventory: what is in one account and region, read once for all claims there.
//!
//! ```text
//! glance of claim a ─┐
//! glance of claim b ─┼──► Inventory::show ──► a snapshot of each Kind ──► Survey, when it is too old
//! glance of claim c ─┘
//! pass of claim d ──────► Inventory: Cloud ──► the cloud itself
//! ```
//!
//! # Guarantees
//! - As a [`Cloud`] it passes everything on: reads are the cloud's own answers.
//! - A snapshot is younger than [`LIFE`], and no Step of this process on its Kind is younger; of other
//!   claims' Steps, for whoever says since when it has done nothing itself. Claims that want it at once
//!   wait for one survey.
//! - Only the Kinds that somebody asks for are surveyed.
//! - What it does not know it does not make up: [`Silent`].
//!
//! # Caveats
//! A listing may show no marks ([`Kind::lists_marks`]). Then the marks are those of the last read of
//! the resource that came through here. So that marks which somebody takes away do not stay for
//! good, each survey reads the resource again whose marks are the oldest. The same goes for parts inside
//! resources that no listing shows ([`InnerKind::is_listed`](ownership::kind::InnerKind::is_listed)).

mod insides;
mod marks;
mod snapshot;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::lock;
use ownership::part::Resource;
use ownership::query::InnerAnswer;
use ownership::time::{Millis, Tick};
use ownership::{Answer, Class, CloudError, Kind, Query, Step, Target};

use crate::calls::Calls;
use crate::cloud::{Cloud, Deadline, Effect};
use insides::Insides;
use marks::Marks;
use snapshot::Snapshot;

/// For how long a snapshot is good.
pub const LIFE: Millis = Millis::seconds(30);

/// A cloud that can list everything of a Kind.
pub trait Survey: Cloud {
    /// Everything of one Kind, all pages, with everything inside: a part of [`Answer::inner`] for
    /// every resource and inner Kind. What it shows is spelled as reads spell it. Marks are left out
    /// where the Kind says so.
    ///
    /// # Errors
    /// As those of [`Cloud::read`].
    fn survey(
        &self,
        kind: &'static Kind,
    ) -> impl Future<Output = Result<Answer, CloudError>> + Send;
}

impl<C: Survey> Survey for Arc<C> {
    fn survey(
        &self,
        kind: &'static Kind,
    ) -> impl Future<Output = Result<Answer, CloudError>> + Send {
        C::survey(self, kind)
    }
}

/// A cloud that can answer from what was read once for all claims there.
pub trait Show: Cloud {
    /// Answers from snapshots that are good at `now`. Whoever has done nothing `since` is content with
    /// what was begun after that, whatever others have done.
    ///
    /// # Errors
    /// It cannot tell.
    fn show(
        &self,
        query: &Query,
        now: Tick,
        since: Option<Tick>,
    ) -> impl Future<Output = Result<Shown, Silent>> + Send;
}

impl<C: Show> Show for Arc<C> {
    fn show(
        &self,
        query: &Query,
        now: Tick,
        since: Option<Tick>,
    ) -> impl Future<Output = Result<Shown, Silent>> + Send {
        C::show(self, query, now, since)
    }
}

/// The inventory of one account and region, shared by all claims there.
#[derive(Debug)]
pub struct Inventory<C> {
    cloud: C,
    sheets: BTreeMap<&'static Kind, Sheet>,
    pace: Mutex<Pace>,
    throttled: AtomicBool,
    calls: Option<Calls>,
}

/// How fast the account may be asked.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    /// How often in a row it was too fast.
    slowed: u32,
    until: Tick,
}

/// What is known of one Kind.
#[derive(Debug)]
struct Sheet {
    kind: &'static Kind,
    /// How many Steps on this Kind were begun and ended.
    changes: AtomicU64,
    /// Held while a survey is under way.
    taken: lock::Mutex<Option<Taken>>,
    marks: Mutex<Marks>,
    insides: Mutex<Insides>,
}

/// The last survey. One that failed is not repeated by every claim either.
#[derive(Debug)]
struct Taken {
    at: Tick,
    changes: u64,
    outcome: Result<Arc<Snapshot>, CloudError>,
}

/// What the inventory shows.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The answer; parts inside resources only where they were asked for.
    pub answer: Answer,
    /// When the survey that it rests on was begun.
    pub at: Tick,
}

/// Why the inventory cannot answer: the cloud must be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Silent {
    /// It keeps nothing of this Kind.
    #[error("there is no inventory of {0}")]
    Kind(&'static Kind),
    /// A listing does not show marks, and these were not read yet.
    #[error("the marks of {0} are not known")]
    Marks(Target),
    /// A listing does not show what is inside, and that was not read yet.
    #[error("what is inside {0} is not known")]
    Inside(Target),
    /// The survey failed.
    #[error("the survey failed: {0}")]
    Survey(CloudError),
}

impl<C> Inventory<C> {
    /// An empty inventory of these Kinds.
    pub fn new(cloud: C, kinds: &[&'static Kind]) -> Self {
        let sheet = |kind: &&'static Kind| (*kind, Sheet::new(kind));
        Self {
            cloud,
            sheets: kinds.iter().map(sheet).collect(),
            pace: Mutex::default(),
            throttled: AtomicBool::new(false),
            calls: None,
        }
    }

    /// The same, with every Step counted while it is under way.
    #[must_use]
    pub fn counted(self, calls: Calls) -> Self {
        let calls = Some(calls);
        Self { calls, ..self }
    }

    /// The Kinds that it keeps.
    pub fn kinds(&self) -> impl Iterator<Item = &'static Kind> {
        self.sheets.keys().copied()
    }

    /// Whether the account has said since somebody last asked that it is asked too much.
    pub fn was_throttled(&self) -> bool {
        self.throttled.swap(false, Ordering::SeqCst)
    }

    /// Takes note of an answer which says that the account is asked too much.
    fn heed<T>(&self, outcome: Result<T, CloudError>) -> Result<T, CloudError> {
        if matches!(&outcome, Err(error) if error.class == Class::Throttled) {
            self.throttled.store(true, Ordering::SeqCst);
        }
        outcome
    }

    /// Until when nobody should ask the account anything: it was asked too much (law 9).
    pub fn slowed(&self, now: Tick) -> Option<Tick> {
        let until = self.pace().until;
        (until > now).then_some(until)
    }

    /// The account was asked too much: everybody waits, each time twice as long. Whoever was told so
    /// at the same time counts once.
    pub fn slow_down(&self, now: Tick, first: Duration, longest: Duration) {
        let mut pace = self.pace();
        if pace.until > now {
            return;
        }
        let times = 1_u32.checked_shl(pace.slowed.min(16)).unwrap_or(u32::MAX);
        let wait = first.saturating_mul(times).min(longest);
        pace.slowed = pace.slowed.saturating_add(1);
        pace.until = now + Millis(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    }

    /// The account answers again.
    pub fn speed_up(&self) {
        self.pace().slowed = 0;
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cloud itself.
    pub fn cloud(&self) -> &C {
        &self.cloud
    }

    /// What is known of the Kinds that a Step works on is known no longer.
    fn forget(&self, step: &Step) {
        let kinds = step.targets().iter().map(|target| target.kind);
        for kind in kinds.chain(step.kind()) {
            if let Some(sheet) = self.sheets.get(kind) {
                sheet.changes.fetch_add(1, Ordering::SeqCst);
            }
        }
        let keeps_marks = matches!(step, Step::AddInner { .. } | Step::RemoveInner(_));
        for target in step.targets().iter().filter(|_| !keeps_marks) {
            if let Some(sheet) = self.sheets.get(target.kind) {
                sheet.marks().forget(&target.id);
            }
        }
        let keeps_parts = matches!(step, Step::Mark { .. } | Step::Unmark { .. });
        for target in step.targets().iter().filter(|_| !keeps_parts) {
            if let Some(sheet) = self.sheets.get(target.kind) {
                sheet.insides().forget(&target.id);
            }
        }
    }
}

impl<C: Survey> Inventory<C> {
    async fn snapshot(
        &self,
        sheet: &Sheet,
        now: Tick,
        since: Option<Tick>,
    ) -> (Tick, Result<Arc<Snapshot>, CloudError>) {
        let mut taken = sheet.taken.lock().await;
        let changes = sheet.changes();
        if let Some(last) = &*taken
            && (last.changes == changes || since.is_some_and(|since| last.at >= since))
            && now - last.at < LIFE
        {
            return (last.at, last.outcome.clone());
        }
        let outcome = self.heed(self.cloud.survey(sheet.kind).await);
        let outcome = outcome.map(|answer| Arc::new(Snapshot::new(sheet.kind, answer)));
        if let Ok(snapshot) = &outcome {
            self.revisit(sheet, snapshot).await;
        }
        *taken = Some(Taken {
            at: now,
            changes,
            outcome: outcome.clone(),
        });
        (now, outcome)
    }

    /// Reads again what is the oldest of all that no listing shows: the marks of one resource, and the
    /// parts inside one.
    async fn revisit(&self, sheet: &Sheet, snapshot: &Snapshot) {
        let oldest = {
            let mut marks = sheet.marks();
            marks.keep(|id| snapshot.has(id));
            marks.oldest()
        };
        // A read that fails leaves what is known as it is; the next survey tries again.
        if let Some(id) = oldest {
            let query = Query::Id(Target::new(sheet.kind, id));
            let _ = self.read(&query).await;
        }
        let oldest = {
            let mut insides = sheet.insides();
            insides.keep(|id| snapshot.has(id));
            insides.oldest()
        };
        if let Some((id, inner)) = oldest {
            let of = Target::new(sheet.kind, id);
            let _ = self.read(&Query::Inner { of, inner }).await;
        }
    }
}

impl Sheet {
    fn new(kind: &'static Kind) -> Self {
        Self {
            kind,
            changes: AtomicU64::new(0),
            taken: lock::Mutex::new(None),
            marks: Mutex::default(),
            insides: Mutex::default(),
        }
    }

    /// Whether reads show what no listing does.
    fn remembers(&self) -> bool {
        !self.kind.lists_marks || insides::has_unlisted(self.kind)
    }

    fn changes(&self) -> u64 {
        self.changes.load(Ordering::SeqCst)
    }

    fn marks(&self) -> MutexGuard<'_, Marks> {
        // Nothing in there can be half done.
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn insides(&self) -> MutexGuard<'_, Insides> {
        // Nor in there.
        self.insides.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is inside a resource, where no listing shows it; nothing inside what is not there.
    fn inside(
        &self,
        snapshot: &Snapshot,
        of: &Target,
        inner: &'static str,
    ) -> Result<Answer, Silent> {
        let known = if snapshot.has(&of.id) {
            self.insides().parts(&of.id, inner)
        } else {
            Some(Vec::new())
        };
        let parts = known.ok_or_else(|| Silent::Inside(of.clone()))?;
        let of = of.clone();
        Ok(Answer {
            inner: vec![InnerAnswer { of, inner, parts }],
            date: snapshot.date(),
            ..Answer::default()
        })
    }

    /// A listed resource with the marks that the listing may have left out.
    fn with_marks(&self, listed: &Arc<Resource>) -> Result<Arc<Resource>, Silent> {
        if self.kind.lists_marks {
            return Ok(listed.clone());
        }
        let whole = self.marks().complete(listed);
        whole.ok_or_else(|| Silent::Marks(listed.target()))
    }
}

impl<C: Survey> Show for Inventory<C> {
    async fn show(&self, query: &Query, now: Tick, since: Option<Tick>) -> Result<Shown, Silent> {
        // Who waits for an operation asks for it.
        let listed = !matches!(query, Query::Operation { .. });
        let sheet = self.sheets.get(query.kind()).filter(|_| listed);
        let sheet = sheet.ok_or(Silent::Kind(query.kind()))?;
        let (at, outcome) = self.snapshot(sheet, now, since).await;
        let snapshot = outcome.map_err(Silent::Survey)?;
        let answer = match query {
            Query::Inner { of, inner } if insides::is_unlisted(sheet.kind, inner) => {
                sheet.inside(&snapshot, of, inner)?
            }
            query => snapshot.answer(query, |listed| sheet.with_marks(listed))?,
        };
        Ok(Shown { answer, at })
    }
}

impl<C: Cloud> Cloud for Inventory<C> {
    /// The cloud's own answer. What no listing shows is remembered in passing.
    async fn read(&self, query: &Query) -> Result<Answer, CloudError> {
        let sheet = self.sheets.get(query.kind());
        let Some(sheet) = sheet.filter(|sheet| sheet.remembers()) else {
            return self.heed(self.cloud.read(query).await);
        };
        let changes = sheet.changes();
        let answer = self.heed(self.cloud.read(query).await)?;
        let (mut marks, mut insides) = (sheet.marks(), sheet.insides());
        // An answer that crossed a Step may be older than it.
        if sheet.changes() == changes {
            if !sheet.kind.lists_marks {
                answer
                    .resources
                    .iter()
                    .for_each(|resource| marks.remember(resource));
            }
            answer.inner.iter().for_each(|told| insides.remember(told));
        }
        drop((marks, insides));
        Ok(answer)
    }

    /// The cloud's own doing.
    async fn perform(&self, step: &Step, by: Deadline<'_>) -> Result<Effect, CloudError> {
        // Before, because this future may be dropped; after, because a survey may have begun since.
        self.forget(step);
        let begun = self.calls.as_ref().map(Calls::begin);
        let outcome = self.heed(self.cloud.perform(step, by).await);
        if let Some(begun) = begun {
            begun.end(outcome.as_ref());
        }
        self.forget(step);
        // What a create made is as its answer says, marks included.
        let born = outcome
            .as_ref()
            .ok()
            .and_then(|effect| effect.born.as_ref());
        let sheet = step.kind().and_then(|kind| self.sheets.get(kind));
        if let (Some(born), Some(sheet)) = (born, sheet.filter(|sheet| !sheet.kind.lists_marks)) {
            sheet.marks().remember(born);
        }
        outcome
    }
}
