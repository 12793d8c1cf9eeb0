//! What stands around a process' own line is taken away, in any nesting.

use crashlog::Emitter;

use crate::{one, read, read_all};

const LINE: &str = r#"8:59PM ERR Repair failed err="bad \"file\" descriptor" module=consensus"#;

fn docker(text: &str, stream: &str) -> String {
    let text = text.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n").replace('\x1b', r"\u001b");
    format!(r#"{{"log":"{text}","stream":"{stream}","time":"2026-11-30T20:59:28.123456789Z"}}"#)
}

#[test]
fn every_prefix_is_removed() {
    let prefixes = [
        "",
        "    ",
        "> ",
        "2026-11-30T20:59:28.123456789Z stdout F ",
        "2026-11-30T20:59:28.123456789+01:00 stderr F ",
        "2026-11-30T20:59:28.123456789Z ",
        "[pod/node-0/node] ",
        "[pod/node-0/node] 2026-11-30T20:59:28.123456789Z ",
        "node-0  | ",
        "node0_1 | ",
        "[node-0] ",
        "[oline]: ",
        "Nov 30 20:59:28 host-1 gaiad[4679]: ",
        "Nov  3 20:59:28 host-1 cosmovisor[4679]: ",
        "Nov 30 20:59:28 gaiad[4679]: ",
        "Nov 30 20:59:28  gaiad[4679]: ",
        "Nov 30 20:59:28.123456 host-1 gaiad[4679]: ",
        "2026-11-30T20:59:28+0000 host-1 gaiad[4679]: ",
        "2026-11-30T20:59:28.123456+00:00 host-1 gaiad[4679]: ",
        "Nov 30 20:59:28 host-1 docker-node[4679]: node-0  | ",
        "2026-11-30T20:59:28.1Z stdout F Nov 30 20:59:28 host-1 gaiad[4679]: ",
    ];
    let expected = one(LINE);
    assert_eq!(expected.errors, "bad \"file\" descriptor");
    for prefix in prefixes {
        for end in ["", "\n", "\r\n"] {
            assert_eq!(one(format!("{prefix}{LINE}{end}")), expected, "{prefix:?} {end:?}");
        }
    }
}

#[test]
fn docker_stores_json() {
    let coloured = LINE.replace("ERR", "\x1b[31mERR\x1b[0m");
    assert_eq!(one(docker(&format!("{coloured}\n"), "stderr")), one(LINE));
    let (first, second) = LINE.split_at(20);
    let log = format!("{}\n{}\n", docker(first, "stdout"), docker(&format!("{second}\n"), "stdout"));
    let record = one(log);
    assert_eq!((&*record.message, &*record.errors, record.lines), ("Repair failed", "bad \"file\" descriptor", 2));
}

#[test]
fn partial_lines_of_the_kubelet_are_joined() {
    let (stamp, (first, second)) = ("2026-11-30T20:59:28.1Z", LINE.split_at(30));
    let log = format!("{stamp} stderr P {first}\n{stamp} stderr F {second}\n{stamp} stdout F INF next\n");
    let records = read(log);
    assert_eq!(records.len(), 2);
    assert_eq!((&*records[0].errors, records[0].lines, records[1].line), ("bad \"file\" descriptor", 2, 3));
    // The end of the other stream's line is no end of this one.
    let log = format!("{stamp} stderr P {first}\n{stamp} stdout F INF next\n{stamp} stderr F {second}\n");
    assert_eq!(read(log)[1].message, "next");
}

#[test]
fn partial_lines_keep_the_limit() {
    let part = format!("2026-11-30T20:59:28.1Z stdout P {}\n", "x".repeat(16 * 1024));
    let record = one(part.repeat(40));
    assert!(record.cut && record.message.len() <= 16 * 1024);
    assert_eq!(record.lines, 40);
}

#[test]
fn the_machines_own_lines() {
    let lines = [
        ("Nov 30 20:59:28 host-1 systemd[1]: gaiad.service: Main process exited", "gaiad.service: Main process exited"),
        ("Nov 30 20:59:28 systemd[1]: Stopped gaiad.", "Stopped gaiad."),
        ("Nov 30 20:59:28 host-1 kernel: EXT4-fs error (device sda1)", "EXT4-fs error (device sda1)"),
        (
            "Nov 30 20:59:28 host-1 kernel: [  123.456789] EXT4-fs error (device sda1)",
            "[  123.456789] EXT4-fs error (device sda1)",
        ),
        ("[ 4213.456789] EXT4-fs error (device sda1)", "EXT4-fs error (device sda1)"),
        ("[4213.456789] Out of memory: Killed process 4679 (gaiad)", "Out of memory: Killed process 4679 (gaiad)"),
        ("2026-11-30T20:59:28+0000 host-1 kernel: oom-kill", "oom-kill"),
        (
            "Nov 30 20:59:28 host-1 kubelet[812]: E1130 20:59:28.952 812 kubelet.go:12] x",
            "E1130 20:59:28.952 812 kubelet.go:12] x",
        ),
        (
            "Nov 30 20:59:28 host-1 containerd[812]: time=\"x\" level=error msg=\"x\"",
            "time=\"x\" level=error msg=\"x\"",
        ),
        ("exec /usr/bin/simd: exec format error", "exec /usr/bin/simd: exec format error"),
        ("Killed", "Killed"),
        (
            "gaiad: error while loading shared libraries: libwasmvm.so: no",
            "gaiad: error while loading shared libraries: libwasmvm.so: no",
        ),
    ];
    for (line, message) in lines {
        let record = one(line);
        assert_eq!((record.emitter, &*record.message), (Emitter::Os, message), "{line}");
    }
}

#[test]
fn what_looks_like_a_prefix_is_none() {
    let messages = [
        "leveldb/table: corruption on data-block (pos=1): checksum mismatch, want=0x1 got=0x2 [file=1.ldb]",
        "open /data/priv_validator_state.json: no such file or directory",
        "[signal SIGBUS: bus error code=0x2 addr=0x2 pc=0x5]",
        "Error: exit status 1",
    ];
    for message in messages {
        assert_eq!(one(message).message, message);
    }
}

#[test]
fn shares_of_text_and_of_a_nodes_lines() {
    let (_, summary) = read_all(format!("{LINE}\n\nsome text\n"));
    assert_eq!((summary.lines, summary.records, summary.text_share, summary.node_lines), (3, 2, 1000, 1));
    assert!(!summary.binary && !summary.frames_without_head);
    let (records, summary) = read_all(b"\x7fELF\x02\x01\x01\0\0\0\n\0\x01\x02\n\xff\xfe\xfd\nx\n");
    assert_eq!((records.len(), summary.text_share, summary.binary), (1, 250, true));
    let (_, summary) = read_all("");
    assert_eq!((summary.lines, summary.text_share, summary.binary), (0, 1000, false));
}
