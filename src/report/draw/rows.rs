//! Which row of a picture each node stands in: steps of one wave share a row, and whatever a node
//! waits for stands above it. Also of a graph that goes round in a ring.

use std::collections::HashMap;

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
        let mut after: Vec<Vec<(usize, usize)>> = vec![Vec::new(); count];
        for (place, (from, to)) in edges.iter().enumerate() {
            if let Some(list) = after.get_mut(*from) {
                list.push((place, *to));
            }
        }
        let mut down = vec![true; edges.len()];
        let order = downwards(&after, edges, &mut down);
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); count];
        for ((from, to), _) in edges.iter().zip(&down).filter(|(_, down)| **down) {
            if let (Some(before), Some(below)) = (before.get_mut(*to), below.get_mut(*from)) {
                before.push(*from);
                below.push(*to);
            }
        }
        let is_step = |node: usize| steps.get(node).copied().unwrap_or(false);
        // Of a step its wave; of another node the wave that what follows it has at the least.
        let mut wave = vec![0_usize; count];
        for node in &order {
            let parents = before.get(*node).map(Vec::as_slice).unwrap_or_default();
            let least =
                parents.iter().map(|parent| wave.get(*parent).copied().unwrap_or(0) + usize::from(is_step(*parent)));
            let least = least.max().unwrap_or(0);
            if let Some(own) = wave.get_mut(*node) {
                *own = least;
            }
        }
        let mut of = vec![0_usize; count];
        let waves = wave.iter().copied().max().map_or(0, |most| most + 1);
        let mut by_wave: Vec<(Vec<usize>, Vec<usize>)> = vec![(Vec::new(), Vec::new()); waves];
        for node in &order {
            let own = wave.get(*node).copied().unwrap_or(0);
            if let Some((others, steps)) = by_wave.get_mut(own) {
                if is_step(*node) { steps.push(*node) } else { others.push(*node) }
            }
        }
        let mut next = 0;
        let mut wave_of: HashMap<usize, usize> = HashMap::new();
        for (number, (others, steps)) in by_wave.iter().enumerate() {
            let under = |of: &[usize], node: usize| {
                let parents = before.get(node).map(Vec::as_slice).unwrap_or_default();
                parents.iter().map(|parent| of.get(*parent).copied().unwrap_or(0) + 1).max().unwrap_or(0)
            };
            for node in others {
                let row = under(&of, *node);
                if let Some(own) = of.get_mut(*node) {
                    *own = row;
                }
            }
            let Some(row) = steps.iter().map(|node| under(&of, *node)).max() else { continue };
            let row = row.max(next);
            for node in steps {
                if let Some(own) = of.get_mut(*node) {
                    *own = row;
                }
            }
            wave_of.insert(row, number);
            next = row + 1;
        }
        // What nothing leads to stands right above what it leads to.
        for node in (0..count).filter(|node| !is_step(*node) && before.get(*node).is_some_and(Vec::is_empty)) {
            let nearest = below.get(node).into_iter().flatten().filter_map(|child| of.get(*child).copied()).min();
            if let (Some(nearest), Some(own)) = (nearest, of.get_mut(node)) {
                *own = nearest.saturating_sub(1);
            }
        }
        let rows = of.iter().copied().max().map_or(0, |most| most + 1);
        let mut used = vec![false; rows];
        for row in &of {
            if let Some(used) = used.get_mut(*row) {
                *used = true;
            }
        }
        let mut renamed = Vec::with_capacity(rows);
        let mut kept = 0;
        for used in &used {
            renamed.push(kept);
            kept += usize::from(*used);
        }
        for row in &mut of {
            *row = renamed.get(*row).copied().unwrap_or(*row);
        }
        let waves = used.iter().enumerate().filter(|(_, used)| **used).map(|(row, _)| wave_of.get(&row).copied());
        Self { waves: waves.collect(), of, down }
    }
}

/// The nodes in an order in which every edge leads onwards, but for those that close a ring: these are marked.
fn downwards(after: &[Vec<(usize, usize)>], edges: &[(usize, usize)], down: &mut [bool]) -> Vec<usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        Above,
        Done,
    }
    let count = after.len();
    let mut led_to = vec![false; count];
    for (_, to) in edges {
        if let Some(led_to) = led_to.get_mut(*to) {
            *led_to = true;
        }
    }
    let mut seen = vec![Seen::No; count];
    let mut order = Vec::with_capacity(count);
    let first = (0..count).filter(|node| led_to.get(*node) == Some(&false));
    let starts: Vec<usize> = first.chain(0..count).collect();
    for start in starts {
        if seen.get(start) != Some(&Seen::No) {
            continue;
        }
        // By hand, because a long chain would end the process.
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        if let Some(seen) = seen.get_mut(start) {
            *seen = Seen::Above;
        }
        while let Some((node, next)) = path.last_mut() {
            let Some((edge, to)) = after.get(*node).and_then(|list| list.get(*next)).copied() else {
                order.push(*node);
                if let Some(seen) = seen.get_mut(*node) {
                    *seen = Seen::Done;
                }
                path.pop();
                continue;
            };
            *next += 1;
            match seen.get_mut(to) {
                Some(state @ Seen::No) => {
                    *state = Seen::Above;
                    path.push((to, 0));
                }
                Some(Seen::Above) => {
                    if let Some(down) = down.get_mut(edge) {
                        *down = false;
                    }
                }
                Some(Seen::Done) | None => {}
            }
        }
    }
    order.reverse();
    order
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
