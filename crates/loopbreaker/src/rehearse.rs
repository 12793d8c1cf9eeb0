//! `loopbreaker rehearse`. *Files, and a cluster in memory; no network.* (P1, P14)
//!
//! The operator of production runs here, the same code from watch to record, against a cluster in memory and in virtual
//! time that begins where the bundle stands. What cannot be known from the bundle is said, never made up.

mod policy_file;
mod rpc;
mod stage;
mod story;
mod timeline;

use std::{io::Write, path::PathBuf, sync::Arc};

use anyhow::Context;
use clap::{Args, ValueEnum};
use jiff::{SignedDuration, Timestamp};
use operator::{Clock, Inspector, LeaseTimes, Metrics, Operator, Readiness, Settings};
use simcluster::World;

use crate::{
    bundle::Bundle,
    colour::Colour,
    diagnose::Format,
    exit::{STDOUT_FAILED, Status, printed},
};
use rpc::BundleRpc;
use timeline::Timeline;

/// Run the operator on a bundle, in a cluster in memory, and print what it does
///
/// BUNDLE is a directory as `diagnose` takes it. Its objects stand in a cluster
/// in memory; its sick containers crash at each start as they last did, with
/// the logs that the bundle has; an inspector reads its data, if there is any.
/// The operator that runs there is the one of `loopbreaker operator`. Time is
/// virtual: hours take a moment. Nothing is written and no network is used.
///
/// Without --policy the bundle's workloads are watched in mode Observe. With
/// --mode another mode is tried out: what would it do?
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// Directory of an incident
    #[arg(value_name = "BUNDLE")]
    bundle: PathBuf,

    /// A `RecoveryPolicy`, as YAML or JSON
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// Take this mode instead of the policy's
    #[arg(long, value_enum, value_name = "MODE")]
    mode: Option<Mode>,

    /// End at the latest after so long in virtual time
    #[arg(long = "for", value_name = "TIME", default_value = "2h")]
    time: api::Span,

    /// Text for people, or JSON (loopbreaker.dev/rehearsal/v1), one event a line
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Format,

    /// Colour the text
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Colour,
}

/// A policy's mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// Records what would be done
    Observe,
    /// A human approves
    Approve,
    /// Acts alone
    Auto,
}

impl Mode {
    fn in_policy(self) -> api::Mode {
        match self {
            Self::Observe => api::Mode::Observe,
            Self::Approve => api::Mode::Approve,
            Self::Auto => api::Mode::Auto,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let bundle = Bundle::open(&arguments.bundle)?;
    for note in bundle.notes.iter().take(5) {
        anstream::eprintln!("note: {}", crate::words::clean(&note.to_string()));
    }
    let plan = stage::Plan::of(&bundle)?;
    let mut policies = match &arguments.policy {
        Some(file) => vec![policy_file::read(file, &plan)?],
        None => plan.default_policies(),
    };
    for policy in &mut policies {
        if let Some(mode) = arguments.mode {
            policy.spec.mode = mode.in_policy();
        }
    }
    let limit = SignedDuration::try_from(arguments.time.as_duration()).unwrap_or(SignedDuration::from_hours(2));
    let told =
        simcluster::simulate(play(plan, policies, limit)).context("no runtime (is the process out of memory?)")??;
    printed(print(arguments, &told).context(STDOUT_FAILED))?;
    Ok(Status::Done)
}

/// So long nothing must happen for a rehearsal to be over: longer than from one look at the evidence to the next, for the
/// first one comes before the siblings were asked twice.
const QUIET: SignedDuration = SignedDuration::from_mins(30);

async fn play(
    plan: stage::Plan,
    policies: Vec<api::RecoveryPolicy>,
    limit: SignedDuration,
) -> anyhow::Result<Timeline> {
    let world = World::in_the_middle(plan.begins);
    let (label, owners) = (plan.label.clone(), plan.workloads());
    let timeline = Timeline::watching(&world, &plan, &policies);
    plan.build(&world);
    for policy in &policies {
        stage::put_policy(&world, policy);
    }
    let operator = Operator {
        client: world.client(),
        rpc: Arc::new(BundleRpc::new(&world, &plan)),
        clock: Clock::starting_at(world.now()),
        settings: Settings {
            identity: "rehearsal".to_owned(),
            namespace: "loopbreaker".to_owned(),
            watched: None,
            inspector: Inspector { image: "loopbreaker:rehearsed".to_owned(), ..Inspector::default() },
            lease: LeaseTimes::default(),
        },
        readiness: Readiness::new(),
        metrics: Arc::new(Metrics::new()),
    };
    operator::run(operator, quiet(&world, &timeline, limit)).await;
    if !stage::selects(&world) {
        anyhow::bail!(
            "{label}: the policy selects nothing of this bundle, which holds {} (name one under `spec.targets`, or leave --policy \
             out)",
            if owners.is_empty() { "no StatefulSet and no CosmosFullNode".to_owned() } else { owners.join(", ") }
        );
    }
    timeline.end(&world);
    Ok(timeline)
}

/// Waits until nothing of note has happened for a while, or the time is over.
async fn quiet(world: &World, timeline: &Timeline, limit: SignedDuration) {
    let begin: Timestamp = world.now();
    loop {
        world.run_for(std::time::Duration::from_secs(15)).await;
        let now = world.now();
        let last = timeline.last().unwrap_or(begin);
        if now.duration_since(begin) >= limit || (now.duration_since(last) >= QUIET && !timeline.is_at_work()) {
            return;
        }
    }
}

fn print(arguments: &Arguments, timeline: &Timeline) -> anyhow::Result<()> {
    let stdout = std::io::stdout();
    if arguments.output == Format::Json {
        let mut out = std::io::BufWriter::new(stdout.lock());
        story::json(timeline, &mut out)?;
        return Ok(out.flush()?);
    }
    let mut out = anstream::AutoStream::new(stdout.lock(), arguments.color.choice(&stdout));
    out.write_all(story::text(timeline).as_bytes())?;
    Ok(out.flush()?)
}
