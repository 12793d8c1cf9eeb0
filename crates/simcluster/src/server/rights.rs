//! Who may do what: everybody everything, but for what a story takes away. *No client.*

use std::collections::BTreeSet;

use super::{call::Call, refusal::Refusal};

/// Rights that are missing.
#[derive(Debug, Default)]
pub(crate) struct Rights {
    /// User, verb, place.
    denied: BTreeSet<(String, String, String)>,
}

impl Rights {
    /// Takes a right away: `get` on `pods/log`; `*` is every verb.
    pub(crate) fn deny(&mut self, user: &str, verb: &str, place: &str) {
        self.denied.insert((user.to_owned(), verb.to_owned(), place.to_owned()));
    }

    /// Gives it back.
    pub(crate) fn restore(&mut self, user: &str, verb: &str, place: &str) {
        self.denied.remove(&(user.to_owned(), verb.to_owned(), place.to_owned()));
    }

    /// Refuses what is denied.
    pub(crate) fn check(&self, user: &str, call: &Call) -> Result<(), Refusal> {
        let place = call.place();
        let denied = |verb: &str| self.denied.contains(&(user.to_owned(), verb.to_owned(), place.clone()));
        if !self.denied.is_empty() && (denied(call.verb.as_str()) || denied("*")) {
            let name = call.name.as_deref().unwrap_or_default();
            return Err(Refusal::no_right(user, call.verb.as_str(), &place, name, call.namespace.as_deref()));
        }
        Ok(())
    }
}
