//! A crash is one record, whatever stands around and between its lines.

use crashlog::{Emitter, Level};

use crate::{APPLICATION_DB, STATE_DB, VERSION_CHECK, one, read, read_all};

const CRASH: &str = "panic: failed to write batch: leveldb: closed

goroutine 52 [running]:
github.com/cosmos/cosmos-sdk/store/iavl.(*Store).Commit(0xf905297a9b)
\t/go/pkg/mod/github.com/cosmos/cosmos-sdk@v0.46.16/store/iavl/store.go:134 +0xc6
github.com/celestiaorg/celestia-app/v3/app.New({0x7350f93, 0x77}, {0x0, 0x0}, ...)
\t/go/app.go:12 +0x1
github.com/tendermint/tendermint/blockchain/v0.(*BlockchainReactor).poolRoutine.func2.1()
\t/go/reactor.go:401 +0x15a5
created by github.com/tendermint/tendermint/blockchain/v0.(*BlockchainReactor).SwitchToFastSync in goroutine 7
\t/go/reactor.go:125 +0xd5
";

const FRAMES: [&str; 3] = ["iavl.(*Store).Commit", "app.New", "blockchain.(*BlockchainReactor).poolRoutine.func"];

#[test]
fn the_lab_s_real_logs() {
    let (records, summary) = read_all(STATE_DB);
    assert_eq!(records.len(), 4);
    assert_eq!((records[0].level, &*records[0].module), (Level::Info, "server"));
    assert_eq!(records[0].message, "starting node with ABCI CometBFT in-process");
    let crash = &records[3];
    assert_eq!((crash.emitter, crash.level, crash.line, crash.lines), (Emitter::Panic, Level::Fatal, 4, 33));
    assert_eq!(
        crash.message,
        "panic: leveldb/table: corruption on data-block (pos=52609): checksum mismatch, want=0x7ae078c2 got=0xac1efc6 [file=000002.ldb]"
    );
    assert_eq!(crash.frames[..2], ["node.loadGenesisDoc", "node.LoadStateFromDBOrGenesisDocProvider"]);
    assert_eq!((crash.frames.len(), crash.frames.last().map(String::as_str)), (15, Some("main.main")));
    assert!(!summary.frames_without_head && !summary.binary);
    let node = one(APPLICATION_DB);
    assert_eq!(node.frames[..2], ["rootmulti.GetLatestVersion", "rootmulti.(*Store).LoadLatestVersion"]);
    let init = one(VERSION_CHECK);
    assert_eq!(init.message, node.message);
    assert_eq!(init.frames[3..5], ["cmd.checkVersion", "cmd.VersionCheckCmd.func"]);
}

#[test]
fn a_crash_behind_any_prefix() {
    for prefix in ["", "Nov 30 20:59:28 host-1 gaiad[4679]: ", "2026-11-30T20:59:28.1Z stderr F ", "node-0  | ", "    "]
    {
        let log = CRASH.lines().map(|line| format!("{prefix}{line}")).collect::<Vec<_>>().join("\n");
        let record = one(log);
        assert_eq!(
            (record.emitter, &*record.message),
            (Emitter::Panic, "panic: failed to write batch: leveldb: closed")
        );
        assert_eq!((record.frames.as_slice(), record.lines), (&FRAMES.map(String::from)[..], 11), "{prefix:?}");
    }
}

#[test]
fn further_goroutines_are_folded() {
    let more =
        "\ngoroutine 60 [select, 5 minutes]:\nnet/http.(*conn).serve(0x1)\n\t/usr/lib/go/net/http/server.go:1 +0x1\n"
            .repeat(340);
    let (records, summary) = read_all(format!("INF before\n{CRASH}{more}exit status 2\n"));
    assert_eq!(records.len(), 3);
    assert_eq!(records[1].frames, FRAMES);
    assert_eq!((records[1].lines, &*records[2].message), (11 + 340 * 4, "exit status 2"));
    assert!(!summary.frames_without_head);
}

#[test]
fn cause_chains() {
    let log = "panic: first [recovered]\n\tpanic: second\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x1]\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:1 +0x1\n";
    let record = one(log);
    assert_eq!(
        record.message,
        "panic: first [recovered]\npanic: second\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x1]"
    );
    let value = one(
        "panic: block.AppHash does not match.\n\nBlock: Block{\n  Header{\n  }\n}\n\ngoroutine 1 [running]:\nmain.main()\n",
    );
    assert_eq!(value.message, "panic: block.AppHash does not match.\nBlock: Block{\nHeader{\n}\n}");
    assert_eq!(value.frames, ["main.main"]);
}

#[test]
fn faults_of_the_runtime() {
    let memory = "runtime: out of memory: cannot allocate 8192-byte block (123 in use)\nfatal error: out of memory\n\nruntime stack:\nruntime.throw({0x1, 0x2})\n\t/usr/lib/go/runtime/panic.go:1 +0x5d fp=0x7 sp=0x1 pc=0x0\n\ngoroutine 1 [running]:\nruntime.systemstack_switch()\n\t/usr/lib/go/runtime/asm_amd64.s:474 +0x8\ngithub.com/cosmos/iavl.(*nodeDB).GetNode(0x1)\n\t/iavl/nodedb.go:1 +0x1\n";
    let record = one(memory);
    assert_eq!(
        record.message,
        "runtime: out of memory: cannot allocate 8192-byte block (123 in use)\nfatal error: out of memory"
    );
    assert_eq!(record.frames, ["iavl.(*nodeDB).GetNode"]);
    let fault = one(
        "unexpected fault address 0x7f0000\nfatal error: fault\n[signal SIGBUS: bus error code=0x2 addr=0x7f0000 pc=0x1]\n\ngoroutine 7 [running]:\nmain.main()\n",
    );
    assert!(fault.message.starts_with("unexpected fault address 0x7f0000\nfatal error: fault\n[signal SIGBUS"));
    let cgo = one(
        "SIGABRT: abort\nPC=0x7f12 m=3 sigcode=18446744073709551610\nsignal arrived during cgo execution\n\ngoroutine 0 [idle]:\nruntime.asmcgocall(0x1)\n\ngoroutine 1 [syscall]:\ngithub.com/CosmWasm/wasmvm/api.InitCache({0x1})\n\t/api/lib.go:1 +0x1\n\nrax    0x0\nrbx    0x7f12\n",
    );
    assert_eq!(cgo.frames, ["api.InitCache"]);
    let twice = one(
        "[signal SIGBUS: bus error code=0x2 addr=0x2 pc=0x5]\n\nruntime stack:\nfatal error: unexpected signal\npanic during panic\n[signal SIGBUS: bus error code=0x2 addr=0xd pc=0x5]\n",
    );
    assert_eq!((twice.emitter, twice.message.lines().count()), (Emitter::Panic, 4));
}

#[test]
fn records_of_other_goroutines_in_between() {
    let (head, rest) = CRASH.split_once("\n\n").unwrap();
    let records = read(format!("{head}\n8:59PM INF Timed out module=consensus\n\n{rest}8:59PM INF next\n"));
    assert_eq!(records.len(), 3);
    assert_eq!((records[0].line, &*records[0].message), (2, "Timed out"));
    let crash = records.iter().find(|record| record.emitter == Emitter::Panic).unwrap();
    assert_eq!((crash.line, crash.frames.as_slice()), (1, &FRAMES.map(String::from)[..]));
}

#[test]
fn a_stack_whose_head_was_cut() {
    let (_, stack) = CRASH.split_once("\n\n").unwrap();
    let (_, frames) = stack.split_once('\n').unwrap();
    for log in [stack, frames] {
        let (records, summary) = read_all(log);
        assert!(summary.frames_without_head);
        assert_eq!((records.len(), records[0].emitter, &*records[0].message), (1, Emitter::Panic, ""));
        assert_eq!(records[0].frames, FRAMES);
    }
    assert!(!read_all(CRASH).1.frames_without_head);
}

#[test]
fn two_crashes_are_two_records() {
    let records = read(CRASH.repeat(2));
    assert_eq!(records.len(), 2);
    assert_eq!((records[1].line, records[1].frames.len()), (12, 3));
}

#[test]
fn help_text_after_an_error() {
    let log = "Error: unknown flag: --hom\nUsage:\n  gaiad start [flags]\n\nFlags:\n      --abci string   panic: or checksum mismatch (default \"socket\")\n\nError: unknown flag: --hom\n";
    let records = read(log);
    let emitters: Vec<_> = records.iter().map(|record| (record.emitter, record.line, record.lines)).collect();
    assert_eq!(emitters, [(Emitter::Error, 1, 1), (Emitter::Usage, 2, 6), (Emitter::Error, 8, 1)]);
    let records = read(format!("Usage:\n  gaiad start\n{CRASH}"));
    assert_eq!((records[0].emitter, records[1].emitter), (Emitter::Usage, Emitter::Panic));
}

#[test]
fn an_error_over_several_lines() {
    let records = read("Error: addresses must match:\n client=tcp://a\n server=tcp://b\nTo resolve, do\n");
    assert_eq!(
        (records.len(), &*records[0].message),
        (2, "Error: addresses must match:\nclient=tcp://a\nserver=tcp://b")
    );
}

#[test]
fn crashes_of_other_languages() {
    let rust = one(
        "thread 'main' panicked at src/main.rs:1:2:\nindex out of bounds\nnote: run with `RUST_BACKTRACE=1`\nstack backtrace:\n   0: rust_begin_unwind\n             at /rustc/1/library/std/src/panicking.rs:1:5\n",
    );
    assert_eq!((rust.emitter, rust.level, rust.lines), (Emitter::Panic, Level::Fatal, 6));
    assert_eq!(rust.message, "thread 'main' panicked at src/main.rs:1:2:\nindex out of bounds");
    let old = read("thread 'unnamed' panicked at 'assertion failed', src/a.rs:232:9\nnext\n");
    assert_eq!((old.len(), &*old[0].message), (2, "thread 'unnamed' panicked at 'assertion failed', src/a.rs:232:9"));
    let python = one(
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    x()\nOSError: [Errno 28] No space left on device\n",
    );
    assert_eq!((python.emitter, python.level), (Emitter::Error, Level::Error));
    assert_eq!(python.message, "OSError: [Errno 28] No space left on device");
    let node =
        one("Error: connect ECONNREFUSED\n    at TCPConnectWrap.afterConnect (node:net:1595:16)\n    at x (y)\n");
    assert_eq!((&*node.message, node.lines), ("Error: connect ECONNREFUSED", 3));
}

#[test]
fn a_crash_keeps_its_limits() {
    let frames = "main.f(0x1)\n\t/x.go:1 +0x1\n".repeat(500);
    let record = one(format!("panic: {}\n\ngoroutine 1 [running]:\n{frames}", "x".repeat(60_000)));
    assert_eq!((record.frames.len(), record.cut, record.lines), (64, true, 1003));
    assert!(record.message.len() <= 16 * 1024);
}
