//! The operations of the simulated APIs, and how often each was called.

/// An operation of a simulated API. Each is declared where it is used, in the row of its Kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Op {
    service: &'static str,
    name: &'static str,
    reads: bool,
    page: usize,
}

impl Op {
    pub(crate) const fn new(
        service: &'static str,
        name: &'static str,
        reads: bool,
        page: usize,
    ) -> Self {
        Self {
            service,
            name,
            reads,
            page,
        }
    }

    /// The service that it belongs to.
    pub const fn service(self) -> &'static str {
        self.service
    }

    /// Its name in the API's reference.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Whether it only reads.
    pub const fn is_read(self) -> bool {
        self.reads
    }

    /// How many items one of its pages holds.
    pub(crate) const fn page(self) -> usize {
        self.page
    }
}

/// How often an engine called each operation; a listing counts once a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// In the order of operations.
    calls: Vec<(Op, u64)>,
    throttled: u64,
}

impl Counters {
    pub(crate) fn count(&mut self, op: Op, calls: usize) {
        if calls == 0 {
            return;
        }
        let at = self.calls.binary_search_by_key(&op, |(known, _)| *known);
        match at {
            Ok(at) => self.calls[at].1 += calls as u64,
            Err(gap) => self.calls.insert(gap, (op, calls as u64)),
        }
    }

    pub(crate) fn throttle(&mut self) {
        self.throttled += 1;
    }

    /// How often the operation of that name was called.
    pub fn calls(&self, name: &str) -> u64 {
        let named = self.iter().filter(|(op, _)| op.name == name);
        named.map(|(_, calls)| calls).sum()
    }

    /// How many calls only read.
    pub fn reads(&self) -> u64 {
        let reads = self.iter().filter(|(op, _)| op.is_read());
        reads.map(|(_, calls)| calls).sum()
    }

    /// How many calls were meant to change something, refused ones included.
    pub fn writes(&self) -> u64 {
        let writes = self.iter().filter(|(op, _)| !op.is_read());
        writes.map(|(_, calls)| calls).sum()
    }

    /// How many calls were throttled; they count as calls too.
    pub fn throttled(&self) -> u64 {
        self.throttled
    }

    /// The operations that were called, and how often, by service and name.
    pub fn iter(&self) -> impl Iterator<Item = (Op, u64)> {
        self.calls.iter().copied()
    }
}
