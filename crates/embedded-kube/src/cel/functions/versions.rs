//! Semantic versions.

use std::cmp::Ordering;
use std::rc::Rc;

use super::super::value::{Fault, Outcome, Val};
use super::{Row, text};
use crate::text::go_quote;

pub(super) const ROWS: &[Row] = &[
    ("semver(string) semver", |args| {
        Ok(Val::Semver(Rc::new(parse(text(args, 0)?, false)?)))
    }),
    ("semver(string,bool) semver", |args| {
        let version = parse(text(args, 0)?, args[1].as_bool() == Some(true))?;
        Ok(Val::Semver(Rc::new(version)))
    }),
    ("isSemver(string) bool", |args| {
        Ok(Val::Bool(parse(text(args, 0)?, false).is_ok()))
    }),
    ("isSemver(string,bool) bool", |args| {
        let loose = args[1].as_bool() == Some(true);
        Ok(Val::Bool(parse(text(args, 0)?, loose).is_ok()))
    }),
    ("semver.isGreaterThan(semver) bool", |args| {
        Ok(Val::Bool(version(args, 0)? > version(args, 1)?))
    }),
    ("semver.isLessThan(semver) bool", |args| {
        Ok(Val::Bool(version(args, 0)? < version(args, 1)?))
    }),
    ("semver.compareTo(semver) int", |args| {
        Ok(Val::Int(version(args, 0)?.cmp(version(args, 1)?) as i64))
    }),
    ("semver.major() int", |args| number(args, 0)),
    ("semver.minor() int", |args| number(args, 1)),
    ("semver.patch() int", |args| number(args, 2)),
];

/// A version; what follows a plus sign does not count.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Version {
    numbers: [u64; 3],
    pre: Vec<Part>,
}

/// A part of what follows the dash: numbers come before words.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Number(u64),
    Word(String),
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        // A version without a dash comes after those with one.
        let released = |version: &Self| version.pre.is_empty();
        self.numbers
            .cmp(&other.numbers)
            .then_with(|| released(self).cmp(&released(other)))
            .then_with(|| self.pre.cmp(&other.pre))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn version<'v>(args: &'v [Val<'_>], index: usize) -> Result<&'v Version, Fault> {
    match args.get(index) {
        Some(Val::Semver(version)) => Ok(version),
        _ => Err(Fault::no_overload()),
    }
}

fn number<'a>(args: &[Val<'a>], index: usize) -> Outcome<'a> {
    let number = version(args, 0)?.numbers[index];
    Ok(Val::Int(i64::try_from(number).unwrap_or(i64::MAX)))
}

fn parse(given: &str, loose: bool) -> Result<Version, Fault> {
    if loose {
        return strict(&completed(given)?);
    }
    strict(given)
}

/// A version that was written short: `v1` is `1.0.0`, and `01` is `1`.
fn completed(given: &str) -> Result<String, Fault> {
    let given = given.strip_prefix('v').unwrap_or(given);
    let mut parts: Vec<String> = given
        .splitn(3, '.')
        .map(|part| {
            let trimmed = part.trim_start_matches('0');
            if part.len() <= 1 {
                part.to_owned()
            } else if trimmed.starts_with(|c: char| c.is_ascii_digit()) {
                trimmed.to_owned()
            } else {
                format!("0{trimmed}")
            }
        })
        .collect();
    if parts.len() < 3 && parts.last().is_some_and(|last| last.contains(['+', '-'])) {
        return Err(Fault::new(
            "short version cannot contain PreRelease/Build meta data",
        ));
    }
    while parts.len() < 3 {
        parts.push("0".to_owned());
    }
    Ok(parts.join("."))
}

fn strict(given: &str) -> Result<Version, Fault> {
    if given.is_empty() {
        return Err(Fault::new("Version string empty"));
    }
    let parts: Vec<&str> = given.splitn(3, '.').collect();
    let [major, minor, rest] = parts.as_slice() else {
        return Err(Fault::new("No Major.Minor.Patch elements found"));
    };
    let (rest, build) = match rest.split_once('+') {
        Some((rest, build)) => (rest, Some(build)),
        None => (*rest, None),
    };
    let (patch, pre) = match rest.split_once('-') {
        Some((patch, pre)) => (patch, Some(pre)),
        None => (rest, None),
    };
    let numbers = [
        digits(major, "Major", "major")?,
        digits(minor, "Minor", "minor")?,
        digits(patch, "Patch", "patch")?,
    ];
    let word = |part: &str| part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let mut tail = Vec::new();
    for part in pre.into_iter().flat_map(|pre| pre.split('.')) {
        let quoted = go_quote(part);
        if part.is_empty() {
            return Err(Fault::new("Prerelease is empty"));
        }
        if part.bytes().all(|b| b.is_ascii_digit()) {
            if part.len() > 1 && part.starts_with('0') {
                return Err(Fault::new(format!(
                    "Numeric PreRelease version must not contain leading zeroes {quoted}"
                )));
            }
            let number = part.parse().map_err(|_| Fault::new("value out of range"))?;
            tail.push(Part::Number(number));
        } else if word(part) {
            tail.push(Part::Word(part.to_owned()));
        } else {
            return Err(Fault::new(format!(
                "Invalid character(s) found in prerelease {quoted}"
            )));
        }
    }
    for part in build.into_iter().flat_map(|build| build.split('.')) {
        if part.is_empty() {
            return Err(Fault::new("Build meta data is empty"));
        }
        if !word(part) {
            let quoted = go_quote(part);
            return Err(Fault::new(format!(
                "Invalid character(s) found in build meta data {quoted}"
            )));
        }
    }
    Ok(Version { numbers, pre: tail })
}

fn digits(text: &str, upper: &str, lower: &str) -> Result<u64, Fault> {
    let quoted = go_quote(text);
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Fault::new(format!(
            "Invalid character(s) found in {lower} number {quoted}"
        )));
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(Fault::new(format!(
            "{upper} number must not contain leading zeroes {quoted}"
        )));
    }
    text.parse().map_err(|_| {
        Fault::new(format!(
            "strconv.ParseUint: parsing {quoted}: invalid syntax"
        ))
    })
}
