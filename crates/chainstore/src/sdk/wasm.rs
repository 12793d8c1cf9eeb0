//! Contract code beside the databases: every stored code has its file, and every file is what its name says. *Files,
//! read-only.*
//!
//! Source: wasmd `x/wasm/types/keys.go` (code under `0x01` and its number), `types.proto` (`CodeInfo.code_hash = 1`);
//! cosmwasm-vm `cache.rs` (`state/wasm/<hash>`, since 1.3 with `.wasm`; the hash is of the file's bytes); iavl `fastnode`
//! (version, then the value). Where the folder stands differs between chains: below the home or below the data directory.

use std::path::Path;

use diagnosis::DatabaseName;

use crate::digest::Hash32;
use crate::files::{DataDir, EntryKind};
use crate::home::{Home, sub_directory};
use crate::proto::Message;
use crate::records::{Records, note};
use crate::sdk::blob::{Blob, look};
use crate::{Checks, Cut, Finding, FindingKind, Part, Reason};

/// `wasm/wasm/state/wasm` is four levels down.
const LEVELS_MAX: usize = 4;

/// More codes than any chain has; beyond, nothing is listed.
const CODES_MAX: usize = 1_000_000;

/// What is known of contract code.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WasmReport {
    /// Codes that the application has stored; none if nobody could tell.
    pub codes: Option<u64>,
    /// Files of code.
    pub files: u64,
}

/// Compares stored codes with files. None if there is neither.
pub(crate) fn check_wasm(
    home: &Home,
    application: Option<Records<'_>>,
    version: Option<u64>,
    hash_files: bool,
    checks: &mut Checks,
) -> Option<WasmReport> {
    let mut stored = application.zip(version).and_then(|(records, version)| codes(&records, version, checks));
    if let Some(codes) = &mut stored {
        codes.sort_unstable();
        codes.dedup();
    }
    let mut places = Vec::new();
    for dir in [home.root.as_ref(), Some(&home.data)].into_iter().flatten() {
        places.extend(sub_directory(dir, "wasm", checks).map(|found| (found, 0)));
    }
    let mut files: Vec<(Hash32, DataDir, String)> = Vec::new();
    while let Some((dir, level)) = places.pop() {
        list(&dir, level, &mut places, &mut files, checks);
    }
    for (hash, dir, name) in &files {
        check_file(*hash, dir, name, hash_files, checks);
    }
    let there = stored.as_ref().map(|codes| codes.len() as u64);
    if there.unwrap_or_default() == 0 && files.is_empty() {
        return None;
    }
    let mut hashes: Vec<Hash32> = files.iter().map(|(hash, ..)| *hash).collect();
    hashes.sort_unstable();
    check_codes(&stored.unwrap_or_default(), &hashes, checks);
    Some(WasmReport { codes: there, files: files.len() as u64 })
}

/// The hashes of all codes, from the index of the latest version, where that is up to date.
fn codes(records: &Records<'_>, version: u64, checks: &mut Checks) -> Option<Vec<Hash32>> {
    let index = records.get(b"s/k:wasm/mstorage_version", checks).ok()??;
    if index.as_ref() != format!("1.1.0-{version}").as_bytes() {
        return None;
    }
    let mut found = Vec::new();
    for entry in records.view.iter_prefix(b"s/k:wasm/f\x01").take(CODES_MAX) {
        let (_, value) = note(entry, checks).ok()?;
        match code_hash(&value) {
            Some(hash) => found.push(hash),
            None => checks.add(records.finding(FindingKind::RecordMalformed, "store wasm: a stored code has no hash")),
        }
    }
    Some(found)
}

/// The hash in a `CodeInfo` that the fast index holds.
pub(crate) fn code_hash(value: &[u8]) -> Option<Hash32> {
    let mut cut = Cut::new(value, 0);
    cut.varint(Part::new("version")).ok()?;
    let mut message = Message::new(cut.length_prefixed(Part::new("value")).ok()?.rest());
    while let Some(field) = message.next_field().ok()? {
        if field.number == 1 {
            return Hash32::from_slice(field.bytes(Part::new("code_hash")).ok()?);
        }
    }
    None
}

/// Files of code stand in folders named `wasm`; `cache` holds what can be compiled again, under the same names.
fn list(
    dir: &DataDir,
    level: usize,
    places: &mut Vec<(DataDir, usize)>,
    files: &mut Vec<(Hash32, DataDir, String)>,
    checks: &mut Checks,
) {
    let entries = match dir.list() {
        Ok(entries) => entries,
        Err(error) => {
            checks.add(Reason::Unreadable(error));
            return;
        }
    };
    for entry in entries {
        let Some(name) = entry.name.to_str() else { continue };
        match entry.kind {
            EntryKind::Directory if level < LEVELS_MAX && name != "cache" && name != "modules" => {
                places.extend(sub_directory(dir, name, checks).map(|found| (found, level.saturating_add(1))));
            }
            EntryKind::File if dir.path().file_name().is_some_and(|dir| dir == "wasm") => {
                let hash = Hash32::from_hex(name.strip_suffix(".wasm").unwrap_or(name));
                files.extend(hash.map(|hash| (hash, dir.clone(), name.to_owned())));
            }
            _ => {}
        }
    }
}

fn finding(kind: FindingKind, path: &Path, detail: String) -> Finding {
    Finding::new(kind, &DatabaseName::new("wasm"), path, detail)
}

fn check_file(expected: Hash32, dir: &DataDir, name: &str, hash: bool, checks: &mut Checks) {
    let path = dir.path().join(name);
    match look(dir, name, expected, hash) {
        Blob::Right | Blob::Missing => {}
        Blob::Untold(reason) => checks.add(reason),
        Blob::ReadsDiffer => {
            checks.add(finding(FindingKind::ReadsDiffer, &path, "two reads gave different bytes".to_owned()));
        }
        Blob::Wrong(computed) => {
            let detail = "contract code that does not have the hash it is named after".to_owned();
            let wrong = finding(FindingKind::CompanionFile, &path, detail);
            checks.add(wrong.values(expected.to_string(), computed.to_string()));
        }
    }
}

/// Codes without a file. If there is no file at all, the folder stands elsewhere, which is no fault.
fn check_codes(codes: &[Hash32], files: &[Hash32], checks: &mut Checks) {
    let missing: Vec<&Hash32> = codes.iter().filter(|code| files.binary_search(code).is_err()).collect();
    let Some(first) = missing.first() else { return };
    let path = Path::new("wasm");
    if files.is_empty() {
        let detail = format!("{} contract codes are stored, but no wasm folder is below this directory", codes.len());
        checks.add(finding(FindingKind::Remark, path, detail));
    } else {
        let count = format!("{} of {} stored contract codes have no file", missing.len(), codes.len());
        let detail = format!("{count}, {first} for one: a contract of it ends with \"Error opening Wasm file\"");
        checks.add(finding(FindingKind::CompanionFile, path, detail));
    }
}
