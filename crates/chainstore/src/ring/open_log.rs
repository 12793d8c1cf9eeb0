//! What goleveldb's own `LOG` says about the first open after a moment. *Files, read-only.*
//!
//! Source: goleveldb `storage/file_storage.go` (LOG is appended to, and becomes `LOG.old` beyond 1 MiB), `leveldb/db.go`
//! (`journal@recovery`), `leveldb/session_util.go` (`journal@drop`). Its lines carry microseconds, so the end of one
//! node's LOG stands in no other node's. Where it stands in both because one began as a copy of the other, the first open
//! after it tells whether the damage was there when the engine came.

use serde::{Deserialize, Serialize};

use crate::digest::Hash32;
use crate::files::DataDir;
use crate::lsm::file_number::digits;

/// Bytes at the end of a LOG that are compared.
const TAIL_BYTES: u64 = 4096;
/// A shorter LOG proves nothing: a day line and one legend are about so long.
const TAIL_BYTES_MIN: u64 = 128;
/// One open writes some kilobytes.
const SINCE_BYTES_MAX: u64 = 4 << 20;

/// How far a LOG had come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogMark {
    /// Its length.
    pub bytes: u64,
    /// How many bytes at its end were hashed.
    pub tail_bytes: u64,
    /// Their SHA-256, in hexadecimal digits.
    pub tail_sha256: String,
}

impl LogMark {
    /// Of the LOG in a directory; none where there is none, or too little of it.
    pub(crate) fn of(dir: &DataDir) -> Option<Self> {
        let file = dir.file("LOG").ok()?;
        let (offset, tail) = file.read_tail(TAIL_BYTES).ok()?;
        let tail_bytes = tail.len() as u64;
        (tail_bytes >= TAIL_BYTES_MIN).then(|| Self {
            bytes: offset.saturating_add(tail_bytes),
            tail_bytes,
            tail_sha256: Hash32::of(&tail).to_string(),
        })
    }

    /// What the engine wrote after it, where today's LOG (or the one before) goes on from it.
    pub(crate) fn since(&self, dir: &DataDir) -> Option<String> {
        if self.tail_bytes < TAIL_BYTES_MIN || self.tail_bytes > TAIL_BYTES {
            return None;
        }
        let mut text = self.rest_of(dir, "LOG");
        if text.is_none() {
            text = self.rest_of(dir, "LOG.old");
            if let (Some(text), Ok(file)) = (&mut text, dir.file("LOG")) {
                let newer = file.read_range(0, file.bytes().min(SINCE_BYTES_MAX), SINCE_BYTES_MAX).ok()?;
                text.push_str(&String::from_utf8_lossy(&newer));
            }
        }
        text
    }

    fn rest_of(&self, dir: &DataDir, name: &str) -> Option<String> {
        let file = dir.file(name).ok()?;
        let tail = file.read_range(self.bytes.checked_sub(self.tail_bytes)?, self.tail_bytes, TAIL_BYTES).ok()?;
        if Hash32::of(&tail).to_string() != self.tail_sha256 {
            return None;
        }
        let rest = file.bytes().checked_sub(self.bytes)?;
        let bytes = file.read_range(self.bytes, rest.min(SINCE_BYTES_MAX), SINCE_BYTES_MAX).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The first open after a moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FirstOpen {
    /// Journals that it replayed.
    pub(crate) replayed: Vec<u64>,
    /// Journals of which it dropped something.
    pub(crate) journals_dropped: Vec<u64>,
    /// Manifests of which it dropped something.
    pub(crate) manifests_dropped: Vec<u64>,
}

/// What a LOG's continuation says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Since {
    /// Nothing was written: the engine was not there.
    Nothing,
    /// The engine opened the database, next.
    Opened(FirstOpen),
    /// The engine was at work already: what was kept is not what it opened.
    RanOn,
}

/// Takes the continuation apart, up to the second open.
pub(crate) fn read(since: &str) -> Since {
    let mut open: Option<FirstOpen> = None;
    for line in since.lines() {
        if line.starts_with("===============") || line.trim().is_empty() {
            continue;
        }
        let words = line.split_once(' ').map_or("", |(_, words)| words);
        if words.starts_with("log@legend") {
            if open.is_some() {
                break;
            }
            open = Some(FirstOpen::default());
            continue;
        }
        let Some(open) = &mut open else { return Since::RanOn };
        let number = |text: &str| digits(text.split(' ').next().unwrap_or_default());
        if let Some(number) = words.strip_prefix("journal@recovery recovering @").and_then(number) {
            open.replayed.push(number);
        } else if let Some(number) = words.strip_prefix("journal@drop journal-").and_then(number) {
            open.journals_dropped.push(number);
        } else if let Some(number) = words.strip_prefix("journal@drop manifest-").and_then(number) {
            open.manifests_dropped.push(number);
        }
    }
    open.map_or(Since::Nothing, Since::Opened)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_open_counts() {
        let text = "=============== Nov 30, 2026 (UTC) ===============\n\
            12:00:00.1 log@legend F\n12:00:00.2 journal@recovery recovering @14\n\
            12:00:00.3 journal@drop journal-14 S·1KiB \"checksum mismatch\"\n\
            12:00:00.4 journal@drop manifest-7 S·1KiB \"orphan chunk\"\n\
            12:00:01.1 log@legend F\n12:00:01.2 journal@recovery recovering @99\n";
        let first = FirstOpen { replayed: vec![14], journals_dropped: vec![14], manifests_dropped: vec![7] };
        assert_eq!(read(text), Since::Opened(first));
        assert_eq!(read(""), Since::Nothing);
        assert_eq!(read("12:00:00.1 table@compaction L0·1\n12:00:00.2 log@legend F\n"), Since::RanOn);
        assert_eq!(read("no time at all"), Since::RanOn);
    }
}
