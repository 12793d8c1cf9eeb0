//! The masker: cuts text into words, strips identity and keeps cause. *No IO, no allocation per word.*
//!
//! Stripped: numbers, heights, times, versions, addresses, hashes, ids, host and directory names. Kept: what carries a cause:
//! words, file kinds and store names (`ldb`, `MANIFEST`, `application.db`, `cs.wal`), packages and functions. Everything is
//! lower-cased. What is stripped leaves a placeholder, so that "wanted 5 got 0" keeps its shape.

/// A word of masked text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word<'a> {
    /// A kept word, as written (not yet lower-cased).
    Kept(&'a str),
    /// A number, time, version, size, address or other token that begins with a digit.
    Number,
    /// Zero on its own: "got 0" and "height 0" say something that other numbers do not.
    Zero,
    /// A hash, key, bech32 address or other identifier.
    Id,
    /// A directory of a path, whatever its name.
    Directory,
}

impl Word<'_> {
    /// The 64-bit FNV-1a hash of the masked word.
    #[must_use]
    pub fn hash(&self) -> u64 {
        match self {
            Self::Kept(word) => word.bytes().fold(FNV_OFFSET, |hash, byte| fnv(hash, byte.to_ascii_lowercase())),
            Self::Number => fnv(FNV_OFFSET, b'#'),
            Self::Zero => fnv(FNV_OFFSET, b'0'),
            Self::Id => fnv(FNV_OFFSET, b'@'),
            Self::Directory => fnv(FNV_OFFSET, b'/'),
        }
    }

    /// The masked word as a person sees it in an explanation.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Kept(word) => word.to_ascii_lowercase(),
            Self::Number => "<n>".to_owned(),
            Self::Zero => "0".to_owned(),
            Self::Id => "<id>".to_owned(),
            Self::Directory => "<dir>".to_owned(),
        }
    }
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// One step of FNV-1a.
pub(crate) fn fnv(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

/// Calls `sink` with each word of `text`, in order. Runs of stripped numbers give one [`Word::Number`].
pub fn words<'a>(text: &'a str, sink: &mut impl FnMut(Word<'a>)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut last_was_number = false;
    while let Some(&byte) = bytes.get(at) {
        if !is_word(byte) {
            if byte == b'/' && starts_path(bytes, at) {
                at = path(text, at, sink);
                last_was_number = false;
            } else {
                at += 1;
            }
            continue;
        }
        let run = Run::at(bytes, at);
        let word = text.get(at..at + run.length).unwrap_or_default();
        let mut masked = mask(word, run);
        if masked == Word::Zero && is_dotted(bytes, at) {
            masked = Word::Number;
        }
        at += run.length;
        let number = matches!(masked, Word::Number);
        if !(number && last_was_number) {
            sink(masked);
        }
        last_was_number = number;
    }
}

/// A run of word bytes, with what the masker asks of it, counted in one pass.
#[derive(Debug, Clone, Copy)]
struct Run {
    length: usize,
    digits: usize,
    /// Whether every byte is a hexadecimal digit.
    hex: bool,
}

impl Run {
    /// The run that begins at `at`.
    #[inline]
    fn at(bytes: &[u8], at: usize) -> Self {
        let (mut length, mut digits, mut all) = (0, 0, HEX);
        for byte in bytes.get(at..).unwrap_or_default() {
            let class = class(*byte);
            if class & WORD == 0 {
                break;
            }
            length += 1;
            digits += usize::from(class & DIGIT);
            all &= class;
        }
        Self { length, digits, hex: all & HEX != 0 }
    }
}

const DIGIT: u8 = 1;
const WORD: u8 = 2;
const HEX: u8 = 4;

/// Letters, digits, `_`, and every byte above ASCII (so that no character is cut) are word bytes.
static CLASS: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    loop {
        let word = byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 128;
        let class =
            (byte.is_ascii_digit() as u8) * DIGIT + (word as u8) * WORD + (byte.is_ascii_hexdigit() as u8) * HEX;
        #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which refuses a place outside")]
        {
            classes[byte as usize] = class;
        }
        if byte == 255 {
            break classes;
        }
        byte += 1;
    }
};

#[inline]
fn class(byte: u8) -> u8 {
    CLASS.get(usize::from(byte)).copied().unwrap_or(0)
}

fn is_word(byte: u8) -> bool {
    class(byte) & WORD != 0
}

/// Digits from which on a word without spaces is an identifier rather than a name.
const ID_LENGTH: usize = 16;

#[inline]
fn mask(word: &str, run: Run) -> Word<'_> {
    let Run { length, digits, hex } = run;
    if digits == 0 {
        return if length >= 40 { Word::Id } else { Word::Kept(word) };
    }
    let first = word.as_bytes().first().copied().unwrap_or(0);
    if first.is_ascii_digit() {
        return match (length, digits) {
            (1, _) if first == b'0' => Word::Zero,
            _ if length >= ID_LENGTH && digits < length => Word::Id,
            _ => Word::Number,
        };
    }
    if length >= ID_LENGTH && digits >= 2 {
        return Word::Id;
    }
    // Short hexadecimal words with digits (`f776dd1e`) are numbers; `v1`, `v0`, `sha256`, `utf8`, `int64`, `db_2` are names.
    let version = first.eq_ignore_ascii_case(&b'v') && digits + 1 == length;
    if hex && length >= 6 || version {
        Word::Number
    } else {
        Word::Kept(word.trim_end_matches(|c: char| c.is_ascii_digit()))
    }
}

/// Whether the digit at `at` is a part of an address, a version or a fraction: `10.0.0.7`, `0.5`.
fn is_dotted(bytes: &[u8], at: usize) -> bool {
    let byte = |place: Option<usize>| place.and_then(|place| bytes.get(place)).copied().unwrap_or(b' ');
    let joins = |join: u8, digit: u8| matches!(join, b'.' | b':') && digit.is_ascii_digit();
    joins(byte(at.checked_sub(1)), byte(at.checked_sub(2))) || joins(byte(at.checked_add(1)), byte(at.checked_add(2)))
}

/// Whether the slash at `at` begins or continues a path rather than standing between two words (`kernel/mm`).
fn starts_path(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| bytes.get(before)).copied();
    let after = bytes.get(at + 1).copied();
    let begins = !before.is_some_and(is_word);
    begins && after.is_some_and(|byte| is_word(byte) || byte == b'.')
}

/// Emits a path: each directory as [`Word::Directory`] unless its name is one that every node has, the last part as words.
/// Returns the position behind the path.
fn path<'a>(text: &'a str, start: usize, sink: &mut impl FnMut(Word<'a>)) -> usize {
    let bytes = text.as_bytes();
    let in_path = |byte: &u8| is_word(*byte) || matches!(byte, b'/' | b'.' | b'-' | b'+' | b'@' | b'!');
    let length = bytes.get(start..).map_or(0, |rest| rest.iter().take_while(|byte| in_path(byte)).count());
    let end = start + length;
    let path = text.get(start..end).unwrap_or_default();
    let mut directory_before = false;
    let mut parts = path.split('/').filter(|part| !part.is_empty()).peekable();
    while let Some(part) = parts.next() {
        let known = KNOWN_PARTS.contains(&part);
        if parts.peek().is_some() && !known {
            if !directory_before {
                sink(Word::Directory);
            }
            directory_before = true;
            continue;
        }
        directory_before = false;
        for word in part.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty()) {
            sink(mask(word, Run::at(word.as_bytes(), 0)));
        }
    }
    end.max(start + 1)
}

/// Parts of a path that say which file it is on any node.
const KNOWN_PARTS: &[&str] = &[
    "application.db",
    "blockstore.db",
    "state.db",
    "tx_index.db",
    "evidence.db",
    "snapshots",
    "metadata.db",
    "cs.wal",
    "wal",
    "data",
    "config",
    "wasm",
    "upgrade-info.json",
    "priv_validator_state.json",
    "priv_validator_key.json",
    "node_key.json",
    "genesis.json",
    "config.toml",
    "app.toml",
    "client.toml",
    "addrbook.json",
    "light-client-db",
];

#[cfg(test)]
mod tests {
    use super::words;

    fn masked(text: &str) -> String {
        let mut shown = Vec::new();
        words(text, &mut |word| shown.push(word.shown()));
        shown.join(" ")
    }

    #[test]
    fn cause_is_kept_and_identity_stripped() {
        assert_eq!(
            masked(
                "leveldb/table: corruption on data-block (pos=1953816): checksum mismatch, want=0xc53a8ebc got=0x28a226ee [file=787011.ldb]"
            ),
            "leveldb table corruption on data block pos <n> checksum mismatch want <n> got <n> file <n> ldb"
        );
        assert_eq!(
            masked("open /home/operator/.gaiad/data/cs.wal/wal: no such file or directory"),
            "open <dir> data cs wal wal no such file or directory"
        );
    }

    #[test]
    fn zero_is_told_from_other_numbers() {
        assert_eq!(masked("expected 1252413 got 0"), "expected <n> got 0");
    }

    #[test]
    fn runs_of_numbers_are_one() {
        assert_eq!(masked("dial tcp 10.0.0.7:26656: i/o timeout"), "dial tcp <n> i o timeout");
    }

    #[test]
    fn addresses_and_hashes_are_ids() {
        assert_eq!(masked("cosmos1qnk2n4nlkpw9xfqntladh74w6ujtulwn7j8za9 jailed"), "<id> jailed");
        assert_eq!(
            masked("Expected B2824A85A9A0784353A2D10DF9C41333528F7C49943BB6F59C2581D685D7CF91"),
            "expected <id>"
        );
    }
}
