//! Other people's kinds, as far as we read them. *No client.*
//!
//! Every field is optional and unknown ones are passed over: another version of these kinds costs a fact, never a watch.
//! They are never written as whole objects, so nothing that is not named here can be lost.

pub(crate) mod cosmos_full_node;
pub(crate) mod scheduled_volume_snapshot;
pub(crate) mod volume_snapshot;
