//! Where the accounts of clusters are: the real AWS, or a simulated one.

#[cfg(not(feature = "aws"))]
mod absent;
#[cfg(feature = "aws")]
mod aws;
#[cfg(feature = "dev")]
mod simulated;

use std::collections::BTreeMap;

use cloud_port::Calls;
use cloud_port::aws::Accounts;
use ownership::time::Millis;

use crate::clock::ProcessClock;
#[cfg(not(feature = "aws"))]
pub(crate) use absent::WITHOUT;
#[cfg(feature = "dev")]
pub use simulated::Simulated;

/// Accounts that can tell what was called.
///
/// # Guarantees that an implementation gives
/// Every inventory that it opens counts on [`Countable::under_way`].
pub trait Countable: Accounts + Clone {
    /// What was sent and may still take effect, so that a Lease is released for what it is.
    fn under_way(&self) -> &Calls;

    /// How often calls ended in which way, so far: for metrics.
    fn calls(&self) -> BTreeMap<Call, u64>;
}

/// How a call to a cloud ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    /// The service, such as `EC2`.
    pub service: String,
    /// The operation, by its name in the service's reference.
    pub operation: String,
    /// `ok`, `refused` or `no-answer`.
    pub outcome: &'static str,
}

/// The accounts of this build.
#[cfg(feature = "aws")]
pub(crate) type Real = aws::Aws;

/// The accounts of this build: none.
#[cfg(not(feature = "aws"))]
pub(crate) type Real = absent::Absent;

/// The accounts of this build, where a call is given up after `request_timeout`.
///
/// # Errors
/// There are none.
#[cfg(feature = "aws")]
#[expect(
    clippy::unnecessary_wraps,
    reason = "a build without clouds has none to give"
)]
pub(crate) fn real(clock: ProcessClock, request_timeout: Millis) -> anyhow::Result<Real> {
    Ok(aws::Aws::from_env(clock, request_timeout))
}

/// The accounts of this build.
///
/// # Errors
/// There are none.
#[cfg(not(feature = "aws"))]
pub(crate) fn real(_: ProcessClock, _: Millis) -> anyhow::Result<Real> {
    anyhow::bail!(absent::WITHOUT)
}
