//! Does today's directory go on from the state that an entry describes? *Files, read-only.*
//!
//! Three answers: it does, it was replaced meanwhile, or nobody can tell. Only the first makes old evidence count. Proof
//! is the engine's own LOG going on where it stood, or files of then that are still the same files (`identity`), with
//! nothing copied in beside them. File numbers alone prove only the opposite: an engine never goes back.

use crate::files::{DataDir, FileEntry};
use crate::ring::facts::{self, DatabaseFacts};
use crate::ring::identity;
use crate::ring::open_log::{self, Since};

/// Newest files that are looked at for having been copied in.
const LOOKED_AT: usize = 64;

/// A database directory as it is now.
pub(crate) struct Today<'d> {
    pub(crate) dir: &'d DataDir,
    pub(crate) entries: &'d [FileEntry],
    pub(crate) facts: &'d DatabaseFacts,
}

impl Today<'_> {
    /// Whether a name is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.name.to_str() == Some(name))
    }
}

/// How today's directory hangs together with one of then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Link {
    /// The engine's LOG goes on from then; this is what comes next.
    Log(Since),
    /// Files of then are still there, and nothing was put beside them.
    Files,
    /// It is other data; says why.
    Replaced(&'static str),
    /// Neither is proven; says why.
    Unclear(&'static str),
}

/// Compares. `ring_stayed`: the entry's directory is the one that the guard made, no copy of it.
pub(crate) fn link(before: &DatabaseFacts, today: &Today<'_>, ring_stayed: bool) -> Link {
    let now = today.facts;
    if before.engine.is_some() && now.engine.is_some() && before.engine != now.engine {
        return Link::Replaced("it is another engine's data now");
    }
    if let (Some(then), Some(today)) = (manifest_number(before), manifest_number(now))
        && today < then
    {
        return Link::Replaced("its file numbers went back, as no engine makes them");
    }
    let is_goleveldb = before.engine.as_deref() == Some(crate::Engine::GoLevelDb.name());
    let mark = before.log.as_ref().filter(|_| is_goleveldb);
    let since = mark.and_then(|mark| mark.since(today.dir)).map(|text| open_log::read(&text));
    let ran_on = since == Some(Since::RanOn);
    if let Some(since) = since.filter(|_| !ran_on) {
        return Link::Log(since);
    }
    let seen = |name: &str| identity::look(today.dir, name.as_ref());
    let same = |anchor: &&facts::Anchor| seen(&anchor.file).is_some_and(|it| it.identity.is_same(&anchor.identity));
    if before.anchors.iter().any(|anchor| same(&anchor)) {
        return if ran_on {
            Link::Unclear("the engine was at work already when it was seen")
        } else if has_copies(before, today) {
            Link::Unclear("files were copied into it since")
        } else {
            Link::Files
        };
    }
    let births = before.anchors.iter().any(|anchor| anchor.identity.born.is_some());
    if ring_stayed && births {
        return Link::Replaced("none of its files of then is there any more");
    }
    Link::Unclear("a copy does not show whether it goes on from then")
}

/// Whether files that came since were copied in, old times and all.
fn has_copies(before: &DatabaseFacts, today: &Today<'_>) -> bool {
    let newer =
        today.entries.iter().rev().filter(|entry| {
            entry.name.to_str().and_then(facts::number_of).is_some_and(|number| number > before.largest)
        });
    newer.take(LOOKED_AT).any(|entry| identity::look(today.dir, &entry.name).is_some_and(|seen| seen.is_copied_in()))
}

/// The number of the MANIFEST that the entry point names.
pub(crate) fn manifest_number(facts: &DatabaseFacts) -> Option<u64> {
    facts.pointer.as_deref().and_then(facts::number_of)
}
