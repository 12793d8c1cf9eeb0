//! Starts whose guard was ended early, or met another guard: what was known stays known, and the ring stays bounded.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{
    Folder,
    guards::{command, entry, home, names, ring, stderr},
    rings::{ERASED, become_twin, inspect, of_guard, started},
};

/// A start whose time is over before anything is checked: the guard's child by itself, as a guard that is killed as soon
/// as the entry is in its place leaves it.
fn cut_short(home: &Folder, options: &[&str]) {
    let this = std::process::id().to_string();
    let more = [&["--worker", &this, "--deadline", "0s"], options].concat();
    let output = command(home.path(), &more, &["true"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

fn is_known(home: &Folder, about: &str) {
    for more in [&[][..], &["--quick"]] {
        let (status, report) = inspect(home.path(), more);
        assert_eq!((status, &report["outcome"]), (10, &json!("damaged")), "{about} {more:?}: {report}");
        assert!(!of_guard(&report).is_empty(), "{about} {more:?}: {report}");
    }
}

/// The engine came, and the next guard was ended before it had checked anything.
#[test]
fn what_was_erased_stays_known_over_a_start_that_was_cut_short() {
    for (damaged, then, kind) in ERASED.iter().filter(|(_, _, kind)| !kind.is_empty()) {
        let home = home(damaged, "evidence.db");
        started(&home);
        become_twin(&format!("{damaged}-then-{then}"), &home.path().join("data/evidence.db"));
        for sequence in 2..=3 {
            cut_short(&home, &[]);
            let (checked, outcome) = (&entry(&home, sequence)["checked"], &entry(&home, sequence)["outcome"]);
            assert_eq!((checked, outcome), (&json!("nothing"), &Value::Null), "{damaged}");
            is_known(&home, &format!("{damaged} ({kind}), entry {sequence}"));
        }
        started(&home);
        is_known(&home, &format!("{damaged} ({kind}), a whole start later"));
    }
}

/// The guard was ended while the damage was still on disk; then the engine came.
#[test]
fn what_was_damaged_stays_known_though_a_start_did_not_look() {
    for (damaged, then, kind) in ERASED.iter().filter(|(_, _, kind)| !kind.is_empty()) {
        let home = home(damaged, "evidence.db");
        started(&home);
        cut_short(&home, &[]);
        cut_short(&home, &[]);
        become_twin(&format!("{damaged}-then-{then}"), &home.path().join("data/evidence.db"));
        is_known(&home, &format!("{damaged} ({kind})"));
        started(&home);
        is_known(&home, &format!("{damaged} ({kind}), a start later"));
    }
}

/// The file was put right by hand, nobody looked, and then it went as files go: nobody is accused.
#[test]
fn what_was_put_right_before_a_start_that_did_not_look_is_not_accused() {
    for (damaged, then) in [("pebble/wal-flip-middle", "opened"), ("pebble/table-data-flip", "compacted")] {
        let home = home(damaged, "evidence.db");
        started(&home);
        let path = entry(&home, 1)["databases"][0]["findings"][0]["file"].as_str().expect("a file").to_owned();
        let path = home.path().join(path);
        // The bytes do not matter, for nobody reads them: the file was written to.
        let bytes = fs::read(&path).expect("a file");
        fs::write(&path, bytes).expect("written");
        cut_short(&home, &[]);
        become_twin(&format!("{damaged}-then-{then}"), &home.path().join("data/evidence.db"));
        let (status, report) = inspect(home.path(), &[]);
        assert_eq!((status, of_guard(&report).len()), (12, 0), "{damaged}: {report}");
    }
}

/// A start whose guard is gone by the time that its child has the first finding to tell: the entry is in its place, and
/// nothing comes after it.
fn ended_at_the_first_finding(home: &Folder, options: &[&str]) {
    let this = std::process::id().to_string();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = command(home.path(), &[&["--worker", &this], options].concat(), &["true"]);
    assert!(command.stdout(writer).status().expect("it runs").success());
}

/// Bytes of all files below a directory.
fn bytes_of(dir: &Path) -> u64 {
    let of = |entry: fs::DirEntry| match entry.metadata().expect("there") {
        what if what.is_dir() => bytes_of(&entry.path()),
        what => what.len(),
    };
    fs::read_dir(dir).expect("a directory").map(|entry| of(entry.expect("an entry"))).sum()
}

/// Every guard was ended before it came to its end: the ring is bounded all the same, and keeps the first of the loop.
#[test]
fn starts_that_are_cut_short_leave_a_bounded_ring() {
    let home = home("goleveldb/journal-flip-middle", "application.db");
    fs::write(home.path().join("data/application.db/LOG"), "a line\n".repeat(8_000)).expect("written");
    started(&home);
    assert_eq!(entry(&home, 1)["outcome"], "damaged");
    for number in 0..20 {
        ended_at_the_first_finding(&home, &["--keep", "4"]);
        assert!(names(&ring(&home)).len() <= 4, "{number}: {:?}", names(&ring(&home)));
    }
    assert_eq!(names(&ring(&home)), ["000000000001", "000000000019", "000000000020", "000000000021"]);
    assert_eq!(entry(&home, 21)["checked"], "nothing");
    for number in 0..6 {
        ended_at_the_first_finding(&home, &["--keep", "8", "--max-bytes", "300000"]);
        assert!(bytes_of(&ring(&home)) <= 300_000, "{number}: {:?}", names(&ring(&home)));
    }
    assert!(names(&ring(&home)).len() > 2, "{:?}", names(&ring(&home)));
}
