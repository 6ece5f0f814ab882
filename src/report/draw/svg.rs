//! A picture as SVG that stands alone: no script, nothing loaded, light and dark by what the reader
//! prefers. Every text of the catalog is text.

use std::fmt::Write as _;

use super::drawing::{Card, Drawing, LINES, NUMBER, Note, PAD, SMALL, took};
use super::legend::{explained, key, placed};
use super::letters::Type;
use super::lines::{DrawnPieces, Line};
use super::ran::StepState;
use super::{LONGEST_LABEL, NodeShape, Picture};
use crate::names::{counted as count, shown};

use crate::report::markup::HtmlText;
use crate::validate::Severity;

/// How pictures look.
const STYLE: &str = include_str!("picture.css");
/// The room around everything.
const MARGIN: f64 = 24.0;
/// The room that the names of waves take, left of everything.
const WAVES: f64 = 58.0;
/// The room that the name of the flow takes.
const HEAD: f64 = 76.0;
/// A narrower picture would cut the name of the flow.
const NARROWEST: f64 = 420.0;
/// The most findings that are written below the picture.
const MOST_NOTES: usize = 8;
const NAME: Type = Type { size: 18.0, bold: true };
const FACTS: Type = Type { size: 12.5, bold: false };

/// How a picture is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It stands alone, with a name and an explanation.
    Alone,
    /// It is a part of a page that says these things; its nodes lead to what the page tells of them.
    InPage,
}

impl Picture<'_> {
    /// The graph as SVG.
    pub fn svg(&self) -> String {
        self.drawn(&Drawing::of(self), Use::Alone)
    }

    /// What stands below the flow's name.
    pub(super) fn facts(&self) -> String {
        let steps = self.flow.nodes.iter().filter(|node| node.runnable()).count();
        let mut facts = vec![count(steps, "step", "steps")];
        if let Some(plan) = self.plan {
            let waves = plan.steps().iter().map(|step| step.wave + 1).max().unwrap_or(0);
            facts.push(count(waves, "wave", "waves"));
            facts.push(count(plan.inputs().len(), "input", "inputs"));
        } else {
            facts.push("can't be executed".to_owned());
        }
        for (severity, one, many) in [(Severity::Error, "error", "errors"), (Severity::Warning, "warning", "warnings")]
        {
            let number = self.findings.iter().filter(|finding| finding.severity == severity).count();
            facts.extend((number > 0).then(|| count(number, one, many)));
        }
        facts.join(" · ")
    }

    /// How the run went, in words.
    pub(super) fn went(&self) -> Option<String> {
        let ran = self.ran?;
        let time = ran.millis.map(|millis| format!(" in {}", took(millis))).unwrap_or_default();
        // Those that stand beside it as the flow's steps, and not those within them.
        let own = || self.flow.nodes.iter().filter(|node| node.runnable()).map(|node| node.id.as_str());
        let states = StepState::ALL.map(|state| (ran.count(own(), state), state.word()));
        let states = states.iter().filter(|(number, _)| *number > 0).map(|(number, word)| format!("{number} {word}"));
        let words = format!("run: {}{time}", shown(&ran.status, LONGEST_LABEL));
        Some(std::iter::once(words).chain(states).collect::<Vec<_>>().join(" · "))
    }

    /// A drawing as SVG.
    pub(super) fn drawn(&self, drawing: &Drawing, how: Use) -> String {
        let alone = how == Use::Alone;
        // Without an order there are no waves.
        let in_waves = drawing.waves.len() > 1 && self.plan.is_some();
        let waves = if in_waves { WAVES } else { 0.0 };
        let notes: Vec<Note> = if alone { self.findings.iter().map(Note::of).collect() } else { Vec::new() };
        let key = if alone { key(drawing) } else { Vec::new() };
        let name = shown(self.flow.name.as_str(), LONGEST_LABEL);
        let facts: Vec<String> = std::iter::once(self.facts()).chain(self.went()).collect();
        let facts = facts.join("\u{2003}");
        let head = if alone { HEAD } else { 8.0 };
        let words = if alone { NAME.width(&name).max(FACTS.width(&facts)) } else { 0.0 };
        let least = if alone { NARROWEST } else { 0.0 };
        let width = (drawing.width + waves + 2.0 * MARGIN).max(words + 2.0 * MARGIN).max(least).ceil();
        let left = waves + ((width - waves) - drawing.width) / 2.0;
        let listed = notes.len().min(MOST_NOTES) + usize::from(notes.len() > MOST_NOTES);
        let below = head + drawing.height + MARGIN;
        let notes_end =
            below + if listed > 0 { 14.0 + 18.0 * f64::from(u32::try_from(listed).unwrap_or(0)) } else { 0.0 };
        let (key, key_height) = placed(&key, width - 2.0 * MARGIN);
        let height = (notes_end + key_height + if alone { 14.0 } else { 0.0 }).ceil();
        let role = if alone { "img" } else { "group" };
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flowy\" role=\"{role}\" aria-label=\"{}\" viewBox=\"0 0 {width} \
             {height}\" width=\"{width}\" height=\"{height}\">\n<style>\n{STYLE}</style>\n",
            HtmlText(&format!("The flow {name}: {facts}"))
        );
        if alone {
            let _ = writeln!(
                out,
                "<title>{0}</title>\n<rect class=\"page\" width=\"{width}\" height=\"{height}\" rx=\"10\"/>\n<text class=\"name\" \
                 x=\"{MARGIN}\" y=\"34\">{0}</text>\n<text class=\"facts\" x=\"{MARGIN}\" y=\"53\">{1}</text>",
                HtmlText(&name),
                HtmlText(&facts)
            );
        }
        if in_waves {
            for wave in &drawing.waves {
                let (top, tall) = (head + wave.top - 9.0, wave.height + 18.0);
                let _ = writeln!(
                    out,
                    "<rect class=\"wave\" x=\"10\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{tall:.1}\" rx=\"8\"/><text x=\"20\" \
                     y=\"{:.1}\">wave {}</text>",
                    width - 20.0,
                    top + tall / 2.0 + 4.0,
                    wave.number + 1
                );
            }
        }
        put(&mut out, drawing, (left, head), how);
        let mut y = below + 18.0;
        for note in notes.iter().take(MOST_NOTES) {
            let text = SMALL.cut(&note.text, width - 2.0 * MARGIN - 18.0);
            let word = note.severity.to_string();
            let _ = writeln!(
                out,
                "<circle class=\"{word}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\"/><text x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
                MARGIN + 4.0,
                y - 4.0,
                MARGIN + 16.0,
                HtmlText(&text)
            );
            y += 18.0;
        }
        if notes.len() > MOST_NOTES {
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{y:.1}\">and {} more findings</text>",
                MARGIN + 16.0,
                notes.len() - MOST_NOTES
            );
        }
        for (sign, words, x, line) in key {
            explained(&mut out, sign, words, (MARGIN + x, notes_end + 16.0 + 20.0 * line));
        }
        out.push_str("</svg>\n");
        out
    }
}

/// Everything of a drawing whose corner is here.
fn put(out: &mut String, drawing: &Drawing, (x, y): (f64, f64), how: Use) {
    let _ = writeln!(out, "<g transform=\"translate({x:.1} {y:.1})\">");
    // Within a page an edge is marked alone, and so it is there as a whole.
    let mut drawn = (how == Use::Alone).then(DrawnPieces::default);
    for line in &drawing.lines {
        put_line(out, line, &mut drawn);
    }
    for card in &drawing.cards {
        put_card(out, card, how);
    }
    // Above everything, so that no line crosses a text.
    for (line, label) in drawing.lines.iter().filter_map(|line| line.label.as_ref().map(|label| (line, label))) {
        let _ = writeln!(
            out,
            "<g class=\"tag\" data-from=\"{}\" data-to=\"{}\"><title>{}</title><rect class=\"plate\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"15\" rx=\"3\"/><text \
             class=\"label\" x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
            line.from,
            line.to,
            HtmlText(&label.whole),
            label.x - label.width / 2.0 - 3.0,
            label.y - 11.5,
            label.width + 6.0,
            label.x,
            label.y,
            HtmlText(&label.text)
        );
    }
    out.push_str("</g>\n");
}

fn put_line<'d>(out: &mut String, line: &'d Line, drawn: &mut Option<DrawnPieces<'d>>) {
    let (x, y) = line.end;
    let back = if line.back() { " back" } else { "" };
    let head = if line.back() { "l8 -4.5v9z" } else { "l-4.5 -8h9z" };
    let _ = writeln!(
        out,
        "<g class=\"edge {}{back}\" data-from=\"{}\" data-to=\"{}\"><path class=\"line\" d=\"{}\"/><path class=\"head\" \
         d=\"M{x:.1} {y:.1}{head}\"/></g>",
        line.look.word(),
        line.from,
        line.to,
        line.path(drawn)
    );
}

fn put_card(out: &mut String, card: &Card, how: Use) {
    let kind = card.shape.word();
    let was = card.ran.as_ref().map(|ran| format!(" was-{}", ran.state)).unwrap_or_default();
    let place = format!("transform=\"translate({:.1} {:.1})\"", card.left, card.top);
    let _ = match how {
        Use::Alone => writeln!(out, "<g class=\"card k-{kind}{was}\" data-id=\"{}\" {place}>", card.id),
        Use::InPage => writeln!(
            out,
            "<a class=\"card k-{kind}{was}\" id=\"n-{0}\" data-id=\"{0}\" href=\"#s-{0}\" {place}>",
            card.id
        ),
    };
    let tips = card.notes.iter().map(|note| note.text.as_str());
    let tips: Vec<&str> = card.ran.iter().filter_map(|ran| ran.why.as_deref()).chain(tips).collect();
    if !tips.is_empty() {
        let _ = writeln!(out, "<title>{}</title>", HtmlText(&tips.join("\n")));
    }
    let (width, height) = (card.width, card.height);
    outline(out, card.shape, (width, height));
    let mut y = PAD.1 + 12.0;
    let taken = if card.number.is_some() { NUMBER } else { 0.0 };
    if let Some(number) = card.number {
        let size = if number > 99 { " style=\"font-size:9px\"" } else { "" };
        let _ = writeln!(
            out,
            "<circle class=\"disc\" cx=\"{0:.1}\" cy=\"{1:.1}\" r=\"10\"/><text class=\"chip\"{size} x=\"{0:.1}\" y=\"{2:.1}\">{number}</text>",
            PAD.0 + 8.0,
            y - 5.0,
            y - 1.0
        );
    }
    for line in &card.title {
        let _ =
            writeln!(out, "<text class=\"title\" x=\"{:.1}\" y=\"{y:.1}\">{}</text>", PAD.0 + taken, HtmlText(line));
        y += LINES.0;
    }
    for line in &card.below {
        let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{y:.1}\">{}</text>", PAD.0, HtmlText(line));
        y += LINES.1;
    }
    if let Some(ran) = &card.ran {
        y += 3.0;
        let _ = writeln!(
            out,
            "<circle class=\"{}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"4.5\"/><text x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
            ran.state,
            PAD.0 + 4.5,
            y - 4.0,
            PAD.0 + 15.0,
            HtmlText(&ran.words)
        );
        let bar = ran.share * (width - 16.0);
        if bar >= 1.0 {
            let _ = writeln!(
                out,
                "<rect class=\"{}\" x=\"8\" y=\"{:.1}\" width=\"{bar:.1}\" height=\"2.5\" rx=\"1.2\"/>",
                ran.state,
                height - 5.0
            );
        }
    }
    if let Some(worst) = card.notes.iter().map(|note| note.severity).min() {
        let sign = format!("{}", card.notes.len());
        let _ = writeln!(
            out,
            "<circle class=\"{worst}\" cx=\"{0:.1}\" cy=\"2\" r=\"9.5\"/><text class=\"chip\" x=\"{0:.1}\" y=\"6\">{sign}</text>",
            width - 4.0
        );
    }
    if let Some(inner) = &card.inner {
        let (x, y) = card.inside();
        let _ = writeln!(
            out,
            "<rect class=\"inner\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"6\"/>",
            x - 9.0,
            y - 7.0,
            inner.width + 18.0,
            inner.height + 14.0
        );
        // A link within a link is none: the steps of a flow within lie above the card, not in it.
        if how == Use::Alone {
            put(out, inner, (x, y), how);
        } else {
            let _ = writeln!(out, "</a>");
            put(out, inner, (card.left + x, card.top + y), how);
            return;
        }
    }
    let _ = writeln!(out, "</{}>", if how == Use::Alone { "g" } else { "a" });
}

/// The shape of a node.
fn outline(out: &mut String, shape: NodeShape, (width, height): (f64, f64)) {
    let round = match shape {
        NodeShape::Input | NodeShape::Result => (height / 2.0).min(18.0),
        NodeShape::Template | NodeShape::Tool | NodeShape::Flow | NodeShape::Other => 7.0,
    };
    if matches!(shape, NodeShape::Flow) {
        // Another sheet behind it: there is more within.
        let _ = writeln!(
            out,
            "<rect class=\"box\" x=\"4\" y=\"4\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{round:.1}\"/>"
        );
    }
    let _ = writeln!(out, "<rect class=\"box\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{round:.1}\"/>");
    if matches!(shape, NodeShape::Tool) {
        let _ = writeln!(out, "<path class=\"box\" d=\"M6 0V{height:.1}M{0:.1} 0V{height:.1}\"/>", width - 6.0);
    }
}
