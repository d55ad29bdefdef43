//! The random source of the process, pinned to a seed.
//!
//! Hash maps, tokio's scheduler and random number generators all draw their seeds from the C
//! library's `getrandom`. A test that links this crate replaces that function: on a thread that
//! [`run`] started it answers from the seed, everywhere else from the kernel. So everything that
//! happens on that thread happens again with the same seed, and otherwise with another.
//!
//! # Assumptions
//! - The work stays on its thread: a `current_thread` runtime, no blocking pool, no TLS.
//! - Time is virtual: tokio's clock is paused.

use std::cell::Cell;

use libc::{c_uint, c_void, size_t, ssize_t};

thread_local! {
    /// The state of the generator; none where the kernel answers.
    static STATE: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Runs `work` on a thread of its own whose randomness comes from `seed`.
///
/// # Errors
/// A panic of `work` goes on in the caller.
pub fn run<T: Send + 'static>(seed: u64, work: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::spawn(move || {
        STATE.set(Some(seed));
        // The jitter of backoffs, whose generator would take the time and the thread for a seed.
        fastrand::seed(seed);
        work()
    });
    match thread.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// The next 64 bits of a pinned thread (`SplitMix64`).
fn next(state: u64) -> (u64, u64) {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (state, z ^ (z >> 31))
}

/// Replaces the function of the C library.
///
/// # Safety
/// As the original: `buffer` must be valid for writes of `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getrandom(buffer: *mut c_void, length: size_t, flags: c_uint) -> ssize_t {
    // A thread that is ending has no state any more: the kernel answers.
    let Ok(Some(mut state)) = STATE.try_with(Cell::get) else {
        // SAFETY: the caller's guarantee about `buffer` is passed on to the kernel as it is.
        let written = unsafe { libc::syscall(libc::SYS_getrandom, buffer, length, flags) };
        return ssize_t::try_from(written).unwrap_or(-1);
    };
    // SAFETY: the caller guarantees that these bytes are ours to write.
    let bytes = unsafe { std::slice::from_raw_parts_mut(buffer.cast::<u8>(), length) };
    for chunk in bytes.chunks_mut(8) {
        let (after, random) = next(state);
        state = after;
        chunk.copy_from_slice(&random.to_le_bytes()[..chunk.len()]);
    }
    STATE.set(Some(state));
    ssize_t::try_from(length).unwrap_or(ssize_t::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    /// The order in which a hash map gives its keys: random unless it is pinned.
    fn order() -> Vec<u32> {
        let map: HashMap<u32, u32> = (0..64).map(|key| (key, key)).collect();
        map.into_keys().collect()
    }

    #[test]
    fn a_seed_repeats_itself() {
        let first = super::run(7, order);
        assert_eq!(first, super::run(7, order));
        assert_ne!(first, super::run(8, order));
    }

    #[test]
    fn other_threads_are_random() {
        let run = || std::thread::spawn(order).join().unwrap();
        assert_ne!(run(), run());
    }
}
