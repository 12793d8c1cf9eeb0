//! From the bytes of a node's log to a witness, in four steps: records → phrases and masked words → score → decision. *No IO.*

mod reading;

mod record;

pub mod mask;

pub mod phrases;

pub mod features;

pub mod databases;

pub mod digest;

pub mod model;

pub mod witness;

pub use reading::{LogReader, ReadingSummary};
pub use record::{Emitter, Level, Record};
