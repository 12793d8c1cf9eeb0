//! docs/performance.md.

use anyhow::Result;

use super::{Options, phases::Told};

pub(super) fn page(options: &Options, told: &Told) -> Result<String> {
    let _ = options;
    Ok(format!("{told:#?}"))
}
