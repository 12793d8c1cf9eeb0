//! Writes that an engine would drop, put back to count what is lost. *No files.*

use crate::{CutError, Reason};

/// Why putting back the writes of a salvaged record ends early. It is not asked which: a record that does not decode adds
/// nothing, since what is counted is "at least".
pub(crate) struct Stop;

impl From<CutError> for Stop {
    fn from(_: CutError) -> Self {
        Self
    }
}

impl From<Reason> for Stop {
    fn from(_: Reason) -> Self {
        Self
    }
}
