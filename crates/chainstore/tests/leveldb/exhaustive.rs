//! Every single-bit flip and every truncation point of small goleveldb databases: found, or listed here with a reason.

use crate::kit;
use std::collections::BTreeSet;
use std::os::unix::fs::FileExt;
use std::path::Path;

use chainstore::{Attribution, Depth, Outcome};

/// Bits that no reader looks at.
///
/// A footer has 40 bytes for two handles of some seven bytes; the rest is padding that neither engine checks. The highest
/// bit of the last handle's last byte makes the number one byte longer, and that byte is a zero of the padding: the
/// number is the same.
fn is_padding(content: &[u8], at: usize, bit: u8) -> bool {
    let start = content.len() - 48;
    let mut handles = 0;
    let mut end = start;
    while handles < 4 {
        handles += usize::from(content[end] < 0x80);
        end += 1;
    }
    (end..content.len() - 8).contains(&at) || (at == end - 1 && bit == 7)
}

/// Truncation points after which the file is what a crash could have left.
fn is_earlier_state(name: &str) -> bool {
    // The newest journal grows at its end, so that each of its beginnings has once been the whole of it.
    Path::new(name).extension().is_some_and(|extension| extension == "log")
}

/// `unread` are tables that the MANIFEST does not name.
fn exhaust(case: &str, unread: &[&str]) {
    let (_home, dir) = kit::copy(&kit::fixture("goleveldb").join(case));
    assert_eq!(kit::report(&dir, Depth::Default).outcome, Outcome::Intact);
    let names: BTreeSet<String> =
        std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    for name in names.iter().filter(|name| !name.starts_with("LO") && *name != "CURRENT.bak") {
        if unread.contains(&name.as_str()) {
            continue;
        }
        let path = dir.join(name);
        let content = std::fs::read(&path).unwrap();
        flips(&dir, name, &content);
        for length in 0..content.len() {
            std::fs::write(&path, &content[..length]).unwrap();
            let outcome = kit::report(&dir, Depth::Default).outcome;
            let wanted = if is_earlier_state(name) { Outcome::Intact } else { Outcome::Damaged };
            assert_eq!(outcome, wanted, "{case}/{name} cut to {length} of {} bytes", content.len());
        }
        std::fs::write(&path, &content).unwrap();
    }
}

fn flips(dir: &Path, name: &str, content: &[u8]) {
    let path = dir.join(name);
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    for (at, byte) in content.iter().enumerate() {
        for bit in 0..8 {
            file.write_all_at(&[byte ^ (1 << bit)], at as u64).unwrap();
            let report = kit::report(dir, Depth::Default);
            let table = Path::new(name).extension().is_some_and(|extension| extension == "ldb");
            if table && is_padding(content, at, bit) {
                assert_eq!(report.outcome, Outcome::Intact, "{name}: bit {bit} of byte {at} is padding");
                continue;
            }
            assert_eq!(report.outcome, Outcome::Damaged, "{name}: bit {bit} of byte {at}: {:#?}", report.checks);
            let flip = Attribution::SingleBitFlip { offset: at as u64, bit };
            let named = report.checks.findings.iter().any(|finding| finding.attribution == flip);
            assert!(named, "{name}: bit {bit} of byte {at}: {:#?}", report.checks);
        }
        file.write_all_at(&[*byte], at as u64).unwrap();
    }
}

#[test]
fn a_killed_database() {
    exhaust("killed", &[]);
}

#[test]
fn a_database_from_the_middle_of_a_run() {
    exhaust("walk-003", &["000008.ldb"]);
}
