//! Holds the guides to the code: what they link to is there, and so are the tests that they name.

use std::path::{Path, PathBuf};

use crate::cargo::Workspace;

const GUIDES: [&str; 2] = ["docs/adding-a-kind.md", "docs/adding-a-system.md"];

/// The targets of a document's links to other files.
fn links(document: &str) -> Vec<&str> {
    let after = document.split("](").skip(1);
    let targets = after.filter_map(|rest| rest.split([')', '#']).next());
    targets.filter(|target| !target.is_empty()).collect()
}

/// The tests that the last column of a document's tables names.
fn tests(document: &str) -> Vec<&str> {
    let rows = document.lines().filter(|line| line.starts_with("| "));
    let last = rows.filter_map(|row| row.trim_end_matches(" |").rsplit(" | ").next());
    let quoted = last.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    quoted
        .filter(|name| {
            name.contains('_')
                && name
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit())
        })
        .collect()
}

/// The lines of a document's example, each with its file.
fn example(document: &str) -> Vec<(&str, &str)> {
    let diff = document
        .split_once("```diff\n")
        .map_or("", |(_, rest)| rest);
    let diff = diff.split_once("```").map_or("", |(diff, _)| diff);
    let mut file = "";
    let mut lines = Vec::new();
    for line in diff.lines() {
        match line.strip_prefix("+++ ") {
            Some(name) => file = name,
            None => lines.push((file, line.trim_start_matches('+'))),
        }
    }
    lines
}

/// All Rust sources below a folder, as one text.
fn sources(folder: &Path, text: &mut String) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn the_guides_name_what_there_is() {
    let workspace = Workspace::here().unwrap();
    let root = workspace.root();
    let mut code = String::new();
    sources(&root.join("crates"), &mut code);
    for guide in GUIDES {
        let document = std::fs::read_to_string(root.join(guide)).unwrap();
        let links = links(&document);
        assert!(links.len() > 4, "{guide}: the links are not read");
        for link in links {
            assert!(root.join("docs").join(link).exists(), "{guide}: {link}");
        }
        let example = example(&document);
        assert!(example.len() > 4, "{guide}: the example is not read");
        for (file, line) in example {
            let source = std::fs::read_to_string(root.join(file)).unwrap();
            let there = source.lines().any(|other| other == line);
            assert!(there, "{guide}: {file} has no line {line:?}");
        }
        let tests = tests(&document);
        assert!(!tests.is_empty(), "{guide}: the tests are not read");
        for test in tests {
            let there =
                code.contains(&format!("fn {test}(")) || code.contains(&format!("fn {test}<"));
            assert!(there, "{guide}: there is no test {test}");
        }
    }
}
