//! A log is streamed: the memory it takes does not grow with its size (issue: RSS at most 64 MiB).

use std::{
    fs,
    io::Write,
    process::{Command, Stdio},
};

const MEBIBYTE: usize = 1024 * 1024;

/// 200 MiB of it, in which ever new failures come by, so that everything that is kept is kept. Read while the program still
/// waits for more: its peak is then what `/proc` says.
#[cfg(target_os = "linux")]
#[test]
fn two_hundred_mebibytes_take_less_than_64() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_loopbreaker"))
        .args(["diagnose", "--log", "-", "--output", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut input = child.stdin.take().expect("a pipe");
    let mut written = 0;
    let mut piece = String::with_capacity(MEBIBYTE + 4096);
    for round in 0_u32.. {
        if written >= 200 * MEBIBYTE {
            break;
        }
        piece.clear();
        while piece.len() < MEBIBYTE {
            let height = round * 10_000 + u32::try_from(piece.len() / 100).expect("small");
            piece.push_str(&format!(
                "3:04PM INF committed state app_hash=A1B2C3 height={height} module=state num_txs=0\n"
            ));
            piece.push_str(&format!(
                "3:04PM ERR failure {:x} of a new kind err=\"word{:x}\" module=consensus\n",
                height / 7,
                height / 3
            ));
        }
        input.write_all(piece.as_bytes()).expect("it reads on");
        written += piece.len();
    }
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it still runs");
    drop(input);
    assert!(child.wait_with_output().expect("it ends").status.success());
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux tells the peak");
    let kibibytes: usize = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    assert!(kibibytes <= 64 * 1024, "{kibibytes} KiB");
}
