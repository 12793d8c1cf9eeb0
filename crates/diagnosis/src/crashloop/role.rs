//! Which container runs the node. *No client.*
//!
//! Names and commands as cosmos-operator, its fork, cosmopilot and hand-written workloads use them.

use k8s_openapi::api::core::v1::{Container, PodSpec, PodStatus};

use super::ContainerRole;

/// Containers that run beside a node under these names, whatever they execute.
const SIDE_CARS: [&str; 17] = [
    // cosmos-operator and its fork
    "healthcheck",
    "version-check-interval",
    "cosmos-sentinel",
    "sentinel",
    // cosmopilot
    "node-utils",
    "cosmoguard",
    // signers
    "tmkms",
    "horcrux",
    "cosigner",
    // logs, metrics, mesh
    "vector",
    "promtail",
    "fluent-bit",
    "fluentd",
    "filebeat",
    "exporter",
    "istio-proxy",
    "linkerd-proxy",
];

/// Cosmos-operator's init container that opens `application.db` to learn the height.
const VERSION_CHECK: &str = "version-check";

/// The name of the container that runs the node, if that can be told.
///
/// In this order: the container called `node`; one whose command says `start`; the one that mounts a claim for writing;
/// the only one there is. Known side-cars are never it.
pub(super) fn find_node(spec: Option<&PodSpec>, status: Option<&PodStatus>) -> Option<String> {
    let Some(spec) = spec else { return find_node_in_status(status) };
    let candidates: Vec<&Container> =
        spec.containers.iter().filter(|container| !is_side_car(&container.name)).collect();
    candidates
        .iter()
        .find(|container| container.name == "node")
        .or_else(|| candidates.iter().find(|container| says_start(container)))
        .or_else(|| candidates.iter().find(|container| writes_a_claim(container, spec)))
        .or_else(|| candidates.first().filter(|_| candidates.len() == 1))
        .map(|container| container.name.clone())
}

/// A status without a specification (a trimmed object): the name, or the only one.
fn find_node_in_status(status: Option<&PodStatus>) -> Option<String> {
    let statuses = status?.container_statuses.as_deref().unwrap_or_default();
    let mut names = statuses.iter().map(|status| status.name.as_str()).filter(|name| !is_side_car(name));
    let first = names.clone().next()?;
    if names.clone().any(|name| name == "node") {
        return Some("node".to_owned());
    }
    (names.by_ref().count() == 1).then(|| first.to_owned())
}

/// The role of an init container; a native side-car is one with `restartPolicy: Always`.
pub(super) fn init_role(name: &str, restart_policy: Option<&str>) -> ContainerRole {
    match name {
        VERSION_CHECK => ContainerRole::VersionCheck,
        _ if restart_policy == Some("Always") => ContainerRole::SideCar,
        _ => ContainerRole::Init,
    }
}

fn is_side_car(name: &str) -> bool {
    SIDE_CARS.contains(&name)
}

/// `agd start --home …`, `cosmovisor run start`, `sh -c "exec gaiad start …"`, `loopbreaker guard -- agd start`.
fn says_start(container: &Container) -> bool {
    command_line(container).iter().any(|word| word.split_ascii_whitespace().any(|word| word == "start"))
}

/// Command and arguments in one row.
pub(super) fn command_line(container: &Container) -> Vec<String> {
    [&container.command, &container.args].into_iter().flatten().flatten().cloned().collect()
}

fn writes_a_claim(container: &Container, spec: &PodSpec) -> bool {
    claims_mounted(container, spec).any(|(_, read_only, _)| !read_only)
}

/// The claim the node keeps its data on: the one its `--home` lies in, else the first it may write to.
pub(super) fn data_claim(node: &str, spec: &PodSpec) -> Option<String> {
    let container = spec.containers.iter().find(|container| container.name == node)?;
    let words = command_line(container);
    let home = words
        .iter()
        .find_map(|word| word.strip_prefix("--home="))
        .or_else(|| words.iter().skip_while(|word| *word != "--home").nth(1).map(String::as_str));
    let holds_home = |mount: &str| home.is_some_and(|home| std::path::Path::new(home).starts_with(mount));
    claims_mounted(container, spec)
        .filter(|(mount, read_only, _)| !read_only && holds_home(mount))
        .max_by_key(|(mount, _, _)| mount.len())
        .or_else(|| claims_mounted(container, spec).find(|(_, read_only, _)| !read_only))
        .map(|(_, _, claim)| claim.to_owned())
}

/// Mount path, read-only, claim name of every claim that a container mounts.
fn claims_mounted<'a>(
    container: &'a Container,
    spec: &'a PodSpec,
) -> impl Iterator<Item = (&'a str, bool, &'a str)> + use<'a> {
    container.volume_mounts.iter().flatten().filter_map(|mount| {
        let volume = spec.volumes.iter().flatten().find(|volume| volume.name == mount.name)?;
        let claim = volume.persistent_volume_claim.as_ref()?;
        let read_only = mount.read_only == Some(true) || claim.read_only == Some(true);
        Some((mount.mount_path.as_str(), read_only, claim.claim_name.as_str()))
    })
}
