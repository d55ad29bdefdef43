//! Holds `docs/laws.md` to the rules that keep the laws.

use std::collections::BTreeSet;

use crate::cargo::Workspace;

/// The methods of the trait `Rules`.
fn rules(source: &str) -> BTreeSet<&str> {
    let body = source
        .split_once("pub trait Rules {")
        .and_then(|(_, rest)| rest.split_once("\n}\n"))
        .map_or("", |(body, _)| body);
    let declared = body.lines().filter_map(|line| line.strip_prefix("    fn "));
    declared.filter_map(|line| line.split('(').next()).collect()
}

/// The rules that the document's tables name: first cells that are code.
fn documented(document: &str) -> Vec<&str> {
    let rows = document.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split('`').next()).collect()
}

fn read(name: &str) -> String {
    let workspace = Workspace::here().unwrap();
    std::fs::read_to_string(workspace.root().join(name)).unwrap()
}

#[test]
fn every_rule_stands_under_one_law_and_every_documented_rule_exists() {
    let source = read("crates/ownership/src/rules.rs");
    let document = read("docs/laws.md");
    let mut named = documented(&document);
    named.sort_unstable();
    let rules: Vec<_> = rules(&source).into_iter().collect();
    assert!(rules.len() > 20, "{rules:?}");
    assert_eq!(named, rules);
}

#[test]
fn every_law_and_assumption_has_its_chapter() {
    let document = read("docs/laws.md");
    let chapters = (1..=10).map(|law| format!("\n## {law}. "));
    let assumptions = (1..=3).map(|assumption| format!("\n### A{assumption}\n"));
    for heading in chapters.chain(assumptions) {
        assert_eq!(document.matches(&heading).count(), 1, "{heading:?}");
    }
}
