//! Which numbers have a table's file in a directory. *No files.*

use crate::files::FileEntry;

/// The tables of a directory by number, each with its place in the inventory.
#[derive(Debug, Default)]
pub(crate) struct TableFiles(Vec<(u64, u32)>);

impl TableFiles {
    /// `number` gives a table's number for its name, and nothing for the name of anything else.
    pub(crate) fn of(entries: &[FileEntry], number: impl Fn(&str) -> Option<u64>) -> Self {
        let numbered = |(at, entry): (u32, &FileEntry)| Some((number(entry.name.to_str()?)?, at));
        let mut files: Vec<(u64, u32)> = (0..).zip(entries).filter_map(numbered).collect();
        files.sort_unstable();
        // The inventory is sorted by name, so of two names the first stays: `.ldb`, not `.sst`.
        files.dedup_by_key(|(number, _)| *number);
        Self(files)
    }

    /// A table's entry in the inventory that this was made of.
    pub(crate) fn find<'e>(&self, entries: &'e [FileEntry], number: u64) -> Option<&'e FileEntry> {
        let found = self.0.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        entries.get(usize::try_from(self.0.get(found)?.1).ok()?)
    }

    /// Every number, ascending.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(|(number, _)| *number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EntryKind;

    #[test]
    fn the_first_of_two_names() {
        let entry = |name: &str| FileEntry { name: name.into(), kind: EntryKind::File, bytes: 0, changed: (0, 0) };
        let entries = ["000007.ldb", "000007.sst", "000012.sst", "1000000.ldb", "LOG"].map(entry);
        let files = TableFiles::of(&entries, |name| name.split_once('.')?.0.parse().ok());
        let found = |number| files.find(&entries, number).map(|entry| entry.name.to_str().unwrap());
        assert_eq!([found(7), found(12), found(8)], [Some("000007.ldb"), Some("000012.sst"), None]);
        assert_eq!(files.numbers().collect::<Vec<_>>(), [7, 12, 1_000_000]);
    }
}
