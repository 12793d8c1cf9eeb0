//! A log's two ends out of a stream, in bounded memory. *No client.* (P13)

use std::time::Duration;

use futures::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant, timeout_at};

/// Of the beginning, where the first failure stands.
pub(super) const HEAD_MAX: usize = 1024 * 1024;
/// Of the end, where the panic stands.
pub(super) const TAIL_MAX: usize = 1024 * 1024;
/// Read of what was asked for as the end, at most; lines may be long.
pub(super) const READ_MAX: usize = 16 * 1024 * 1024;
/// One reading takes no longer.
const PATIENCE: Duration = Duration::from_mins(1);

/// How much is kept of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::collect) struct Bounds {
    /// Of its beginning.
    pub(in crate::collect) head: usize,
    /// Of its end.
    pub(in crate::collect) tail: usize,
    /// Read of what was asked for as the end, at most.
    pub(in crate::collect) read: usize,
}

/// What an examination for the record needs.
const FOR_THE_RECORD: Bounds = Bounds { head: HEAD_MAX, tail: TAIL_MAX, read: READ_MAX };

/// Which part is kept of a stream that is longer than the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::collect) enum Keep {
    Beginning,
    End,
}

/// How a stream ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::collect) enum StreamEnd {
    /// There was no more.
    Reached,
    /// There may be more: as much as is allowed was read.
    Cut,
    /// The connection broke off, or nothing came any more.
    BrokeOff(String),
}

/// What was kept of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::collect) struct Piece {
    pub(in crate::collect) bytes: Vec<u8>,
    pub(in crate::collect) end: StreamEnd,
}

/// Reads a stream for the record.
pub(super) async fn read(stream: impl AsyncRead, keep: Keep) -> Piece {
    read_within(stream, keep, FOR_THE_RECORD).await
}

/// Reads a stream. Memory stays within twice the bound.
pub(in crate::collect) async fn read_within(stream: impl AsyncRead, keep: Keep, bounds: Bounds) -> Piece {
    let mut stream = std::pin::pin!(stream);
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    let mut read: usize = 0;
    let patient_until = Instant::now() + PATIENCE;
    let end = loop {
        let came = match timeout_at(patient_until, stream.read(&mut chunk)).await {
            Ok(Ok(0)) => break StreamEnd::Reached,
            Ok(Ok(came)) => came,
            Ok(Err(error)) => break StreamEnd::BrokeOff(error.to_string()),
            Err(_) => break StreamEnd::BrokeOff(format!("not all of it came within {} s", PATIENCE.as_secs())),
        };
        bytes.extend_from_slice(chunk.get(..came).unwrap_or_default());
        read = read.saturating_add(came);
        match keep {
            Keep::Beginning if bytes.len() >= bounds.head => {
                bytes.truncate(bounds.head);
                break StreamEnd::Cut;
            }
            Keep::End if read >= bounds.read => break StreamEnd::Cut,
            Keep::End if bytes.len() >= bounds.tail.saturating_mul(2) => keep_last(&mut bytes, bounds.tail),
            Keep::Beginning | Keep::End => {}
        }
    };
    if keep == Keep::End {
        keep_last(&mut bytes, bounds.tail);
    }
    Piece { bytes, end }
}

fn keep_last(bytes: &mut Vec<u8>, most: usize) {
    bytes.drain(..bytes.len().saturating_sub(most));
}

/// What of a log's end comes after its beginning. `None`: the two do not meet, something between them was not read.
pub(in crate::collect) fn rest<'t>(head: &[u8], tail: &'t [u8]) -> Option<&'t [u8]> {
    /// Fewer equal bytes may be chance.
    const MARK: usize = 256;
    let mark = head.get(head.len().checked_sub(MARK)?..)?;
    // Where the two overlap, the tail begins with bytes by which the head ends.
    let ends = tail.windows(MARK).enumerate().filter(|(_, window)| *window == mark).map(|(at, _)| at + MARK);
    let mut meets = ends.filter(|end| tail.get(..*end).is_some_and(|common| head.ends_with(common)));
    // With lines that repeat, the longest overlap is the true one.
    meets.next_back().and_then(|end| tail.get(end..))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(from: usize, to: usize) -> Vec<u8> {
        (from..to)
            .flat_map(|line| format!("{line:09} INF committed a block, as every few seconds\n").into_bytes())
            .collect()
    }

    fn read_now(bytes: &[u8], keep: Keep) -> Piece {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(read(bytes, keep))
    }

    #[test]
    fn a_short_log_is_kept_whole() {
        for keep in [Keep::Beginning, Keep::End] {
            let piece = read_now(b"one\ntwo\n", keep);
            assert_eq!((piece.bytes.as_slice(), piece.end), (b"one\ntwo\n".as_slice(), StreamEnd::Reached));
        }
    }

    #[test]
    fn of_a_long_one_the_asked_end_is_kept() {
        let log = lines(0, 80_000);
        let head = read_now(&log, Keep::Beginning);
        assert_eq!((head.bytes.len(), &head.end), (HEAD_MAX, &StreamEnd::Cut));
        assert!(log.starts_with(&head.bytes));
        let tail = read_now(&log, Keep::End);
        assert_eq!((tail.bytes.len(), &tail.end), (TAIL_MAX, &StreamEnd::Reached));
        assert!(log.ends_with(&tail.bytes));
    }

    #[test]
    fn no_more_is_read_than_is_allowed() {
        let endless = vec![b'x'; READ_MAX + 1];
        let piece = read_now(&endless, Keep::End);
        assert_eq!((piece.bytes.len(), piece.end), (TAIL_MAX, StreamEnd::Cut));
    }

    #[test]
    fn two_ends_that_overlap_are_joined_without_a_gap() {
        let log = lines(0, 30_000);
        let (head, tail) = (&log[..HEAD_MAX], &log[log.len() - TAIL_MAX..]);
        let rest = rest(head, tail).expect("they meet");
        assert_eq!([head, rest].concat(), log);
    }

    #[test]
    fn two_ends_that_do_not_meet_are_not_joined() {
        let log = lines(0, 80_000);
        assert_eq!(rest(&log[..HEAD_MAX], &log[log.len() - TAIL_MAX..]), None);
        assert_eq!(rest(b"short", b"short and more"), None);
    }
}
