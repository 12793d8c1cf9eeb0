//! The chain's image: busybox, wasmd with its libraries, and the homes that pods begin with.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use super::{Program, Seed, seed::OWNER};
use crate::image::{Archive, Root};

/// What it is called in the cluster.
pub(crate) const CHAIN: &str = "localhost/testbed-chain:1";
/// Where the homes lie in it.
pub(super) const SEED: &str = "/seed";

/// Writes it, if it is not there yet.
pub(crate) fn write(program: &Program, seed: &Seed) -> Result<PathBuf> {
    let tar = seed.folder.with_extension("tar");
    if tar.exists() {
        return Ok(tar);
    }
    let mut root = Root::default()
        .program(Path::new("/bin/busybox"), "/bin/busybox")
        .program(&program.path(), "/bin/wasmd")
        .bytes("/etc/passwd", "root:x:0:0:root:/:/bin/sh\n", 0o644)
        .bytes("/etc/group", "root:x:0:\n", 0o644)
        .directory("/tmp", 0o1777);
    for tool in ["sh", "cp", "ls", "cat", "rm", "sleep", "dd", "touch", "mkdir", "chmod", "nc", "test", "["] {
        root = root.link(&format!("/bin/{tool}"), "busybox");
    }
    for library in libraries(&program.path(), &program.folder)? {
        let inside = if library.starts_with(&program.folder) {
            format!("/lib/{}", file_name(&library))
        } else {
            library.display().to_string()
        };
        root = root.program(&library, &inside);
    }
    for file in files(&seed.folder)? {
        let below = file.strip_prefix(&seed.folder)?.display().to_string();
        if !below.ends_with("seed.log") && !below.starts_with(OWNER) {
            root = root.bytes(&format!("{SEED}/{below}"), fs::read(&file)?, 0o644);
        }
    }
    let fresh = seed.folder.with_extension("tar.new");
    Archive::new(CHAIN, root).write_tar(&fresh)?;
    fs::rename(&fresh, &tar)?;
    Ok(tar)
}

/// What the dynamic linker would load.
fn libraries(binary: &Path, beside: &Path) -> Result<Vec<PathBuf>> {
    let output = Command::new("ldd").arg(binary).env("LD_LIBRARY_PATH", beside).output().context("start ldd")?;
    let text = String::from_utf8(output.stdout)?;
    if text.contains("not found") || !output.status.success() {
        bail!("ldd {}: {text}", binary.display());
    }
    Ok(text.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect())
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Every file below a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}
