//! Makes a differing sequence shorter while it still differs.

use super::operation::Operation;

/// Tries at most this many shorter sequences.
const TRIES: usize = 150;

/// Takes operations out, first many at a time, then one, as long as `differs` says so.
pub(crate) async fn shrink(
    mut operations: Vec<Operation>,
    mut differs: impl AsyncFnMut(&[Operation]) -> bool,
) -> Vec<Operation> {
    let mut tries = 0;
    let mut size = operations.len().div_ceil(2);
    while size > 0 {
        let mut start = 0;
        let mut shorter = false;
        while start < operations.len() && tries < TRIES {
            let mut candidate = operations.clone();
            candidate.drain(start..(start + size).min(operations.len()));
            tries += 1;
            if !candidate.is_empty() && differs(&candidate).await {
                operations = candidate;
                shorter = true;
            } else {
                start += size;
            }
        }
        // What could not go before may go now that others are gone.
        if !(shorter && size == 1 && tries < TRIES) {
            size /= 2;
        }
    }
    operations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_what_matters_is_left() {
        let get = |name: usize| Operation::Get {
            path: format!("configmaps/{name}"),
        };
        let all: Vec<Operation> = (0..20).map(get).collect();
        let has = |operations: &[Operation], name: usize| {
            operations
                .iter()
                .any(|one| one.to_string() == get(name).to_string())
        };
        let left = shrink(all, async |operations| {
            has(operations, 3) && has(operations, 17)
        })
        .await;
        let left: Vec<String> = left.iter().map(ToString::to_string).collect();
        assert_eq!(left, [get(3).to_string(), get(17).to_string()]);
    }
}
