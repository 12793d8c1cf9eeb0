//! An inspection read here, and the same one read back by the operator from what `inspect --output json` prints, are one.

use std::{fs, path::Path};

use super::*;
use crate::report::inspection_json::InspectionJson;

/// Every directory that the real engines made, sound and damaged.
fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../chainstore/tests/fixtures");
    let below = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut all: Vec<PathBuf> = below(&root).flat_map(|set| below(&set)).filter(|path| path.is_dir()).collect();
    all.sort();
    all
}

fn as_printed(inspection: &Inspection, depth: Depth) -> operator::InspectionReport {
    let json = serde_json::to_string(&InspectionJson::of(inspection, depth)).expect("JSON");
    operator::read_inspection(&json).expect("a report")
}

#[test]
fn the_operator_reads_the_same_from_the_json() {
    let mut words: Vec<&str> = Vec::new();
    for fixture in fixtures() {
        for depth in [Depth::Quick, Depth::Default] {
            let options = Options { depth, ..Options::default() };
            let Ok(looked) = chainstore::inspect(&fixture, &options) else { continue };
            let report = as_printed(&looked, depth);
            let here = reading(&looked, depth);
            assert_eq!(report.reading(), here, "{} {depth:?}", fixture.display());
            words.push(looked.outcome.name());
            let part = DiskPart { label: String::new(), looked: Ok(looked), depth, reading: here };
            let (mut direct, mut from_json) = (Circumstances::default(), Circumstances::default());
            part.complete(&mut direct);
            report.complete(&mut from_json);
            assert_eq!(from_json, direct, "{}", fixture.display());
        }
    }
    for word in ["intact", "damaged", "inconsistent", "could_not_tell"] {
        assert!(words.iter().filter(|it| **it == word).count() >= 5, "{word} is hardly among {}", words.len());
    }
}
