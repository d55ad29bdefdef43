//! The cases, by what they are about.

pub(crate) mod balancers;
pub(crate) mod groups;
pub(crate) mod iam;
pub(crate) mod inventory;
pub(crate) mod machines;
pub(crate) mod network;
pub(crate) mod tags;
pub(crate) mod ways_out;
