//! The explorer's cloud and ledger: every call is a point where something can happen.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use cloud_port::{Cloud, Deadline, Effect, LedgerError, LedgerStore};
use cloud_sim::Actor;
use ownership::ledger::Edit;
use ownership::{Answer, CloudError, Ledger, Phase, Query, Step};

use crate::world::{Call, World};

/// The world, shared by the writers of one run. They run on one thread, so the lock is never held by
/// another; it is there because the port's futures may be sent between threads.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<World>>);

impl Shared {
    /// Shares a world.
    pub(crate) fn new(world: World) -> Self {
        Self(Arc::new(Mutex::new(world)))
    }

    /// The world.
    pub(crate) fn lock(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The cloud and the ledger as one writer has them.
#[derive(Clone)]
pub(crate) struct Port {
    /// The world.
    pub world: Shared,
    /// Who writes.
    pub actor: Actor,
    /// Whether there is another writer: then every call waits for its turn.
    pub takes_turns: bool,
}

impl Cloud for Port {
    async fn read(&self, query: &Query) -> Result<Answer, CloudError> {
        self.turn().await;
        let call = self.world.lock().read(query);
        answer(call).await
    }

    async fn perform(&self, step: &Step, by: Deadline<'_>) -> Result<Effect, CloudError> {
        self.turn().await;
        by.check()?;
        let call = self.world.lock().perform(self.actor, step);
        answer(call).await
    }
}

impl Port {
    fn turn(&self) -> Turn {
        Turn {
            over: !self.takes_turns,
        }
    }
}

/// The ledger as one writer has it.
pub(crate) struct Store {
    /// The writer's port.
    pub port: Port,
    /// The version that was last loaded or written.
    pub version: u64,
    /// Whether the claim lives, as the pass knows it: from the same read as the ledger.
    pub phase: Phase,
}

impl LedgerStore for Store {
    async fn load(&mut self) -> Result<Ledger, LedgerError> {
        self.port.turn().await;
        if self.port.world.lock().object.phase != self.phase {
            return Err(LedgerError::Conflict);
        }
        let call = self.port.world.lock().load();
        let (ledger, version) = answer(call).await?;
        self.version = version;
        Ok(ledger)
    }

    async fn write(&mut self, edits: &[Edit]) -> Result<(), LedgerError> {
        self.port.turn().await;
        let call = self.port.world.lock().write(edits, self.version);
        self.version = answer(call).await?;
        Ok(())
    }
}

/// Waits once, so that another writer can have its turn.
struct Turn {
    over: bool,
}

impl Future for Turn {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.over {
            return Poll::Ready(());
        }
        self.over = true;
        Poll::Pending
    }
}

/// The answer of a call; a process that has died waits for ever, until it is dropped.
async fn answer<T, E>(call: Call<T, E>) -> Result<T, E> {
    match call {
        Call::Answer(result) => result,
        Call::Crash => std::future::pending().await,
    }
}
