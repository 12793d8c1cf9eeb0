//! The fit itself, handed to scikit-learn in an environment of its own, and the rounding of its weights to integers.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};
use crashlog::model::{CAUSES, Model, Settings};
use diagnosis::Cause;

use super::vocabulary::Vocabulary;
use crate::session::{Line, succeed};

/// A weight of one nat, as an integer.
const NAT: f64 = 1024.0;

/// Everything that `model/fit.py` needs.
pub(super) struct Problem {
    features: usize,
    strength: f64,
    rows: Vec<Vec<(usize, f64)>>,
    samples: Vec<(usize, usize, f64, Option<String>)>,
    held_out: Vec<String>,
}

impl Problem {
    pub(super) fn new(features: usize, strength: f64) -> Self {
        Self { features, strength, rows: Vec::new(), samples: Vec::new(), held_out: Vec::new() }
    }

    pub(super) fn row(&mut self, row: Vec<(usize, f64)>) -> usize {
        self.rows.push(row);
        self.rows.len() - 1
    }

    pub(super) fn sample(&mut self, row: usize, cause: Cause, weight: f64, group: Option<&str>) {
        if let Some(cause) = Cause::LABELS.iter().position(|label| *label == cause) {
            self.samples.push((row, cause, weight, group.map(str::to_owned)));
        }
    }

    /// Also fit once without each of these groups.
    pub(super) fn hold_out(&mut self, groups: Vec<String>) {
        self.held_out = groups;
    }

    /// Fits with all samples, and once without each held-out group.
    pub(super) fn solve(self, root: &Path) -> Result<Fits> {
        let folder = root.join("target/train");
        fs::create_dir_all(&folder)?;
        let mut held_out: Vec<Option<&String>> = vec![None];
        held_out.extend(self.held_out.iter().map(Some));
        let problem = serde_json::json!({
            "features": self.features, "rows": self.rows, "samples": self.samples,
            "held_out": held_out, "causes": CAUSES, "strength": self.strength,
        });
        fs::write(folder.join("problem.json"), serde_json::to_vec(&problem)?)?;
        let python = environment(root, &folder)?;
        let mut command = Command::new(python);
        // One thread: the order of additions is then the same in every run.
        command.envs([("OMP_NUM_THREADS", "1"), ("OPENBLAS_NUM_THREADS", "1")]);
        let status = command.arg(root.join("model/fit.py")).arg(&folder).status().context("model/fit.py")?;
        if !status.success() {
            bail!("model/fit.py failed: {status}");
        }
        let tables = (0..held_out.len())
            .map(|number| read_table(&folder.join(format!("weights-{number}.bin")), self.features))
            .collect::<Result<_>>()?;
        Ok(Fits { tables, groups: self.held_out })
    }
}

/// Python with the pinned packages, made once.
fn environment(root: &Path, folder: &Path) -> Result<PathBuf> {
    let wanted = fs::read_to_string(root.join("model/requirements.txt"))?;
    let stamp = folder.join("venv/requirements.txt");
    let python = folder.join("venv/bin/python");
    if fs::read_to_string(&stamp).is_ok_and(|have| have == wanted) {
        return Ok(python);
    }
    let venv = folder.join("venv");
    succeed(&Line::new(&format!("python3 -m venv {}", venv.display())))
        .context("python3 with its venv module is needed for training")?;
    let requirements = root.join("model/requirements.txt");
    succeed(&Line::new(&format!("{} -m pip install --quiet -r {}", python.display(), requirements.display())))?;
    fs::write(&stamp, wanted)?;
    Ok(python)
}

/// One fit's weights: a row per feature, the bias last.
struct Table(Vec<[f64; CAUSES]>);

fn read_table(path: &Path, features: usize) -> Result<Table> {
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    let (numbers, rest) = bytes.as_chunks::<8>();
    let (rows, odd) = numbers.as_chunks::<CAUSES>();
    if rows.len() != features + 1 || !odd.is_empty() || !rest.is_empty() {
        bail!("{}: {} bytes do not fit {features} features", path.display(), bytes.len());
    }
    Ok(Table(rows.iter().map(|row| row.map(f64::from_le_bytes)).collect()))
}

/// All fits: with everything, then without each group.
pub(super) struct Fits {
    tables: Vec<Table>,
    groups: Vec<String>,
}

/// Number of a fit.
#[derive(Clone, Copy)]
pub(super) struct Fit(usize);

impl Fit {
    /// The one with everything.
    pub(super) const WHOLE: Self = Self(0);
}

impl Fits {
    pub(super) fn without(&self, group: &str) -> Option<Fit> {
        self.groups.iter().position(|held_out| held_out == group).map(|at| Fit(at + 1))
    }

    /// The product's model of one fit.
    pub(super) fn model(&self, fit: Fit, vocabulary: &Vocabulary, settings: Settings) -> Model {
        let Some((bias, rows)) = self.tables.get(fit.0).and_then(|table| table.0.split_last()) else {
            return Model::empty();
        };
        let weights = rows.iter().map(integers);
        let features =
            vocabulary.keys().zip(weights).filter(|(_, row)| row.iter().any(|weight| *weight != 0)).collect();
        Model::from_weights(settings, integers(bias), features)
    }
}

fn integers(row: &[f64; CAUSES]) -> [i16; CAUSES] {
    row.map(|weight| {
        #[expect(clippy::cast_possible_truncation, reason = "clamped before")]
        {
            (weight * NAT).round().clamp(f64::from(i16::MIN), f64::from(i16::MAX)) as i16
        }
    })
}

pub(super) fn thousandths(value: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "clamped before")]
    {
        (value * 1000.0).round().clamp(-1e9, 1e9) as i32
    }
}
