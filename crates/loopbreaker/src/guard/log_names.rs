//! The file that the node's last log names: it is read first. *No client.*

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use crashlog::{Examiner, model::Model};

use crate::{disk_part::file_in_decisive_line, exit::one_line};

/// The end of a log is enough: a crash stands there.
const TAIL_BYTES: u64 = 4 << 20;

/// The first file that one of the logs names as damaged. A log that cannot be read names none; the reason is a line for
/// standard error.
pub(super) fn named_file(logs: &[PathBuf], unread: &mut Vec<String>) -> Option<PathBuf> {
    for log in logs {
        match read_tail(log) {
            Ok(text) => {
                let mut examiner = Examiner::new();
                examiner.feed(&text);
                let named = file_in_decisive_line(&examiner.finish(Model::built_in()));
                if named.is_some() {
                    return named;
                }
            }
            Err(error) => {
                let error = anyhow::Error::new(error);
                unread.push(format!("{}: {}; the log names no file to begin with", log.display(), one_line(&error)));
            }
        }
    }
    None
}

/// The last bytes of a regular file; a FIFO would keep the node waiting.
fn read_tail(path: &Path) -> std::io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("not a file"));
    }
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut text = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut text)?;
    Ok(text)
}
