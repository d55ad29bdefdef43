//! Scenarios in which the object's author changes the spec, or others put parts into what is ours.

use cloud_port::Sample;
use ownership::{Blueprint, Slot};

use crate::fault::{Fault, Menu};
use crate::samples;
use crate::scenario::{MACHINERY, Scenario, named};

/// What meets a change of the spec: few faults, so that every pair of them is walked.
pub(crate) const FEW: Menu = Menu::of(&[
    Fault::SpecChange,
    Fault::LoseAnswer,
    Fault::LoseCall,
    Fault::CrashAfter,
    Fault::LateByTwo,
    Fault::LateToTheLast,
    Fault::NoTime,
    Fault::LongTime,
]);

/// The scenarios of a changing spec for a Kind.
pub(crate) fn scenarios(alone: &Scenario, sample: &'static Sample) -> Vec<Scenario> {
    let mut all = Vec::new();
    let slot = &alone.blueprint.slots()[0];
    if !slot.inner.is_empty() {
        let changed = Slot {
            inner: slot.inner[1..].to_vec(),
            ..slot.clone()
        };
        // One less, and then one more.
        all.push(changing(alone, "spec-inner", &[changed, slot.clone()]));
        all.push(others_parts(alone));
    }
    if !sample.changed.is_empty() {
        let mut changed = slot.clone();
        samples::want(&mut changed, sample.changed);
        all.push(changing(alone, "spec-in-place", &[changed]));
    }
    if sample.parent.is_some() || !sample.moved.is_empty() {
        all.push(other_place(alone, sample));
    }
    all
}

/// The author changes the spec, slot by slot.
fn changing(alone: &Scenario, what: &str, slots: &[Slot]) -> Scenario {
    let changes = slots
        .iter()
        .map(|slot| Blueprint::new(vec![slot.clone()]).expect("a legal blueprint"));
    Scenario {
        changes: changes.collect(),
        faults: FEW,
        depth: 2,
        ..named(alone, what)
    }
}

/// The author corrects where the resource is to be: what an earlier create may still make there must
/// not stay beside the new one.
fn other_place(alone: &Scenario, sample: &Sample) -> Scenario {
    let mut scenario = alone.clone();
    let mut changed = alone.blueprint.slots()[0].clone();
    if let Some(parent) = sample.parent {
        let (account, differs) = (&mut scenario.account, parent.sample.beside);
        let other = samples::make(account, parent.sample, differs);
        samples::put_into(&mut changed, parent, &other);
    }
    samples::want(&mut changed, sample.moved);
    changing(&scenario, "spec-place", &[changed])
}

/// Others put parts into our resource, which is not exclusive: theirs stay, ours go when they are
/// wanted no longer.
fn others_parts(alone: &Scenario) -> Scenario {
    let slot = Slot {
        exclusive: Vec::new(),
        ..alone.blueprint.slots()[0].clone()
    };
    let less = Slot {
        inner: slot.inner[1..].to_vec(),
        ..slot.clone()
    };
    let changing = changing(alone, "others-parts", &[less]);
    Scenario {
        blueprint: Blueprint::new(vec![slot]).expect("a legal blueprint"),
        faults: MACHINERY.or(Menu::of(&[Fault::SpecChange, Fault::StrangerAddsInner])),
        exclusive: false,
        depth: 1,
        ..changing
    }
}
