//! One record of a log: what one emitter said at one moment, over all its lines. *No IO.*

/// Severity as the emitter gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// `D[…]`, `DBG`, `"level":"debug"`.
    Debug,
    /// `I[…]`, `INF`, `"level":"info"`.
    Info,
    /// `WRN`, `"level":"warn"`.
    Warn,
    /// `E[…]`, `ERR`, `"level":"error"`.
    Error,
    /// `FTL`, `PNC`, a Go panic, a Go `fatal error:`, a Rust panic.
    Fatal,
    /// The line carries none.
    None,
}

/// Who says it. A phrase counts only from the emitters that its entry in the data file allows (P13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Emitter {
    /// The header of a Go panic, a `fatal error:` or a Rust panic, with its cause chain (`[recovered]`, wrapped errors).
    Panic,
    /// A plain line of the process: `Error: …`, `ERROR: …`, or bare text.
    Error,
    /// A structured record of a local module.
    Log,
    /// A record that carries a remote party's data, or a line of another program: text in it proves nothing about this node.
    Peer,
    /// Kernel, systemd, container runtime, kubelet, shell, dynamic loader.
    Os,
    /// Help text that cobra prints after an error: no evidence at all.
    Usage,
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Number of its first line in the input, from 1.
    pub line: u64,
    /// How many lines of the input it spans.
    pub lines: u32,
    /// Severity.
    pub level: Level,
    /// Who says it.
    pub emitter: Emitter,
    /// The `module` field (`consensus`, `p2p`, `server`, `x/bank` …); empty where there is none.
    pub module: String,
    /// The message without timestamp, level, module, prefixes and colours; of a panic its header and cause chain.
    pub message: String,
    /// Values of the fields that carry an error (`err`, `error`, `reason`, `panic`, `cause`, `stack` is not one), joined by `\n`.
    pub errors: String,
    /// The other fields as `key=value`, sorted by key, joined by one space.
    pub fields: String,
    /// Functions of the first goroutine's stack below the record, top first, without arguments, addresses, versions and
    /// import host (`rootmulti.GetLatestVersion`, `consensus.(*State).finalizeCommit`).
    pub frames: Vec<String>,
    /// Whether bytes of it were dropped (an over-long line).
    pub cut: bool,
}

impl Record {
    /// Becomes a copy of `other`, in the memory it already has.
    pub(crate) fn copy_of(&mut self, other: &Self) {
        (self.line, self.lines, self.cut) = (other.line, other.lines, other.cut);
        (self.level, self.emitter) = (other.level, other.emitter);
        self.module.clone_from(&other.module);
        self.message.clone_from(&other.message);
        self.errors.clone_from(&other.errors);
        self.fields.clone_from(&other.fields);
        self.frames.clone_from(&other.frames);
    }
}

impl Level {
    /// Whether the emitter itself calls it an error.
    #[must_use]
    pub fn reports_failure(self) -> bool {
        matches!(self, Self::Error | Self::Fatal)
    }
}
