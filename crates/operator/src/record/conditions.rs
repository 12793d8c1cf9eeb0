//! Conditions, as Kubernetes keeps them. *No client, no clock.*

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

/// A condition as it is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    /// Its type.
    pub(crate) about: &'static str,
    /// Whether it is so.
    pub(crate) is: Truth,
    /// Why, in one word.
    pub(crate) reason: &'static str,
    /// Why, in words.
    pub(crate) message: String,
}

/// A condition's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Truth {
    True,
    False,
}

impl Truth {
    fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
        }
    }
}

/// Longer messages are cut: the API server takes 32,768 bytes.
const MESSAGE_MAX: usize = 2_000;

/// Puts a condition in place of the one of its type. The time of its last transition changes with its status alone.
#[expect(clippy::needless_pass_by_value, reason = "it is used up")]
pub(crate) fn set_condition(conditions: &mut Vec<Condition>, said: Said, generation: Option<i64>, now: Timestamp) {
    let before = conditions.iter().find(|condition| condition.type_ == said.about);
    let since =
        before.filter(|before| before.status == said.is.as_str()).map(|before| before.last_transition_time.clone());
    let condition = Condition {
        type_: said.about.to_owned(),
        status: said.is.as_str().to_owned(),
        reason: said.reason.to_owned(),
        message: said.message.chars().take(MESSAGE_MAX).collect(),
        last_transition_time: since.unwrap_or(Time(now)),
        observed_generation: generation,
    };
    conditions.retain(|other| other.type_ != said.about);
    conditions.push(condition);
    conditions.sort_by(|a, b| a.type_.cmp(&b.type_));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: &str) -> Timestamp {
        time.parse().expect("a time")
    }

    fn said(is: Truth, message: &str) -> Said {
        Said { about: "Acting", is, reason: "Why", message: message.to_owned() }
    }

    #[test]
    fn the_transition_time_changes_with_the_status_alone() {
        let mut conditions = Vec::new();
        set_condition(&mut conditions, said(Truth::False, "one"), Some(1), at("2026-01-01T00:00:00Z"));
        set_condition(&mut conditions, said(Truth::False, "two"), Some(2), at("2026-01-02T00:00:00Z"));
        assert_eq!(conditions.len(), 1);
        assert_eq!(conditions[0].message, "two");
        assert_eq!(conditions[0].last_transition_time.0, at("2026-01-01T00:00:00Z"));
        set_condition(&mut conditions, said(Truth::True, "two"), Some(2), at("2026-01-03T00:00:00Z"));
        assert_eq!(conditions[0].last_transition_time.0, at("2026-01-03T00:00:00Z"));
    }

    #[test]
    fn others_stay_and_stand_in_one_order() {
        let mut conditions = Vec::new();
        let other = Said { about: "Judged", ..said(Truth::True, "x") };
        set_condition(&mut conditions, other, None, at("2026-01-01T00:00:00Z"));
        set_condition(&mut conditions, said(Truth::False, "y"), None, at("2026-01-01T00:00:00Z"));
        let types: Vec<&str> = conditions.iter().map(|condition| condition.type_.as_str()).collect();
        assert_eq!(types, ["Acting", "Judged"]);
    }
}
