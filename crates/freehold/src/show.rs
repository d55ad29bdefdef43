//! Plans and trees, laid out for a terminal or for a file.

use cloud_port::driver::Planned;
use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ContentArrangement, LineStyle, Table, TableStyle,
};
use console::{Term, colors_enabled, style, truncate_str};

use cloud_port::words;

/// How wide output is where there is no terminal to ask.
const WIDTH: u16 = 120;

/// A heading.
pub(crate) fn heading(number: u8, title: &str, rest: &str) -> String {
    format!("{} {}", style(format!("{number}. {title}:")).bold(), rest)
}

const LINES: TableStyle = UTF8_FULL_CONDENSED
    .top_border(LineStyle::new('╭', '─', '┬', '╮'))
    .header_separator(LineStyle::new('├', '─', '┼', '┤'))
    .bottom_border(LineStyle::new('╰', '─', '┴', '╯'));

/// A plan as a table: every Step with its reason.
pub(crate) fn plan(steps: &[Planned]) -> String {
    let mut table = Table::new();
    table
        .load_style(LINES)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width())
        .set_header(
            ["", "Step", "part", "why"]
                .map(|title| Cell::new(title).add_attribute(Attribute::Bold)),
        );
    if colors_enabled() {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    for (at, planned) in steps.iter().enumerate() {
        let verb = planned.step.verb();
        table.add_row([
            Cell::new(at + 1).set_alignment(CellAlignment::Right),
            Cell::new(verb).fg(match effect(verb) {
                Effect::Comes => Color::Green,
                Effect::Goes => Color::Red,
                Effect::Changes => Color::Cyan,
            }),
            Cell::new(words::parts(&planned.step).join("\n")),
            Cell::new(&planned.reason).add_attribute(Attribute::Dim),
        ]);
    }
    table.to_string()
}

/// The word that begins a Step's line, in the colour of what it does.
pub(crate) fn verb(verb: &str) -> String {
    let padded = style(format!("{verb:<6}"));
    match effect(verb) {
        Effect::Comes => padded.green(),
        Effect::Goes => padded.red(),
        Effect::Changes => padded.cyan(),
    }
    .to_string()
}

enum Effect {
    Comes,
    Goes,
    Changes,
}

fn effect(verb: &str) -> Effect {
    match verb {
        "create" | "add" => Effect::Comes,
        "delete" | "remove" => Effect::Goes,
        _ => Effect::Changes,
    }
}

/// One line of a tree.
pub(crate) struct Branch {
    /// How deep it stands: 0 for the root.
    pub(crate) depth: usize,
    /// What it is.
    pub(crate) what: String,
    /// The verdict, and what that rests on.
    pub(crate) verdict: (&'static str, String),
}

/// How wide the longest verdict is.
const VERDICT: usize = 8;

/// A tree, its verdicts in a column.
pub(crate) fn tree(branches: &[Branch]) -> String {
    let lines: Vec<String> = (0..branches.len())
        .map(|at| stem(branches, at) + &branches[at].what)
        .collect();
    let wide = lines
        .iter()
        .map(|line| line.chars().count())
        .max()
        .unwrap_or(0);
    let room = usize::from(width()).saturating_sub(wide + VERDICT + 4);
    let line = |(line, branch): (String, &Branch)| {
        let (verdict, why) = &branch.verdict;
        if verdict.is_empty() {
            return line + "\n";
        }
        let why = style(truncate_str(why, room, "…")).dim();
        let text = format!("{line:<wide$}  {}  {why}", colour(verdict));
        text.trim_end().to_owned() + "\n"
    };
    lines.into_iter().zip(branches).map(line).collect()
}

/// The lines that lead to a branch.
fn stem(branches: &[Branch], at: usize) -> String {
    let depth = branches[at].depth;
    let goes_on = |level: usize| {
        let later = branches[at + 1..].iter().map(|branch| branch.depth);
        later
            .take_while(|depth| *depth >= level)
            .any(|depth| depth == level)
    };
    let mut stem = String::new();
    for level in 1..=depth {
        stem.push_str(match (level == depth, goes_on(level)) {
            (true, true) => "├─ ",
            (true, false) => "└─ ",
            (false, true) => "│  ",
            (false, false) => "   ",
        });
    }
    stem
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

fn width() -> u16 {
    let term = Term::stdout();
    if term.is_term() {
        term.size().1.clamp(80, 160)
    } else {
        WIDTH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_its_verdicts_in_a_column() {
        console::set_colors_enabled(false);
        let branch = |depth, what: &str, verdict, why: &str| Branch {
            depth,
            what: what.to_owned(),
            verdict: (verdict, why.to_owned()),
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
        assert_eq!(tree(&branches), expected);
    }
}
