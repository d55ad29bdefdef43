//! An object's slots in words: what fills them, whose it is and why, what is done next and when.

use std::fmt::Write as _;

use super::seen::{Next, Seen, SlotSeen};

/// Everything that is shown of an object.
pub(super) fn text(seen: &Seen) -> String {
    let mut text = Lines::default();
    match &seen.phase {
        Some(phase) => text.line(0, &format!("{} {phase}", seen.object)),
        None => text.line(0, &seen.object),
    }
    if let Some(claim) = &seen.claim {
        text.line(0, &format!("its marks: freehold.dev/{claim}"));
    }
    for told in &seen.conditions {
        let holds = if told.status { "True" } else { "False" };
        let head = format!("condition {}={holds} ({})", told.kind, told.reason);
        text.line(0, &format!("{head}: {}", told.message));
    }
    match (&seen.stopped, &seen.unseen) {
        (Some(stopped), _) => text.line(0, &format!("nothing is done: {stopped}")),
        (None, Some(unseen)) => text.line(0, &format!("cannot be looked at from here: {unseen}")),
        (None, None) => text.line(0, &format!("the operator looks again {}", seen.visit)),
    }
    for slot in &seen.slots {
        text.line(0, "");
        one(&mut text, slot, seen.stopped.is_some(), seen.is_ending());
    }
    if !seen.besides.is_empty() {
        text.line(0, "\nbesides");
    }
    text.steps(&seen.besides, seen.stopped.is_some());
    if !seen.findings.is_empty() {
        text.line(0, "\nfindings");
    }
    for finding in &seen.findings {
        text.line(1, finding);
    }
    text.0
}

fn one(text: &mut Lines, slot: &SlotSeen, stopped: bool, ending: bool) {
    text.line(0, &format!("slot {} ({})", slot.name, slot.kind));
    if let Some(empty) = &slot.empty {
        text.line(1, empty);
    }
    for (ids, first) in alike(slot) {
        text.line(1, &format!("{ids}: {}, {}", first.0, first.1));
    }
    for finding in &slot.findings {
        text.line(1, finding);
    }
    if slot.next.is_empty() {
        let blocked = slot.findings.iter().any(|it| it.starts_with("Blocked: "));
        text.line(
            1,
            if blocked && ending {
                "next: it is deleted when that is gone"
            } else {
                "next: nothing"
            },
        );
    }
    text.steps(&slot.next, stopped);
}

/// What fills a slot, in one line for what has the same verdict for the same reason.
fn alike(slot: &SlotSeen) -> Vec<(String, (&str, &str))> {
    let mut lines: Vec<(Vec<String>, (&str, &str))> = Vec::new();
    for fill in &slot.filled {
        let verdict = (fill.verdict.as_str(), fill.why.as_str());
        let called = match &*fill.name {
            "" => fill.id.clone(),
            name => format!("{} {name}", fill.id),
        };
        match lines.iter_mut().find(|(_, other)| *other == verdict) {
            Some((ids, _)) => ids.push(called),
            None => lines.push((vec![called], verdict)),
        }
    }
    let line = |(ids, verdict): (Vec<String>, _)| {
        let noun = match ids.len() {
            1 => slot.kind.clone(),
            more => cloud_port::words::count(more, &slot.kind),
        };
        (format!("{noun} {}", ids.join(", ")), verdict)
    };
    lines.into_iter().map(line).collect()
}

#[derive(Default)]
struct Lines(String);

impl Lines {
    fn line(&mut self, depth: usize, line: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{}{line}", "  ".repeat(depth));
    }

    fn steps(&mut self, steps: &[Next], stopped: bool) {
        let head = if stopped { "would" } else { "next" };
        for next in steps {
            let after = next.after.as_deref().map(|after| format!("{after}, "));
            let after = after.unwrap_or_default();
            self.line(1, &format!("{head}: {after}{}", next.step));
            let indent = " ".repeat(head.len() + 2);
            self.line(1, &format!("{indent}because {}", next.because));
        }
    }
}
