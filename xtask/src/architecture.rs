//! Holds the workspace to the table of crates in `docs/architecture.md`.

use std::collections::{BTreeMap, BTreeSet};

/// What a row of the table says about one crate.
#[derive(Debug, PartialEq, Eq)]
struct Rule {
    may_use: BTreeSet<String>,
    may_not_know: Vec<String>,
}

/// Names of packages by crate.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// The groups that the table's last column can name, by the beginnings of their packages' names.
const GROUPS: [(&str, &[&str]); 3] = [
    ("Kubernetes", &["kube", "k8s-openapi"]),
    ("SDKs", &["aws-", "google-cloud-", "azure_", "reqwest"]),
    (
        "async runtimes",
        &["tokio", "async-std", "smol", "futures-executor"],
    ),
];

/// Reads the table: the rows whose first cell is a crate's name.
fn parse(document: &str) -> BTreeMap<String, Rule> {
    let mut rules = BTreeMap::new();
    for line in document.lines() {
        let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [name, _, may_use, may_not_know] = cells[..] else {
            continue;
        };
        let quoted = |text: &str| -> BTreeSet<String> {
            text.split('`')
                .skip(1)
                .step_by(2)
                .map(str::to_owned)
                .collect()
        };
        if let Some(name) = quoted(name).pop_first() {
            let groups = may_not_know.split(", ").filter(|group| *group != "–");
            let may_not_know = groups.map(str::to_owned).collect();
            rules.insert(
                name,
                Rule {
                    may_use: quoted(may_use),
                    may_not_know,
                },
            );
        }
    }
    rules
}

/// Where the workspace differs from the table. `uses` has the crates of the workspace and the
/// packages that each names itself; `locked` what those need in turn.
fn violations(rules: &BTreeMap<String, Rule>, uses: &Graph, locked: &Graph) -> Vec<String> {
    let mut found = Vec::new();
    for name in uses.keys().filter(|name| !rules.contains_key(*name)) {
        found.push(format!("{name} is not in the table"));
    }
    for (name, rule) in rules {
        let Some(direct) = uses.get(name) else {
            found.push(format!("{name} is in the table and not in the workspace"));
            continue;
        };
        for used in direct.iter().filter(|used| uses.contains_key(*used)) {
            if !rule.may_use.contains(used) {
                found.push(format!("{name} may not use {used}"));
            }
        }
        let known = closure(name, uses, locked);
        for group in &rule.may_not_know {
            let Some((_, beginnings)) = GROUPS.iter().find(|(known, _)| known == group) else {
                found.push(format!(
                    "{name} may not know {group:?}, which is no known group"
                ));
                continue;
            };
            let of_group = |package: &&String| beginnings.iter().any(|b| package.starts_with(b));
            for package in known.iter().filter(of_group) {
                found.push(format!("{name} may not know {group}, but needs {package}"));
            }
        }
    }
    found
}

/// Every package that a crate needs, near or far.
fn closure(name: &str, uses: &Graph, locked: &Graph) -> BTreeSet<String> {
    let mut open: Vec<&String> = uses.get(name).into_iter().flatten().collect();
    let mut known = BTreeSet::new();
    while let Some(package) = open.pop() {
        if known.insert(package.clone()) {
            open.extend(
                uses.get(package)
                    .or_else(|| locked.get(package))
                    .into_iter()
                    .flatten(),
            );
        }
    }
    known
}

/// The dependencies of every package in a `Cargo.lock`; versions are of no interest here.
fn parse_lock(text: &str) -> Graph {
    let mut graph = Graph::new();
    for package in text.split("[[package]]").skip(1) {
        let mut quoted = package.split('"').skip(1).step_by(2);
        let Some(name) = quoted.next() else { continue };
        let list = package
            .split_once("dependencies = [")
            .map_or("", |(_, rest)| rest);
        let list = list.split_once(']').map_or(list, |(inside, _)| inside);
        let dependencies = list.split('"').skip(1).step_by(2);
        let names = dependencies.filter_map(|entry| entry.split(' ').next());
        graph
            .entry(name.to_owned())
            .or_default()
            .extend(names.map(str::to_owned));
    }
    graph
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::Workspace;

    /// The crates of the workspace with what they need to be built; not what only their tests need.
    fn workspace_uses(workspace: &Workspace) -> Graph {
        let mut command = workspace.cargo(["metadata", "--no-deps", "--format-version", "1"]);
        let output = command.output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        let packages = metadata["packages"].as_array().unwrap().iter();
        packages
            .map(|package| {
                let dependencies = package["dependencies"].as_array().unwrap().iter();
                let needed = dependencies.filter(|dependency| dependency["kind"] != "dev");
                (
                    text(&package["name"]),
                    needed.map(|d| text(&d["name"])).collect(),
                )
            })
            .collect()
    }

    #[test]
    fn the_workspace_is_as_the_architecture_says() {
        let workspace = Workspace::here().unwrap();
        let read = |name| std::fs::read_to_string(workspace.root().join(name)).unwrap();
        let rules = parse(&read("docs/architecture.md"));
        let locked = parse_lock(&read("Cargo.lock"));
        let uses = workspace_uses(&workspace);
        assert!(uses.contains_key("ownership") && locked.contains_key("uuid"));
        assert_eq!(violations(&rules, &uses, &locked), Vec::<String>::new());
    }

    fn graph(edges: &[(&str, &[&str])]) -> Graph {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        edges
            .iter()
            .map(|(name, needs)| ((*name).to_owned(), set(needs)))
            .collect()
    }

    const TABLE: &str = "\
| crate | holds | may use | may not know |
| --- | --- | --- | --- |
| `core` | decisions | – | Kubernetes, async runtimes |
| `shell` | calls | `core` | SDKs |
";

    #[test]
    fn the_table_is_read() {
        let rules = parse(TABLE);
        assert_eq!(rules.len(), 2);
        assert_eq!(rules["core"].may_not_know, ["Kubernetes", "async runtimes"]);
        assert_eq!(rules["shell"].may_use, BTreeSet::from(["core".to_owned()]));
    }

    #[test]
    fn every_sort_of_violation_is_found() {
        let rules = parse(TABLE);
        let check = |uses: &[(&str, &[&str])]| {
            let locked = graph(&[("far", &["tokio"]), ("tokio", &[])]);
            violations(&rules, &graph(uses), &locked)
        };
        assert_eq!(
            check(&[("core", &[]), ("shell", &["core", "far"])]),
            Vec::<String>::new()
        );
        assert_eq!(
            check(&[("core", &["shell"]), ("shell", &[])]),
            ["core may not use shell"]
        );
        assert_eq!(
            check(&[("core", &["far"]), ("shell", &[])]),
            ["core may not know async runtimes, but needs tokio"]
        );
        assert_eq!(
            check(&[("core", &[]), ("shell", &["aws-sdk-ec2"])]),
            ["shell may not know SDKs, but needs aws-sdk-ec2"]
        );
        assert_eq!(
            check(&[("core", &[]), ("shell", &[]), ("new", &[])]),
            ["new is not in the table"]
        );
        assert_eq!(
            check(&[("core", &[])]),
            ["shell is in the table and not in the workspace"]
        );
    }

    #[test]
    fn a_lock_file_is_read() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1\"\ndependencies = [\n \
                    \"b\",\n \"c 2.0.0\",\n]\n\n[[package]]\nname = \"b\"\nversion = \"1\"\n";
        assert_eq!(parse_lock(lock), graph(&[("a", &["b", "c"]), ("b", &[])]));
    }
}
