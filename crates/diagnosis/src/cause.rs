//! Why a node dies: the closed list of causes, which are also the labels of every data set. *No client.*

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The cause of a crash loop or of a stuck node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Bytes on disk are wrong, or a database lost files.
    PhysicalCorruption,
    /// The consensus WAL (`cs.wal`) or an engine's journal is broken so that the node does not start.
    WalCorruption,
    /// The databases disagree about heights or versions.
    LogicalInconsistency,
    /// A half-restored archive or an interrupted state sync.
    BadSnapshot,
    /// The binary does not fit the chain or its data.
    WrongBinary,
    /// A planned upgrade is due, or the binary was changed before its height.
    UpgradeNeeded,
    /// Every node of the chain fails alike.
    ChainWideBug,
    /// A flag, a TOML file, the genesis or the chain id is wrong.
    ConfigError,
    /// No space or no inodes.
    DiskFull,
    /// Killed for memory, by the cgroup, the kernel or Go itself.
    Oom,
    /// The storage below the file system fails.
    IoError,
    /// Permissions or a lock held by somebody else.
    PermissionOrLock,
    /// A listen address is taken.
    PortInUse,
    /// The validator's key, its signing state or the double-sign guard.
    KeyOrDoubleSign,
    /// A remote signer is away or refuses.
    RemoteSigner,
    /// Peers or another service over the network.
    NetworkOrPeer,
    /// The image, the dynamic loader, the container runtime or a probe.
    ImageOrRuntime,
    /// A bug of the program that is not about its data.
    OtherBug,
    /// Cannot be told from what was seen.
    Unknown,
}

impl Cause {
    /// Every cause that can be a label, in the order of the design; [`Cause::Unknown`] is not one.
    pub const LABELS: [Self; 18] = [
        Self::PhysicalCorruption,
        Self::WalCorruption,
        Self::LogicalInconsistency,
        Self::BadSnapshot,
        Self::WrongBinary,
        Self::UpgradeNeeded,
        Self::ChainWideBug,
        Self::ConfigError,
        Self::DiskFull,
        Self::Oom,
        Self::IoError,
        Self::PermissionOrLock,
        Self::PortInUse,
        Self::KeyOrDoubleSign,
        Self::RemoteSigner,
        Self::NetworkOrPeer,
        Self::ImageOrRuntime,
        Self::OtherBug,
    ];

    /// The name used in JSON, data sets and docs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PhysicalCorruption => "physical_corruption",
            Self::WalCorruption => "wal_corruption",
            Self::LogicalInconsistency => "logical_inconsistency",
            Self::BadSnapshot => "bad_snapshot",
            Self::WrongBinary => "wrong_binary",
            Self::UpgradeNeeded => "upgrade_needed",
            Self::ChainWideBug => "chain_wide_bug",
            Self::ConfigError => "config_error",
            Self::DiskFull => "disk_full",
            Self::Oom => "oom",
            Self::IoError => "io_error",
            Self::PermissionOrLock => "permission_or_lock",
            Self::PortInUse => "port_in_use",
            Self::KeyOrDoubleSign => "key_or_double_sign",
            Self::RemoteSigner => "remote_signer",
            Self::NetworkOrPeer => "network_or_peer",
            Self::ImageOrRuntime => "image_or_runtime",
            Self::OtherBug => "other_bug",
            Self::Unknown => "unknown",
        }
    }

    /// The cause in words, as a sentence about the node goes on after "the node dies of".
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::PhysicalCorruption => "damaged database files",
            Self::WalCorruption => "a broken write-ahead log",
            Self::LogicalInconsistency => "databases that disagree about the height",
            Self::BadSnapshot => "an incomplete snapshot or state sync",
            Self::WrongBinary => "a binary that does not fit the chain or its data",
            Self::UpgradeNeeded => "a due chain upgrade",
            Self::ChainWideBug => "a failure of the whole chain",
            Self::ConfigError => "a configuration error",
            Self::DiskFull => "a full disk",
            Self::Oom => "lack of memory",
            Self::IoError => "failing storage",
            Self::PermissionOrLock => "missing permission or a held lock",
            Self::PortInUse => "a port already in use",
            Self::KeyOrDoubleSign => "the validator key, its state or the double-sign guard",
            Self::RemoteSigner => "the remote signer",
            Self::NetworkOrPeer => "the network or another service",
            Self::ImageOrRuntime => "the image or the container runtime",
            Self::OtherBug => "a bug of the program",
            Self::Unknown => "a cause that cannot be told",
        }
    }

    /// Whether this cause says that the replica's own data is what is wrong.
    #[must_use]
    pub fn is_local_damage(self) -> bool {
        matches!(self, Self::PhysicalCorruption | Self::WalCorruption | Self::LogicalInconsistency | Self::BadSnapshot)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that is no cause of the list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is no known cause (known: physical_corruption, wal_corruption, … other_bug, unknown)")]
pub struct UnknownCause {
    /// The word that was read.
    pub word: String,
}

impl FromStr for Cause {
    type Err = UnknownCause;

    fn from_str(word: &str) -> Result<Self, UnknownCause> {
        Self::LABELS
            .into_iter()
            .chain([Self::Unknown])
            .find(|cause| cause.as_str() == word)
            .ok_or_else(|| UnknownCause { word: word.to_owned() })
    }
}

impl Serialize for Cause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Cause {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Cause;

    #[test]
    fn every_label_is_read_back_from_its_name() {
        for cause in Cause::LABELS {
            assert_eq!(cause.as_str().parse(), Ok(cause));
        }
        assert_eq!("unknown".parse(), Ok(Cause::Unknown));
        assert!("corruption".parse::<Cause>().is_err());
    }
}
