//! Trees, laid out for a terminal or for a file.

use console::{Term, style};

/// How wide output is where there is no terminal to ask.
const WIDTH: u16 = 120;

/// Narrower than this, tables are hard to read; a terminal breaks them itself.
const NARROWEST: u16 = 60;

/// Wider than this, lines are hard to follow.
const WIDEST: u16 = 160;

/// One line of a tree.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    /// How deep it stands: 0 for the root.
    pub(crate) depth: usize,
    /// What it is.
    pub(crate) what: String,
    /// The verdict, and what that rests on.
    pub(crate) verdict: (String, String),
}

/// How wide the longest verdict is.
const VERDICT: usize = 8;

/// A tree, its verdicts in a column; what a verdict rests on is below its branch where it does not fit
/// beside it.
pub(crate) fn tree(branches: &[Branch]) -> String {
    draw(branches, usize::from(width()))
}

fn draw(branches: &[Branch], width: usize) -> String {
    let names: Vec<Vec<String>> = (0..branches.len())
        .map(|at| name(branches, at, width))
        .collect();
    let last = |lines: &Vec<String>| lines.last().map_or(0, |line| line.chars().count());
    // A line that leaves little room for a verdict does not move those of the others.
    let most = width * 3 / 5;
    let widths = names.iter().map(last);
    let wide = widths.filter(|wide| *wide <= most).max().unwrap_or(0);
    let mut drawn = Vec::new();
    for (at, mut lines) in names.into_iter().enumerate() {
        let (verdict, why) = &branches[at].verdict;
        let line = lines.pop().unwrap_or_default();
        drawn.extend(lines);
        if verdict.is_empty() {
            drawn.push(line);
            continue;
        }
        let used = wide.max(line.chars().count()) + VERDICT + 4;
        let head = format!("{line:<wide$}  {}", colour(verdict));
        if used + why.chars().count() <= width {
            drawn.push(format!("{head}  {}", style(why).dim()));
        } else {
            drawn.push(head);
            drawn.extend(below(branches, at, why, width));
        }
    }
    let trimmed = drawn.iter().map(|line| line.trim_end().to_owned() + "\n");
    trimmed.collect()
}

/// What a branch is, in as many lines as it needs beside a verdict.
fn name(branches: &[Branch], at: usize, width: usize) -> Vec<String> {
    let stem = stem(branches, at);
    let room = width.saturating_sub(stem.chars().count() + VERDICT + 2);
    let mut lines = wrap(&branches[at].what, room).into_iter();
    let first = stem + &lines.next().unwrap_or_default();
    let trunks: String = (1..=branches[at].depth + 1)
        .map(|level| trunk(branches, at, level))
        .collect();
    let rest = lines.map(|line| format!("{trunks}{line}"));
    std::iter::once(first).chain(rest).collect()
}

/// What has no place beside its branch, in lines of its own.
fn below(branches: &[Branch], at: usize, why: &str, width: usize) -> Vec<String> {
    let indent: String = (1..=branches[at].depth + 1)
        .map(|level| trunk(branches, at, level))
        .collect();
    let room = width.saturating_sub(indent.chars().count() + 2);
    let lines = wrap(why, room).into_iter();
    lines
        .map(|line| format!("{indent}  {}", style(line).dim()))
        .collect()
}

/// Breaks a text into lines between words, the first of which may be empty; a word that is longer
/// than a line has one of its own.
fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        let used = lines[last].chars().count();
        if used == 0 {
            lines[last].push_str(word);
        } else if used + 1 + word.chars().count() <= room {
            lines[last].push(' ');
            lines[last].push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// The lines that lead to a branch.
fn stem(branches: &[Branch], at: usize) -> String {
    let depth = branches[at].depth;
    let mut stem: String = (1..depth).map(|level| trunk(branches, at, level)).collect();
    if depth > 0 {
        stem.push_str(if goes_on(branches, at, depth) {
            "├─ "
        } else {
            "└─ "
        });
    }
    stem
}

/// What stands at one level beside or below a branch.
fn trunk(branches: &[Branch], at: usize, level: usize) -> &'static str {
    if goes_on(branches, at, level) {
        "│  "
    } else {
        "   "
    }
}

/// Whether another branch of a level hangs on the same trunk further down.
fn goes_on(branches: &[Branch], at: usize, level: usize) -> bool {
    let later = branches[at + 1..].iter().map(|branch| branch.depth);
    later
        .take_while(|depth| *depth >= level)
        .any(|depth| depth == level)
}

fn colour(verdict: &str) -> String {
    let padded = style(format!("{verdict:<VERDICT$}"));
    match verdict {
        "Owned" => padded.green(),
        "Used" => padded.cyan(),
        "Foreign" => padded.red(),
        _ => padded.yellow(),
    }
    .to_string()
}

/// How wide output may be: as the terminal; elsewhere as `COLUMNS` says, if it says anything.
pub(crate) fn width() -> u16 {
    let term = Term::stdout();
    let told = if term.is_term() {
        Some(term.size().1)
    } else {
        let columns = std::env::var("COLUMNS").ok();
        columns.and_then(|columns| columns.parse().ok())
    };
    told.map_or(WIDTH, |width| width.clamp(NARROWEST, WIDEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_its_verdicts_in_a_column() {
        console::set_colors_enabled(false);
        let branch = |depth, what: &str, verdict: &'static str, why: &str| Branch {
            depth,
            what: what.to_owned(),
            verdict: (verdict.into(), why.to_owned()),
        };
        let branches = [
            branch(0, "Cluster demo", "", ""),
            branch(1, "security group", "Owned", "by its mark"),
            branch(2, "rule ssh", "Owned", ""),
            branch(2, "rule icmp", "Owned", ""),
            branch(1, "subnet", "Used", ""),
            branch(2, "tag", "Owned", ""),
        ];
        let expected = "\
Cluster demo
├─ security group  Owned     by its mark
│  ├─ rule ssh     Owned
│  └─ rule icmp    Owned
└─ subnet          Used
   └─ tag          Owned
";
        assert_eq!(draw(&branches, 120), expected);
        let narrow = "\
Cluster demo
├─ security group  Owned
│  │    by its mark
│  ├─ rule ssh     Owned
│  └─ rule icmp    Owned
└─ subnet          Used
   └─ tag          Owned
";
        assert_eq!(draw(&branches, 30), narrow);
    }
}
