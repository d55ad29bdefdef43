//! The cases, by what they are about.

pub mod adopt;
pub mod copies;
pub mod create;
pub mod end;
pub mod identity;
pub mod migrate;
pub mod older;
pub mod repair;
pub mod shared;
pub mod switches;
pub mod trouble;

use std::collections::BTreeSet;

fn set(texts: &[&str]) -> BTreeSet<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// The rules of a group that serves everybody on IPv4.
fn plain_rules() -> BTreeSet<String> {
    set(&[
        "ingress all all self",
        "ingress tcp 22-22 0.0.0.0/0",
        "ingress icmp all 0.0.0.0/0",
        "ingress tcp 30000-32767 0.0.0.0/0",
        "ingress udp 30000-32767 0.0.0.0/0",
    ])
}
