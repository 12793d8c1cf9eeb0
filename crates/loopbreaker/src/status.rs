//! `loopbreaker status`. *Client, reads only.* The policies and the incidents, as sentences with what to do next.

use std::{cmp::Reverse, fmt::Debug, io::IsTerminal, io::Write};

use anyhow::Context;
use api::{Recovery, RecoveryPolicy};
use clap::Args;
use jiff::Timestamp;
use k8s_openapi::NamespaceResourceScope;
use kube::{Api, Client, Resource, ResourceExt, api::ListParams, core::DeserializeGuard};
use serde::de::DeserializeOwned;

use crate::{
    cluster::{Cluster, ClusterError, Connection, wait_for},
    colour::Colour,
    diagnose::Format,
    exit::{STDOUT_FAILED, Status, printed},
    report,
};

/// Say how the policies of a cluster stand, and what is known of each incident
///
/// Open incidents come first, the newest before the others; each with what the
/// verdict says and what to do next. What has ended stays, as a record.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The namespace [default: that of the kubeconfig's context]
    #[arg(long, short, value_name = "NS")]
    namespace: Option<String>,

    /// All namespaces
    #[arg(long, short = 'A', conflicts_with = "namespace")]
    all_namespaces: bool,

    /// Text for people, or JSON (loopbreaker.dev/status/v1)
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Format,

    /// Colour the text
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Colour,

    #[command(flatten)]
    connection: Connection,
}

/// How things stand in a namespace, or in all of them.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    /// The only namespace that was asked about.
    pub(crate) namespace: Option<String>,
    /// By namespace and name.
    pub(crate) policies: Vec<RecoveryPolicy>,
    /// Open ones first, the newest before the others.
    pub(crate) recoveries: Vec<Recovery>,
    /// Objects that cannot be read, and why.
    pub(crate) unread: Vec<String>,
}

/// Objects asked for at once.
const PAGE: u32 = 500;
/// More pages than anybody reads.
const PAGES_MAX: u32 = 40;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let standing = wait_for(read(arguments))?;
    let now = ::operator::Clock::System.now();
    printed(print(arguments, &standing, now)).context(STDOUT_FAILED)?;
    Ok(Status::Done)
}

fn print(arguments: &Arguments, standing: &Standing, now: Timestamp) -> anyhow::Result<()> {
    let stdout = std::io::stdout();
    if arguments.output == Format::Json {
        let json = report::status_json::render(standing, now, stdout.is_terminal())?;
        return Ok(stdout.lock().write_all(json.as_bytes())?);
    }
    let mut out = anstream::AutoStream::new(stdout.lock(), arguments.color.choice(&stdout));
    out.write_all(report::status_text::render(standing, now).as_bytes())?;
    Ok(out.flush()?)
}

async fn read(arguments: &Arguments) -> anyhow::Result<Standing> {
    let Cluster { client, namespace } = arguments.connection.open().await?;
    let namespace = arguments.namespace.clone().unwrap_or(namespace);
    let asked = (!arguments.all_namespaces).then_some(namespace);
    let mut standing = Standing { namespace: asked.clone(), ..Standing::default() };
    standing.policies = all(&client, "recoverypolicies", asked.as_deref(), &mut standing.unread).await?;
    standing.recoveries = all(&client, "recoveries", asked.as_deref(), &mut standing.unread).await?;
    standing.sort();
    Ok(standing)
}

/// A whole list; an object that cannot be read is passed over and said.
async fn all<K>(
    client: &Client,
    plural: &'static str,
    namespace: Option<&str>,
    unread: &mut Vec<String>,
) -> Result<Vec<K>, ClusterError>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
{
    let (objects, what): (Api<DeserializeGuard<K>>, _) = match namespace {
        Some(namespace) => (Api::namespaced(client.clone(), namespace), format!("{plural} of namespace {namespace}")),
        None => (Api::all(client.clone()), format!("{plural} of all namespaces")),
    };
    let mut read = Vec::new();
    let mut params = ListParams::default().limit(PAGE);
    for _ in 0..PAGES_MAX {
        let page = objects.list(&params).await;
        let page = page.map_err(|error| ClusterError::of("list", plural, &what, &error))?;
        for object in page.items {
            let (place, name) = (object.namespace().unwrap_or_default(), object.name_any());
            match object.0 {
                Ok(object) => read.push(object),
                Err(error) => unread.push(format!("{} {place}/{name} cannot be read: {}", K::kind(&()), error.error)),
            }
        }
        let Some(next) = page.metadata.continue_.filter(|next| !next.is_empty()) else { return Ok(read) };
        params = params.continue_token(&next);
    }
    unread.push(format!("of the {what} only the first {} were read", read.len()));
    Ok(read)
}

impl Standing {
    fn sort(&mut self) {
        self.policies.sort_by_key(|policy| (policy.namespace(), policy.name_any()));
        self.recoveries.sort_by_key(|recovery| {
            let onset = recovery.spec.incident.onset.0;
            (!is_open(recovery), Reverse(onset), recovery.namespace(), recovery.name_any())
        });
    }
}

/// Whether an incident has not ended.
pub(crate) fn is_open(recovery: &Recovery) -> bool {
    ended(recovery).is_none()
}

/// When it ended, if it has.
pub(crate) fn ended(recovery: &Recovery) -> Option<Timestamp> {
    recovery.status.as_ref()?.ended.as_ref().map(|time| time.0)
}

/// How long it has been going on, or went on, in seconds; clocks that disagree make it nothing, not less.
pub(crate) fn lasted(recovery: &Recovery, now: Timestamp) -> u64 {
    let end = ended(recovery).unwrap_or(now);
    u64::try_from(end.duration_since(recovery.spec.incident.onset.0).as_secs()).unwrap_or(0)
}

#[cfg(test)]
mod tests;
