//! What one run of a command took, and several runs of it together.

use std::{path::Path, process::Command};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::report::Contestant;

/// One run, as `testbed/measure` prints it.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Figures {
    /// By the clock on the wall.
    seconds: f64,
    user: f64,
    system: f64,
    peak_bytes: u64,
    status: i32,
}

/// Runs a command once.
pub(super) fn run(measure: &Path, contestant: &Contestant) -> Result<Figures> {
    let output = Command::new(measure).args(&contestant.words).output().context("measure")?;
    let figures: Figures = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{}: {}", contestant.name, String::from_utf8_lossy(&output.stderr)))?;
    if figures.status != 0 {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        bail!("{} ended with status {}: {said}", contestant.name, figures.status);
    }
    Ok(figures)
}

/// Several runs.
#[derive(Debug, Default)]
pub(super) struct Measured {
    seconds: Vec<f64>,
    processor: Vec<f64>,
    peak_bytes: u64,
}

impl Measured {
    pub(super) fn add(&mut self, figures: Figures) {
        self.seconds.push(figures.seconds);
        self.processor.push(figures.user + figures.system);
        self.peak_bytes = self.peak_bytes.max(figures.peak_bytes);
    }

    /// How many runs.
    pub(super) fn rounds(&self) -> usize {
        self.seconds.len()
    }

    /// The median of the times on the wall.
    pub(super) fn median(&self) -> f64 {
        median(&self.seconds)
    }

    /// The shortest time on the wall: the one that the rest of the machine disturbed least.
    pub(super) fn least(&self) -> f64 {
        self.seconds.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The median of the processors' time.
    pub(super) fn processor(&self) -> f64 {
        median(&self.processor)
    }

    /// The largest resident set of all runs.
    pub(super) fn peak_bytes(&self) -> u64 {
        self.peak_bytes
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN);
    let lower = sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN);
    f64::midpoint(lower, upper)
}

#[cfg(test)]
mod tests {
    use super::{Figures, Measured};

    #[test]
    fn medians_minima_and_the_highest_peak() {
        let mut measured = Measured::default();
        for (seconds, peak_bytes) in [(3.0, 10), (1.0, 30), (2.0, 20), (10.0, 5)] {
            measured.add(Figures { seconds, user: seconds, system: 1.0, peak_bytes, status: 0 });
        }
        assert_eq!((measured.median(), measured.least()), (2.5, 1.0));
        assert_eq!((measured.processor(), measured.peak_bytes()), (3.5, 30));
    }
}
