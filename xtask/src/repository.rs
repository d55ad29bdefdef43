//! Checks of the repository itself: what does not belong into it, and links that lead nowhere.

use std::path::Path;

use anyhow::{Context as _, bail};

use crate::cargo::{self, Workspace};

/// First folders of paths that exist on somebody's machine only.
const MACHINE_ROOTS: [&str; 5] = ["Users", "home", "private", "root", "work"];

/// Words in the names of hosts that serve packages: which of them to use is each machine's business.
const REGISTRY_WORDS: [&str; 6] = ["goproxy", "index", "mirror", "proxy", "pypi", "registry"];

/// Files that tools write; they name the public registries by necessity.
const WRITTEN_BY_TOOLS: [&str; 2] = ["Cargo.lock", "go.sum"];

/// Checks every tracked file.
pub(crate) fn check(workspace: &Workspace) -> anyhow::Result<()> {
    let mut offences = Vec::new();
    for path in tracked(workspace)? {
        let file = Path::new(&path);
        if WRITTEN_BY_TOOLS.iter().any(|name| file.ends_with(name)) {
            continue;
        }
        // A file that is not text, or is deleted in the working copy, has no lines to check.
        let Ok(text) = std::fs::read_to_string(workspace.root().join(&path)) else {
            continue;
        };
        let exists = |target: &str| {
            let folder = file.parent().unwrap_or(Path::new(""));
            workspace.root().join(folder).join(target).exists()
        };
        let links = if file.extension().is_some_and(|extension| extension == "md") {
            dead_links(&text, exists)
        } else {
            Vec::new()
        };
        for (line, offence) in strangers(&text).into_iter().chain(links) {
            offences.push(format!("{path}:{line}: {offence}"));
        }
    }
    if offences.is_empty() {
        return Ok(());
    }
    bail!("the repository:\n{}", offences.join("\n"));
}

fn tracked(workspace: &Workspace) -> anyhow::Result<Vec<String>> {
    let mut command = std::process::Command::new("git");
    command
        .args(["ls-files", "-z"])
        .current_dir(workspace.root());
    let output = command.output().with_context(|| cargo::line(&command))?;
    if !output.status.success() {
        bail!("`{}` failed ({})", cargo::line(&command), output.status);
    }
    let text = String::from_utf8(output.stdout).context("the name of a tracked file")?;
    Ok(text.split_terminator('\0').map(str::to_owned).collect())
}

/// Lines with the path of a machine or the host of a package registry.
fn strangers(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if let Some(path) = machine_path(line) {
            found.push((at + 1, format!("a path of somebody's machine: {path}")));
        }
        if let Some(host) = registry_host(line) {
            found.push((at + 1, format!("the host of a package registry: {host}")));
        }
    }
    found
}

fn machine_path(line: &str) -> Option<&str> {
    line.match_indices('/').map(|(at, _)| at).find_map(|at| {
        // Inside a longer path or a URL it is some folder, not the root of a file system.
        let inside = line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-}/~*".contains(c));
        let mut folders = line[at + 1..].split('/');
        let root = folders.next()?;
        let below = folders.next()?;
        let named = below.starts_with(|c: char| c.is_alphanumeric() || c == '.');
        (!inside && named && MACHINE_ROOTS.contains(&root)).then(|| word(&line[at..]))
    })
}

fn registry_host(line: &str) -> Option<&str> {
    line.match_indices("://")
        .map(|(at, mark)| at + mark.len())
        .find_map(|at| {
            let host = word(&line[at..]).split(['/', ':']).next()?;
            let labels = || host.split('.').flat_map(|label| label.split('-'));
            let suspicious = labels().any(|label| REGISTRY_WORDS.contains(&label));
            (suspicious && host.contains('.')).then_some(host)
        })
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| c.is_whitespace() || "\"'`)>]".contains(c));
    &text[..end.unwrap_or(text.len())]
}

/// Relative links of a Markdown file whose target is not there.
fn dead_links(text: &str, exists: impl Fn(&str) -> bool) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for link in line.split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap_or(link);
            if !target.is_empty() && !target.contains("://") && !exists(target) {
                found.push((at + 1, format!("a link that leads nowhere: {target}")));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    // Put together here, so that this file passes its own check.
    fn path(root: &str) -> String {
        format!("/{root}/someone/freehold")
    }

    #[test]
    fn paths_of_machines_are_found() {
        for root in MACHINE_ROOTS {
            for line in [
                path(root),
                format!("see `{}`", path(root)),
                format!("x={}", path(root)),
            ] {
                assert_eq!(strangers(&line).len(), 1, "{line}");
            }
        }
    }

    #[test]
    fn hosts_of_registries_are_found() {
        for word in REGISTRY_WORDS {
            let line = format!("source = \"https://{word}.example.org/x\"");
            let host = format!("the host of a package registry: {word}.example.org");
            assert_eq!(strangers(&line), [(1, host)]);
        }
        let line = format!("sparse+https:{}cargo-{}.example/x", "//", REGISTRY_WORDS[3]);
        assert_eq!(strangers(&line).len(), 1, "{line}");
    }

    #[test]
    fn ordinary_lines_are_left_alone() {
        let lines = [
            "https://docs.example.org/home/page",
            "./work/notes and crates/work/notes",
            "a home/work balance, either/or",
            "the sizes are S/M/L",
            "http://127.0.0.1:8080/index.html",
            "image: registry.example.org/freehold",
        ];
        for line in lines {
            assert_eq!(strangers(line), [], "{line}");
        }
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let text = "[a](docs/a.md), [b](docs/b.md#part)\n[c](https://example.org/c) [d](#here)";
        let found = dead_links(text, |target| target == "docs/a.md");
        assert_eq!(
            found,
            [(1, "a link that leads nowhere: docs/b.md".to_owned())]
        );
    }
}
