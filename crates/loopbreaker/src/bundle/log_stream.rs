//! The bytes of a log, decompressed where it is compressed. *No client.*

use std::{
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use flate2::bufread::MultiGzDecoder;

use scene::one_line;

use super::{
    BundleError,
    read::{open_named, open_regular},
};
use crate::progress::BytesRead;

/// RFC 1952, 2.3.1.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

type Source = BufReader<Box<dyn Read + Send>>;

/// A log being read. A gzip stream that was cut or damaged ends where it can no longer be read; see [`LogStream::note`].
pub(crate) struct LogStream {
    bytes: Bytes,
    note: Option<String>,
}

enum Bytes {
    Plain(Source),
    Gzip(Box<MultiGzDecoder<Source>>),
}

/// Opens a bundle's log. Compression is told by the first bytes, not by the name. `read` counts the bytes as they lie in
/// the file.
pub(crate) fn open_log(path: &Path, read: BytesRead) -> Result<LogStream, BundleError> {
    let source = Box::new(open_regular(path)?);
    LogStream::open(path, Counted { source, read })
}

/// Opens a log that was named by hand: standard input for `-`, or a pipe (`<(kubectl logs …)`).
pub(crate) fn open_log_or_pipe(path: &Path, read: BytesRead) -> Result<LogStream, BundleError> {
    LogStream::open(path, Counted { source: open_named(path)?, read })
}

impl LogStream {
    fn open(path: &Path, source: Counted) -> Result<Self, BundleError> {
        Self::new(Box::new(source)).map_err(|source| BundleError::Unreadable { path: path.to_owned(), source })
    }

    fn new(source: Box<dyn Read + Send>) -> io::Result<Self> {
        let mut source = BufReader::new(source);
        // One read may bring a single byte from a pipe; then there is nothing to tell a gzip stream by yet, so ask again.
        let mut first: Vec<u8> = Vec::with_capacity(GZIP_MAGIC.len());
        while first.len() < GZIP_MAGIC.len() {
            let Some(byte) = source.fill_buf()?.first().copied() else { break };
            first.push(byte);
            source.consume(1);
        }
        let compressed = first == GZIP_MAGIC;
        let source: Source = BufReader::new(Box::new(io::Cursor::new(first).chain(source)));
        let bytes = if compressed { Bytes::Gzip(Box::new(MultiGzDecoder::new(source))) } else { Bytes::Plain(source) };
        Ok(Self { bytes, note: None })
    }

    /// Once read to its end: why the log is not complete, if it is not.
    pub(crate) fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }
}

struct Counted {
    source: Box<dyn Read + Send>,
    read: BytesRead,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.source.read(buffer)?;
        self.read.add(bytes);
        Ok(bytes)
    }
}

impl Read for LogStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let gzip = match &mut self.bytes {
            Bytes::Plain(source) => return source.read(buffer),
            Bytes::Gzip(gzip) => gzip,
        };
        if self.note.is_some() {
            return Ok(0);
        }
        match gzip.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                self.note = Some(format!(
                    "the gzip stream breaks off, what came before it was read ({})",
                    one_line(&error.to_string())
                ));
                Ok(0)
            }
            read => read,
        }
    }
}
