//! What every controller shares: from an object to a pass of the engine, and back to its status.
//!
//! ```text
//! object ──► pin (whose marks) ─┐
//!        ──► Blueprint ─────────┼──► driver's pass ──► ledger patches, conditions, events
//!        ──► place (which account)┘
//! ```
//!
//! A served system says what is its own in [`System`], and asks for what it needs in [`Sources`]; the
//! rest is the same for all of them.

mod ask;
#[cfg(test)]
mod canary;
mod clock;
mod events;
mod generated;
mod guards;
mod guest;
mod host;
mod inspect;
mod memory;
mod monitor;
mod namesake;
mod others;
mod outcome;
mod pass;
mod pin;
mod prepare;
mod record;
mod rival;
mod roll;
mod run;
pub(crate) mod spelling;
mod store;
mod switches;
mod system;
mod tell;
mod unserved;

pub use ask::{Ask, Watches};
pub use clock::{TokioClock, WallClock};
pub use generated::generated;
pub use guards::Guards;
pub use inspect::{Found, Inside, InspectError, Inspection, Sight, Unseen};
pub use monitor::{Monitor, Passed};
pub use others::Names;
pub use outcome::Conditions;
pub use pass::{Next, Reconciler, Settings};
pub(crate) use record::{Made, hosts_of, made};
pub use roll::{Claimant, Roll};
pub use run::run;
pub use system::{Ids, Object, Scope, Sources, System, Told, Trouble, Wants, api_of};
pub use unserved::Unserved;
