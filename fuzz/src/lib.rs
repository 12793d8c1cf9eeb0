//! What the targets for databases share: a directory on a memory disk, and bytes sealed with right checksums.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chainstore::ring::{Ring, Whose, weigh};
use chainstore::{DataDir, Depth, Meter, Options, Outcome, Silent, find, inspect, masked_crc32c, open};

/// A database directory of a healthy, empty database; targets replace its files.
pub struct Sandbox {
    home: tempfile::TempDir,
    dir: PathBuf,
}

impl Default for Sandbox {
    /// Of goleveldb.
    fn default() -> Self {
        let sandbox = Self::empty();
        sandbox.put("CURRENT", b"MANIFEST-000001\n");
        sandbox.put("MANIFEST-000001", &log(&manifest(&[])));
        sandbox.put("000002.log", b"");
        sandbox
    }
}

impl Sandbox {
    /// Of Pebble, at the newest format that is read.
    #[must_use]
    pub fn pebble() -> Self {
        let sandbox = Self::empty();
        sandbox.put("marker.format-version.000001.013", b"");
        sandbox.put("marker.manifest.000001.MANIFEST-000001", b"");
        sandbox.put("OPTIONS-000003", b"[Version]\n  pebble_version=0.1\n[Options]\n  strict_wal_tail=true\n");
        sandbox.put("MANIFEST-000001", &log(&manifest(&[])));
        sandbox.put("000002.log", b"");
        sandbox
    }

    /// Of RocksDB.
    #[must_use]
    pub fn rocksdb() -> Self {
        let sandbox = Self::empty();
        sandbox.put("IDENTITY", b"fuzz");
        sandbox.put("CURRENT", b"MANIFEST-000001\n");
        sandbox.put("MANIFEST-000001", &log(&manifest(&[])));
        sandbox.put("000002.log", b"");
        sandbox
    }

    fn empty() -> Self {
        let memory = Path::new("/dev/shm");
        let home = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let home = home.expect("a temporary directory");
        let dir = home.path().join("state.db");
        std::fs::create_dir(&dir).expect("a directory in it");
        Self { home, dir }
    }

    /// Replaces a file.
    pub fn put(&self, name: &str, content: &[u8]) {
        std::fs::write(self.dir.join(name), content).expect("a file");
    }

    /// Weighs a ring with one entry: what comes of it.
    #[must_use]
    pub fn weigh(&self, entry: &[u8]) -> Outcome {
        let ring = self.home.path().join(".loopbreaker/ring");
        std::fs::create_dir_all(ring.join("000000000001")).expect("a directory");
        std::fs::write(ring.join("000000000001/entry.json"), entry).expect("a file");
        let options = Options { threads: std::num::NonZeroUsize::new(1), ..Options::default() };
        let mut inspection = inspect(self.home.path(), &options).expect("the directory can be read");
        let ring = Ring::open(&ring).expect("the ring can be read");
        weigh(&mut inspection, self.home.path(), Path::new(""), Depth::Default, &ring, &Whose::LastStarted);
        inspection.outcome
    }

    /// Inspects at every depth and reads every key: none may panic.
    pub fn exercise(&self) {
        for depth in [Depth::Quick, Depth::Deep] {
            let options = Options { depth, threads: std::num::NonZeroUsize::new(1), ..Options::default() };
            let inspection = inspect(self.home.path(), &options).expect("the directory can be read");
            assert_eq!(inspection.databases.len(), 1);
        }
        let root = DataDir::open(self.home.path(), Arc::new(Meter::new(None, Arc::new(Silent)))).expect("a directory");
        let (found, _) = find(&root, self.home.path(), Depth::Default);
        for found in found {
            let Some(engine) = found.detection.sole() else { continue };
            let Ok(store) = open(found.place, engine) else { continue };
            let Ok(view) = store.view() else { continue };
            // Damaged order can make keys come again; that many are enough to walk through everything.
            for entry in view.range(b"", None).take(10_000) {
                let Ok((key, _)) = entry else { break };
                let _ = view.get(&key);
            }
            let _ = view.last_in(b"", None);
        }
    }
}

/// A version edit with every field that an engine needs, then `more`.
#[must_use]
pub fn manifest(more: &[u8]) -> Vec<u8> {
    let mut edit = vec![1, 26];
    edit.extend_from_slice(b"leveldb.BytewiseComparator");
    edit.extend_from_slice(&[2, 2, 3, 9, 4, 0]);
    edit.extend_from_slice(more);
    edit
}

/// One record, framed and sealed.
#[must_use]
pub fn log(record: &[u8]) -> Vec<u8> {
    framed(record, None)
}

/// One record of a log whose chunks carry its number.
#[must_use]
pub fn numbered_log(record: &[u8], number: u32) -> Vec<u8> {
    framed(record, Some(number))
}

fn framed(record: &[u8], number: Option<u32>) -> Vec<u8> {
    let mut out = Vec::new();
    let number = number.map(u32::to_le_bytes);
    let number = number.as_ref().map_or(&[][..], |bytes| &bytes[..]);
    let pieces = record.chunks(32_768 - 7 - number.len());
    let count = pieces.len();
    for (n, piece) in pieces.enumerate() {
        let kind = match (n == 0, n + 1 == count) {
            (true, true) => 1,
            (true, false) => 2,
            (false, false) => 3,
            (false, true) => 4,
        };
        let kind = if number.is_empty() { kind } else { kind + 4 };
        out.extend_from_slice(&chunk(kind, number, piece));
    }
    out
}

/// One chunk of a log, sealed; `number` is empty or the log's.
#[must_use]
pub fn chunk(kind: u8, number: &[u8], piece: &[u8]) -> Vec<u8> {
    let covered = [&[kind], number, piece].concat();
    let length = u16::try_from(piece.len()).expect("a piece is short");
    [&masked_crc32c(&covered).to_le_bytes()[..], &length.to_le_bytes(), &covered].concat()
}

/// A block with its trailer.
#[must_use]
pub fn block(payload: &[u8], compression: u8) -> Vec<u8> {
    let mut out = [payload, &[compression]].concat();
    let checksum = masked_crc32c(&out);
    out.extend_from_slice(&checksum.to_le_bytes());
    out
}

/// A table in the making: one sealed block after the other.
#[derive(Default)]
pub struct Table {
    /// What stands there so far.
    pub bytes: Vec<u8>,
}

impl Table {
    /// Adds a block; gives its handle, encoded.
    pub fn add(&mut self, payload: &[u8], compression: u8) -> Vec<u8> {
        let mut handle = Vec::new();
        uvarint(&mut handle, self.bytes.len() as u64);
        uvarint(&mut handle, payload.len() as u64);
        self.bytes.extend_from_slice(&block(payload, compression));
        handle
    }
}

/// Rows, each a restart point.
#[must_use]
pub fn rows(entries: &[(&[u8], &[u8])]) -> Vec<u8> {
    let (mut out, mut restarts) = (Vec::new(), Vec::new());
    for (key, value) in entries {
        restarts.extend_from_slice(&u32::try_from(out.len()).expect("short").to_le_bytes());
        out.push(0);
        uvarint(&mut out, key.len() as u64);
        uvarint(&mut out, value.len() as u64);
        out.extend_from_slice(key);
        out.extend_from_slice(value);
    }
    out.extend_from_slice(&restarts);
    out.extend_from_slice(&u32::try_from(entries.len()).expect("few").to_le_bytes());
    out
}

/// LEB128.
pub fn uvarint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
