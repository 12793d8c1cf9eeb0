//! One event is one canonical record, whatever format it was written in.

use crashlog::{Emitter, Level, Record};

use crate::{one, read, read_all};

/// What is canonical of a record.
fn canonical(record: &Record) -> (Level, Emitter, &str, &str, &str, &str) {
    (record.level, record.emitter, &record.module, &record.message, &record.errors, &record.fields)
}

/// The event of `flush` in each format.
const FLUSH: [(&str, &str); 15] = [
    (
        "plain",
        r#"E[2026-11-30|20:59:28.989] Periodic WAL flush failed                    module=consensus wal=/data/cs.wal/wal err="write /data/cs.wal/wal: no \"space\" left" height=12"#,
    ),
    (
        "plain without a year",
        r#"E[11-30|20:59:28.989] Periodic WAL flush failed  module=consensus wal=/data/cs.wal/wal err="write /data/cs.wal/wal: no \"space\" left" height=12"#,
    ),
    (
        "console",
        r#"8:59PM ERR Periodic WAL flush failed err="write /data/cs.wal/wal: no \"space\" left" height=12 module=consensus wal=/data/cs.wal/wal"#,
    ),
    (
        "console without a time",
        r#"ERR Periodic WAL flush failed err="write /data/cs.wal/wal: no \"space\" left" height=12 module=consensus wal=/data/cs.wal/wal"#,
    ),
    (
        "console with a date",
        r#"2026-11-30T20:59:28Z ERR Periodic WAL flush failed err="write /data/cs.wal/wal: no \"space\" left" height=12 module=consensus wal=/data/cs.wal/wal"#,
    ),
    (
        "coloured",
        "\x1b[90m8:59PM\x1b[0m \x1b[1m\x1b[31mERR\x1b[0m\x1b[0m \x1b[1mPeriodic WAL flush failed\x1b[0m \x1b[36merr=\x1b[0m\x1b[31m\x1b[1m\"write /data/cs.wal/wal: no \\\"space\\\" left\"\x1b[0m\x1b[0m \x1b[36mheight=\x1b[0m12 \x1b[36mmodule=\x1b[0mconsensus \x1b[36mwal=\x1b[0m/data/cs.wal/wal",
    ),
    (
        "colours without their escape bytes",
        "[90m8:59PM[0m [1m[31mERR[0m[0m [1mPeriodic WAL flush failed[0m [36merr=[0m[31m[1m\"write /data/cs.wal/wal: no \\\"space\\\" left\"[0m[0m [36mheight=[0m12 [36mmodule=[0mconsensus [36mwal=[0m/data/cs.wal/wal",
    ),
    (
        "JSON of zerolog",
        r#"{"level":"error","module":"consensus","err":"write /data/cs.wal/wal: no \"space\" left","wal":"/data/cs.wal/wal","height":12,"time":"2026-11-30T20:59:28Z","message":"Periodic WAL flush failed"}"#,
    ),
    (
        "JSON of Tendermint",
        r#"{"_msg":"Periodic WAL flush failed","err":"write /data/cs.wal/wal: no \"space\" left","height":12,"level":"error","module":"consensus","ts":"2026-11-30T20:59:28Z","wal":"/data/cs.wal/wal"}"#,
    ),
    (
        "JSON of go-kit",
        r#"{"caller":"wal.go:151","err":"write /data/cs.wal/wal: no \"space\" left","height":12,"level":"error","module":"tendermint:consensus","msg":"Periodic WAL flush failed","ts":"2026-11-30T20:59:28Z","wal":"\/data\/cs.wal\/wal"}"#,
    ),
    (
        "logrus",
        r#"time="2026-11-30T20:59:28Z" level=error msg="Periodic WAL flush failed" err="write /data/cs.wal/wal: no \"space\" left" height=12 module=consensus wal=/data/cs.wal/wal"#,
    ),
    (
        "slog",
        r#"time=2026-11-30T20:59:28.123Z level=ERROR msg="Periodic WAL flush failed" module=consensus height=12 wal=/data/cs.wal/wal err="write /data/cs.wal/wal: no \"space\" left""#,
    ),
    (
        "geth",
        r#"ERROR[11-30|20:59:28.123] Periodic WAL flush failed                module=consensus height=12 wal=/data/cs.wal/wal err="write /data/cs.wal/wal: no \"space\" left""#,
    ),
    (
        "tracing",
        r#"2026-11-30T20:59:28.123456Z ERROR consensus: Periodic WAL flush failed height=12 wal=/data/cs.wal/wal err="write /data/cs.wal/wal: no \"space\" left""#,
    ),
    (
        "env_logger",
        r#"[2026-11-30T20:59:28Z ERROR consensus] Periodic WAL flush failed height=12 wal=/data/cs.wal/wal err="write /data/cs.wal/wal: no \"space\" left""#,
    ),
];

#[test]
fn one_event_is_one_record_in_every_format() {
    let error = r#"write /data/cs.wal/wal: no "space" left"#;
    let expected =
        (Level::Error, Emitter::Log, "consensus", "Periodic WAL flush failed", error, "height=12 wal=/data/cs.wal/wal");
    for (format, line) in FLUSH {
        assert_eq!(canonical(&one(line)), expected, "{format}");
    }
}

#[test]
fn levels_of_every_format() {
    let rows = [
        ("D[2026-11-30|20:59:28.989] x", Level::Debug),
        ("I[2026-11-30|20:59:28.989] x", Level::Info),
        ("8:59PM DBG x", Level::Debug),
        ("12:04AM INF x", Level::Info),
        ("WRN x", Level::Warn),
        ("FTL x", Level::Fatal),
        ("PNC x", Level::Fatal),
        (r#"{"level":"warn","message":"x"}"#, Level::Warn),
        (r#"{"level":"fatal","message":"x"}"#, Level::Fatal),
        (r#"{"time":"2026-11-30T20:59:28Z","level":"INFO","msg":"x"}"#, Level::Info),
        (r#"{"message":"x"}"#, Level::None),
        ("INFO [11-30|20:59:28.123] x", Level::Info),
        ("WARN[11-30|20:59:28] x", Level::Warn),
        ("E1130 20:59:28.952123       1 file.go:12] x", Level::Error),
        ("2026-11-30T20:59:28Z  INFO target: x", Level::Info),
        ("[11-30|20:59:28.396] WARN <P Chain> handler/handler.go:1019 x", Level::Warn),
        ("2026-11-30T20:59:28.326Z\tERROR\tcore\tnode/node.go:191\tx", Level::Error),
    ];
    for (line, level) in rows {
        let record = one(line);
        assert_eq!((record.level, &*record.message), (level, "x"), "{line}");
    }
}

#[test]
fn fields_after_a_message_in_one_json_object() {
    let zap = one(
        "2026-11-30T20:59:28.326Z\tERROR\tcore\tnode/node.go:191\tproblem starting\t{\"error\": \"EOF\", \"height\": 3}",
    );
    assert_eq!(
        (&*zap.module, &*zap.message, &*zap.errors, &*zap.fields),
        ("core", "problem starting", "EOF", "height=3")
    );
    let chain =
        one(r#"[11-30|20:59:28.396] ERROR corruptabledb/db.go:146 closing database {"error": "no space left"}"#);
    assert_eq!((&*chain.message, &*chain.errors), ("closing database", "no space left"));
}

#[test]
fn fields_below_a_warning_only_for_the_three_heights() {
    let heights = one("8:59PM INF ABCI Replay Blocks appHeight=14 module=consensus stateHeight=14 storeHeight=15");
    assert_eq!(heights.fields, "appHeight=14 stateHeight=14 storeHeight=15");
    let json = one(
        r#"{"level":"info","module":"consensus","storeHeight":15,"appHeight":14,"stateHeight":14,"message":"ABCI Replay Blocks"}"#,
    );
    assert_eq!(canonical(&json), canonical(&heights));
    assert_eq!(one("8:59PM INF executed block height=14 module=state").fields, "");
    assert_eq!(one("8:59PM INF failed to verify err=\"EOF\" module=statesync").errors, "EOF");
}

#[test]
fn a_message_beside_a_field_called_msg() {
    let json = one(r#"{"level":"error","module":"proxy","msg":{},"impl":"multiAppConn","message":"service start"}"#);
    let console = one("8:59PM ERR service start impl=multiAppConn module=proxy msg={}");
    assert_eq!(canonical(&json), canonical(&console));
    assert_eq!(json.message, "service start");
}

#[test]
fn a_message_that_lost_its_head() {
    let heights = one("ABCI Replay Blocks appHeight=17139399 storeHeight=17139401 stateHeight=17139400");
    assert_eq!((heights.emitter, heights.level), (Emitter::Log, Level::None));
    assert_eq!(heights.fields, "appHeight=17139399 stateHeight=17139400 storeHeight=17139401");
    let validation =
        one(r#"Error in validation err="wrong Block.Header.AppHash.  Expected 1, got 2" module=blocksync"#);
    assert_eq!((validation.emitter, &*validation.module), (Emitter::Log, "blocksync"));
    assert_eq!(validation.errors, "wrong Block.Header.AppHash.  Expected 1, got 2");
}

#[test]
fn escapes_of_go_and_of_json() {
    let go = one(r#"ERR x err="a\tb\x07c\u00e9\xff\\ \"d\"""#);
    assert_eq!(go.errors, "a\tb\u{7}c\u{e9}\u{fffd}\\ \"d\"");
    let json = one(r#"{"level":"error","err":"\ud83d\ude00 \u00e9 \ud83d","message":"x"}"#);
    assert_eq!(json.errors, "\u{1f600} \u{e9} \u{fffd}");
}

#[test]
fn an_unquoted_value_goes_up_to_the_next_key() {
    let record = one("ERR x err=no space left on device module=state height=3");
    assert_eq!((&*record.errors, &*record.module, &*record.fields), ("no space left on device", "state", "height=3"));
}

#[test]
fn quotes_inside_a_quoted_value() {
    let record = one(
        r#"E[2026-11-30|20:59:28.989] CONSENSUS FAILURE!!!  module=consensus err="ERROR:\nMessage: "19muon"\n" height=3"#,
    );
    assert_eq!((&*record.errors, &*record.fields), ("ERROR:\nMessage: \"19muon\"\n", "height=3"));
}

#[test]
fn the_stack_of_a_consensus_failure_becomes_frames() {
    let stack = r"goroutine 50 [running]:\nruntime/debug.Stack(0x79, 0xd6)\n\t/usr/local/go/src/runtime/debug/stack.go:24 +0xa7\ngithub.com/cometbft/cometbft/consensus.(*State).receiveRoutine.func2()\n\tconsensus/state.go:801 +0x46\npanic({0xd61be6, 0xb6})\n\t/usr/local/go/src/runtime/panic.go:502 +0x229\ngithub.com/cometbft/cometbft/privval.(*SocketPV).GetAddress(0xe9)\n\tprivval/socket.go:111 +0x76\n";
    let frames = ["consensus.(*State).receiveRoutine.func", "privval.(*SocketPV).GetAddress"];
    let json = format!(
        r#"{{"level":"error","module":"consensus","err":"timed out","stack":"{stack}","message":"CONSENSUS FAILURE!!!"}}"#
    );
    let plain = format!(
        r#"E[2026-11-30|20:59:28.989] CONSENSUS FAILURE!!!    module=consensus err="timed out" stack="{stack}""#
    );
    let lines = plain.replace(r"\n", "\n").replace(r"\t", "\t");
    for log in [json, plain, lines] {
        let record = one(&log);
        assert_eq!(record.frames, frames, "{log}");
        assert_eq!((&*record.message, &*record.errors, &*record.fields), ("CONSENSUS FAILURE!!!", "timed out", ""));
    }
}

#[test]
fn a_value_over_several_lines_is_one_record() {
    let log = "8:59PM ERR failed err=\"wrong AppHash.\nExpected 1, got 2\" module=consensus\n8:59PM INF next\n";
    let records = read(log);
    assert_eq!(records.len(), 2);
    assert_eq!((&*records[0].errors, &*records[0].module), ("wrong AppHash.\nExpected 1, got 2", "consensus"));
    assert_eq!((records[0].line, records[0].lines, records[1].line), (1, 2, 3));
}

#[test]
fn a_value_whose_end_was_cut_does_not_swallow_a_crash() {
    let records =
        read("8:59PM ERR failed err=\"wrong App\npanic: leveldb: closed\n\ngoroutine 1 [running]:\nmain.main()\n");
    assert_eq!(records.len(), 2);
    assert_eq!((records[0].emitter, &*records[0].errors), (Emitter::Log, "wrong App"));
    assert_eq!(
        (records[1].emitter, &*records[1].message, records[1].line),
        (Emitter::Panic, "panic: leveldb: closed", 2)
    );
}

#[test]
fn go_standard_log_and_bare_text() {
    let log = one("2026/11/30 20:59:28 Process finished with error: waitid: no child processes");
    assert_eq!((log.emitter, log.level), (Emitter::Error, Level::None));
    assert_eq!(log.message, "Process finished with error: waitid: no child processes");
    // http.Server prints what a client made it do: no crash of the process.
    assert_eq!(one("2026/11/30 20:59:28 panic: checksum mismatch").emitter, Emitter::Error);
    let error = one("Error: failed to initialize database: file missing");
    assert_eq!((error.emitter, error.level), (Emitter::Error, Level::Error));
    let bare = one("failed to load latest version: version does not exist");
    assert_eq!((bare.emitter, bare.level), (Emitter::Error, Level::None));
}

#[test]
fn goleveldbs_own_log_file() {
    let log = "=============== Jan 2, 2023 (UTC) ===============\n\
        13:34:55.952123 log@legacy F\u{b7}NumFile S\u{b7}FileSize N\u{b7}Entry C\u{b7}BadEntry B\u{b7}BadBlock Ke\u{b7}KeyError D\u{b7}DroppedEntry\n\
        13:34:55.952456 journal@drop journal-787010 S\u{b7}1KiB \"checksum mismatch\"\n\
        13:34:55.953000 db@open done T\u{b7}1.2ms\n";
    let (records, summary) = read_all(log);
    assert_eq!(records.len(), 4);
    assert!(records.iter().all(|record| (record.emitter, record.level) == (Emitter::Log, Level::None)), "{records:#?}");
    assert_eq!(records[2].message, "journal@drop journal-787010 S\u{b7}1KiB \"checksum mismatch\"");
    assert_eq!(summary.node_lines, 4);
    for line in ["13:34:55.952123 starting up", "=============== x ===============", "13:34:55.952123 a@"] {
        assert_eq!(one(line).emitter, if line.ends_with('@') { Emitter::Log } else { Emitter::Error }, "{line}");
    }
}

#[test]
fn records_of_peers() {
    let peers = [
        r#"8:59PM ERR Stopping peer for error err="checksum mismatch" module=p2p peer="Peer{x}""#,
        "8:59PM ERR Error in validation err=x module=blocksync peer=47163819c9474d80c6d9ee7fac61f2113e64834c",
        "8:59PM ERR x module=statesync peerID=47163819",
        "8:59PM ERR x module=evidence src=47163819",
        r#"{"level":"error","remote":"10.0.0.1:9","err":"x","message":"x"}"#,
        r#"8:59PM ERR panic in RPC HTTP handler err="x" module=rpc-server"#,
        "E[2026-11-30|20:59:28.989] Error dialing peer    err=\"x\"",
        "8:59PM ERR x module=pex",
        r#"8:59PM ERR x err="listen tcp" method=broadcast_tx_sync module=jsonrpc"#,
        r#"{"level":"error","module":"api-server","url":"/cosmos/tx","err":"x","message":"x"}"#,
        r#"8:59PM ERR Failed to write response err="x" module=rpc-server"#,
    ];
    for line in peers {
        assert_eq!(one(line).emitter, Emitter::Peer, "{line}");
    }
    for line in [
        "8:59PM ERR Error in validation err=x module=blocksync",
        "8:59PM ERR failed to index block err=x module=txindex",
        r#"8:59PM ERR failed to start gRPC server err="listen tcp 0.0.0.0:9090: bind: address already in use" module=grpc-server"#,
        r#"{"level":"error","module":"api-server","err":"listen tcp 0.0.0.0:1317: bind: address already in use","message":"failed to start API server"}"#,
        "8:59PM ERR x err=y method=z module=state",
    ] {
        assert_eq!(one(line).emitter, Emitter::Log, "{line}");
    }
}

/// P13: whatever a peer makes the node print, it is no crash of the node.
#[test]
fn panic_in_a_peers_text_is_no_panic() {
    let lines = [
        r#"8:59PM ERR Stopping peer for error err="panic: leveldb/table: corruption on data-block" module=p2p peer=x"#,
        r#"{"level":"error","module":"p2p","err":"\npanic: leveldb: corruption\n\ngoroutine 1 [running]:\n","message":"Stopping peer for error"}"#,
        "8:59PM ERR Stopping peer for error module=p2p err=\"a\npanic: leveldb/table: corruption\n\ngoroutine 1 [running]:\nmain.main()\nb\"",
    ];
    for line in lines {
        let record = one(line);
        assert_eq!((record.emitter, record.frames.len()), (Emitter::Peer, 0), "{line}");
    }
    assert_eq!(one(r#"8:59PM INF received moniker="panic: x" module=consensus"#).emitter, Emitter::Log);
}

#[test]
fn a_record_inside_a_value_that_closes_is_the_values() {
    let record =
        one("8:59PM ERR x err=\"a\n8:59PM ERR CONSENSUS FAILURE!!! err=\\\"y\\\" module=consensus\nb\" module=p2p");
    assert_eq!((record.emitter, &*record.message, record.lines), (Emitter::Peer, "x", 3));
}

#[test]
fn a_value_whose_end_was_cut_does_not_swallow_records() {
    let log = "8:59PM ERR x err=\"cut off\n8:59PM INF a module=b\n\
        2026-11-30T20:59:28Z ERROR c: d\n8:59PM ERR CONSENSUS FAILURE!!! err=\"wrong\" module=consensus\n";
    let records = read(log);
    let messages: Vec<&str> = records.iter().map(|record| &*record.message).collect();
    assert_eq!(messages, ["x", "a", "d", "CONSENSUS FAILURE!!!"]);
    assert_eq!((&*records[2].module, &*records[3].errors), ("c", "wrong"));
}

#[test]
fn charms_logger() {
    for head in ["24-01-05 13:34:55.952 ", "2024-01-05 13:34:55.952 ", ""] {
        let record = one(format!("{head}ERRO Finalize req failed [BUG] err=\"x y\" height=120"));
        assert_eq!(
            canonical(&record),
            (Level::Error, Emitter::Log, "", "Finalize req failed [BUG]", "x y", "height=120")
        );
    }
    assert_eq!(one("WARN x").level, Level::Warn);
}
