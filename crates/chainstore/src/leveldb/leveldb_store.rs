//! One LevelDB directory, taken apart into checks. *Files, read-only.*

use std::sync::Arc;

use crate::leveldb::current::{self, EntryPoint};
use crate::leveldb::manifest::{self, Replayed, Version};
use crate::leveldb::names::{self, Name};
use crate::leveldb::trace::{self, Gap};
use crate::leveldb::view;
use crate::leveldb::{journal, predict, table};
use crate::lsm::file_number;
use crate::lsm::level_run::{self, LevelRun};
use crate::lsm::live_table::{self, LiveTable};
use crate::lsm::log_checks::LogReport;
use crate::lsm::memory::MemTable;
use crate::lsm::merge::{Merged, Run, Snapshot, leveldb_meaning};
use crate::lsm::table_files::TableFiles;
use crate::store::{Depth, Place, Prediction, Scratch, Store, TableRef};
use crate::{Checks, Engine, Finding, FindingKind, KeyValues, Reason, ViewError};

/// Tables made of a journal are as large as the engine's write buffer: 4 MiB, at most some hundred.
const FLUSHED_BYTES_MAX: u64 = 256 << 20;

/// A LevelDB directory whose entry point and MANIFEST have been read.
pub(crate) struct LevelDbStore {
    pub(crate) place: Place,
    pub(crate) engine: Engine,
    pub(crate) entry: EntryPoint,
    pub(crate) version: Version,
    pub(crate) manifest_report: LogReport,
    manifest_was_read: bool,
    /// Live tables.
    pub(crate) tables: Vec<LiveTable>,
    /// The numbers of those that have no file, ascending.
    pub(crate) missing: Vec<u64>,
    /// Every table's file, live or not.
    files: TableFiles,
    checks: Checks,
}

impl LevelDbStore {
    /// Follows the entry point and replays the MANIFEST.
    pub(crate) fn open(place: Place, engine: Engine) -> Self {
        let mut checks = Checks::default();
        let entry = current::follow(&place, engine, &mut checks);
        let mut replayed = Replayed::default();
        let mut manifest_was_read = false;
        if let Some(number) = entry.usable() {
            match place.dir.file(file_number::manifest(number)) {
                Ok(file) => {
                    replayed = manifest::replay(&place, &file);
                    manifest_was_read = !replayed.report.has_hole();
                }
                Err(error) => checks.add(Reason::Unreadable(error)),
            }
        }
        let Replayed { version, tables, report: mut manifest_report } = replayed;
        checks.extend(std::mem::take(&mut manifest_report.checks));
        let files = TableFiles::of(&place.entries, |name| match Name::parse(name) {
            Some(Name::Table(number)) => Some(number),
            _ => None,
        });
        let mut store = Self {
            place,
            engine,
            entry,
            version,
            manifest_report,
            manifest_was_read,
            tables,
            missing: Vec::new(),
            files,
            checks,
        };
        store.match_files();
        store
    }

    /// Compares what the MANIFEST names with what is there.
    fn match_files(&mut self) {
        for table in &self.tables {
            if self.files.find(&self.place.entries, table.number).is_none() {
                // Of a MANIFEST with a hole, nobody knows which tables it drops later.
                if self.manifest_was_read {
                    let [name, _] = names::table(table.number);
                    self.checks.add(live_table::missing(&self.place, table, &name));
                }
                self.missing.push(table.number);
            }
        }
        self.missing.sort_unstable();
        if self.manifest_was_read {
            if let Some(finding) = journal::missing(&self.place, &self.version) {
                self.checks.add(finding);
            }
            let unreferenced = self.unreferenced();
            if !unreferenced.is_empty() {
                let detail =
                    format!("{} tables that the MANIFEST does not name; no engine reads them", unreferenced.len());
                let path = self.place.dir.path();
                self.checks.add(Finding::new(FindingKind::Unreferenced, &self.place.database, path, detail));
            }
        }
    }

    /// Tables that are there but not live.
    pub(crate) fn unreferenced(&self) -> Vec<u64> {
        let mut live: Vec<u64> = self.tables.iter().map(|table| table.number).collect();
        live.sort_unstable();
        self.files.numbers().filter(|number| live.binary_search(number).is_err()).collect()
    }

    /// Whether numbers are missing between the writes of a table that was made of the journals. Such a table holds every
    /// write, overwritten ones too, so its numbers have no hole.
    fn gap(&self, number: u64) -> Gap {
        let live = self.tables.iter().find(|table| table.number == number && table.bytes <= FLUSHED_BYTES_MAX);
        let Some(live) = live else { return Gap::Unknown };
        let run = LevelRun::new(vec![live], Arc::new(view::tables(&self.place)), u64::MAX);
        let Ok(mut cursor) = run.cursor(&[]) else { return Gap::Unknown };
        let (mut count, mut lowest, mut highest) = (0_u64, u64::MAX, 0_u64);
        loop {
            match cursor.advance() {
                Ok(Some(entry)) => {
                    count = count.saturating_add(1);
                    lowest = lowest.min(entry.trailer >> 8);
                    highest = highest.max(entry.trailer >> 8);
                }
                Ok(None) => break,
                Err(_) => return Gap::Unknown,
            }
        }
        match highest.saturating_sub(lowest).saturating_add(1).checked_sub(count) {
            Some(missing) if missing > 0 && count > 0 => Gap::Missing(missing),
            _ => Gap::None,
        }
    }

    /// The runs that the engine would read after its next open.
    pub(crate) fn runs(&self, snapshot: Snapshot) -> Result<Vec<Box<dyn Run + '_>>, ViewError> {
        let reader = Arc::new(view::tables(&self.place));
        let mut memory = MemTable::default();
        let report = journal::read(&self.place, &self.version, self.engine, |write| {
            memory.put(write.key, write.trailer, write.value)
        });
        // Damage in a journal is a finding; the view shows what the engine would be left with. What could not be read
        // at all must not pass as an absent key.
        let snapshot = match snapshot {
            Snapshot::Engine => report.sequence,
            Snapshot::Everything => u64::MAX,
        };
        if let Some(reason) = report.checks.untold.into_iter().find(|reason| !matches!(reason, Reason::Ambiguous(_))) {
            return Err(ViewError::CouldNotTell(reason));
        }
        let mut runs: Vec<Box<dyn Run + '_>> = Vec::new();
        if memory.len() > 0 {
            runs.push(Box::new(memory));
        }
        runs.extend(level_run::runs(self.tables.iter(), &reader, snapshot));
        Ok(runs)
    }
}

/// The name under which a table is there.
pub(crate) fn table_file(place: &Place, number: u64) -> String {
    let [ldb, sst] = names::table(number);
    if place.entry(&ldb).is_none() && place.entry(&sst).is_some() { sst } else { ldb }
}

impl Store for LevelDbStore {
    fn entry_checks(&self) -> &Checks {
        &self.checks
    }

    fn tables(&self) -> Box<dyn Iterator<Item = TableRef> + '_> {
        let quick = self.place.depth == Depth::Quick;
        Box::new((0_u32..).zip(&self.tables).filter_map(move |(index, table)| {
            let file = self.files.find(&self.place.entries, table.number)?.name.to_string_lossy().into_owned();
            Some(TableRef { index, file, bytes: if quick { 0 } else { table.bytes } })
        }))
    }

    fn check_table(&self, index: u32, scratch: &mut Scratch) -> Checks {
        let live = usize::try_from(index).ok().and_then(|index| self.tables.get(index));
        let there = live.and_then(|live| Some((live, self.files.find(&self.place.entries, live.number)?)));
        let Some((live, entry)) = there else { return Checks::default() };
        match self.place.dir.listed_file(entry) {
            Ok(file) => table::check(&self.place, live, &file, scratch),
            Err(error) => Checks::of(Reason::Unreadable(error)),
        }
    }

    fn check_rest(&self, _scratch: &mut Scratch) -> Checks {
        let mut checks = Checks::default();
        if self.manifest_was_read {
            checks.extend(journal::read(&self.place, &self.version, self.engine, |_| Ok(())).checks);
        }
        checks.extend(trace::read(&self.place, |number| self.gap(number)));
        checks
    }

    fn prediction(&self, _scratch: &mut Scratch) -> Option<Prediction> {
        // What could not be read cannot be foretold.
        if self.checks.untold.is_empty() { predict::predict(self) } else { None }
    }

    fn view(&self) -> Result<Box<dyn KeyValues + '_>, ViewError> {
        if !self.manifest_was_read {
            let place = &self.place;
            return Err(ViewError::without_manifest(&self.checks, &place.database, &place.dir.path().join("CURRENT")));
        }
        Ok(Box::new(Merged { runs: self.runs(Snapshot::Engine)?, meaning: leveldb_meaning }))
    }
}
