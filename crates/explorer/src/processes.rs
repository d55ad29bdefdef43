//! Scenarios of processes: glances at an inventory, terms that end, two writers at a claim's end,
//! writes that a lagging replica answers, and strangers who make again what they deleted.

use ownership::Freehold;
use ownership::kind::BirthProof;
use ownership::time::Millis;

use crate::fault::{Fault, Menu};
use crate::run;
use crate::scenario::{MACHINERY, Scenario, named};
use crate::stranger::{self, is_its_name};

/// What meets a lagging replica: few faults, so that every pair of them is walked.
const FEW: Menu = Menu::of(&[
    Fault::CrashAfter,
    Fault::LoseAnswer,
    Fault::StaleByOne,
    Fault::EndNow,
    Fault::NoTime,
    Fault::StrangerDeletes,
    Fault::NotFoundByLag,
    Fault::DuplicateByLag,
]);

/// The scenarios of processes for a Kind, or for several.
pub(crate) fn scenarios(alone: &Scenario) -> Vec<Scenario> {
    let once = Scenario {
        depth: 1,
        ..alone.clone()
    };
    let mut all = vec![
        Scenario {
            glances: true,
            faults: MACHINERY.or(Menu::of(stranger::ALL)),
            ..named(&once, "glancing")
        },
        Scenario {
            faults: FEW,
            depth: 2,
            ..named(&once, "lag")
        },
    ];
    // The first leads for just longer than T, for a while, and for long.
    all.extend([31, 50, 100].map(|seconds| Scenario {
        writers: 2,
        term: Some(Millis::seconds(seconds)),
        ..named(&once, &format!("term-{seconds}"))
    }));
    let (account, ledger) = run::prepare(&once, &Freehold);
    let goes_by_name = account
        .lives()
        .any(|life| life.by == once.actor && is_its_name(life));
    let mut slots = once.blueprint.slots().iter();
    // A name that holds the claim's hash is proof enough.
    if goes_by_name && slots.all(|slot| slot.kind.birth != BirthProof::Nonce) {
        all.push(Scenario {
            faults: MACHINERY.or(Fault::StrangerRecreates.bit()),
            ..named(&once, "recreated")
        });
    }
    let ending = Scenario {
        account,
        ledger,
        writers: 2,
        ends_at_once: true,
        ..named(&once, "two-writers-end")
    };
    all.push(Scenario {
        retains: true,
        ..named(&ending, "retain")
    });
    all.push(ending);
    all
}
