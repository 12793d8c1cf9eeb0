//! Reads one log through the witness, in bounded memory. *No client.*

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use crashlog::{ExaminedLog, LogExamination};

use crate::{
    bundle::{BundleError, LogStream, open_log, open_log_or_pipe},
    progress::Progress,
    words::clean,
};

/// Bytes given to the witness at once.
const CHUNK: usize = 256 * 1024;

/// A log to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogSource {
    /// Where it is; `-` is standard input.
    pub(crate) path: PathBuf,
    /// What it is called in reports.
    pub(crate) label: String,
    /// Named by hand, so that it may be a pipe.
    pub(crate) by_hand: bool,
}

impl LogSource {
    /// A log named by hand.
    pub(crate) fn by_hand(path: &Path) -> Self {
        let label = if path == Path::new("-") { "standard input".to_owned() } else { clean(&path.to_string_lossy()) };
        Self { path: path.to_owned(), label, by_hand: true }
    }

    /// Its size on disk, where that can be told beforehand.
    pub(crate) fn bytes(&self) -> Option<u64> {
        std::fs::metadata(&self.path).ok().filter(std::fs::Metadata::is_file).map(|file| file.len())
    }

    fn open(&self, progress: &Progress) -> Result<LogStream, BundleError> {
        let open = if self.by_hand { open_log_or_pipe } else { open_log };
        open(&self.path, progress.counter())
    }
}

/// Reads a log to its end. `tap` sees every byte as well.
pub(crate) fn examine(
    source: &LogSource,
    progress: &Progress,
    tap: &mut dyn FnMut(&[u8]),
) -> Result<ExaminedLog, BundleError> {
    let mut stream = source.open(progress)?;
    let mut examination = LogExamination::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        let bytes = match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(bytes) => chunk.get(..bytes).unwrap_or_default(),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(BundleError::Unreadable { path: source.path.clone(), source: error }),
        };
        examination.feed(bytes);
        tap(bytes);
        progress.tick();
    }
    let gap = stream.note().map(str::to_owned);
    Ok(examination.finish(source.label.clone(), gap))
}
