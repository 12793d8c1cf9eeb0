//! What the other replicas do, by samples of their `/status`. *No client.* Keeps P6: the victim itself never counts.

use std::collections::BTreeMap;

use crate::Sample;
use diagnosis::{AppHashQuestion, Height, InstanceName, Siblings};

/// Blocks come every one to ten seconds; a shorter look cannot tell a halt from the time between two blocks.
const HALT_SEEN_AFTER_SECONDS: i64 = 10;

/// The replica that the siblings are compared with.
pub(crate) struct Victim<'a> {
    pub(crate) instance: &'a InstanceName,
    pub(crate) image_id: Option<&'a str>,
    /// The last block it is known to have.
    pub(crate) height: Option<u64>,
}

impl Victim<'_> {
    fn is(&self, pod: &str) -> bool {
        pod == self.instance.name || pod == self.instance.to_string()
    }

    /// Its height by its own samples, else by what the caller knows.
    fn last_height(&self, samples: &[Sample]) -> Option<u64> {
        samples.iter().filter(|sample| self.is(&sample.pod)).filter_map(|sample| sample.height).max().max(self.height)
    }
}

/// Judges the samples of everybody but the victim. `image_of` knows the digests of pods whose objects are at hand.
pub(crate) fn siblings(samples: &[Sample], victim: &Victim<'_>, image_of: impl Fn(&str) -> Option<String>) -> Siblings {
    let mut by_pod: BTreeMap<&str, Vec<&Sample>> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| !victim.is(&sample.pod) && sample.height.is_some()) {
        by_pod.entry(&sample.pod).or_default().push(sample);
    }
    let tracks: Vec<Track> =
        by_pod.into_iter().filter_map(|(pod, samples)| Track::new(&samples, image_of(pod))).collect();
    let last = victim.last_height(samples);
    let is_ahead = |track: &&Track| last.is_none_or(|last| track.height >= last);
    let advancing: Vec<&Track> =
        tracks.iter().filter(|track| track.course == Course::Rising && !track.catching_up).filter(is_ahead).collect();
    if let Some(height) = advancing.iter().map(|track| track.height).max() {
        return Siblings::Advancing {
            count: u32::try_from(advancing.len()).unwrap_or(u32::MAX),
            height: Height(height),
            app_hash: app_hash(&tracks, victim.image_id, last),
        };
    }
    // Someone who rises but is behind, or is still catching up, proves neither that the chain lives nor that it stands.
    let someone_rises = tracks.iter().any(|track| track.course == Course::Rising);
    let standing = tracks.iter().filter(|track| track.course == Course::Standing).map(|track| track.height).max();
    match standing {
        Some(height) if !someone_rises => Siblings::Halted { height: Height(height) },
        _ => Siblings::Unknown,
    }
}

/// One sibling over its samples.
struct Track {
    course: Course,
    height: u64,
    earliest: Option<u64>,
    catching_up: bool,
    image_id: Option<String>,
}

#[derive(PartialEq)]
enum Course {
    Rising,
    Standing,
    /// One sample, or two too close together.
    NotSeen,
}

impl Track {
    fn new(samples: &[&Sample], image_id: Option<String>) -> Option<Self> {
        let mut samples = samples.to_vec();
        samples.sort_by_key(|sample| sample.time);
        let (first, last) = (samples.first()?, samples.last()?);
        let height = samples.iter().filter_map(|sample| sample.height).max()?;
        let too_short = matches!((first.time, last.time), (Some(from), Some(to))
            if to.as_second().saturating_sub(from.as_second()) < HALT_SEEN_AFTER_SECONDS);
        let course = if last.height > first.height {
            Course::Rising
        } else if samples.len() < 2 || too_short {
            Course::NotSeen
        } else {
            Course::Standing
        };
        Some(Self {
            course,
            height,
            earliest: last.earliest_height,
            catching_up: last.catching_up == Some(true),
            image_id: last.image_id.clone().filter(|id| !id.is_empty()).or(image_id),
        })
    }
}

/// "Does the identical image digest pass this height elsewhere?"
fn app_hash(tracks: &[Track], image_id: Option<&str>, last: Option<u64>) -> AppHashQuestion {
    let (Some(image_id), Some(last)) = (image_id, last) else { return AppHashQuestion::Unknown };
    let ours = digest(image_id);
    let is_ours = |track: &Track| track.image_id.as_deref().map(digest) == Some(ours);
    // Whoever began above the height (state sync, pruning) has nothing to say about it.
    let knows_the_height = |track: &&Track| track.earliest.is_none_or(|earliest| earliest <= last.saturating_add(1));
    let mut beyond = tracks.iter().filter(|track| track.height > last).filter(knows_the_height);
    if beyond.clone().any(is_ours) {
        return AppHashQuestion::SameImagePasses;
    }
    // A manifest's digest and a configuration's digest of one image differ, so only two of a sort prove two images.
    let of_a_sort =
        |track: &Track| track.image_id.as_deref().is_some_and(|id| id.contains('@') == image_id.contains('@'));
    let same_stops = tracks.iter().any(|track| is_ours(track) && track.height <= last);
    if same_stops || (beyond.clone().next().is_some() && beyond.all(of_a_sort)) {
        AppHashQuestion::SameImageDoesNot
    } else {
        AppHashQuestion::Unknown
    }
}

/// `docker-pullable://ghcr.io/x/y@sha256:…` and `ghcr.io/x/y@sha256:…` name one image, also through a mirror.
fn digest(image_id: &str) -> &str {
    image_id.rsplit_once('@').map_or(image_id, |(_, digest)| digest)
}
