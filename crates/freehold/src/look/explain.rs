//! An object's slots in words: what fills them, whose it is and why, what would be done next.

use std::fmt::Write as _;

use cloud_port::driver::Planned;
use cloud_port::words;
use controllers::reconcile::Inspection;
use ownership::decide::Phase;
use ownership::{Slot, SlotName, Step};

/// Everything about an object, or about one slot of it.
pub(super) fn text(seen: &Inspection, only: Option<&SlotName>) -> String {
    let mut text = Lines::default();
    let about = match seen.phase {
        Phase::Live => "is wanted",
        Phase::Ending => "is being deleted",
        Phase::Retaining => "is being deleted, its resources are retained",
    };
    text.line(0, &format!("{} {about}", seen.claim));
    text.line(0, &format!("its marks: freehold.dev/{}", seen.claim.hash()));
    if let Some(switch) = &seen.switch {
        text.line(0, &format!("nothing is done: {switch}"));
    }
    let slots = seen.blueprint.slots().iter();
    for slot in slots.filter(|slot| only.is_none_or(|only| slot.name == *only)) {
        text.line(0, "");
        one(&mut text, seen, slot);
    }
    if only.is_none() {
        rest(&mut text, seen);
    }
    text.0
}

fn one(text: &mut Lines, seen: &Inspection, slot: &Slot) {
    text.line(0, &format!("slot {} ({})", slot.name, slot.kind.noun));
    let filled = || {
        let all = seen.report.filled.iter();
        all.filter(|filled| filled.slot == slot.name)
    };
    if seen.to_come().contains(&&slot.name) || filled().next().is_none() {
        text.line(1, "is empty");
    } else {
        for filled in filled() {
            let (verdict, why) = words::verdict(&filled.verdict);
            let resource = words::resource(&filled.target);
            text.line(1, &format!("{resource}: {verdict}, {why}"));
        }
    }
    let next: Vec<_> = seen
        .plan
        .iter()
        .filter(|planned| is_about(seen, planned, &slot.name))
        .collect();
    if next.is_empty() {
        text.line(1, "next: nothing");
    }
    for planned in next {
        text.step(planned);
    }
}

/// Whether a Step is about what fills a slot, or will.
fn is_about(seen: &Inspection, planned: &Planned, slot: &SlotName) -> bool {
    if let Step::Create(create) = &planned.step {
        return create.slot == *slot;
    }
    let mut filled = seen.report.filled.iter();
    let targets = planned.step.targets();
    filled.any(|filled| filled.slot == *slot && targets.contains(&filled.target))
}

/// What no slot stands for: Steps on what is not wanted any more, and what a person should know.
fn rest(text: &mut Lines, seen: &Inspection) {
    let slots = seen.blueprint.slots().iter();
    let besides: Vec<_> = seen
        .plan
        .iter()
        .filter(|planned| {
            !slots
                .clone()
                .any(|slot| is_about(seen, planned, &slot.name))
        })
        .collect();
    if !besides.is_empty() {
        text.line(0, "\nbesides");
    }
    for planned in besides {
        text.step(planned);
    }
    if !seen.report.findings.is_empty() {
        text.line(0, "\nfindings");
    }
    for finding in &seen.report.findings {
        text.line(1, &format!("{}: {finding}", finding.condition()));
    }
}

#[derive(Default)]
struct Lines(String);

impl Lines {
    fn line(&mut self, depth: usize, line: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{}{line}", "  ".repeat(depth));
    }

    fn step(&mut self, planned: &Planned) {
        let verb = planned.step.verb();
        let parts = words::parts(&planned.step).join(", ");
        self.line(1, &format!("next: {verb} {parts}"));
        self.line(1, &format!("      because {}", planned.reason));
    }
}
