//! Every request that the API server got, in order. *No client.* (P1: "nothing else was written" is read from here)

use std::fmt;

use jiff::Timestamp;
use serde_json::Value;

use crate::server::{Call, Verb};

/// One request and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its place among all requests, from 0.
    pub index: u64,
    /// Its place among the requests of the same user, from 0: what a fault plan counts.
    pub nth: u64,
    /// When it took effect, or was answered without one.
    pub at: Timestamp,
    /// Who asked.
    pub user: String,
    /// The field manager that it named, or nothing.
    pub manager: String,
    /// What was to be done.
    pub verb: Verb,
    /// `pods`, `pods/log`, `recoveries.loopbreaker.dev/status`.
    pub place: String,
    /// In which namespace, or nothing.
    pub namespace: String,
    /// To which object, or nothing.
    pub name: String,
    /// A digest of the body (FNV-1a of its JSON); 0 without one.
    pub digest: u64,
    /// Whether it was a rehearsal that keeps nothing.
    pub dry_run: bool,
    /// The HTTP status that the client saw; 0 where it saw none.
    pub code: u16,
    /// Whether the store was asked to do it, whatever the client saw.
    pub effect: bool,
    /// The fault that hit it, or nothing.
    pub fault: Option<&'static str>,
}

impl Entry {
    /// Whether it changed anything, or would have but for a refusal.
    #[must_use]
    pub fn is_write(&self) -> bool {
        self.verb.writes() && !self.dry_run
    }

    /// Whether it did change something.
    #[must_use]
    pub fn has_written(&self) -> bool {
        self.is_write() && self.effect
    }

    pub(crate) fn new(index: u64, nth: u64, at: Timestamp, user: &str, call: &Call) -> Self {
        let body = if call.body.is_null() { 0 } else { digest(&call.body) };
        Self {
            index,
            nth,
            at,
            user: user.to_owned(),
            manager: call.option("fieldManager").to_owned(),
            verb: call.verb,
            place: call.place(),
            namespace: call.namespace.clone().unwrap_or_default(),
            name: call.name.clone().unwrap_or_else(|| crate::object::Fields::name(&call.body).to_owned()),
            digest: body,
            dry_run: call.is_dry_run(),
            code: 0,
            effect: false,
            fault: None,
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, at, user, verb, place, namespace, name, digest, code, .. } = self;
        write!(f, "{index} {at} {user} {verb} {place} {namespace}/{name} {digest:016x} {code}")?;
        if self.dry_run {
            f.write_str(" dry-run")?;
        }
        self.fault.map_or(Ok(()), |fault| write!(f, " ({fault})"))
    }
}

fn digest(body: &Value) -> u64 {
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    body.to_string().bytes().fold(0xcbf2_9ce4_8422_2325, fold)
}
