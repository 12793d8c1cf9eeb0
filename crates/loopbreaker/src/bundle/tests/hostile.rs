//! Files that nobody sane would send. *P13*: an answer each time, in bounded time and memory.

use std::fmt::Write;

use super::*;

fn only_note(content: impl AsRef<[u8]>) -> String {
    let notes = Folder::new().with("objects/x.yaml", content).notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    notes[0].clone()
}

#[test]
fn an_anchor_bomb() {
    let mut bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for (this, last) in ('b'..='z').zip('a'..) {
        let nine = vec![format!("*{last}"); 9].join(", ");
        writeln!(bomb, "{this}: &{this} [{nine}]").expect("written");
    }
    let note = only_note(bomb);
    assert!(note.starts_with("objects/x.yaml, document 1: skipped, cannot be read: "), "{note}");
}

fn nested(levels: usize, indent: impl Fn(usize) -> usize) -> String {
    let mut text = String::new();
    for level in 0..levels {
        writeln!(text, "{}a:", " ".repeat(indent(level))).expect("written");
    }
    text
}

#[test]
fn ten_thousand_levels_of_brackets() {
    let flow = "[".repeat(10_000);
    assert!(only_note(&flow).contains("cannot be read"));
    assert!(only_note(format!("a: {flow}")).contains("cannot be read"));
    let closed = format!("{flow}{}", "]".repeat(10_000));
    assert!(only_note(format!("a: {closed}")).contains("cannot be read"));
    let json = format!("{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000));
    assert!(only_note(json).contains("cannot be read"));
}

#[test]
fn ten_thousand_levels_of_dashes() {
    assert!(only_note("- ".repeat(10_000)).contains("cannot be read"));
}

#[test]
fn two_thousand_levels_of_indentation() {
    assert!(only_note(nested(2_000, |level| level)).contains("cannot be read"));
}

#[test]
fn saw_teeth_of_indentation() {
    assert!(only_note(nested(10_000, |level| level % 200)).contains("cannot be read"));
}

#[test]
fn a_file_of_twenty_mebibytes() {
    let folder = Folder::new().with("objects/huge.yaml", vec![b'#'; 20 * 1024 * 1024]);
    assert_eq!(
        folder.error(),
        "too_large: BUNDLE/objects/huge.yaml: larger than 16 MiB (keep only the incident's objects: `kubectl get pods,pvc,events -n NAMESPACE -o yaml`)"
    );
}

#[test]
fn bytes_that_are_no_text() {
    assert_eq!(
        only_note([0xff, 0xfe, 0x00]),
        "objects/x.yaml, document 1: skipped, cannot be read: the file is not UTF-8 text"
    );
}

#[test]
fn words_that_would_repaint_the_terminal() {
    let note = only_note("kind: \"\\e[2J\\e[31mPod\\nall is well\"\napiVersion: v1\n");
    assert_eq!(note, "objects/x.yaml, document 1: skipped: kind \u{fffd}[2J\u{fffd}[31mPod all is well");
}

#[test]
fn many_markers() {
    let folder = Folder::new().with("objects/x.yaml", "---\n".repeat(100_000));
    assert!(folder.notes().is_empty());
    let folder = Folder::new().with("objects/x.yaml", "---\n]\n".repeat(3_000));
    assert_eq!(folder.notes().len(), 3_000);
}

#[test]
fn tags_and_directives() {
    for text in
        ["%YAML 1.2\n---\n!!python/object/apply:os.system [ls]\n", "!include /etc/passwd\n", "a: *nobody\n", "<<: *x\n"]
    {
        assert!(only_note(text).starts_with("objects/x.yaml, document 1: skipped"), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn a_directory_named_like_a_file() {
    let folder = Folder::new().with("objects/pod.yaml/inner", "");
    assert_eq!(folder.notes(), ["objects/pod.yaml: ignored: expected objects/*.yaml, *.yml or *.json"]);
}
