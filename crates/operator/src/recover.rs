//! What is done about incidents: one writer, and the two controllers that ask it to write. *Client.*

mod act;
mod act_error;
mod desk;
mod evidence;
mod incidents;
mod inspection;
mod limits;
mod make;
mod policies;
mod policy_conditions;
mod said;
mod situation;
mod steps;

pub(crate) use act::{OWNED, Writer};
pub use act::{Suspension, set_suspended};
pub use act_error::ActError;
pub(crate) use act_error::{category, code};
pub(crate) use desk::{Desk, Leading, Seen};
pub(crate) use incidents::incidents;
pub(crate) use policies::policies;
pub(crate) use said::Said;
