//! `cluster up`: from whatever there is, to a cluster that pods, claims and snapshots can be made in. Each step does only what is
//! missing, so it also mends a cluster of which something was killed.

use std::{
    fs,
    process::{Command, Stdio},
    thread::{self, sleep},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use super::{
    DRIVER, Disk, NODE, Plan, Process, Programs, Progress, certificates, cgroup, disk, images, machine, network, parts,
    process::last_words, text,
};

/// How long a server may take until it answers.
const PATIENCE: Duration = Duration::from_secs(90);

/// Brings the cluster up; says where its kubeconfig is.
pub(crate) fn up(plan: &Plan) -> Result<()> {
    let progress = Progress::begin();
    machine::check(plan)?;
    machine::install(&progress)?;
    let programs = Programs::ensure(plan.minor, plan.back_off, &progress)?;
    let begun = Progress::begin();
    plan.keep()?;
    prepare(plan)?;

    let (name, words) = parts::etcd(plan, &programs);
    Process::ensure(plan, name, words)?;
    let (name, words) = parts::containerd(plan);
    Process::ensure(plan, name, words)?;
    let (name, words) = parts::api_server(plan, &programs);
    Process::ensure(plan, name, words)?;
    let disk = thread::scope(|scope| -> Result<Disk> {
        let images = scope.spawn(|| images::load_own(plan, &programs));
        let disk = disk::make(plan)?;
        let kube = Kubectl { plan, programs: &programs };
        kube.until("kube-apiserver", "the API server is ready", &["get", "--raw", "/readyz"], |text| text == "ok")?;
        progress.say("API server ready");
        images.join().map_err(|_| anyhow::anyhow!("loading the images broke off"))??;
        Ok(disk)
    })?;
    for (name, words) in
        [parts::controllers(plan, &programs), parts::scheduler(plan, &programs), parts::kubelet(plan, &programs)]
    {
        Process::ensure(plan, name, words)?;
    }
    let kube = Kubectl { plan, programs: &programs };
    storage(plan, &programs, &kube)?;
    progress.say("snapshot definitions, driver and classes made");
    wait(&kube, &progress)?;
    finish(plan, &programs, disk, &begun)
}

/// Everything that is there before the first server starts.
fn prepare(plan: &Plan) -> Result<()> {
    certificates::make(plan)?;
    for user in certificates::user_files() {
        fs::write(plan.path(&format!("{user}.kubeconfig")), text::kubeconfig(plan, user))?;
    }
    for folder in ["etc/cni", "etc/certs.d", "pod-logs", "volume-plugins", "kubelet"] {
        fs::create_dir_all(plan.path(folder))?;
    }
    fs::write(plan.path("etc/containerd.toml"), text::containerd(plan))?;
    fs::write(plan.path("etc/cni/10-bed.conflist"), text::cni(plan))?;
    fs::write(plan.path("etc/audit.yaml"), text::AUDIT)?;
    fs::write(plan.path("etc/kubelet.yaml"), text::kubelet(plan))?;
    fs::write(plan.path("etc/classes.yaml"), text::classes())?;
    // Nobody answers there; the kubelet refuses an empty file.
    fs::write(plan.path("etc/resolv.conf"), "nameserver 127.0.0.1\n")?;
    network::make(plan)?;
    cgroup::make(plan)
}

/// The snapshot API, the driver and what goes with it.
fn storage(plan: &Plan, programs: &Programs, kube: &Kubectl<'_>) -> Result<()> {
    let parts = parts::storage(plan, programs);
    for (name, words) in &parts {
        // The snapshot controller ends where its kinds are not served yet.
        if !name.contains("snapshot") {
            Process::ensure(plan, name, words.clone())?;
        }
    }
    let kinds = ["volumesnapshotclasses", "volumesnapshotcontents", "volumesnapshots"];
    let mut apply = vec!["apply".to_owned(), "--server-side".to_owned(), "--force-conflicts".to_owned()];
    for kind in kinds {
        let file = programs.definitions.join(format!("snapshot.storage.k8s.io_{kind}.yaml"));
        apply.push(format!("--filename={}", file.display()));
    }
    kube.run(&apply.iter().map(String::as_str).collect::<Vec<_>>())?;
    for kind in kinds {
        let name = format!("crd/{kind}.snapshot.storage.k8s.io");
        kube.run(&["wait", "--for=condition=Established", "--timeout=30s", &name])?;
    }
    let classes = plan.text("etc/classes.yaml");
    kube.run(&["apply", "--server-side", "--force-conflicts", "--filename", &classes])?;
    for (name, words) in parts {
        Process::ensure(plan, name, words)?;
    }
    Ok(())
}

fn wait(kube: &Kubectl<'_>, progress: &Progress) -> Result<()> {
    let ready = r#"jsonpath={.status.conditions[?(@.type=="Ready")].status}"#;
    kube.until("kubelet", "the node is Ready", &["get", "node", NODE, "-o", ready], |text| text == "True")?;
    progress.say("node Ready");
    let drivers = "jsonpath={.spec.drivers[*].name}";
    kube.until("csi-driver", "the driver is registered", &["get", "csinode", NODE, "-o", drivers], |text| {
        text == DRIVER
    })?;
    let account = ["get", "serviceaccount/default", "-o", "name"];
    kube.until("kube-controller-manager", "the default service account is made", &account, |text| !text.is_empty())?;
    progress.say("driver registered, default service account made");
    Ok(())
}

/// Looks once more whether every server still runs, and says what there is.
fn finish(plan: &Plan, programs: &Programs, disk: Disk, begun: &Progress) -> Result<()> {
    for process in Process::all(plan) {
        if !process.alive() {
            bail!("{} has ended: {}", process.name, last_words(plan, &process.name));
        }
    }
    let how = match disk {
        Disk::Reflinks => "shared blocks on an XFS of its own, the writing pods standing still",
        Disk::Copies => "plain copies, the writing pods standing still",
    };
    let link = plan.path("kubectl");
    // The same name each time, whatever the version.
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(programs.path("kubectl"), &link)?;
    println!("up {:.1} s after everything was built; snapshots are {how}", begun.elapsed().as_secs_f64());
    println!("kubeconfig: {}", plan.text("admin.kubeconfig"));
    println!("try: {} --kubeconfig {} get pods -A", link.display(), plan.text("admin.kubeconfig"));
    Ok(())
}

/// The cluster's own `kubectl`.
struct Kubectl<'p> {
    plan: &'p Plan,
    programs: &'p Programs,
}

impl Kubectl<'_> {
    fn run(&self, arguments: &[&str]) -> Result<String> {
        let output = Command::new(self.programs.path("kubectl"))
            .arg("--kubeconfig")
            .arg(self.plan.path("admin.kubeconfig"))
            .args(arguments)
            .env("HOME", &self.plan.folder)
            .stdin(Stdio::null())
            .output()
            .context("start kubectl")?;
        if !output.status.success() {
            bail!("kubectl {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Asks until the answer is right, as long as the server that has to bring it about lives.
    fn until(&self, server: &str, what: &str, question: &[&str], right: impl Fn(&str) -> bool) -> Result<()> {
        let end = Instant::now() + PATIENCE;
        loop {
            let answer = self.run(question);
            if answer.as_ref().is_ok_and(|text| right(text)) {
                return Ok(());
            }
            if !Process::find(self.plan, server)?.alive() {
                bail!("{server} has ended before {what}: {}", last_words(self.plan, server));
            }
            if Instant::now() >= end {
                let told = answer.map_or_else(|error| error.to_string(), |text| format!("the answer is {text:?}"));
                bail!("not within {} s: {what}; {told}; {}", PATIENCE.as_secs(), last_words(self.plan, server));
            }
            sleep(Duration::from_millis(100));
        }
    }
}
