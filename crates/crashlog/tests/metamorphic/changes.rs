//! Changes to a log's text.

use std::sync::LazyLock;

use regex::{Captures, Regex};

pub(crate) const HEALTHY_CONSOLE: &str = "\
8:59PM INF Starting localClient service impl=localClient module=abci-client server=node
8:59PM INF executed block height=9121841 module=state num_invalid_txs=0 num_valid_txs=3 server=node
8:59PM INF committed state app_hash=92B1F4E2A06D1C0F height=9121841 module=state num_txs=3 server=node
8:59PM INF indexed block height=9121841 module=txindex server=node
8:59PM INF Timed out dur=998.568ms height=9121842 module=consensus round=0 server=node step=RoundStepNewHeight
8:59PM INF received proposal height=9121842 module=consensus server=node
";

pub(crate) const HEALTHY_JSON: &str = r#"{"level":"info","module":"state","height":9121841,"num_valid_txs":3,"time":"2026-11-30T20:59:28Z","message":"executed block"}
{"level":"info","module":"txindex","height":9121841,"time":"2026-11-30T20:59:28Z","message":"indexed block"}
{"level":"info","module":"consensus","height":9121842,"time":"2026-11-30T20:59:29Z","message":"received proposal"}
"#;

pub(crate) const USAGE: &str = "\
Usage:
  foochaind start [flags]

Flags:
      --abci string                     specify abci transport (socket | grpc) (default \"socket\")
      --db_backend string               database backend: goleveldb | pebbledb (default \"goleveldb\")
      --halt-height uint                Block height at which to gracefully halt the chain and shutdown the node
      --inv-check-period uint           Assert registered invariants every N blocks
  -h, --help                            help for start

Global Flags:
      --home string         directory for config and data (default \"/root/.foochain\")
      --log_level string    The logging level (trace|debug|info|warn|error|fatal|panic) (default \"info\")

";

/// Each line with something around it.
pub(crate) fn each_line(log: &str, change: impl Fn(&str) -> String) -> String {
    log.lines().map(|line| change(line) + "\n").collect()
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant")
}

/// What is replaced, and by what.
type Change = (Regex, fn(&str) -> String);

/// `None` where no pattern occurs.
fn replace(log: &str, patterns: &[Change]) -> Option<String> {
    let mut changed = log.to_owned();
    for (pattern, change) in patterns {
        changed = pattern.replace_all(&changed, |found: &Captures<'_>| change(&found[0])).into_owned();
    }
    (changed != log).then_some(changed)
}

/// Names of binary, home directory, chain and addresses.
pub(crate) fn rename(log: &str) -> Option<String> {
    static NAMES: LazyLock<[Change; 5]> = LazyLock::new(|| {
        [
            (regex(r"\b(gaiad|simd|noded|terrad|umeed|nibid|wasmd|terpd)\b"), |_| "foochaind".to_owned()),
            (regex(r"\bcelestia-app"), |_| "foochain-app".to_owned()),
            (regex(r"/\.(gaia|gaiad|simapp|osmosisd|juno|celestia-app)\b"), |_| "/.foochain".to_owned()),
            (regex(r"\b(cosmoshub-4|osmosis-1|juno-1|columbus-5|gaia-1)\b"), |_| "foo-1".to_owned()),
            (
                regex(r"\b(cosmos|osmo|juno|terra|celestia|umee|nibi|agoric)(valoper|valcons)?1[02-9ac-hj-np-z]{38}\b"),
                |found| {
                    let (_, key) = found.split_once('1').unwrap_or_default();
                    format!("foo1{key}")
                },
            ),
        ]
    });
    replace(log, &*NAMES)
}

/// Dates and clocks.
pub(crate) fn shift_time(log: &str) -> Option<String> {
    static TIMES: LazyLock<[Change; 5]> = LazyLock::new(|| {
        [
            (regex(r"\b20[0-9]{2}-[01][0-9]-[0-3][0-9]\b"), |_| "2031-07-18".to_owned()),
            (regex(r"\b20[0-9]{2}/[01][0-9]/[0-3][0-9]\b"), |_| "2031/07/18".to_owned()),
            (regex(r"\b[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\b"), |_| "03:14:25".to_owned()),
            (regex(r"(?m)^[0-9]{1,2}:[0-5][0-9][AP]M\b"), |_| "11:36AM".to_owned()),
            (regex(r"(?m)^(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ 0-9][0-9]\b"), |_| "Jul 18".to_owned()),
        ]
    });
    replace(log, &*TIMES)
}

/// Numbers of six and more digits (no port, no exit status), and hashes.
pub(crate) fn other_numbers(log: &str) -> Option<String> {
    static NUMBERS: LazyLock<[Change; 2]> = LazyLock::new(|| {
        [
            (regex(r"\b[1-9][0-9]{5,}\b"), |found| {
                found.bytes().map(|digit| char::from(b'1' + (digit - b'0') % 9)).collect()
            }),
            (regex(r"\b([0-9a-f]{32,}|[0-9A-F]{32,})\b"), |found| {
                // The first bytes may tell what is encoded.
                let (first, rest) = found.split_at(8);
                first.chars().chain(rest.chars().rev()).collect()
            }),
        ]
    });
    replace(log, &*NUMBERS)
}
