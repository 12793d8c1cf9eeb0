//! Any bytes in any chunks into the whole examiner with the built-in model: no panic, the chunks change nothing, and what
//! it testifies it has seen.
#![no_main]

use crashlog::{
    Examiner, Finding,
    model::Model,
    phrases::{Polarity, Proof},
};
use diagnosis::{LogReading, Testimony};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    // The first byte tells how many of the next give the sizes of the chunks.
    let Some((count, rest)) = input.split_first() else { return };
    let (sizes, log) = rest.split_at(usize::from(*count % 8).min(rest.len()));
    let finding = examine(log, &[]);
    assert_eq!(format!("{finding:?}"), format!("{:?}", examine(log, sizes)));
    assert!(finding.damage_score.is_finite());
    let failures: Vec<_> = finding.digest.failures().collect();
    assert!(failures.len() <= 96 + 64 + 12);
    if matches!(&finding.reading, LogReading::Read(opinion) if opinion.testimony == Testimony::Witness) {
        assert!(finding.no_testimony.is_none());
        let phrases = failures.iter().flat_map(|failure| &failure.phrases).map(|index| index.phrase());
        assert!(phrases.into_iter().any(|phrase| phrase.polarity == Polarity::Damage(Proof::IntegrityCheck)));
    }
});

fn examine(mut log: &[u8], sizes: &[u8]) -> Finding {
    let mut examiner = Examiner::new();
    for size in sizes.iter().cycle() {
        let (chunk, rest) = log.split_at(usize::from(*size).clamp(1, log.len().max(1)).min(log.len()));
        examiner.feed(chunk);
        log = rest;
        if log.is_empty() {
            break;
        }
    }
    examiner.feed(log);
    examiner.finish(Model::built_in())
}
