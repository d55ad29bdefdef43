//! What every served system's suite needs.
//!
//! ```text
//! case ──► Lab ──► API server: the embedded one, or a real control plane
//!            ├───► the system's own reconciler, one pass at a time, on a virtual clock
//!            └───► a cloud: a simulated one, or another's
//! ```
//!
//! A case asserts on what is in the cloud and in the API server, not on what the controller says of
//! it. The cases of [`mod@cases`] hold for every system: [`cases!`] runs them on a [`Sample`] of it.
//! [`seeded`] runs whole operators under random faults, which a seed decides.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a case fails by panicking, in its helpers too"
)]

pub mod cases;
mod clock;
mod during;
mod ibm;
mod lab;
mod one;
pub mod seeded;

pub use clock::LabClock;
pub use during::During;
pub use ibm::{IbmAccount, WRONG_API_KEY};
pub use lab::{Lab, RESYNC, Sample, merge};
pub use one::{One, WRONG_KEY};

/// One test a case that every system has, each in a laboratory of its own that `$lab` makes from the
/// case's name; `None` where the laboratory cannot be had.
#[macro_export]
macro_rules! cases {
    ($lab:path) => {
        $crate::cases! { $lab:
            everything_is_made_and_rests
            an_edit_is_followed
            everything_goes
            a_host_waits_for_its_guests
            a_crash_in_every_create
            a_restored_object_finds_its_resources
            a_status_that_was_lost_is_told_again
            another_management_cluster_waits_for_the_take_over
            after_the_take_over_it_works_on
            a_copy_is_told_and_makes_nothing
            an_observed_object_makes_nothing
            a_restored_object_that_is_observed_is_pinned_anew
            retained_resources_stay
            what_is_gone_is_made_again
        }
    };
    ($lab:path: $($case:ident)*) => {
        mod every_system {
            use super::*;
            $(
                #[tokio::test]
                async fn $case() {
                    if let Some(mut lab) = $lab(stringify!($case)).await {
                        $crate::cases::$case(&mut lab).await;
                    }
                }
            )*
        }
    };
}
