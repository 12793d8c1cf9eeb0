//! The machine that measured, as far as it matters to others: never its name.

use std::{fs, num::NonZeroUsize};

/// Processor, cores, memory and kernel.
pub(super) fn describe() -> String {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let model = field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let memory = field("/proc/meminfo", "MemTotal")
        .and_then(|text| text.trim_end_matches(" kB").parse::<u64>().ok())
        .map_or_else(|| "memory unknown".to_owned(), |kib| format!("{} GiB", kib.div_ceil(1 << 20)));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let kernel = kernel.split(['-', '+']).next().unwrap_or_default().trim();
    format!("{cores} cores of {model}, {memory}, {} {kernel}", std::env::consts::OS)
}

/// How many processes wanted to run, averaged over the last minute.
pub(super) fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("unknown").to_owned()
}

fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
