//! How many crashes make a loop. *No client.*

/// How many crashes, how close together, make a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopRule {
    /// Crashes without progress in between; fewer than [`LoopRule::CRASHES_MIN`] count as that.
    pub crashes_min: u32,
    /// Seconds that may lie between two of them on average.
    pub window_seconds: u64,
}

impl LoopRule {
    /// One crash is chance, two can be the two ends of an upgrade (the old binary stops at the height, the new one is not
    /// there yet); the third is a pattern, and comes little more than a minute after the first.
    pub const CRASHES_MIN: u32 = 3;
    /// A node that dies less often than once an hour on average has other troubles than one that cannot start; a slow loop
    /// (half an hour of replay, then the panic) is still well within.
    pub const WINDOW_SECONDS: u64 = 3600;
}

impl Default for LoopRule {
    fn default() -> Self {
        Self { crashes_min: Self::CRASHES_MIN, window_seconds: Self::WINDOW_SECONDS }
    }
}
