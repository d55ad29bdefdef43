//! moto's server, and the proxy before it.
//!
//! Runs only where `FREEHOLD_TIER_AWS=1` says that moto can be had. Of every row in `docs/aws.md`,
//! "What the proxy before moto adds", there is a test of its name. It does the same to moto and to
//! moto behind the proxy, and fails where moto does by itself what AWS does: then the row can go.

mod balancers;
mod in_use;
mod instances;
mod lab;
mod nat_gateways;
mod quotas;
mod sdk;
mod server;
mod taken;
mod tokens;

use std::collections::BTreeSet;

#[test]
fn every_row_in_the_docs_has_its_test() {
    let document = include_str!("../../../../../docs/aws.md");
    let (_, section) = document
        .split_once("## What the proxy before moto adds\n")
        .expect("the section");
    let section = section.split("\n## ").next().expect("its text");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| "));
    let names = rows.filter_map(|row| row.split(" | ").next());
    let names = names.filter(|name| !["row", "---"].contains(name));
    let rows: BTreeSet<_> = names.map(|name| name.replace('-', "_")).collect();
    let sources = [
        include_str!("balancers.rs"),
        include_str!("in_use.rs"),
        include_str!("instances.rs"),
        include_str!("nat_gateways.rs"),
        include_str!("quotas.rs"),
        include_str!("taken.rs"),
        include_str!("tokens.rs"),
    ];
    let tests = sources.iter().flat_map(|source| {
        let tests = source.split("#[tokio::test]\nasync fn ").skip(1);
        tests.filter_map(|test| Some(test.split_once('(')?.0.to_owned()))
    });
    assert_eq!(rows, tests.collect());
}
