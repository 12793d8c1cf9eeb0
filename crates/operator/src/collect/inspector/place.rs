//! Where a node keeps its data within a volume, and whether a second pod may read it there. *No client.*

use k8s_openapi::api::core::v1::{Container, PersistentVolumeClaim, Pod, PodSpec};
use kube::ResourceExt;

use diagnosis::observe;

/// Why no inspector can be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CannotInspect {
    /// No claim is mounted by the node.
    #[error("the node mounts no claim (its data is on the machine itself, or gone with each pod)")]
    NoClaim,
    /// The claim is not there.
    #[error("its claim is not there")]
    ClaimGone,
    /// Two claims, and nothing says on which the data is.
    #[error(
        "the node mounts several claims ({0}) and its arguments do not say on which its home is (give it `--home`)"
    )]
    SeveralClaims(String),
    /// Only one pod may have it.
    #[error(
        "claim {0} may be used by one pod only (ReadWriteOncePod): name a snapshot class in the policy's \
         evidence.disk.snapshotClassName, and a copy is read instead"
    )]
    ReadWriteOncePod(String),
    /// Its directory within the volume is made of variables.
    #[error(
        "the node mounts claim {0} by a subPathExpr that this version cannot tell: set subPath, or the policy's \
         evidence.disk.method to Guard"
    )]
    SubPathExpr(String),
    /// It is no file system.
    #[error("claim {0} is a block device, which no inspector reads")]
    Block(String),
    /// The pod runs nowhere.
    #[error("its pod is on no machine yet")]
    NoNode,
    /// It could not be read what there is.
    #[error("{0}")]
    Unread(String),
}

/// Whether a Job may read a replica's claim beside it.
pub(crate) fn can_inspect_in_place(pod: &Pod, claim: Option<&PersistentVolumeClaim>) -> Result<(), CannotInspect> {
    find(pod)?.node.ok_or(CannotInspect::NoNode)?;
    let claim = claim.ok_or(CannotInspect::ClaimGone)?;
    let spec = claim.spec.clone().unwrap_or_default();
    if spec.volume_mode.as_deref() == Some("Block") {
        return Err(CannotInspect::Block(claim.name_any()));
    }
    if spec.access_modes.iter().flatten().any(|mode| mode == "ReadWriteOncePod") {
        return Err(CannotInspect::ReadWriteOncePod(claim.name_any()));
    }
    Ok(())
}

/// Where the data is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The node's container, by name.
    pub(super) container: String,
    /// The machine, where the pod has one.
    pub(super) node: Option<String>,
    /// The directory within the volume: the home, where the arguments name it, else the volume's root.
    pub(super) directory: String,
}

/// Finds it.
pub(super) fn find(pod: &Pod) -> Result<Place, CannotInspect> {
    let spec = pod.spec.as_ref().ok_or(CannotInspect::NoClaim)?;
    let seen = observe(pod);
    let name = seen.node_container().map(|node| node.name.to_string()).unwrap_or_default();
    let container = spec.containers.iter().find(|container| container.name == name).ok_or(CannotInspect::NoClaim)?;
    let mounts = claims_of(container, spec);
    let home = home(container);
    let holds_home = |mount: &&Mount| home.as_ref().is_some_and(|home| under(home, &mount.path).is_some());
    let mount = mounts.iter().filter(holds_home).max_by_key(|mount| mount.path.len());
    let mount = match (mount, mounts.as_slice()) {
        (Some(mount), _) => mount,
        (None, [only]) => only,
        (None, []) => return Err(CannotInspect::NoClaim),
        (None, several) => {
            let names: Vec<&str> = several.iter().map(|mount| mount.claim.as_str()).collect();
            return Err(CannotInspect::SeveralClaims(names.join(", ")));
        }
    };
    let inside = home.as_ref().and_then(|home| under(home, &mount.path)).unwrap_or_default();
    let parts: Vec<&str> =
        [mount.sub_path.as_str(), inside.as_str()].into_iter().filter(|part| !part.is_empty()).collect();
    let node = spec.node_name.clone().filter(|node| !node.is_empty());
    if mount.sub_path_expr {
        return Err(CannotInspect::SubPathExpr(mount.claim.clone()));
    }
    Ok(Place { container: name, node, directory: parts.join("/") })
}

struct Mount {
    claim: String,
    path: String,
    sub_path: String,
    sub_path_expr: bool,
}

fn claims_of(container: &Container, spec: &PodSpec) -> Vec<Mount> {
    let mounts = container.volume_mounts.iter().flatten().filter(|mount| mount.read_only != Some(true));
    mounts
        .filter_map(|mount| {
            let volume = spec.volumes.iter().flatten().find(|volume| volume.name == mount.name)?;
            let claim = volume.persistent_volume_claim.as_ref()?.claim_name.clone();
            let path = mount.mount_path.trim_end_matches('/').to_owned();
            let sub_path = mount.sub_path.clone().unwrap_or_default().trim_matches('/').to_owned();
            let sub_path_expr = mount.sub_path_expr.as_ref().is_some_and(|path| !path.is_empty());
            Some(Mount { claim, path, sub_path, sub_path_expr })
        })
        .collect()
}

/// The home by `--home`, as CometBFT and the SDK take it; no variable of a shell.
fn home(container: &Container) -> Option<String> {
    let words: Vec<&String> = [&container.command, &container.args].into_iter().flatten().flatten().collect();
    let inline = words.iter().find_map(|word| word.strip_prefix("--home="));
    let next = || words.iter().skip_while(|word| *word != &"--home").nth(1).map(|word| word.as_str());
    inline.or_else(next).filter(|home| home.starts_with('/') && !home.contains('$')).map(str::to_owned)
}

/// The rest of a path below another one.
fn under(path: &str, root: &str) -> Option<String> {
    let rest = path.trim_end_matches('/').strip_prefix(root)?;
    (rest.is_empty() || rest.starts_with('/')).then(|| rest.trim_matches('/').to_owned())
}

#[cfg(test)]
mod tests;
