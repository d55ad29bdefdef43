//! Claims at rest: a glance at the inventory in place of a pass. And claims that wait for what is coming: a
//! look at that in place of a pass.

use ownership::decide::{Call, Decided, Evidence, Op};
use ownership::error::Class;
use ownership::life::Life;
use ownership::time::{Millis, Tick};
use ownership::{
    Blueprint, Case, CloudError, Decision, Edit, Ledger, Phase, Query, Reason, Sightings, View,
    decide,
};

use super::{Clock, Driver, Journal, LedgerStore, PassEnd, Report, TOO_MANY};
use crate::inventory::{Show, Silent};

/// For how long a claim that waits is not looked at in full.
const PATIENCE: Millis = Millis::seconds(300);

/// What the last pass over a claim came to. Losing it costs a pass.
#[derive(Clone, Debug, Default)]
pub struct Rested(Option<Last>);

impl Rested {
    /// A claim at rest gets a pass next, and not a glance. One that waits has never come so far.
    pub fn look_in_full(&mut self) {
        if matches!(self.0, Some(Last::Rest(..))) {
            self.0 = None;
        }
    }
}

#[derive(Clone, Debug)]
enum Last {
    /// It came to rest, with this report, then.
    Rest(Report, Tick),
    /// It waits for what is coming, and for nothing else.
    Waits(Box<Waiting>),
}

/// What a claim is like that waits for what is coming. While it is the same, and so is what is coming,
/// another pass would find nothing new.
#[derive(Clone, Debug)]
struct Waiting {
    report: Report,
    why: Reason,
    ledger: Ledger,
    blueprint: Blueprint,
    evidence: Evidence,
    /// When everything is looked at again.
    patience_ends: Tick,
}

impl<C: Show, K: Clock> Driver<'_, C, K> {
    /// One visit to a claim.
    ///
    /// # Expected flow
    /// 1. If the last pass came to rest and the claim lives: a glance at the inventory. If that
    ///    shows the same as then, the claim still rests, and nothing was read for it alone. Intents
    ///    whose resource it shows are closed.
    /// 2. If it ended waiting for nothing but what is coming, and neither the claim nor its ledger is
    ///    another since: a fresh read of that. While it is coming, the claim goes on waiting.
    /// 3. Else a pass, which reads freshly.
    ///
    /// # Guarantees
    /// Those of [`Driver::pass`]. What the inventory shows leads to nothing but a pass, and to the end
    /// of intents: that something is there may close one, that it is not says nothing (law 8).
    pub async fn visit<L: LedgerStore>(
        &self,
        case: &Case<'_>,
        store: &mut L,
        sightings: &mut Sightings,
        rested: &mut Rested,
        journal: &mut impl Journal,
    ) -> PassEnd {
        // Whatever ends this visit early, the next one begins with a pass.
        let last = rested.0.take().filter(|_| case.phase == Phase::Live);
        if let Some(Last::Waits(waiting)) = &last
            && let Some(end) = self.still_waits(case, store, waiting).await
        {
            rested.0 = last;
            return end;
        }
        if let Some(Last::Rest(before, since)) = last
            && let Ok(mut ledger) = store.load().await
        {
            loop {
                sightings.keep_only(&ledger);
                match self.glance(case, &ledger, sightings, since).await {
                    Ok(Glance::Rest(report, books)) if report.agrees_with(&before) => {
                        rested.0 = Some(Last::Rest(before, since));
                        return PassEnd::Rest(report, books);
                    }
                    Ok(Glance::Close(edits)) => {
                        if let Err(error) = store.write(&edits).await {
                            return PassEnd::Ledger(error);
                        }
                        for edit in &edits {
                            ledger.apply(edit);
                        }
                    }
                    // Whoever is told to ask less does not ask for more.
                    Err(error) => {
                        rested.0 = Some(Last::Rest(before, since));
                        return PassEnd::Failed(error, Report::default());
                    }
                    Ok(_) => break,
                }
            }
        }
        let mut ledger = Ledger::default();
        let pass = self.pass_with(case, store, sightings, journal, &mut ledger);
        let end = pass.await;
        let now = self.clock.now();
        rested.0 = match &end {
            _ if case.phase != Phase::Live => None,
            PassEnd::Rest(report, _) => Some(Last::Rest(report.clone(), now)),
            PassEnd::Wait(_, why, report) if !report.coming.is_empty() => {
                Some(Last::Waits(Box::new(Waiting {
                    report: report.clone(),
                    why: why.clone(),
                    ledger,
                    blueprint: case.blueprint.clone(),
                    evidence: case.evidence.clone(),
                    patience_ends: now + PATIENCE,
                })))
            }
            _ => None,
        };
        end
    }

    /// How a visit ends to a claim that still waits for the same; `None` if a pass is due. The cloud itself
    /// is asked for what is coming: an inventory would show late that it has come.
    async fn still_waits<L: LedgerStore>(
        &self,
        case: &Case<'_>,
        store: &mut L,
        waiting: &Waiting,
    ) -> Option<PassEnd> {
        let now = self.clock.now();
        let is_same =
            case.blueprint.wants_the_same(&waiting.blueprint) && *case.evidence == waiting.evidence;
        if now >= waiting.patience_ends || !is_same {
            return None;
        }
        let ledger = Ledger {
            // A claim is new once.
            is_new: waiting.ledger.is_new,
            ..store.load().await.ok()?
        };
        if ledger != waiting.ledger {
            return None;
        }
        let report = &waiting.report;
        for target in &report.coming {
            match self.cloud.read(&Query::Id(target.clone())).await {
                Ok(answer) => {
                    let mut found = answer.resources.iter();
                    found.find(|it| it.id == target.id && it.life == Life::Coming)?;
                }
                // Whoever is told to ask less does not ask for more.
                Err(error) if error.class == Class::Throttled => {
                    return Some(PassEnd::Failed(error, Report::default()));
                }
                Err(_) => return None,
            }
        }
        let every = report.coming.iter().map(|it| it.kind.course.ask_every);
        let again = now + every.min()?;
        Some(PassEnd::Wait(again, waiting.why.clone(), report.clone()))
    }

    /// What the inventory shows of a claim whose last pass ended at `since`, at rest.
    ///
    /// # Guarantees
    /// Nothing is written or performed, and nothing remembered but that something is not missing any
    /// more, and that something was announced. The engine is the one that passes ask, and what it sees
    /// is not fresh, so no proof in the report can become a Step.
    ///
    /// # Errors
    /// The account is asked too much.
    pub async fn glance(
        &self,
        case: &Case<'_>,
        ledger: &Ledger,
        remembered: &mut Sightings,
        since: Tick,
    ) -> Result<Glance, CloudError> {
        let mut sightings = remembered.clone();
        let mut view = View::new();
        for _ in 0..TOO_MANY {
            let now = self.clock.now();
            let Decided {
                decision,
                reason,
                findings,
                filled,
                guests,
                coming,
                ..
            } = decide(self.rules, case, ledger, &view, &mut sightings, now);
            match decision {
                Decision::Call(calls) => {
                    let Some(queries) = questions(calls, &view) else {
                        return Ok(Glance::Differs);
                    };
                    for query in queries {
                        match self.cloud.show(&query, now, Some(since)).await {
                            Ok(shown) => view.recall(query, shown.answer, shown.at),
                            Err(Silent::Survey(error)) if error.class == Class::Throttled => {
                                return Err(error);
                            }
                            Err(_) => return Ok(Glance::Differs),
                        }
                    }
                }
                // What can be closed now, and not by this, is closed by a pass.
                Decision::Rest(Some(at)) if at <= now => return Ok(Glance::Differs),
                Decision::Rest(books) => {
                    let report = Report {
                        findings,
                        filled,
                        guests,
                        coming,
                    };
                    remembered.clear_as(&sightings);
                    remembered.learn_announcements(&sightings);
                    return Ok(Glance::Rest(report, books));
                }
                Decision::Write(entries) if reason == Reason::SeenByMarks => {
                    let edits = entries.into_iter().flat_map(|entry| entry.edits);
                    return Ok(Glance::Close(edits.collect()));
                }
                _ => return Ok(Glance::Differs),
            }
        }
        Ok(Glance::Differs)
    }
}

/// The questions of a round, if it has nothing else, and asks none of them again: that is to ask for
/// something fresh.
fn questions(calls: Vec<Call>, view: &View) -> Option<Vec<Query>> {
    let new = |call: Call| match call.op {
        Op::Read(query) if view.look(&query).is_none() => Some(query),
        _ => None,
    };
    calls.into_iter().map(new).collect()
}

/// What the inventory shows of a claim.
#[derive(Clone, Debug)]
pub enum Glance {
    /// It is at rest; what is still open in the ledger can be closed then.
    Rest(Report, Option<Tick>),
    /// The resources of its intents are there: these can be closed.
    Close(Vec<Edit>),
    /// It is not at rest, or that cannot be told.
    Differs,
}
