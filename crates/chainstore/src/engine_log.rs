//! Which engine wrote a directory's own log, told by its first line. *No files.*

use crate::Engine;

/// Who wrote a LOG; none where its first line is no engine's own. goleveldb: day lines of equals signs and `db@open`;
/// RocksDB names itself behind a date; C++ LevelDB has the same date, and then what it does.
pub(crate) fn log_writer(text: &str) -> Option<Engine> {
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    if text.contains("RocksDB version") {
        Some(Engine::RocksDb)
    } else if first.starts_with("===============") || text.contains("db@open") || text.contains("log@legend") {
        Some(Engine::GoLevelDb)
    } else if LEVELDB_LINES.iter().any(|begin| logged(first).is_some_and(|words| words.starts_with(begin))) {
        Some(Engine::LevelDb)
    } else {
        None
    }
}

/// What C++ LevelDB says first at an open: its LOG is begun anew each time.
///
/// Source: LevelDB `db/db_impl.cc`, `db/version_set.cc`, `db/repair.cc`.
const LEVELDB_LINES: [&str; 10] = [
    "Creating DB ",
    "Recovering log #",
    "Reusing MANIFEST ",
    "Reusing old log ",
    "Level-0 table #",
    "Delete type=",
    "Compacting ",
    "Ignoring error ",
    "Manual compaction ",
    "Table #",
];

/// What stands behind `2026/11/30-12:00:00.000000 1 `: date, time and thread.
fn logged(line: &str) -> Option<&str> {
    let (date, rest) = line.split_at_checked(26)?;
    let dated = date.bytes().zip(b"0000/00/00-00:00:00.000000").all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        mark => byte == *mark,
    });
    rest.strip_prefix(' ').filter(|_| dated)?.split_once(' ').map(|(_, words)| words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_that_is_broken_says_nothing() {
        let own = "2026/11/30-12:00:00.000000 1 RocksDB version: 7.8.3\n";
        assert_eq!(log_writer(own), Some(Engine::RocksDb));
        // From the 44th byte on the engine's name and what follows it stand there whole.
        for length in 0..44 {
            assert_eq!(own.get(..length).and_then(log_writer), None, "{length}");
        }
        for at in 29..36 {
            let mut changed = own.to_owned();
            changed.replace_range(at..=at, "#");
            assert_eq!(log_writer(&changed), None, "{changed}");
        }
    }

    #[test]
    fn leveldb_is_known_by_what_it_does() {
        for words in ["Delete type=3 #1", "Recovering log #3", "Creating DB state.db since it was missing."] {
            let line = format!("2026/11/30-10:00:00.123456 7f {words}\n");
            assert_eq!(log_writer(&line), Some(Engine::LevelDb), "{line}");
        }
        assert_eq!(log_writer("2026/11/30 10:00:00.123456 7f Recovering log #3\n"), None);
    }
}
