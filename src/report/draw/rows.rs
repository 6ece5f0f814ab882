//! Which row of a picture each node stands in: steps of one wave share a row, and whatever a node
//! waits for stands above it. Also of a graph that goes round in a ring.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{at, put};

/// The rows of a graph.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// For each node its row, from 0 at the top.
    pub(super) of: Vec<usize>,
    /// For each edge whether it leads downwards. The others close a ring.
    pub(super) down: Vec<bool>,
    /// The wave of each row that has steps, from 0.
    pub(super) waves: Vec<Option<usize>>,
}

impl Rows {
    /// The rows of `steps.len()` nodes; a node where `steps` is false passes order on and has no wave.
    pub(super) fn of(steps: &[bool], edges: &[(usize, usize)]) -> Self {
        let count = steps.len();
        let (order, down) = downwards(count, edges);
        let mut before: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut below: HashMap<usize, Vec<usize>> = HashMap::new();
        for ((from, to), _) in edges.iter().zip(&down).filter(|(_, down)| **down) {
            before.entry(*to).or_default().push(*from);
            below.entry(*from).or_default().push(*to);
        }
        let parents = |node: usize| before.get(&node).into_iter().flatten().copied();
        let is_step = |node: usize| at(steps, node);
        // Of a step its wave; of another node the wave that what follows it has at the least.
        let mut wave = vec![0_usize; count];
        for node in &order {
            let least = parents(*node).map(|parent| at(&wave, parent) + usize::from(is_step(parent))).max();
            put(&mut wave, *node, least.unwrap_or(0));
        }
        let mut by_wave: BTreeMap<usize, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for node in order {
            let (others, steps) = by_wave.entry(at(&wave, node)).or_default();
            if is_step(node) { steps.push(node) } else { others.push(node) }
        }
        let mut of = vec![0_usize; count];
        let under = |of: &[usize], node: usize| parents(node).map(|parent| at(of, parent) + 1).max().unwrap_or(0);
        let mut next = 0;
        let mut wave_of: HashMap<usize, usize> = HashMap::new();
        for (number, (others, steps)) in by_wave {
            for node in others {
                let row = under(&of, node);
                put(&mut of, node, row);
            }
            let Some(row) = steps.iter().map(|node| under(&of, *node)).max() else { continue };
            let row = row.max(next);
            for node in steps {
                put(&mut of, node, row);
            }
            wave_of.insert(row, number);
            next = row + 1;
        }
        // What nothing leads to stands right above what it leads to.
        for node in (0..count).filter(|node| !is_step(*node) && !before.contains_key(node)) {
            if let Some(nearest) = below.get(&node).into_iter().flatten().map(|child| at(&of, *child)).min() {
                put(&mut of, node, nearest.saturating_sub(1));
            }
        }
        let used: Vec<usize> = of.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        for row in &mut of {
            *row = used.partition_point(|other| *other < *row);
        }
        Self { of, down, waves: used.iter().map(|row| wave_of.get(row).copied()).collect() }
    }
}

/// The nodes in an order in which every edge leads onwards, but for those that close a ring; and whether each edge
/// does.
fn downwards(count: usize, edges: &[(usize, usize)]) -> (Vec<usize>, Vec<bool>) {
    #[derive(Clone, Copy, Default)]
    enum Seen {
        #[default]
        No,
        Above,
        Done,
    }
    let led_to: HashSet<usize> = edges.iter().map(|(_, to)| *to).collect();
    let mut after: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
    for (place, (from, to)) in edges.iter().enumerate() {
        after.entry(*from).or_default().push((place, *to));
    }
    let mut down = vec![true; edges.len()];
    let mut seen = vec![Seen::No; count];
    let mut order = Vec::with_capacity(count);
    for start in (0..count).filter(|node| !led_to.contains(node)).chain(0..count) {
        if !matches!(at(&seen, start), Seen::No) {
            continue;
        }
        // By hand, because a long chain would end the process.
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        put(&mut seen, start, Seen::Above);
        while let Some((node, next)) = path.last_mut() {
            let Some((edge, to)) = after.get(node).and_then(|list| list.get(*next)).copied() else {
                order.push(*node);
                put(&mut seen, *node, Seen::Done);
                path.pop();
                continue;
            };
            *next += 1;
            match at(&seen, to) {
                Seen::No => {
                    put(&mut seen, to, Seen::Above);
                    path.push((to, 0));
                }
                Seen::Above => put(&mut down, edge, false),
                Seen::Done => {}
            }
        }
    }
    order.reverse();
    (order, down)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_one_wave_share_a_row_and_inputs_stand_right_above_their_readers() {
        // 0 input → 1, 2; 1 → 3; 4 input → 3; 3 → 5 result; 2 → 5.
        let steps = [false, true, true, true, false, false];
        let rows = Rows::of(&steps, &[(0, 1), (0, 2), (1, 3), (4, 3), (3, 5), (2, 5)]);
        assert_eq!(rows.of, [0, 1, 1, 2, 1, 3]);
        assert_eq!(rows.waves, [None, Some(0), Some(1), None]);
        assert!(rows.down.iter().all(|down| *down));
    }

    #[test]
    fn a_result_in_between_gets_a_row_of_its_own() {
        let rows = Rows::of(&[true, false, true, true], &[(0, 1), (1, 2)]);
        assert_eq!((rows.of, rows.waves), (vec![0, 1, 2, 0], vec![Some(0), None, Some(1)]));
    }

    #[test]
    fn an_edge_that_closes_a_ring_leads_upwards_and_the_others_down() {
        let rows = Rows::of(&[true, true, true], &[(0, 1), (1, 2), (2, 0), (1, 1)]);
        assert_eq!((rows.of, rows.down), (vec![0, 1, 2], vec![true, true, false, false]));
        assert_eq!(Rows::of(&[], &[]).of, Vec::<usize>::new());
    }
}
