//! What an incident looks like: as JSON for scripts, as text for people. *No client.*

pub(crate) mod figures;
pub(crate) mod inspection_json;
pub(crate) mod inspection_text;
pub(crate) mod json;
pub(crate) mod page;
pub(crate) mod status_json;
pub(crate) mod status_text;
pub(crate) mod text;
