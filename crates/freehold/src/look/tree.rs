//! An object's parts with their verdicts.

use cloud_port::words;

use super::seen::{Fill, Next, PartSeen, Seen, SlotSeen, Told};
use crate::show::Branch;

/// What is said of what we only use.
const SHARED: &str = "shared: we add and remove only our own rules and tags";

/// The tree of an object, as it was read.
pub(crate) fn branches(seen: &Seen) -> Vec<Branch> {
    let mut branches = vec![Branch {
        depth: 0,
        what: seen.object.clone(),
        verdict: (String::new(), String::new()),
    }];
    if let Some(stopped) = &seen.stopped {
        branches[0].verdict = ("stopped".into(), stopped.clone());
    } else if let Some(unseen) = &seen.unseen {
        branches[0].verdict = ("unseen".into(), unseen.clone());
    }
    for slot in &seen.slots {
        let mut kept: Vec<(Vec<&Fill>, &[PartSeen])> = Vec::new();
        for fill in &slot.filled {
            let same = |other: &Fill| (&other.verdict, &other.why) == (&fill.verdict, &fill.why);
            let alike = |(fills, parts): &&mut (Vec<&Fill>, &[PartSeen])| {
                same(fills[0]) && *parts == fill.parts
            };
            match kept.iter_mut().find(alike) {
                Some((fills, _)) => fills.push(fill),
                None => kept.push((vec![fill], &fill.parts)),
            }
        }
        for (fills, parts) in kept {
            let (word, mut why) = verdict(fills[0]);
            if let Some(next) = ends(slot, &fills) {
                let after = next.after.as_deref().unwrap_or("now");
                why = format!("{why}; to be deleted {after}");
            }
            branches.push(Branch {
                depth: 1,
                what: name(&slot.kind, &fills),
                verdict: (word, why),
            });
            branches.extend(slot.findings.iter().map(|finding| remark(2, finding)));
            branches.extend(parts.iter().map(|part| Branch {
                depth: 2,
                what: part.what.clone(),
                verdict: (part.verdict.clone(), part.why.clone()),
            }));
        }
        let coming = slot
            .next
            .iter()
            .find(|next| next.step.starts_with("create "));
        let why = match (coming, &slot.empty) {
            (_, None) => continue,
            (Some(next), _) => {
                let after = next.after.as_deref().unwrap_or("now");
                format!("to be created {after}: {}", next.because)
            }
            (None, Some(_)) if let Some((word, _)) = found(slot) => {
                branches.push(Branch {
                    depth: 1,
                    what: slot.kind.clone(),
                    verdict: (word.to_owned(), slot.findings.join("; ")),
                });
                continue;
            }
            (None, Some(empty)) => empty.clone(),
        };
        branches.push(Branch {
            depth: 1,
            what: coming.map_or_else(|| slot.kind.clone(), |next| next.step[7..].to_owned()),
            verdict: ("absent".into(), why),
        });
    }
    branches.extend(seen.findings.iter().map(|finding| remark(1, finding)));
    // What only the operator was told, because only a deletion is told it.
    let waits = seen.conditions.iter();
    let waits = waits.filter(|told| told.kind == "Blocked" && told.status);
    let told = |told: &Told| format!("{}: {}", told.kind, told.message);
    let shown = branches
        .iter()
        .any(|branch| branch.what.starts_with("Blocked: "));
    if seen.is_ending() && !shown {
        branches.extend(waits.map(|it| remark(1, &told(it))));
    }
    branches
}

/// A line of its own.
fn remark(depth: usize, text: &str) -> Branch {
    Branch {
        depth,
        what: text.to_owned(),
        verdict: (String::new(), String::new()),
    }
}

/// The Step that deletes what fills a slot.
fn ends<'s>(slot: &'s SlotSeen, fills: &[&Fill]) -> Option<&'s Next> {
    let deletes = |next: &&Next| {
        next.step.starts_with("delete ") && fills.iter().all(|fill| next.step.contains(&fill.id))
    };
    slot.next.iter().find(deletes)
}

/// The condition that a slot's first finding belongs to.
fn found(slot: &SlotSeen) -> Option<(&str, &str)> {
    slot.findings.first()?.split_once(": ")
}

fn verdict(fill: &Fill) -> (String, String) {
    let why = match &*fill.verdict {
        "Used" => SHARED.to_owned(),
        _ => fill.why.clone(),
    };
    (fill.verdict.clone(), why)
}

fn name(noun: &str, fills: &[&Fill]) -> String {
    let one = |fill: &&Fill| match &*fill.name {
        "" => fill.id.clone(),
        name => format!("{} {name}", fill.id),
    };
    let all: Vec<String> = fills.iter().map(one).collect();
    match fills.len() {
        1 => format!("{noun} {}", all[0]),
        more => format!("{} {}", words::count(more, noun), all.join(", ")),
    }
}
