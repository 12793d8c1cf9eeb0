//! What is on a volume, as far as a story can tell. *No client.* (P4, P8, P10: identity, emptiness and signing state)

use std::collections::BTreeMap;

use jiff::SignedDuration;

/// The heights of the databases of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Heights {
    /// `application.db`.
    pub application: u64,
    /// `state.db`.
    pub state: u64,
    /// `blockstore.db`.
    pub blockstore: u64,
}

/// Where a validator has signed last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Signing {
    /// `priv_validator_state.json`: height.
    pub height: u64,
    /// Round.
    pub round: u32,
    /// Step.
    pub step: u8,
}

/// Damage that stops a node, with what the node says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Which database or file: `state.db`, `application.db` …
    pub part: String,
    /// The containers that stop over it, such as `node`, `version-check`; empty for the one that runs the node.
    pub containers: Vec<String>,
    /// What they print.
    pub log: Vec<String>,
    /// How they exit.
    pub exit_code: i32,
    /// How long after the start.
    pub after: SignedDuration,
}

impl Damage {
    /// Damage of a part, with the log that it makes; exit status 2 as of a Go panic, one second after the start.
    #[must_use]
    pub fn of(part: &str, log: &str) -> Self {
        Self {
            part: part.to_owned(),
            containers: Vec::new(),
            log: log.lines().map(str::to_owned).collect(),
            exit_code: 2,
            after: SignedDuration::from_secs(1),
        }
    }

    /// The same, but another container stops over it as well.
    #[must_use]
    pub fn and_in(mut self, container: &str) -> Self {
        self.containers.push(container.to_owned());
        self
    }
}

/// What is on a volume.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VolumeContent {
    /// Whose node this is: the keys. Nothing where no node has ever run.
    pub identity: Option<String>,
    /// The chain.
    pub chain: Option<String>,
    /// The databases; nothing on a volume without any.
    pub heights: Option<Heights>,
    /// The earliest block that is kept.
    pub base: u64,
    /// What is broken.
    pub damage: Option<Damage>,
    /// A validator's signing state.
    pub signing: Option<Signing>,
    /// Bytes in use.
    pub used_bytes: u64,
    /// Whatever a story wants to find again.
    pub marks: BTreeMap<String, String>,
}

impl VolumeContent {
    /// A fresh file system.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// A sound node of a chain at a height.
    #[must_use]
    pub fn node(identity: &str, chain: &str, height: u64) -> Self {
        Self {
            identity: Some(identity.to_owned()),
            chain: Some(chain.to_owned()),
            heights: Some(Heights { application: height, state: height, blockstore: height }),
            base: 1,
            ..Self::default()
        }
    }

    /// Whether there is no database on it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heights.is_none()
    }

    /// The height of the application, or 0.
    #[must_use]
    pub fn height(&self) -> u64 {
        self.heights.map_or(0, |heights| heights.application)
    }

    pub(crate) fn advance_to(&mut self, height: u64) {
        if let Some(heights) = &mut self.heights {
            for part in [&mut heights.application, &mut heights.state, &mut heights.blockstore] {
                *part = height.max(*part);
            }
        }
        if let Some(signing) = &mut self.signing
            && signing.height > 0
        {
            signing.height = signing.height.max(height);
        }
    }
}
