//! What the verdict leaves to a human: the missing facts and the advice, on arbitrary evidence (P13).

mod arbitrary;

use diagnosis::{
    AppHashQuestion, CrashLoopReading, DiskReading, Evidence, EvidenceAge, ImageFreshness, InspectionScope, Lock,
    LogReading, Memory, NodeHealth, Policy, Recurrence, RollOut, Siblings, SigningRisk, Space, UpgradePlan, Victims,
    advise, judge, missing_facts,
};
use proptest::{
    prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest},
    sample::subsequence,
};

use arbitrary::evidence;

type Forget = fn(&mut Evidence);

/// Each part of the evidence: the question that names it, and how to lose it.
fn parts() -> Vec<(&'static str, Forget)> {
    vec![
        ("what did the node print before it died?", |e| e.log = LogReading::NotRead),
        ("is this a crash loop, and with which exit codes?", |e| e.crash_loop = CrashLoopReading::NotRead),
        ("do the databases' own checksums and heights fit?", |e| e.disk = DiskReading::NotRead),
        ("do other replicas of this chain advance?", |e| e.siblings = Siblings::Unknown),
        ("is it this replica only, or do others fail alike?", |e| e.circumstances.victims = Victims::Unknown),
        ("did image, arguments or configuration change since the node was last healthy?", |e| {
            e.circumstances.image = ImageFreshness::Unknown;
        }),
        ("is an upgrade planned at this height, and was a store added in this binary?", |e| {
            e.circumstances.upgrade = UpgradePlan::Unknown;
        }),
        ("may this node sign blocks?", |e| e.circumstances.signing = SigningRisk::Unknown),
        ("was the last exit unclean (137 is a kill or a lack of memory, 139 a fault)?", |e| {
            e.circumstances.memory = Memory::Unknown;
        }),
        (
            "how many bytes and inodes are free now, and do the checksums still fit? (a full disk also tears files)",
            |e| {
                e.circumstances.space = Space::Unknown;
            },
        ),
        ("is the machine under the pod ready, without storage events?", |e| {
            e.circumstances.node = NodeHealth::Unknown;
        }),
        ("are all replicas of one revision, or is a rollout going on?", |e| {
            e.circumstances.roll_out = RollOut::Unknown;
        }),
        ("does a live process hold the database's lock?", |e| e.circumstances.lock = Lock::Unknown),
        ("was this replica restored before, and did the same damage come back?", |e| {
            e.circumstances.recurrence = Recurrence::Unknown;
        }),
        ("has the node restarted since the evidence was taken?", |e| {
            e.circumstances.evidence_age = EvidenceAge::Unknown;
        }),
    ]
}

fn questions(evidence: &Evidence) -> Vec<&'static str> {
    missing_facts(evidence).iter().map(|fact| fact.question).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// P13: whatever is lost is asked for, in any company, and each once.
    #[test]
    fn p13_every_absent_part_is_named(evidence in evidence(), lost in subsequence(parts(), 0..=15)) {
        let mut evidence = evidence;
        for (_, forget) in &lost {
            forget(&mut evidence);
        }
        let asked = questions(&evidence);
        for (question, _) in &lost {
            prop_assert_eq!(asked.iter().filter(|asked| *asked == question).count(), 1, "{}", question);
        }
        let mut once = asked.clone();
        once.sort_unstable();
        once.dedup();
        prop_assert_eq!(once.len(), asked.len());
    }

    /// A look that saw nothing for certain is asked for again.
    #[test]
    fn p13_a_look_that_could_not_tell_is_still_missing(evidence in evidence()) {
        for disk in [
            DiskReading::CouldNotTell("said".to_owned()),
            DiskReading::Intact { scope: InspectionScope::Quick },
            DiskReading::ReadsDiffer(Vec::new()),
        ] {
            let evidence = Evidence { disk, ..evidence.clone() };
            prop_assert!(questions(&evidence).contains(&"do the databases' own checksums and heights fit?"));
        }
    }

    /// However the incident lies, there is something to do, and nothing changes data before a copy is kept.
    #[test]
    fn advice_never_runs_out_and_keeps_first(evidence in evidence()) {
        let advice = advise(&evidence, &judge(&evidence, &Policy::default()));
        prop_assert!((1..=5).contains(&advice.len()), "{:?}", advice);
        let mut kept = false;
        for item in advice {
            let command = item.command.unwrap_or_default();
            kept |= command.contains("kind: VolumeSnapshot");
            let changes_data = ["mv ", "rm ", "rollback", "reset", "delete"].iter().any(|word| command.contains(word));
            prop_assert!(kept || !changes_data, "{}", command);
            prop_assert_eq!(unknown_capitals(&command), "");
        }
        for fact in missing_facts(&evidence) {
            prop_assert_eq!(unknown_capitals(fact.command), "");
        }
    }
}

/// Words in capitals that nobody would replace: the placeholders, and what the tools themselves spell so, are left out.
fn unknown_capitals(command: &str) -> String {
    let known = ["NAMESPACE", "POD", "CONTAINER", "CLAIM", "BINARY", "HOME", "SIBLING", "NAME", "IMAGE", "MANIFEST"];
    command
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
        .filter(|word| !known.contains(word))
        .collect::<Vec<_>>()
        .join(" ")
}

/// What was seen is not asked for.
#[test]
fn nothing_is_missing_of_a_whole_incident() {
    let mut evidence = Evidence {
        crash_loop: CrashLoopReading::NotLooping,
        log: LogReading::Read(diagnosis::LogOpinion {
            cause: diagnosis::Cause::OtherBug,
            probability: diagnosis::Probability::ONE,
            testimony: diagnosis::Testimony::Opinion,
            counter_evidence: None,
            symptoms: Vec::new(),
            databases: Vec::new(),
        }),
        disk: DiskReading::Intact { scope: InspectionScope::AllChecks },
        siblings: Siblings::Advancing {
            count: 1,
            height: diagnosis::Height(9),
            app_hash: AppHashQuestion::SameImagePasses,
        },
        ..Evidence::default()
    };
    let around = &mut evidence.circumstances;
    around.upgrade = UpgradePlan::NotDue;
    around.image = ImageFreshness::Unchanged;
    around.roll_out = RollOut::Settled;
    around.victims = Victims::Alone;
    around.space = Space::Free;
    around.memory = Memory::NotKilled;
    around.lock = Lock::Free;
    around.node = NodeHealth::Healthy;
    around.signing = SigningRisk::NeverSigns;
    around.recurrence = Recurrence::First;
    around.evidence_age = EvidenceAge::Current;
    assert_eq!(questions(&evidence), Vec::<&str>::new());
}
