//! The linear model: integer weights per feature, one score per cause.
//!
//! "This replica's own data is damaged" is not scored by itself: with a hundred labelled cases a second set of weights is
//! worse than the sum over causes of *probability × how often a restore fixed that cause* (figures in `model/README.md`).
//!
//! Weights are trained offline (`cargo xtask train`) and live in `model/weights.bin`, inside the binary. Scores are sums of
//! integers, and the only floating-point step (the exponential of the displayed probability) is a pure-Rust function, so a log
//! gets the same bytes of output on every machine.

use std::sync::OnceLock;

use diagnosis::Cause;

use crate::features::{FeatureKey, Features};

/// Number of causes scored.
pub const CAUSES: usize = Cause::LABELS.len();
/// Weights are in units of 1/1024 nat per unit of a feature; feature values in units of 1/256.
pub const WEIGHT_UNITS: f64 = 1024.0 * 256.0;

/// Begins every weights file; the digit is the format's version.
const MAGIC: &[u8; 8] = b"LBMODEL1";
/// Magic, three 32-bit settings, a 32-bit rate per cause, number of features.
const HEADER: usize = 8 + 4 * 3 + 4 * CAUSES + 4;

/// Why a weights file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// It does not begin as one.
    #[error("the weights do not begin with the magic of format 1; train again with `cargo xtask train`")]
    Magic,
    /// It ends too early or too late.
    #[error("the weights hold {actual} bytes where {expected} belong; train again with `cargo xtask train`")]
    Length {
        /// Bytes there should be.
        expected: usize,
        /// Bytes there are.
        actual: usize,
    },
    /// Keys must rise, so that they can be searched for.
    #[error("the weights' keys do not rise at feature {0}; train again with `cargo xtask train`")]
    Order(usize),
}

impl ModelError {
    /// A stable word for metrics and scripts.
    #[must_use]
    pub fn category(&self) -> &'static str {
        "model"
    }
}

/// The weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// What was fixed together with the weights.
    pub settings: Settings,
    keys: Vec<FeatureKey>,
    weights: Vec<[i16; CAUSES]>,
    bias: [i16; CAUSES],
}

/// Numbers chosen in training, leave-one-group-out, and frozen with the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Divides cause scores before they become probabilities, in thousandths (temperature).
    pub temperature_thousandths: i32,
    /// Damage score from which on the log may testify, in thousandths of a nat.
    pub witness_from_thousandths: i32,
    /// Added to the damage score of a log that meets every condition of a testimony but the score, in thousandths of a nat.
    pub testimony_thousandths: i32,
    /// How often restoring local data fixed each cause, in thousandths, in the order of [`Cause::LABELS`].
    pub restore_fixes_thousandths: [i32; CAUSES],
}

/// Scores of one log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scores {
    /// In units of 1/(1024·256) nat: one per cause in the order of [`Cause::LABELS`].
    pub raw: [i64; CAUSES],
}

impl Model {
    /// The model inside the binary, or an empty one where the file is broken (a test forbids that).
    #[must_use]
    pub fn built_in() -> &'static Self {
        static MODEL: OnceLock<Model> = OnceLock::new();
        MODEL.get_or_init(|| Self::read(include_bytes!("../../../model/weights.bin")).unwrap_or_else(|_| Self::empty()))
    }

    /// A model that knows nothing.
    #[must_use]
    pub fn empty() -> Self {
        let settings = Settings {
            temperature_thousandths: 1000,
            witness_from_thousandths: i32::MAX,
            testimony_thousandths: 0,
            restore_fixes_thousandths: [0; CAUSES],
        };
        Self { settings, keys: Vec::new(), weights: Vec::new(), bias: [0; CAUSES] }
    }

    /// Builds a model from trained weights; features in any order.
    #[must_use]
    pub fn from_weights(
        settings: Settings,
        bias: [i16; CAUSES],
        mut features: Vec<(FeatureKey, [i16; CAUSES])>,
    ) -> Self {
        features.sort_unstable_by_key(|(key, _)| *key);
        features.dedup_by_key(|(key, _)| *key);
        let (keys, weights) = features.into_iter().unzip();
        Self { settings, keys, weights, bias }
    }

    /// Reads a weights file.
    pub fn read(bytes: &[u8]) -> Result<Self, ModelError> {
        let short = |expected| ModelError::Length { expected, actual: bytes.len() };
        let (magic, rest) = bytes.split_first_chunk::<8>().ok_or(short(HEADER))?;
        if magic != MAGIC {
            return Err(ModelError::Magic);
        }
        let mut cursor = Cursor { bytes: rest };
        let mut header = || cursor.i32().ok_or(short(HEADER));
        let (temperature_thousandths, witness_from_thousandths) = (header()?, header()?);
        let testimony_thousandths = header()?;
        let mut restore_fixes_thousandths = [0; CAUSES];
        for rate in &mut restore_fixes_thousandths {
            *rate = header()?;
        }
        let settings = Settings {
            temperature_thousandths,
            witness_from_thousandths,
            testimony_thousandths,
            restore_fixes_thousandths,
        };
        let count = usize::try_from(header()?).map_err(|_| ModelError::Magic)?;
        let expected = count.saturating_mul(4 + 2 * CAUSES).saturating_add(HEADER + 2 * CAUSES);
        if bytes.len() != expected {
            return Err(short(expected));
        }
        let bias = cursor.row().ok_or(short(expected))?;
        let mut keys = Vec::with_capacity(count);
        let mut weights = Vec::with_capacity(count);
        for at in 0..count {
            let key = FeatureKey(cursor.u32().ok_or(short(expected))?);
            if keys.last().is_some_and(|before| *before >= key) {
                return Err(ModelError::Order(at));
            }
            keys.push(key);
            weights.push(cursor.row().ok_or(short(expected))?);
        }
        Ok(Self { settings, keys, weights, bias })
    }

    /// Writes a weights file; the same model always gives the same bytes.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let settings = &self.settings;
        let count = i32::try_from(self.keys.len()).unwrap_or(i32::MAX);
        let header =
            [settings.temperature_thousandths, settings.witness_from_thousandths, settings.testimony_thousandths];
        for number in header.into_iter().chain(settings.restore_fixes_thousandths).chain([count]) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend(self.bias.iter().flat_map(|weight| weight.to_le_bytes()));
        for (key, row) in self.keys.iter().zip(&self.weights) {
            bytes.extend_from_slice(&key.0.to_le_bytes());
            bytes.extend(row.iter().flat_map(|weight| weight.to_le_bytes()));
        }
        bytes
    }

    /// Weights of one feature, where the model knows it.
    #[must_use]
    pub fn weights(&self, key: FeatureKey) -> Option<&[i16; CAUSES]> {
        self.keys.binary_search(&key).ok().and_then(|at| self.weights.get(at))
    }

    /// Number of features.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether it knows nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Scores one log.
    #[must_use]
    pub fn score(&self, features: &Features) -> Scores {
        let mut raw = self.bias.map(|bias| i64::from(bias) * i64::from(crate::features::UNIT));
        for (key, value) in &features.values {
            let Some(weights) = self.weights(*key) else { continue };
            for (sum, weight) in raw.iter_mut().zip(weights) {
                *sum += i64::from(*weight) * i64::from(*value);
            }
        }
        Scores { raw }
    }
}

/// Little-endian numbers off the front of a byte slice.
struct Cursor<'a> {
    bytes: &'a [u8],
}

impl Cursor<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.bytes.split_first_chunk::<N>()?;
        self.bytes = rest;
        Some(*head)
    }

    fn i32(&mut self) -> Option<i32> {
        self.take().map(i32::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn row(&mut self) -> Option<[i16; CAUSES]> {
        let mut row = [0; CAUSES];
        for weight in &mut row {
            *weight = self.take().map(i16::from_le_bytes)?;
        }
        Some(row)
    }
}
