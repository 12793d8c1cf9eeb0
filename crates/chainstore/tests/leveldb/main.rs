//! LevelDB directories, read as a user has them: real engines' files, every damage of small ones, and foul play.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "the helpers of tests are outside of test functions")]

mod kit;

mod record;

mod fixtures;

mod exhaustive;

mod hostile;

mod live;

mod pointers;
mod sick;

mod other_writer;
