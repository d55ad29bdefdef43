//! What KKP clusters cost in calls to the cloud, for `cargo xtask bench kkp`.
//!
//! One line a figure: `name value unit`. The account is simulated, and counts as AWS does: a listing
//! costs a call a page.
#![expect(
    clippy::panic,
    reason = "a cluster that does not converge has no figures"
)]

#[path = "../tests/rest/place.rs"]
mod place;

use std::process::ExitCode;

use ownership::decide::Phase;
use place::Place;

/// How many times clusters at rest are visited.
const PERIODS: u64 = 10;

fn main() -> ExitCode {
    say::end(run())
}

fn run() -> anyhow::Result<ExitCode> {
    let mut writes = 0;
    for clusters in [1, 10, 100, 1000] {
        let mut place = Place::new(clusters, |account| account);
        for tenant in 0..clusters {
            place.converge(tenant, Phase::Live);
        }
        let mut reads = 0;
        for _ in 0..PERIODS {
            let (calls, busy) = place.resync();
            anyhow::ensure!(busy.is_empty(), "{busy:?} of {clusters} do not rest");
            reads += calls.reads;
            writes += calls.writes;
        }
        say::line!(
            "kkp.rest.reads.{clusters} {} calls",
            reads.div_ceil(PERIODS)
        )?;
    }
    say::line!("kkp.rest.writes {writes} calls")?;
    Ok(ExitCode::SUCCESS)
}
