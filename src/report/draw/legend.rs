//! What explains a picture: the kinds of nodes, edges and marks that it has.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::NodeShape;
use super::drawing::{Drawing, SMALL};
use super::edges::EdgeLook;
use super::ran::StepState;
use crate::report::markup::HtmlText;

/// What the explanation below a picture shows beside its words.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sign {
    Kind(NodeShape),
    Edge(EdgeLook),
    Back,
    Dot(&'static str),
}

/// What there is to explain: the kinds of nodes, edges and marks that the drawing has.
pub(super) fn key(drawing: &Drawing) -> Vec<(Sign, &'static str)> {
    let cards = drawing.all_cards();
    let lines = drawing.all_lines();
    let mut key: Vec<(Sign, &'static str)> = Vec::new();
    for shape in NodeShape::ALL {
        if cards.iter().any(|card| card.shape.word() == shape.word()) {
            key.push((Sign::Kind(shape), shape.look().words));
        }
    }
    let looks: BTreeSet<EdgeLook> = lines.iter().map(|line| line.look).collect();
    for look in looks {
        let words = match look {
            EdgeLook::Plain => "edge",
            EdgeLook::Order => "order only",
            EdgeLook::Value => "a value goes along",
            EdgeLook::Mapping => "mapped",
            EdgeLook::Handle => "mapped by targetHandle",
        };
        key.push((Sign::Edge(look), words));
    }
    if lines.iter().any(|line| line.back()) {
        key.push((Sign::Back, "closes a ring"));
    }
    for state in StepState::WORDS {
        if cards.iter().any(|card| card.ran.as_ref().is_some_and(|ran| ran.state == state)) {
            key.push((Sign::Dot(state), state));
        }
    }
    key
}

impl Drawing {
    /// What explains the picture, for a page.
    pub(super) fn legend(&self) -> String {
        let mut out = String::new();
        for (sign, words) in key(self) {
            out.push_str("<span><svg class=\"flowy\" width=\"28\" height=\"16\" aria-hidden=\"true\">");
            signed(&mut out, sign, (1.0, 12.0));
            let _ = write!(out, "</svg>{}</span>", HtmlText(words));
        }
        out
    }
}

/// What explains the picture, each with where it begins and in which line, and the height of all lines.
pub(super) fn placed(key: &[(Sign, &'static str)], width: f64) -> (Vec<(Sign, &'static str, f64, f64)>, f64) {
    let (mut x, mut line) = (0.0, 0.0);
    let mut placed = Vec::with_capacity(key.len());
    for (sign, words) in key {
        let wide = 32.0 + SMALL.width(words) + 16.0;
        if x > 0.0 && x + wide > width {
            (x, line) = (0.0, line + 1.0);
        }
        placed.push((*sign, *words, x, line));
        x += wide;
    }
    let height = if placed.is_empty() { 0.0 } else { 20.0 * (line + 1.0) + 4.0 };
    (placed, height)
}

pub(super) fn explained(out: &mut String, sign: Sign, words: &str, (x, y): (f64, f64)) {
    signed(out, sign, (x, y));
    let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{y:.1}\">{}</text>", x + 31.0, HtmlText(words));
}

fn signed(out: &mut String, sign: Sign, (x, y): (f64, f64)) {
    let middle = y - 4.0;
    let _ = match sign {
        Sign::Kind(shape) => writeln!(
            out,
            "<g class=\"k-{}\"><rect class=\"box\" x=\"{:.1}\" y=\"{:.1}\" width=\"18\" height=\"12\" rx=\"{}\"/></g>",
            shape.word(),
            x + 4.0,
            middle - 6.0,
            if matches!(shape, NodeShape::Input | NodeShape::Result) { 6 } else { 3 }
        ),
        Sign::Edge(look) => writeln!(
            out,
            "<g class=\"{}\"><path class=\"line\" d=\"M{x:.1} {middle:.1}h17\"/><path class=\"head\" d=\"M{:.1} {middle:.1}l-8 \
             -4.5v9z\"/></g>",
            look.word(),
            x + 25.0
        ),
        Sign::Back => writeln!(out, "<g class=\"back\"><path class=\"line\" d=\"M{x:.1} {middle:.1}h24\"/></g>"),
        Sign::Dot(state) => {
            writeln!(out, "<circle class=\"{state}\" cx=\"{:.1}\" cy=\"{middle:.1}\" r=\"4.5\"/>", x + 18.0)
        }
    };
}
