//! Regular expressions.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use ::regex::Regex;

use super::super::budget;
use super::super::value::{Fault, Outcome, Val};
use super::{Row, int, text};
use crate::schema::pattern;

pub(super) const ROWS: &[Row] = &[
    ("string.matches(string) bool", matches),
    ("matches(string,string) bool", matches),
    ("string.find(string) string", find),
    ("string.findAll(string) list<string>", find_all),
    ("string.findAll(string,int) list<string>", find_all),
];

/// How many expressions are kept compiled, for all clusters together.
const KEPT: usize = 64;

/// What it takes to compile one, besides its length.
const COMPILING: usize = 10_000;
/// How many bytes a search can go over in one step.
const STRIDE: usize = 256;

static COMPILED: Mutex<BTreeMap<String, Regex>> = Mutex::new(BTreeMap::new());

/// The expression, compiled at most once as long as it is remembered.
pub(in crate::cel) fn compiled(pattern: &str) -> Result<Regex, String> {
    let lock = || COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(regex) = lock().get(pattern) {
        return Ok(regex.clone());
    }
    budget::spend(COMPILING + pattern.len());
    // Nobody waits for this one.
    let regex = pattern::compile(pattern)?;
    let mut known = lock();
    if known.len() >= KEPT {
        known.clear();
    }
    known.insert(pattern.to_owned(), regex.clone());
    Ok(regex)
}

fn illegal(error: &str) -> Fault {
    Fault::new(format!("Illegal regex: {error}"))
}

/// Pays for a search, as the real server does: the longer the expression, the more each byte takes.
fn pay_search(own: &str, pattern: &str) -> Result<(), Fault> {
    budget::pay((own.len() / 10 + 1).saturating_mul(pattern.len() / 4 + 1))
}

fn matches<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    pay_search(text(args, 0)?, text(args, 1)?)?;
    let regex = compiled(text(args, 1)?)
        .map_err(|error| Fault::new(format!("error parsing regexp: {error}")))?;
    Ok(Val::Bool(regex.is_match(text(args, 0)?)))
}

fn find<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    pay_search(text(args, 0)?, text(args, 1)?)?;
    let regex = compiled(text(args, 1)?).map_err(|error| illegal(&error))?;
    let found = regex.find(text(args, 0)?);
    Ok(Val::text(found.map_or_else(String::new, |found| {
        found.as_str().to_owned()
    })))
}

fn find_all<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    pay_search(text(args, 0)?, text(args, 1)?)?;
    let regex = compiled(text(args, 1)?).map_err(|error| illegal(&error))?;
    let limit = if args.len() > 2 { int(args, 2)? } else { -1 };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let own = text(args, 0)?;
    let mut list = Vec::new();
    for found in regex.find_iter(own).take(limit) {
        // A search may have looked at all the rest before it was content with less.
        budget::pay(1 + own.len().saturating_sub(found.start()) / STRIDE)?;
        list.push(Val::text(found.as_str().to_owned()));
    }
    Ok(Val::list(list))
}
