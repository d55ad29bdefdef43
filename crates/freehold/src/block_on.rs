//! Runs a future where nothing waits: a simulated cloud answers at once.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Polls until it is ready. A future that waits for the outside world would keep the processor busy;
/// those get a runtime.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}
