//! Collects the evidence about a replica. *Client, reads only.* (P13, P14)
//!
//! Whatever cannot be got is a sentence in the record that says why, never an error that ends the collecting, and never a
//! value that counts.

mod around;
mod assemble;
mod bundle;
mod guard_words;
mod inspector;
mod logs;
mod redact;
mod rpc;
mod snapshot;

use kube::Client;

use crate::Clock;

pub(crate) use around::Around;
pub(crate) use assemble::{DiskFound, Parts, assemble};
pub use bundle::{Asking, BundleLog, BundleOf, CollectedBundle, collect_bundle};
pub use guard_words::guard_words;
pub(crate) use inspector::{
    AskedDepth, CannotInspect, InspectRequest, JobOutcome, Machine, can_inspect_in_place, inspector_job,
};
pub use inspector::{InspectionReport, NotAReport, read_inspection};
use logs::is_the_kubelets_own;
pub(crate) use logs::{LogOf, ReadLog};
pub use redact::redact;
pub use rpc::{HttpRpc, Rpc, RpcAddress, RpcFailure, status_of};
pub(crate) use snapshot::{forensic_claim, forensic_snapshot, snapshot_error, snapshot_is_ready};

/// Reads what is needed about one replica.
#[derive(Clone)]
pub(crate) struct Collector {
    client: Client,
    clock: Clock,
}

impl Collector {
    pub(crate) fn new(client: Client, clock: Clock) -> Self {
        Self { client, clock }
    }
}

/// Why a request failed, in words that name the right where it is missing.
pub(crate) fn in_words(verb: &str, what: &str, error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) if status.code == 403 => {
            format!("may not {verb} {what} (grant {verb} on it to the operator's service account)")
        }
        kube::Error::Api(status) if status.code == 404 => format!("{what} is not there"),
        kube::Error::Api(status) => format!("{what}: the API server says {} {}", status.code, status.message),
        other => format!("{what}: {other}"),
    }
}
