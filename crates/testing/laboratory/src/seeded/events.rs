//! What happens in bad times.

use embedded_kube::{Fault, FaultKind};

use super::switches::{EDITS, LOST_LEASES, RESTORES, SET_BACKS};
use super::world::World;
use super::{Seeded, Wish as _};

/// Something that happens.
#[derive(Clone, Copy, Debug)]
pub enum Event<O> {
    /// An operator crashes and starts again; or all do.
    Restart,
    /// An operator loses its Lease.
    LoseLease,
    /// An object is lost and restored.
    RestoreOne,
    /// The management cluster is lost and restored.
    RestoreAll,
    /// Somebody applies a copy of a manifest.
    Copy,
    /// An object is put back to what it was once.
    SetBack,
    /// Somebody wants something else of an object.
    Edit,
    /// The object of this name is made, unless it is there.
    Create(&'static str),
    /// An object ends.
    End,
    /// The API server forgets the past.
    Compact,
    /// Somebody does what the controller must put right.
    Meddle,
    /// Something that only this system knows.
    Own(O),
}

impl<S: Seeded> World<S> {
    pub(super) async fn happen(&mut self, event: Event<S::Own>) {
        let names: Vec<_> = self.live.iter().map(|live| live.name).collect();
        let note = format!("event {event:?} for {names:?}, copy: {:?}", self.copy);
        self.person.weather.note(&note);
        match event {
            Event::Restart => self.operators.restart(),
            Event::LoseLease if LOST_LEASES => {
                self.seen.insert("a lost Lease");
                self.operators.lose_lease().await;
            }
            Event::RestoreOne => self.restore_one().await,
            Event::RestoreAll if RESTORES => self.restore_all().await,
            Event::Copy => self.make_copy().await,
            Event::SetBack if SET_BACKS => self.set_back().await,
            Event::Edit if EDITS => self.edit().await,
            Event::Create(name) => self.create(name).await,
            Event::End => self.end_one().await,
            Event::Compact => self.cluster.compact(),
            Event::Own(own) => S::happen(self, own).await,
            _ => {
                if let Some(at) = self.pick() {
                    S::meddle(self, at).await;
                }
            }
        }
    }

    /// Somebody wants something else of an object.
    async fn edit(&mut self) {
        let Some(at) = self.pick() else {
            return;
        };
        self.seen.insert("an edit");
        let live = &mut self.live[at];
        live.wish.change(&self.random);
        self.person.insist(live.name, &live.wish.patch()).await;
    }

    async fn end_one(&mut self) {
        if let Some(at) = self.pick() {
            self.end(at).await;
        }
    }

    /// Something goes wrong at the API server soon.
    pub(super) fn plan_fault(&self) {
        let kind = match self.random.below(7) {
            0 => FaultKind::Conflict,
            1 => FaultKind::LostAnswer,
            2 => FaultKind::TooManyRequests { retry_after: 1 },
            3 => FaultKind::InternalError,
            4 => FaultKind::WatchCut,
            5 => FaultKind::StaleRead {
                by: usize::try_from(1 + self.random.below(3)).unwrap(),
            },
            _ => FaultKind::UnobservedEvent,
        };
        let resource = S::faulty(&self.random);
        let skip = u32::try_from(self.random.below(10)).unwrap();
        let times = u32::try_from(1 + self.random.below(2)).unwrap();
        self.cluster
            .faults()
            .add(Fault::new(kind).resource(resource).after(skip).times(times));
    }
}
