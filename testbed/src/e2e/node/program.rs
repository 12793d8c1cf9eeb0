//! The chain's program: wasmd and the library that it loads, built once from the Go module in `testbed/chain`.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::place;

/// The library that wasmd loads at run time.
const LIBRARY: &str = "libwasmvm.x86_64.so";

/// A built chain.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    /// The folder with everything made from it; another version of the module has another one.
    pub(crate) folder: PathBuf,
}

impl Program {
    /// Takes it from the cache, or builds it, which takes about five minutes on two cores.
    pub(crate) fn get() -> Result<Self> {
        let module = place::repository().join("testbed/chain");
        let sum = fs::read(module.join("go.sum")).context("read testbed/chain/go.sum")?;
        let mut key = String::new();
        for byte in Sha256::digest(&sum).iter().take(6) {
            write!(key, "{byte:02x}")?;
        }
        let program = Self { folder: place::cache().join(format!("chain-{key}")) };
        if program.library().exists() {
            return Ok(program);
        }
        fs::create_dir_all(&program.folder).with_context(|| format!("make {}", program.folder.display()))?;
        eprintln!("building wasmd from testbed/chain (about five minutes, once)");
        let fresh = program.folder.join("wasmd.new");
        let output = fresh.to_string_lossy().into_owned();
        go(
            &module,
            &["build", "-trimpath", "-tags", "pebbledb", "-o", &output, "github.com/CosmWasm/wasmd/cmd/wasmd"],
        )?;
        fs::rename(&fresh, program.path())?;
        let library = go(&module, &["list", "-m", "-f", "{{.Dir}}", "github.com/CosmWasm/wasmvm/v2"])?;
        let library = Path::new(library.trim()).join("internal/api").join(LIBRARY);
        // The last file: where it is, all is.
        fs::copy(&library, program.library()).with_context(|| format!("copy {}", library.display()))?;
        Ok(program)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join("wasmd")
    }

    pub(crate) fn library(&self) -> PathBuf {
        self.folder.join(LIBRARY)
    }

    /// A call of it on this machine.
    pub(crate) fn command(&self, home: &Path) -> Command {
        let mut command = Command::new(self.path());
        command.env("LD_LIBRARY_PATH", &self.folder).arg("--home").arg(home).stdin(Stdio::null());
        command
    }

    /// Runs it to its end and gives what it printed.
    pub(crate) fn say(&self, home: &Path, words: &[&str]) -> Result<String> {
        let output = self.command(home).args(words).output().context("start wasmd")?;
        if !output.status.success() {
            bail!("wasmd {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8(output.stdout)?)
    }
}

fn go(module: &Path, words: &[&str]) -> Result<String> {
    let output =
        Command::new("go").args(words).current_dir(module).stderr(Stdio::inherit()).output().context("start go")?;
    if !output.status.success() {
        bail!("go {}: {}", words.join(" "), output.status);
    }
    Ok(String::from_utf8(output.stdout)?)
}
