//! What a MANIFEST's edits add up to: column families, their tables and blob files, logs. *No files.*
//!
//! Source: RocksDB `db/version_edit_handler.cc`, `db/version_builder.cc` (`Apply`, `SaveBlobFilesTo`), `db/version_set.cc`
//! (`AtomicGroupReadBuffer`). A node keeps its data in the default column family, number 0; others are checked alike.

use std::collections::BTreeMap;

use crate::rocksdb::edit::{Edit, EditError, FamilyChange};
use crate::rocksdb::new_file::{NewBlobFile, NewTable};

/// The comparator of every chain's database, unless it is told otherwise.
pub(crate) const BYTEWISE: &[u8] = b"leveldb.BytewiseComparator";

/// Edits that are applied together are kept up to this many.
const GROUP_EDITS_MAX: u32 = 100_000;

/// Why an edit that can be read cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ApplyError {
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The engine's own words.
    #[error("{0}")]
    Refused(String),
}

/// A blob file and how much of it is garbage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlobFile {
    pub(crate) new: NewBlobFile,
    pub(crate) garbage: u64,
}

/// One column family.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Family {
    pub(crate) name: Vec<u8>,
    pub(crate) comparator: Option<Vec<u8>>,
    /// WALs from this number on hold writes that are in no table of the family.
    pub(crate) log_number: u64,
    /// By number.
    pub(crate) tables: BTreeMap<u64, NewTable>,
    blobs: BTreeMap<u64, BlobFile>,
}

impl Family {
    /// Whether keys are in the order of their bytes. An engine that is told no comparator uses that one.
    pub(crate) fn is_bytewise(&self) -> bool {
        self.comparator.as_deref().is_none_or(|name| name == BYTEWISE)
    }

    /// The blob files that the engine keeps: from the oldest one that a table points to on, those that are not all garbage.
    pub(crate) fn live_blobs(&self) -> impl Iterator<Item = &BlobFile> {
        let mut linked: Vec<u64> = self.tables.values().map(|table| table.oldest_blob).collect();
        linked.sort_unstable();
        let oldest = linked.iter().copied().find(|number| self.blobs.contains_key(number)).unwrap_or(u64::MAX);
        self.blobs
            .range(oldest..)
            .map(|(_, blob)| blob)
            .filter(move |blob| blob.garbage < blob.new.count || linked.binary_search(&blob.new.number).is_ok())
    }

    fn apply(&mut self, edit: Edit) -> Result<(), String> {
        self.comparator = edit.comparator.or(self.comparator.take());
        self.log_number = self.log_number.max(edit.log_number.unwrap_or(0));
        for new in edit.blobs {
            let number = new.number;
            if self.blobs.insert(number, BlobFile { new, garbage: 0 }).is_some() {
                return Err(format!("Blob file #{number} already added"));
            }
        }
        for garbage in edit.garbage {
            let Some(blob) = self.blobs.get_mut(&garbage.number) else {
                return Err(format!("Blob file #{} not found", garbage.number));
            };
            blob.garbage = blob.garbage.saturating_add(garbage.count);
        }
        for (level, number) in edit.deleted {
            match self.tables.remove(&number) {
                Some(new) if new.table.level == level => {}
                Some(_) => return Err(format!("Cannot delete table file #{number} from level {level}")),
                None => {
                    return Err(format!(
                        "Cannot delete table file #{number} from level {level} since it is not in the LSM tree"
                    ));
                }
            }
        }
        for new in edit.added {
            let (level, number) = (new.table.level, new.table.number);
            if self.tables.insert(number, new).is_some() {
                return Err(format!(
                    "Cannot add table file #{number} to level {level} since it is already in the LSM tree"
                ));
            }
        }
        Ok(())
    }
}

/// A whole database.
#[derive(Debug)]
pub(crate) struct Version {
    /// By number; 0 is the default one.
    pub(crate) families: BTreeMap<u32, Family>,
    pub(crate) next_file: Option<u64>,
    pub(crate) log_number: Option<u64>,
    pub(crate) last_sequence: Option<u64>,
    pub(crate) min_log_to_keep: u64,
    /// WALs that the MANIFEST keeps an eye on, with their synced bytes; only if the engine was told to.
    pub(crate) wals: BTreeMap<u64, Option<u64>>,
    /// Whether a table was ever added.
    pub(crate) had_tables: bool,
    /// Whether the MANIFEST could not be read to its end.
    pub(crate) cut_short: bool,
    /// Edits that wait for the rest of their group.
    group: Vec<Edit>,
}

impl Default for Version {
    fn default() -> Self {
        let family = Family { name: b"default".to_vec(), ..Family::default() };
        Self {
            families: BTreeMap::from([(0, family)]),
            next_file: None,
            log_number: None,
            last_sequence: None,
            min_log_to_keep: 0,
            wals: BTreeMap::new(),
            had_tables: false,
            cut_short: false,
            group: Vec::new(),
        }
    }
}

impl Version {
    /// The family that holds a node's data.
    pub(crate) fn default_family(&self) -> Option<&Family> {
        self.families.get(&0)
    }

    /// Whether writes without a WAL are those of a table that was made elsewhere and taken in.
    pub(crate) fn took_in(&self, from: u64, to: u64) -> bool {
        let tables = self.families.values().flat_map(|family| family.tables.values());
        let mut alone = tables.filter_map(|new| new.table.sequences.filter(|(lowest, highest)| lowest == highest));
        alone.any(|(sequence, _)| (from..to).contains(&sequence))
    }

    /// WALs below this number are not replayed: all families have their writes in tables.
    pub(crate) fn first_wal(&self) -> u64 {
        let unflushed = self.families.values().map(|family| family.log_number).min();
        self.min_log_to_keep.max(unflushed.unwrap_or(0))
    }

    /// Applies one record; an edit that belongs to a group waits for the others.
    pub(crate) fn apply(&mut self, record: &[u8]) -> Result<(), ApplyError> {
        let edit = Edit::parse(record)?;
        let Some(remaining) = edit.group else {
            if self.group.is_empty() {
                return self.apply_one(edit);
            }
            return Err(ApplyError::Refused("corrupted atomic group".to_owned()));
        };
        let before = self.group.last().and_then(|edit| edit.group);
        if before.is_some_and(|before| before.checked_sub(1) != Some(remaining)) || remaining > GROUP_EDITS_MAX {
            return Err(ApplyError::Refused("corrupted atomic group".to_owned()));
        }
        self.group.push(edit);
        if remaining > 0 {
            return Ok(());
        }
        std::mem::take(&mut self.group).into_iter().try_for_each(|edit| self.apply_one(edit))
    }

    fn apply_one(&mut self, edit: Edit) -> Result<(), ApplyError> {
        let refused = |words: &str| Err(ApplyError::Refused(words.to_owned()));
        self.next_file = edit.next_file.or(self.next_file);
        self.log_number = edit.log_number.or(self.log_number);
        self.last_sequence = edit.last_sequence.or(self.last_sequence);
        self.min_log_to_keep = self.min_log_to_keep.max(edit.min_log_to_keep.unwrap_or(0));
        for wal in &edit.wals {
            self.wals.insert(wal.number, wal.synced);
        }
        if let Some(below) = edit.wals_deleted_below {
            self.wals = self.wals.split_off(&below);
        }
        self.had_tables |= !edit.added.is_empty();
        match &edit.family_change {
            Some(FamilyChange::Add(_)) if self.families.contains_key(&edit.family) => {
                return refused("MANIFEST adding the same column family twice");
            }
            Some(FamilyChange::Add(name)) => {
                self.families.insert(edit.family, Family { name: name.clone(), ..Family::default() });
            }
            Some(FamilyChange::Drop) => {
                return match self.families.remove(&edit.family) {
                    Some(_) => Ok(()),
                    None => refused("MANIFEST - dropping non-existing column family"),
                };
            }
            None => {}
        }
        match self.families.get_mut(&edit.family) {
            Some(family) => family.apply(edit).map_err(ApplyError::Refused),
            None => refused("MANIFEST record referencing unknown column family"),
        }
    }

    /// The fields without which the engine does not open, in its own words.
    pub(crate) fn missing_fields(&self) -> Option<String> {
        let fields = [
            (self.log_number, "log_file_number"),
            (self.next_file, "next_file_number"),
            (self.last_sequence, "last_sequence"),
        ];
        let missing: Vec<&str> =
            fields.into_iter().filter(|(value, _)| value.is_none()).map(|(_, name)| name).collect();
        (!missing.is_empty()).then(|| format!("no {} entry in MANIFEST", missing.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADD: [u8; 11] = [103, 6, 9, 5, 1, b'a', 1, b'b', 3, 7, 1];

    #[test]
    fn tables_come_and_go() {
        let mut version = Version::default();
        version.apply(&ADD).unwrap();
        let twice = "Cannot add table file #9 to level 6 since it is already in the LSM tree";
        assert_eq!(version.apply(&ADD).unwrap_err().to_string(), twice);
        assert_eq!(version.default_family().unwrap().tables.len(), 1);
        // A move to another level is a deletion and an addition in one edit.
        version.apply(&[&[6, 6, 9][..], &ADD].concat()).unwrap();
        let missing = "Cannot delete table file #8 from level 1 since it is not in the LSM tree";
        assert_eq!(version.apply(&[6, 1, 8]).unwrap_err().to_string(), missing);
    }

    #[test]
    fn families_have_tables_of_their_own() {
        let mut version = Version::default();
        let unknown = "MANIFEST record referencing unknown column family";
        assert_eq!(version.apply(&[200, 1, 2]).unwrap_err().to_string(), unknown);
        version.apply(&[200, 1, 2, 201, 1, 1, b'x', 2, 7]).unwrap();
        version.apply(&[&[200, 1, 2][..], &ADD].concat()).unwrap();
        assert_eq!((version.families[&0].tables.len(), version.families[&2].tables.len()), (0, 1));
        assert_eq!(version.first_wal(), 0);
        version.apply(&[2, 9]).unwrap();
        assert_eq!(version.first_wal(), 7);
        version.apply(&[200, 1, 2, 202, 1]).unwrap();
        assert_eq!((version.families.len(), version.first_wal()), (1, 9));
    }

    #[test]
    fn a_group_is_applied_together_or_not_at_all() {
        let mut version = Version::default();
        version.apply(&[4, 5, 172, 2, 1]).unwrap();
        assert_eq!(version.last_sequence, None);
        version.apply(&[3, 6, 172, 2, 0]).unwrap();
        assert_eq!((version.last_sequence, version.next_file), (Some(5), Some(6)));
        version.apply(&[172, 2, 2]).unwrap();
        assert_eq!(version.apply(&[172, 2, 0]).unwrap_err().to_string(), "corrupted atomic group");
        assert_eq!(version.apply(&[4, 5]).unwrap_err().to_string(), "corrupted atomic group");
    }

    #[test]
    fn blob_files_that_are_garbage_or_older_than_every_table_are_not_needed() {
        let mut version = Version::default();
        for number in [3, 4, 5, 6] {
            version.apply(&[144, 3, number, 2, 77, 0, 0, 0]).unwrap();
        }
        version.apply(&[145, 3, 5, 2, 40, 0]).unwrap();
        let live =
            |version: &Version| -> Vec<u64> { version.families[&0].live_blobs().map(|blob| blob.new.number).collect() };
        assert_eq!(live(&version), [0_u64; 0]);
        let linked = [103, 6, 9, 5, 1, b'a', 1, b'b', 3, 7, 4, 1, 4, 1];
        version.apply(&linked).unwrap();
        assert_eq!(live(&version), [4, 6]);
        assert_eq!(version.apply(&[145, 3, 7, 2, 40, 0]).unwrap_err().to_string(), "Blob file #7 not found");
    }
}
