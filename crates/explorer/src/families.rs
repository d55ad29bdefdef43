//! The families of scenarios: everything that can be special about a Kind.

use cloud_port::Sample;
use cloud_sim::Actor;
use ownership::kind::{BirthProof, Naming};
use ownership::time::Millis;
use ownership::{Freehold, Ledger};

use crate::fault::{Fault, Menu};
use crate::scenario::{
    CLUSTER, Expect, Lifted, MACHINERY, Scenario, UUID, base, identity, kkp, named,
};
use crate::{changes, claims, names, processes, run, special, stranger, twins, upserts};

/// Everything that can be special about a Kind.
pub(crate) fn of(sample: &'static Sample, all: &mut Vec<Scenario>) {
    let (kind, alone) = (sample.kind, base(sample));
    all.push(Scenario {
        depth: 2,
        ..named(&alone, "alone")
    });
    // What a stranger makes is hidden, too, where new ones are: until it shows, each try is refused because
    // the name is taken, and a controller tries less and less often. Here time does not pass between tries.
    let hides = kind.course.hidden_for > Millis(0) && kind.naming != Naming::Free;
    let meets = if hides {
        Menu::of(stranger::ALL).without(Fault::StrangerCreates.bit())
    } else {
        Menu::of(stranger::ALL)
    };
    all.push(Scenario {
        faults: MACHINERY.or(meets),
        ..named(&alone, "stranger")
    });
    all.push(Scenario {
        writers: 2,
        ..named(&alone, "two-writers")
    });
    all.push(Scenario {
        retains: true,
        ..named(&alone, "retain")
    });
    all.push(Scenario {
        status_refuses: true,
        ..named(&alone, "status-refuses")
    });
    all.push(Scenario {
        faults: MACHINERY.or(Fault::UnmarkedInFlight.bit()),
        lifted: Lifted {
            a2: true,
            ..Lifted::default()
        },
        expect: Expect::Reported,
        ..named(&alone, "a2-lifted")
    });
    all.push(Scenario {
        lifted: Lifted {
            a3: true,
            ..Lifted::default()
        },
        expect: Expect::Reported,
        ..named(&alone, "a3-lifted")
    });
    all.extend(held(&alone));
    if kind.naming == Naming::Free && kind.birth == BirthProof::Marks {
        all.push(twins::twins(&alone, sample));
        all.push(Scenario {
            writers: 2,
            ..named(&twins::twins(&alone, sample), "two-writers")
        });
        // Else they are bare already.
        if sample.nests.is_some() {
            all.push(Scenario {
                writers: 2,
                ..twins::bare_twins(&alone, sample)
            });
        }
    }
    if kind.birth == BirthProof::Circumstantial && kind.naming == Naming::Free {
        all.push(special::lookalike(&alone, kind));
    }
    if kind.name_finds_marks() {
        all.extend(names::taken_names(&alone, sample));
    }
    all.extend(special::scenarios(&alone, sample));
    all.extend(claims::scenarios(&alone, sample));
    all.extend(changes::scenarios(&alone, sample));
    all.extend(processes::scenarios(&alone));
    all.extend(upserts::scenarios(&alone));
    if kind.birth == BirthProof::Circumstantial && !hides {
        all.push(Scenario {
            faults: Menu::of(&[
                Fault::CrashAfter,
                Fault::LoseAnswer,
                Fault::LateByOne,
                Fault::LateAtRestart,
                Fault::NoTime,
                Fault::LongTime,
                Fault::StrangerCreates,
            ]),
            lifted: Lifted {
                a1: true,
                ..Lifted::default()
            },
            expect: Expect::Reported,
            ..named(&alone, "a1-lifted")
        });
    }
}

/// The claim was restored under another management cluster: held there, or taken over here.
fn held(alone: &Scenario) -> [Scenario; 2] {
    let there = identity(UUID, CLUSTER, "management-b", kkp());
    let by = |actor| Scenario {
        identity: there.clone(),
        actor,
        ..alone.clone()
    };
    let (held, _) = run::prepare(&by(Actor::Engine(1)), &Freehold);
    let (taken, _) = run::prepare(&by(Actor::Engine(0)), &Freehold);
    let mut identity = alone.identity.clone();
    identity.taken_over.insert(there.holder.clone(), 0);
    let no_deletion = alone.faults.without(Fault::EndNow.bit());
    // An old backup: it has the finalizers, and none of what came after.
    let ledger = Ledger {
        pinned: true,
        ..Ledger::default()
    };
    [
        Scenario {
            account: held,
            ledger: ledger.clone(),
            expect: Expect::Held,
            faults: no_deletion,
            ..named(alone, "held")
        },
        Scenario {
            account: taken,
            ledger,
            identity,
            expect: Expect::Taken,
            ..named(alone, "taken-over")
        },
    ]
}
