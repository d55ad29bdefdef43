//! The ownership engine: whose is this part of the cloud, and what may be done about it.
//!
//! ```text
//! Claim + Blueprint + Ledger ─┐
//!                             ├─► decide ──► Look | Write | Do(Step) | Wait | Rest, with its Reason
//! View (what was read) ───────┘
//! ```
//!
//! Pure: no async runtime, no Kubernetes, no SDK, no clock. A pass is a loop around [`decide()`]:
//! carry out what it says, put what came of it into the [`View`], ask again. Nothing else is
//! remembered, so a crash is the same thing as a pass that ended early.
//!
//! # Guarantees
//! The laws (`docs/laws.md`), under their assumptions. Each rule that keeps one is a method of
//! [`Rules`].

pub mod blueprint;
pub mod claim;
pub mod decide;
pub mod error;
pub mod finding;
pub mod input;
pub mod kind;
pub mod ledger;
pub mod life;
pub mod mark;
pub mod name;
pub mod part;
pub mod place;
pub mod query;
pub mod rules;
pub mod secret;
pub mod sight;
pub mod step;
pub mod text;
pub mod time;
pub mod verdict;
pub mod view;

pub use blueprint::{Blueprint, Slot, SlotName};
pub use claim::{Claim, ClaimHash, Holder};
pub use decide::{Case, Decision, Phase, decide};
pub use error::{Class, CloudError};
pub use finding::{Finding, Reason};
pub use kind::Kind;
pub use ledger::{Edit, Ledger};
pub use place::{KindAt, Place};
pub use query::{Answer, Query, Target};
pub use rules::{Freehold, Rules};
pub use secret::Secret;
pub use sight::Sightings;
pub use step::Step;
pub use text::{ResourceId, Text};
pub use verdict::{Identity, Owned, Verdict};
pub use view::View;
