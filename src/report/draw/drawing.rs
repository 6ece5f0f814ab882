//! A picture with its measures: cards for nodes, rows for waves. What they look
//! like is not known here.

use super::edges::{edges, numbers};
use super::layout::across;
use super::letters::Type;
use super::lines::{Line, Lines, SWING};
use super::ran::{Ran, StepRan};
use super::rows::Rows;
use super::{LONGEST_LABEL, NodeShape, Picture, ids};
use crate::model::{ModelWish, Node, NodeKind};
use crate::names::shown;
use crate::plan::{Rendering, Work};
use crate::report::human;
use crate::validate::{Finding, Severity};

/// The name of a node.
pub(super) const TITLE: Type = Type { size: 13.5, bold: true };
/// What stands below it.
pub(super) const SMALL: Type = Type { size: 11.5, bold: false };
/// From one line of a card to the next, for its name and for what stands below.
pub(super) const LINES: (f64, f64) = (17.0, 15.5);
/// The room around the text of a card, across and down.
pub(super) const PAD: (f64, f64) = (14.0, 10.0);
/// The room that a step's number takes before its name.
pub(super) const NUMBER: f64 = 27.0;
/// The widest text in a card.
const WIDEST: f64 = 205.0;
/// The narrowest card.
const NARROWEST: f64 = 96.0;
/// The room between two rows.
const GAP: f64 = 46.0;
/// The room around what stands within a card.
const WITHIN: f64 = 16.0;

/// A picture with its measures, in pixels.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) cards: Vec<Card>,
    pub(super) lines: Vec<Line>,
    pub(super) waves: Vec<Wave>,
}

/// The row of a wave.
#[derive(Debug)]
pub(super) struct Wave {
    /// From 0.
    pub(super) number: usize,
    pub(super) top: f64,
    pub(super) height: f64,
}

/// A node.
#[derive(Debug)]
pub(super) struct Card {
    pub(super) id: String,
    pub(super) shape: NodeShape,
    /// A step's number, from 1.
    pub(super) number: Option<usize>,
    pub(super) title: Vec<String>,
    pub(super) below: Vec<String>,
    pub(super) ran: Option<CardRan>,
    pub(super) notes: Vec<Note>,
    /// The steps of the flow that it is.
    pub(super) inner: Option<Box<Drawing>>,
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// How a step went, as far as it is drawn.
#[derive(Debug)]
pub(super) struct CardRan {
    pub(super) state: &'static str,
    pub(super) words: String,
    /// Its time as a part of the longest time of a step, from 0 to 1.
    pub(super) share: f64,
    pub(super) why: Option<String>,
}

/// A finding.
#[derive(Debug, Clone)]
pub(super) struct Note {
    pub(super) severity: Severity,
    pub(super) text: String,
}

impl Note {
    pub(super) fn of(finding: &Finding) -> Self {
        let text = format!("{}[{}] {}", finding.severity, finding.rule, shown(&finding.message, 300));
        Self { severity: finding.severity, text }
    }
}

impl Drawing {
    pub(super) fn of(picture: &Picture<'_>) -> Self {
        let longest = picture.ran.into_iter().flat_map(|ran| ran.steps.values()).filter_map(|step| step.millis);
        let longest = longest.fold(0.0, f64::max);
        Self::within(picture, "", "", longest)
    }

    /// `prefix` is before each id of the picture, `path` before each id of a node in a run.
    fn within(picture: &Picture<'_>, prefix: &str, path: &str, longest: f64) -> Self {
        let drawn = edges(picture);
        let ends: Vec<(usize, usize)> = drawn.iter().map(|edge| (edge.from, edge.to)).collect();
        let steps: Vec<bool> = picture.flow.nodes.iter().map(Node::runnable).collect();
        let rows = Rows::of(&steps, &ends);
        let names = ids(picture.flow, prefix);
        let nodes = picture.flow.nodes.iter().zip(names).enumerate();
        let mut cards: Vec<Card> =
            nodes.map(|(number, (node, id))| Card::of(picture, (number, node), id, path, longest)).collect();
        // Of several nodes of one id the first is the one that findings are about.
        let numbers = numbers(picture.flow);
        for finding in picture.findings.iter().filter(|finding| finding.file == picture.flow.file) {
            let number = finding.node.as_deref().and_then(|node| numbers.get(node).copied());
            if let Some(card) = number.and_then(|number| cards.get_mut(number)) {
                card.notes.push(Note::of(finding));
            }
        }
        let widths: Vec<f64> = cards.iter().map(|card| card.width).collect();
        let all = across(&widths, &rows, &ends);
        let mut drawing = Self { width: all.width, ..Self::default() };
        let mut lines = Lines::of(&rows, &all, &drawn, &cards);
        for (card, middle) in cards.iter_mut().zip(&all.middle) {
            card.left = middle - card.width / 2.0;
        }
        let mut top = 0.0;
        for (row, wave) in rows.waves.iter().enumerate() {
            let zone = lines.zone(row);
            if row > 0 {
                top += GAP + zone;
            }
            let in_row = || rows.of.iter().enumerate().filter(|(_, own)| **own == row).map(|(node, _)| node);
            let height = in_row().filter_map(|node| cards.get(node)).map(|card| card.height).fold(0.0, f64::max);
            for node in in_row() {
                if let Some(card) = cards.get_mut(node) {
                    card.top = top + (height - card.height) / 2.0;
                }
            }
            if let Some(number) = wave {
                drawing.waves.push(Wave { number: *number, top, height });
            }
            lines.tops.push((top, top + height));
            top += height;
        }
        drawing.height = top;
        drawing.lines = drawn.iter().enumerate().filter_map(|(place, edge)| lines.line(place, edge, &cards)).collect();
        if drawing.lines.iter().any(Line::back) {
            drawing.width += SWING;
        }
        drawing.cards = cards;
        drawing
    }

    /// The cards, those within others too.
    pub(super) fn all_cards(&self) -> Vec<&Card> {
        let mut all = Vec::new();
        for card in &self.cards {
            all.push(card);
            all.extend(card.inner.as_deref().map(Self::all_cards).unwrap_or_default());
        }
        all
    }

    /// The edges, those within cards too.
    pub(super) fn all_lines(&self) -> Vec<&Line> {
        let inner = self.cards.iter().filter_map(|card| card.inner.as_deref());
        self.lines.iter().chain(inner.flat_map(Self::all_lines)).collect()
    }
}

impl Card {
    fn of(picture: &Picture<'_>, (number, node): (usize, &Node), id: String, path: &str, longest: f64) -> Self {
        let shape = NodeShape::of(node);
        let step = picture.plan.and_then(|plan| plan.steps().iter().position(|step| step.node == number));
        let taken = if step.is_some() { NUMBER } else { 0.0 };
        let title = TITLE.lines(&shown(node.caption(), LONGEST_LABEL), WIDEST - taken, 2);
        let most = if matches!(node.kind, NodeKind::Input(_)) { 5 } else { 2 };
        let below: Vec<String> =
            about(picture, number, node).iter().flat_map(|text| SMALL.lines(text, WIDEST, most)).collect();
        let ran = picture
            .ran
            .filter(|_| node.runnable())
            .and_then(|ran| CardRan::of(ran, &format!("{path}{}", node.id), longest));
        let inner = picture.within(number).map(|inner| {
            // What was found in another flow is told where that flow is looked at.
            let inner = Picture { ran: picture.ran, ..inner };
            Box::new(Drawing::within(&inner, &format!("{id}__"), &format!("{path}{}/", node.id), longest))
        });
        let widest = |lines: &[String], set: Type| lines.iter().map(|line| set.width(line)).fold(0.0, f64::max);
        let mut width = (widest(&title, TITLE) + taken).max(widest(&below, SMALL));
        let mut height = 2.0 * PAD.1 + count(title.len()) * LINES.0 + count(below.len()) * LINES.1 - 3.0;
        if let Some(ran) = &ran {
            width = width.max(SMALL.width(&ran.words) + 16.0);
            height += LINES.1 + 4.0;
        }
        width = (width + 2.0 * PAD.0).max(NARROWEST);
        if let Some(inner) = &inner {
            width = width.max(inner.width + 2.0 * WITHIN);
            height += inner.height + WITHIN;
        }
        let number = step.map(|step| step + 1);
        Self {
            id,
            shape,
            number,
            title,
            below,
            ran,
            notes: Vec::new(),
            inner,
            left: 0.0,
            top: 0.0,
            width: width.ceil(),
            height: height.ceil(),
        }
    }

    /// Where what stands within it begins, from its own corner.
    pub(super) fn inside(&self) -> (f64, f64) {
        let inner = self.inner.as_deref();
        let (width, height) = inner.map_or((0.0, 0.0), |inner| (inner.width, inner.height));
        ((self.width - width) / 2.0, self.height - height - WITHIN)
    }

    pub(super) fn middle(&self) -> (f64, f64) {
        (self.left + self.width / 2.0, self.top + self.height / 2.0)
    }
}

/// A small number as a measure.
pub(super) fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::from(u32::MAX), f64::from)
}

impl CardRan {
    fn of(ran: &Ran, id: &str, longest: f64) -> Option<Self> {
        let StepRan { state, millis, why, .. } = ran.steps.get(id)?;
        let time = millis.map(|millis| format!(" · {}", took(millis))).unwrap_or_default();
        let share = millis.filter(|_| longest > 0.0).map_or(0.0, |millis| (millis / longest).clamp(0.0, 1.0));
        let words = format!("{}{time}", state.word());
        Some(Self { state: state.word(), words, share, why: why.as_deref().map(|why| shown(why, 300)) })
    }
}

/// A time in words, from milliseconds.
pub(super) fn took(millis: f64) -> String {
    human::time(std::time::Duration::try_from_secs_f64(millis / 1000.0).unwrap_or_default())
}

/// What a node does, where its name doesn't say it.
fn about(picture: &Picture<'_>, number: usize, node: &Node) -> Vec<String> {
    let step = picture.plan.and_then(|plan| plan.steps().iter().find(|step| step.node == number));
    let said = |text: &str| alike(text, node.caption());
    let text = |text: &str| shown(text, LONGEST_LABEL);
    match (&node.kind, step.map(|step| &step.work)) {
        (NodeKind::Template(_), Some(Work::Render(rendering))) => of_text(rendering, &said),
        (NodeKind::Template(template), _) => {
            template.selected.iter().filter(|name| !said(name)).map(|name| format!("template {}", text(name))).collect()
        }
        (NodeKind::Tool(tool), _) => tool.call.iter().map(|call| format!("calls {}", text(call))).collect(),
        (NodeKind::Flow(link), _) => {
            link.flow.iter().filter(|name| !said(name)).map(|flow| format!("flow {}", text(flow))).collect()
        }
        (NodeKind::Input(input), _) => {
            let names: Vec<String> = input.variables.iter().map(|variable| text(&variable.name)).collect();
            if names.is_empty() { Vec::new() } else { vec![names.join(", ")] }
        }
        (NodeKind::Other(kind), _) => vec![text(kind)],
        (NodeKind::Result, _) => Vec::new(),
    }
}

/// Of a step with a text: the template it is in, and who answers it in which shape.
fn of_text(rendering: &Rendering, said: &dyn Fn(&str) -> bool) -> Vec<String> {
    let text = |text: &str| shown(text, LONGEST_LABEL);
    let named = rendering.template_file.is_some() && !said(&rendering.template_name);
    let template = named.then(|| format!("template {}", text(&rendering.template_name)));
    let persona = rendering.persona.as_deref().map(|name| format!("persona {}", text(name)));
    let model = rendering.asks.wish.as_ref().filter(|_| rendering.asks.own).and_then(|wish| match wish {
        ModelWish::Model(model) => model.name.as_deref().map(|name| format!("model {}", text(name))),
        ModelWish::Nobody => None,
    });
    let contract = rendering.contract.as_ref().map(|contract| {
        contract.as_str().map_or_else(|| "contract".to_owned(), |name| format!("contract {}", text(name)))
    });
    let more: Vec<String> = [persona, model, contract].into_iter().flatten().collect();
    template.into_iter().chain((!more.is_empty()).then(|| more.join(" · "))).collect()
}

/// Whether two names differ in their spelling alone: `Brand_Positioning` and `Brand positioning`.
fn alike(a: &str, b: &str) -> bool {
    let letters =
        |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    letters(a) == letters(b)
}
