//! Runs a simulated story on entropy from a seed, so that it repeats itself. *For tests only: the one place with unsafe code.*
//!
//! Hash maps of std and ahash and `tokio::select!` seed themselves from libc's `getrandom`. Here it is defined anew, for the
//! whole program that this crate is linked into, and gives what the seed of the thread says; std counts its keys up from map
//! to map, so each story gets a thread of its own. A product would lose its TLS keys by that: no product depends on it
//! (`cargo xtask tidy`).
#![expect(unsafe_code, reason = "libc's getrandom is defined here, for tests, so that hash maps and select! repeat")]

use std::{cell::Cell, future::Future, thread};

thread_local! {
    /// The state of this thread's entropy.
    static ENTROPY: Cell<u64> = const { Cell::new(0) };
}

/// What std's hash maps, ahash and `tokio::select!` seed themselves from.
///
/// # Safety
///
/// As libc's: `buffer` must be valid for `length` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(buffer: *mut u8, length: usize, _flags: u32) -> isize {
    for at in 0..length {
        let next = ENTROPY.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
        ENTROPY.set(next);
        let mixed = (next ^ (next >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let [first, ..] = mixed.to_be_bytes();
        // SAFETY: the caller gives `length` bytes.
        unsafe { buffer.add(at).write(first) };
    }
    isize::try_from(length).unwrap_or(isize::MAX)
}

/// Runs a story in a fresh thread whose entropy comes from `entropy`.
///
/// # Panics
///
/// Where the story does, and where the operating system gives no thread or runtime.
pub fn case<T, F>(entropy: u64, story: impl FnOnce() -> F + Send + 'static) -> T
where
    F: Future<Output = T>,
    T: Send + 'static,
{
    let thread = thread::spawn(move || {
        ENTROPY.set(entropy);
        simcluster::simulate(story())
    });
    match thread.join() {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => std::panic::resume_unwind(Box::new(error.to_string())),
        // The story's own panic goes on where the test can see it.
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
