//! Holds the walk of one object in `docs/architecture.md` to the code, and to its limits.

use std::collections::BTreeSet;

use crate::cargo::Workspace;

/// How many functions and files an object may lead through.
const MOST: (usize, usize) = (25, 15);

/// The functions of the walk, each with its file.
fn steps(document: &str) -> Vec<(&str, &str)> {
    let table = document
        .split_once("### The walk of one object")
        .map_or("", |(_, rest)| rest);
    let table = table.split_once("\n### ").map_or(table, |(table, _)| table);
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| {
        let (function, rest) = row.split_once("` | `")?;
        let (file, _) = rest.split_once('`')?;
        Some((function, file))
    })
    .collect()
}

#[test]
fn the_walk_of_one_object_is_as_the_architecture_says() {
    let workspace = Workspace::here().unwrap();
    let read = |name: &str| std::fs::read_to_string(workspace.root().join(name)).unwrap();
    let document = read("docs/architecture.md");
    let steps = steps(&document);
    for (function, file) in &steps {
        let source = read(file);
        let declared = [format!("fn {function}("), format!("fn {function}<")];
        assert!(
            declared.iter().any(|text| source.contains(text.as_str())),
            "{file} has no function {function}"
        );
    }
    let files: BTreeSet<_> = steps.iter().map(|(_, file)| file).collect();
    assert!(steps.len() > 15, "the table is not read");
    assert!(
        steps.len() <= MOST.0 && files.len() <= MOST.1,
        "{} functions in {} files",
        steps.len(),
        files.len()
    );
}
