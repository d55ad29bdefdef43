//! The longest dependency chain of a blueprint: what its making takes at least, however much is done at once.

use std::collections::BTreeMap;

use cloud_sim::Pace;
use ownership::time::Millis;
use ownership::{Blueprint, Kind, Slot, SlotName};

use crate::slow::Latency;

/// What a blueprint is made of, and how long each call takes.
pub(crate) struct Chain<'a> {
    blueprint: &'a Blueprint,
    latency: Latency,
    paces: &'a [(&'static Kind, Pace)],
    /// How many Steps each slot needs.
    steps: &'a BTreeMap<SlotName, u64>,
    /// When each slot can be made at the earliest.
    made: BTreeMap<SlotName, Millis>,
}

impl<'a> Chain<'a> {
    /// The longest chain, in time.
    pub(crate) fn longest(
        blueprint: &'a Blueprint,
        latency: Latency,
        paces: &'a [(&'static Kind, Pace)],
        steps: &'a BTreeMap<SlotName, u64>,
    ) -> Millis {
        let mut chain = Self {
            blueprint,
            latency,
            paces,
            steps,
            made: BTreeMap::new(),
        };
        let slots = blueprint.slots().iter();
        let whole = slots.map(|slot| chain.whole(slot)).max();
        // Whoever may create anything has looked first.
        whole.unwrap_or_default() + latency.read
    }

    /// When a slot's resource can be there and ready: what it refers to is made, what it comes after is
    /// whole. It is announced, created and recorded; where it takes its time, it is read once more.
    fn made(&mut self, slot: &Slot) -> Millis {
        if let Some(made) = self.made.get(&slot.name) {
            return *made;
        }
        let latency = self.latency;
        let begins = self.latest(slot.dependencies(), Self::made);
        let begins = begins.max(self.latest(slot.after.iter(), Self::whole));
        let mut paces = self.paces.iter();
        let comes = paces.find(|(kind, _)| *kind == slot.kind);
        let comes = comes.map_or(Millis(0), |(_, pace)| pace.comes + latency.read);
        let writes = Millis(2 * latency.kube.0);
        let made = begins + writes + latency.step + comes;
        self.made.insert(slot.name.clone(), made);
        made
    }

    /// When everything is inside it that it needs, too, one call after the other.
    fn whole(&mut self, slot: &Slot) -> Millis {
        let begins = self.made(slot);
        let begins = begins.max(self.latest(slot.inner_dependencies(), Self::made));
        let steps = self.steps.get(&slot.name).copied().unwrap_or(1);
        begins + Millis(self.latency.step.0 * steps.saturating_sub(1))
    }

    /// When the last of several slots is so far.
    fn latest<'s>(
        &mut self,
        slots: impl Iterator<Item = &'s SlotName>,
        is_so_far: fn(&mut Self, &Slot) -> Millis,
    ) -> Millis {
        let blueprint = self.blueprint;
        let slots = slots.filter_map(|name| blueprint.slot(name));
        let times = slots.map(|slot| is_so_far(self, slot));
        times.max().unwrap_or_default()
    }
}
