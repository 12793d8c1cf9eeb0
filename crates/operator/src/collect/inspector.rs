//! The inspector: a Job that reads a replica's volume, and what it reports. *No client, but for the reading of its end.*

mod job;
mod outcome;
mod place;
mod report;

pub(crate) use job::{AskedDepth, InspectRequest, Machine, inspector_job, our_metadata};
pub(crate) use outcome::JobOutcome;
pub(crate) use place::{CannotInspect, can_inspect_in_place};
pub use report::{InspectionReport, NotAReport, read_inspection};
