//! What an incident looks like: as JSON for scripts, as text for people. *No client.*

mod crash_loop;
mod evidence_text;
pub(crate) mod json;
mod page;
mod parts;
pub(crate) mod text;
mod why;
