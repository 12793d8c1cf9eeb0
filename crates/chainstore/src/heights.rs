//! How far each part of a node has come. *No files.*

/// How far one database has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Level {
    /// Its record says this height.
    At(u64),
    /// There is no such database, or it is empty: a node that starts here begins at 0.
    Empty,
    /// Nobody could tell.
    #[default]
    Unknown,
}

impl Level {
    /// The height that a record says.
    #[must_use]
    pub fn height(self) -> Option<u64> {
        match self {
            Self::At(height) => Some(height),
            Self::Empty | Self::Unknown => None,
        }
    }

    /// The height that a node would start from.
    #[must_use]
    pub fn at_start(self) -> Option<u64> {
        match self {
            Self::At(height) => Some(height),
            Self::Empty => Some(0),
            Self::Unknown => None,
        }
    }
}

/// The heights of a node's databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Heights {
    /// The application's last committed version (`s/latest`).
    pub application: Level,
    /// The last block that was applied (`stateKey`).
    pub state: Level,
    /// The last block that was stored (`blockStore`).
    pub blockstore: Level,
    /// The first block that is still stored.
    pub blockstore_base: Level,
}
