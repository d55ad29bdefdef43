//! Headings and plans, laid out for a terminal or for a file.

use cloud_port::driver::Planned;
use cloud_port::words;
use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ContentArrangement, LineStyle, Table, TableStyle,
};
use console::{colors_enabled, style};

use crate::show::width;

/// A heading.
pub(super) fn heading(number: u8, title: &str, rest: &str) -> String {
    format!("{} {}", style(format!("{number}. {title}:")).bold(), rest)
}

const LINES: TableStyle = UTF8_FULL_CONDENSED
    .top_border(LineStyle::new('╭', '─', '┬', '╮'))
    .header_separator(LineStyle::new('├', '─', '┼', '┤'))
    .bottom_border(LineStyle::new('╰', '─', '┴', '╯'));

/// A plan as a table: every Step with its reason.
pub(super) fn plan(steps: &[Planned]) -> String {
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
            Cell::new(parts(planned)),
            Cell::new(&planned.reason).add_attribute(Attribute::Dim),
        ]);
    }
    table.to_string()
}

/// The parts that a Step is about, and what they are put on or taken from.
fn parts(planned: &Planned) -> String {
    let step = &planned.step;
    let mut lines = words::parts(step);
    if let Some(preposition) = words::preposition(step) {
        let on = words::resources(step.targets(), |_| "");
        lines.push(format!("{preposition} {on}"));
    }
    lines.join("\n")
}

/// The word that begins a Step's line, in the colour of what it does.
pub(super) fn verb(verb: &str) -> String {
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
