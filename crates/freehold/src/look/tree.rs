//! An object's parts with their verdicts.

use std::collections::BTreeSet;

use cloud_port::{Cloud, words};
use controllers::reconcile::Inspection;
use ownership::{Query, SlotName, Step, Target, Verdict};

use crate::show::Branch;

/// The tree of an object, freshly read.
///
/// # Errors
/// A read that failed.
pub(crate) async fn branches<C: Cloud>(seen: &Inspection<C>) -> anyhow::Result<Vec<Branch>> {
    let mut branches = vec![Branch {
        depth: 0,
        what: seen.claim.to_string(),
        verdict: ("", String::new()),
    }];
    let to_come = to_come(seen);
    for filled in &seen.report.filled {
        if to_come.contains(&filled.slot) {
            continue;
        }
        branches.push(Branch {
            depth: 1,
            what: name(seen, &filled.target).await?,
            verdict: words::verdict(&filled.verdict),
        });
        branches.extend(parts(seen, &filled.target, &filled.verdict).await?);
    }
    for planned in &seen.plan {
        if let Step::Create(create) = &planned.step {
            branches.push(Branch {
                depth: 1,
                what: format!("{} {}", create.kind.noun, create.name),
                verdict: ("absent", format!("to be created: {}", planned.reason)),
            });
        }
    }
    Ok(branches)
}

/// The slots that would be filled by a create: what fills them is imagined.
pub(super) fn to_come<C>(seen: &Inspection<C>) -> BTreeSet<&SlotName> {
    let creates = seen.plan.iter().filter_map(|planned| match &planned.step {
        Step::Create(create) => Some(&create.slot),
        _ => None,
    });
    creates.collect()
}

async fn name<C: Cloud>(seen: &Inspection<C>, target: &Target) -> anyhow::Result<String> {
    let answer = seen.cloud.read(&Query::Id(target.clone())).await?;
    let name = answer
        .resources
        .first()
        .map_or("", |resource| &*resource.name);
    Ok(match name {
        "" => words::resource(target),
        name if name == target.id.as_str() => words::resource(target),
        name => format!("{} {name}", words::resource(target)),
    })
}

/// What is inside a resource, and what we added to one that is not ours.
async fn parts<C: Cloud>(
    seen: &Inspection<C>,
    target: &Target,
    verdict: &Verdict,
) -> anyhow::Result<Vec<Branch>> {
    let branch = |what, why: &str| Branch {
        depth: 2,
        what,
        verdict: ("Owned", why.to_owned()),
    };
    if !matches!(verdict, Verdict::Owned(_)) {
        let traces = seen.ledger.traces.keys();
        return Ok(traces
            .filter(|trace| trace.on == *target)
            .map(|trace| branch(words::trace(trace), "added by us"))
            .collect());
    }
    let mut branches = Vec::new();
    for inner in target.kind.inner {
        let query = Query::Inner {
            of: target.clone(),
            inner: inner.name,
        };
        let answer = seen.cloud.read(&query).await?;
        let told = answer.inner.iter();
        let told = told.filter(|told| told.of == *target && told.inner == inner.name);
        let known = seen.ledger.known.get(target);
        let wrote = known.and_then(|known| known.wrote.as_ref());
        for part in told.flat_map(|told| &told.parts) {
            let what = format!("{} {}", inner.noun, part.key);
            let this = (inner.name, part.key.clone());
            branches.push(if wrote.is_none_or(|parts| parts.contains(&this)) {
                branch(what, "inside what we own")
            } else {
                Branch {
                    depth: 2,
                    what,
                    verdict: ("Foreign", "put there by somebody else, and left".to_owned()),
                }
            });
        }
    }
    Ok(branches)
}
