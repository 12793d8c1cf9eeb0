//! One LevelDB directory, taken apart into checks. *Files, read-only.*

use std::sync::Arc;

use crate::leveldb::current::{self, EntryPoint};
use crate::leveldb::manifest::{self, Version};
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
    /// The numbers of those that have no file.
    pub(crate) missing: Vec<u64>,
    checks: Checks,
}

impl LevelDbStore {
    /// Follows the entry point and replays the MANIFEST.
    pub(crate) fn open(place: Place, engine: Engine) -> Self {
        let mut checks = Checks::default();
        let entry = current::follow(&place, engine, &mut checks);
        let mut version = Version::default();
        let mut manifest_report = LogReport::default();
        let mut manifest_was_read = false;
        if let Some(number) = entry.usable() {
            match place.dir.file(file_number::manifest(number)) {
                Ok(file) => {
                    (version, manifest_report) = manifest::replay(&place, &file);
                    manifest_was_read = true;
                }
                Err(error) => checks.add(Reason::Unreadable(error)),
            }
        }
        checks.extend(std::mem::take(&mut manifest_report.checks));
        let mut store = Self {
            place,
            engine,
            entry,
            version,
            manifest_report,
            manifest_was_read,
            tables: Vec::new(),
            missing: Vec::new(),
            checks,
        };
        store.match_files();
        store
    }

    /// Compares what the MANIFEST names with what is there.
    fn match_files(&mut self) {
        for table in std::mem::take(&mut self.version.tables).into_values() {
            let [ldb, sst] = names::table(table.number);
            if self.place.entry(&ldb).is_none() && self.place.entry(&sst).is_none() {
                self.checks.add(live_table::missing(&self.place, &table, &ldb));
                self.missing.push(table.number);
            }
            self.tables.push(table);
        }
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
        let there = self.place.entries.iter().filter_map(|entry| match Name::parse(entry.name.to_str()?) {
            Some(Name::Table(number)) => Some(number),
            _ => None,
        });
        there.filter(|number| live.binary_search(number).is_err()).collect()
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

    fn tables(&self) -> Vec<TableRef> {
        let bytes = |table: &LiveTable| if self.place.depth == Depth::Quick { 0 } else { table.bytes };
        let there = (0_u32..).zip(&self.tables).filter(|(_, table)| !self.missing.contains(&table.number));
        there
            .map(|(index, table)| TableRef { index, file: table_file(&self.place, table.number), bytes: bytes(table) })
            .collect()
    }

    fn check_table(&self, index: u32, scratch: &mut Scratch) -> Checks {
        let Some(live) = usize::try_from(index).ok().and_then(|index| self.tables.get(index)) else {
            return Checks::default();
        };
        match self.place.dir.file(table_file(&self.place, live.number)) {
            Ok(file) => table::check(&self.place, live, &file, scratch),
            Err(error) => {
                let mut checks = Checks::default();
                checks.add(Reason::Unreadable(error));
                checks
            }
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
            // Without a MANIFEST every key would be absent, which is no answer.
            return Err(match self.checks.untold.first() {
                Some(reason) => ViewError::CouldNotTell(reason.clone()),
                None => ViewError::Damaged {
                    database: self.place.database.clone(),
                    file: self.place.dir.path().join("CURRENT"),
                    offset: 0,
                    detail: "no MANIFEST to read from".to_owned(),
                },
            });
        }
        Ok(Box::new(Merged { runs: self.runs(Snapshot::Engine)?, meaning: leveldb_meaning }))
    }
}
