//! The ring: what `loopbreaker guard` kept of a node's last starts, read back as evidence. *Files, read-only.*
//!
//! Engines destroy evidence at the first open after the damage (formats 7.1, fault lab). The guard looks before each
//! start and keeps what it saw in a ring of entries beside the data directory; this folder defines an entry, reads a
//! ring, and says what an old entry still means for the data of today. It writes nothing: the guard does.
//!
//! A ring is foreign input: snapshots copy it to other nodes, people copy data without it, and a disk can damage it. So
//! an entry counts only if the directory of today provably goes on from the state that it describes; everything else
//! is "could not tell" or nothing at all (P13).
//!
//! **In reading order:** `entry` (the format) → `facts` (what tells two states of a database apart) → `identity` and
//! `open_log` (its two proofs) → `link` (does today's directory go on from then?) → `fate` (what became of a finding)
//! and `unchecked` (and where nobody looked) → `carry` (all findings of an entry at once) → `read` (a ring on disk) → `weigh` (an inspection and a ring together).

mod carry;
mod entry;
mod facts;
mod fate;
mod identity;
mod link;
mod open_log;
mod read;
mod unchecked;
mod weigh;

pub use carry::{Kept, State, carry};
pub use entry::{
    Checked, KeptFile, KeptRange, Mark, RING_SCHEMA, RingDatabase, RingEntry, RingFinding, RingHeights, RingSigning,
    RingUpgrade,
};
pub use facts::{DatabaseFacts, collect_facts};
pub use fate::{Fate, Looked};
pub use identity::FileIdentity;
pub use read::{ENTRY_NAME, Ring, RingSlot, SlotState, UNFINISHED, identity_of, sequence_of};
pub use weigh::{RingReport, RingStart, Whose, weigh};
