//! Holds `docs/laws.md` to the rules that keep the laws, and the bug report to the list of laws.

use std::collections::{BTreeMap, BTreeSet};

use crate::cargo::Workspace;

/// The methods of the trait `Rules`.
fn rules(source: &str) -> BTreeSet<&str> {
    let body = source
        .split_once("pub trait Rules: Sync {")
        .and_then(|(_, rest)| rest.split_once("\n}\n"))
        .map_or("", |(body, _)| body);
    let declared = body.lines().filter_map(|line| line.strip_prefix("    fn "));
    declared.filter_map(|line| line.split('(').next()).collect()
}

/// The mutants of each rule: a name in quotes, then the method that it replaces.
fn mutants(source: &str) -> BTreeMap<&str, Vec<&str>> {
    let list = source
        .split_once("\nmutants! {\n")
        .map_or("", |(_, list)| list);
    let mut mutants: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut name = None;
    for line in list.lines() {
        if let Some(rest) = line.trim().strip_prefix('"') {
            name = rest.split_once('"').map(|(name, _)| name);
        }
        let rule = line
            .split_once("fn ")
            .and_then(|(_, rest)| rest.split('(').next());
        if let (Some(name), Some(rule)) = (name, rule) {
            mutants.entry(rule).or_default().push(name);
        }
    }
    mutants
}

/// The rules that the document's tables name, with their mutants.
fn documented(document: &str) -> Vec<(&str, &str)> {
    let rows = document.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| {
        let (rule, rest) = row.split_once('`')?;
        let mutants = rest.trim_end_matches(" |").rsplit(" | ").next()?;
        Some((rule, mutants))
    })
    .collect()
}

fn read(name: &str) -> String {
    let workspace = Workspace::here().unwrap();
    std::fs::read_to_string(workspace.root().join(name)).unwrap()
}

#[test]
fn every_rule_stands_under_one_law_with_its_mutants() {
    let source = read("crates/ownership/src/rules.rs");
    let mutants_source = read("crates/explorer/src/mutants.rs");
    let mutants = mutants(&mutants_source);
    let row = |rule: &str| {
        mutants
            .get(rule)
            .map_or("–".to_owned(), |names| names.join("; "))
    };
    let expected: BTreeMap<&str, String> = rules(&source)
        .into_iter()
        .map(|rule| (rule, row(rule)))
        .collect();
    assert!(expected.len() > 20 && mutants.len() > 20, "{expected:?}");
    let unknown: Vec<_> = mutants
        .keys()
        .filter(|rule| !expected.contains_key(*rule))
        .collect();
    assert!(
        unknown.is_empty(),
        "mutants replace what is no rule: {unknown:?}"
    );

    let document = read("docs/laws.md");
    let mut named = documented(&document);
    named.sort_unstable();
    let expected: Vec<_> = expected
        .iter()
        .map(|(rule, row)| (*rule, row.as_str()))
        .collect();
    assert_eq!(named, expected);
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

#[test]
fn the_bug_report_lists_the_laws() {
    let numbered = |line: &str| line.starts_with(|c: char| c.is_ascii_digit());
    let document = read("docs/laws.md");
    let headings = document.lines().filter_map(|line| line.strip_prefix("## "));
    let laws: Vec<_> = headings.filter(|heading| numbered(heading)).collect();
    let form = read(".github/ISSUE_TEMPLATE/bug_report.yml");
    let options = form.lines().map(str::trim);
    let options = options.filter_map(|line| line.strip_prefix("- "));
    let options: Vec<_> = options.filter(|option| numbered(option)).collect();
    assert!(!laws.is_empty());
    assert_eq!(options, laws);
}
