//! What is done about incidents: one writer, and the two controllers that ask it to write. *Client.*

mod act;
mod incidents;
mod policies;
mod situation;

pub use act::{ActError, Suspension, set_suspended};
pub(crate) use act::{Said, Writer};
pub(crate) use incidents::incidents;
pub(crate) use policies::policies;
