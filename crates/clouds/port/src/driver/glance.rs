//! Claims at rest: a glance at the inventory in place of a pass.

use ownership::decide::Decided;
use ownership::error::Class;
use ownership::{Case, CloudError, Decision, Ledger, Phase, Rules, Sightings, View, decide};

use super::{Clock, Driver, Journal, LedgerStore, PassEnd, Report, TOO_MANY};
use crate::inventory::{Inventory, Silent, Survey};

/// What the last pass over a claim found, if it came to rest. Losing it costs a pass.
#[derive(Clone, Debug, Default)]
pub struct Rested(Option<Report>);

impl<R: Rules + Sync, C: Survey, K: Clock> Driver<'_, R, Inventory<C>, K> {
    /// One visit to a claim.
    ///
    /// # Expected flow
    /// 1. If the last pass came to rest and the claim lives: a glance at the inventory. If that
    ///    shows the same as then, the claim still rests, and nothing was read for it alone.
    /// 2. Else a pass, which reads freshly.
    ///
    /// # Guarantees
    /// Those of [`Driver::pass`]. What the inventory shows leads to nothing but a pass (law 8).
    pub async fn visit<L: LedgerStore>(
        &self,
        case: &Case<'_>,
        store: &mut L,
        sightings: &mut Sightings,
        rested: &mut Rested,
        journal: &mut impl Journal,
    ) -> PassEnd {
        // Whatever ends this visit early, the next one begins with a pass.
        if let Some(before) = rested.0.take()
            && case.phase == Phase::Live
            && let Ok(ledger) = store.load().await
        {
            match self.glance(case, &ledger, sightings).await {
                Ok(Some(report)) if report.agrees_with(&before) => {
                    rested.0 = Some(before);
                    return PassEnd::Rest(report);
                }
                // Whoever is told to ask less does not ask for more.
                Err(error) => {
                    rested.0 = Some(before);
                    return PassEnd::Failed(error, Report::default());
                }
                Ok(_) => {}
            }
        }
        let end = self.pass(case, store, sightings, journal).await;
        if let (PassEnd::Rest(report), Phase::Live) = (&end, case.phase) {
            rested.0 = Some(report.clone());
        }
        end
    }

    /// The report of a claim that is at rest by what the inventory shows; `None` if it is not, or if
    /// that cannot be told.
    ///
    /// # Guarantees
    /// Nothing is written, performed or remembered. The engine is the one that passes ask, and what
    /// it sees is not fresh, so no proof in the report can become a Step.
    ///
    /// # Errors
    /// The account is asked too much.
    pub async fn glance(
        &self,
        case: &Case<'_>,
        ledger: &Ledger,
        sightings: &Sightings,
    ) -> Result<Option<Report>, CloudError> {
        let mut sightings = sightings.clone();
        let mut view = View::new();
        for _ in 0..TOO_MANY {
            let now = self.clock.now();
            let Decided {
                decision,
                findings,
                filled,
                ..
            } = decide(self.rules, case, ledger, &view, &mut sightings, now);
            match decision {
                // To ask again is to ask for something fresh.
                Decision::Look(query) if view.look(&query).is_none() => {
                    match self.cloud.show(&query, now).await {
                        Ok(shown) => view.recall(query, shown.answer, shown.at),
                        Err(Silent::Survey(error)) if error.class == Class::Throttled => {
                            return Err(error);
                        }
                        Err(_) => return Ok(None),
                    }
                }
                Decision::Rest => return Ok(Some(Report { findings, filled })),
                _ => return Ok(None),
            }
        }
        Ok(None)
    }
}
