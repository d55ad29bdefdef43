//! Generated request sequences, the same on both servers, shrunk where they differ.
//!
//! `FREEHOLD_SEED` and `FREEHOLD_SEQUENCES` choose others than the usual ones; a failure prints the
//! seed, the number of the sequence and the shortest sequence that still differs.

mod generate;
mod operation;
mod shrink;

use std::fmt::Write as _;

use futures_util::StreamExt as _;

use crate::harness::{Difference, Script, Server, compare, embedded, enabled, real, say};
use operation::{Memory, Operation};

/// How many sequences are in flight at a time: the real server answers some 500 requests a second on
/// two cores, however many ask.
const AT_A_TIME: usize = 16;

/// Differing sequences that are shrunk and shown; more would only repeat them.
const SHOWN: usize = 5;

#[test]
fn generated() {
    if !enabled("generated sequences") {
        return;
    }
    let seed = number("FREEHOLD_SEED", 1);
    let count = number("FREEHOLD_SEQUENCES", 1_000);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let real = real().await;
        let differing: Vec<u64> = futures_util::stream::iter(0..count)
            .map(|index| {
                let real = &real;
                async move {
                    let operations = generate::sequence(seed, index);
                    let name = format!("sequence-{seed}-{index}");
                    let differences = run(real, &name, &operations).await;
                    (!differences.is_empty()).then_some(index)
                }
            })
            .buffer_unordered(AT_A_TIME)
            .filter_map(async |found| found)
            .collect()
            .await;
        let mut text = String::new();
        for index in differing.iter().take(SHOWN) {
            text += &explain(&real, seed, *index).await;
        }
        say(&format!(
            "{count} generated sequences of seed {seed}: {} differ",
            differing.len()
        ));
        assert!(
            differing.is_empty(),
            "{} of {count} sequences differ\n{text}",
            differing.len()
        );
    });
}

/// Runs a sequence on both servers, each in a namespace of its own of this name.
async fn run(real: &Server, name: &str, operations: &[Operation]) -> Vec<Difference> {
    let on_real = perform(Script::new(real.clone(), name).await, operations);
    let on_embedded = perform(Script::new(embedded().await, name).await, operations);
    let (on_real, on_embedded) = futures_util::join!(on_real, on_embedded);
    compare(on_real.transcript(), on_embedded.transcript())
}

async fn perform(mut script: Script, operations: &[Operation]) -> Script {
    let mut memory = Memory::start(&script).await;
    for operation in operations {
        operation.perform(&mut script, &mut memory).await;
    }
    memory.streams(&mut script).await;
    script
}

async fn explain(real: &Server, seed: u64, index: u64) -> String {
    let mut attempt = 0;
    let operations = shrink::shrink(generate::sequence(seed, index), async |operations| {
        attempt += 1;
        let name = format!("shrink-{seed}-{index}-{attempt}");
        !run(real, &name, operations).await.is_empty()
    })
    .await;
    let differences = run(real, &format!("shrunk-{seed}-{index}"), &operations).await;
    let mut text = format!("sequence {index} of FREEHOLD_SEED={seed}, shrunk:\n");
    for operation in &operations {
        let _ = writeln!(text, "  {operation}");
    }
    for difference in differences {
        let _ = write!(text, "{difference}");
    }
    text
}

fn number(variable: &str, usual: u64) -> u64 {
    match std::env::var(variable) {
        Ok(value) => value
            .parse()
            .unwrap_or_else(|_| panic!("{variable} must be a number")),
        Err(_) => usual,
    }
}
