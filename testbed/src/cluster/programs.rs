//! The programs of the cluster: built from Go modules once, and kept under the hash of what they are built from.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use super::{BackOff, Minor, Progress};
use crate::place;

/// Flags of every build; the same everywhere, so that a package that two modules share is compiled once.
const FLAGS: [&str; 3] = ["-trimpath", "-mod=readonly", "-buildvcs=false"];

/// A module of `testbed/` and what is built from it.
struct Module {
    folder: PathBuf,
    packages: Vec<String>,
    /// Values that the linker sets.
    stamps: Vec<String>,
}

/// Where the programs lie.
#[derive(Debug)]
pub(crate) struct Programs {
    folders: Vec<PathBuf>,
    /// The kubelet that looks for containers to start every second, where it was asked for.
    quick_kubelet: Option<PathBuf>,
    /// The snapshot API's definitions.
    pub(crate) definitions: PathBuf,
}

impl Programs {
    /// Builds what is missing.
    pub(crate) fn ensure(minor: Minor, back_off: BackOff, progress: &Progress) -> Result<Self> {
        let testbed = place::repository().join("testbed");
        let snapshotter = "github.com/kubernetes-csi/external-snapshotter/v8/cmd";
        let kubernetes = kubernetes(&testbed, minor)?;
        let snapshots = Module {
            folder: testbed.join("snapshots"),
            packages: vec![format!("{snapshotter}/csi-snapshotter"), format!("{snapshotter}/snapshot-controller")],
            stamps: Vec::new(),
        };
        let etcd = Module {
            folder: testbed.join("etcd"),
            packages: vec!["go.etcd.io/etcd/server/v3".to_owned()],
            stamps: Vec::new(),
        };
        let csi = Module {
            folder: testbed.join("csi"),
            packages: vec!["./cmd/driver".into(), "./cmd/provisioner".into(), "./cmd/pause".into()],
            stamps: Vec::new(),
        };
        let mut folders = Vec::new();
        for module in [&kubernetes, &snapshots, &etcd, &csi] {
            folders.push(module.ensure(progress)?);
        }
        let quick_kubelet = match back_off {
            BackOff::Stock => None,
            BackOff::Quick => Some(quick_kubelet(&kubernetes, progress)?),
        };
        let definitions = snapshots.folder_of("github.com/kubernetes-csi/external-snapshotter/client/v8")?;
        Ok(Self { folders, quick_kubelet, definitions: definitions.join("config/crd") })
    }

    /// Where a program lies.
    pub(crate) fn path(&self, name: &str) -> String {
        // etcd's main package is called `server`, and so is its program.
        let file = if name == "etcd" { "server" } else { name };
        let folder = self.folders.iter().find(|folder| folder.join(file).exists());
        folder.map_or_else(|| name.to_owned(), |folder| folder.join(file).display().to_string())
    }

    pub(crate) fn kubelet(&self, back_off: BackOff) -> String {
        match (&self.quick_kubelet, back_off) {
            (Some(quick), BackOff::Quick) => quick.display().to_string(),
            _ => self.path("kubelet"),
        }
    }
}

fn kubernetes(testbed: &Path, minor: Minor) -> Result<Module> {
    let folder = testbed.join("kubernetes").join(minor.folder());
    let text = fs::read_to_string(folder.join("go.mod"))?;
    let version = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("k8s.io/kubernetes v")?.split_whitespace().next())
        .with_context(|| format!("{} names no version of k8s.io/kubernetes", folder.display()))?;
    let (major, rest) = version.split_once('.').unwrap_or((version, ""));
    let small = rest.split('.').next().unwrap_or("");
    let stamp = |key: &str, value: &str| format!("k8s.io/component-base/version.{key}={value}");
    let programs = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kubectl"];
    Ok(Module {
        folder,
        packages: programs.iter().map(|program| format!("k8s.io/kubernetes/cmd/{program}")).collect(),
        stamps: vec![
            stamp("gitVersion", &format!("v{version}")),
            stamp("gitMajor", major),
            stamp("gitMinor", small),
            format!("k8s.io/client-go/pkg/version.gitVersion=v{version}"),
        ],
    })
}

impl Module {
    /// The folder of the built programs, after building them if it is not there.
    fn ensure(&self, progress: &Progress) -> Result<PathBuf> {
        let folder = place::cache().join(format!("{}-{}", self.name(), self.key()?));
        if folder.is_dir() {
            return Ok(folder);
        }
        progress.say(&format!("building {}", self.name()));
        let half = half(&folder)?;
        fs::create_dir_all(&half).with_context(|| format!("make {}", half.display()))?;
        go_build(&self.folder, &self.packages, &self.stamps, &half)?;
        // Somebody else may have been faster: then theirs is as good.
        if fs::rename(&half, &folder).is_err() {
            fs::remove_dir_all(&half)?;
        }
        progress.say(&format!("built {}", self.name()));
        Ok(folder)
    }

    fn name(&self) -> String {
        let name = self.folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with(|first: char| first.is_ascii_digit()) { format!("kubernetes-{name}") } else { name }
    }

    /// A hash of everything that the result depends on, but for the compiler.
    fn key(&self) -> Result<String> {
        let mut hash = Sha256::new();
        for word in FLAGS.iter().map(|flag| (*flag).to_owned()).chain(self.packages.clone()).chain(self.stamps.clone())
        {
            hash.update(word);
            hash.update("\n");
        }
        for file in sources(&self.folder)? {
            hash.update(fs::read(&file).with_context(|| format!("read {}", file.display()))?);
        }
        let bytes = hash.finalize();
        Ok(bytes.iter().take(6).fold(String::new(), |all, byte| all + &format!("{byte:02x}")))
    }

    /// Where Go keeps the sources of a module that this one needs.
    fn folder_of(&self, module: &str) -> Result<PathBuf> {
        let arguments = ["list", "-mod=readonly", "-m", "-f", "{{.Dir}}", module];
        let output = go(&self.folder).args(arguments).stderr(Stdio::inherit()).output().context("start go")?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if text.is_empty() {
            // Known, but not fetched: the programs came out of the cache.
            let fetched = go(&self.folder).args(["mod", "download", module]).status()?;
            let again = go(&self.folder).args(arguments).output()?;
            let text = String::from_utf8_lossy(&again.stdout).trim().to_owned();
            if !fetched.success() || text.is_empty() {
                bail!("go does not find the sources of {module}");
            }
            return Ok(PathBuf::from(text));
        }
        Ok(PathBuf::from(text))
    }
}

/// The kubelet with one constant changed: how long it waits until it looks at a pod again whose container backs off. The gate
/// that shortens the back-off itself leaves this at 10 s.
fn quick_kubelet(module: &Module, progress: &Progress) -> Result<PathBuf> {
    const PATCHED: &str = "pkg/kubelet/kubelet.go";
    const STOCK: &str = "backOffPeriod = time.Second * 10";
    const QUICK: &str = "backOffPeriod = time.Second * 1";
    let folder = place::cache().join(format!("{}-quick-{}", module.name(), module.key()?));
    let program = folder.join("kubelet");
    if program.exists() {
        return Ok(program);
    }
    progress.say("building the kubelet with the quick back-off");
    let work = half(&folder)?;
    let source = work.join("source");
    fs::create_dir_all(&work)?;
    // Go refuses overlays of files in its module cache: the module is replaced by a copy of it.
    let original = module.folder_of("k8s.io/kubernetes")?;
    let copied = Command::new("cp").args(["-r", "--reflink=auto"]).arg(&original).arg(&source).status()?;
    let writable = Command::new("chmod").args(["-R", "u+w"]).arg(&source).status()?;
    if !copied.success() || !writable.success() {
        bail!("copying {} failed", original.display());
    }
    let text = fs::read_to_string(source.join(PATCHED))?;
    if text.matches(STOCK).count() != 1 {
        bail!("{PATCHED} of this Kubernetes does not hold `{STOCK}` once; use the stock kubelet");
    }
    fs::write(source.join(PATCHED), text.replace(STOCK, QUICK))?;
    let pinned = fs::read_to_string(module.folder.join("go.mod"))?;
    fs::write(work.join("go.mod"), format!("{pinned}\nreplace k8s.io/kubernetes => ./source\n"))?;
    fs::copy(module.folder.join("go.sum"), work.join("go.sum"))?;
    let built = work.join("kubelet");
    go_build(&work, &["k8s.io/kubernetes/cmd/kubelet".to_owned()], &module.stamps, &built)?;
    fs::create_dir_all(&folder)?;
    fs::rename(&built, &program)?;
    fs::remove_dir_all(&work)?;
    progress.say("built the kubelet with the quick back-off");
    Ok(program)
}

/// Where a build is made before it is whole; what a build that was killed left there is removed.
fn half(folder: &Path) -> Result<PathBuf> {
    let cache = place::cache();
    for entry in fs::read_dir(&cache).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let owner = name.rsplit_once(".half-").map(|(_, pid)| pid.to_owned());
        if owner.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            fs::remove_dir_all(entry.path()).with_context(|| format!("remove {}", entry.path().display()))?;
        }
    }
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(cache.join(format!("{name}.half-{}", std::process::id())))
}

fn go(folder: &Path) -> Command {
    let mut command = Command::new("go");
    command.current_dir(folder).stdin(Stdio::null()).env("CGO_ENABLED", "0").env("GOFLAGS", "").env("GOWORK", "off");
    command
}

fn go_build(folder: &Path, packages: &[String], stamps: &[String], out: &Path) -> Result<()> {
    let link = stamps.iter().fold("-s -w".to_owned(), |all, stamp| format!("{all} -X {stamp}"));
    // A folder that exists takes several programs; anything else is one program's name.
    let status = go(folder)
        .arg("build")
        .args(FLAGS)
        .args(["-ldflags", &link, "-o"])
        .arg(out)
        .args(packages)
        .status()
        .context("start go; install Go 1.21 or newer (https://go.dev/dl)")?;
    if !status.success() {
        bail!("go build in {}: {status}", folder.display());
    }
    Ok(())
}

/// `go.mod`, `go.sum` and the module's own sources without tests, in order.
fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() {
            all.extend(sources(&path)?);
        } else if name == "go.mod"
            || name == "go.sum"
            || (path.extension().is_some_and(|kind| kind == "go") && !name.ends_with("_test.go"))
        {
            all.push(path);
        }
    }
    all.sort();
    Ok(all)
}
