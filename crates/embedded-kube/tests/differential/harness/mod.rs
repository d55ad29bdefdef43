//! One case on two servers: scripts, transcripts, and their comparison.

mod compare;
mod fixtures;
mod kinds;
mod normal;
mod script;
mod servers;
mod watch;

pub(crate) use compare::{Difference, compare};
pub(crate) use kinds::merge;
pub(crate) use script::{ASK_EVERY, Answer, Script};
pub(crate) use servers::{Server, embedded, enabled, forgetful, guarded, read_with_kubectl, real};

use std::io::Write as _;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// Who asks the real servers at the moment.
static GUESTS: RwLock<()> = RwLock::new(());

/// Runs `case` on both servers and fails with every difference between their transcripts.
pub(crate) fn run<F: AsyncFn(&mut Script)>(case: F) {
    let _guest = beside_others();
    run_on(real, embedded, case);
}

/// The same where the embedded server asks who is there, as the real one does.
pub(crate) fn run_guarded<F: AsyncFn(&mut Script)>(case: F) {
    let _guest = beside_others();
    run_on(real, guarded, case);
}

/// The same for cases that compact the store.
pub(crate) fn run_forgetful<F: AsyncFn(&mut Script)>(case: F) {
    let _guest = beside_others();
    run_on(forgetful, embedded, case);
}

/// The same for a case that asks for so much that a real server which is busy with others as well
/// would run into its own time limit.
pub(crate) fn run_alone<F: AsyncFn(&mut Script)>(case: F) {
    let _only_guest = GUESTS.write().unwrap_or_else(PoisonError::into_inner);
    run_on(real, embedded, case);
}

/// To be held by whatever else asks a real server.
pub(crate) fn beside_others() -> RwLockReadGuard<'static, ()> {
    GUESTS.read().unwrap_or_else(PoisonError::into_inner)
}

fn run_on<F: AsyncFn(&mut Script)>(
    real: impl AsyncFn() -> Server,
    embedded: impl AsyncFn() -> Server,
    case: F,
) {
    let name = case_name::<F>();
    if !enabled(&name) {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let mut on_real = Script::new(real().await, &name).await;
        case(&mut on_real).await;
        if std::env::var_os("FREEHOLD_DIFFERENTIAL_PRINT").is_some() {
            say(&format!("== {name}\n{}", on_real.transcript()));
        }
        let mut on_embedded = Script::new(embedded().await, &name).await;
        case(&mut on_embedded).await;
        let differences = compare(on_real.transcript(), on_embedded.transcript());
        let text: String = differences.iter().map(ToString::to_string).collect();
        assert!(differences.is_empty(), "{name}: the servers differ\n{text}");
    });
}

/// Writes past the test harness, which hides what a passing test prints.
pub(crate) fn say(line: &str) {
    writeln!(std::io::stderr(), "{line}").expect("standard error is open");
}

/// `cases::patch::merge_removes_null` of the closure in that test.
fn case_name<F>() -> String {
    let path = std::any::type_name::<F>();
    let path = path.trim_end_matches("::{{closure}}");
    let mut parts: Vec<&str> = path.rsplit("::").take(2).collect();
    parts.reverse();
    parts.join("-").replace('_', "-")
}
