//! Scenarios in which the object's author changes the spec, or others put parts into what is ours.

use cloud_port::aws::vpc::VPC;
use cloud_sim::Actor;
use ownership::blueprint::Expr;
use ownership::kind::Kind;
use ownership::mark::Tags;
use ownership::{Blueprint, Slot};

use crate::fault::{Fault, Menu};
use crate::scenario::{MACHINERY, Scenario, named, text};

/// What meets a change of the spec: few faults, so that every pair of them is walked.
const FEW: Menu = Menu::of(&[
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
pub(crate) fn scenarios(alone: &Scenario, kind: &'static Kind) -> Vec<Scenario> {
    let mut all = Vec::new();
    let slot = &alone.blueprint.slots()[0];
    if kind.inner.iter().any(|inner| !inner.single) {
        let changed = Slot {
            inner: slot.inner[1..].to_vec(),
            ..slot.clone()
        };
        // One less, and then one more.
        all.push(changing(alone, "spec-inner", &[changed, slot.clone()]));
        all.push(others_parts(alone));
    }
    if let Some(bigger) = in_place(slot) {
        all.push(changing(alone, "spec-in-place", &[bigger]));
    }
    all.extend(other_place(alone, slot));
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

/// A slot with another wish for a property that can be changed in place.
fn in_place(slot: &Slot) -> Option<Slot> {
    let mut changed = slot.clone();
    for (name, wish) in &mut changed.props {
        *wish = text(match *name {
            "size" => "4",
            "trust" => r#"{"Statement":[],"Version":"2012-10-17"}"#,
            _ => continue,
        });
        return Some(changed);
    }
    None
}

/// The author corrects where the resource is to be: what an earlier create may still make there must
/// not stay beside the new one.
fn other_place(alone: &Scenario, slot: &Slot) -> Option<Scenario> {
    let mut scenario = alone.clone();
    let mut changed = slot.clone();
    if slot.props.iter().any(|(name, _)| *name == "vpc") {
        let props = [("cidr", "10.7.0.0/16".into())].into_iter().collect();
        let vpc = scenario
            .account
            .plant(Actor::Stranger, VPC.name, "other", &props, &Tags::new())
            .expect("room for it");
        for (name, wish) in &mut changed.props {
            match *name {
                "vpc" => *wish = Expr::Text(vpc.id.text()),
                "cidr" => *wish = text("10.7.1.0/24"),
                _ => {}
            }
        }
    } else if slot.kind.props.iter().any(|rule| rule.name == "parent") {
        changed.props.push(("parent", text("somewhere-else")));
    } else {
        return None;
    }
    Some(changing(&scenario, "spec-place", &[changed]))
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
