//! What is done about incidents: one writer, and the two controllers that ask it to write. *Client.*

mod act;
mod desk;
mod evidence;
mod incidents;
mod inspection;
mod limits;
mod make;
mod policies;
mod policy_conditions;
mod situation;
mod steps;

pub use act::{ActError, Suspension, set_suspended};
pub(crate) use act::{OWNED, Said, Writer, category, code};
pub(crate) use desk::{Desk, Leading, Seen};
pub(crate) use incidents::incidents;
pub(crate) use policies::policies;
