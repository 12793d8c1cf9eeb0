//! The few statistics that a claim needs, exact. *No IO.*
//!
//! The bounds are Clopper and Pearson's: the binomial tail itself is solved for the rate by halving an interval. That needs
//! no inverse of the beta function, hence no library for it, and at a hundred halvings it is as exact as a `f64`.

use diagnosis::Cause;

/// One-sided 95 %.
const TAIL: f64 = 0.05;
/// A `f64` in 0 ‥ 1 has no more bits than this.
const HALVINGS: u32 = 100;

/// The highest rate with which `k` of `n` or fewer still happen in 5 % of all samples.
#[must_use]
pub fn upper_bound(k: usize, n: usize) -> f64 {
    if k >= n {
        return 1.0;
    }
    solve(|rate| at_most(k, n, rate) > TAIL)
}

/// The lowest rate with which `k` of `n` or more still happen in 5 % of all samples.
#[must_use]
pub fn lower_bound(k: usize, n: usize) -> f64 {
    let Some(fewer) = k.min(n).checked_sub(1) else { return 0.0 };
    solve(|rate| 1.0 - at_most(fewer, n, rate) < TAIL)
}

/// The rate at which a condition that holds for low rates stops to hold.
fn solve(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// Probability of at most `k` of `n` at a rate inside 0 ‥ 1.
fn at_most(k: usize, n: usize, rate: f64) -> f64 {
    let (n, log_hit, log_miss) = (float(n), libm::log(rate), libm::log1p(-rate));
    (0..=k)
        .map(float)
        .map(|i| {
            let ways = libm::lgamma(n + 1.0) - libm::lgamma(i + 1.0) - libm::lgamma(n - i + 1.0);
            libm::exp(ways + i * log_hit + (n - i) * log_miss)
        })
        .sum()
}

/// The share of positives found when the threshold lies just above the negative that is one too many; ties count as found
/// neither here nor there. None without a positive.
#[must_use]
pub fn recall_at(false_ones: usize, positives: &[f64], negatives: &[f64]) -> Option<usize> {
    if positives.is_empty() {
        return None;
    }
    let mut negatives = negatives.to_vec();
    negatives.sort_by(|a, b| b.total_cmp(a));
    let first_too_many = negatives.get(false_ones).copied().unwrap_or(f64::NEG_INFINITY);
    Some(positives.iter().filter(|score| **score > first_too_many).count())
}

/// The probability that a positive scores higher than a negative; a tie counts half. None without one of each.
#[must_use]
pub fn area_under_curve(positives: &[f64], negatives: &[f64]) -> Option<f64> {
    let pairs = float(positives.len()) * float(negatives.len());
    let won = |positive: &f64| -> f64 {
        negatives
            .iter()
            .map(|negative| match positive.total_cmp(negative) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            })
            .sum()
    };
    (pairs > 0.0).then(|| positives.iter().map(won).sum::<f64>() / pairs)
}

/// The mean over all causes that occur as truth of F1 = 2·hits / (told + true). None without a case.
#[must_use]
pub fn macro_f1(told_and_true: &[(Cause, Cause)]) -> Option<f64> {
    let mut classes: Vec<Cause> = told_and_true.iter().map(|(_, truth)| *truth).collect();
    classes.sort_unstable();
    classes.dedup();
    let f1 = |class: &Cause| {
        let hits = told_and_true.iter().filter(|(told, truth)| told == class && truth == class).count();
        let told = told_and_true.iter().filter(|(told, _)| told == class).count();
        let truth = told_and_true.iter().filter(|(_, truth)| truth == class).count();
        2.0 * float(hits) / float(told + truth)
    };
    (!classes.is_empty()).then(|| classes.iter().map(f1).sum::<f64>() / float(classes.len()))
}

pub(crate) fn float(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percent(rate: f64) -> String {
        format!("{:.2}", rate * 100.0)
    }

    #[test]
    fn upper_bounds_are_those_of_the_tables() {
        for (k, n, bound) in [
            (0, 250, "1.19"),
            (1, 250, "1.88"),
            (2, 250, "2.50"),
            (0, 150, "1.98"),
            (1, 150, "3.12"),
            (2, 150, "4.14"),
            (0, 1000, "0.30"),
            (1, 1000, "0.47"),
            (0, 3000, "0.10"),
            (0, 299, "1.00"),
        ] {
            assert_eq!(percent(upper_bound(k, n)), bound, "{k} of {n}");
        }
    }

    #[test]
    fn lower_bounds_are_those_of_the_tables() {
        for (k, n, bound) in [(30, 30, "90.5"), (40, 50, "68.4"), (64, 80, "71.2"), (60, 100, "51.3")] {
            assert_eq!(format!("{:.1}", lower_bound(k, n) * 100.0), bound, "{k} of {n}");
        }
    }

    #[test]
    fn nothing_and_everything() {
        assert_eq!(percent(upper_bound(0, 0)), "100.00");
        assert_eq!(percent(upper_bound(5, 5)), "100.00");
        assert_eq!(percent(lower_bound(0, 5)), "0.00");
        assert_eq!(percent(lower_bound(0, 0)), "0.00");
    }

    #[test]
    fn a_tie_counts_half_and_is_never_found_for_free() {
        let (positives, negatives) = ([3.0, 2.0, 1.0], [2.0, 0.0]);
        assert_eq!(area_under_curve(&positives, &negatives).map(percent).as_deref(), Some("75.00"));
        assert_eq!(recall_at(0, &positives, &negatives), Some(1));
        assert_eq!(recall_at(1, &positives, &negatives), Some(3));
        assert_eq!(recall_at(2, &positives, &negatives), Some(3));
        assert_eq!(area_under_curve(&positives, &[]), None);
        assert_eq!(recall_at(0, &[], &negatives), None);
    }

    #[test]
    fn f1_is_a_mean_over_the_true_causes() {
        use Cause::{DiskFull, Oom, OtherBug};
        // Oom: 1 hit, told twice, true once: 2/3. DiskFull: 1 hit, told once, true twice: 2/3. OtherBug is never true.
        let pairs = [(Oom, Oom), (Oom, DiskFull), (DiskFull, DiskFull)];
        assert_eq!(macro_f1(&pairs).map(percent).as_deref(), Some("66.67"));
        assert_eq!(macro_f1(&[(OtherBug, Oom)]).map(percent).as_deref(), Some("0.00"));
        assert_eq!(macro_f1(&[]), None);
    }
}
