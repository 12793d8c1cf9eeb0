//! docs/performance.md.

use std::fmt::Write as _;

use anyhow::Result;

use super::{
    Options,
    figures::{mebibytes, seconds},
    phases::{Stretch, Told},
};

/// What the machine did before the bench began.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) named: String,
    pub(super) load_before: String,
}

impl Machine {
    /// As it is now.
    pub(super) fn read() -> Self {
        let first = |file: &str, field: &str| {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default().to_owned();
            line.trim_start_matches([' ', '\t', ':']).to_owned()
        };
        let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
        let kilobytes: u64 =
            first("/proc/meminfo", "MemTotal").split(' ').next().and_then(|it| it.parse().ok()).unwrap_or_default();
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Self {
            named: format!(
                "{cores} cores of {}, {} GiB of memory, Linux {}",
                first("/proc/cpuinfo", "model name"),
                kilobytes / 1_048_576,
                kernel.trim()
            ),
            load_before: std::fs::read_to_string("/proc/loadavg")
                .unwrap_or_default()
                .split(' ')
                .take(3)
                .collect::<Vec<_>>()
                .join(" "),
        }
    }
}

pub(super) fn page(options: &Options, machine: &Machine, told: &Told) -> Result<String> {
    let mut page = String::from("# Performance\n\n");
    writeln!(page, "What the operator costs beside many pods, and how soon it speaks. Written by:\n")?;
    writeln!(page, "```console\ncargo xtask bench scale\n```\n")?;
    writeln!(
        page,
        "A control plane of its own (etcd without fsync, API server, controllers, scheduler; Kubernetes 1.34), machines played by kwok, \
         and the operator's release build as a process that has the shipped cluster-wide role: {} pods with five containers and a claim \
         each, in {} StatefulSets in {} namespaces, one policy each. {} replicas crash-loop at the kubelet's own pace (10 s, 20 s, 40 s …), their \
         first crashes spread over {} s. Every replica answers its `/status` but those; a crash's log is that of a real node whose \
         `state.db` is damaged, and every inspector's report is a real one of such a disk.\n",
        options.pods, options.workloads, options.namespaces, options.looping, options.spread
    )?;
    writeln!(
        page,
        "Machine: {}. All of the above ran on it too. Load before it began: {}.\n",
        machine.named, machine.load_before
    )?;
    latencies(&mut page, told)?;
    costs(&mut page, told)?;
    verbs(&mut page, told)?;
    Ok(page)
}

fn latencies(page: &mut String, told: &Told) -> Result<()> {
    writeln!(page, "## How soon\n\nSeen by a watch beside the operator's.\n")?;
    writeln!(page, "| from | to | number | median | 95 % | 99 % | longest |\n|---|---|---|---|---|---|---|")?;
    writeln!(
        page,
        "| the status that shows the third crash is sent | the `Recovery` is there | {} |",
        told.to_record.cells()
    )?;
    writeln!(
        page,
        "| the inspector's Job is complete, and with it the evidence | the verdict is recorded | {} |",
        told.to_verdict.cells()
    )?;
    writeln!(
        page,
        "| the `Recovery` is there | the verdict is recorded, turns at the 4 inspectors waited for | {} |",
        told.record_to_verdict.cells()
    )?;
    writeln!(
        page,
        "\n{} records for {} replicas; {} of them before the third crash. From its start to ready: {}; to leading: {}. Asked to end, it hands \
         over within {}; killed, another one leads after {} (Lease of 15 s).\n",
        told.incidents,
        told.to_record.len(),
        told.early,
        seconds(told.ready),
        seconds(told.leads),
        seconds(told.handover),
        seconds(told.takeover)
    )?;
    Ok(())
}

fn costs(page: &mut String, told: &Told) -> Result<()> {
    writeln!(page, "## What it costs\n")?;
    writeln!(
        page,
        "Resident size at the end of each stretch and at most in it; CPU as a share of one core; requests to the API server by its audit log. \
         Writes do not count the Lease's renewal, one every 5 s.\n"
    )?;
    writeln!(
        page,
        "| stretch | lasts | RSS | at most | CPU | requests a second | writes |\n|---|---|---|---|---|---|---|"
    )?;
    for stretch in &told.stretches {
        writeln!(
            page,
            "| {} | {:.0} s | {} | {} | {:.1} % | {:.2} | {} |",
            stretch.name,
            stretch.seconds,
            mebibytes(stretch.usage.rss_bytes),
            mebibytes(stretch.rss_max_bytes),
            100.0 * stretch.cpu_seconds / stretch.seconds,
            rate(stretch.count(|_| true), stretch.seconds),
            stretch.writes()
        )?;
    }
    writeln!(
        page,
        "\nThe hurried hour: {} crashes, three status changes each, told in {:.0} s. Logs missed in all: {}; errors counted: {}.\n",
        told.hurried_crashes, told.hurried_seconds, told.logs_missed, told.errors
    )?;
    Ok(())
}

fn verbs(page: &mut String, told: &Told) -> Result<()> {
    writeln!(page, "## What it asks for\n\nRequests in each stretch.\n")?;
    let mut all: Vec<_> = told.stretches.iter().flat_map(|stretch| stretch.asked.keys()).collect();
    all.sort();
    all.dedup();
    let names: Vec<&str> = told.stretches.iter().map(|stretch| stretch.name).collect();
    writeln!(page, "| request | {} |\n|---|{}", names.join(" | "), "---|".repeat(names.len()))?;
    for asked in all {
        let counts = told
            .stretches
            .iter()
            .map(|stretch: &Stretch| stretch.asked.get(asked).map_or_else(String::new, ToString::to_string));
        writeln!(page, "| {asked} | {} |", counts.collect::<Vec<_>>().join(" | "))?;
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a count of requests")]
fn rate(count: usize, seconds: f64) -> f64 {
    count as f64 / seconds
}
