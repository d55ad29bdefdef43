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

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
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
struct Batch {
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
}

impl Journal {
    /// Opens the state in a folder; the answer is also what was in it.
    pub(crate) fn open(folder: &Path) -> Result<(Self, Vec<Restored>), StateError> {
        std::fs::create_dir_all(folder).map_err(StateError::new)?;
        let disk = disk::Disk::open(&folder.join("state.redb"))?;
        let restored = disk.read()?;
        let (batches, incoming) = channel::<Batch>();
        thread::Builder::new()
            .name("embedded-kube state".to_owned())
            .spawn(move || {
                while let Ok(first) = incoming.recv() {
                    // Whoever waits by now shares one commit.
                    let mut group = vec![first];
                    group.extend(incoming.try_iter());
                    let written = disk.write(&group);
                    for batch in group {
                        let progress = match &written {
                            Ok(()) => Progress::UpTo(batch.revision),
                            Err(error) => Progress::Broken(error.to_string().into()),
                        };
                        batch.durable.send_replace(progress);
                    }
                    if written.is_err() {
                        return;
                    }
                }
            })
            .map_err(StateError::new)?;
        Ok((Self { batches }, restored))
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
