//! The newest OPTIONS file: what the engine compares before it opens. *Files, read-only.*
//!
//! Source: pebble v1.1 `options.go` (`parseOptions`, `checkOptions`), v2 the same. The file carries no checksum. Of its
//! some fifty values the engine compares three and reads over the rest, so only those can be damage.

use crate::pebble::manifest::BYTEWISE;
use crate::pebble::names::{self, Name};
use crate::store::Place;
use crate::{Checks, Finding, FindingKind, Reason};

/// OPTIONS files are some two thousand bytes long.
const OPTIONS_BYTES_MAX: u64 = 1 << 20;

/// What the newest OPTIONS file says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Options {
    /// Its number.
    pub(crate) number: Option<u64>,
    /// Whether WALs before the newest must end whole (always true since Pebble 1.0).
    pub(crate) strict_wal_tail: bool,
    /// Whether Pebble v2 wrote it.
    pub(crate) by_v2: bool,
    /// Where WALs are, if not among the other files. No Cosmos node asks for it.
    pub(crate) wal_dir: Option<String>,
    /// The engine's error, if it would not open.
    pub(crate) refused: Option<String>,
}

/// Reads the newest OPTIONS file, if there is one; the engine does without.
pub(crate) fn read(place: &Place, checks: &mut Checks) -> Options {
    let numbers = place.entries.iter().filter_map(|entry| match Name::parse(entry.name.to_str()?) {
        Some(Name::Options(number)) => Some(number),
        _ => None,
    });
    let Some(number) = numbers.max() else { return Options::default() };
    let name = names::options(number);
    let bytes = match place.dir.file(&name).and_then(|file| file.read_all(OPTIONS_BYTES_MAX)) {
        Ok(bytes) => bytes,
        Err(error) => {
            checks.add(Reason::Unreadable(error));
            return Options { number: Some(number), ..Options::default() };
        }
    };
    let options = Options { number: Some(number), ..parse(&String::from_utf8_lossy(&bytes)) };
    if let Some(words) = &options.refused {
        let detail = format!("the engine does not open with this file: {words}");
        checks.add(Finding::new(FindingKind::MarkerCorrupt, &place.database, &place.dir.path().join(name), detail));
    }
    options
}

/// Goes through the lines as the engine does: the first one that it cannot use is its error.
fn parse(text: &str) -> Options {
    let mut options = Options::default();
    let mut section = "";
    for line in text.split('\n').map(str::trim) {
        if line.is_empty() || line.starts_with([';', '#']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            options.refused =
                Some(format!("invalid key=value syntax: {}", line.escape_debug().take(50).collect::<String>()));
            return options;
        };
        let (key, value) = (key.trim(), value.trim());
        options.by_v2 |= key == "key_schema" || key == "enable_columnar_blocks";
        if section != "Options" {
            continue;
        }
        let wrong = match key {
            "comparer" => (value.as_bytes() != BYTEWISE).then_some("comparer name from file"),
            "merger" => (value != "pebble.concatenate" && value != "nullptr").then_some("merger name from file"),
            "wal_dir" => {
                options.wal_dir = (!value.is_empty()).then(|| value.escape_debug().take(200).collect());
                None
            }
            "strict_wal_tail" => {
                options.strict_wal_tail = truth(value).unwrap_or_default();
                truth(value).is_none().then_some("error parsing strict_wal_tail value")
            }
            _ => None,
        };
        if let Some(words) = wrong {
            options.refused = Some(format!("{words}: {}", value.escape_debug().take(50).collect::<String>()));
            return options;
        }
    }
    options
}

/// Go's `strconv.ParseBool`.
fn truth(value: &str) -> Option<bool> {
    match value {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// Whether a text looks like an OPTIONS file of Pebble: by what its lines say, and not by one word alone, which a flipped
/// bit could take away.
pub(crate) fn is_pebble(text: &str) -> bool {
    let marks = ["[Options]", "merger=pebble.", "comparer=", "mem_table_size=", "strict_wal_tail="];
    text.contains("pebble_version") || marks.iter().filter(|mark| text.contains(**mark)).count() >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[Version]\n  pebble_version=0.1\n\n[Options]\n  comparer=leveldb.BytewiseComparator\n  \
                        merger=pebble.concatenate\n  strict_wal_tail=true\n\n[Level \"0\"]\n  block_size=512\n";

    #[test]
    fn one_change_and_what_the_engine_says() {
        let row = |from: &str, to: &str| parse(&TEXT.replace(from, to)).refused.unwrap_or_default();
        assert_eq!(row("x", "x"), "");
        assert_eq!(row("Bytewise", "bytewise"), "comparer name from file: leveldb.bytewiseComparator");
        assert_eq!(row("pebble.concat", "other.concat"), "merger name from file: other.concatenate");
        assert_eq!(row("=true", "=tru"), "error parsing strict_wal_tail value: tru");
        assert_eq!(row("block_size=", "block_size-"), "invalid key=value syntax: block_size-512");
        assert_eq!(row("block_size=512", "block_size=513"), "");
        let with_wal_dir = |value: &str| parse(&TEXT.replace("strict", &format!("wal_dir={value}\n  strict"))).wal_dir;
        assert_eq!((with_wal_dir(""), with_wal_dir("/wal").as_deref()), (None, Some("/wal")));
        assert!(parse(TEXT).strict_wal_tail && !parse("").strict_wal_tail);
        assert!(parse(&TEXT.replace("strict", "key_schema=x\n  strict")).by_v2);
    }

    #[test]
    fn it_is_known_by_more_than_one_word() {
        assert!(is_pebble(TEXT));
        assert!(is_pebble(&TEXT.replace("pebble_version", "qebble_version")));
        assert!(!is_pebble("# This is a RocksDB option file.\n[Version]\n  rocksdb_version=8.0\n"));
    }
}
