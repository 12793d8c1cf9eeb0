//! Which features the model may know: those that at least two independent sources share.
//!
//! A word seen in the incidents of a single project is mostly that project's name; dropping it is what keeps identity out of
//! the weights. A phrase's own feature always stays.

use std::collections::{BTreeMap, BTreeSet};

use crashlog::{
    features::{Collector, FeatureKey, FeatureName, Features},
    model::Model,
};

use super::{
    data::{self, Examined, Incident},
    synthetic::Synthetic,
};

/// Independent sources that must show a feature.
const SOURCES_MIN: usize = 2;

pub(super) struct Vocabulary {
    keys: BTreeMap<FeatureKey, usize>,
}

impl Vocabulary {
    pub(super) fn choose(
        incidents: &[Incident],
        real: &[Examined],
        generated: &[Synthetic],
        made: &[Examined],
    ) -> Self {
        let mut sources: BTreeMap<FeatureKey, BTreeSet<&str>> = BTreeMap::new();
        let groups = incidents.iter().map(|incident| incident.group.as_str()).zip(real);
        // All variants of one phrase are one source.
        let phrases = generated.iter().map(|log| log.id.rsplit_once('/').map_or("", |(id, _)| id)).zip(made);
        for (source, examined) in groups.chain(phrases) {
            for key in examined.features.values.keys() {
                sources.entry(*key).or_default().insert(source);
            }
        }
        let phrase_features: BTreeSet<FeatureKey> =
            crashlog::phrases::PHRASES.iter().map(crashlog::features::phrase_key).collect();
        let kept = sources
            .into_iter()
            .filter(|(key, sources)| sources.len() >= SOURCES_MIN || phrase_features.contains(key))
            .map(|(key, _)| key);
        Self { keys: kept.zip(0..).collect() }
    }

    /// The same without phrases and what they stand for: the baseline of n-grams alone.
    pub(super) fn words_only(&self, incidents: &[Incident]) -> Self {
        let mut words = BTreeSet::new();
        for incident in incidents {
            let finding = data::find(&incident.log, &Model::empty());
            let (_, names) = finding.digest.features(Collector::with_names());
            let of_words = |name: &FeatureName| matches!(name, FeatureName::Words(_) | FeatureName::Frame(_));
            words.extend(names.iter().filter(|(_, name)| of_words(name)).map(|(key, _)| *key));
        }
        Self { keys: self.keys.keys().filter(|key| words.contains(key)).copied().zip(0..).collect() }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Keys in the order of their numbers.
    pub(super) fn keys(&self) -> impl Iterator<Item = FeatureKey> {
        self.keys.keys().copied()
    }

    /// A sparse row: feature number and value in phrases' units.
    pub(super) fn row(&self, features: &Features) -> Vec<(usize, f64)> {
        let unit = f64::from(crashlog::features::UNIT);
        features
            .values
            .iter()
            .filter_map(|(key, value)| Some((*self.keys.get(key)?, f64::from(*value) / unit)))
            .collect()
    }
}
