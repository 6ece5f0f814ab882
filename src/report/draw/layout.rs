//! Where the nodes of a picture stand from left to right, by Sugiyama's method: rows are given, and
//! in each row nodes are put in the order in which few edges cross.
//!
//! An edge that passes rows goes through one place in each of them. Edges that leave the same node
//! share these places, so that they run together for as long as they can.

use std::collections::{BTreeMap, BTreeSet};

use rust_sugiyama::configure::{Config, CrossingMinimization, RankingType};
use rust_sugiyama::from_vertices_and_edges;

use super::placing::placed;
use super::rows::Rows;
use super::{at, put};

/// The room between two nodes of a row, in pixels.
const BETWEEN: f64 = 28.0;
/// The width of a place where an edge passes a row.
const PASSING: f64 = 20.0;
/// The most places that are laid out with care: more of them would take seconds.
const MOST_PLACES: usize = 4_000;
/// Above this many places neighbours are not tried the other way round.
const MOST_SWAPPED: usize = 1_200;

/// Where everything stands from left to right.
#[derive(Debug, Default)]
pub(super) struct Across {
    /// The middle of each node.
    pub(super) middle: Vec<f64>,
    /// Where edges that leave a node pass a row, by node and row.
    pub(super) passing: BTreeMap<(usize, usize), f64>,
    /// How wide all of it is.
    pub(super) width: f64,
}

/// What stands in a row.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stands {
    Node(usize),
    Passing(usize, usize),
    /// Nothing that is seen: it holds a node in its row.
    Hidden,
}

impl Stands {
    /// How wide it is, with the room beside it.
    fn width(self, widths: &[f64]) -> f64 {
        match self {
            Self::Node(node) => at(widths, node) + BETWEEN,
            Self::Passing(..) => PASSING,
            Self::Hidden => 0.0,
        }
    }
}

/// Puts nodes of these widths in their rows.
pub(super) fn across(widths: &[f64], rows: &Rows, edges: &[(usize, usize)]) -> Across {
    let row = |node: usize| at(&rows.of, node);
    let down: Vec<(usize, usize)> =
        edges.iter().zip(&rows.down).filter(|(_, down)| **down).map(|(edge, _)| *edge).collect();
    let mut passing: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (from, to) in &down {
        passing.extend((row(*from) + 1..row(*to)).map(|row| (*from, row)));
    }
    let mut stands: Vec<Stands> = (0..widths.len()).map(Stands::Node).collect();
    stands.extend(passing.iter().map(|(from, row)| Stands::Passing(*from, *row)));
    let x = if stands.len() <= MOST_PLACES { with_care(widths, rows, &down, &mut stands) } else { Vec::new() };
    let mut in_row: Vec<Vec<(f64, usize)>> = vec![Vec::new(); rows.waves.len()];
    for (place, stands) in stands.iter().enumerate() {
        let row = match stands {
            Stands::Node(node) => row(*node),
            Stands::Passing(_, row) => *row,
            Stands::Hidden => continue,
        };
        in_row.get_mut(row).into_iter().for_each(|row| row.push((at(&x, place), place)));
    }
    let sort = |mut row: Vec<(f64, usize)>| {
        row.sort_by(|a, b| a.0.total_cmp(&b.0));
        row.into_iter().map(|(_, place)| place).collect()
    };
    let order: Vec<Vec<usize>> = in_row.into_iter().map(sort).collect();
    let places = stands.iter().map(|stands| (stands.width(widths), matches!(stands, Stands::Passing(..))));
    let x = placed(&order, &places.collect::<Vec<_>>(), &joined(&stands, rows, &down));
    let mut all = Across { middle: vec![0.0; widths.len()], ..Across::default() };
    let (mut left, mut right) = (f64::INFINITY, f64::NEG_INFINITY);
    for (stands, x) in stands.iter().zip(&x) {
        let half = match stands {
            Stands::Node(node) => at(widths, *node) / 2.0,
            Stands::Passing(..) => PASSING / 2.0,
            Stands::Hidden => continue,
        };
        (left, right) = (left.min(x - half), right.max(x + half));
    }
    for (stands, x) in stands.iter().zip(&x) {
        match stands {
            Stands::Node(node) => put(&mut all.middle, *node, x - left),
            Stands::Passing(from, row) => drop(all.passing.insert((*from, *row), x - left)),
            Stands::Hidden => {}
        }
    }
    all.width = (right - left).max(0.0);
    all
}

/// Which places are joined by a piece of an edge, each pair once, the upper place first.
fn joined(stands: &[Stands], rows: &Rows, down: &[(usize, usize)]) -> BTreeSet<(usize, usize)> {
    let row = |node: usize| at(&rows.of, node);
    let mut passing: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (place, stands) in stands.iter().enumerate() {
        if let Stands::Passing(from, row) = stands {
            passing.insert((*from, *row), place);
        }
    }
    let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (from, to) in down {
        let mut above = *from;
        for row in row(*from) + 1..row(*to) {
            let Some(place) = passing.get(&(*from, row)) else { continue };
            pairs.insert((above, *place));
            above = *place;
        }
        pairs.insert((above, *to));
    }
    pairs
}

/// The order from left to right by Sugiyama's method. A hidden node above all others keeps the picture in one
/// piece and nodes in their rows; what it needs for that is added to `stands`.
fn with_care(widths: &[f64], rows: &Rows, down: &[(usize, usize)], stands: &mut Vec<Stands>) -> Vec<f64> {
    let row = |node: usize| at(&rows.of, node);
    let mut pairs = joined(stands, rows, down);
    let led_to: BTreeSet<usize> = down.iter().map(|(_, to)| *to).collect();
    let mut column = vec![stands.len()];
    stands.push(Stands::Hidden);
    for node in (0..widths.len()).filter(|node| !led_to.contains(node)) {
        while column.len() <= row(node) {
            let place = stands.len();
            stands.push(Stands::Hidden);
            pairs.extend(column.last().map(|above| (*above, place)));
            column.push(place);
        }
        pairs.extend(column.get(row(node)).map(|above| (*above, node)));
    }
    let number = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
    let vertex = |(place, stands): (usize, &Stands)| (number(place), (stands.width(widths).max(1.0), 1.0));
    let vertices: Vec<(u32, (f64, f64))> = stands.iter().enumerate().map(vertex).collect();
    // The last is looked at first, and what is looked at first stands on the left.
    let pairs: Vec<(u32, u32)> = pairs.into_iter().rev().map(|(from, to)| (number(from), number(to))).collect();
    // All of it is said here: nothing may depend on who runs the program where.
    let config = Config {
        minimum_length: 1,
        vertex_spacing: 0.0,
        dummy_vertices: true,
        dummy_size: 1.0,
        ranking_type: RankingType::Up,
        c_minimization: CrossingMinimization::Barycenter,
        transpose: stands.len() <= MOST_SWAPPED,
    };
    let mut x = vec![0.0; stands.len()];
    // The places come in no order.
    let drawn = from_vertices_and_edges(&vertices, &pairs, &config);
    for (place, (across, _)) in drawn.into_iter().flat_map(|(all, ..)| all) {
        put(&mut x, place, across);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_a_row_never_overlap_and_one_below_another_stands_under_it() {
        let edges: Vec<(usize, usize)> = vec![(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4), (0, 4), (4, 5)];
        let rows = Rows::of(&[true; 7], &edges);
        let widths: [f64; 7] = [100.0, 200.0, 50.0, 120.0, 80.0, 90.0, 60.0];
        let all = across(&widths, &rows, &edges);
        for a in 0..widths.len() {
            for b in 0..a {
                if rows.of[a] == rows.of[b] {
                    let apart = (all.middle[a] - all.middle[b]).abs();
                    assert!(apart >= widths[a].midpoint(widths[b]), "{a} and {b}: {apart}");
                }
            }
            assert!(all.middle[a] >= widths[a] / 2.0 - 0.1 && all.middle[a] + widths[a] / 2.0 <= all.width + 0.1);
        }
        assert!((all.middle[4] - all.middle[5]).abs() < 1.0, "{all:?}");
        assert_eq!(all.passing.keys().collect::<Vec<_>>(), [&(0, 1)]);
    }

    #[test]
    fn a_graph_too_large_for_care_is_laid_out_all_the_same() {
        let edges: Vec<(usize, usize)> = (0..MOST_PLACES).map(|node| (node, node + 1)).collect();
        let rows = Rows::of(&vec![true; MOST_PLACES + 1], &edges);
        let all = across(&vec![100.0; MOST_PLACES + 1], &rows, &edges);
        assert!((all.width - 100.0).abs() < 0.1 && all.middle.iter().all(|x| (x - 50.0).abs() < 0.1), "{}", all.width);
    }
}
