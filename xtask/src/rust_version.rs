//! The minimum Rust version: where it is stated, it is the same.
//!
//! `rust-toolchain.toml` picks what everything is built and tested with. As long as that is the
//! minimum itself, what the others say is tested.

use anyhow::{Context as _, bail};

use crate::cargo::Workspace;

/// Finds the versions that a text states.
type Reader = fn(&str) -> Vec<&str>;

/// Where it is stated, and how it is read there.
const STATED: [(&str, Reader); 3] = [
    ("Cargo.toml", |text| setting(text, "rust-version")),
    ("rust-toolchain.toml", |text| setting(text, "channel")),
    ("README.md", in_prose),
];

/// Checks that all of them say the same.
pub(crate) fn check(workspace: &Workspace) -> anyhow::Result<()> {
    let read = |(name, versions): (&'static str, Reader)| {
        let text = std::fs::read_to_string(workspace.root().join(name)).context(name)?;
        let versions = versions(&text).into_iter().map(str::to_owned);
        Ok((name, versions.collect()))
    };
    let stated: Vec<_> = STATED
        .into_iter()
        .map(read)
        .collect::<anyhow::Result<_>>()?;
    compare(&stated)
}

/// The values of a setting that has a line of its own.
fn setting<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    let value = |line: &'a str| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == key).then(|| value.split('"').nth(1).unwrap_or(""))
    };
    text.lines().filter_map(value).collect()
}

/// The numbers that follow the word Rust, also on the next line.
fn in_prose(text: &str) -> Vec<&str> {
    let around = |c: char| !c.is_ascii_alphanumeric();
    let words: Vec<_> = text.split_whitespace().collect();
    let pairs = words.windows(2).filter_map(|pair| match pair {
        [word, number] if word.trim_start_matches(around) == "Rust" => Some(number),
        _ => None,
    });
    let numbers = pairs.map(|number| number.trim_matches(around));
    numbers
        .filter(|number| number.starts_with(|c: char| c.is_ascii_digit()))
        .collect()
}

/// Refuses a version that is missing or differs from the first. Patch releases are not compared.
fn compare(stated: &[(&str, Vec<String>)]) -> anyhow::Result<()> {
    let minor = |version: &str| {
        let mut numbers = version.split('.').map(str::parse::<u32>);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    };
    let mut first = None;
    for (name, versions) in stated {
        if versions.is_empty() {
            bail!("{name} does not state the minimum Rust version");
        }
        for version in versions {
            let Some(number) = minor(version) else {
                bail!("{name} states Rust {version:?}, which is not a version such as 1.95");
            };
            let (least, where_stated) = *first.get_or_insert((number, name));
            if number != least {
                let (major, minor) = least;
                bail!(
                    "{name} states Rust {version}, but {where_stated} states {major}.{minor}: make \
                     them the same"
                );
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(cargo: &str, toolchain: &str, readme: &str) -> String {
        let texts = [cargo, toolchain, readme];
        let stated = STATED
            .into_iter()
            .zip(texts)
            .map(|((name, versions), text)| {
                let versions = versions(text).into_iter().map(str::to_owned);
                (name, versions.collect())
            });
        match compare(&stated.collect::<Vec<_>>()) {
            Ok(()) => "the same".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    const CARGO: &str = "[workspace.package]\nedition = \"2024\"\nrust-version = \"1.95\"\n";
    const TOOLCHAIN: &str = "[toolchain]\nchannel = \"1.95.0\"\n";
    const README: &str = "Written in Rust, for people. It needs Rust\n1.95 or newer.\n";

    #[test]
    fn equal_versions_pass_whatever_the_patch_release() {
        assert_eq!(outcome(CARGO, TOOLCHAIN, README), "the same");
        assert_eq!(
            outcome(CARGO, "channel = \"1.95.1\"", "(Rust 1.95.)"),
            "the same"
        );
    }

    #[test]
    fn a_version_that_differs_is_named_with_where_it_stands() {
        assert_eq!(
            outcome(CARGO, "channel = \"1.96.0\"", README),
            "rust-toolchain.toml states Rust 1.96.0, but Cargo.toml states 1.95: make them the same"
        );
        assert_eq!(
            outcome(CARGO, TOOLCHAIN, "Rust 1.9 or newer"),
            "README.md states Rust 1.9, but Cargo.toml states 1.95: make them the same"
        );
        let second = format!("{README} Use Rust 1.94.");
        assert_eq!(
            outcome(CARGO, TOOLCHAIN, &second),
            "README.md states Rust 1.94, but Cargo.toml states 1.95: make them the same"
        );
    }

    #[test]
    fn a_version_that_is_missing_or_no_number_is_an_error() {
        for (cargo, toolchain, readme, name) in [
            ("rust = \"1.95\"", TOOLCHAIN, README, "Cargo.toml"),
            (CARGO, "", README, "rust-toolchain.toml"),
            (
                CARGO,
                TOOLCHAIN,
                "Written in Rust, in 1.95 days",
                "README.md",
            ),
        ] {
            let expected = format!("{name} does not state the minimum Rust version");
            assert_eq!(outcome(cargo, toolchain, readme), expected);
        }
        assert_eq!(
            outcome(CARGO, "channel = \"stable\"", README),
            "rust-toolchain.toml states Rust \"stable\", which is not a version such as 1.95"
        );
    }
}
