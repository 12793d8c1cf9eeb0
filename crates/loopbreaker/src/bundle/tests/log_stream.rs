//! Logs, plain and compressed.

use std::io::{Read, Write};

use flate2::{Compression, write::GzEncoder};

use super::*;
use crate::progress::BytesRead;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).expect("compressed");
    encoder.finish().expect("finished")
}

fn read(content: impl AsRef<[u8]>) -> (Vec<u8>, Option<String>) {
    let folder = Folder::new().with("log", content);
    let mut stream = open_log(&folder.path().join("log"), BytesRead::default()).expect("opened");
    let mut text = Vec::new();
    stream.read_to_end(&mut text).expect("read");
    (text, stream.note().map(str::to_owned))
}

#[test]
fn plain_and_compressed() {
    assert_eq!(read("panic: x\n"), (b"panic: x\n".to_vec(), None));
    assert_eq!(read(gzip(b"panic: x\n")), (b"panic: x\n".to_vec(), None));
    assert_eq!(read([gzip(b"a\n"), gzip(b"b\n")].concat()), (b"a\nb\n".to_vec(), None), "several members");
    for short in [&b""[..], b"x", b"\x1f"] {
        assert_eq!(read(short), (short.to_vec(), None));
    }
}

#[test]
fn a_cut_stream_yields_what_came_before() {
    let lines: String = (0..20_000)
        .flat_map(|height| ["INF committed state height=".to_owned(), height.to_string(), "\n".to_owned()])
        .collect();
    let whole = gzip(lines.as_bytes());
    let (text, note) = read(&whole[..whole.len() / 2]);
    assert!(text.len() > 1000 && lines.as_bytes().starts_with(&text), "{} bytes", text.len());
    assert!(note.expect("a note").starts_with("the gzip stream breaks off, what came before it was read ("));
    let (text, note) = read(&whole[..whole.len() - 4]);
    assert_eq!((text.len(), note.is_some()), (lines.len(), true), "only the length is missing");
}

#[test]
fn a_damaged_stream_ends_with_a_note() {
    let mut bytes = gzip(b"panic: x\n");
    bytes.extend_from_slice(b"trailing words");
    let (text, note) = read(&bytes);
    assert_eq!((text.as_slice(), note.is_some()), (&b"panic: x\n"[..], true));
    let (text, note) = read([0x1f, 0x8b, 0xff, 0xff, 0xff]);
    assert_eq!((text.len(), note.is_some()), (0, true));
}

#[test]
fn no_such_log() {
    let error = open_log(Path::new("nowhere/node.log"), BytesRead::default()).err().expect("no file");
    assert_eq!(error.to_string(), "nowhere/node.log: no such file or directory (check the path)");
    assert_eq!(
        open_log(Folder::new().path(), BytesRead::default()).err().expect("a directory").category(),
        "unreadable"
    );
}

#[test]
fn streams_are_read_piece_by_piece() {
    fn is_a_reader(_: impl Read) {}
    let folder = Folder::new().with("log", gzip(&vec![b'x'; 8 * 1024 * 1024]));
    let mut stream: LogStream = open_log(&folder.path().join("log"), BytesRead::default()).expect("opened");
    let mut piece = [0; 1000];
    assert_eq!(stream.read(&mut piece).expect("read"), 1000);
    is_a_reader(stream);
}
