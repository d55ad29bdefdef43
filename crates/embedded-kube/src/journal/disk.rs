//! The file: objects, the changes that watches resume over, and where each cluster stands.

use std::collections::BTreeMap;
use std::path::Path;

use redb::{Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};

use super::{Batch, StateError};
use crate::deep;

/// Cluster, collection and key to the version that an object is written in, its revision, and it.
const OBJECTS: TableDefinition<'_, ObjectPlace<'_>, ObjectRow<'_>> =
    TableDefinition::new("objects");
/// Cluster, collection and revision to a change: key, whether it is a deletion, the object, what was
/// before (with the versions they are written in), and the floor.
const CHANGES: TableDefinition<'_, (&str, &str, u64), ChangeRow<'_>> =
    TableDefinition::new("changes");
/// Cluster to its revision and the state of its ids.
const CLUSTERS: TableDefinition<'_, &str, (u64, u64)> = TableDefinition::new("clusters");

type ObjectPlace<'a> = (&'a str, &'a str, &'a str);
type ObjectRow<'a> = (&'a str, u64, &'a [u8]);
type ChangeRow<'a> = (
    &'a str,
    bool,
    (&'a str, &'a [u8]),
    Option<(&'a str, &'a [u8])>,
    u64,
);

/// A cluster as it was.
#[derive(Debug, Default)]
pub(crate) struct Restored {
    pub(crate) name: String,
    pub(crate) revision: u64,
    pub(crate) ids: u64,
    pub(crate) objects: Vec<RestoredObject>,
    pub(crate) events: Vec<RestoredEvent>,
}

impl Restored {
    /// How deep its deepest document nests, those that are only told of included.
    pub(crate) fn depth(&self) -> usize {
        let objects = self.objects.iter().map(|object| &object.body);
        let events = self.events.iter().flat_map(|event| {
            let previous = event.previous.iter().map(|(_, body)| body);
            previous.chain([&event.object.1])
        });
        let depths = objects.chain(events).map(|body| deep::of(body));
        depths.max().unwrap_or(0)
    }
}

/// An object as it was.
#[derive(Debug)]
pub(crate) struct RestoredObject {
    pub(crate) store: String,
    pub(crate) key: String,
    pub(crate) version: String,
    pub(crate) body: Vec<u8>,
}

/// A change as it was.
#[derive(Debug)]
pub(crate) struct RestoredEvent {
    pub(crate) store: String,
    pub(crate) revision: u64,
    pub(crate) key: String,
    pub(crate) deleted: bool,
    pub(crate) object: (String, Vec<u8>),
    pub(crate) previous: Option<(String, Vec<u8>)>,
    pub(crate) floor: u64,
}

pub(super) struct Disk {
    database: Database,
}

impl Disk {
    pub(super) fn open(file: &Path) -> Result<Self, StateError> {
        let database = Database::create(file).map_err(StateError::new)?;
        // So that a reader finds every table.
        let opening = database.begin_write().map_err(StateError::new)?;
        opening.open_table(OBJECTS).map_err(StateError::new)?;
        opening.open_table(CHANGES).map_err(StateError::new)?;
        opening.open_table(CLUSTERS).map_err(StateError::new)?;
        opening.commit().map_err(StateError::new)?;
        Ok(Self { database })
    }

    /// Everything, by cluster.
    pub(super) fn read(&self) -> Result<Vec<Restored>, StateError> {
        self.try_read().map_err(StateError::new)
    }

    fn try_read(&self) -> Result<Vec<Restored>, redb::Error> {
        let reading = self.database.begin_read()?;
        let mut clusters: BTreeMap<String, Restored> = BTreeMap::new();
        for row in reading.open_table(CLUSTERS)?.iter()? {
            let (name, standing) = row?;
            let (revision, ids) = standing.value();
            let restored = Restored {
                name: name.value().to_owned(),
                revision,
                ids,
                ..Restored::default()
            };
            clusters.insert(restored.name.clone(), restored);
        }
        for row in reading.open_table(OBJECTS)?.iter()? {
            let (place, object) = row?;
            let (cluster, store, key) = place.value();
            let (version, _, body) = object.value();
            if let Some(restored) = clusters.get_mut(cluster) {
                restored.objects.push(RestoredObject {
                    store: store.to_owned(),
                    key: key.to_owned(),
                    version: version.to_owned(),
                    body: body.to_vec(),
                });
            }
        }
        for row in reading.open_table(CHANGES)?.iter()? {
            let (place, change) = row?;
            let (cluster, store, revision) = place.value();
            let (key, deleted, object, previous, floor) = change.value();
            let owned = |(version, body): (&str, &[u8])| (version.to_owned(), body.to_vec());
            if let Some(restored) = clusters.get_mut(cluster) {
                restored.events.push(RestoredEvent {
                    store: store.to_owned(),
                    revision,
                    key: key.to_owned(),
                    deleted,
                    object: owned(object),
                    previous: previous.map(owned),
                    floor,
                });
            }
        }
        Ok(clusters.into_values().collect())
    }

    /// Writes all batches in one commit: when it returns, they survive.
    pub(super) fn write(&self, batches: &[Batch]) -> Result<(), redb::Error> {
        let writing = self.database.begin_write()?;
        {
            let mut objects = writing.open_table(OBJECTS)?;
            let mut changes = writing.open_table(CHANGES)?;
            let mut clusters = writing.open_table(CLUSTERS)?;
            for batch in batches {
                let cluster = &*batch.cluster;
                for change in &batch.changes {
                    let (store, key) = (&*change.store, &*change.key);
                    let (version, body) = (&*change.object.0, &*change.object.1);
                    if change.deleted {
                        objects.remove((cluster, store, key))?;
                    } else {
                        objects.insert((cluster, store, key), (version, change.revision, body))?;
                    }
                    let previous = change.previous.as_ref();
                    let previous = previous.map(|(version, body)| (&**version, &**body));
                    let row = (key, change.deleted, (version, body), previous, change.floor);
                    changes.insert((cluster, store, change.revision), row)?;
                    // The last change stays: it says where the floor is.
                    let end = change.floor.min(change.revision.saturating_sub(1));
                    let forgotten = (cluster, store, 0)..=(cluster, store, end);
                    changes.retain_in(forgotten, |_, _| false)?;
                }
                clusters.insert(cluster, (batch.revision, batch.ids))?;
            }
        }
        writing.commit()?;
        Ok(())
    }
}
