//! The line: calls that were sent and have not got to the cloud yet. A writer sends several at once; which
//! of them gets there first is a choice.

use ownership::kind::{Kind, Naming};
use ownership::{Place, Step, Target, Text};

use crate::fault::Fault;
use crate::laws::Law;
use crate::world::World;

/// The calls in line.
#[derive(Default)]
pub(crate) struct Line {
    waiting: Vec<Waiting>,
    /// How many have ever stood in it.
    so_far: u64,
    /// Which of them gets there next.
    next: Option<u64>,
    /// The writer that is being polled.
    pub writer: usize,
}

struct Waiting {
    place: u64,
    writer: usize,
    aim: Option<Aim>,
}

/// What a Step works on: no other may do so at the same time.
pub(crate) struct Aim {
    targets: Vec<Target>,
    /// What a create makes, where its name is unique.
    name: Option<(&'static Kind, Place, Text)>,
}

impl Aim {
    /// What this Step works on.
    pub(crate) fn of(step: &Step) -> Self {
        let name = match step {
            Step::Create(create) if create.kind.naming != Naming::Free => {
                Some((create.kind, create.place.clone(), create.name.clone()))
            }
            _ => None,
        };
        Self {
            targets: step.targets().to_vec(),
            name,
        }
    }

    /// What both work on, in words.
    fn shared_with(&self, other: &Self) -> Option<String> {
        let mut targets = self.targets.iter();
        let target = targets.find(|it| other.targets.contains(it));
        let name = self.name.as_ref().filter(|_| self.name == other.name);
        let named = name.map(|(kind, _, name)| format!("{kind} {name}"));
        target.map(ToString::to_string).or(named)
    }
}

impl World<'_> {
    /// A call of the writer that is being polled is on its way; its place in the line.
    pub(crate) fn line_up(&mut self, aim: Option<Aim>) -> u64 {
        self.moves += 1;
        let writer = self.line.writer;
        let beside = self.line.waiting.iter().filter(|it| it.writer == writer);
        let mut others = beside.filter_map(|it| it.aim.as_ref());
        let shared = aim
            .as_ref()
            .and_then(|aim| others.find_map(|other| aim.shared_with(other)));
        if let Some(what) = shared {
            self.breaks(Law::NoTheft, format!("two Steps at once on {what}"));
        }
        self.line.so_far += 1;
        let place = self.line.so_far;
        self.line.waiting.push(Waiting { place, writer, aim });
        place
    }

    /// A writer is about to be polled. Of its calls the first gets there next, or, by choice, the last.
    pub(crate) fn call_up(&mut self, writer: usize) {
        self.line.writer = writer;
        let waiting = self.line.waiting.iter();
        let mine: Vec<u64> = waiting
            .filter(|it| it.writer == writer)
            .map(|it| it.place)
            .collect();
        self.line.next = match mine.as_slice() {
            [] => None,
            [only] => Some(*only),
            [first, .., last] => {
                let fault = self.choose(Fault::LastFirst.bit());
                let calls = mine.len();
                self.note(|| format!("{calls} calls are on their way"), fault);
                Some(if fault.is_some() { *last } else { *first })
            }
        };
    }

    /// Whether a call gets there now.
    pub(crate) fn is_next(&self, place: u64) -> bool {
        self.line.next == Some(place)
    }

    /// A call has got there, or was given up.
    pub(crate) fn leave_line(&mut self, place: u64) {
        self.moves += 1;
        self.line.waiting.retain(|it| it.place != place);
        if self.line.next == Some(place) {
            self.line.next = None;
        }
    }
}
