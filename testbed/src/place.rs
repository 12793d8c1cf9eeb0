//! Where things of the test bed lie on this machine.

use std::path::{Path, PathBuf};

/// The root of the repository.
pub(crate) fn repository() -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.parent().unwrap_or(crate_folder).to_owned()
}

/// Where built programs and images are kept from run to run.
pub(crate) fn cache() -> PathBuf {
    std::env::var_os("LOOPBREAKER_TESTBED_CACHE").map_or_else(|| repository().join("target/testbed/bin"), PathBuf::from)
}
