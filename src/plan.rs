//! A checked flow made ready: steps in order, waves, bindings, required inputs.
//!
//! The plan says of every placeholder where its value comes from, as far as the files decide it.
//! What `flows_show` shows is the plan, and a run does nothing but follow it. Made here alone;
//! equal inputs give an equal plan. No I/O, no time.

#![warn(clippy::wildcard_enum_match_arm)]

mod doing;
mod inputs;
mod record;
mod slots;
mod terms;
mod unfold;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::code::Code;
use crate::model::{Contract, Flow, ModelWish, NodeKind, Persona, StepSets, UnfoldedSize, ValueType};
use crate::names::{CatalogPath, ItemName};
use crate::render::{Outline, Stencil};
use crate::validate::{Body, CheckedFlow};

// What bindings are made of, so that who follows a plan needs no checker.
pub use crate::validate::{Intent, MappedBy, Mending, OutputPart, output_names};

pub use doing::{Call, Door, Gather, Linked, Passage, Passed, Passing, USUAL_BACKOFF};
pub use record::{PlanRecord, RecordError};
pub use terms::Terms;

/// A flow with its plan.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowPlan {
    /// The flow as read.
    pub flow: Arc<Flow>,
    /// Its plan.
    pub plan: Arc<Plan>,
}

/// A flow, ready to be shown or executed. It holds what that needs of the flow, and not the flow.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    name: ItemName,
    file: CatalogPath,
    steps: Vec<Step>,
    inputs: Vec<Input>,
    sets: Arc<[String]>,
    results: Vec<ResultMark>,
    last: Option<usize>,
    size: UnfoldedSize,
    /// Who answers the steps that don't say so themselves.
    model: Option<ModelWish>,
}

/// One step of a plan. Steps are numbered in the order in which they are reported.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The node's number in the file.
    pub node: usize,
    /// The node's id.
    pub id: String,
    /// Its label, or the id where it has none.
    pub label: String,
    /// What it is for.
    pub description: Option<String>,
    /// The wave it belongs to, from 0: steps of one wave don't wait for each other.
    pub wave: usize,
    /// The steps right before it.
    pub parents: Vec<usize>,
    /// The steps right after it.
    pub children: Vec<usize>,
    /// What is done when it is reached.
    pub work: Work,
    /// The step that gathers the result of the flow within the flow to which it belongs; none for a
    /// step of the flow itself.
    pub within: Option<usize>,
}

impl Step {
    /// The tool that it calls.
    pub fn calls(&self) -> Option<&Call> {
        if let Work::Call(call) = &self.work { Some(call) } else { None }
    }

    /// Whether its failure is an output like any other.
    pub fn goes_on(&self) -> bool {
        match &self.work {
            Work::Render(rendering) => rendering.asks.goes_on,
            Work::Call(call) => call.goes_on,
            Work::Flow(_) | Work::Gather(_) | Work::Faulty { .. } => false,
        }
    }

    /// Whether files say that a model answers its text.
    pub fn asks_model(&self) -> bool {
        matches!(&self.work, Work::Render(rendering) if matches!(rendering.asks.wish, Some(ModelWish::Model(_))))
    }

    /// The flow within the flow whose result it takes over.
    pub fn gathers(&self) -> Option<&Gather> {
        if let Work::Gather(gather) = &self.work { Some(gather) } else { None }
    }
}

/// What is done when a step is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// A text is rendered.
    Render(Rendering),
    /// An external tool is called.
    Call(Box<Call>),
    /// Another flow is gone through.
    Flow(Box<Linked>),
    /// What a flow within the flow gave is taken over.
    Gather(Box<Gather>),
    /// It fails: something was wrong with it before anything ran.
    Faulty {
        /// The error's code.
        code: Code,
        /// What is wrong.
        message: String,
        /// What it was to do.
        meant: Intent,
        /// What has to be fixed.
        mending: Mending,
    },
}

impl Work {
    /// The names that it reads, and where their values come from; none where it is faulty.
    pub fn slots(&self) -> &[Slot] {
        match self {
            Self::Render(rendering) => &rendering.slots,
            Self::Call(call) => &call.slots,
            Self::Flow(linked) => &linked.slots,
            Self::Gather(gather) => &gather.slots,
            Self::Faulty { .. } => &[],
        }
    }

    /// The placeholders that it reads, each as the number of its slot and the dot path after the name.
    pub fn reads(&self) -> Vec<(usize, &[String])> {
        fn of_holes<'w>(slot_of: &[usize], stencil: &'w Stencil) -> Vec<(usize, &'w [String])> {
            slot_of.iter().copied().zip(stencil.holes().iter().map(|hole| hole.path.as_slice())).collect()
        }
        match self {
            Self::Render(rendering) => {
                let paths = rendering.outline.placeholders.iter().map(|placeholder| placeholder.path.as_slice());
                rendering.outline.name_of.iter().copied().zip(paths).collect()
            }
            Self::Call(call) => {
                let required = call.requires.iter().map(|(slot, path)| (*slot, path.as_slice()));
                of_holes(&call.slot_of, &call.arguments).into_iter().chain(required).collect()
            }
            Self::Flow(linked) => of_holes(&linked.slot_of, &linked.values),
            Self::Gather(gather) => {
                gather.door.as_ref().map(|door| of_holes(&door.slot_of, &door.values)).unwrap_or_default()
            }
            Self::Faulty { .. } => Vec::new(),
        }
    }

    /// The word for what becomes of it: `rendered`, `tool` or `flow`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Call(_) | Self::Faulty { meant: Intent::Call(_), .. } => "tool",
            Self::Flow(_) | Self::Gather(_) | Self::Faulty { meant: Intent::Flow(_), .. } => "flow",
            Self::Render(_) | Self::Faulty { meant: Intent::Text, .. } => "rendered",
        }
    }
}

/// A text with its bindings.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendering {
    /// How results name it.
    pub template_name: String,
    /// The template's file; none for inline text.
    pub template_file: Option<String>,
    /// The text.
    pub text: Arc<str>,
    /// Its brace groups.
    pub outline: Arc<Outline>,
    /// One slot for each name of the outline.
    pub slots: Vec<Slot>,
    /// The node's variable sets, then the template's, which its steps share.
    pub sets: StepSets,
    /// The role a model should take on.
    pub persona: Option<String>,
    /// The contract its output must meet: a name or a schema, as the node has it.
    pub contract: Option<Arc<Value>>,
    /// The persona, read; none where the catalog has none that can be used.
    pub role: Option<Arc<Persona>>,
    /// The contract, compiled; none where the node has none that can be used.
    pub terms: Option<Arc<Contract>>,
    /// Whether a model that carries the flow out may skip the step.
    pub optional: bool,
    /// After how many refused outputs a model is advised to ask a person.
    pub max_attempts: u32,
    /// Who is to answer it, as its node or its flow says.
    pub asks: Asks,
}

/// Who is to answer a step, as files say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asks {
    /// The node's `model`, else that of its flow, else that of the flow around.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wish: Option<ModelWish>,
    /// Whether the node itself says so.
    #[serde(default, skip_serializing_if = "is_false")]
    pub own: bool,
    /// Whether a model's failure to answer is an output like any other.
    #[serde(default, skip_serializing_if = "is_false")]
    pub goes_on: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands references")]
fn is_false(value: &bool) -> bool {
    !value
}

/// How many refused outputs it takes where the node doesn't say.
pub const MAX_ATTEMPTS: u32 = 5;

/// One name that a step's text reads, and where its value comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slot {
    /// The name as the text has it, in NFC.
    pub name: String,
    /// Where the value comes from.
    pub source: Source,
}

/// Where a slot's value comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// An earlier step.
    Step {
        /// Its number in the plan.
        step: usize,
        /// What of it.
        #[serde(rename = "template", with = "record::part")]
        part: OutputPart,
        /// The dot path into its output; empty for the whole.
        path: Vec<String>,
        /// The edge's way of saying so; none where the name itself says it.
        by: Option<MappedBy>,
        /// What is looked for instead where an edge maps a field, and the output is a text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        otherwise: Option<Box<Open>>,
    },
    /// The caller, else the chosen variable set, else the default, else auto-mapping.
    Open(Open),
    /// The step that is the flow within the flow.
    Passed(Arc<Passed>),
}

/// A value that the files leave open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Open {
    /// The name it is asked for under (another than the slot's where an edge maps an input).
    pub input: String,
    /// Whether an edge's `data.mapping` gives that name.
    pub mapped: bool,
    /// The value when nobody gives one.
    pub default: Option<Arc<Value>>,
    /// The parent whose output stands in when nothing else does.
    pub auto: Option<usize>,
    /// Whether the step can't do without.
    pub required: bool,
    /// Whether somebody declares it: then, not given, it is empty; otherwise the braces stay.
    pub declared: bool,
    /// What is looked for instead where an edge maps an input that has no value: the slot's own name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Box<Self>>,
}

impl Open {
    /// The names under which a value is looked for, in this order.
    pub fn places(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |open| open.otherwise.as_deref())
    }
}

/// One value that a caller may or must give.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The name in NFC.
    pub name: String,
    /// The type, where it is said.
    pub kind: Option<ValueType>,
    /// What it is for.
    pub description: Option<String>,
    /// Whether nothing in the files gives it.
    pub required: bool,
    /// The value when nobody gives one.
    pub default: Option<Arc<Value>>,
    /// The only values allowed; empty when anything is.
    pub choices: Vec<Value>,
    /// The type that values are held to: that of `inputs`. A type that only a template gives
    /// describes, and holds nobody.
    pub held_to: Option<ValueType>,
    /// The steps that read it.
    pub used_by: Vec<usize>,
    /// The steps that can't do without it; empty where it is required for being declared.
    pub needed_by: Vec<usize>,
}

impl Input {
    /// A value that fits, to show what one looks like: the first of the choices, else one of its type.
    pub fn sample(&self) -> Value {
        let of_type = || self.kind.unwrap_or(ValueType::String).sample();
        self.choices.first().cloned().unwrap_or_else(of_type)
    }
}

/// A result node, and the step whose output it marks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultMark {
    /// The result node's number in the file.
    pub node: usize,
    /// Its label; made distinct with its id where two have one label.
    pub label: String,
    /// The step that feeds it, the last in order where several do.
    pub step: Option<usize>,
}

impl Plan {
    /// Makes a checked flow ready. `flows` gives the plans of the flows within it.
    pub fn of(checked: &CheckedFlow, flows: &HashMap<String, FlowPlan>) -> Self {
        let flow = checked.flow().clone();
        let order = checked.order();
        let mut number_of: Vec<Option<usize>> = vec![None; flow.nodes.len()];
        for (number, node) in order.steps.iter().enumerate() {
            if let Some(slot) = number_of.get_mut(*node) {
                *slot = Some(number);
            }
        }
        let number = |node: usize| number_of.get(node).copied().flatten();
        let view = slots::PlanView::of(checked, &number_of, flows);
        let mut steps: Vec<Step> = Vec::with_capacity(order.steps.len());
        for node in &order.steps {
            let Some(spec) = flow.nodes.get(*node) else { continue };
            let parents: Vec<usize> = order
                .parents
                .get(*node)
                .map(Vec::as_slice)
                .unwrap_or_default()
                .iter()
                .filter_map(|parent| number(*parent))
                .collect();
            steps.push(Step {
                node: *node,
                id: spec.id.clone(),
                label: spec.caption().to_owned(),
                description: spec.description.clone(),
                wave: order.waves.get(*node).copied().unwrap_or(0),
                parents,
                children: Vec::new(),
                work: view.work(*node),
                within: None,
            });
        }
        for child in 0..steps.len() {
            let parents = steps.get(child).map(|step| step.parents.clone()).unwrap_or_default();
            for parent in parents {
                if let Some(parent) = steps.get_mut(parent) {
                    parent.children.push(child);
                }
            }
        }
        slots::map_automatically(&mut steps, checked);
        let inputs = inputs::of(&steps, checked);
        let results = results(&flow, checked, &number_of);
        let fed = results.iter().filter_map(|result| result.step).max();
        let connected = (0..steps.len())
            .rev()
            .find(|step| steps.get(*step).is_some_and(|step| checked.graph().connected(step.node)));
        let last = fed.or(connected).or_else(|| steps.len().checked_sub(1));
        let (mut sets, mut seen) = (Vec::new(), HashSet::new());
        for step in &steps {
            if let Work::Render(rendering) = &step.work {
                for set in rendering.sets.iter() {
                    if seen.insert(set.name.as_str()) {
                        sets.push(set.name.clone());
                    }
                }
            }
        }
        let size = unfold::size_of(&steps, &inputs);
        Self {
            name: flow.name.clone(),
            file: flow.file.clone(),
            steps,
            inputs,
            sets: sets.into(),
            results,
            last,
            size,
            model: flow.model.clone(),
        }
    }

    /// The flow's name.
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// The flow's file in its catalog.
    pub fn file(&self) -> &str {
        self.file.as_str()
    }

    /// The steps, in the order in which they are reported.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// One step.
    pub fn step(&self, number: usize) -> Option<&Step> {
        self.steps.get(number)
    }

    /// What a caller may or must give, in the order in which the file declares it.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Whether it is made for guided execution: a step has a contract, or reads a field of what a model is to answer.
    pub fn made_for_guided(&self) -> bool {
        self.steps.iter().any(|step| match &step.work {
            Work::Render(rendering) => rendering.contract.is_some() || self.reads_a_field(rendering),
            Work::Flow(linked) => linked.of.plan.made_for_guided(),
            Work::Call(_) | Work::Gather(_) | Work::Faulty { .. } => false,
        })
    }

    /// Whether a text has a placeholder of a field of another text step's output.
    fn reads_a_field(&self, rendering: &Rendering) -> bool {
        let of_a_text = |step: usize| matches!(self.step(step).map(|step| &step.work), Some(Work::Render(_)));
        rendering.outline.placeholders.iter().zip(&rendering.outline.name_of).any(
            |(placeholder, place)| match rendering.slots.get(*place).map(|slot| &slot.source) {
                Some(Source::Step { step, part: OutputPart::Result, path, .. }) => {
                    of_a_text(*step) && !(path.is_empty() && placeholder.path.is_empty())
                }
                Some(Source::Step { .. } | Source::Open(_) | Source::Passed(_)) | None => false,
            },
        )
    }

    /// The names of the variable sets there are to choose from.
    pub fn sets(&self) -> &[String] {
        &self.sets
    }

    /// The result nodes that a step feeds, in file order.
    pub fn results(&self) -> &[ResultMark] {
        &self.results
    }

    /// The step whose output is the final result.
    pub fn last(&self) -> Option<usize> {
        self.last
    }

    /// The steps of each wave.
    #[cfg(feature = "internals")]
    pub fn waves(&self) -> Vec<Vec<usize>> {
        let mut waves: Vec<Vec<usize>> = Vec::new();
        for (number, step) in self.steps.iter().enumerate() {
            while waves.len() <= step.wave {
                waves.push(Vec::new());
            }
            if let Some(wave) = waves.get_mut(step.wave) {
                wave.push(number);
            }
        }
        waves
    }
}

impl Plan {
    /// The tool that a step calls, as its node names it; empty where it calls none.
    pub fn called(&self, step: usize) -> String {
        self.step(step).and_then(Step::calls).map_or_else(String::new, |call| call.address.to_string())
    }
}

fn results(flow: &Flow, checked: &CheckedFlow, number_of: &[Option<usize>]) -> Vec<ResultMark> {
    let mut marks: Vec<ResultMark> = Vec::new();
    for (node, spec) in flow.nodes.iter().enumerate() {
        if !matches!(spec.kind, NodeKind::Result) {
            continue;
        }
        let feeders = checked.order().parents.get(node).map(Vec::as_slice).unwrap_or_default();
        let step = feeders.iter().filter_map(|feeder| number_of.get(*feeder).copied().flatten()).max();
        if step.is_some() {
            marks.push(ResultMark { node, label: spec.caption().to_owned(), step });
        }
    }
    let mut count: HashMap<String, usize> = HashMap::with_capacity(marks.len());
    for mark in &marks {
        *count.entry(mark.label.clone()).or_default() += 1;
    }
    for mark in &mut marks {
        if count.get(&mark.label).is_some_and(|count| *count > 1)
            && let Some(spec) = flow.nodes.get(mark.node)
        {
            mark.label = format!("{} ({})", mark.label, spec.id);
        }
    }
    marks
}

/// The body of a step that is not in a catalog can't be executed.
fn faulty(body: &Body) -> Work {
    match body {
        Body::Faulty { code, message, meant, mending } => {
            Work::Faulty { code: *code, message: message.clone(), meant: meant.clone(), mending: mending.clone() }
        }
        Body::Text { .. } | Body::Call { .. } | Body::Link { .. } | Body::Elsewhere => Work::Faulty {
            code: Code::TemplateNotFound,
            message: "the template is not part of this check".to_owned(),
            meant: Intent::Text,
            mending: Mending::default(),
        },
    }
}
