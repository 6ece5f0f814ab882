//! Flows made by dice: the same for the same seed, and without a fault.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

/// Numbers that come in one order for one seed (xorshift).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        let mut dice = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        dice.roll();
        dice
    }

    pub(super) fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() >> 11).unwrap() % end
    }

    pub(super) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    pub(super) fn chance(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// A flow in the making.
pub(super) struct Draft {
    pub(super) meta: Map<String, Value>,
    pub(super) nodes: Vec<Value>,
    pub(super) edges: Vec<Value>,
    pub(super) exported: bool,
    pub(super) pretty: bool,
    /// The ids of its steps, in order.
    pub(super) steps: Vec<String>,
    pub(super) inputs: Vec<String>,
}

const WORDS: [&str; 12] =
    ["tea", "Bericht", "港", "plan", "brief", "größe", "note", "city", "topic", "Ärger", "task", "run"];

impl Draft {
    pub(super) fn new(dice: &mut Dice) -> Self {
        let inputs: Vec<String> = (0..=dice.below(3)).map(|number| format!("{}_{number}", dice.pick(&WORDS))).collect();
        let listed: Vec<Value> = match dice.below(2) {
            0 => inputs.iter().map(|name| json!(name)).collect(),
            _ => inputs.iter().map(|name| json!({"key": name, "value": ""})).collect(),
        };
        let mut nodes = vec![
            json!({"id": "in", "type": *dice.pick(&["input", "multi_input"]), "data": {"label": "Values", "variables": listed}}),
        ];
        let (mut edges, mut steps) = (Vec::new(), Vec::new());
        let count = 2 + dice.below(4);
        for number in 0..count {
            let id = format!("{}-{number}", dice.pick(&WORDS));
            let mut text = format!("Step {number}: ");
            if number == 0 {
                for name in &inputs {
                    let _ = write!(text, "{} {{{name}}}, ", dice.pick(&WORDS));
                }
                edges.push(json!({"id": "e-in", "source": "in", "target": id}));
            } else {
                let before: &String = &steps[number - 1];
                let _ = write!(text, "after {{{}_result}} \"so\"", before.replace('-', ""));
                edges.push(json!({"id": format!("e-{number}"), "source": before, "target": id}));
            }
            nodes.push(json!({"id": id, "type": "template", "position": {"x": 10 * number, "y": 1.50}, "data": {"label": format!("Label {number}"), "template": text}}));
            steps.push(id);
        }
        nodes.push(json!({"id": "out", "type": "result", "data": {"label": "Out"}}));
        edges.push(json!({"id": "e-out", "source": steps[count - 1], "target": "out"}));
        let meta =
            json!({"name": "Hafen", "version": "1.0.0", "description": "A plan for the harbour", "tags": ["a", "b"]});
        let meta = meta.as_object().unwrap().clone();
        Self { meta, nodes, edges, exported: dice.chance(), pretty: dice.below(3) > 0, steps, inputs }
    }

    pub(super) fn text(&self) -> String {
        let value = if self.exported {
            json!({"metadata": {"version": "2.0", "flowCount": 1}, "flows": [{"meta": self.meta, "nodes": self.nodes, "edges": self.edges}]})
        } else {
            json!({"metadata": self.meta, "nodes": self.nodes, "edges": self.edges})
        };
        if self.pretty { format!("{value:#}\n") } else { value.to_string() }
    }

    /// A step by its number.
    pub(super) fn step(&mut self, number: usize) -> &mut Map<String, Value> {
        self.nodes[number + 1].as_object_mut().unwrap()
    }

    pub(super) fn data(&mut self, number: usize) -> &mut Map<String, Value> {
        self.step(number)["data"].as_object_mut().unwrap()
    }

    pub(super) fn add_to_text(&mut self, number: usize, more: &str) {
        let text = self.data(number)["template"].as_str().unwrap().to_owned();
        self.data(number)["template"] = json!(text + more);
    }

    pub(super) fn last(&self) -> usize {
        self.steps.len() - 1
    }
}
