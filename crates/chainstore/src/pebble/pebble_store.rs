//! One Pebble directory, taken apart into checks. *Files, read-only.*

use std::sync::Arc;

use crate::lsm::file_number;
use crate::lsm::level_run;
use crate::lsm::live_table::{self, LiveTable};
use crate::lsm::log_checks::LogReport;
use crate::lsm::merge::{Merged, Run, Snapshot};
use crate::lsm::range_del::Memory;
use crate::pebble::entry::{self, EntryPoint};
use crate::pebble::manifest::{self, Replay, Version};
use crate::pebble::memory::put;
use crate::pebble::names::{self, Name};
use crate::pebble::options::{self, Options};
use crate::pebble::table::{self, Circumstances};
use crate::pebble::view::{self, meaning};
use crate::pebble::{predict, trace, wal};
use crate::store::{Depth, Place, Prediction, Scratch, Store, TableRef};
use crate::{Checks, Finding, FindingKind, KeyValues, Reason, ViewError};

/// A Pebble directory whose entry point and MANIFEST have been read.
pub(crate) struct PebbleStore {
    pub(crate) place: Place,
    pub(crate) entry: EntryPoint,
    pub(crate) options: Options,
    pub(crate) version: Version,
    pub(crate) manifest_report: LogReport,
    /// Live tables.
    pub(crate) tables: Vec<LiveTable>,
    /// The numbers of those that have no file.
    missing: Vec<u64>,
    manifest_was_read: bool,
    /// Whether the WAL that the MANIFEST names is gone.
    pub(crate) wal_is_gone: bool,
    /// The engine's error before it looks at WALs, if it would not open.
    pub(crate) refused: Option<String>,
    checks: Checks,
}

impl PebbleStore {
    /// Follows the entry point and replays the MANIFEST. An error is a format that is not read.
    pub(crate) fn open(place: Place) -> Result<Self, Reason> {
        let mut checks = Checks::default();
        let mut entry = entry::follow(&place, &mut checks)?;
        let options = options::read(&place, &mut checks);
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
        let Replay { version, report, refused } = replay;
        let names_tables = !version.tables.is_empty() || report.dropped_by_damage > 0 || !manifest_was_read;
        if let Some(finding) = entry.judge_format(&place, names_tables) {
            checks.add(finding);
        }
        let malformed = manifest_was_read && version.is_malformed();
        let refused = entry
            .refused
            .clone()
            .or(refused)
            .or_else(|| malformed.then(|| "pebble: malformed manifest file".to_owned()));
        let mut store = Self {
            place,
            entry,
            options,
            version,
            manifest_report: report,
            tables: Vec::new(),
            missing: Vec::new(),
            manifest_was_read,
            wal_is_gone: false,
            refused,
            checks,
        };
        store.checks.extend(std::mem::take(&mut store.manifest_report.checks));
        store.match_files();
        Ok(store)
    }

    /// Compares what the MANIFEST names with what is there, as the engine does before it opens.
    fn match_files(&mut self) {
        for table in std::mem::take(&mut self.version.tables).into_values() {
            let name = names::table(table.number);
            let (level, number) = (table.level, table.number);
            let inconsistent = match self.place.entry(&name) {
                None => {
                    self.checks.add(live_table::missing(&self.place, &table, &name));
                    self.missing.push(table.number);
                    let kind = if self.options.by_v2 { "sstable" } else { "2" };
                    Some(format!(
                        "L{level}: {number:06}: file {number:06} (type {kind}) unknown to the objstorage provider: file \
                         does not exist"
                    ))
                }
                Some(entry) if entry.bytes != table.bytes => Some(format!(
                    "L{level}: {number:06}: object size mismatch ({name}): {} (disk) != {} (MANIFEST)",
                    entry.bytes, table.bytes
                )),
                Some(_) => None,
            };
            self.refused = self.refused.take().or(inconsistent);
            self.tables.push(table);
        }
        self.refused = self.refused.take().or_else(|| self.options.refused.clone());
        if !self.manifest_was_read {
            return;
        }
        self.checks.extend(trace::read(&self.place, &self.entry, &self.version, &self.options, self.tables.len()));
        self.miss_wal();
        let unreferenced = self.unreferenced();
        if !unreferenced.is_empty() {
            let count = unreferenced.len();
            let tables = if count == 1 { "a table".to_owned() } else { format!("{count} tables") };
            let detail = format!("{tables} that the MANIFEST does not name; deleted at the engine's next start");
            let path = self.place.dir.path();
            self.checks.add(Finding::new(FindingKind::Unreferenced, &self.place.database, path, detail));
        }
    }

    /// Where the MANIFEST itself is not to be relied on, the WAL that it names says nothing.
    fn miss_wal(&mut self) {
        let began_anew = self.checks.findings.iter().any(|found| found.kind == FindingKind::EngineDroppedData);
        let manifest = self.entry.usable().filter(|_| self.manifest_report.dropped_by_damage == 0 && !began_anew);
        if let Some(manifest) = manifest
            && let Some(finding) = wal::missing(&self.place, &self.version, manifest, &self.options)
        {
            self.wal_is_gone = finding.kind == FindingKind::JournalMissing;
            self.checks.add(finding);
        }
    }

    /// Tables that are there but not live.
    pub(crate) fn unreferenced(&self) -> Vec<u64> {
        let mut live: Vec<u64> = self.tables.iter().map(|table| table.number).collect();
        live.sort_unstable();
        self.tables_there().filter(|number| live.binary_search(number).is_err()).collect()
    }

    /// All tables that are there.
    pub(crate) fn tables_there(&self) -> impl Iterator<Item = u64> + '_ {
        self.place.entries.iter().filter_map(|entry| match Name::parse(entry.name.to_str()?) {
            Some(Name::Table(number)) => Some(number),
            _ => None,
        })
    }

    /// What the WALs from a number on give, and the number above which the engine sees no write.
    pub(crate) fn memory(&self, version: &Version) -> Result<(Memory, u64), ViewError> {
        let mut memory = Memory::default();
        let report = wal::read(&self.place, version, &self.options, |write| put(&mut memory, write));
        // Damage in a WAL is a finding; the view shows what the engine would be left with. What could not be read at all
        // must not pass as an absent key.
        if let Some(reason) = report.unread() {
            return Err(ViewError::CouldNotTell(reason));
        }
        memory.sort();
        Ok((memory, report.sequence))
    }

    /// The runs that the engine would read after its next open.
    pub(crate) fn runs(&self, snapshot: Snapshot) -> Result<Vec<Box<dyn Run + '_>>, ViewError> {
        let reader = Arc::new(view::tables(&self.place));
        let (memory, seen) = self.memory(&self.version)?;
        let snapshot = if snapshot == Snapshot::Engine { seen } else { u64::MAX };
        let mut runs: Vec<Box<dyn Run + '_>> = vec![Box::new(memory)];
        runs.extend(level_run::runs(self.tables.iter(), &reader, snapshot));
        Ok(runs)
    }
}

impl Store for PebbleStore {
    fn entry_checks(&self) -> &Checks {
        &self.checks
    }

    fn tables(&self) -> Box<dyn Iterator<Item = TableRef> + '_> {
        let quick = self.place.depth == Depth::Quick;
        let there = (0_u32..).zip(&self.tables).filter(|(_, table)| !self.missing.contains(&table.number));
        Box::new(there.map(move |(index, table)| {
            let bytes = if quick { 0 } else { table.bytes };
            TableRef { index, file: names::table(table.number), bytes }
        }))
    }

    fn check_table(&self, index: u32, scratch: &mut Scratch) -> Checks {
        let Some(live) = usize::try_from(index).ok().and_then(|index| self.tables.get(index)) else {
            return Checks::default();
        };
        let circumstances = Circumstances { format: self.entry.format, by_v1: !self.options.by_v2 };
        match self.place.dir.file(names::table(live.number)) {
            Ok(file) => table::check(&self.place, live, &file, circumstances, scratch),
            Err(error) => Checks::of(Reason::Unreadable(error)),
        }
    }

    fn check_rest(&self, _scratch: &mut Scratch) -> Checks {
        if self.manifest_was_read {
            wal::read(&self.place, &self.version, &self.options, |_| Ok(())).checks
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
