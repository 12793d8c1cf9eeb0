//! One RocksDB directory, taken apart into checks. *Files, read-only.*

use std::sync::Arc;

use crate::lsm::file_number;
use crate::lsm::level_run;
use crate::lsm::live_table;
use crate::lsm::log_checks::LogReport;
use crate::lsm::merge::{Merged, Run, Snapshot};
use crate::lsm::range_del::Memory;
use crate::rocksdb::entry::{self, EntryPoint};
use crate::rocksdb::live::Live;
use crate::rocksdb::manifest::{self, Replay};
use crate::rocksdb::memory::put;
use crate::rocksdb::names::{self, Name};
use crate::rocksdb::new_file::{NewBlobFile, NewTable};
use crate::rocksdb::version::Version;
use crate::rocksdb::view::{self, meaning};
use crate::rocksdb::{blob, predict, table, trace, wal};
use crate::store::{Depth, Place, Prediction, Scratch, Store, TableRef};
use crate::{Checks, Finding, FindingKind, KeyValues, Reason, ViewError};

/// Whether a live file is there.
enum Presence {
    There,
    Absent,
    /// It is not, and the engine does not open, with these words.
    Refused(String),
}

/// A RocksDB directory whose entry point and MANIFEST have been read.
pub(crate) struct RocksDbStore {
    pub(crate) place: Place,
    pub(crate) entry: EntryPoint,
    pub(crate) version: Version,
    pub(crate) manifest_report: LogReport,
    live: Vec<Live>,
    manifest_was_read: bool,
    /// The engine's error before it looks at WALs, if it would not open.
    pub(crate) refused: Option<String>,
    checks: Checks,
}

impl RocksDbStore {
    /// Follows `CURRENT` and replays the MANIFEST.
    pub(crate) fn open(place: Place) -> Self {
        let mut checks = Checks::default();
        let entry = entry::follow(&place, &mut checks);
        let mut replay = Replay::default();
        let mut manifest_was_read = false;
        if let Some(number) = entry.usable() {
            match place.dir.file(file_number::manifest(number)) {
                Ok(file) => {
                    replay = manifest::replay(&place, &file);
                    manifest_was_read = true;
                }
                Err(error) => checks.add(Reason::Unreadable(error)),
            }
        }
        let Replay { version, report: manifest_report, refused } = replay;
        let mut store = Self {
            refused: entry.refused.clone().or(refused),
            place,
            entry,
            version,
            manifest_report,
            live: Vec::new(),
            manifest_was_read,
            checks,
        };
        store.checks.extend(std::mem::take(&mut store.manifest_report.checks));
        if store.manifest_was_read {
            store.match_files();
        }
        store
    }

    /// Compares what the MANIFEST names with what is there.
    fn match_files(&mut self) {
        let mut live = Vec::new();
        for (number, family) in &self.version.families {
            let bytewise = family.is_bytewise();
            live.extend(family.tables.values().cloned().map(|table| Live::Table { table, bytewise }));
            live.extend(family.live_blobs().map(|blob| Live::Blob { blob: blob.new, family: *number }));
        }
        for live in live {
            let presence = match &live {
                Live::Table { table, .. } => self.find_table(table),
                Live::Blob { blob, .. } => self.find_blob(blob),
            };
            match presence {
                Presence::There => self.live.push(live),
                Presence::Absent => {}
                Presence::Refused(words) => self.refused = self.refused.take().or(Some(words)),
            }
        }
        // Where the MANIFEST cannot be read to its end, what it does not name may be live all the same.
        if self.version.cut_short {
            return;
        }
        for finding in wal::tracked(&self.place, &self.version) {
            self.checks.add(finding);
        }
        if let Some(finding) = trace::begun_anew(&self.place, &self.entry, &self.version) {
            self.checks.add(finding);
            // The WALs are still those of the older database.
            self.version.cut_short = true;
        }
        let unreferenced = self.unreferenced().len();
        if unreferenced > 0 {
            let files = if unreferenced == 1 { "a table".to_owned() } else { format!("{unreferenced} tables") };
            let detail = format!("{files} that the MANIFEST does not name; deleted at the engine's next start");
            let path = self.place.dir.path();
            self.checks.add(Finding::new(FindingKind::Unreferenced, &self.place.database, path, detail));
        }
    }

    /// Looks for a table; one of a wrong size is checked all the same.
    fn find_table(&mut self, new: &NewTable) -> Presence {
        let table = &new.table;
        let name = names::table(table.number);
        match self.place.entry(&name) {
            None if new.path > 0 => {
                let what = format!("{name} lies in another directory (path {}), which is not read", new.path);
                self.checks.add(Reason::Unsupported(what));
                Presence::Absent
            }
            None if self.version.cut_short => Presence::Absent,
            None => {
                self.checks.add(live_table::missing(&self.place, table, &name));
                Presence::Refused(format!("Corruption: IO error: No such file or directory: {name}"))
            }
            Some(entry) if entry.bytes != table.bytes => {
                let words = format!(
                    "Corruption: Sst file size mismatch: {name}. Expected {}, actual size {}",
                    table.bytes, entry.bytes
                );
                self.refused = self.refused.take().or(Some(words));
                Presence::There
            }
            Some(_) => Presence::There,
        }
    }

    fn find_blob(&mut self, blob: &NewBlobFile) -> Presence {
        let name = names::blob(blob.number);
        if self.place.entry(&name).is_some() {
            return Presence::There;
        }
        if self.version.cut_short {
            return Presence::Absent;
        }
        let detail = format!("blob file {} is not there; {} values lie in it", blob.number, blob.count);
        let path = self.place.dir.path().join(&name);
        let finding = Finding::new(FindingKind::BlobCorrupt, &self.place.database, &path, detail);
        self.checks.add(finding.values(format!("{} bytes", blob::file_bytes(blob)), "no file"));
        Presence::Absent
    }

    /// Tables that are there but not live.
    pub(crate) fn unreferenced(&self) -> Vec<u64> {
        let is_live = |number: &u64| self.version.families.values().any(|family| family.tables.contains_key(number));
        self.tables_there().filter(|number| !is_live(number)).collect()
    }

    /// All tables that are there.
    pub(crate) fn tables_there(&self) -> impl Iterator<Item = u64> + '_ {
        self.place.entries.iter().filter_map(|entry| match Name::parse(entry.name.to_str()?) {
            Some(Name::Table(number)) => Some(number),
            _ => None,
        })
    }

    /// Bytes of live tables and blob files.
    pub(crate) fn live_bytes(&self) -> u64 {
        self.live.iter().map(Live::bytes).sum()
    }

    /// What the WALs of a version give, and the number above which the engine sees no write.
    pub(crate) fn memory(&self, version: &Version) -> Result<(Memory, u64), ViewError> {
        let mut memory = Memory::default();
        let flushed_below = version.default_family().map_or(0, |family| family.log_number);
        let report =
            wal::read(
                &self.place,
                version,
                |wal, write| {
                    if wal < flushed_below { Ok(()) } else { put(&mut memory, write) }
                },
            );
        // Damage in a WAL is a finding; the view shows what the engine would be left with. What could not be read at all
        // must not pass as an absent key.
        if let Some(reason) = report.checks.untold.into_iter().find(|reason| !matches!(reason, Reason::Ambiguous(_))) {
            return Err(ViewError::CouldNotTell(reason));
        }
        memory.sort();
        Ok((memory, report.sequence.max(version.last_sequence.unwrap_or(0))))
    }

    /// The runs of the default column family that the engine would read after its next open.
    pub(crate) fn runs(&self, snapshot: Snapshot) -> Result<Vec<Box<dyn Run + '_>>, ViewError> {
        let Some(family) = self.version.default_family() else { return Ok(Vec::new()) };
        if !family.is_bytewise() {
            let comparator = family.comparator.clone().unwrap_or_default();
            let what = format!("keys in the order of {} are not read by this version", comparator.escape_ascii());
            return Err(ViewError::CouldNotTell(Reason::Unsupported(what)));
        }
        let reader = Arc::new(view::tables(&self.place));
        let (memory, seen) = self.memory(&self.version)?;
        let snapshot = if snapshot == Snapshot::Engine { seen } else { u64::MAX };
        let mut runs: Vec<Box<dyn Run + '_>> = vec![Box::new(memory)];
        runs.extend(level_run::runs(family.tables.values().map(|new| &new.table), &reader, snapshot));
        Ok(runs)
    }
}

impl Store for RocksDbStore {
    fn entry_checks(&self) -> &Checks {
        &self.checks
    }

    fn tables(&self) -> Box<dyn Iterator<Item = TableRef> + '_> {
        let quick = self.place.depth == Depth::Quick;
        Box::new((0_u32..).zip(&self.live).map(move |(index, live)| {
            let bytes = if quick { 0 } else { live.bytes() };
            TableRef { index, file: live.name(), bytes }
        }))
    }

    fn check_table(&self, index: u32, scratch: &mut Scratch) -> Checks {
        let Some(live) = usize::try_from(index).ok().and_then(|index| self.live.get(index)) else {
            return Checks::default();
        };
        match (self.place.dir.file(live.name()), live) {
            (Ok(file), Live::Table { table, bytewise }) => {
                table::check(&self.place, &table.table, *bytewise, &file, scratch)
            }
            (Ok(file), Live::Blob { blob, family }) => blob::check(&self.place, blob, *family, &file, scratch),
            (Err(error), _) => Checks::of(Reason::Unreadable(error)),
        }
    }

    fn check_rest(&self, _scratch: &mut Scratch) -> Checks {
        if self.manifest_was_read {
            wal::read(&self.place, &self.version, |_, _| Ok(())).checks
        } else {
            Checks::default()
        }
    }

    fn prediction(&self, _scratch: &mut Scratch) -> Option<Prediction> {
        // What could not be read cannot be foretold.
        if self.checks.untold.is_empty() { predict::predict(self) } else { None }
    }

    fn view(&self) -> Result<Box<dyn KeyValues + '_>, ViewError> {
        if !self.manifest_was_read {
            let place = &self.place;
            return Err(ViewError::without_manifest(&self.checks, &place.database, place.dir.path()));
        }
        Ok(Box::new(Merged { runs: self.runs(Snapshot::Engine)?, meaning }))
    }
}
