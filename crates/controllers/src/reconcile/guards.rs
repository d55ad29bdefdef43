//! What is checked around the engine.

/// What is checked around the engine, before and beside its own rules. The product has all of it; the
/// tests take one away at a time, and a law must break.
#[derive(Clone, Copy, Debug)]
pub struct Guards {
    /// A record is written only over the version that was read.
    pub compare_and_swap: bool,
    /// A cloud is written to only when the object's UUID and finalizers stand.
    pub pin: bool,
    /// A copy of a live object is not worked for.
    pub rival: bool,
    /// A record is used only in the account and region that it tells of.
    pub place: bool,
    /// What cannot be repeated safely is sent only within the process's term.
    pub term: bool,
}

impl Guards {
    /// All of them.
    pub const ALL: Self = Self {
        compare_and_swap: true,
        pin: true,
        rival: true,
        place: true,
        term: true,
    };
}
