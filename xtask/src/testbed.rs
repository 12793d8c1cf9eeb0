//! Commands that the test bed's own program answers: `cargo xtask cluster`, `image`, `e2e`, and its part of `cargo xtask test`.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::session::{Line, Session, output_of};

/// What is typed to run it.
const PROGRAM: &str = "cargo run --quiet --locked --package testbed --";
/// The cluster of `cargo xtask test --cluster`, apart from one that a person plays with.
const CLUSTER: &str = "target/testbed/test";
const INDEX: &str = "15";
const IMAGE: &str = "target/testbed/image-dev";

/// Passes a command on, and its exit status back.
pub(crate) fn pass(command: &str, words: &[String]) -> ExitCode {
    let mut line = PROGRAM.split_whitespace();
    let status = Command::new(line.next().unwrap_or("cargo")).args(line).arg(command).args(words).status();
    match status.map(|status| status.code().and_then(|code| u8::try_from(code).ok())) {
        Ok(Some(code)) => ExitCode::from(code),
        _ => ExitCode::FAILURE,
    }
}

/// The scenarios of `cargo xtask test --cluster`.
pub(crate) fn scenarios(session: &mut Session) -> Result<()> {
    let able = output_of(&Line::new(&format!("{PROGRAM} cluster able"))).context("the test bed does not build")?;
    if let Some(reason) = able.trim().strip_prefix("no: ") {
        bail!("the scenarios on a real cluster cannot run: {reason}");
    }
    let place = format!("--cluster {CLUSTER}");
    session.command(
        "CSI driver",
        &Line::new("go -C testbed/csi test -trimpath ./...")
            .with("CGO_ENABLED", "0")
            .with("GOFLAGS", "-buildvcs=false"),
    )?;
    // The profile of the tests: linking the release as a whole would take minutes of the budget.
    session.command("image", &Line::new(&format!("{PROGRAM} image --profile dev --out {IMAGE}")))?;
    session
        .command("cluster up", &Line::new(&format!("{PROGRAM} cluster up --quick-back-off --index {INDEX} {place}")))?;
    let outcome =
        session.counted("scenarios", &Line::new(&format!("{PROGRAM} e2e --ci --loopbreaker {IMAGE}/program {place}")));
    // After a failure as well: what is to be read of it, the scenarios have printed.
    let down = session.command("cluster down", &Line::new(&format!("{PROGRAM} cluster down {place}")));
    outcome.and(down)
}
