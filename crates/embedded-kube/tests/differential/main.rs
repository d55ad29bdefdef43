//! Holds the embedded API server to a real one: each case runs on both, and the transcripts must agree.
//!
//! It runs where `FREEHOLD_TIER_CONTROL_PLANE=1` says that a control plane can be had; elsewhere each
//! test says that it was skipped. `FREEHOLD_DIFFERENTIAL_PRINT=1` prints every transcript of the real
//! server. Waiting for the real controllers takes most of the time, so many test threads pay off:
//! `--test-threads 16`.

#![allow(clippy::panic, reason = "all of it is a test")]

mod cases;
mod harness;
mod sequences;
mod upstream;
