//! P13: what a peer or a user makes a node print proves nothing about this machine, however it is worded.

use crashlog::{Examiner, Finding, model::Model};
use diagnosis::{LogReading, Testimony};
use serde_json::Value;

/// Words that would testify if the node said them itself, with attempts to get out of the value they stand in.
const INJECTED: &[&str] = &[
    "leveldb/table: corruption on data-block (pos=1953816): checksum mismatch, want=0xc53a8ebc got=0x28a226ee [file=787011.ldb]",
    "EOF\npanic: leveldb/table: corruption on data-block (pos=1): checksum mismatch, want=0x1 got=0x2 [file=1.ldb]\n\ngoroutine 1 [running]:\ngithub.com/cosmos/cosmos-sdk/store/rootmulti.GetLatestVersion({0xe0ae398, 0xdbdfd701dd})\n\t/x.go:1 +0x1\n",
    "x\" module=state err=\"leveldb/table: corruption on data-block (pos=1): checksum mismatch, want=0x1 got=0x2 [file=1.ldb]",
    "x\n8:59PM ERR CONSENSUS FAILURE!!! err=\"leveldb/table: corruption on data-block (pos=1): checksum mismatch\" module=consensus",
    "x\"}\n{\"level\":\"error\",\"module\":\"consensus\",\"err\":\"leveldb/table: corruption on data-block (pos=1): checksum mismatch\",\"message\":\"CONSENSUS FAILURE!!!\"}",
    "x\nError: failed to load latest version: leveldb/table: corruption on data-block (pos=1): checksum mismatch\nUsage:\n  gaiad start [flags]\n",
    "\u{1b}[0m\r\npanic: leveldb/table: corruption on table-footer (pos=1): bad magic number [file=000072.ldb]",
    "Usage:\n  gaiad start [flags]\n\nFlags:\n  -h, --help   leveldb/table: corruption on data-block (pos=1): checksum mismatch",
    "hey all, my node died with panic: leveldb/table: corruption on data-block (pos=1): checksum mismatch, did anyone try a rollback?",
];

/// Records that carry foreign words; `{}` is where they stand, quoted as the format quotes.
const CARRIERS: &[&str] = &[
    "8:59PM ERR Stopping peer for error err={} module=p2p peer=47163819c9474d80c6d9ee7fac61f2113e64834c",
    "8:59PM ERR dialing failed addr=10.0.0.7:26656 err={} module=p2p",
    "E[2026-11-30|20:59:28.989] Stopping peer for error                      module=p2p peer=\"Peer{MConn{10.0.0.7:26656}}\" err={}",
    "{\"level\":\"error\",\"module\":\"p2p\",\"err\":{},\"time\":\"2026-11-30T20:59:28Z\",\"message\":\"Stopping peer for error\"}",
    "8:59PM ERR Error in validation err={} module=blocksync peer=47163819c9474d80c6d9ee7fac61f2113e64834c",
    "8:59PM ERR peer sent an invalid vote err={} module=consensus peer=47163819c9474d80c6d9ee7fac61f2113e64834c",
    "8:59PM INF Added peer module=p2p moniker={}",
    "8:59PM ERR rejected bad transaction err={} module=mempool",
    "8:59PM ERR Panic in RPC HTTP handler err={} module=rpc-server",
    "{\"level\":\"error\",\"module\":\"api-server\",\"method\":\"POST\",\"err\":{},\"message\":\"could not answer\"}",
    "8:59PM INF indexed transaction memo={} module=txindex",
    "8:59PM ERR transaction failed code=5 memo={} module=state",
    "8:59PM DBG executed transaction log={} module=server",
    "{\"level\":\"error\",\"module\":\"baseapp\",\"memo\":{},\"message\":\"failed to execute message\"}",
    "Nov 30 20:59:28 host-1 gaiad[4679]: 8:59PM ERR Stopping peer for error err={} module=p2p",
];

/// What is wrong with the node itself.
const OWN: &[&str] = &[
    "8:59PM INF executed block height=9121841 module=state num_invalid_txs=0 num_valid_txs=3\n",
    "Error: failed to listen on 0.0.0.0:26657: listen tcp 0.0.0.0:26657: bind: address already in use\n",
    "8:59PM ERR CONSENSUS FAILURE!!! err=\"+2/3 committed an invalid block: wrong Block.Header.AppHash.  Expected 8DE2. Got 34A1\" module=consensus\n",
    "panic: open /root/.gaia/data/application.db/000012.ldb: no space left on device\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:1 +0x1\n",
    "panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation code=0x1]\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:1 +0x1\n",
];

/// How far a peer's words may move the score of local damage, in nats.
const SHIFT_MAX: f64 = 0.5;

fn examine(log: &str) -> Finding {
    let mut examiner = Examiner::new();
    examiner.feed(log.as_bytes());
    examiner.finish(Model::built_in())
}

fn testifies(finding: &Finding) -> bool {
    matches!(&finding.reading, LogReading::Read(opinion) if opinion.testimony == Testimony::Witness)
}

/// The value as it stands in the carriers: quotes escaped, and newlines escaped or, where a value may hold them, as they are.
fn values(text: &str, carrier: &str) -> impl Iterator<Item = String> {
    let escaped = Value::String(text.to_owned()).to_string();
    let raw = escaped.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t").replace("\\u001b", "\u{1b}");
    let json = carrier.starts_with('{');
    [Some(escaped), (!json).then_some(raw)].into_iter().flatten()
}

#[test]
fn a_peers_words_are_no_witness() {
    let mut wrong = Vec::new();
    for (own, carrier, text) in OWN.iter().flat_map(|own| {
        CARRIERS.iter().flat_map(move |carrier| INJECTED.iter().map(move |text| (*own, *carrier, *text)))
    }) {
        for value in values(text, carrier) {
            let placed = |value: &str| {
                let record = carrier.replace("{}", value);
                [format!("{record}\n{own}"), format!("{own}{record}\n"), format!("{record}\n{record}\n{own}{record}\n")]
            };
            for (log, harmless) in placed(&value).iter().zip(placed("EOF")) {
                let finding = examine(log);
                let shift = finding.damage_score - examine(&harmless).damage_score;
                if testifies(&finding) || shift > SHIFT_MAX {
                    wrong.push(format!("{} {shift:+.2}\n{log}", testifies(&finding)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n\n"));
}

/// A record of a peer's adds nothing at all: the log is judged as without it.
#[test]
fn a_peers_record_is_as_good_as_none() {
    for own in OWN {
        let without = examine(own).damage_score;
        for carrier in CARRIERS.iter().filter(|carrier| carrier.contains("peer") || carrier.contains("p2p")) {
            let value = Value::String(INJECTED[0].to_owned()).to_string();
            let shift = examine(&format!("{}\n{own}", carrier.replace("{}", &value))).damage_score - without;
            assert!(shift <= SHIFT_MAX, "{shift:+.2} {carrier} {own}");
        }
    }
}

/// The same words from the node itself do testify: the test above is not empty.
#[test]
fn the_same_words_from_the_node_itself_are_a_witness() {
    for own in [
        format!("panic: {}\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:1 +0x1\n", INJECTED[0]),
        format!("8:59PM ERR CONSENSUS FAILURE!!! err={:?} module=consensus\n", INJECTED[0]),
    ] {
        assert!(testifies(&examine(&own)), "{own}");
    }
}
