//! From the bytes of a node's log to a witness, in four steps: records → phrases and masked words → score → decision. *No IO.*
//!
//! [`Examiner`] takes the bytes of one log in pieces of any size and bounded memory, and gives a [`Finding`].

mod reading;

mod record;

pub mod mask;

mod names;

pub mod phrases;

pub mod features;

mod databases;

mod surroundings;

pub mod digest;

pub mod model;

mod testimony;

mod witness;

pub mod explain;

pub mod nearest;

mod examined;

mod together;

pub use examined::{ExaminedLog, LogExamination};
pub use reading::{LogReader, ReadingSummary};
pub use record::{Emitter, Level, Record};
pub use surroundings::Surroundings;
pub use testimony::NoTestimony;
pub use together::{Chosen, FileOpinion, LogPart, lines, read};
pub use witness::{Examiner, Finding};
