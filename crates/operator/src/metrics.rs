//! What `/metrics` tells. *No client.* (P14)
//!
//! Labels come from words of this program only, never from what a cluster or a log says, so their number is bounded.

use std::{collections::BTreeSet, sync::Mutex};

use api::{Decision, IncidentKind, VerdictReport};
use diagnosis::Cause;
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

/// Everything that is counted.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    incidents: Family<Kind, Counter>,
    verdicts: Family<Verdict, Counter>,
    holds: Family<Reason, Counter>,
    errors: Family<Category, Counter>,
    logs_missed: Counter,
    evidence_seconds: Histogram,
    leading: Gauge,
    kinds_missing: Gauge,
    missing: Mutex<BTreeSet<&'static str>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Kind {
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Verdict {
    cause: &'static str,
    decision: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Reason {
    reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Category {
    category: &'static str,
}

/// Whether this process leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leadership {
    Leader,
    Follower,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// Nothing counted yet.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("loopbreaker");
        let incidents = Family::<Kind, Counter>::default();
        registry.register("incidents", "Incidents that were opened, by kind", incidents.clone());
        let verdicts = Family::<Verdict, Counter>::default();
        registry.register("verdicts", "Verdicts, by cause and decision", verdicts.clone());
        let holds = Family::<Reason, Counter>::default();
        registry.register("holds", "Incidents that were held, by reason", holds.clone());
        let errors = Family::<Category, Counter>::default();
        registry.register(
            "errors",
            "Requests that failed and objects that could not be read, by category",
            errors.clone(),
        );
        let logs_missed = Counter::default();
        registry.register(
            "logs_missed",
            "Crashes whose logs were not read because too many came at once",
            logs_missed.clone(),
        );
        let buckets = [5.0, 15.0, 60.0, 180.0, 600.0, 1_800.0, 7_200.0, 28_800.0];
        let evidence_seconds = Histogram::new(buckets);
        registry.register("evidence_seconds", "From the begin of a look to its verdict", evidence_seconds.clone());
        let leading = Gauge::<i64>::default();
        registry.register("leading", "1 where this process holds the Lease", leading.clone());
        let kinds_missing = Gauge::<i64>::default();
        registry.register("kinds_missing", "Kinds of our own that the cluster does not have", kinds_missing.clone());
        Self {
            registry,
            incidents,
            verdicts,
            holds,
            errors,
            logs_missed,
            evidence_seconds,
            leading,
            kinds_missing,
            missing: Mutex::default(),
        }
    }

    /// All of it, as `OpenMetrics` text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing into memory does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    pub(crate) fn incident(&self, kind: IncidentKind) {
        let kind = match kind {
            IncidentKind::CrashLoop => "crash_loop",
            IncidentKind::Stuck => "stuck",
        };
        self.incidents.get_or_create(&Kind { kind }).inc();
    }

    pub(crate) fn verdict(&self, verdict: &VerdictReport, seconds: f64) {
        let cause = verdict.cause.parse::<Cause>().ok().map(Cause::as_str);
        let decision = match verdict.decision {
            Decision::Restore => "restore",
            Decision::Propose => "propose",
            Decision::Hold => "hold",
        };
        self.verdicts.get_or_create(&Verdict { cause: cause.unwrap_or("unknown"), decision }).inc();
        self.evidence_seconds.observe(seconds);
    }

    pub(crate) fn held(&self, reason: &'static str) {
        self.holds.get_or_create(&Reason { reason }).inc();
    }

    pub(crate) fn error(&self, category: &'static str) {
        self.errors.get_or_create(&Category { category }).inc();
    }

    pub(crate) fn log_missed(&self) {
        self.logs_missed.inc();
    }

    pub(crate) fn leads(&self, leadership: Leadership) {
        self.leading.set(i64::from(leadership == Leadership::Leader));
    }

    /// A kind of ours that is not there.
    pub(crate) fn kind_is_missing(&self, plural: &'static str) {
        self.change_missing(|missing| {
            missing.insert(plural);
        });
    }

    /// A kind that is there.
    pub(crate) fn kind_is_there(&self, plural: &'static str) {
        self.change_missing(|missing| {
            missing.remove(plural);
        });
    }

    fn change_missing(&self, change: impl FnOnce(&mut BTreeSet<&'static str>)) {
        let mut missing = self.missing.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        change(&mut missing);
        self.kinds_missing.set(i64::try_from(missing.len()).unwrap_or(i64::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_is_told() {
        let metrics = Metrics::new();
        metrics.incident(IncidentKind::Stuck);
        metrics.held("Storm");
        metrics.error("forbidden");
        metrics.leads(Leadership::Leader);
        metrics.kind_is_missing("recoveries");
        metrics.kind_is_missing("recoveries");
        let text = metrics.text();
        for line in [
            "loopbreaker_incidents_total{kind=\"stuck\"} 1",
            "loopbreaker_holds_total{reason=\"Storm\"} 1",
            "loopbreaker_errors_total{category=\"forbidden\"} 1",
            "loopbreaker_leading 1",
            "loopbreaker_kinds_missing 1",
            "# EOF",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        metrics.kind_is_there("recoveries");
        assert!(metrics.text().contains("loopbreaker_kinds_missing 0"));
    }
}
