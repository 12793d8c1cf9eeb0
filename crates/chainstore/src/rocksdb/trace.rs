//! A database that was begun anew among the files of an older one. *Files, read-only.*
//!
//! Without `CURRENT` RocksDB begins a new database if it may. Where a WAL is there it refuses that first start, but has written
//! `CURRENT` by then: the next start opens the new database and deletes every table of the older one. In between both MANIFESTs
//! are there.

use crate::lsm::file_number::manifest as manifest_name;
use crate::rocksdb::entry::EntryPoint;
use crate::rocksdb::manifest;
use crate::rocksdb::names;
use crate::rocksdb::version::Version;
use crate::store::Place;
use crate::{Finding, FindingKind};

/// The finding, if the current MANIFEST never had a table and a later one names tables that are there.
pub(crate) fn begun_anew(place: &Place, entry: &EntryPoint, version: &Version) -> Option<Finding> {
    let (current, newest) = (entry.manifest?, entry.fallback?);
    if version.had_tables || newest <= current {
        return None;
    }
    let file = place.dir.file(manifest_name(newest)).ok()?;
    let older = manifest::replay(place, &file).version;
    let tables = older.families.values().flat_map(|family| family.tables.keys());
    let there = tables.filter(|number| place.entry(&names::table(**number)).is_some()).count();
    let detail = format!(
        "CURRENT names {}, that of a new, empty database, but {} names {there} tables that are still here: at its last start \
         the engine found no CURRENT; at its next it deletes them",
        manifest_name(current),
        manifest_name(newest)
    );
    let path = place.dir.path().join("CURRENT");
    (there > 0).then(|| Finding::new(FindingKind::EngineDroppedData, &place.database, &path, detail))
}
