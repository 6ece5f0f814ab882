//! The steps of an execution as lanes: what happened in each, in the order in which it happened.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::label;
use crate::app::Story;
use crate::report::markup::HtmlText;
use crate::run::Moment;

/// How wide one entry is in the drawing, in its own units.
const COLUMN: usize = 24;
/// How high one step is: its label, and its bar below it.
const ROW: usize = 38;
/// Where a step's bar begins, below its label.
const BAR: usize = 20;
/// How high a bar is.
const THICK: usize = 12;
/// The room beside the first and the last entry.
const MARGIN: usize = 8;
/// A narrower drawing would cut labels.
const NARROWEST: usize = 340;
/// The longest label in the drawing, in characters.
const LABEL: usize = 48;
/// The most entries that are drawn; all of them are listed.
const MOST_DRAWN: usize = 400;

/// A bar in a step's lane.
fn bar(page: &mut String, (step, from, class): (usize, usize, &'static str), to: usize) {
    let (x, y) = (MARGIN + from * COLUMN, step * ROW + BAR);
    let width = (to.saturating_sub(from) * COLUMN).max(6);
    let _ =
        writeln!(page, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{THICK}\" rx=\"4\" class=\"{class}\"/>");
}

/// How a step ended, for whoever sees no colours.
fn sign(word: &str, x: usize, y: usize) -> String {
    let sign = match word {
        "done" => "✓",
        "failed" => "✗",
        _ => "–",
    };
    format!("<text x=\"{x}\" y=\"{y}\" class=\"sign\">{sign}</text>")
}

/// The end of a bar, with a mark that says how.
fn ended(page: &mut String, marks: &mut String, open: Option<(usize, usize, &'static str)>, place: usize, word: &str) {
    let Some(begun) = open else { return };
    bar(page, begun, place);
    let (x, y) = (MARGIN + place * COLUMN, begun.0 * ROW + BAR + THICK / 2);
    let _ = writeln!(
        marks,
        "<circle cx=\"{x}\" cy=\"{y}\" r=\"6\" class=\"{word}\"><title>{word}</title></circle>{}",
        sign(word, x, y + 3)
    );
}

/// The steps as lanes, the entries from left to right: how long a step took counts less than what
/// happened in it, so every entry is as wide as the next.
pub(super) fn drawing(page: &mut String, story: &Story) {
    let guided = &story.guided;
    let steps = guided.run().plan().steps().len();
    let drawn = story.entries.len().min(MOST_DRAWN);
    let (width, height) = ((2 * MARGIN + drawn * COLUMN).max(NARROWEST), steps * ROW + 8);
    let _ = writeln!(
        page,
        "<h2>In order of events</h2>\n<div class=\"wide\">\n<svg role=\"img\" aria-label=\"Steps as lanes, entries from left to \
         right\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">"
    );
    for step in 0..steps {
        let name: String = label(guided, step).chars().take(LABEL).collect();
        let (text, line) = (step * ROW + BAR - 6, step * ROW + BAR + THICK / 2);
        let _ = writeln!(
            page,
            "<text x=\"0\" y=\"{text}\" class=\"lane\">{}. {}</text><line x1=\"0\" x2=\"{width}\" y1=\"{line}\" \
             y2=\"{line}\" class=\"rule\"/>",
            step + 1,
            HtmlText(&name),
        );
    }
    let mut open: Option<(usize, usize, &'static str)> = None;
    // Of a direct execution, steps are under way side by side.
    let mut side_by_side: BTreeMap<usize, usize> = BTreeMap::new();
    // Drawn last, so that no bar covers them.
    let mut marks = String::new();
    for (place, entry) in story.entries.iter().take(drawn).enumerate() {
        match &entry.moment {
            Moment::Opened { step, .. } | Moment::ToolStarted { step, .. } => open = Some((*step, place, "work")),
            Moment::Escalated { .. } | Moment::ToolAsked { .. } => {
                if let Some(begun) = open {
                    bar(page, begun, place);
                    open = Some((begun.0, place, "waits"));
                }
            }
            Moment::Answered { .. } | Moment::ToolDecided { .. } => {
                if let Some(begun) = open {
                    bar(page, begun, place);
                    open = Some((begun.0, place, "work"));
                }
            }
            Moment::Closed { outcome, .. } => {
                ended(page, &mut marks, open.take(), place, outcome.word());
            }
            Moment::ToolEnded { end, .. } => {
                ended(page, &mut marks, open.take(), place, if end.result.is_ok() { "done" } else { "failed" });
            }
            Moment::Breached { breaches, .. } => {
                if let Some((step, ..)) = open {
                    let (x, y) = (MARGIN + place * COLUMN, step * ROW + BAR + THICK / 2);
                    let _ = writeln!(
                        marks,
                        "<path d=\"M{x} {} l6 11 h-12 z\" class=\"breach\"><title>{} breaches of the contract</title></path>",
                        y - 7,
                        breaches.len()
                    );
                }
            }
            Moment::StepStarted { step } => drop(side_by_side.insert(*step, place)),
            Moment::StepEnded { step, end } => {
                let begun = side_by_side.remove(step).unwrap_or(place);
                let word = if end.result.is_ok() { "done" } else { "failed" };
                ended(page, &mut marks, Some((*step, begun, "work")), place, word);
            }
            Moment::Interrupted { .. } | Moment::Taken { .. } => {
                for (step, begun) in std::mem::take(&mut side_by_side) {
                    bar(page, (step, begun, "work"), place);
                }
            }
            Moment::Begun(_)
            | Moment::Broke { .. }
            | Moment::Waits { .. }
            | Moment::LeftOut { .. }
            | Moment::Cancelled { .. } => {}
        }
    }
    let left = side_by_side.into_iter().map(|(step, begun)| (step, begun, "work"));
    for begun in open.into_iter().chain(left) {
        bar(page, begun, drawn);
    }
    page.push_str(&marks);
    page.push_str("</svg>\n</div>\n<p class=\"key\">Every event is as wide as the next, however long it took. <span class=\"work\"></span> a step is open <span class=\"waits\"></span> a person is awaited <span class=\"breach\">▲</span> a contract was not met · ✓ done · ✗ failed · – skipped</p>\n");
    if story.entries.len() > drawn {
        let _ = writeln!(page, "<p>The first {drawn} of {} entries are drawn.</p>", story.entries.len());
    }
}
