//! One cluster's folder, names and addresses: everything that differs between two clusters side by side.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

/// The name of the only node.
pub(crate) const NODE: &str = "bed";
/// The CSI driver's name.
pub(crate) const DRIVER: &str = "bed.loopbreaker.dev";
/// Clusters that fit side by side.
const CLUSTERS: u8 = 16;
/// A socket's path has 108 bytes, the last is zero.
const LONGEST_SOCKET: usize = 107;

/// A minor version of Kubernetes that the bed can be built with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
pub(crate) enum Minor {
    #[value(name = "1.34")]
    V34,
    #[value(name = "1.35")]
    V35,
}

impl Minor {
    /// The name of its module's folder.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Self::V34 => "1.34",
            Self::V35 => "1.35",
        }
    }
}

/// How soon the kubelet starts a container again that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BackOff {
    /// As released: 10 s, doubled up to 5 min.
    Stock,
    /// At most 2 s, and the kubelet looks every second: for the scenarios that only need the loop.
    Quick,
}

/// What was asked for; kept in the folder, so that `down` and a second `up` need no flags.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) folder: PathBuf,
    /// 0 to 15: decides every address.
    pub(crate) index: u8,
    pub(crate) minor: Minor,
    pub(crate) back_off: BackOff,
}

impl Plan {
    /// The plan of a folder that `up` has used.
    pub(crate) fn of(folder: &Path) -> Result<Option<Self>> {
        let file = folder.join("plan.json");
        if !file.exists() {
            return Ok(None);
        }
        let text = fs::read(&file).with_context(|| format!("read {}", file.display()))?;
        let plan = serde_json::from_slice(&text)
            .with_context(|| format!("{} is not of this version; remove {}", file.display(), folder.display()))?;
        Ok(Some(plan))
    }

    /// Writes the plan down before anything is started by it.
    pub(crate) fn keep(&self) -> Result<()> {
        for part in ["pids", "logs", "pki", "etc"] {
            fs::create_dir_all(self.folder.join(part)).with_context(|| format!("make {}", self.folder.display()))?;
        }
        Ok(fs::write(self.folder.join("plan.json"), serde_json::to_vec_pretty(self)?)?)
    }

    /// Refuses what cannot work.
    pub(crate) fn check(&self) -> Result<()> {
        if self.index >= CLUSTERS {
            bail!("--index {} is not below {CLUSTERS}", self.index);
        }
        let longest = self.registration().as_os_str().len();
        if longest > LONGEST_SOCKET {
            let most = LONGEST_SOCKET + self.folder.as_os_str().len() - longest;
            bail!(
                "{} is too long a path for sockets; name one of at most {most} bytes: `--cluster DIR`",
                self.folder.display()
            );
        }
        Ok(())
    }

    pub(crate) fn path(&self, part: &str) -> PathBuf {
        self.folder.join(part)
    }

    pub(crate) fn text(&self, part: &str) -> String {
        self.path(part).display().to_string()
    }

    /// The bridge that carries the node's address; also the name of the cgroup, so that one word names all that is ours.
    pub(crate) fn name(&self) -> String {
        format!("lbbed{}", self.index)
    }

    /// The bridge of the pods.
    pub(crate) fn pod_bridge(&self) -> String {
        format!("lbpod{}", self.index)
    }

    /// The node's address. Every server listens there alone, so nothing is heard outside this machine.
    pub(crate) fn address(&self) -> String {
        format!("10.56.{}.1", self.index)
    }

    pub(crate) fn server(&self) -> String {
        format!("https://{}:6443", self.address())
    }

    pub(crate) fn etcd(&self) -> String {
        format!("http://{}:2379", self.address())
    }

    pub(crate) fn pods(&self) -> String {
        format!("10.246.{}.0/20", u16::from(self.index) * 16)
    }

    pub(crate) fn services(&self) -> String {
        format!("10.97.{}.0/20", u16::from(self.index) * 16)
    }

    /// The address by which pods reach the API server.
    pub(crate) fn api_service(&self) -> String {
        format!("10.97.{}.1", u16::from(self.index) * 16)
    }

    pub(crate) fn containerd_socket(&self) -> String {
        self.text("containerd/containerd.sock")
    }

    pub(crate) fn csi_socket(&self) -> String {
        self.text(&format!("kubelet/plugins/{DRIVER}/csi.sock"))
    }

    pub(crate) fn registration(&self) -> PathBuf {
        self.path(&format!("kubelet/plugins_registry/{DRIVER}-reg.sock"))
    }

    /// Where volumes and snapshots lie.
    pub(crate) fn disk(&self) -> PathBuf {
        self.path("disk")
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{BackOff, Minor, Plan};

    fn plan(folder: &str, index: u8) -> Plan {
        Plan { folder: PathBuf::from(folder), index, minor: Minor::V34, back_off: BackOff::Stock }
    }

    #[test]
    fn two_clusters_share_no_address() {
        let [first, last] = [plan("/c", 0), plan("/d", 15)];
        assert_eq!(
            [first.name(), first.address(), first.pods(), first.services(), first.api_service()],
            ["lbbed0", "10.56.0.1", "10.246.0.0/20", "10.97.0.0/20", "10.97.0.1"]
        );
        assert_eq!(
            [last.name(), last.address(), last.pods(), last.services(), last.api_service()],
            ["lbbed15", "10.56.15.1", "10.246.240.0/20", "10.97.240.0/20", "10.97.240.1"]
        );
    }

    #[test]
    fn what_cannot_work_is_refused_before_anything_is_made() {
        assert!(plan("/c", 15).check().is_ok());
        assert_eq!(plan("/c", 16).check().unwrap_err().to_string(), "--index 16 is not below 16");
        let error = plan(&format!("/{}", "x".repeat(80)), 0).check().unwrap_err().to_string();
        assert!(
            error.ends_with("too long a path for sockets; name one of at most 53 bytes: `--cluster DIR`"),
            "{error}"
        );
    }
}
