//! Room for deep documents.
//!
//! The real server takes 10,000 levels. Trees of values are read, copied, compared, written and
//! dropped by recursion, much of it in `serde_json`, so an explicit stack in our own code would not
//! be enough: what is deep is done on a stack that was made for it, on the same thread, so that
//! clocks and random sources that belong to the thread stay in force. No tree outlives its request
//! (what is stored is bytes), except the compiled schemas, which are dropped here as well.

/// How deep a document may nest.
pub(crate) const MAX_DEPTH: usize = 10_000;

/// Any stack has room for this much: manifests and schemas nest less.
pub(crate) const SHALLOW: usize = 100;

/// What one level may take on the stack: several times what the hungriest recursion of a build
/// without optimisation was measured to take. Pages that are not touched cost nothing.
const PER_LEVEL: usize = 16 * 1024;

/// Does work on trees of at most `depth` levels.
pub(crate) fn with_room<T>(depth: usize, work: impl FnOnce() -> T) -> T {
    if depth <= SHALLOW {
        return work();
    }
    stacker::grow(depth.min(MAX_DEPTH).saturating_mul(PER_LEVEL), work)
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
