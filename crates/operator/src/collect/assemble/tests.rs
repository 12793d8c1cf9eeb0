//! What the judge gets and what the record keeps, of the same parts. (P14)

use crashlog::LogExamination;
use diagnosis::{Cause, DatabaseName, Height, Space, Testimony};

use super::*;
use crate::collect::read_inspection;

const DAMAGED: &str = r#"{"schema":"loopbreaker.dev/inspection/v1","outcome":"damaged","depth":"default",
    "databases":[{"name":"state","findings":[{"severity":"damage","database":"state","file":"data/state.db/000012.ldb",
    "offset":1187,"detail":"a block does not fit its checksum"}]}],"heights":{"application":1187,"state":1187,"blockstore":1188},
    "space":{"free_bytes":1,"total_bytes":10}}"#;

fn time(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

fn log(text: &str) -> LogPart {
    let mut examination = LogExamination::new();
    examination.feed(text.as_bytes());
    let mut part = LogPart::default();
    part.add(examination.finish("node, the run that ended before 11:59:58Z".to_owned(), None));
    part
}

fn panic() -> LogPart {
    log("INF starting password=hunter2\npanic: leveldb/table: corruption on data-block (pos=0): checksum mismatch, \
         want=0x7ae078c2 got=0xac1efc6 [file=000002.ldb] token=s3cr3t\n\ngoroutine 1 [running]:\nmain.main()\n")
}

fn reported(method: DiskMethod) -> DiskFound {
    let report = Box::new(read_inspection(&DAMAGED.replace('\n', " ")).expect("a report"));
    DiskFound::Reported { method, report, at: time("2026-12-01T12:03:00Z") }
}

fn parts() -> Parts<'static> {
    Parts {
        crash_loop: CrashLoopReading::NotLooping,
        log: panic(),
        log_at: Some(time("2026-12-01T12:00:00Z")),
        disk: reported(DiskMethod::InPlace),
        siblings: Siblings::Advancing { count: 2, height: Height(1_300), app_hash: AppHashQuestion::SameImagePasses },
        asked: 2,
        mute: Vec::new(),
        circumstances: Circumstances::default(),
        in_words: Vec::new(),
        missing: Vec::new(),
        lock: Lock::Free,
        age: EvidenceAge::Current,
        now: time("2026-12-01T12:04:00Z"),
        about: "cosmos/osmo-1-1",
    }
}

#[test]
fn the_judge_gets_what_was_found() {
    let Assembled { evidence, .. } = assemble(parts());
    assert_eq!(evidence.disk, DiskReading::Damaged(vec![DatabaseName::new("state")]));
    let opinion = crashlog::read(&evidence.log).expect("an opinion");
    assert_eq!((opinion.cause, opinion.testimony), (Cause::PhysicalCorruption, Testimony::Witness));
    let circumstances = evidence.circumstances;
    assert_eq!((circumstances.lock, circumstances.evidence_age), (Lock::Free, EvidenceAge::Current));
    // An upgrade at this height would have stopped the siblings too.
    assert_eq!(circumstances.upgrade, UpgradePlan::NotDue);
    assert_eq!(circumstances.space, Space::Exhausted("0 MiB of 0 MiB are free".to_owned()));
}

#[test]
fn the_record_says_when_and_how_each_was_got() {
    let EvidenceReport { log, disk, peers, missing, .. } = assemble(parts()).report;
    let (log, disk, peers) = (log.expect("a log"), disk.expect("a disk"), peers.expect("peers"));
    assert_eq!(log.gathered.at.0, time("2026-12-01T12:00:00Z"));
    assert_eq!(
        (log.gathered.from.as_str(), log.witness, log.logs),
        ("node, the run that ended before 11:59:58Z", true, 1)
    );
    assert_eq!(disk.gathered.at.0, time("2026-12-01T12:03:00Z"));
    assert_eq!(disk.gathered.from, "an inspector, on its own claim");
    assert_eq!(
        (disk.method, disk.outcome.as_str(), disk.says.as_str()),
        (DiskMethod::InPlace, "damaged", "damaged: state")
    );
    assert_eq!(disk.findings, ["state data/state.db/000012.ldb at 1187: a block does not fit its checksum"]);
    assert_eq!(disk.heights.as_deref(), Some("application 1187, state 1187, block store 1188"));
    assert_eq!((peers.advancing, peers.asked, peers.height), (2, 2, Some(1_300)));
    assert_eq!(peers.says, "2 advance, the highest is at 1300; the same image passes this height there");
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn no_secret_goes_into_the_record() {
    let mut given = parts();
    given.missing = vec!["dial https://user:hunter2@host".to_owned()];
    given.in_words = vec!["env TOKEN=s3cr3t".to_owned()];
    let report = assemble(given).report;
    let decisive = report.log.as_ref().expect("a log").decisive.clone();
    assert!(decisive.iter().any(|line| line.text.contains("want=0x7ae078c2")), "{decisive:?}");
    let text = format!("{report:?}");
    assert!(!text.contains("hunter2") && !text.contains("s3cr3t"), "{text}");
}

#[test]
fn long_words_and_many_are_cut() {
    let mut given = parts();
    given.log =
        log(&format!("panic: leveldb/table: corruption on data-block: checksum mismatch {}\n", "x".repeat(5_000)));
    given.missing = (0..200).map(|number| format!("{number} {}", "y".repeat(3_000))).collect();
    given.mute = vec!["same".to_owned(), "same".to_owned()];
    let report = assemble(given).report;
    assert_eq!(report.missing.len(), 64);
    assert!(report.missing.iter().all(|words| words.chars().count() <= 1024));
    let decisive = report.log.expect("a log").decisive;
    assert!(
        !decisive.is_empty() && decisive.len() <= 16 && decisive.iter().all(|line| line.text.chars().count() <= 1024)
    );
}

#[test]
fn what_could_not_be_got_is_said_once_and_counts_for_nothing() {
    let mut given = parts();
    given.log = LogPart::default();
    given.disk = DiskFound::Not("no pod could be made for the inspector: exceeded quota".to_owned());
    given.siblings = Siblings::Unknown;
    given.mute = vec!["cosmos/osmo-0 does not answer: nothing listens".to_owned()];
    given.missing = vec!["may not list events of cosmos".to_owned(), "may not list events of cosmos".to_owned()];
    let Assembled { evidence, report } = assemble(given);
    assert_eq!((evidence.disk, evidence.log), (DiskReading::NotRead, LogReading::NotRead));
    assert_eq!(evidence.circumstances.upgrade, UpgradePlan::Unknown);
    assert_eq!(report.log, None);
    let disk = report.disk.expect("a part for the disk");
    assert_eq!((disk.method, disk.outcome.as_str()), (DiskMethod::None, "not_read"));
    assert_eq!(
        report.missing,
        [
            "may not list events of cosmos",
            "the disk was not read: no pod could be made for the inspector: exceeded quota",
            "cosmos/osmo-0 does not answer: nothing listens",
        ]
    );
}

#[test]
fn room_on_a_copy_is_not_the_replicas() {
    let mut given = parts();
    given.disk = reported(DiskMethod::Snapshot);
    let Assembled { evidence, report } = assemble(given);
    assert_eq!(evidence.circumstances.space, Space::Unknown);
    assert_eq!(report.disk.expect("a disk").gathered.from, "an inspector, on a copy of its claim");
}

#[test]
fn evidence_is_named_by_what_was_found_and_not_by_when() {
    let id = |change: fn(&mut Parts<'static>)| {
        let mut given = parts();
        change(&mut given);
        assemble(given).report.id.expect("a name")
    };
    let first = id(|_| {});
    assert_eq!(first.len(), 16);
    let later = id(|given| {
        given.now = time("2026-12-01T13:00:00Z");
        given.log_at = Some(time("2026-12-01T12:59:00Z"));
        given.siblings =
            Siblings::Advancing { count: 2, height: Height(1_900), app_hash: AppHashQuestion::SameImagePasses };
    });
    assert_eq!(later, first);
    for other in [
        id(|given| given.disk = DiskFound::Not("no".to_owned())),
        id(|given| given.log = LogPart::default()),
        id(|given| given.siblings = Siblings::Unknown),
        id(|given| given.about = "cosmos/osmo-2-1"),
        id(|given| given.missing.push("something".to_owned())),
    ] {
        assert_ne!(other, first);
    }
}
