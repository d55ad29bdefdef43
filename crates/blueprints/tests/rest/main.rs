//! Law 8, rest is silent: KKP clusters at rest write nothing, and together read what one reads.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

mod drift;
mod place;

use std::sync::{Arc, Mutex};

use cloud_port::{Cloud, Deadline, Effect, Survey};
use cloud_sim::SharedAccount;
use ownership::decide::Phase;
use ownership::{Answer, CloudError, Kind, Query, Step};

use drift::Drift;
use place::{Calls, Place};

/// How many times claims at rest are visited.
const PERIODS: usize = 10;

/// One page of each is enough for so many clusters.
const ONE_PAGE: [&str; 8] = [
    "DescribeRouteTables",
    "DescribeSecurityGroupRules",
    "DescribeSecurityGroups",
    "DescribeSubnets",
    "DescribeVpcs",
    "GetAccountAuthorizationDetails",
    // The marks of one profile, in turn: a listing shows none.
    "GetInstanceProfile",
    "ListInstanceProfiles",
];

fn at_rest<C: Survey>(clusters: usize, cloud: impl FnOnce(SharedAccount) -> C) -> Place<C> {
    let mut place = Place::new(clusters, cloud);
    for tenant in 0..clusters {
        place.converge(tenant, Phase::Live);
    }
    place
}

fn silent() -> Calls {
    Calls {
        reads: 8,
        writes: 0,
        by_operation: ONE_PAGE.map(|op| (op, 1)).into(),
    }
}

#[test]
fn law_8_many_clusters_at_rest_cost_what_one_costs() {
    for clusters in [1, 10, 40] {
        let mut place = at_rest(clusters, |account| account);
        for period in 1..PERIODS {
            let (calls, busy) = place.resync();
            assert_eq!(calls, silent(), "{clusters} clusters, period {period}");
            assert_eq!(busy, [] as [usize; 0]);
        }
        let last = clusters / 2;
        let drift = Drift::RemoveRule;
        assert!(drift.befall(&mut place.account.lock(), last));
        let (calls, busy) = place.resync();
        assert_eq!(busy, [last], "{clusters} clusters");
        assert_eq!(calls.writes, 1);
        let repaired = ("AuthorizeSecurityGroupIngress", 1);
        assert!(calls.by_operation.contains(&repaired), "{calls:?}");
        // Then there is rest again.
        place.converge(last, Phase::Live);
        assert_eq!(place.resync(), (silent(), Vec::new()));
    }
}

#[test]
fn law_8_pages_are_all_that_more_clusters_add() {
    let mut place = at_rest(250, |account| account);
    let (calls, busy) = place.resync();
    assert_eq!(busy, [] as [usize; 0]);
    assert_eq!((calls.reads, calls.writes), (9, 0), "{calls:?}");
    // Five rules of each, and those of the default groups.
    let pages = ("DescribeSecurityGroupRules", 2);
    assert!(calls.by_operation.contains(&pages), "{calls:?}");
}

/// A cloud whose surveys, from some time on, always show what they showed first.
struct Stuck {
    account: SharedAccount,
    first: First,
}

/// What surveys showed since they are stuck.
type First = Arc<Mutex<Option<Vec<(&'static str, Answer)>>>>;

impl Cloud for Stuck {
    async fn read(&self, query: &Query) -> Result<Answer, CloudError> {
        self.account.read(query).await
    }

    async fn perform(&self, step: &Step, by: Deadline<'_>) -> Result<Effect, CloudError> {
        self.account.perform(step, by).await
    }
}

impl Survey for Stuck {
    async fn survey(&self, kind: &'static Kind) -> Result<Answer, CloudError> {
        let answer = self.account.survey(kind).await?;
        let mut first = self.first.lock().unwrap();
        let Some(first) = &mut *first else {
            return Ok(answer);
        };
        if let Some((_, first)) = first.iter().find(|(name, _)| *name == kind.name) {
            return Ok(first.clone());
        }
        first.push((kind.name, answer.clone()));
        Ok(answer)
    }
}

#[test]
fn an_inventory_that_does_not_move_hides_drift() {
    let first = First::default();
    let stuck = first.clone();
    let mut place = at_rest(2, |account| Stuck { account, first });
    *stuck.lock().unwrap() = Some(Vec::new());
    assert_eq!(place.resync(), (silent(), Vec::new()));
    assert!(Drift::RemoveRule.befall(&mut place.account.lock(), 1));
    // What the law's own test would have noticed.
    let (calls, busy) = place.resync();
    assert_eq!((calls.writes, busy), (0, Vec::new()));
}

#[test]
fn a_lost_mark_that_no_listing_shows_is_found_in_turn() {
    let mut place = at_rest(3, |account| account);
    assert_eq!(place.resync(), (silent(), Vec::new()));
    assert!(Drift::UnmarkProfile.befall(&mut place.account.lock(), 1));
    let found = (0..3).find_map(|_| {
        let (_, busy) = place.resync();
        busy.first().copied()
    });
    assert_eq!(found, Some(1));
}
