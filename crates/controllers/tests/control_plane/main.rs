//! The suites of the served systems on a real API server, with the originals' own definitions where
//! `FREEHOLD_UPSTREAM_CRDS` names their folder, and the simulated AWS.
//!
//! Runs only where `FREEHOLD_TIER_CONTROL_PLANE=1` says that a control plane can be had.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod capa;
mod kkp;
mod plane;
