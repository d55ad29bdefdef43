//! The Kubernetes object of one claim: its ledger, its version, and how far its life has come.

use std::collections::BTreeSet;

use cloud_port::LedgerError;
use cloud_port::driver::Report;
use ownership::ledger::Edit;
use ownership::time::Tick;
use ownership::{Ledger, Phase, SlotName, Target};

use crate::scenario::Scenario;

/// The Kubernetes object that holds a claim's ledger, and what the oracle remembers of the claim.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// Its ledger.
    pub ledger: Ledger,
    /// Its resourceVersion.
    pub version: u64,
    /// What it was before the last write: what a stale cache shows.
    pub previous: Option<Ledger>,
    /// Whether it is being deleted, and how.
    pub phase: Phase,
    /// Since when.
    pub ends_since: Option<Tick>,
    /// Which of its blueprints is wanted: the first, or one that its author wrote later.
    pub spec: usize,
    /// Whether it has been created.
    pub begun: bool,
    /// Whether its last finalizer has gone, and the object with it.
    pub gone: bool,
    /// Whether its status accepts nothing: recorded ids are refused.
    pub status_refuses: bool,
    /// The slots whose new resource the ledger refused to record in this pass.
    pub refused_records: BTreeSet<SlotName>,
    /// Everything that was ever recorded for a slot.
    pub recorded: BTreeSet<(SlotName, Target)>,
    /// Every id that was ever condemned.
    pub condemned: BTreeSet<Target>,
    /// Whether the pass under way was told of a resource that it created.
    pub born_in_pass: bool,
    /// What its last pass said, if that came to rest: what its author believes to be there.
    pub rested: Option<Report>,
}

impl Object {
    /// The object at the beginning of a run.
    pub(crate) fn new(claim: &Scenario) -> Self {
        Self {
            ledger: claim.ledger.clone(),
            version: 1,
            previous: None,
            phase: if claim.ends_at_once {
                claim.end_phase()
            } else {
                Phase::Live
            },
            ends_since: claim.ends_at_once.then_some(Tick(0)),
            spec: 0,
            begun: !claim.follows,
            gone: false,
            status_refuses: claim.status_refuses,
            refused_records: BTreeSet::new(),
            recorded: BTreeSet::new(),
            condemned: claim.ledger.condemned.clone(),
            born_in_pass: false,
            rested: None,
        }
    }

    /// Whether it is there and not being deleted.
    pub(crate) fn lives(&self) -> bool {
        self.begun && !self.gone && self.phase == Phase::Live
    }

    /// Whether it is there and being deleted.
    pub(crate) fn ends(&self) -> bool {
        self.begun && !self.gone && self.phase != Phase::Live
    }

    /// Somebody else has written it: whoever has read it before must read it again.
    pub(crate) fn changed(&mut self) {
        self.version += 1;
        self.previous = None;
    }

    /// Its status is lost.
    pub(crate) fn lose_status(&mut self, intents_too: bool) {
        self.ledger.ids.clear();
        if intents_too {
            self.ledger.intents.clear();
        }
        self.changed();
    }

    /// Writes edits on top of `version`, or refuses them.
    pub(crate) fn commit(&mut self, edits: &[Edit], version: u64) -> Result<u64, LedgerError> {
        if self.gone || version != self.version {
            return Err(LedgerError::Conflict);
        }
        let records = edits.iter().any(|edit| matches!(edit, Edit::Record { .. }));
        if self.status_refuses && records {
            self.note_refusal(edits);
            return Err(LedgerError::Refused("status: Invalid value".into()));
        }
        self.previous = Some(self.ledger.clone());
        for edit in edits {
            self.ledger.apply(edit);
            match edit {
                Edit::Condemn { target, .. } => {
                    self.condemned.insert(target.clone());
                }
                Edit::Record { slot, target, .. } => {
                    self.recorded.insert((slot.clone(), target.clone()));
                    self.refused_records.remove(slot);
                }
                _ => {}
            }
        }
        self.gone |= edits.contains(&Edit::Finish);
        self.version += 1;
        Ok(self.version)
    }

    /// Remembers which new resources were not recorded.
    pub(crate) fn note_refusal(&mut self, edits: &[Edit]) {
        for edit in edits {
            if let Edit::Record { slot, .. } = edit {
                self.refused_records.insert(slot.clone());
            }
        }
    }
}
