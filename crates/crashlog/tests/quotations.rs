//! P13: words of a failed check testify only where they are the failure itself. One sound log, and one change each.

use crashlog::{Examiner, Finding, NoTestimony, model::Model};
use diagnosis::{LogReading, Testimony};

const DAMAGE: &str = "leveldb/table: corruption on data-block (pos=52609): checksum mismatch, want=0x7ae078c2 got=0xac1efc6 [file=000002.ldb]";
const BOOT: &str = "3:01PM INF starting node with ABCI CometBFT in-process module=server\n";
const BLOCK: &str = "3:04PM INF committed state app_hash=6E73AB0AF0 height=10 module=state num_txs=3\n";

fn find(log: &str) -> Finding {
    let mut examiner = Examiner::new();
    examiner.feed(log.as_bytes());
    examiner.finish(Model::built_in())
}

fn testifies(log: &str) -> bool {
    matches!(find(log).reading, LogReading::Read(opinion) if opinion.testimony == Testimony::Witness)
}

fn row(name: &str, log: &str, why_not: Option<NoTestimony>) {
    let finding = find(log);
    assert_eq!(testifies(log), why_not.is_none(), "{name}: {:?}", finding.no_testimony);
    assert_eq!(finding.no_testimony, why_not, "{name}");
}

#[test]
fn a_failure_testifies() {
    row(
        "panic after ordinary lines",
        &format!("{BOOT}{BLOCK}panic: {DAMAGE}\n\ngoroutine 1 [running]:\nmain.main()\n"),
        None,
    );
    row("error line", &format!("{BOOT}Error: failed to initialize database: {DAMAGE}\n"), None);
    row("restarted and failed again", &format!("{BOOT}panic: {DAMAGE}\n{BOOT}{BLOCK}panic: {DAMAGE}\n"), None);
    row(
        "halted in consensus",
        &format!("{BOOT}{BLOCK}3:05PM ERR CONSENSUS FAILURE!!! err=\"{DAMAGE}\" module=consensus\n"),
        None,
    );
}

#[test]
fn a_panic_that_the_process_survives_does_not() {
    row("blocks after it", &format!("{BOOT}panic: {DAMAGE}\n{BLOCK}"), Some(NoTestimony::Survived));
    row("blocks after an error line", &format!("{BOOT}Error: {DAMAGE}\n{BLOCK}"), Some(NoTestimony::Survived));
}

#[test]
fn a_quotation_does_not() {
    row("a chat", &format!("[10:01] bob: my node died\n[10:02] bob: {DAMAGE}\n"), Some(NoTestimony::OnlyQuoted));
    row(
        "a runbook that shows the line as well",
        &format!("If you see `panic: {DAMAGE}` restore from a snapshot.\n\nError: {DAMAGE}\n"),
        Some(NoTestimony::OnlyQuoted),
    );
    row("a printed memo", &format!("{BOOT}tx memo: {DAMAGE}\n"), Some(NoTestimony::OnlyQuoted));
}

#[test]
fn a_record_of_a_running_node_does_not() {
    let record = |message: &str, module: &str| format!("{BOOT}3:05PM ERR {message} err=\"{DAMAGE}\" module={module}\n");
    row("a vote", &record("failed to verify vote", "consensus"), Some(NoTestimony::OnlyQuoted));
    row("a contract", &record("contract failed", "x/wasm"), Some(NoTestimony::OnlyQuoted));
}
