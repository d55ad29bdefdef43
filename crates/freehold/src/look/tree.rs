//! An object's parts with their verdicts.

use std::borrow::Cow;

use cloud_port::words;
use controllers::reconcile::{Found, Inspection};
use ownership::{Step, Target, Verdict};

use crate::show::Branch;

/// The tree of an object, as it was read.
pub(crate) fn branches(seen: &Inspection) -> Vec<Branch> {
    let mut branches = vec![Branch {
        depth: 0,
        what: seen.claim.to_string(),
        verdict: ("".into(), String::new()),
    }];
    for filled in &seen.report.filled {
        let Some(found) = seen.found.get(&filled.target) else {
            continue;
        };
        branches.push(Branch {
            depth: 1,
            what: name(&filled.target, found),
            verdict: said(&filled.verdict),
        });
        branches.extend(parts(seen, &filled.target, found, &filled.verdict));
    }
    for planned in &seen.plan {
        if let Step::Create(create) = &planned.step {
            branches.push(Branch {
                depth: 1,
                what: format!("{} {}", create.kind.noun, create.name),
                verdict: (
                    "absent".into(),
                    format!("to be created: {}", planned.reason),
                ),
            });
        }
    }
    branches
}

fn said(verdict: &Verdict) -> (Cow<'static, str>, String) {
    let (verdict, why) = words::verdict(verdict);
    (verdict.into(), why)
}

fn name(target: &Target, found: &Found) -> String {
    match &*found.name {
        "" => words::resource(target),
        name if name == target.id.as_str() => words::resource(target),
        name => format!("{} {name}", words::resource(target)),
    }
}

/// What is inside a resource, and what we added to one that is not ours.
fn parts(seen: &Inspection, target: &Target, found: &Found, verdict: &Verdict) -> Vec<Branch> {
    let branch = |what, why: &str| Branch {
        depth: 2,
        what,
        verdict: ("Owned".into(), why.to_owned()),
    };
    if !matches!(verdict, Verdict::Owned(_)) {
        let traces = seen.ledger.traces.keys();
        return traces
            .filter(|trace| trace.on == *target)
            .map(|trace| branch(words::trace(trace), "added by us"))
            .collect();
    }
    let known = seen.ledger.known.get(target);
    let wrote = known.and_then(|known| known.wrote.as_ref());
    let inside = found.inside.iter().map(|(inner, part)| {
        let what = format!("{} {}", inner.noun, part.key);
        let this = (inner.name, part.key.clone());
        if wrote.is_none_or(|parts| parts.contains(&this)) {
            return branch(what, "inside what we own");
        }
        Branch {
            depth: 2,
            what,
            verdict: (
                "Foreign".into(),
                "put there by somebody else, and left".to_owned(),
            ),
        }
    });
    inside.collect()
}
