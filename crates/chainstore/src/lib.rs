//! Reads the databases of a node on disk without their engines, and says whether they are damaged. *Files, read-only.*

mod cut;

mod checksum;

mod progress;

mod meter;

mod finding;

mod outcome;

mod files;

mod data_file;

mod engine;

mod view;

mod attribution;

mod lsm;

mod store;

mod leveldb;

mod density;

mod places;

mod live;

mod crew;

mod inspect;

pub use checksum::{Crc32c, crc32c, mask, masked_crc32c, unmask};
pub use cut::{Cut, CutError, CutProblem, Part};
pub use data_file::{DataFile, PAGE, SecondRead};
pub use density::{Density, density};
pub use engine::{Detection, Engine, detect, detect_file};
pub use files::{DataDir, EntryKind, FileEntry, ReadError, ReadProblem};
pub use finding::{Attribution, Finding, FindingKind, Severity};
pub use inspect::{DatabaseReport, Inspection, Options, inspect};
pub use meter::Meter;
pub use outcome::{Check, Checks, Outcome, Reason};
pub use places::{FoundPlace, find};
pub use progress::{Progress, Silent};
pub use store::{Depth, Place, Prediction, Scratch, Store, TableRef, WINDOW_BYTES, open};
pub use view::{Entry, KeyValues, ViewError, prefix_end};
