//! Shelves: the records of one Kind, and how to find one among many.

use std::collections::BTreeMap;
use std::sync::Arc;

use ownership::kind::Kind;
use ownership::{ResourceId, Text};

use crate::provider::Row;
use crate::record::Record;

/// The resources of one Kind.
#[derive(Clone, Debug)]
pub(crate) struct Shelf {
    pub(crate) kind: &'static Kind,
    pub(crate) row: &'static Row,
    /// The region that its resources are in; `None` where all regions see them.
    pub(crate) region: Option<&'static str>,
    /// The place that they are in, where one account stands for several.
    pub(crate) place: ownership::Place,
    pub(crate) records: Vec<Arc<Record>>,
    /// How many of them are alive.
    pub(crate) alive: usize,
    index: Option<Arc<Index>>,
}

/// Where ids, names and tag keys may be found. Whatever it names must still be looked at: a record
/// that once had a tag is listed for good, because an old read may show it.
#[derive(Clone, Debug, Default)]
struct Index {
    ids: BTreeMap<ResourceId, usize>,
    /// In lower case, for the names that do not differ in case.
    names: BTreeMap<String, Vec<usize>>,
    keys: BTreeMap<Text, Vec<usize>>,
}

/// Up to here looking at all records is faster than an index, and so are snapshots.
const SCANNED: usize = 32;

impl Shelf {
    pub(crate) fn new(kind: &'static Kind, row: &'static Row, region: &'static str) -> Self {
        Self {
            kind,
            row,
            region: (!row.service.is_global).then_some(region),
            place: ownership::Place::HOME,
            records: Vec::new(),
            alive: 0,
            index: None,
        }
    }

    /// Puts a new record on the shelf; says where.
    pub(crate) fn push(&mut self, record: Record) -> usize {
        let at = self.records.len();
        self.records.push(Arc::new(record));
        if let Some(index) = &mut self.index {
            Arc::make_mut(index).add(at, &self.records[at]);
        } else if self.records.len() > SCANNED {
            let mut index = Index::default();
            for (at, record) in self.records.iter().enumerate() {
                index.add(at, record);
            }
            self.index = Some(Arc::new(index));
        }
        at
    }

    /// Takes in that a record has got tags.
    pub(crate) fn tagged<'a>(&mut self, at: usize, keys: impl Iterator<Item = &'a Text>) {
        if let Some(index) = &mut self.index {
            let index = Arc::make_mut(index);
            keys.for_each(|key| index.add_key(at, key));
        }
    }

    /// The record of an id.
    pub(crate) fn by_id(&self, id: &ResourceId) -> Option<usize> {
        match &self.index {
            Some(index) => index.ids.get(id).copied(),
            None => self
                .records
                .iter()
                .position(|record| record.life().target.id == *id),
        }
    }

    /// The records that may have this name, in whatever case.
    pub(crate) fn maybe_named(&self, name: &str) -> Candidates<'_> {
        match &self.index {
            Some(index) => Candidates::of(index.names.get(&name.to_ascii_lowercase())),
            None => Candidates::All(0..self.records.len()),
        }
    }

    /// The records that may have a tag with this key.
    pub(crate) fn maybe_tagged(&self, key: &str) -> Candidates<'_> {
        match &self.index {
            Some(index) => Candidates::of(index.keys.get(key)),
            None => Candidates::All(0..self.records.len()),
        }
    }
}

impl Index {
    fn add(&mut self, at: usize, record: &Record) {
        let life = record.life();
        self.ids.insert(life.target.id.clone(), at);
        let name = life.name.to_ascii_lowercase();
        self.names.entry(name).or_default().push(at);
        record.keys_seen(|key| self.add_key(at, key));
    }

    fn add_key(&mut self, at: usize, key: &Text) {
        let places = self.keys.entry(key.clone()).or_default();
        if let Err(gap) = places.binary_search(&at) {
            places.insert(gap, at);
        }
    }
}

/// Records to look at.
pub(crate) enum Candidates<'a> {
    All(std::ops::Range<usize>),
    Some(std::slice::Iter<'a, usize>),
}

impl<'a> Candidates<'a> {
    fn of(places: Option<&'a Vec<usize>>) -> Self {
        Self::Some(places.map_or([].iter(), |places| places.iter()))
    }
}

impl Iterator for Candidates<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        match self {
            Self::All(range) => range.next(),
            Self::Some(places) => places.next().copied(),
        }
    }
}
