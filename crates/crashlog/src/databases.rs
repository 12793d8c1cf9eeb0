//! Which database a failing record is about: by the path it names, else by who owns the code of its top frames. *No IO.*

use diagnosis::DatabaseName;

use crate::Record;

/// Directory names that a path in a message may hold.
const DIRECTORIES: &[&str] = &[
    "application.db",
    "blockstore.db",
    "state.db",
    "tx_index.db",
    "evidence.db",
    "cs.wal",
    "snapshots",
    "metadata.db",
];

/// Whose code it is that reads a database (the package and type of the frame, as in the sources of CometBFT and the SDK).
const OWNERS: &[(&str, &str)] = &[
    ("rootmulti.", "application"),
    ("iavl.", "application"),
    ("node.loadGenesisDoc", "state"),
    ("node.LoadStateFromDBOrGenesisDocProvider", "state"),
    ("state.dbStore", "state"),
    ("state.LoadState", "state"),
    ("state.loadState", "state"),
    ("state.loadValidatorsInfo", "state"),
    ("state.LoadValidators", "state"),
    ("store.(*BlockStore)", "blockstore"),
    ("store.LoadBlockStoreState", "blockstore"),
    ("store.NewBlockStore", "blockstore"),
    ("blockchain.(*BlockStore)", "blockstore"),
    ("kv.(*TxIndex)", "tx_index"),
    ("txindex.", "tx_index"),
    ("lite.", "light"),
    ("light.", "light"),
    ("proxy.NewVerifier", "light"),
    ("evidence.NewPool", "evidence"),
    ("evidence.(*Pool)", "evidence"),
    ("node.createEvidenceReactor", "evidence"),
    ("consensus.(*BaseWAL)", "cs.wal"),
    ("consensus.(*baseWAL)", "cs.wal"),
    ("consensus.(*WAL)", "cs.wal"),
    ("autofile.", "cs.wal"),
    ("snapshots.", "snapshots"),
];

/// The databases a record is about, the surest first, each once.
#[must_use]
pub(crate) fn databases(record: &Record) -> Vec<DatabaseName> {
    let mut found: Vec<DatabaseName> = Vec::new();
    let mut add = |name: &str| {
        let name = DatabaseName::new(name);
        if !found.contains(&name) {
            found.push(name);
        }
    };
    for text in [&record.message, &record.errors, &record.fields] {
        for directory in DIRECTORIES.iter().filter(|directory| text.contains(**directory)) {
            add(directory);
        }
    }
    // The first frame that belongs to a store decides: callers further out read other databases as well.
    if let Some(owner) = record.frames.iter().find_map(|frame| OWNERS.iter().find(|(code, _)| frame.starts_with(code)))
    {
        add(owner.1);
    }
    found
}
