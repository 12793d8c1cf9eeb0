//! The nearest known case: how alike two failures are by the words they share. For people, never for the decision. *No IO.*

use std::{collections::BTreeSet, sync::OnceLock};

use diagnosis::Cause;

use crate::{
    digest::Digest,
    features::{Collector, FeatureKey},
};

/// A labelled case of the training data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownCase {
    /// Its id in the data set.
    pub id: String,
    /// Its label.
    pub cause: Cause,
    /// Which program it was, and why it was labelled so.
    pub about: String,
    shape: BTreeSet<FeatureKey>,
}

/// The case most like a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearestCase {
    /// The case.
    pub case: &'static KnownCase,
    /// Shared words and pairs of words over all of both, in thousandths.
    pub similarity_thousandths: u16,
}

/// Below this a neighbour is none.
const SIMILARITY_MIN_THOUSANDTHS: u16 = 150;

/// The labelled cases inside the binary: `model/cases.tsv`, one a line: id, cause, about, hexadecimal keys.
#[must_use]
pub fn known_cases() -> &'static [KnownCase] {
    static CASES: OnceLock<Vec<KnownCase>> = OnceLock::new();
    CASES.get_or_init(|| include_str!("../../../model/cases.tsv").lines().filter_map(parse).collect())
}

fn parse(line: &str) -> Option<KnownCase> {
    let mut columns = line.split('\t');
    let (id, cause, about, keys) = (columns.next()?, columns.next()?, columns.next()?, columns.next()?);
    let shape = keys.split(' ').filter_map(|key| u32::from_str_radix(key, 16).ok()).map(FeatureKey).collect();
    Some(KnownCase { id: id.to_owned(), cause: cause.parse().ok()?, about: about.to_owned(), shape })
}

/// One line of `model/cases.tsv`.
#[must_use]
pub fn case_line(id: &str, cause: Cause, about: &str, digest: &Digest) -> String {
    let about: String = about.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let keys: Vec<String> = shape(digest).into_iter().map(|key| format!("{:x}", key.0)).collect();
    format!("{id}\t{cause}\t{about}\t{}", keys.join(" "))
}

/// The known case nearest to a log, if any is near.
#[must_use]
pub fn nearest(digest: &Digest) -> Option<NearestCase> {
    let shape = shape(digest);
    known_cases()
        .iter()
        .map(|case| NearestCase { case, similarity_thousandths: jaccard(&shape, &case.shape) })
        .filter(|nearest| nearest.similarity_thousandths >= SIMILARITY_MIN_THOUSANDTHS)
        .max_by(|a, b| a.similarity_thousandths.cmp(&b.similarity_thousandths).then_with(|| b.case.id.cmp(&a.case.id)))
}

/// Words and pairs of words of the record that decides.
fn shape(digest: &Digest) -> BTreeSet<FeatureKey> {
    let mut collector = Collector::new();
    if let Some(failure) = digest.decisive() {
        collector.record(&failure.record, crate::features::Standing::Decisive);
    }
    collector.finish().0.values.into_keys().collect()
}

fn jaccard(a: &BTreeSet<FeatureKey>, b: &BTreeSet<FeatureKey>) -> u16 {
    let shared = a.intersection(b).count();
    let all = a.len() + b.len() - shared;
    (shared * 1000).checked_div(all).map_or(0, |thousandths| u16::try_from(thousandths).unwrap_or(1000))
}
