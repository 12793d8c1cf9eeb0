//! Why the log is read as it is: the model's own reasons and the nearest known case, for people. *No client.*

use crashlog::{
    explain::{Reason, Reasons, reasons},
    features::FeatureName,
    model::Model,
    nearest::nearest,
    phrases::PHRASES,
};
use diagnosis::Cause;

use crate::{report::page::Page, words::rounded};
use crashlog::Chosen;

/// A reason in words with its share of the score in nats.
type Weighed = (String, f64);

/// A smaller share against the cause is noise: `e^0.15` moves even odds by four hundredths.
const AGAINST_MIN: f64 = 0.15;

/// Reasons for and against, and the nearest known case.
pub(super) fn because(page: &mut Page, chosen: &Chosen, cause: Cause, explain: bool) {
    let model = Model::built_in();
    let Reasons { for_it, against_it } = reasons(&chosen.finding, model, cause);
    let (for_it, against_it) = weighed(for_it.iter().chain(&against_it));
    let shown = if explain { usize::MAX } else { 3 };
    listed(page, "Reasons for it", &for_it, shown);
    let of_weight = against_it.iter().take_while(|(_, share)| explain || *share <= -AGAINST_MIN).count();
    let against_it = against_it.get(..of_weight).unwrap_or_default();
    listed(page, "Reasons against it", against_it, shown);
    if against_it.is_empty() {
        page.heading("Reasons against it");
        page.paragraph("Nothing of weight speaks against it.");
    }
    if explain {
        page.heading("Every cause");
        for (cause, probability) in &chosen.finding.causes {
            page.paragraph(&format!("{}  {}", rounded(*probability), cause.in_words()));
        }
    }
    page.heading("Nearest known case");
    match nearest(&chosen.finding.digest) {
        None => page.paragraph("None is near."),
        Some(nearest) => {
            let percent = nearest.similarity_thousandths / 10;
            let known = nearest.case;
            page.paragraph(&format!("{} ({percent} % alike): {}. {}", known.id, known.cause.in_words(), known.about));
        }
    }
}

/// Reasons that say the same to a person are one reason with the sum of their shares; the weightiest first.
fn weighed<'a>(reasons: impl Iterator<Item = &'a Reason>) -> (Vec<Weighed>, Vec<Weighed>) {
    let mut sums: Vec<Weighed> = Vec::new();
    for reason in reasons {
        let words = in_words(&reason.name);
        match sums.iter_mut().find(|(known, _)| *known == words) {
            Some((_, share)) => *share += reason.share,
            None => sums.push((words, reason.share)),
        }
    }
    sums.sort_by(|(_, a), (_, b)| b.abs().total_cmp(&a.abs()));
    sums.into_iter().partition(|(_, share)| *share > 0.0)
}

fn listed(page: &mut Page, heading: &str, reasons: &[Weighed], shown: usize) {
    if reasons.is_empty() {
        return;
    }
    page.heading(heading);
    for (words, share) in reasons.iter().take(shown) {
        page.styled(anstyle::Style::new(), &format!("  {share:+6.2}  "), "          ", words);
    }
}

fn in_words(name: &FeatureName) -> String {
    match name {
        FeatureName::Phrase(id) => {
            let text = PHRASES.iter().find(|phrase| phrase.id == *id).map_or(*id, |phrase| phrase.text);
            format!("the message \"{text}\"")
        }
        FeatureName::PhraseKind(kind) => kind_in_words(kind),
        FeatureName::Words(words) => format!("the words \"{words}\""),
        FeatureName::Frame(frame) => format!("the stack has {frame}"),
        FeatureName::Shape(shape) => format!(
            "the log {}",
            shape.strip_prefix("ends ").map_or_else(|| format!("has {shape}"), |rest| format!("ends {rest}"))
        ),
    }
}

/// `physical_corruption decisive other record` as a person says it: the kinds are made by [`crashlog::features`]. How
/// strong a message is stays unsaid: its share says it.
fn kind_in_words(kind: &str) -> String {
    let (what, line) = if let Some(what) = kind.strip_suffix(" decisive record") {
        (what, "its decisive line")
    } else {
        (kind.strip_suffix(" other record").unwrap_or(kind), "another line")
    };
    let what = ["hint", "strong", "decisive", "any strength"]
        .into_iter()
        .find_map(|strength| what.strip_suffix(strength))
        .unwrap_or(what)
        .trim_end();
    match what {
        "integrity" => format!("{line} reports a failed integrity check"),
        "damage" => format!("{line} reports damage in words"),
        "against" => format!("{line} reports what is no damage"),
        "benign" => format!("{line} is printed by healthy nodes too"),
        _ => match what.strip_prefix("also ") {
            Some(cause) => format!("{line} is also printed by nodes that die of {}", cause_in_words(cause)),
            None => format!("{line} tells of {}", cause_in_words(what)),
        },
    }
}

fn cause_in_words(cause: &str) -> String {
    cause.parse::<Cause>().map_or_else(|_| cause.replace('_', " "), |cause| cause.in_words().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_that_say_the_same_are_one() {
        let reason = |kind: &str, share| Reason { name: FeatureName::PhraseKind(kind.to_owned()), share };
        let all = [
            reason("physical_corruption any strength decisive record", 0.5),
            reason("physical_corruption decisive decisive record", 0.75),
            reason("integrity decisive decisive record", 2.0),
            reason("damage hint other record", -0.25),
            reason("also oom other record", -0.5),
        ];
        let (for_it, against_it) = weighed(all.iter());
        let told = |reasons: Vec<Weighed>| -> Vec<String> {
            reasons.into_iter().map(|(words, share)| format!("{share:+.2} {words}")).collect()
        };
        assert_eq!(
            told(for_it),
            [
                "+2.00 its decisive line reports a failed integrity check",
                "+1.25 its decisive line tells of damaged database files"
            ]
        );
        assert_eq!(
            told(against_it),
            [
                "-0.50 another line is also printed by nodes that die of lack of memory",
                "-0.25 another line reports damage in words"
            ]
        );
    }
}
