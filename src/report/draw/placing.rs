//! Where places stand once their order in each row is known: as near to what they are joined with as
//! their neighbours allow, and no wider than that needs.
//!
//! Sugiyama's last phase keeps long lines straight whatever it costs in width; a flow of 200 steps gets
//! five times as wide as its widest row. Here every row is the nearest to what it would like to be.

use std::collections::{BTreeSet, HashMap};

use super::{at, put};

/// How often rows are placed anew: after that nothing is seen to move.
const SWEEPS: usize = 24;

/// What each place is joined with: the other place and how much that counts.
type Joined = HashMap<usize, Vec<(usize, f64)>>;

/// The middles of places, given their order in each row, the width of each and whether a line passes there,
/// and the pairs that are joined, the upper place first.
pub(super) fn placed(order: &[Vec<usize>], places: &[(f64, bool)], pairs: &BTreeSet<(usize, usize)>) -> Vec<f64> {
    let passes = |place: usize| at(places, place).1;
    let width = |place: usize| at(places, place).0;
    let (mut above, mut below) = (Joined::new(), Joined::new());
    for (upper, lower) in pairs {
        // A long line is to be straight, whatever becomes of its ends.
        let counts = match (passes(*upper), passes(*lower)) {
            (true, true) => 8.0,
            (true, false) | (false, true) => 2.0,
            (false, false) => 1.0,
        };
        above.entry(*lower).or_default().push((*upper, counts));
        below.entry(*upper).or_default().push((*lower, counts));
    }
    let mut x = vec![0.0; places.len()];
    for row in order {
        let all: f64 = row.iter().map(|place| width(*place)).sum();
        let mut left = -all / 2.0;
        for place in row {
            put(&mut x, *place, left + width(*place) / 2.0);
            left += width(*place);
        }
    }
    for sweep in 0..SWEEPS {
        let (downwards, last) = (sweep % 2 == 0, sweep + 4 >= SWEEPS);
        for number in 0..order.len() {
            let Some(row) = order.get(if downwards { number } else { order.len() - 1 - number }) else { continue };
            let wish = |place: &usize| {
                let near = |of: &Joined, wanted| of.get(place).filter(|_| wanted).cloned().unwrap_or_default();
                let near = [near(&above, downwards || last), near(&below, !downwards || last)].concat();
                let counts: f64 = near.iter().map(|(_, counts)| counts).sum();
                let sum: f64 = near.iter().map(|(other, counts)| at(&x, *other) * counts).sum();
                if counts > 0.0 { (sum / counts, counts) } else { (at(&x, *place), 0.05) }
            };
            let wishes: Vec<(f64, f64)> = row.iter().map(wish).collect();
            let widths: Vec<f64> = row.iter().map(|place| width(*place)).collect();
            for (place, wished) in row.iter().zip(nearest(&wishes, &widths)) {
                put(&mut x, *place, wished);
            }
        }
    }
    straighten(order, places, &below, &mut x);
    // Beyond a tenth of a pixel nothing is seen.
    x.iter().map(|x| (x * 10.0).round() / 10.0).collect()
}

/// The middles nearest to what is wished (each with how much it counts) at which nothing overlaps: the least
/// squares under an order, by joining neighbours that would change places.
fn nearest(wishes: &[(f64, f64)], widths: &[f64]) -> Vec<f64> {
    // From the beginning of the row to a place's middle, if all stand close together.
    let mut offsets = Vec::with_capacity(widths.len());
    let mut left = 0.0;
    for width in widths {
        offsets.push(left + width / 2.0);
        left += width;
    }
    // Blocks of places that stand close together: where the row would begin, how much that counts, how many.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for ((wish, counts), offset) in wishes.iter().zip(&offsets) {
        let mut block = (wish - offset, *counts, 1);
        while let Some(before) = blocks.last().copied().filter(|before| before.0 > block.0) {
            let counts = before.1 + block.1;
            block = ((before.0 * before.1 + block.0 * block.1) / counts, counts, before.2 + block.2);
            blocks.pop();
        }
        blocks.push(block);
    }
    let begins = blocks.into_iter().flat_map(|(begin, _, number)| std::iter::repeat_n(begin, number));
    begins.zip(offsets).map(|(begin, offset)| begin + offset).collect()
}

/// Makes the pieces of a line that passes several rows one straight line, as far as its neighbours leave room.
fn straighten(order: &[Vec<usize>], places: &[(f64, bool)], below: &Joined, x: &mut [f64]) {
    let passes = |place: usize| at(places, place).1;
    let width = |place: usize| at(places, place).0;
    let mut stands = vec![(0, 0); places.len()];
    for (row, places) in order.iter().enumerate() {
        for (column, place) in places.iter().enumerate() {
            put(&mut stands, *place, (row, column));
        }
    }
    let next = |place: usize| below.get(&place)?.iter().map(|(other, _)| *other).find(|other| passes(*other));
    let mut begun = vec![false; places.len()];
    for start in order.iter().flatten().copied().filter(|place| passes(*place)) {
        let mut line = Vec::new();
        let mut here = Some(start);
        while let Some(place) = here.filter(|place| begun.get(*place) == Some(&false)) {
            put(&mut begun, place, true);
            line.push(place);
            here = next(place);
        }
        let room = |place: usize, x: &[f64]| {
            let (row, column) = at(&stands, place);
            let neighbour = |column: Option<usize>| column.and_then(|column| order.get(row)?.get(column)).copied();
            let edge = |other: usize, side: f64| at(x, other) + side * (width(other) + width(place)) / 2.0;
            let low = neighbour(column.checked_sub(1)).map_or(f64::NEG_INFINITY, |other| edge(other, 1.0));
            let high = neighbour(column.checked_add(1)).map_or(f64::INFINITY, |other| edge(other, -1.0));
            (low, high)
        };
        while !line.is_empty() {
            let (mut low, mut high, mut length) = (f64::NEG_INFINITY, f64::INFINITY, 0);
            for place in &line {
                let (left, right) = room(*place, x);
                if low.max(left) > high.min(right) {
                    break;
                }
                (low, high, length) = (low.max(left), high.min(right), length + 1);
            }
            let length = length.max(1);
            let piece: Vec<usize> = line.drain(..length).collect();
            let sum: f64 = piece.iter().filter_map(|place| x.get(*place)).sum();
            let middle = sum / f64::from(u32::try_from(piece.len()).unwrap_or(u32::MAX));
            if low <= high && piece.len() > 1 {
                for place in piece {
                    put(x, place, middle.max(low).min(high));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stand_where_they_wish_unless_they_would_overlap() {
        assert_eq!(nearest(&[(0.0, 1.0), (100.0, 1.0)], &[10.0, 10.0]), [0.0, 100.0]);
        assert_eq!(nearest(&[(50.0, 1.0), (50.0, 1.0)], &[10.0, 10.0]), [45.0, 55.0]);
        assert_eq!(nearest(&[(50.0, 3.0), (40.0, 1.0), (90.0, 1.0)], &[10.0, 10.0, 10.0]), [45.0, 55.0, 90.0]);
    }

    #[test]
    fn a_line_that_passes_rows_is_straight() {
        // 0 leads to 2 beside 1, and through 3 and 4 to 5.
        let order = [vec![0], vec![1, 3], vec![2, 4], vec![5]];
        let places = [(100.0, false), (140.0, false), (80.0, false), (20.0, true), (20.0, true), (100.0, false)];
        let pairs = BTreeSet::from([(0, 1), (1, 2), (0, 3), (3, 4), (4, 5), (2, 5)]);
        let x = placed(&order, &places, &pairs);
        assert!((x[3] - x[4]).abs() < 0.05 && x[3] - x[1] >= 79.9, "{x:?}");
    }
}
