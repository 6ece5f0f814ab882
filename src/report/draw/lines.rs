//! How edges run: from card to card past what stands between them, and where their labels stand.

use std::collections::{BTreeMap, HashSet};
use std::fmt::{self, Write as _};

use super::drawing::{Card, SMALL, count};
use super::edges::{Drawn, EdgeLook};
use super::layout::Across;
use super::rows::Rows;
use super::{at, put};

/// The height of a label at an edge.
const LABEL: f64 = 17.0;
/// How far an edge runs straight before it ends.
const STRAIGHT: f64 = 13.0;
/// The widest label at an edge.
const WIDEST_LABEL: f64 = 150.0;
/// The room between edges that lead to one node.
const PORTS: f64 = 16.0;
/// The smallest bend that is drawn, across.
const BEND: f64 = 15.0;
/// How far an edge that leads back swings out.
pub(super) const SWING: f64 = 44.0;

/// An edge.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) look: EdgeLook,
    pub(super) way: Way,
    /// Where it ends.
    pub(super) end: (f64, f64),
    pub(super) label: Option<Label>,
}

/// How an edge runs.
#[derive(Debug)]
pub(super) enum Way {
    /// Downwards through these points: straight where the next one lies below, else in a curve.
    Down(Vec<(f64, f64)>),
    /// Upwards, where it closes a ring: from here to there, as far out as that.
    Back((f64, f64), (f64, f64), f64),
}

/// The pieces of edges that a picture has already, by where the edges come from and how they look.
#[derive(Debug, Default)]
pub(super) struct DrawnPieces<'d>(HashSet<(&'d str, EdgeLook, [u64; 4])>);

impl Line {
    /// Whether it leads upwards, and closes a ring.
    pub(super) fn back(&self) -> bool {
        matches!(self.way, Way::Back(..))
    }

    /// The commands of SVG's paths. Edges that leave one node run together: with `drawn`, what they share is
    /// drawn once.
    pub(super) fn path<'d>(&'d self, drawn: &mut Option<DrawnPieces<'d>>) -> String {
        let points = match &self.way {
            Way::Back((right, low), (left, high), out) => {
                return format!("M{right:.1} {low:.1}C{out:.1} {low:.1} {out:.1} {high:.1} {left:.1} {high:.1}");
            }
            Way::Down(points) => points,
        };
        let mut pieces = points.iter().zip(points.iter().skip(1)).peekable();
        if let Some(DrawnPieces(drawn)) = drawn {
            let fresh = |((x, y), (next, end)): &(&(f64, f64), &(f64, f64))| {
                (self.from.as_str(), self.look, [x, y, next, end].map(|number| number.to_bits()))
            };
            while pieces.next_if(|piece| drawn.contains(&fresh(piece))).is_some() {}
            drawn.extend(pieces.clone().map(|piece| fresh(&piece)));
        }
        let mut path = String::new();
        for ((x, y), (next, end)) in pieces {
            if path.is_empty() {
                let _ = write!(path, "M{} {}", Short(*x), Short(*y));
            }
            let (across, down) = (Short(next - x), Short(end - y));
            let half = Short((end - y) / 2.0);
            let _ = if across.0.abs() < 0.05 {
                write!(path, "v{down}")
            } else {
                write!(path, "c0 {half} {across} {half} {across} {down}")
            };
        }
        path
    }
}

/// A number to a tenth, in as few characters as that takes.
struct Short(f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.1}", self.0);
        f.write_str(text.strip_suffix(".0").unwrap_or(&text))
    }
}

/// The text at an edge; x is its middle, y its base line.
#[derive(Debug)]
pub(super) struct Label {
    pub(super) text: String,
    pub(super) whole: String,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
}

/// How edges run, worked out for all of them.
pub(super) struct Lines<'a> {
    rows: &'a Rows,
    passing: &'a BTreeMap<(usize, usize), f64>,
    /// The top and the bottom of each row.
    pub(super) tops: Vec<(f64, f64)>,
    /// Where each edge ends, from left to right.
    ports: Vec<f64>,
    /// For each edge with a label how far up it stands, from 0.
    levels: Vec<Option<usize>>,
    /// The room above each row that labels take.
    zones: Vec<f64>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(rows: &'a Rows, across: &'a Across, drawn: &[Drawn], cards: &[Card]) -> Self {
        let passing = &across.passing;
        let mut lines =
            Self { rows, passing, tops: Vec::new(), ports: Vec::new(), levels: Vec::new(), zones: Vec::new() };
        lines.plan(drawn, cards, &across.middle);
        lines
    }

    /// Says where edges end and how high their labels stand, so that no two cover each other.
    fn plan(&mut self, drawn: &[Drawn], cards: &[Card], middle: &[f64]) {
        let row = |node: usize| at(&self.rows.of, node);
        self.ports = drawn.iter().map(|edge| at(middle, edge.to)).collect();
        self.levels = vec![None; drawn.len()];
        self.zones = vec![0.0; self.rows.waves.len()];
        let mut into: BTreeMap<usize, Vec<(usize, &Drawn)>> = BTreeMap::new();
        for (place, edge) in drawn.iter().enumerate().filter(|(place, _)| at(&self.rows.down, *place)) {
            into.entry(edge.to).or_default().push((place, edge));
        }
        for (node, edges) in &mut into {
            let comes_from = |edge: &Drawn| {
                let above = row(*node).saturating_sub(1);
                self.passing.get(&(edge.from, above)).copied().unwrap_or_else(|| at(middle, edge.from))
            };
            edges.sort_by(|a, b| comes_from(a.1).total_cmp(&comes_from(b.1)).then(a.0.cmp(&b.0)));
            let width = cards.get(*node).map_or(0.0, |card| card.width);
            let labels = edges.iter().map(|(_, edge)| label_of(edge).1);
            let apart = PORTS.max(labels.fold(0.0, f64::max) + 12.0);
            let apart = apart.min((width - 36.0).max(0.0) / count(edges.len()));
            let first = at(middle, *node) - apart * (count(edges.len()) - 1.0) / 2.0;
            for (number, (place, _)) in edges.iter().enumerate() {
                put(&mut self.ports, *place, first + apart * count(number));
            }
        }
        let labelled = into.values().flatten().filter(|(_, edge)| !edge.label.is_empty());
        let mut labelled: Vec<(usize, usize, f64)> =
            labelled.map(|(place, edge)| (row(edge.to), *place, label_of(edge).1)).collect();
        let port = |place: usize| at(&self.ports, place);
        labelled.sort_by(|a, b| a.0.cmp(&b.0).then(port(a.1).total_cmp(&port(b.1))).then(a.1.cmp(&b.1)));
        let mut ends: Vec<f64> = Vec::new();
        let mut before = None;
        for (row, place, width) in labelled {
            if before != Some(row) {
                ends.clear();
                before = Some(row);
            }
            let (left, right) = (port(place) - width / 2.0 - 4.0, port(place) + width / 2.0 + 4.0);
            let level = ends.iter().position(|end| *end <= left).unwrap_or(ends.len());
            match ends.get_mut(level) {
                Some(end) => *end = right,
                None => ends.push(right),
            }
            put(&mut self.levels, place, Some(level));
            let zone = self.zone(row).max(LABEL * count(level + 1));
            put(&mut self.zones, row, zone);
        }
    }

    /// The room above a row that labels take.
    pub(super) fn zone(&self, row: usize) -> f64 {
        at(&self.zones, row)
    }

    pub(super) fn line(&self, place: usize, edge: &Drawn, cards: &[Card]) -> Option<Line> {
        let (from, to) = (cards.get(edge.from)?, cards.get(edge.to)?);
        let of = |way: Way, end: (f64, f64), label: Option<Label>| Line {
            from: from.id.clone(),
            to: to.id.clone(),
            look: edge.look,
            way,
            end,
            label,
        };
        if !at(&self.rows.down, place) {
            let (right, left) = (from.left + from.width, to.left + to.width);
            let out = right.max(left) + SWING;
            let apart = if edge.from == edge.to { to.height.min(40.0) / 4.0 } else { 0.0 };
            let (low, high) = (from.middle().1 + apart, to.middle().1 - apart);
            return Some(of(Way::Back((right, low), (left + 7.0, high), out), (left, high), None));
        }
        let (first, last) = (*self.rows.of.get(edge.from)?, *self.rows.of.get(edge.to)?);
        let port = self.ports.get(place).copied()?;
        let (mut x, mut y) = (from.middle().0, self.tops.get(first)?.1);
        let mut points = vec![rounded((x, from.top + from.height))];
        add(&mut points, (x, y));
        for row in first + 1..=last {
            let (top, bottom) = *self.tops.get(row)?;
            let (next, end) = if row == last {
                (port, top - self.zone(row) - STRAIGHT)
            } else {
                let next = self.passing.get(&(edge.from, row)).copied()?;
                // A bend that small looks like a mistake.
                (if row + 1 == last && (next - port).abs() < BEND { port } else { next }, top)
            };
            (x, y) = (if (next - x).abs() < 0.5 { x } else { next }, end);
            add(&mut points, (x, y));
            if row < last {
                y = bottom;
                add(&mut points, (x, y));
            }
        }
        add(&mut points, (x, to.top - 7.0));
        let label = at(&self.levels, place).map(|level| {
            let (text, width) = label_of(edge);
            let top = self.tops.get(last).map_or(y, |(top, _)| *top);
            Label { text, whole: edge.label.clone(), x, y: top - STRAIGHT - LABEL * count(level), width }
        });
        Some(of(Way::Down(points), (x, to.top), label))
    }
}

/// Goes on to a point; what runs straight on is one piece.
fn add(points: &mut Vec<(f64, f64)>, point: (f64, f64)) {
    let point = rounded(point);
    let below = |other: &(f64, f64)| (other.0 - point.0).abs() < 0.05;
    if points.iter().rev().take(2).filter(|other| below(other)).count() == 2 {
        points.pop();
    }
    points.push(point);
}

/// A point to a tenth of a pixel: beyond that nothing is seen.
fn rounded((x, y): (f64, f64)) -> (f64, f64) {
    ((x * 10.0).round() / 10.0, (y * 10.0).round() / 10.0)
}

/// What is written at an edge, and how wide it is.
fn label_of(edge: &Drawn) -> (String, f64) {
    let text = SMALL.cut(&edge.label, WIDEST_LABEL);
    let width = SMALL.width(&text);
    (text, width)
}
