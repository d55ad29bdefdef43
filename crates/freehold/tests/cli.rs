//! The command line as its users see it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
    for variable in ["CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "NO_COLOR"] {
        command.env_remove(variable);
    }
    command.args(args);
    command
}

fn freehold(args: &[&str]) -> Output {
    command(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Ids are the simulation's business: each becomes its number, at the same width.
fn number_ids(output: &str) -> String {
    let mut seen: Vec<&str> = Vec::new();
    let mut numbered = String::new();
    let mut rest = output;
    while let Some((before, after)) = rest.split_once("-0") {
        numbered.push_str(before);
        let hex = after.chars().take_while(char::is_ascii_hexdigit).count();
        if hex == 16 {
            let id = &after[..hex];
            let at = seen
                .iter()
                .position(|known| *known == id)
                .unwrap_or_else(|| {
                    seen.push(id);
                    seen.len() - 1
                });
            write!(numbered, "-{:017}", at + 1).unwrap();
            rest = &after[hex..];
        } else {
            numbered.push_str("-0");
            rest = after;
        }
    }
    numbered + rest
}

/// Compares with a file; `FREEHOLD_ACCEPT=1` writes it instead.
fn assert_golden(name: &str, actual: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("FREEHOLD_ACCEPT").is_some() {
        std::fs::write(&file, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        actual == expected,
        "differs from tests/golden/{name}; read it, then accept it with FREEHOLD_ACCEPT=1:\n{actual}"
    );
}

#[test]
fn a_cluster_lives_and_leaves_nothing() {
    let output = freehold(&["dev", "--once"]);
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{shown}{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    let last = shown.lines().last().unwrap();
    let words: Vec<&str> = last
        .split([' ', ','])
        .filter(|word| !word.is_empty())
        .collect();
    let ["created", created, "deleted", deleted, "orphans", "0"] = words[..] else {
        panic!("{last}");
    };
    assert_eq!(created, deleted);
    assert!(created.parse::<usize>().unwrap() > 10, "{last}");
    assert_golden("dev-once.txt", &number_ids(&shown));
}

#[test]
fn without_a_terminal_there_is_no_colour_unless_it_is_asked_for() {
    assert!(!text(&freehold(&["dev", "--once"]).stdout).contains('\u{1b}'));
    let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
    let output = command
        .args(["dev", "--once"])
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    assert!(text(&output.stdout).contains('\u{1b}'));
}

#[test]
fn a_narrow_terminal_gets_narrow_tables_and_every_reason() {
    let output = command(&["dev", "--once"])
        .env("COLUMNS", "60")
        .output()
        .unwrap();
    let shown = number_ids(&text(&output.stdout));
    let (_, plan) = shown.split_once("1. Plan").unwrap();
    let (plan, rest) = plan.split_once("\n\n2. Create").unwrap();
    let (_, tree) = rest.split_once("3. Tree").unwrap();
    let (tree, _) = tree.split_once("\n\n4. Delete").unwrap();
    for line in plan.lines().chain(tree.lines()) {
        assert!(line.chars().count() <= 60, "{line}");
    }
    assert!(!tree.contains('…'), "{tree}");
    assert_golden(
        "dev-once-narrow.txt",
        &format!("1. Plan{plan}\n\n3. Tree{tree}\n"),
    );
    let nonsense = command(&["dev", "--once"]).env("COLUMNS", "wide").output();
    let usual = freehold(&["dev", "--once"]);
    assert_eq!(text(&nonsense.unwrap().stdout), text(&usual.stdout));
}

#[test]
fn a_reader_that_has_gone_ends_it_quietly() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command(&["dev", "--once"]).stdout(writer).output().unwrap();
    assert!(output.status.success());
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn a_full_disk_is_an_error_in_words() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let output = command(&["dev", "--once"])
        .stdout(full.unwrap())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(
        said.starts_with("error: cannot write to standard output: "),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn dev_without_once_says_what_it_does_instead() {
    let output = freehold(&["dev"]);
    assert!(output.status.success());
    let shown = text(&output.stdout);
    assert_eq!(
        shown.lines().next(),
        Some("The live mode is still to come, so this is `--once`.")
    );
    assert!(shown.trim_end().ends_with("orphans 0"), "{shown}");
}

#[test]
fn help_and_version_are_there() {
    assert_golden("help.txt", &text(&freehold(&["--help"]).stdout));
    let version = text(&freehold(&["--version"]).stdout);
    assert_eq!(
        version,
        concat!("freehold ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn a_wrong_command_is_refused_with_what_there_is() {
    let output = freehold(&["dve"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("'dve'"), "{said}");
    assert!(said.ends_with("There is: dev\n"), "{said}");
    assert!(!said.contains('\u{1b}'), "{said:?}");
    let output = freehold(&["dev", "--onec"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--once"));
    // Nothing at all: what there is to choose from.
    assert!(text(&freehold(&[]).stderr).contains("Commands:"));
}
