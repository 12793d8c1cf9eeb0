//! Names and quantities that must not be mixed up. *No client.*

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! name {
    ($(#[$doc:meta])* $type:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $type(String);

        impl $type {
            /// Takes the name as the API server or the file gave it.
            pub fn new(name: impl Into<String>) -> Self {
                Self(name.into())
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

name!(
    /// `metadata.uid` of one object: two pods of the same name have different ones.
    Uid
);
name!(
    /// A container's or init container's name within its pod.
    ContainerName
);
name!(
    /// A `PersistentVolumeClaim`'s name within its namespace.
    ClaimName
);
name!(
    /// A Kubernetes node's (machine's) name.
    NodeName
);

/// A replica over all the pods that ever carried its name: namespace and name, without UID.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct InstanceName {
    /// Namespace; empty where the object was printed without one.
    pub namespace: String,
    /// The pod's name.
    pub name: String,
}

impl fmt::Display for InstanceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() { f.pad(&self.name) } else { write!(f, "{}/{}", self.namespace, self.name) }
    }
}

/// A block height; 0 is "before the first block".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Height(pub u64);

impl fmt::Display for Height {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A probability in thousandths (0 ..= 1000).
///
/// Integer, so that two machines can never print two verdicts for the same log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Probability(u16);

impl Probability {
    /// Certainly not.
    pub const ZERO: Self = Self(0);
    /// Certain.
    pub const ONE: Self = Self(1000);

    /// From thousandths; more than 1000 is taken as 1000.
    #[must_use]
    pub const fn from_thousandths(thousandths: u16) -> Self {
        Self(if thousandths > 1000 { 1000 } else { thousandths })
    }

    /// 0 ..= 1000.
    #[must_use]
    pub const fn thousandths(self) -> u16 {
        self.0
    }

    /// What is left of certainty.
    #[must_use]
    pub const fn complement(self) -> Self {
        Self(Self::ONE.0.saturating_sub(self.0))
    }

    /// 0.0 ..= 1.0.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / 1000.0
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 1000, self.0 % 1000 / 10)
    }
}
