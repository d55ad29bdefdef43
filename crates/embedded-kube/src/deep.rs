//! Room for deep documents.
//!
//! The real server takes 10,000 levels. Trees of values are read, copied, compared, written and
//! dropped by recursion, much of it in `serde_json`, so an explicit stack in our own code would not
//! be enough: what is deep is done on a stack that was made for it, on the same thread, so that
//! clocks and random sources that belong to the thread stay in force. No tree outlives its request
//! (what is stored is bytes), except the compiled schemas, which are dropped here as well.

use std::cell::Cell;

/// How deep a document may nest.
pub(crate) const MAX_DEPTH: usize = 10_000;

/// Any stack has room for this much: manifests and schemas nest less.
pub(crate) const SHALLOW: usize = 100;

/// What one level may take on the stack: several times what the hungriest recursion of a build
/// without optimisation was measured to take. Pages that are not touched cost nothing.
const PER_LEVEL: usize = 16 * 1024;

/// With so much left for each level no new stack is made: half of what one would have.
const ENOUGH: usize = PER_LEVEL / 2;

thread_local! {
    /// For how many levels there is room, because somebody further up has asked for it.
    static GRANTED: Cell<usize> = const { Cell::new(0) };
}

/// Sets back on leaving what was granted, also if the work does not end well.
struct Granted(usize);

impl Drop for Granted {
    fn drop(&mut self) {
        GRANTED.set(self.0);
    }
}

/// Does work on trees of at most `depth` levels.
pub(crate) fn with_room<T>(depth: usize, work: impl FnOnce() -> T) -> T {
    let depth = depth.min(MAX_DEPTH);
    let before = GRANTED.get();
    GRANTED.set(before.max(depth));
    let _granted = Granted(before);
    on_stack(depth, work)
}

/// Does work of `depth` levels on trees that there is room for already, and that it may make a
/// little deeper: it has room for both.
pub(crate) fn with_more<T>(depth: usize, work: impl FnOnce() -> T) -> T {
    let levels = GRANTED.get() + SHALLOW + depth.min(MAX_DEPTH);
    on_stack(levels, work)
}

/// A new stack is made only if this one has less than is needed, so that it is never the smaller.
fn on_stack<T>(levels: usize, work: impl FnOnce() -> T) -> T {
    let suffices = |left: usize| left >= levels.saturating_mul(ENOUGH);
    if stacker::remaining_stack().map_or(levels <= SHALLOW, suffices) {
        return work();
    }
    stacker::grow(levels.max(SHALLOW).saturating_mul(PER_LEVEL), work)
}

/// How deep a JSON text nests, never less than a reader would find in it.
pub(crate) fn of(text: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => {
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'"' => break,
                        b'\\' => drop(bytes.next()),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    deepest
}

/// How deep a YAML text nests, never less than a reader would find in it: each level needs a bracket
/// or moves what is in it to the right, by at least one column for two levels, or is said elsewhere.
pub(crate) fn of_yaml(text: &[u8]) -> usize {
    if text.contains(&b'*') {
        return MAX_DEPTH;
    }
    let lines = text.split(|byte| matches!(byte, b'\n' | b'\r'));
    let columns = lines.map(|line| {
        let begins = |byte: &u8| !matches!(byte, b' ' | b'\t' | b'-' | b'?' | b':');
        line.iter().position(begins).unwrap_or(line.len())
    });
    of(text).saturating_add(2 * columns.max().unwrap_or(0) + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_within_room_is_not_less() {
        let left = || stacker::remaining_stack().unwrap_or(0);
        with_room(9_000, || {
            let had = left();
            assert!(had >= 8_999 * PER_LEVEL);
            // What the calls between take is little.
            let slack = 64 * 1024;
            with_room(SHALLOW + 1, || assert!(left() + slack >= had));
            with_more(SHALLOW + 1, || assert!(left() + slack >= had));
            with_more(9_000, || assert!(left() >= 18_000 * PER_LEVEL));
        });
        with_more(1, || assert!(left() < 9_000 * PER_LEVEL));
    }

    #[test]
    fn levels_are_counted_outside_of_texts() {
        for (text, depth) in [
            ("1", 0),
            ("[]", 1),
            (r#"{"a":[{}],"b":{}}"#, 3),
            (r#"["[[[[",{"}}\"]]":[]}]"#, 3),
            ("[[[", 3),
            ("]]][", 1),
        ] {
            assert_eq!(of(text.as_bytes()), depth, "{text}");
        }
    }
}
