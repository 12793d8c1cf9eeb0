//! `loopbreaker suspend` and `loopbreaker resume`: the kill switch of a policy. *Client; writes by `operator` alone.* (P12)

use std::io::Write;

use ::operator::{ActError, Suspension, set_suspended};
use anyhow::Context;
use api::{Mode, RecoveryPolicy};
use clap::Args;
use kube::Api;

use crate::{
    cluster::{Cluster, ClusterError, Connection, wait_for},
    exit::{STDOUT_FAILED, Status},
    words::clean,
};

/// Suspend a recovery policy: nothing new is begun
///
/// What is under way is brought to a safe end, and incidents go on being seen,
/// so that nothing is forgotten. `loopbreaker resume` ends it. The same as
/// setting `spec.suspend` by hand.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct SuspendArguments {
    #[command(flatten)]
    which: Which,
}

/// Put a suspended recovery policy in force again
#[derive(Debug, Args)]
pub(crate) struct ResumeArguments {
    #[command(flatten)]
    which: Which,
}

#[derive(Debug, Args)]
struct Which {
    /// The policy's name
    #[arg(value_name = "POLICY")]
    policy: String,

    /// Its namespace [default: that of the kubeconfig's context]
    #[arg(long, short, value_name = "NS")]
    namespace: Option<String>,

    #[command(flatten)]
    connection: Connection,
}

const PLURAL: &str = "recoverypolicies";

pub(crate) fn suspend(arguments: &SuspendArguments) -> anyhow::Result<Status> {
    run(&arguments.which, Suspension::Suspended)
}

pub(crate) fn resume(arguments: &ResumeArguments) -> anyhow::Result<Status> {
    run(&arguments.which, Suspension::InForce)
}

fn run(which: &Which, wanted: Suspension) -> anyhow::Result<Status> {
    let said = wait_for(throw(which, wanted))?;
    writeln!(std::io::stdout().lock(), "{}", clean(&said)).context(STDOUT_FAILED)?;
    Ok(Status::Done)
}

async fn throw(which: &Which, wanted: Suspension) -> anyhow::Result<String> {
    let Cluster { client, namespace } = which.connection.open().await?;
    let namespace = which.namespace.clone().unwrap_or(namespace);
    let name = &which.policy;
    let what = format!("RecoveryPolicy {namespace}/{name}");
    let policies: Api<RecoveryPolicy> = Api::namespaced(client.clone(), &namespace);
    let before = policies.get(name).await.map_err(|error| ClusterError::of("get", PLURAL, &what, &error))?;
    if suspension(&before) == wanted {
        return Ok(format!("{what} is {} already; nothing was changed.", word(wanted)));
    }
    let after = set_suspended(&client, &namespace, name, wanted).await.map_err(|error| meaning(error, &what))?;
    let mode = mode(after.spec.mode);
    let (was, is) = (word(suspension(&before)), word(suspension(&after)));
    Ok(format!("{what} was {was} and is {is} now. {}", consequence(wanted, mode, &namespace, name)))
}

fn consequence(wanted: Suspension, mode: &str, namespace: &str, name: &str) -> String {
    match wanted {
        Suspension::Suspended => format!(
            "Nothing new is begun, and what is under way is brought to a safe end. \
             `loopbreaker resume {name} -n {namespace}` ends that."
        ),
        Suspension::InForce => {
            format!("Its mode is {mode}. `loopbreaker status -n {namespace}` shows what it says.")
        }
    }
}

fn meaning(error: ActError, what: &str) -> anyhow::Error {
    match error {
        ActError::Refused { verb, source, .. } => ClusterError::of(verb, PLURAL, what, &source).into(),
        other => other.into(),
    }
}

fn suspension(policy: &RecoveryPolicy) -> Suspension {
    if policy.spec.suspend { Suspension::Suspended } else { Suspension::InForce }
}

fn word(suspension: Suspension) -> &'static str {
    match suspension {
        Suspension::Suspended => "suspended",
        Suspension::InForce => "in force",
    }
}

/// A mode as it is written in a policy.
pub(crate) fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Observe => "Observe",
        Mode::Approve => "Approve",
        Mode::Auto => "Auto",
    }
}
