//! What an SDK application keeps beside its trees. *Files, read-only.*
//!
//! In reading order: the commit, the root of application.db, then the companions: contract code, snapshots, the upgrade.

mod commit_info;

mod root;

mod blob;

mod wasm;

mod snapshots;

mod upgrade;

pub use commit_info::{CommitInfo, StoreInfo};
pub use root::Root;
pub(crate) use root::read_commit;
pub use snapshots::Snapshot;
pub(crate) use snapshots::check_snapshots;
pub use upgrade::UpgradeInfo;
pub(crate) use upgrade::upgrade_info;
pub use wasm::WasmReport;
pub(crate) use wasm::check_wasm;
