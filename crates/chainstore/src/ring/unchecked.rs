//! What became of a finding where nothing was checked: a guard that is ended early passes on what was known, and must not
//! take for mended what it did not read. *Files, read-only.*
//!
//! What nobody has touched since the entry is as it was. What an engine's open did can be told without a check. All the
//! rest is a doubt: the file may have been put right by hand, and nobody looked.

use crate::FindingKind;
use crate::ring::entry::RingFinding;
use crate::ring::facts::DatabaseFacts;
use crate::ring::fate::{self, Fate, Looked};
use crate::ring::identity;
use crate::ring::link::{Link, Today};
use crate::ring::open_log::Since;

/// Seconds and nanoseconds at which the entry was begun; its checks came later.
pub(crate) type Moment = (i64, u32);

const NOT_CHECKED: Fate = Fate::Doubtful("a start in between was not checked");

/// Judges one finding of a kind that can be erased, without a check of today's files.
pub(crate) fn fate(
    kind: FindingKind,
    finding: &RingFinding,
    before: &DatabaseFacts,
    today: &Today<'_>,
    link: &Link,
    since: Option<Moment>,
) -> Fate {
    let opened = match link {
        Link::Replaced(why) => return Fate::Gone(why),
        Link::Unclear(why) => return Fate::Doubtful(why),
        Link::Log(since) => matches!(since, Since::Opened(_)),
        Link::Files => fate::was_opened(before, today),
    };
    if kind == FindingKind::EngineDroppedData || is_untouched(today, since) {
        return Fate::Unread;
    }
    let name = finding.file_name();
    let is_named = today.facts.pointer.as_deref() == Some(name);
    if fate::is_of_pointer(kind) {
        if today.facts.pointer == before.pointer {
            return NOT_CHECKED;
        }
    } else if today.has(name) && (is_named || !fate::is_of_manifest(kind)) {
        // Which records are missing is not in the file after which they are.
        let tells_by_itself = kind != FindingKind::RecordsMissing;
        return if tells_by_itself && is_unaltered(today, name.as_ref(), since) { Fate::Unread } else { NOT_CHECKED };
    }
    if opened { fate::fate(kind, finding, before, today, link, Looked::NotAtAll) } else { NOT_CHECKED }
}

/// Whether every file that holds data, or names one, is as it was. What engines write when they cannot open does not count.
fn is_untouched(today: &Today<'_>, since: Option<Moment>) -> bool {
    let counts = |name: &std::ffi::OsStr| !name.to_string_lossy().starts_with("LO");
    let mut files = today.entries.iter().filter(|entry| counts(&entry.name));
    files.all(|entry| is_unaltered(today, &entry.name, since))
}

/// The kernel notes each change of an inode, and no tool sets that time back.
fn is_unaltered(today: &Today<'_>, name: &std::ffi::OsStr, since: Option<Moment>) -> bool {
    let altered = identity::look(today.dir, name).map(|seen| seen.identity.altered);
    matches!((altered, since), (Some(altered), Some(since)) if altered <= since)
}
