//! The operator's image: one static program in an otherwise empty root, run as nobody.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{Archive, Layer, Root};
use crate::place;

/// What the operator's image is called where nobody names it.
pub(crate) const NAME: &str = "localhost/loopbreaker:dev";

/// In the image's `PATH`: inspector Jobs and `guard --install` call it by its name alone.
const PROGRAM: &str = "/usr/local/bin/loopbreaker";
/// A user that owns nothing; the same as in other images without a shell.
const NOBODY: u32 = 65532;

/// Where an image was written.
pub(crate) struct Written {
    pub(crate) layout: PathBuf,
    pub(crate) tar: PathBuf,
    /// The static program by itself.
    pub(crate) program: PathBuf,
    pub(crate) digest: String,
    pub(crate) bytes: u64,
}

/// Builds the program and writes its image as a layout directory and as a tar.
pub(crate) fn write(profile: &str, name: &str, out: &Path) -> Result<Written> {
    let built = static_binary(profile)?;
    fs::create_dir_all(out).with_context(|| format!("make {}", out.display()))?;
    let (layout, tar, program) = (out.join("loopbreaker"), out.join("loopbreaker.tar"), out.join("program"));
    fs::copy(&built, &program).with_context(|| format!("copy {}", built.display()))?;
    let image = image_of(&program, name);
    let digest = image.write_layout(&layout)?;
    image.write_tar(&tar)?;
    Ok(Written { bytes: fs::metadata(&tar)?.len(), layout, tar, program, digest })
}

/// Writes the image of a program that is built already as a tar, for the clusters of the tests.
pub(crate) fn write_tar(program: &Path, tar: &Path) -> Result<()> {
    if let Some(folder) = tar.parent() {
        fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))?;
    }
    image_of(program, NAME).layer(Layer::Plain).write_tar(tar).map(drop)
}

fn image_of(program: &Path, name: &str) -> Archive {
    // No certificates of the public: the API server's comes with the service account, peers are asked over plain HTTP.
    let root = Root::default()
        .program(program, PROGRAM)
        .bytes("/etc/passwd", format!("nobody:x:{NOBODY}:{NOBODY}:nobody:/:/sbin/nologin\n"), 0o644)
        .bytes("/etc/group", format!("nobody:x:{NOBODY}:\n"), 0o644)
        .directory("/tmp", 0o1777);
    Archive::new(name, root)
        .entrypoint(&[PROGRAM])
        .user(NOBODY)
        .layer(Layer::Gzip)
        .label("org.opencontainers.image.title", "loopbreaker")
        .label("org.opencontainers.image.version", env!("CARGO_PKG_VERSION"))
        .label("org.opencontainers.image.licenses", "Apache-2.0")
}

/// Builds `loopbreaker` so that it needs no file of its root, and says where it is.
///
/// glibc linked statically: no other target has to be installed, and the little it loads at run time (name services) is not used.
pub(crate) fn static_binary(profile: &str) -> Result<PathBuf> {
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let root = place::repository();
    let home = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")));
    // Paths of this machine would make the program differ from one built elsewhere.
    let flags = [
        "-Ctarget-feature=+crt-static".to_owned(),
        format!("--remap-path-prefix={}=/loopbreaker", root.display()),
        format!("--remap-path-prefix={}=/cargo", home.unwrap_or_default()),
    ];
    let output = Command::new("cargo")
        .args(["build", "--locked", "--package", "loopbreaker", "--bin", "loopbreaker", "--target", &target])
        .args(["--profile", profile, "--message-format", "json-render-diagnostics"])
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
        .current_dir(&root)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("start cargo")?;
    if !output.status.success() {
        bail!("cargo build of the static program: {}", output.status);
    }
    let executable = output.stdout.split(|byte| *byte == b'\n').find_map(|line| {
        let message: Value = serde_json::from_slice(line).ok()?;
        message.get("executable")?.as_str().map(PathBuf::from)
    });
    executable.context("cargo named no program that it built")
}
