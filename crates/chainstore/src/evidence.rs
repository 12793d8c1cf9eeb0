//! Who saw a finding: the disk of today, or the guard before a start. *No files.*

/// Where a finding is to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Evidence {
    /// On disk, now.
    #[default]
    Disk,
    /// In the ring alone: `guard` saw it before a start, and the engine erased its trace.
    Guard,
}

impl Evidence {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Guard => "guard",
        }
    }
}
