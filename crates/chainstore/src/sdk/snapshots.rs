//! State-sync snapshots that this node offers to others. *Files, read-only.*
//!
//! Source: SDK `store/snapshots/store.go`, `snapshots/types/snapshot.pb.go`: `0x01`, height and format as big-endian numbers
//! name a record with the hash of each chunk; chunks are files `snapshots/<height>/<format>/<index>`. All of it can be
//! deleted: the node makes new ones.

use diagnosis::DatabaseName;

use crate::digest::Hash32;
use crate::files::DataDir;
use crate::home::sub_directory;
use crate::proto::Message;
use crate::records::{Records, Source, note};
use crate::sdk::blob::{Blob, look};
use crate::{Checks, CutError, Finding, FindingKind, Part};

/// Snapshots that are looked at; nodes keep a handful.
const SNAPSHOTS_MAX: usize = 1_000;

/// One snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snapshot {
    /// Its height.
    pub height: u64,
    /// The format of its chunks.
    pub format: u64,
    /// The hash of each chunk.
    pub chunks: Vec<Hash32>,
}

impl Snapshot {
    /// Reads a record.
    pub fn parse(bytes: &[u8]) -> Result<Self, CutError> {
        let mut snapshot = Self::default();
        let mut message = Message::new(bytes);
        while let Some(field) = message.next_field()? {
            match field.number {
                1 => snapshot.height = field.uint(Part::new("height"))?,
                2 => snapshot.format = field.uint(Part::new("format"))?,
                5 => {
                    let mut metadata = field.message(Part::new("metadata"))?;
                    while let Some(field) = metadata.next_field()? {
                        if field.number == 1 {
                            let hash = Hash32::from_slice(field.bytes(Part::new("chunk_hashes"))?);
                            snapshot.chunks.extend(hash);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(snapshot)
    }
}

/// Reads all snapshots and compares their chunks with their hashes.
pub(crate) fn check_snapshots(
    source: Source<'_>,
    data: &DataDir,
    hash_files: bool,
    checks: &mut Checks,
) -> Vec<Snapshot> {
    let Source::Here(records) = source else { return Vec::new() };
    let Some(dir) = sub_directory(data, "snapshots", checks) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in records.view.iter_prefix(&[1]).take(SNAPSHOTS_MAX) {
        let Ok((_, value)) = note(entry, checks) else { break };
        match Snapshot::parse(&value) {
            Ok(snapshot) => {
                check_chunks(&snapshot, &dir, hash_files, checks);
                found.push(snapshot);
            }
            Err(error) => checks.add(record_finding(&records, &error)),
        }
    }
    found
}

fn record_finding(records: &Records<'_>, error: &CutError) -> Finding {
    let detail = format!("the record of a snapshot cannot be read: {error}");
    records.finding(FindingKind::RecordMalformed, detail)
}

fn check_chunks(snapshot: &Snapshot, dir: &DataDir, hash: bool, checks: &mut Checks) {
    let database = DatabaseName::new("snapshots");
    let (height, format) = (snapshot.height.to_string(), snapshot.format.to_string());
    let Some(chunks) = sub_directory(dir, &height, checks).and_then(|dir| sub_directory(&dir, &format, checks)) else {
        let detail = format!("the chunks of the snapshot at height {height} are missing; it can be deleted");
        checks.add(Finding::new(FindingKind::CompanionFile, &database, &dir.path().join(&height), detail));
        return;
    };
    for (index, expected) in snapshot.chunks.iter().enumerate() {
        let name = index.to_string();
        let finding = |kind, what: &str| {
            let detail = format!("a chunk of the snapshot at height {height} {what}; the snapshot can be deleted");
            Finding::new(kind, &database, &chunks.path().join(&name), detail)
        };
        match look(&chunks, &name, *expected, hash) {
            Blob::Right => {}
            Blob::Missing => checks.add(finding(FindingKind::CompanionFile, "is missing")),
            Blob::ReadsDiffer => checks.add(finding(FindingKind::ReadsDiffer, "gave different bytes in two reads")),
            Blob::Untold(reason) => checks.add(reason),
            Blob::Wrong(computed) => {
                let wrong = finding(FindingKind::CompanionFile, "does not have the hash that was recorded");
                checks.add(wrong.values(expected.to_string(), computed.to_string()));
            }
        }
    }
}
