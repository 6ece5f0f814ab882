//! Who follows whom: rings, order, waves and ancestors, on petgraph.
//!
//! Every edge of the drawing counts, whatever it was drawn for, and a node where nothing runs
//! passes order on. This room knows node numbers; values and texts are not its business.

use std::collections::{BTreeSet, HashMap, VecDeque};

use petgraph::Direction;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// The graph of one flow; nodes are numbered as in the file.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    graph: DiGraph<(), ()>,
}

/// The order of steps, worked out once.
#[derive(Debug, Clone, Default)]
pub struct Order {
    /// Runnable nodes in topological order; among those that are ready the earliest in the file goes first.
    pub steps: Vec<usize>,
    /// For each node of the file: the runnable nodes right before it, through nodes where nothing runs; ascending.
    pub parents: Vec<Vec<usize>>,
    /// For each node of the file: its wave from 0, for runnable nodes; others have that of their latest parent.
    pub waves: Vec<usize>,
}

impl Graph {
    /// A graph of `nodes` nodes with these edges; ends out of range are left out, doubled edges are one.
    pub fn new(nodes: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let edges: Vec<(usize, usize)> = edges.into_iter().collect();
        let mut graph = DiGraph::with_capacity(nodes, edges.len());
        for _ in 0..nodes {
            graph.add_node(());
        }
        let mut seen = std::collections::HashSet::with_capacity(edges.len());
        for (from, to) in edges {
            if from < nodes && to < nodes && seen.insert((from, to)) {
                graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), ());
            }
        }
        Self { graph }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.graph.node_count()
    }

    /// Whether there are no nodes.
    #[cfg(feature = "internals")]
    pub fn is_empty(&self) -> bool {
        self.graph.node_count() == 0
    }

    /// The nodes right before a node, ascending.
    pub fn before(&self, node: usize) -> Vec<usize> {
        self.neighbours(node, Direction::Incoming)
    }

    /// The nodes right after a node, ascending.
    pub fn after(&self, node: usize) -> Vec<usize> {
        self.neighbours(node, Direction::Outgoing)
    }

    /// Whether any edge touches a node.
    pub fn connected(&self, node: usize) -> bool {
        self.graph.neighbors_undirected(NodeIndex::new(node)).next().is_some()
    }

    fn neighbours(&self, node: usize, direction: Direction) -> Vec<usize> {
        let mut found: Vec<usize> =
            self.graph.neighbors_directed(NodeIndex::new(node), direction).map(NodeIndex::index).collect();
        found.sort_unstable();
        found
    }

    /// One shortest ring for every knot of nodes that reach each other, without its closing
    /// repeat, each beginning at its node that comes first in the file; edges of a node to itself
    /// are not rings.
    pub fn rings(&self) -> Vec<Vec<usize>> {
        // Kosaraju's algorithm, because petgraph's Tarjan recurses: a long chain would end the process.
        let mut rings: Vec<Vec<usize>> = kosaraju_scc(&self.graph)
            .into_iter()
            .filter(|knot| knot.len() > 1)
            .filter_map(|knot| {
                let members: BTreeSet<usize> = knot.into_iter().map(NodeIndex::index).collect();
                members.iter().find_map(|start| self.way_back(*start, &members))
            })
            .collect();
        rings.sort_unstable();
        rings
    }

    /// The shortest way from a node back to itself within `members`.
    fn way_back(&self, start: usize, members: &BTreeSet<usize>) -> Option<Vec<usize>> {
        let mut came_from: HashMap<usize, usize> = HashMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(here) = queue.pop_front() {
            for next in self.after(here) {
                if next == start && here != start {
                    let mut ring = vec![here];
                    let mut back = here;
                    while let Some(previous) = came_from.get(&back) {
                        ring.push(*previous);
                        back = *previous;
                    }
                    ring.reverse();
                    return Some(ring);
                }
                if next != start && members.contains(&next) && !came_from.contains_key(&next) {
                    came_from.insert(next, here);
                    queue.push_back(next);
                }
            }
        }
        None
    }

    /// Order, parents and waves; `None` where there is a ring.
    pub fn order(&self, runnable: &[bool]) -> Option<Order> {
        let count = self.len();
        let runs = |node: usize| runnable.get(node).copied().unwrap_or(false);
        let mut waiting: Vec<usize> = (0..count).map(|node| self.before(node).len()).collect();
        let mut parents: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); count];
        let mut waves = vec![0_usize; count];
        let mut order = Vec::with_capacity(count);
        // Nodes where nothing runs are done as soon as they can be, so that they never hold up
        // the choice of the earliest step among those that are ready.
        let mut passing: BTreeSet<usize> = BTreeSet::new();
        let mut ready: BTreeSet<usize> = BTreeSet::new();
        for (node, left) in waiting.iter().enumerate() {
            if *left == 0 {
                if runs(node) {
                    ready.insert(node)
                } else {
                    passing.insert(node)
                };
            }
        }
        let mut done = 0;
        while let Some(node) = passing.pop_first().or_else(|| ready.pop_first()) {
            done += 1;
            let here = if runs(node) {
                order.push(node);
                BTreeSet::from([node])
            } else {
                parents.get(node).cloned().unwrap_or_default()
            };
            let wave = waves.get(node).copied().unwrap_or(0) + usize::from(runs(node));
            for next in self.after(node) {
                if let (Some(parents), Some(next_wave), Some(left)) =
                    (parents.get_mut(next), waves.get_mut(next), waiting.get_mut(next))
                {
                    parents.extend(here.iter().copied());
                    *next_wave = (*next_wave).max(wave);
                    *left -= 1;
                    if *left == 0 {
                        if runs(next) {
                            ready.insert(next)
                        } else {
                            passing.insert(next)
                        };
                    }
                }
            }
        }
        if done < count {
            return None;
        }
        Some(Order { steps: order, parents: parents.into_iter().map(|set| set.into_iter().collect()).collect(), waves })
    }
}

/// Which nodes have a path to which: one bit for each pair.
#[derive(Debug, Clone, Default)]
pub struct Ancestors {
    words: usize,
    bits: Vec<u64>,
}

impl Ancestors {
    /// Works out the ancestors of every runnable node of an order.
    pub fn of(order: &Order) -> Self {
        let count = order.parents.len();
        let words = count.div_ceil(64);
        let mut bits = vec![0_u64; words * count];
        for node in &order.steps {
            for parent in order.parents.get(*node).map(Vec::as_slice).unwrap_or_default() {
                for word in 0..words {
                    let theirs = bits.get(parent * words + word).copied().unwrap_or(0);
                    if let Some(ours) = bits.get_mut(node * words + word) {
                        *ours |= theirs;
                    }
                }
                if let Some(ours) = bits.get_mut(node * words + parent / 64) {
                    *ours |= 1 << (parent % 64);
                }
            }
        }
        Self { words, bits }
    }

    /// Whether `ancestor` has a path to `node`; both are runnable.
    pub fn reaches(&self, ancestor: usize, node: usize) -> bool {
        ancestor / 64 < self.words
            && self.bits.get(node * self.words + ancestor / 64).is_some_and(|word| word >> (ancestor % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(count: usize) -> Vec<bool> {
        vec![true; count]
    }

    #[test]
    fn the_earliest_ready_step_of_the_file_goes_first() {
        // 3 → 0, 1 → 2: after 1 has run, 2 is ready and stands before 3.
        let order = Graph::new(4, [(3, 0), (1, 2)]).order(&all(4)).expect("no ring");
        assert_eq!(order.steps, [1, 2, 3, 0]);
        assert_eq!(order.waves, [1, 0, 1, 0]);
    }

    #[test]
    fn a_node_where_nothing_runs_passes_order_on() {
        // 2 → 1(note) → 0
        let order = Graph::new(3, [(2, 1), (1, 0)]).order(&[true, false, true]).expect("no ring");
        assert_eq!(order.steps, [2, 0]);
        assert_eq!(order.parents[0], [2]);
        assert_eq!(order.waves[0], 1);
        assert!(Ancestors::of(&order).reaches(2, 0));
    }

    #[test]
    fn a_ring_is_reported_without_what_hangs_on_it() {
        let graph = Graph::new(7, [(0, 1), (1, 2), (2, 3), (3, 1), (3, 4), (5, 6), (6, 5)]);
        assert_eq!(graph.rings(), [vec![1, 2, 3], vec![5, 6]]);
        assert!(graph.order(&all(7)).is_none());
    }

    #[test]
    fn a_chain_of_any_length_fits_a_small_stack() {
        let count = 100_000;
        let walk = move || {
            let graph = Graph::new(count, (1..count).map(|node| (node - 1, node)));
            (graph.rings().len(), graph.order(&all(count)).map(|order| order.steps.len()))
        };
        let walked = std::thread::Builder::new().stack_size(256 << 10).spawn(walk).expect("a thread");
        assert_eq!(walked.join().expect("no overflow"), (0, Some(count)));
    }

    #[test]
    fn doubled_edges_are_one_and_a_loop_is_not_a_ring() {
        let graph = Graph::new(2, [(0, 1), (0, 1), (1, 1)]);
        assert_eq!(graph.before(1), [0, 1]);
        assert!(graph.rings().is_empty());
    }

    prop_compose! {
        fn dags()(count in 1_usize..24)(edges in proptest::collection::vec((0..count, 0..count), 0..60), runnable in proptest::collection::vec(any::<bool>(), count), shuffle in Just(()).prop_perturb(move |(), mut rng| {
            let mut numbers: Vec<usize> = (0..count).collect();
            for at in (1..count).rev() {
                numbers.swap(at, rng.random_range(0..=at));
            }
            numbers
        }), count in Just(count)) -> (usize, Vec<(usize, usize)>, Vec<bool>) {
            // Edges go from a smaller to a larger number before the numbers are shuffled: no ring.
            let edges = edges.into_iter().filter(|(a, b)| a != b).map(|(a, b)| (shuffle[a.min(b)], shuffle[a.max(b)])).collect();
            (count, edges, runnable)
        }
    }

    proptest! {
        #[test]
        fn waves_hold_every_step_once_and_respect_every_edge((count, edges, runnable) in dags()) {
            let graph = Graph::new(count, edges.clone());
            let order = graph.order(&runnable).expect("no ring");
            let mut sorted = order.steps.clone();
            sorted.sort_unstable();
            let expected: Vec<usize> = (0..count).filter(|node| runnable[*node]).collect();
            prop_assert_eq!(sorted, expected);
            let place = |node: usize| order.steps.iter().position(|other| *other == node);
            let ancestors = Ancestors::of(&order);
            for (from, to) in edges {
                if runnable[from] && runnable[to] {
                    prop_assert!(place(from) < place(to));
                    prop_assert!(order.waves[from] < order.waves[to]);
                    prop_assert!(order.parents[to].contains(&from));
                    prop_assert!(ancestors.reaches(from, to));
                    prop_assert!(!ancestors.reaches(to, from));
                }
            }
        }

        #[test]
        fn either_there_is_an_order_or_a_ring(count in 1_usize..12, edges in proptest::collection::vec((0_usize..12, 0_usize..12), 0..30)) {
            let edges: Vec<_> = edges.into_iter().filter(|(a, b)| a != b && *a < count && *b < count).collect();
            let graph = Graph::new(count, edges.clone());
            let rings = graph.rings();
            prop_assert_eq!(graph.order(&all(count)).is_some(), rings.is_empty());
            for ring in rings {
                for (at, node) in ring.iter().enumerate() {
                    let next = ring[(at + 1) % ring.len()];
                    prop_assert!(edges.contains(&(*node, next)));
                }
            }
        }
    }
}
