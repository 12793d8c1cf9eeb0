//! Training logs made from the phrases' own samples, set into varied contexts: other formats, ordinary lines before, help text
//! or a restarting supervisor after, a second failure that follows from the first.
//!
//! They teach the model what the phrases mean and that the *first* failure decides; they are never used to measure anything.

use diagnosis::Cause;
use serde::Deserialize;

/// One entry of the phrase file, as far as training needs it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct PhraseEntry {
    pub(super) id: String,
    pub(super) cause: Cause,
    #[serde(default)]
    pub(super) also: Vec<Cause>,
    pub(super) polarity: String,
    pub(super) strength: u8,
    pub(super) emitter: Vec<String>,
    pub(super) sample: String,
}

/// A generated log with its soft labels.
#[derive(Debug, Clone)]
pub(super) struct Synthetic {
    pub(super) id: String,
    pub(super) log: String,
    /// Causes with weights that add up to 1; empty for a log in which nothing failed.
    pub(super) causes: Vec<(Cause, f64)>,
}

/// A counter-based generator (splitmix64): a stream per phrase, so that adding a phrase leaves the others' logs as they are.
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: &str) -> Self {
        Self(
            seed.bytes()
                .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)),
        )
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// 0 ..< `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound.max(1)).unwrap_or(1)).unwrap_or(0)
    }

    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }
}

/// Variants of each phrase.
const VARIANTS: usize = 3;

/// Generates every training log, in the phrase file's order.
pub(super) fn generate(phrases: &[PhraseEntry]) -> Vec<Synthetic> {
    let benign: Vec<&PhraseEntry> = phrases.iter().filter(|phrase| phrase.polarity == "benign").collect();
    let hints: Vec<&PhraseEntry> = phrases
        .iter()
        .filter(|phrase| phrase.polarity != "benign" && phrase.strength < 3 && !frame_only(phrase))
        .collect();
    let mut all = Vec::new();
    for phrase in phrases {
        for variant in 0..VARIANTS {
            let mut draw = Draw::new(&format!("{}/{variant}", phrase.id));
            all.push(one(phrase, variant, &benign, &hints, &mut draw));
        }
    }
    all
}

fn frame_only(phrase: &PhraseEntry) -> bool {
    phrase.emitter.iter().all(|emitter| emitter == "frame")
}

fn one(
    phrase: &PhraseEntry,
    variant: usize,
    benign: &[&PhraseEntry],
    hints: &[&PhraseEntry],
    draw: &mut Draw,
) -> Synthetic {
    let mut log = String::new();
    if variant > 0 {
        ordinary_lines(&mut log, draw);
    }
    if variant > 0
        && draw.chance(30)
        && let Some(noise) = draw.pick(benign)
    {
        push_line(&mut log, &noise.sample);
    }
    push_line(&mut log, &phrase.sample);
    if variant > 1
        && draw.chance(35)
        && let Some(after) = draw.pick(hints)
    {
        push_line(&mut log, &after.sample);
    }
    if variant > 0 {
        aftermath(&mut log, draw);
    }
    Synthetic { id: format!("{}/{variant}", phrase.id), log, causes: labels(phrase) }
}

/// How sure a phrase is of its cause: from its strength and from whether it names others.
fn labels(phrase: &PhraseEntry) -> Vec<(Cause, f64)> {
    if phrase.polarity == "benign" {
        return Vec::new();
    }
    let own = match (phrase.strength, phrase.also.len()) {
        (_, 0) => 1.0,
        (3, _) => 0.85,
        (2, _) => 0.7,
        _ => 0.55,
    };
    let mut causes = vec![(phrase.cause, own)];
    let ranks: f64 = (1..=phrase.also.len()).map(|rank| 1.0 / f64::from(u32::try_from(rank).unwrap_or(1))).sum();
    for (rank, also) in (1_u32..).zip(&phrase.also) {
        causes.push((*also, (1.0 - own) / f64::from(rank) / ranks));
    }
    causes
}

fn push_line(log: &mut String, text: &str) {
    log.push_str(text);
    if !text.ends_with('\n') {
        log.push('\n');
    }
}

fn ordinary_lines(log: &mut String, draw: &mut Draw) {
    let height = 1_000 + draw.below(9_000_000);
    let style = draw.below(4);
    for _ in 0..=draw.below(5) {
        let (message, module) =
            draw.pick(ORDINARY).copied().unwrap_or(("starting node with ABCI CometBFT in-process", "server"));
        let (hour, minute, second) = (draw.below(12) + 1, draw.below(60), draw.below(60));
        let line = match style {
            0 => format!(
                "I[2023-0{}-1{}|{hour:02}:{minute:02}:{second:02}.{:03}] {message:<44} module={module} height={height}",
                1 + draw.below(9),
                draw.below(9),
                draw.below(1000)
            ),
            1 => format!("{hour}:{minute:02}AM INF {message} height={height} module={module}"),
            2 => format!(
                r#"{{"level":"info","module":"{module}","height":{height},"time":"2024-01-0{}T{hour:02}:{minute:02}:{second:02}Z","message":"{message}"}}"#,
                1 + draw.below(9)
            ),
            _ => format!(
                "Dec 03 {hour:02}:{minute:02}:{second:02} host-1 noded[{}]: {hour}:{minute:02}PM INF {message} height={height} module={module} server=node",
                1000 + draw.below(60_000)
            ),
        };
        push_line(log, &line);
    }
}

/// What any healthy node prints.
const ORDINARY: &[(&str, &str)] = &[
    ("starting node with ABCI CometBFT in-process", "server"),
    ("Starting multiAppConn service", "proxy"),
    ("Starting localClient service", "abci-client"),
    ("Starting EventBus service", "events"),
    ("Starting IndexerService service", "txindex"),
    ("Version info", "server"),
    ("Completed ABCI Handshake - CometBFT and App are synced", "consensus"),
    ("Executed block", "state"),
    ("Committed state", "state"),
    ("committed state", "state"),
    ("finalized block", "state"),
    ("indexed block events", "txindex"),
    ("Timed out", "consensus"),
    ("received proposal", "consensus"),
    ("finalizing commit of block", "consensus"),
    ("Saving AddrBook to file", "p2p"),
    ("Ensure peers", "pex"),
    ("minted coins from module account", "x/bank"),
    ("service start", "server"),
    ("Added peer", "p2p"),
];

fn aftermath(log: &mut String, draw: &mut Draw) {
    match draw.below(6) {
        0 => push_line(
            log,
            "Usage:\n  noded start [flags]\n\nFlags:\n      --home string   directory for config and data\n  -h, --help          help for start",
        ),
        1 => push_line(
            log,
            "Dec 03 21:49:25 host-1 systemd[1]: noded.service: Main process exited, code=exited, status=2/INVALIDARGUMENT\nDec 03 21:49:25 host-1 systemd[1]: noded.service: Failed with result 'exit-code'.",
        ),
        2 => push_line(log, "node_1 exited with code 1"),
        _ => {}
    }
}
