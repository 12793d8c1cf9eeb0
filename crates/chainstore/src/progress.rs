//! What a long inspection tells its caller, and how the caller stops it. *No files.*

/// Watches an inspection. Called from several threads.
pub trait Progress: Send + Sync {
    /// This many more bytes are going to be read.
    fn expect(&self, bytes: u64) {
        let _ = bytes;
    }

    /// This many have been read.
    fn done(&self, bytes: u64) {
        let _ = bytes;
    }

    /// Whether to stop now and report what is known so far.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Watches nothing and never stops.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {}
