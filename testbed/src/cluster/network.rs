//! The node's address on a bridge of its own, and the one packet filter rule: the API server's service address leads to it.

use std::{net::TcpListener, path::Path, process::Command};

use anyhow::{Context, Result, bail};

use super::{Plan, Process};

/// Where the servers listen, and whose it is.
const PORTS: [(u16, &str); 7] = [
    (2379, "etcd"),
    (2380, "etcd"),
    (6443, "kube-apiserver"),
    (10250, "kubelet"),
    (10248, "kubelet"),
    (10257, "kube-controller-manager"),
    (10259, "kube-scheduler"),
];

/// Refuses where another process listens on an address of the cluster.
pub(crate) fn check(plan: &Plan) -> Result<()> {
    let ours: Vec<String> = Process::all(plan).into_iter().filter(Process::alive).map(|process| process.name).collect();
    for (port, name) in PORTS {
        if ours.iter().any(|each| each == name) {
            continue;
        }
        // The address may not exist yet: then nobody listens there.
        if let Err(error) = TcpListener::bind((plan.address().as_str(), port))
            && error.kind() == std::io::ErrorKind::AddrInUse
        {
            bail!(
                "port {port} of {} is in use by another process; end it, or start the cluster at another address: \
                 `--index N --cluster DIR`",
                plan.address()
            );
        }
    }
    Ok(())
}

/// Makes the bridge and the rule, where they are missing.
pub(crate) fn make(plan: &Plan) -> Result<()> {
    let bridge = plan.name();
    if !exists(&bridge) {
        run("ip", &["link", "add", &bridge, "type", "bridge"])?;
    }
    run("ip", &["addr", "replace", &format!("{}/32", plan.address()), "dev", &bridge])?;
    run("ip", &["link", "set", &bridge, "up"])?;
    let chain = chain(plan);
    if !has_chain(&chain) {
        run("iptables", &["-w", "-t", "nat", "-N", &chain])?;
    }
    run("iptables", &["-w", "-t", "nat", "-F", &chain])?;
    let (from, to) = (format!("{}/32", plan.api_service()), format!("{}:6443", plan.address()));
    let rule = ["-d", &from, "-p", "tcp", "--dport", "443", "-j", "DNAT", "--to-destination", &to];
    run("iptables", &[&["-w", "-t", "nat", "-A", &chain], rule.as_slice()].concat())?;
    for hook in ["PREROUTING", "OUTPUT"] {
        if run("iptables", &["-w", "-t", "nat", "-C", hook, "-j", &chain]).is_err() {
            run("iptables", &["-w", "-t", "nat", "-A", hook, "-j", &chain])?;
        }
    }
    Ok(())
}

/// Removes what [`make`] made and what the pods' network added.
pub(crate) fn remove(plan: &Plan) -> Result<()> {
    let chain = chain(plan);
    if has_chain(&chain) {
        for hook in ["PREROUTING", "OUTPUT"] {
            while run("iptables", &["-w", "-t", "nat", "-D", hook, "-j", &chain]).is_ok() {}
        }
        run("iptables", &["-w", "-t", "nat", "-F", &chain])?;
        run("iptables", &["-w", "-t", "nat", "-X", &chain])?;
    }
    for bridge in [plan.pod_bridge(), plan.name()] {
        if exists(&bridge) {
            run("ip", &["link", "del", &bridge])?;
        }
    }
    Ok(())
}

/// Interfaces, chains and rules that are still there.
pub(crate) fn left(plan: &Plan) -> Vec<String> {
    let mut left = Vec::new();
    for bridge in [plan.pod_bridge(), plan.name()] {
        if exists(&bridge) {
            left.push(format!("interface {bridge}"));
        }
    }
    let rules = output("iptables-save", &[]).unwrap_or_default();
    let chain = chain(plan);
    left.extend(
        rules
            .lines()
            .filter(|line| line.split([' ', ':']).any(|word| word == chain))
            .map(|line| format!("rule {line}")),
    );
    left
}

fn chain(plan: &Plan) -> String {
    plan.name().to_uppercase()
}

fn exists(interface: &str) -> bool {
    Path::new("/sys/class/net").join(interface).exists()
}

fn has_chain(chain: &str) -> bool {
    run("iptables", &["-w", "-t", "nat", "-n", "-L", chain]).is_ok()
}

fn run(program: &str, arguments: &[&str]) -> Result<()> {
    output(program, arguments).map(|_| ())
}

fn output(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program).args(arguments).output().with_context(|| format!("start {program}"))?;
    if !output.status.success() {
        bail!("{program} {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
