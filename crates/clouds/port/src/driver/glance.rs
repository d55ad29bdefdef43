//! Claims at rest: a glance at the inventory in place of a pass.

use ownership::decide::{Call, Decided, Op};
use ownership::error::Class;
use ownership::time::Tick;
use ownership::{
    Case, CloudError, Decision, Edit, Ledger, Phase, Query, Reason, Sightings, View, decide,
};

use super::{Clock, Driver, Journal, LedgerStore, PassEnd, Report, TOO_MANY};
use crate::inventory::{Show, Silent};

/// What the last pass over a claim found, if it came to rest, and when that was. Losing it costs a
/// pass.
#[derive(Clone, Debug, Default)]
pub struct Rested(Option<(Report, Tick)>);

impl<C: Show, K: Clock> Driver<'_, C, K> {
    /// One visit to a claim.
    ///
    /// # Expected flow
    /// 1. If the last pass came to rest and the claim lives: a glance at the inventory. If that
    ///    shows the same as then, the claim still rests, and nothing was read for it alone. Intents
    ///    whose resource it shows are closed.
    /// 2. Else a pass, which reads freshly.
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
        if let Some((before, since)) = rested.0.take()
            && case.phase == Phase::Live
            && let Ok(mut ledger) = store.load().await
        {
            loop {
                sightings.keep_only(&ledger);
                match self.glance(case, &ledger, sightings, since).await {
                    Ok(Glance::Rest(report, books)) if report.agrees_with(&before) => {
                        rested.0 = Some((before, since));
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
                        rested.0 = Some((before, since));
                        return PassEnd::Failed(error, Report::default());
                    }
                    Ok(_) => break,
                }
            }
        }
        let end = self.pass(case, store, sightings, journal).await;
        if let (PassEnd::Rest(report, _), Phase::Live) = (&end, case.phase) {
            rested.0 = Some((report.clone(), self.clock.now()));
        }
        end
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
