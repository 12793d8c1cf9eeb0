//! The three incidents of `examples/`, with what must be told of them.

use diagnosis::{
    Circumstances, ContainerRole, CrashLoop, CrashLoopReading, Height, Memory, Siblings, StartFailure, UpgradePlan,
    Workload,
};

use super::*;
use scene::LogCauses;

fn looping(subject: &Subject<'_>) -> CrashLoop {
    match subject.crash_loop() {
        CrashLoopReading::Looping(found) => *found,
        other => panic!("no loop: {other:?}"),
    }
}

fn notes(bundle: &Bundle) -> Vec<String> {
    bundle.notes.iter().map(ToString::to_string).collect()
}

#[test]
fn agoric_mainnet_fullnode_0() {
    let bundle = Bundle::open(&example("agoric-mainnet-fullnode-0")).expect("a bundle");
    assert_eq!(notes(&bundle), Vec::<String>::new());
    assert_eq!(bundle.absent, [BundlePart::Logs, BundlePart::Data, BundlePart::Peers, BundlePart::About]);
    let subjects = bundle.subjects(None).expect("subjects");
    assert_eq!(subjects.len(), 1);
    assert_eq!(subjects[0].instance.to_string(), "strangelove/agoric-mainnet-fullnode-0");
    let found = looping(&subjects[0]);
    assert_eq!((found.container.as_str(), found.crashes), ("node", 100));
    let workload = Some(Workload::CosmosFullNode("agoric-mainnet-fullnode".to_owned()));
    let expected = Circumstances { memory: Memory::NotKilled, workload, ..Circumstances::default() };
    assert_eq!(subjects[0].circumstances(&LogCauses::new()), expected);
    assert_eq!(subjects[0].siblings(), Siblings::Unknown);
    let no_failure: Option<StartFailure> = None;
    assert_eq!(subjects[0].circumstances(&LogCauses::new()).start_failure, no_failure);
}

#[test]
fn cosmosfullnode_state_db() {
    let bundle = Bundle::open(&example("cosmosfullnode-state-db")).expect("a bundle");
    let skipped = notes(&bundle);
    assert_eq!(skipped.len(), 1, "{skipped:?}");
    assert!(
        skipped[0].ends_with("objects/pv-lab-1-crashloop.yaml, document 1: skipped: kind PersistentVolume"),
        "{}",
        skipped[0]
    );
    assert_eq!(bundle.absent, [BundlePart::Data, BundlePart::Peers, BundlePart::About]);
    assert_eq!(bundle.scene.instances.len(), 2);
    assert_eq!(
        (bundle.scene.objects.events.len(), bundle.scene.objects.claims.len(), bundle.scene.objects.snapshots.len()),
        (110, 1, 1)
    );
    let subjects = bundle.subjects(None).expect("subjects");
    assert_eq!(subjects.len(), 1, "lab-0 is well");
    let subject = &subjects[0];
    assert_eq!(subject.instance.to_string(), "peer/lab-1");
    assert_eq!((looping(subject).crashes, looping(subject).role), (7, ContainerRole::Node));
    assert_eq!(
        subject.logs.iter().map(|log| (log.container.as_str(), log.run)).collect::<Vec<_>>(),
        [("node", LogRun::Previous)]
    );
    let expected = Circumstances {
        memory: Memory::NotKilled,
        upgrade: UpgradePlan::NotDue,
        workload: Some(Workload::CosmosFullNode("lab".to_owned())),
        ..Circumstances::default()
    };
    assert_eq!(
        subject.circumstances(&LogCauses::new()),
        expected,
        "the revision labels differ, but nothing is rolled out"
    );
    assert_eq!((subject.owner_height("lab-0"), subject.owner_height("lab-1")), (Some(Height(194)), Some(Height(137))));
    assert_eq!(subject.siblings(), Siblings::Unknown, "one number of each shows no advance");
    assert_eq!(subject.chain_id(), Some("lab-peer"));
}

#[test]
fn cosmosfullnode_application_db() {
    let bundle = Bundle::open(&example("cosmosfullnode-application-db")).expect("a bundle");
    assert_eq!(notes(&bundle), Vec::<String>::new());
    let subjects = bundle.subjects(None).expect("subjects");
    assert_eq!(subjects.iter().map(|subject| subject.instance.to_string()).collect::<Vec<_>>(), ["peer/lab-2"]);
    let found = looping(&subjects[0]);
    assert_eq!(
        (found.container.as_str(), found.role, found.crashes),
        ("version-check", ContainerRole::VersionCheck, 3)
    );
    assert_eq!(
        subjects[0].circumstances(&LogCauses::new()).upgrade,
        UpgradePlan::NotDue,
        "it does not ask for another image"
    );
    let logs: Vec<&str> = subjects[0].logs.iter().map(|log| log.container.as_str()).collect();
    assert_eq!(logs, ["node", "version-check"]);
}
