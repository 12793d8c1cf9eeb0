//! The figures of `evaluate` for people. *No client.* The JSON is specified by [`evaluation::Summary`].

use std::fmt::Write as _;

use evaluation::{CauseFigures, Detection, Share, Summary};

use super::page::Page;

/// Groups listed by name; there may be hundreds of one case each.
const GROUPS_SHOWN: usize = 12;

/// The whole page.
pub(crate) fn render(summary: &Summary) -> String {
    let mut page = Page::default();
    page.heading(&format!(
        "{} of {}",
        counted_word(summary.cases, "case", "cases"),
        counted_word(summary.groups, "group", "groups")
    ));
    let decisions: Vec<String> =
        summary.decisions.iter().map(|(decision, count)| format!("{decision} {count}")).collect();
    page.paragraph(&format!("Decisions: {}. The log said nothing in {}.", decisions.join(", "), summary.abstained));
    if summary.broken > 0 {
        page.paragraph(&match summary.broken {
            1 => "1 line was no case of its own and is not counted.".to_owned(),
            broken => format!("{broken} lines were no cases of their own and are not counted."),
        });
    }
    page.heading("Local damage");
    let baselines = &summary.baselines;
    row(&mut page, ["", "false", "at most", "recall", "at least", "0 false", "1", "3", "AUC"]);
    detection(&mut page, "log witness", &summary.detection);
    detection(&mut page, "phrases only", &baselines.phrases_only);
    detection(&mut page, "corrupt|checksum", &baselines.keywords);
    detection(&mut page, "k8sgpt", &baselines.k8sgpt);
    page.paragraph("Bounds are exact, one-sided, 95 %. \"0 false\", \"1\", \"3\": recall by score at so many false.");
    page.heading("Cause");
    causes(&mut page, "verdict", &summary.cause);
    causes(&mut page, "phrases only", &baselines.phrases_only_cause);
    if let Some(hits) = &summary.decisive_line_hits {
        page.paragraph(&format!(
            "Decisive line shown first: {}, among the first three: {}.",
            counted(&hits.first),
            counted(&hits.in_three)
        ));
    }
    page.heading("By group, the most false witnesses first");
    let mut groups: Vec<_> = summary.by_group.iter().collect();
    groups.sort_by_key(|group| (std::cmp::Reverse((group.false_witnesses.k, group.cases)), &group.group));
    for group in groups.iter().take(GROUPS_SHOWN) {
        page.paragraph(&format!(
            "{}: {} false of {}, found {} of {}, cause right {} of {}",
            group.group,
            group.false_witnesses.k,
            group.false_witnesses.n,
            group.recall.k,
            group.recall.n,
            group.cause_right.k,
            group.cause_right.n
        ));
    }
    let more = groups.len().saturating_sub(GROUPS_SHOWN);
    if more > 0 {
        page.paragraph(&format!("{}: --output json lists them.", counted_word(more, "more group", "more groups")));
    }
    page.finish()
}

fn row(page: &mut Page, cells: [&str; 9]) {
    let [name, cells @ ..] = cells;
    let mut line = format!("  {name:16}");
    for (cell, width) in cells.iter().zip([7, 8, 7, 9, 8, 5, 5, 6]) {
        let _ = write!(line, "{cell:>width$}");
    }
    page.as_it_stands(anstyle::Style::new(), &line);
}

fn detection(page: &mut Page, name: &str, figures: &Detection) {
    let at = &figures.recall_at_false;
    row(
        page,
        [
            name,
            &format!("{}/{}", figures.false_witnesses.k, figures.false_witnesses.n),
            &percent(figures.false_witnesses.upper_95),
            &format!("{}/{}", figures.recall.k, figures.recall.n),
            &percent(figures.recall.lower_95),
            &decimal(at.none),
            &decimal(at.one),
            &decimal(at.three),
            &decimal(figures.auc),
        ],
    );
}

fn causes(page: &mut Page, name: &str, figures: &CauseFigures) {
    page.paragraph(&format!(
        "{name}: right {}, in two guesses {}, macro-F1 {}",
        counted(&figures.cause_right),
        counted(&figures.cause_in_two),
        decimal(figures.macro_f1)
    ));
}

fn counted(share: &Share) -> String {
    format!("{} of {} ({})", share.k, share.n, decimal(share.rate))
}

fn counted_word(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn decimal(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"))
}

fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{:.1} %", value * 100.0))
}
