//! Why the log is read as it is: the model's own reasons and the nearest known case, for people. *No client.*

use crashlog::{
    explain::{Reason, reasons},
    features::FeatureName,
    model::Model,
    nearest::nearest,
    phrases::PHRASES,
};
use diagnosis::Cause;

use crate::{log_part::Chosen, report::page::Page};

/// Reasons for and against, and the nearest known case.
pub(super) fn because(page: &mut Page, chosen: &Chosen, cause: Cause, explain: bool) {
    let model = Model::built_in();
    let of_cause = reasons(&chosen.finding, model, cause);
    let shown = if explain { usize::MAX } else { 3 };
    listed(page, "Reasons for it", &of_cause.for_it, shown);
    listed(page, "Reasons against it", &of_cause.against_it, shown);
    if explain {
        page.heading("Every cause");
        for (cause, probability) in &chosen.finding.causes {
            page.paragraph(&format!("{probability}  {}", cause.in_words()));
        }
    }
    if let Some(nearest) = nearest(&chosen.finding.digest) {
        page.heading("Nearest known case");
        let percent = nearest.similarity_thousandths / 10;
        let known = nearest.case;
        page.paragraph(&format!("{} ({percent} % alike): {}. {}", known.id, known.cause.in_words(), known.about));
    }
}

fn listed(page: &mut Page, heading: &str, reasons: &[Reason], shown: usize) {
    if reasons.is_empty() {
        return;
    }
    page.heading(heading);
    for reason in reasons.iter().take(shown) {
        page.styled(
            anstyle::Style::new(),
            &format!("  {:+6.2}  ", reason.share),
            "          ",
            &in_words(&reason.name),
        );
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

/// `physical_corruption decisive other record` as a person says it: the kinds are made by [`crashlog::features`].
fn kind_in_words(kind: &str) -> String {
    let (what, line) = if let Some(what) = kind.strip_suffix(" decisive record") {
        (what, "the decisive line")
    } else {
        (kind.strip_suffix(" other record").unwrap_or(kind), "another line")
    };
    let (what, strength) = ["hint", "strong", "decisive", "any strength"]
        .into_iter()
        .find_map(|strength| Some((what.strip_suffix(strength)?.trim_end(), format!(" ({strength})"))))
        .unwrap_or((what, String::new()));
    let reports = match what {
        "integrity" => "reports a failed integrity check".to_owned(),
        "damage" => "reports damage in words".to_owned(),
        "against" => "reports what is no damage".to_owned(),
        "benign" => "is printed by healthy nodes too".to_owned(),
        _ => match what.strip_prefix("also ") {
            Some(cause) => format!("is also printed by {}", cause.replace('_', " ")),
            None => format!("is of the kind {}", what.replace('_', " ")),
        },
    };
    format!("{line} {reports}{strength}")
}
