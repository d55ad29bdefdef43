//! The explorer's cloud and ledger: every call is a point where something can happen.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use cloud_port::{Cloud, Deadline, Effect, LedgerError, LedgerStore, Survey};
use ownership::ledger::Edit;
use ownership::{Answer, CloudError, Kind, Ledger, Phase, Query, Step};

use crate::calls::{Ask, Call};
use crate::line::Aim;
use crate::world::World;

/// The world, shared by the writers of one run. They run on one thread, so the lock is never held by
/// another; it is there because the port's futures may be sent between threads.
#[derive(Clone)]
pub(crate) struct Shared<'a>(Arc<Mutex<World<'a>>>);

impl<'a> Shared<'a> {
    /// Shares a world.
    pub(crate) fn new(world: World<'a>) -> Self {
        Self(Arc::new(Mutex::new(world)))
    }

    /// The world.
    pub(crate) fn lock(&self) -> MutexGuard<'_, World<'a>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The cloud and the ledgers as the writers have them. Which claim a call is for, the world knows:
/// the writers of one process share an inventory, and with it this.
#[derive(Clone)]
pub(crate) struct Port<'a> {
    /// The world.
    pub world: Shared<'a>,
}

impl Cloud for Port<'_> {
    async fn read(&self, query: &Query) -> Result<Answer, CloudError> {
        self.turn().await;
        let call = self.world.lock().read(Ask::Query(query));
        answer(call).await
    }

    async fn perform(&self, step: &Step, by: Deadline<'_>) -> Result<Effect, CloudError> {
        let what = Some(Aim::of(step));
        self.turn_for(what).await;
        by.check()?;
        let call = self.world.lock().perform(step);
        answer(call).await
    }
}

impl Survey for Port<'_> {
    async fn survey(&self, kind: &'static Kind) -> Result<Answer, CloudError> {
        self.turn().await;
        let call = self.world.lock().read(Ask::Survey(kind));
        answer(call).await
    }
}

impl<'a> Port<'a> {
    fn turn(&self) -> Turn<'a> {
        self.turn_for(None)
    }

    fn turn_for(&self, aim: Option<Aim>) -> Turn<'a> {
        Turn {
            world: self.world.clone(),
            aim,
            place: None,
        }
    }
}

/// The ledger as one writer has it.
pub(crate) struct Store<'a> {
    /// The writer's port.
    pub port: Port<'a>,
    /// The claim whose ledger it is.
    pub claim: usize,
    /// The version that was last loaded or written.
    pub version: u64,
    /// Whether the claim lives, as the pass knows it: from the same read as the ledger.
    pub phase: Phase,
    /// Which blueprint the pass works from: from the same read, too.
    pub spec: usize,
}

impl LedgerStore for Store<'_> {
    async fn load(&mut self) -> Result<Ledger, LedgerError> {
        self.port.turn().await;
        let call = {
            let mut world = self.port.world.lock();
            let object = &world.objects[self.claim];
            if (object.phase, object.spec) != (self.phase, self.spec) {
                return Err(LedgerError::Conflict);
            }
            world.load(self.claim)
        };
        let (ledger, version) = answer(call).await?;
        self.version = version;
        Ok(ledger)
    }

    async fn write(&mut self, edits: &[Edit]) -> Result<(), LedgerError> {
        self.port.turn().await;
        let call = self
            .port
            .world
            .lock()
            .write(self.claim, edits, self.version);
        self.version = answer(call).await?;
        Ok(())
    }
}

/// Stands in line until the call is the next to get there: another writer can have its turn before, and
/// whatever is sent at once can overtake.
struct Turn<'a> {
    world: Shared<'a>,
    aim: Option<Aim>,
    /// Its place in the line, once it has one.
    place: Option<u64>,
}

impl Future for Turn<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let turn = &mut *self;
        let mut world = turn.world.lock();
        match turn.place {
            None => {
                turn.place = Some(world.line_up(turn.aim.take()));
                Poll::Pending
            }
            Some(place) if world.is_next(place) => Poll::Ready(()),
            Some(_) => Poll::Pending,
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.world.lock().leave_line(place);
        }
    }
}

/// The answer of a call; a process that has died waits for ever, until it is dropped.
async fn answer<T, E>(call: Call<T, E>) -> Result<T, E> {
    match call {
        Call::Answer(result) => result,
        Call::Crash => std::future::pending().await,
    }
}
