//! The page of figures.

use std::{ffi::OsString, fmt::Write as _};

use super::figures::Measured;

/// One command that takes part.
pub(super) struct Contestant {
    pub(super) name: &'static str,
    pub(super) words: Vec<OsString>,
}

impl Contestant {
    pub(super) fn new(name: &'static str, words: impl IntoIterator<Item = OsString>) -> Self {
        Self { name, words: words.into_iter().collect() }
    }
}

/// What the first contestant should reach.
pub(super) enum Goal {
    /// So many times as fast as another.
    Faster { than: &'static str, times: f64 },
    /// At most so many times the time of another.
    WithinOf { of: &'static str, times: f64 },
    /// A resident set of at most so many bytes.
    Memory { bytes: u64 },
    /// At most so long.
    Seconds { at_most: f64 },
}

/// One database and all who read it; ours is the first.
pub(super) struct Contest {
    pub(super) name: &'static str,
    /// Of its files, holes included.
    pub(super) bytes: u64,
    pub(super) commands: Vec<Contestant>,
    pub(super) goals: Vec<Goal>,
}

/// A contest that was held.
pub(super) struct Table {
    name: &'static str,
    bytes: u64,
    rounds: usize,
    rows: Vec<(&'static str, Measured)>,
    goals: Vec<Goal>,
}

const MIB: f64 = 1_048_576.0;

/// Times and sizes are far below where a double loses whole numbers.
#[expect(clippy::cast_precision_loss, reason = "bytes of files and of memory, for people to read")]
fn float(bytes: u64) -> f64 {
    bytes as f64
}

impl Table {
    pub(super) fn new(contest: Contest, measured: Vec<Measured>) -> Self {
        let names = contest.commands.iter().map(|command| command.name);
        Self {
            name: contest.name,
            bytes: contest.bytes,
            rounds: measured.first().map_or(0, Measured::rounds),
            rows: names.zip(measured).collect(),
            goals: contest.goals,
        }
    }

    fn text(&self) -> String {
        let mut text = format!("## {}\n\n{} runs each, in turn.\n\n", self.name, self.rounds);
        text.push_str("| reader | median | least | processors | largest resident set |\n|---|---|---|---|---|\n");
        for (name, measured) in &self.rows {
            let _ = writeln!(
                text,
                "| {name} | {:.2} s | {:.2} s | {:.2} s | {:.1} MiB |",
                measured.median(),
                measured.least(),
                measured.processor(),
                float(measured.peak_bytes()) / MIB
            );
        }
        let Some((_, ours)) = self.rows.first() else { return text };
        // Where nobody reads everything, bytes by time say nothing.
        if self.rows.iter().any(|(name, _)| *name == "cat") {
            let _ = writeln!(text, "\n{:.2} GB a second by the median.", float(self.bytes) / ours.median() / 1e9);
        }
        if !self.goals.is_empty() {
            text.push_str("\n| goal | by the medians | by the least | |\n|---|---|---|---|\n");
        }
        for goal in &self.goals {
            text.push_str(&self.goal(goal, ours));
        }
        text
    }

    fn goal(&self, goal: &Goal, ours: &Measured) -> String {
        let other = |name: &str| self.rows.iter().find(|(other, _)| *other == name).map(|(_, measured)| measured);
        let nan = f64::NAN;
        let (goal, by_median, by_least, reached) = match goal {
            Goal::Faster { than, times } => {
                let ratios = other(than)
                    .map_or([nan; 2], |other| [other.median() / ours.median(), other.least() / ours.least()]);
                let reached = ratios.iter().all(|ratio| ratio >= times);
                (format!("at least {times} times as fast as {than}"), ratio(ratios[0]), ratio(ratios[1]), reached)
            }
            Goal::WithinOf { of, times } => {
                let ratios =
                    other(of).map_or([nan; 2], |other| [ours.median() / other.median(), ours.least() / other.least()]);
                let reached = ratios.iter().all(|ratio| ratio <= times);
                (format!("at most {times} times the time of {of}"), ratio(ratios[0]), ratio(ratios[1]), reached)
            }
            Goal::Seconds { at_most } => {
                let reached = ours.median() <= *at_most;
                (
                    format!("at most {at_most} s"),
                    format!("{:.2} s", ours.median()),
                    format!("{:.2} s", ours.least()),
                    reached,
                )
            }
            Goal::Memory { bytes } => {
                let held = format!("{:.1} MiB", float(ours.peak_bytes()) / MIB);
                (
                    format!("at most {:.0} MiB resident", float(*bytes) / MIB),
                    held,
                    String::new(),
                    ours.peak_bytes() <= *bytes,
                )
            }
        };
        format!("| {goal} | {by_median} | {by_least} | {} |\n", if reached { "reached" } else { "**missed**" })
    }
}

fn ratio(value: f64) -> String {
    format!("{value:.2}")
}

/// The whole page.
pub(super) fn page(tables: &[Table], machine: &str, load: &str) -> String {
    let mut text = format!(
        "# Measurements\n\n\
         Written by `cargo xtask bench inspect`, which repeats them: each database is made once by its real engine, each\n\
         reader is a process of its own, all take turns on a warm cache, and the kernel counts time and memory. Ratios are\n\
         of one run on one machine; other machines have other seconds.\n\n\
         Machine: {machine}; load when it began: {load}.\n\n"
    );
    let tables: Vec<String> = tables.iter().map(Table::text).collect();
    text.push_str(&tables.join("\n"));
    text
}
