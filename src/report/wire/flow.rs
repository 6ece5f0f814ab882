//! Flows and templates as `flows_show` shows them, from the plan that would run.

mod schema;
mod steps;

use std::collections::HashSet;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::asked::ModelsAsked;
use super::common::{Freshness, ReadAt, WarningAnswer};
use super::finding::FindingAnswer;
use super::limit::{Limit, MAX_TOKENS};
use super::size::{Cut, CutParts, CutWords, Cuttable, fit, shorten};
use super::warning::of_origin;
use crate::app::{Origin, Prepared, Shown, ShownTemplate, in_sets};
use crate::model::{Edge, EdgeKind, Flow, NodeKind, VariableSet};
use crate::names::{few, quoted, shown as shown_safely};
use crate::plan::{Input, Plan, Step, Work};
use steps::{Beside, ShownStep};

pub use schema::input_schema;
pub(in crate::report) use steps::{Origins, Unfolded, reads};

/// What `flows_show` answers: a flow as it would be executed, or a template.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "flows_show reply")]
pub enum ShownAnswer {
    /// A flow.
    Flow(Box<ShownFlow>),
    /// A template.
    Template(Box<ShownText>),
}

/// A flow as it would be executed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShownFlow {
    /// Name the flow is executed by.
    name: String,
    /// What it is.
    #[schemars(extend("const" = "flow"))]
    kind: &'static str,
    /// File in the catalog.
    file: String,
    /// What it is for, whole.
    description: String,
    /// Version; "1.0" if the file has none.
    version: String,
    /// Who wrote it.
    author: Option<String>,
    /// Its tags.
    tags: Vec<String>,
    /// Its category.
    category: Option<String>,
    /// simple, moderate or high, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    complexity: Option<String>,
    /// How long it takes, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated_duration: Option<String>,
    /// What a caller may give, in the order of the file.
    inputs: Vec<InputAnswer>,
    /// Names of the sets that `_variableSet` chooses from; absent when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variable_sets: Vec<String>,
    /// What runs, in order.
    steps: Vec<ShownStep>,
    /// What models take for all of it in `flows_execute` at most, inputs apart; absent where none answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    most_usage: Option<ModelsAsked>,
    /// The drawn edges.
    edges: Vec<EdgeAnswer>,
    /// Label of each result to where it comes from.
    outputs: IndexMap<String, OutputAnswer>,
    /// What the checker noticed.
    findings: Vec<FindingAnswer>,
    /// Whether the flow can be executed.
    executable: bool,
    /// Ids of the steps that fail when they are reached, which skips what waits for them; absent where none does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failing_steps: Vec<String>,
    /// True for a flow that is made for guided execution; absent for others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    guided: bool,
    /// All nodes; with detail full.
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<Vec<NodeAnswer>>,
    #[serde(flatten)]
    read_at: ReadAt,
    #[serde(flatten)]
    freshness: Freshness,
    /// What the caller should know; absent when there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WarningAnswer>,
    /// The call that helps further.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_step: Option<String>,
    #[serde(flatten)]
    cut: Cut,
}

/// What a caller may give.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InputAnswer {
    /// The variable.
    name: String,
    /// Its type.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["string", "number", "integer", "boolean", "array", "object"]))]
    kind: String,
    /// Whether the flow refuses to run without it; false where a variable set gives it.
    required: bool,
    /// True where it has to be given unless the chosen variable set gives it; else absent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    in_sets: bool,
    /// What stands in when it is not given, in the input's type; absent if there is nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<Value>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// The only values allowed; absent when any is.
    #[serde(rename = "enum", skip_serializing_if = "Vec::is_empty")]
    choices: Vec<Value>,
    /// Ids of the steps that read it.
    used_by: Vec<String>,
}

/// An edge between two nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EdgeAnswer {
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// Id of the node it leaves.
    source: String,
    /// Id of the node it leads to.
    target: String,
    /// What it does, or is by its ends.
    #[schemars(extend("enum" = ["data", "chain", "result"]))]
    kind: String,
    /// Variable to what it is filled with.
    #[serde(skip_serializing_if = "Map::is_empty")]
    mapping: Map<String, Value>,
}

/// Where a result comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutputAnswer {
    /// Id of the step that gives it.
    node: String,
    /// What the flow says of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

/// A node as the file has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NodeAnswer {
    /// Its id.
    id: String,
    /// Its type.
    #[serde(rename = "type")]
    kind: String,
    /// Its label.
    label: Option<String>,
}

/// A named set of values.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SetAnswer {
    /// Its name.
    name: String,
    /// Its values by variable.
    values: Map<String, Value>,
}

impl From<&VariableSet> for SetAnswer {
    fn from(set: &VariableSet) -> Self {
        Self { name: set.name.clone(), values: set.values.iter().cloned().collect() }
    }
}

impl SetAnswer {
    fn words(&mut self) -> CutWords<'_> {
        CutWords::Values(&mut self.values)
    }
}

/// A template.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShownText {
    /// Name the template goes by.
    name: String,
    /// What it is.
    #[schemars(extend("const" = "template"))]
    kind: &'static str,
    /// File in the catalog.
    file: String,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Its text.
    text: String,
    /// Variables it declares.
    variables: Vec<String>,
    /// Named sets of values.
    variable_sets: Vec<SetAnswer>,
    /// Names of the flows that use its file.
    used_by: Vec<String>,
    #[serde(flatten)]
    read_at: ReadAt,
    #[serde(flatten)]
    freshness: Freshness,
    /// What the caller should know; absent when there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WarningAnswer>,
    /// The call that helps further.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_step: Option<String>,
    #[serde(flatten)]
    cut: Cut,
}

/// A flow or a template. `full` adds texts, contracts and variable sets.
pub fn shown(shown: &Shown, full: bool) -> ShownAnswer {
    match shown {
        Shown::Flow { prepared, origin, tools, priced } => ShownAnswer::Flow(Box::new(flow(
            prepared,
            origin,
            Beside { tools, priced, full, unfolded: &Unfolded::default() },
        ))),
        Shown::Template { template, origin } => ShownAnswer::Template(Box::new(self::template(template, origin))),
    }
}

impl ShownAnswer {
    /// The same within so many estimated tokens (20,000 unless that is said), and within one message.
    #[must_use]
    pub fn within(self, max_tokens: Option<usize>) -> Self {
        let limit = Limit::tokens(max_tokens.unwrap_or(MAX_TOKENS));
        let rest = |file: &str| {
            format!(
                "texts were cut or entries left out to fit; flows_show with a larger maxTokens shows more, and the file \
                 {} has all",
                shown_safely(file, 200)
            )
        };
        match self {
            Self::Flow(flow) => {
                let rest = rest(&flow.file);
                Self::Flow(Box::new(fit(*flow, &limit, &rest)))
            }
            Self::Template(template) => {
                let rest = rest(&template.file);
                Self::Template(Box::new(fit(*template, &limit, &rest)))
            }
        }
    }
}

fn flow(prepared: &Prepared, origin: &Origin, beside: Beside<'_>) -> ShownFlow {
    let (flow, plan) = (&prepared.flow, prepared.plan.as_deref());
    let nodes = flow.nodes.iter().map(|node| NodeAnswer {
        id: node.id.clone(),
        kind: type_of(&node.kind).to_owned(),
        label: node.label.clone(),
    });
    let whole = prepared.plan.clone().map(Plan::unfolded);
    let faulty = |step: &&Step| matches!(step.work, Work::Faulty { .. });
    let failing: Vec<String> =
        whole.iter().flat_map(|plan| plan.steps().iter().filter(faulty)).map(|step| step.id.clone()).collect();
    let broken = (!failing.is_empty()).then(|| {
        let ids = few(failing.iter().map(|id| quoted(id)));
        format!("steps that fail when they are reached: {ids}; first fix what findings says of them")
    });
    ShownFlow {
        name: flow.name.to_string(),
        kind: "flow",
        file: flow.file.to_string(),
        description: flow.description.clone().unwrap_or_default(),
        version: flow.version.clone().unwrap_or_else(|| "1.0".to_owned()),
        author: flow.author.clone(),
        tags: flow.tags.clone(),
        category: flow.category.clone(),
        complexity: flow.complexity.clone(),
        estimated_duration: flow.estimated_duration.clone(),
        inputs: match plan {
            Some(plan) => {
                let in_sets = in_sets(plan);
                plan.inputs().iter().map(|input| InputAnswer::of(input, plan, &in_sets)).collect()
            }
            None => prepared.entry.inputs.iter().map(InputAnswer::declared).collect(),
        },
        variable_sets: plan.map(|plan| plan.sets().to_vec()).unwrap_or_default(),
        steps: plan.map(|plan| ShownStep::all(plan, beside, "")).unwrap_or_default(),
        most_usage: ModelsAsked::of(beside.priced.values()),
        edges: flow.edges.iter().map(|edge| EdgeAnswer::of(edge, flow)).collect(),
        outputs: outputs(flow, plan),
        findings: prepared.findings.iter().map(FindingAnswer::from).collect(),
        executable: plan.is_some(),
        failing_steps: failing,
        guided: plan.is_some_and(Plan::made_for_guided),
        nodes: beside.full.then(|| nodes.collect()),
        read_at: origin.into(),
        freshness: origin.into(),
        warnings: of_origin(origin).collect(),
        next_step: broken.or_else(|| {
            let plan = plan.filter(|plan| plan.made_for_guided())?;
            Some(format!(
                "this flow is made for guided execution: call flows_begin with flowName {} and its inputs as \
                 initialVariables",
                quoted(plan.name())
            ))
        }),
        cut: Cut::default(),
    }
}

fn type_of(kind: &NodeKind) -> &str {
    match kind {
        NodeKind::Input(_) => "multi_input",
        NodeKind::Template(_) => "template",
        NodeKind::Tool(_) => "tool",
        NodeKind::Flow(_) => "flow",
        NodeKind::Result => "result",
        NodeKind::Other(kind) => kind,
    }
}

impl InputAnswer {
    /// An input of a flow that has no plan: what its file says.
    fn declared(input: &crate::discover::FlowInput) -> Self {
        Self {
            name: input.name.clone(),
            kind: input.kind.clone().unwrap_or_else(|| "string".to_owned()),
            required: input.required,
            in_sets: input.in_sets,
            default: input.default.clone(),
            description: input.description.clone(),
            choices: input.choices.clone(),
            used_by: Vec::new(),
        }
    }

    pub(super) fn of(input: &Input, plan: &Plan, in_sets: &HashSet<String>) -> Self {
        let readers = input.used_by.iter().filter_map(|step| plan.step(*step));
        Self {
            name: input.name.clone(),
            kind: input.kind.map_or("string", crate::model::ValueType::name).to_owned(),
            // What a variable set gives, nobody has to give.
            required: input.required && !in_sets.contains(&input.name),
            in_sets: in_sets.contains(&input.name),
            default: input.default.as_deref().cloned(),
            description: input.description.clone(),
            choices: input.choices.clone(),
            used_by: readers.map(|step| step.id.clone()).collect(),
        }
    }
}

impl EdgeAnswer {
    fn of(edge: &Edge, flow: &Flow) -> Self {
        let mapping = edge.mapping.iter().map(|(target, source)| (target.clone(), Value::String(source.clone())));
        Self {
            id: edge.id.clone(),
            source: edge.from.clone(),
            target: edge.to.clone(),
            kind: edge.kind.unwrap_or_else(|| by_ends(flow, &edge.from, &edge.to)).to_string(),
            mapping: mapping.collect(),
        }
    }
}

/// The kind of an edge that says none, by what it connects.
fn by_ends(flow: &Flow, from: &str, to: &str) -> EdgeKind {
    let kind = |id: &str| flow.nodes.iter().find(|node| node.id == id).map(|node| &node.kind);
    if matches!(kind(to), Some(NodeKind::Result)) {
        return EdgeKind::Result;
    }
    match kind(from) {
        Some(NodeKind::Input(_)) => EdgeKind::Data,
        Some(NodeKind::Template(_) | NodeKind::Tool(_) | NodeKind::Flow(_) | NodeKind::Result | NodeKind::Other(_))
        | None => EdgeKind::Chain,
    }
}

/// Label → the node that feeds it, with what the flow says of it.
fn outputs(flow: &Flow, plan: Option<&Plan>) -> IndexMap<String, OutputAnswer> {
    let marks = plan.into_iter().flat_map(|plan| plan.results().iter().map(move |mark| (plan, mark)));
    let outputs = marks.filter_map(|(plan, mark)| {
        let step = plan.step(mark.step?)?;
        let described = flow.outputs.iter().find(|(label, _)| *label == mark.label).map(|(_, text)| text.clone());
        Some((mark.label.clone(), OutputAnswer { node: step.id.clone(), description: described }))
    });
    outputs.collect()
}

fn template(shown: &ShownTemplate, origin: &Origin) -> ShownText {
    let template = &shown.template;
    ShownText {
        name: template.name.clone(),
        kind: "template",
        file: template.file.to_string(),
        title: template.title.clone(),
        description: template.description.clone(),
        text: template.text().into_owned(),
        variables: shown.variables.clone(),
        variable_sets: template.sets.iter().map(SetAnswer::from).collect(),
        used_by: shown.used_by.clone(),
        read_at: origin.into(),
        freshness: origin.into(),
        warnings: of_origin(origin).collect(),
        next_step: None,
        cut: Cut::default(),
    }
}

impl Cuttable for ShownFlow {
    fn parts(&mut self) -> CutParts<'_> {
        let (mut messages, mut finals) = (vec![&mut self.description], Vec::new());
        for input in &mut self.inputs {
            messages.extend(&mut input.description);
            finals.extend(input.default.as_mut().map(CutWords::Value));
        }
        messages.extend(self.warnings.iter_mut().map(|warning| &mut warning.message));
        let steps = self.steps.iter_mut().flat_map(ShownStep::pieces).collect();
        CutParts { cut: &mut self.cut, next_step: &mut self.next_step, steps, messages, finals }
    }

    fn shorten_lists(&mut self, limit: &Limit) -> bool {
        // What else is said of the order comes first: `dependsOn` of the steps says that, too.
        shorten(self, "edges", |flow| Some(&mut flow.edges), limit)
            || shorten(self, "nodes", |flow| flow.nodes.as_mut(), limit)
            || shorten(self, "findings", |flow| Some(&mut flow.findings), limit)
            || shorten(self, "steps", |flow| Some(&mut flow.steps), limit)
            || shorten(self, "inputs", |flow| Some(&mut flow.inputs), limit)
            || shorten(self, "variableSets", |flow| Some(&mut flow.variable_sets), limit)
    }
}

impl Cuttable for ShownText {
    fn parts(&mut self) -> CutParts<'_> {
        let sets = self.variable_sets.iter_mut().map(SetAnswer::words);
        CutParts {
            cut: &mut self.cut,
            next_step: &mut self.next_step,
            steps: Vec::new(),
            messages: self.warnings.iter_mut().map(|warning| &mut warning.message).collect(),
            finals: std::iter::once(CutWords::Text(&mut self.text)).chain(sets).collect(),
        }
    }

    fn shorten_lists(&mut self, limit: &Limit) -> bool {
        shorten(self, "usedBy", |template| Some(&mut template.used_by), limit)
    }
}
