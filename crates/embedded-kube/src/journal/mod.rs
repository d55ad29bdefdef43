//! Keeping clusters on disk: what a request changed is written down before anybody hears of it.
//!
//! ```text
//! request ──► State ──► changes ──► one thread ──► redb (one commit for all that wait) ──► answer
//! ```
//!
//! The memory stays the truth while the process lives; the disk is read once, at the start. Answers
//! and watch events wait until the revision that they show is on disk, so nothing that anybody has
//! seen is lost, whenever the process is killed. A server without a folder has none of this.

mod disk;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread;

use tokio::sync::watch;

use crate::status::ApiError;
pub(crate) use disk::{Restored, RestoredEvent};

/// Why the state on disk cannot be used.
#[derive(Debug)]
pub struct StateError(Box<dyn std::error::Error + Send + Sync>);

impl std::fmt::Display for StateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the state on disk cannot be used")
    }
}

impl std::error::Error for StateError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}

impl StateError {
    pub(crate) fn new(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

/// A change of one object.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) store: Box<str>,
    pub(crate) key: Box<str>,
    pub(crate) revision: u64,
    pub(crate) deleted: bool,
    /// The version that the object is written in, and the object.
    pub(crate) object: (Box<str>, bytes::Bytes),
    pub(crate) previous: Option<(Box<str>, bytes::Bytes)>,
    /// No change up to this revision can be told of any more.
    pub(crate) floor: u64,
}

/// What one request changed.
pub(crate) struct Batch {
    cluster: Box<str>,
    revision: u64,
    ids: u64,
    changes: Vec<Change>,
    durable: Arc<watch::Sender<Progress>>,
}

/// How far the disk is.
#[derive(Clone, Debug)]
enum Progress {
    /// Everything up to this revision is on it.
    UpTo(u64),
    /// It takes nothing any more.
    Broken(Arc<str>),
}

/// The disk, for all clusters of a server. It ends when the last cluster does.
#[derive(Clone)]
pub(crate) struct Journal {
    batches: Sender<Batch>,
    failure: Arc<OnceLock<Arc<str>>>,
}

impl Journal {
    /// Opens the state in a folder; the answer is also what was in it.
    pub(crate) fn open(folder: &Path) -> Result<(Self, Vec<Restored>), StateError> {
        std::fs::create_dir_all(folder).map_err(StateError::new)?;
        let disk = disk::Disk::open(&folder.join("state.redb"))?;
        let restored = disk.read()?;
        let (journal, writer) = Self::new();
        thread::Builder::new()
            .name("embedded-kube state".to_owned())
            .spawn(move || writer.run(|group| disk.write(group)))
            .map_err(StateError::new)?;
        Ok((journal, restored))
    }

    /// One without a disk yet: nothing is written before the writer runs.
    pub(crate) fn new() -> (Self, Writer) {
        let (batches, incoming) = channel();
        let failure = Arc::default();
        let journal = Self {
            batches,
            failure: Arc::clone(&failure),
        };
        (journal, Writer { incoming, failure })
    }

    /// The part of one cluster, whose revision on disk is this.
    pub(crate) fn of(&self, cluster: &str, revision: u64) -> ClusterJournal {
        ClusterJournal {
            journal: self.clone(),
            cluster: cluster.into(),
            durable: Arc::new(watch::Sender::new(Progress::UpTo(revision))),
        }
    }
}

/// What the thread has that writes.
pub(crate) struct Writer {
    incoming: Receiver<Batch>,
    /// Why the disk takes nothing any more, once it is so.
    failure: Arc<OnceLock<Arc<str>>>,
}

impl Writer {
    /// Writes until the last cluster ends. After a failure nothing more is written: what is on disk
    /// stays a state that there was. The thread stays, so that whoever comes later is told so.
    pub(crate) fn run<E: std::fmt::Display>(self, write: impl Fn(&[Batch]) -> Result<(), E>) {
        while let Ok(first) = self.incoming.recv() {
            // Whoever waits by now shares one commit.
            let mut group = vec![first];
            group.extend(self.incoming.try_iter());
            if self.failure.get().is_none() {
                let tried = catch_unwind(AssertUnwindSafe(|| write(&group)));
                let failed = match tried {
                    Ok(Ok(())) => None,
                    Ok(Err(error)) => Some(error.to_string()),
                    Err(_) => Some("writing the state broke off".to_owned()),
                };
                if let Some(why) = failed {
                    // It is not set yet: only this thread does so.
                    let _ = self.failure.set(why.into());
                }
            }
            for batch in group {
                let progress = match self.failure.get() {
                    None => Progress::UpTo(batch.revision),
                    Some(why) => Progress::Broken(Arc::clone(why)),
                };
                batch.durable.send_replace(progress);
            }
        }
    }
}

/// The disk, for one cluster.
#[derive(Clone)]
pub(crate) struct ClusterJournal {
    journal: Journal,
    cluster: Box<str>,
    durable: Arc<watch::Sender<Progress>>,
}

impl ClusterJournal {
    /// Hands over what was changed; the order of calls is the order on disk.
    pub(crate) fn submit(&self, revision: u64, ids: u64, changes: Vec<Change>) {
        if changes.is_empty() {
            return;
        }
        let sent = self.journal.batches.send(Batch {
            cluster: self.cluster.clone(),
            revision,
            ids,
            changes,
            durable: Arc::clone(&self.durable),
        });
        if sent.is_err() {
            let broken = Progress::Broken("the state is closed".into());
            self.durable.send_if_modified(|progress| {
                let first = matches!(progress, Progress::UpTo(_));
                if first {
                    *progress = broken;
                }
                first
            });
        }
    }

    /// Whether the disk takes nothing any more.
    pub(crate) fn is_broken(&self) -> bool {
        let closed = matches!(*self.durable.borrow(), Progress::Broken(_));
        closed || self.journal.failure.get().is_some()
    }

    /// Waits until a revision is on disk.
    pub(crate) async fn reached(&self, revision: u64) -> Result<(), ApiError> {
        let mut progress = self.durable.subscribe();
        let there = |progress: &Progress| match progress {
            Progress::UpTo(reached) => *reached >= revision,
            Progress::Broken(_) => true,
        };
        let found = progress.wait_for(there).await;
        match found.as_deref() {
            Ok(Progress::UpTo(_)) => Ok(()),
            Ok(Progress::Broken(why)) => Err(ApiError::internal(why)),
            Err(_) => Err(ApiError::internal("the state is closed")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long anything may take that must happen.
    const PATIENCE: std::time::Duration = std::time::Duration::from_mins(1);

    fn change(revision: u64) -> Vec<Change> {
        vec![Change {
            store: "configmaps".into(),
            key: "default/a".into(),
            revision,
            deleted: false,
            object: ("v1".into(), bytes::Bytes::from_static(b"{}")),
            previous: None,
            floor: 0,
        }]
    }

    /// One cluster's change fails; another's comes while it does, and a third's afterwards.
    async fn all_fail(write: impl Fn() -> Result<(), &'static str> + Send + 'static) {
        let (journal, writer) = Journal::new();
        let (first, second, third) = (journal.of("a", 1), journal.of("b", 1), journal.of("c", 1));
        let late = second.clone();
        let thread = thread::spawn(move || {
            writer.run(|_| {
                late.submit(2, 0, change(2));
                write()
            });
        });
        let fails = async |cluster: &ClusterJournal| {
            let reached = tokio::time::timeout(PATIENCE, cluster.reached(2)).await;
            assert!(reached.expect("it is told").is_err());
        };
        first.submit(2, 0, change(2));
        fails(&first).await;
        fails(&second).await;
        third.submit(2, 0, change(2));
        fails(&third).await;
        assert!(journal.of("d", 1).is_broken());
        // What is there is still told.
        assert!(journal.of("d", 1).reached(1).await.is_ok());
        drop(thread);
    }

    #[tokio::test]
    async fn after_a_failure_every_change_fails() {
        all_fail(|| Err("the disk is full")).await;
    }

    #[tokio::test]
    #[allow(clippy::panic, reason = "the test is about one")]
    async fn after_a_panic_every_change_fails() {
        all_fail(|| panic!("out of order")).await;
    }
}
