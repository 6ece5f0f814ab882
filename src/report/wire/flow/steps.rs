//! The steps of a flow as they would run.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::SetAnswer;
use crate::app::{Priced, in_sets};
use crate::model::{ModelWish, Toolbox};
use crate::names::shown as safe;
use crate::plan::{Call, Intent, Plan, Rendering, Slot, Source, Step, Work};
use crate::report::wire::asked::ModelAsked;
use crate::report::wire::common::{Fault, MendingAnswer};
use crate::report::wire::size::{CutPart, CutPiece, CutWords, StepCut, StepPieces};
use crate::validate::OutputPart;

/// A step of a flow.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShownStep {
    /// Id of the node.
    id: String,
    /// Name of the step as people read it.
    label: String,
    /// Type of the node: template, tool or flow.
    kind: String,
    /// What the step does.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Steps of one wave run side by side; from 0.
    wave: usize,
    /// Ids of the steps whose end it waits for.
    depends_on: Vec<String>,
    #[serde(flatten)]
    does: ShownWork,
    #[serde(flatten)]
    cut: StepCut,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all_fields = "camelCase", untagged)]
enum ShownWork {
    Render {
        /// Name of the template; absent where the step has a text of its own.
        #[serde(skip_serializing_if = "Option::is_none")]
        template: Option<String>,
        /// Persona that whoever does the step in a guided execution takes on.
        #[serde(skip_serializing_if = "Option::is_none")]
        persona: Option<String>,
        /// Model that the node, its flow or the flow around it names for the step, where the operator has models; false
        /// for none.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<Value>,
        /// The model that answers it in `flows_execute` unless the caller names another, with what that may take; absent
        /// where none does.
        #[serde(skip_serializing_if = "Option::is_none")]
        answered_by: Option<ModelAsked>,
        /// Contract that the output has to meet in a guided execution; `inline` stands for a schema.
        #[serde(skip_serializing_if = "Option::is_none")]
        contract: Option<Value>,
        /// Whether the step may be skipped in a guided execution; absent where it may not.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        optional: bool,
        /// How many outputs that don't meet the contract a guided execution takes before it fails; absent without a
        /// contract.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_attempts: Option<u32>,
        /// Where each placeholder takes its value from.
        reads: Vec<PlaceholderRead>,
        /// The template's text; with detail full.
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// Named sets of values; with detail full.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        variable_sets: Vec<SetAnswer>,
    },
    Call {
        /// Of a tool step: the tool, as alias:tool.
        call: String,
        /// Of a tool step: why the tool can't be called now; absent when nothing is known against it.
        #[serde(skip_serializing_if = "Option::is_none")]
        unavailable: Option<String>,
        /// Of a tool step: what must be there, else the step is left out.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        requires: Vec<String>,
        /// Where each placeholder takes its value from.
        reads: Vec<PlaceholderRead>,
        /// Of a tool step: its arguments as they are written; with detail full.
        #[serde(skip_serializing_if = "Option::is_none")]
        args: Option<Map<String, Value>>,
    },
    Flow {
        /// Of a flow step: the flow within.
        flow: String,
        /// Where each placeholder takes its value from.
        reads: Vec<PlaceholderRead>,
        /// Of a flow step: what the flow within is given, by its inputs; with detail full.
        #[serde(skip_serializing_if = "Option::is_none")]
        variables: Option<Map<String, Value>>,
        /// Of a flow step: the steps within, each like these; with detail full. Each flow is shown in full once.
        #[serde(skip_serializing_if = "Option::is_none")]
        steps: Option<Vec<ShownStep>>,
    },
    Faulty {
        /// The tool that it means, as alias:tool.
        #[serde(skip_serializing_if = "Option::is_none")]
        call: Option<String>,
        /// The flow that it means.
        #[serde(skip_serializing_if = "Option::is_none")]
        flow: Option<String>,
        /// Where each placeholder takes its value from; nothing is known of it here.
        reads: Vec<PlaceholderRead>,
        /// Why the step fails when it is reached; absent when it can run.
        faulty: FaultyAnswer,
    },
}

/// Why a step fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FaultyAnswer {
    #[serde(flatten)]
    fault: Fault,
    /// What has to be fixed.
    details: MendingAnswer,
}

/// A placeholder, and where its value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlaceholderRead {
    /// As it is written, without braces.
    placeholder: String,
    /// Where its value comes from, in words.
    from: String,
}

/// What is known beside a plan, and how much is shown.
#[derive(Clone, Copy)]
pub(super) struct Beside<'a> {
    pub(super) tools: &'a Toolbox,
    /// What models would take at most, by the ids of steps.
    pub(super) priced: &'a BTreeMap<String, Priced>,
    pub(super) full: bool,
    pub(super) unfolded: &'a Unfolded,
}

/// The flows within that are shown already: each is shown wholly once, however often it stands in others.
#[derive(Debug, Default)]
pub(in crate::report) struct Unfolded(RefCell<HashSet<*const Plan>>);

impl Unfolded {
    /// Whether a flow is met for the first time.
    pub(in crate::report) fn is_first(&self, plan: &Arc<Plan>) -> bool {
        self.0.borrow_mut().insert(Arc::as_ptr(plan))
    }
}

impl ShownStep {
    /// `within`: the ids of the flow steps around these, each with a slash.
    pub(super) fn all(plan: &Plan, beside: Beside<'_>, within: &str) -> Vec<Self> {
        let origins = Origins::of(plan);
        plan.steps().iter().map(|step| Self::of(step, &origins, beside, within)).collect()
    }

    fn of(step: &Step, origins: &Origins<'_>, beside: Beside<'_>, within: &str) -> Self {
        let parents = step.parents.iter().filter_map(|parent| origins.plan.step(*parent));
        Self {
            id: step.id.clone(),
            label: step.label.clone(),
            kind: kind(&step.work).to_owned(),
            description: step.description.clone(),
            wave: step.wave,
            depends_on: parents.map(|parent| parent.id.clone()).collect(),
            does: ShownWork::of(&step.work, origins, beside, &format!("{within}{}", step.id)),
            cut: StepCut::default(),
        }
    }

    /// What can give way of a step, and of the steps within it.
    pub(super) fn pieces(&mut self) -> Vec<StepPieces<'_>> {
        let mut within = Vec::new();
        let seen = |name, values| CutPiece::new(name, CutPart::Seen, values);
        let pieces = match &mut self.does {
            ShownWork::Render { text, variable_sets, .. } => {
                let sets = variable_sets.iter_mut().map(|set| seen("variableSets", set.words()));
                let text = text.as_mut().map(|text| CutPiece::new("text", CutPart::PutOut, CutWords::Text(text)));
                sets.chain(text).collect()
            }
            ShownWork::Call { args, .. } => args.iter_mut().map(|args| seen("args", CutWords::Values(args))).collect(),
            ShownWork::Flow { variables, steps, .. } => {
                within.extend(steps.iter_mut().flatten().flat_map(Self::pieces));
                variables.iter_mut().map(|values| seen("variables", CutWords::Values(values))).collect()
            }
            ShownWork::Faulty { .. } => Vec::new(),
        };
        within.insert(0, StepPieces { pieces, cut: &mut self.cut });
        within
    }
}

/// The type of node that does such work.
fn kind(work: &Work) -> &'static str {
    match work {
        Work::Render(_) | Work::Faulty { meant: Intent::Text, .. } => "template",
        Work::Call(_) | Work::Faulty { meant: Intent::Call(_), .. } => "tool",
        Work::Flow(_) | Work::Gather(_) | Work::Faulty { meant: Intent::Flow(_), .. } => "flow",
    }
}

/// Who is to answer a step, as files say.
fn model_of(rendering: &Rendering) -> Option<Value> {
    match rendering.asks.wish.as_ref()? {
        ModelWish::Nobody => Some(Value::Bool(false)),
        ModelWish::Model(model) => model.name.as_deref().map(Value::from),
    }
}

impl ShownWork {
    fn of(work: &Work, origins: &Origins<'_>, beside: Beside<'_>, id: &str) -> Self {
        let Beside { tools, priced, full, unfolded } = beside;
        let read = reads(work).into_iter();
        let reads = read.map(|(placeholder, slot)| PlaceholderRead { from: origins.from(slot), placeholder }).collect();
        match work {
            Work::Render(rendering) => Self::Render {
                template: rendering.template_file.is_some().then(|| rendering.template_name.clone()),
                persona: rendering.persona.clone(),
                model: model_of(rendering),
                answered_by: priced.get(id).map(ModelAsked::from),
                contract: rendering.contract.as_ref().map(|contract| named(contract, full)),
                optional: rendering.optional,
                max_attempts: rendering.contract.as_ref().map(|_| rendering.max_attempts),
                reads,
                text: full.then(|| rendering.text.to_string()),
                variable_sets: if full { rendering.sets.iter().map(SetAnswer::from).collect() } else { Vec::new() },
            },
            Work::Call(call) => Self::Call {
                call: call.address.to_string(),
                unavailable: tools.trouble(&call.address.server).map(str::to_owned),
                requires: requires(call),
                reads,
                args: full.then(|| call.arguments.written().clone()),
            },
            Work::Flow(linked) => Self::Flow {
                flow: linked.of.plan.name().to_owned(),
                reads,
                variables: full.then(|| linked.values.written().clone()),
                steps: full.then(|| {
                    let beside = Beside { full: unfolded.is_first(&linked.of.plan), ..beside };
                    ShownStep::all(&linked.of.plan, beside, &format!("{id}/"))
                }),
            },
            Work::Gather(gather) => Self::Flow { flow: gather.flow.clone(), reads, variables: None, steps: None },
            Work::Faulty { code, message, meant, mending } => {
                let (call, flow) = match meant {
                    Intent::Call(call) => (Some(call.clone()), None),
                    Intent::Flow(flow) => (None, Some(flow.clone())),
                    Intent::Text => (None, None),
                };
                let fault = Fault { code: code.word().to_owned(), message: message.clone() };
                let faulty = FaultyAnswer { fault, details: MendingAnswer::of(*code, mending) };
                Self::Faulty { call, flow, reads, faulty }
            }
        }
    }
}

/// An inline schema is long; its being there is what a summary says.
fn named(contract: &Value, full: bool) -> Value {
    if full || contract.is_string() { contract.clone() } else { json!("inline") }
}

/// The names that have to be there for a call.
fn requires(call: &Call) -> Vec<String> {
    let names = call.requires.iter().filter_map(|(slot, path)| {
        let name = call.slots.get(*slot)?.name.as_str();
        Some(std::iter::once(name).chain(path.iter().map(String::as_str)).collect::<Vec<_>>().join("."))
    });
    names.collect()
}

/// What a step reads: the placeholders of its text as they are spelt, each once, else its values by name.
pub(in crate::report) fn reads(work: &Work) -> Vec<(String, &Slot)> {
    let Work::Render(rendering) = work else {
        return work.slots().iter().map(|slot| (slot.name.clone(), slot)).collect();
    };
    let mut seen: HashSet<String> = HashSet::new();
    let read = rendering.outline.placeholders.iter().zip(&rendering.outline.name_of);
    let read = read.filter_map(|(placeholder, slot)| Some((placeholder.spelt(), rendering.slots.get(*slot)?)));
    read.filter(|(spelt, _)| seen.insert(spelt.clone())).collect()
}

/// Where the values of a plan's slots come from, in words.
pub(in crate::report) struct Origins<'p> {
    plan: &'p Plan,
    in_sets: HashSet<String>,
}

impl<'p> Origins<'p> {
    /// Of the slots of this plan.
    pub(in crate::report) fn of(plan: &'p Plan) -> Self {
        Self { plan, in_sets: in_sets(plan) }
    }

    /// Where a slot's value comes from.
    pub(in crate::report) fn from(&self, slot: &Slot) -> String {
        let id = |step: usize| self.plan.step(step).map_or("", |step| step.id.as_str());
        match &slot.source {
            Source::Step { step, part: OutputPart::Template, .. } => format!("template name of {}", id(*step)),
            Source::Step { step, path, by, .. } => {
                let path = if path.is_empty() { String::new() } else { format!(" at {}", path.join(".")) };
                let how = match by {
                    Some(crate::validate::MappedBy::Mapping) => " (mapped)",
                    Some(crate::validate::MappedBy::Handle) => " (mapped by targetHandle)",
                    None => "",
                };
                format!("output of {}{path}{how}", id(*step))
            }
            Source::Passed(passed) => format!("input {} of flow {}", passed.input, passed.flow),
            Source::Open(open) => {
                let input = if open.input == slot.name { "input".to_owned() } else { format!("input {}", open.input) };
                match (&open.default, open.auto) {
                    (Some(default), _) => format!("{input}, default {}", safe(&default.to_string(), 80)),
                    (None, Some(parent)) => format!("{input}, else output of {}", id(parent)),
                    (None, None) if open.required && open.places().any(|open| self.in_sets.contains(&open.input)) => {
                        format!("{input}, else from the chosen variable set")
                    }
                    (None, None) if open.required => format!("{input}, required"),
                    (None, None) if open.declared => format!("{input}, else empty"),
                    (None, None) => "nothing declares it: stays as text unless given".to_owned(),
                }
            }
        }
    }
}
