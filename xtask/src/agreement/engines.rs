//! The engines that are asked, and how each is called.

use std::{path::PathBuf, process::Command};

use anyhow::Result;
use clap::ValueEnum;

use crate::peers::{self, Program};

/// An engine, in the version that chains pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineUnderTest {
    #[value(name = "goleveldb")]
    GoLevelDb,
    #[value(name = "leveldb")]
    LevelDb,
    Pebble1,
    Pebble2,
    #[value(name = "rocksdb")]
    RocksDb,
}

/// An engine that can be asked.
pub(super) struct Peer {
    words: Vec<PathBuf>,
}

impl Peer {
    /// The engine's program with a verb.
    pub(super) fn command(&self, verb: &str) -> Command {
        let mut words = self.words.iter();
        let mut command = Command::new(words.next().cloned().unwrap_or_default());
        command.args(words).arg(verb);
        command
    }
}

impl EngineUnderTest {
    pub(super) const ALL: &'static [Self] =
        &[Self::GoLevelDb, Self::LevelDb, Self::Pebble1, Self::Pebble2, Self::RocksDb];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::GoLevelDb => "goleveldb",
            Self::LevelDb => "LevelDB",
            Self::Pebble1 => "Pebble 1",
            Self::Pebble2 => "Pebble 2",
            Self::RocksDb => "RocksDB",
        }
    }

    /// What its strictest check is.
    pub(super) fn strictest(self) -> &'static str {
        match self {
            Self::GoLevelDb => "opened with `StrictAll`, every key read",
            Self::LevelDb => "opened with `paranoid_checks`, every key read with `verify_checksums`",
            Self::Pebble1 | Self::Pebble2 => "opened read-only, `CheckLevels`, every block checksum, every key read",
            Self::RocksDb => {
                "opened with `paranoid_checks`, every key read, `sst_dump --command=verify --verify_checksum`"
            }
        }
    }

    /// Its folder of fixtures, and of what is kept.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Self::GoLevelDb => "goleveldb",
            Self::LevelDb => "leveldb",
            Self::Pebble1 => "pebble",
            Self::Pebble2 => "pebble-2",
            Self::RocksDb => "rocksdb",
        }
    }

    /// Builds its program, or installs what it needs.
    pub(super) fn prepare(self) -> Result<Peer> {
        match self {
            Self::GoLevelDb => Ok(Peer { words: vec![Program::GoLevelDb.build()?] }),
            Self::Pebble1 => Ok(Peer { words: vec![Program::Pebble1.build()?] }),
            Self::Pebble2 => Ok(Peer { words: vec![Program::Pebble2.build()?] }),
            Self::LevelDb | Self::RocksDb => Ok(Peer { words: peers::python(self.folder())?.into() }),
        }
    }
}
