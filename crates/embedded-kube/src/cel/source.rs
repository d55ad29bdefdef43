//! Complaints about an expression, each at its place.

use std::fmt::Write as _;

/// How many complaints are shown; the real server shows as many.
const MAX_SHOWN: usize = 100;
/// How long a line can be that is shown with a complaint, in bytes.
const MAX_SNIPPET: usize = 16_384;

/// A complaint: what is wrong at which byte.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Issue {
    at: usize,
    message: String,
}

impl Issue {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Self {
        Self {
            at,
            message: message.into(),
        }
    }
}

/// The complaints in the order of their places, each with its line and a mark below it.
pub(super) fn show(mut issues: Vec<Issue>, source: &str) -> String {
    let more = issues.len().saturating_sub(MAX_SHOWN);
    issues.truncate(MAX_SHOWN);
    issues.sort_by_key(|issue| issue.at);
    let mut texts: Vec<String> = issues.iter().map(|issue| one(issue, source)).collect();
    if more > 0 {
        texts.push(format!("{more} more errors were truncated"));
    }
    texts.join("\n")
}

fn one(issue: &Issue, source: &str) -> String {
    let before = &source[..issue.at.min(source.len())];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.matches('\n').count() + 1;
    let column = before[start..].chars().count();
    let snippet: String = source[start..]
        .split('\n')
        .next()
        .unwrap_or_default()
        .replace('\t', " ");
    let mut text = format!("ERROR: <input>:{line}:{}: {}", column + 1, issue.message);
    if snippet.len() > MAX_SNIPPET {
        return text;
    }
    let wide = |c: Option<char>| c.is_some_and(|c| c.len_utf8() > 1);
    let mut characters = snippet.chars();
    // Writing to a string cannot fail.
    let _ = write!(text, "\n | {snippet}\n | ");
    for _ in 0..column {
        let next = characters.next();
        if next.is_none() {
            break;
        }
        text.push(if wide(next) { '\u{ff0e}' } else { '.' });
    }
    text.push(if wide(characters.next()) {
        '\u{ff3e}'
    } else {
        '^'
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_said_than_anybody_reads() {
        let many = (0..102).map(|at| Issue::new(at, "a")).collect();
        let text = show(many, &"x".repeat(200));
        assert_eq!(text.lines().count(), 301);
        assert!(text.ends_with("\n2 more errors were truncated"));
        let text = show(vec![Issue::new(1, "a")], &"x".repeat(20_000));
        assert_eq!(text, "ERROR: <input>:1:2: a");
    }

    #[test]
    fn the_place_is_marked() {
        let issues = vec![Issue::new(9, "b"), Issue::new(1, "a")];
        assert_eq!(
            show(issues, "xy == é\n.z"),
            "ERROR: <input>:1:2: a\n | xy == é\n | .^\nERROR: <input>:2:1: b\n | .z\n | ^"
        );
    }
}
