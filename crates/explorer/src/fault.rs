//! Choices: what can happen at each point of a run, and schedules of them.

use std::str::FromStr;

use anyhow::Context as _;

macro_rules! faults {
    ($($(#[doc = $doc:literal])* $name:ident = $word:literal,)*) => {
        /// Something that happens at a point of a run instead of the ordinary course.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub(crate) enum Fault {
            $($(#[doc = $doc])* $name,)*
        }

        impl Fault {
            /// Every fault.
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)*];

            /// Its word in a stored schedule.
            pub(crate) const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

faults! {
    /// The process dies before the call is sent.
    CrashBefore = "crash-before",
    /// The process dies after the call has taken effect.
    CrashAfter = "crash-after",
    /// The call fails before it takes effect.
    Fail = "fail",
    /// The call is throttled.
    Throttle = "throttle",
    /// No answer comes, and the call has not taken effect.
    LoseCall = "lose-call",
    /// No answer comes, and the call has taken effect.
    LoseAnswer = "lose-answer",
    /// No answer comes, and the call takes effect after the next call.
    LateByOne = "late-by-1",
    /// No answer comes, and the call takes effect after the next two calls.
    LateByTwo = "late-by-2",
    /// No answer comes, and the call takes effect after the next three calls.
    LateByThree = "late-by-3",
    /// The process dies, and the call takes effect only when the next one starts.
    LateAtRestart = "late-at-restart",
    /// No answer comes, and the call takes effect as late as it can (A3).
    LateToTheLast = "late-to-the-last",
    /// The answer takes a minute.
    Slow = "slow",
    /// The read shows each resource as it was before its last write.
    StaleByOne = "stale-by-1",
    /// The read shows each resource as it was before its last two writes.
    StaleByTwo = "stale-by-2",
    /// Somebody else has written the object in between.
    Conflict = "conflict",
    /// The API server refuses the write.
    Refuse = "refuse",
    /// No time passes before the next pass.
    NoTime = "no-time",
    /// Much time passes before the next pass.
    LongTime = "long-time",
    /// The claim is deleted here, and the process dies.
    EndNow = "end-now",
    /// The object loses its status, and the process restarts.
    LoseStatus = "lose-status",
    /// The object's author changes its spec.
    SpecChange = "spec-change",
    /// A replica that has not heard of a resource yet answers a write to it: not found.
    NotFoundByLag = "not-found-by-lag",
    /// A replica that has not heard of a deletion yet answers a create: the name is taken.
    DuplicateByLag = "duplicate-by-lag",
    /// The create is accepted, and what it makes fails.
    Fails = "fails",
    /// Of the calls that a process has sent at once the last gets there first.
    LastFirst = "last-first",
    /// A stranger creates a resource with the slot's name.
    StrangerCreates = "stranger-creates",
    /// A stranger removes every tag of ours from a resource of ours.
    StrangerUnmarks = "stranger-unmarks",
    /// A stranger removes Freehold's tag, and only that, from a resource of ours.
    StrangerUnmarksPartly = "stranger-unmarks-partly",
    /// A stranger deletes a resource of ours.
    StrangerDeletes = "stranger-deletes",
    /// A stranger adds a part inside a resource that we work on.
    StrangerAddsInner = "stranger-adds-inner",
    /// A stranger removes a part inside a resource that we work on.
    StrangerRemovesInner = "stranger-removes-inner",
    /// A stranger changes our tag on a resource that we use, or adds one.
    StrangerTags = "stranger-tags",
    /// A stranger deletes a resource of ours and makes one of its name, with the dialect's mark.
    StrangerRecreates = "stranger-recreates",
    /// A stranger strips our resources of their marks between the read and this call: A2 fails.
    UnmarkedInFlight = "unmarked-in-flight",
    /// The call takes long, and meanwhile a stranger strips our resources of their marks.
    SlowAndUnmarked = "slow-and-unmarked",
    /// The answer of a read takes long, and meanwhile a stranger strips our resources.
    AnsweredThenUnmarked = "answered-then-unmarked",
    /// Between the look-up and this create, which overwrites, another management cluster makes the very
    /// same for this claim, and marks it.
    TakenInFlight = "taken-in-flight",
}

impl Fault {
    /// The bit of this fault in a [`Menu`].
    pub(crate) const fn bit(self) -> Menu {
        Menu(1 << self as u8)
    }

    /// Whether it is a stranger's deed.
    pub(crate) fn is_strangers(self) -> bool {
        self >= Self::StrangerCreates
    }
}

impl FromStr for Fault {
    type Err = anyhow::Error;

    fn from_str(word: &str) -> anyhow::Result<Self> {
        let found = Self::ALL.iter().copied().find(|fault| fault.word() == word);
        found.with_context(|| {
            let words: Vec<&str> = Self::ALL.iter().map(|fault| fault.word()).collect();
            format!("{word:?} is no fault; the faults are {}", words.join(", "))
        })
    }
}

/// A set of faults: what may happen at a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Menu(pub u64);

impl Menu {
    /// These faults.
    pub(crate) const fn of(faults: &[Fault]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < faults.len() {
            bits |= faults[at].bit().0;
            at += 1;
        }
        Self(bits)
    }

    /// Whether it offers this fault.
    pub(crate) const fn has(self, fault: Fault) -> bool {
        self.0 & fault.bit().0 != 0
    }

    /// What both offer.
    #[must_use]
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What either offers.
    #[must_use]
    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What this offers and the other does not.
    #[must_use]
    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The faults, in order.
    pub(crate) fn faults(self) -> impl Iterator<Item = Fault> {
        Fault::ALL
            .iter()
            .copied()
            .filter(move |fault| self.has(*fault))
    }

    /// How many there are.
    pub(crate) const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether there is none.
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The `n`th.
    pub(crate) fn nth(self, n: u32) -> Option<Fault> {
        self.faults().nth(n as usize)
    }
}

/// One choice of a schedule: this fault, at this point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Choice {
    /// The point, counted from the beginning of the run.
    pub point: u32,
    /// What happens there.
    pub fault: Fault,
}

/// A schedule: the choices, and for two writers whose turn it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Schedule {
    /// The choices, by point.
    pub choices: Vec<Choice>,
    /// Whose turn it is, call by call (`false`: the first writer's); beyond, they take turns by pass.
    pub turns: Vec<bool>,
}
