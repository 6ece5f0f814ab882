//! Bindings: for every name a step's text reads, where its value comes from.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::model::{
    InputNode, LONGEST_BACKOFF, Lookup, MOST_RETRIES, NodeKind, Refinement, Sets, StepSets, Template, ToolNode,
};
use crate::plan::{
    Asks, Call, FlowPlan, Linked, MAX_ATTEMPTS, Open, Rendering, Slot, Source, Step, USUAL_BACKOFF, Work, faulty,
};
use crate::validate::{Body, CheckedFlow, DeclaredName, InputScope, Mapped, OutputPart, ReadSource, StepScope};

/// A checked flow with what the bindings need at hand.
pub(super) struct PlanView<'a> {
    checked: &'a CheckedFlow,
    number_of: &'a [Option<usize>],
    scopes: HashMap<usize, &'a StepScope>,
    flows: &'a HashMap<String, FlowPlan>,
    /// The sets of each template, by where it lies, which the scope keeps in place.
    template_sets: RefCell<HashMap<*const Template, Arc<Sets>>>,
}

impl<'a> PlanView<'a> {
    pub(super) fn of(
        checked: &'a CheckedFlow,
        number_of: &'a [Option<usize>],
        flows: &'a HashMap<String, FlowPlan>,
    ) -> Self {
        let scopes = checked.scope().steps.iter().map(|step| (step.node, step)).collect();
        Self { checked, number_of, scopes, flows, template_sets: RefCell::default() }
    }

    /// What is done at a node.
    pub(super) fn work(&self, node: usize) -> Work {
        let Some(scope) = self.scopes.get(&node) else { return faulty(&Body::Elsewhere) };
        let own = Own::of(scope);
        let slots: Vec<Slot> = scope
            .reads
            .iter()
            .map(|read| Slot { name: read.name.clone(), source: self.source(node, &own, &read.name, &read.source) })
            .collect();
        let spec = self.checked.flow().nodes.get(node).map(|node| &node.kind);
        let (text, template, template_name) = match (&scope.body, spec) {
            (Body::Text { text, template, template_name }, _) => (text, template, template_name),
            (Body::Call { address, arguments }, Some(NodeKind::Tool(tool))) => {
                return Work::Call(Box::new(call(address, arguments, tool, scope, slots)));
            }
            (Body::Link { values, .. }, Some(NodeKind::Flow(link))) => {
                let of = link.flow.as_ref().and_then(|name| self.flows.get(name));
                return match of {
                    Some(of) => Work::Flow(Box::new(Linked {
                        of: of.clone(),
                        values: values.clone(),
                        slot_of: scope.outline.name_of.clone(),
                        slots,
                    })),
                    None => faulty(&Body::Elsewhere),
                };
            }
            (body, _) => return faulty(body),
        };
        let (mut sets, mut persona, mut contract) = (Vec::new(), None, None);
        let (mut optional, mut max_attempts, mut asks) = (false, MAX_ATTEMPTS, Asks::default());
        if let Some(NodeKind::Template(step)) = self.checked.flow().nodes.get(node).map(|node| &node.kind) {
            sets.extend((!step.sets.is_empty()).then(|| Arc::new(Sets::of(&step.sets))));
            (persona, contract) = (step.persona.clone(), step.contract.clone());
            (optional, max_attempts) = (step.optional, step.max_attempts.unwrap_or(MAX_ATTEMPTS));
            let wish = step.model.as_ref().or(self.checked.flow().model.as_ref()).cloned();
            asks = Asks { wish, own: step.model.is_some(), goes_on: step.goes_on };
        }
        sets.extend(template.as_ref().filter(|template| !template.sets.is_empty()).map(|template| {
            let mut known = self.template_sets.borrow_mut();
            known.entry(Arc::as_ptr(template)).or_insert_with(|| Arc::new(Sets::of(&template.sets))).clone()
        }));
        Work::Render(Rendering {
            template_name: template_name.clone(),
            template_file: template.as_ref().map(|template| template.file.to_string()),
            text: text.clone(),
            outline: scope.outline.clone(),
            slots,
            sets: StepSets::of(sets),
            persona,
            contract,
            role: found(scope.persona.as_ref()),
            terms: found(scope.contract.as_ref()),
            optional,
            max_attempts,
            asks,
        })
    }

    fn source(&self, node: usize, own: &Own<'_>, name: &str, read: &ReadSource) -> Source {
        let number = |node: usize| self.number_of.get(node).copied().flatten().unwrap_or(usize::MAX);
        match read {
            ReadSource::Mapped(Mapped { node: from, path, by, .. }) => Source::Step {
                step: number(*from),
                part: OutputPart::Result,
                path: path.clone(),
                by: Some(*by),
                otherwise: (!path.is_empty() && self.gives_text(*from)).then(|| {
                    let own = self.open(node, own, name, false, false);
                    // Whether the output has fields is known when it is there, too late to ask for more.
                    Box::new(Open { required: false, declared: false, ..own })
                }),
            },
            ReadSource::Output { node: from, part } => {
                Source::Step { step: number(*from), part: *part, path: Vec::new(), by: None, otherwise: None }
            }
            ReadSource::Set { node: from, path } => Source::Step {
                step: number(*from),
                part: OutputPart::Result,
                path: path.clone(),
                by: None,
                otherwise: None,
            },
            ReadSource::MappedInput { input, declared, .. } => {
                // Where that input has no value, the name itself is looked for as if nothing mapped it.
                let itself = self.open(node, own, name, false, *declared);
                let mapped = self.open(node, own, input, true, false);
                // An input that may be left out fills nothing then, and asks for nothing else.
                let refined = refinement(self.checked, self.checked.scope().inputs.get(input));
                let optional = refined.is_some_and(|refined| refined.required == Some(false));
                Source::Open(Open {
                    required: itself.required && mapped.default.is_none() && !optional,
                    otherwise: (*input != itself.input).then(|| Box::new(itself)),
                    ..mapped
                })
            }
            ReadSource::Open { declared, .. } => Source::Open(self.open(node, own, name, false, *declared)),
            // Both reach the flow, so a checked flow holds neither; as text they do no harm.
            ReadSource::Unreachable { .. } | ReadSource::Ambiguous => Source::Open(Open {
                input: name.to_owned(),
                mapped: false,
                default: None,
                auto: None,
                required: false,
                declared: false,
                otherwise: None,
            }),
        }
    }

    /// Whether a node's output is a text unless whoever answers it gives fields unasked.
    fn gives_text(&self, node: usize) -> bool {
        let node = self.checked.flow().nodes.get(node);
        node.is_some_and(|node| matches!(&node.kind, NodeKind::Template(step) if step.contract.is_none()))
    }

    fn open(&self, node: usize, own: &Own<'_>, input: &str, mapped: bool, step_declares: bool) -> Open {
        let declared_as = self.checked.scope().inputs.get(input);
        let refinement = refinement(self.checked, declared_as);
        let own = own.by_name.get(input).filter(|_| !mapped).map(Vec::as_slice).unwrap_or_default();
        let default = self
            .default(node, declared_as, refinement)
            .or_else(|| own.iter().find_map(|declared| declared.default.clone()));
        let marked = own.iter().find_map(|declared| declared.required);
        let required = default.is_none()
            && match refinement.and_then(|refinement| refinement.required) {
                Some(required) => required,
                None if declared_as.is_some_and(|input| !input.nodes.is_empty()) => true,
                None => step_declares && marked.unwrap_or(true),
            };
        Open {
            input: input.to_owned(),
            mapped,
            default,
            auto: None,
            required,
            declared: step_declares || declared_as.is_some(),
            otherwise: None,
        }
    }

    /// The default of an input for one step: that of `inputs`, else of the input node with an edge
    /// to the step, else of the first input node in the file.
    fn default(
        &self,
        node: usize,
        declared_as: Option<&InputScope>,
        refinement: Option<&Refinement>,
    ) -> Option<Arc<Value>> {
        if let Some(default) = refinement.and_then(|refinement| refinement.default.clone()) {
            return Some(default);
        }
        let nodes = &declared_as?.nodes;
        let with_default =
            || nodes.iter().filter_map(|(from, _, default)| default.as_ref().map(|default| (*from, default)));
        if with_default().nth(1).is_none() {
            return with_default().next().map(|(_, default)| default.clone());
        }
        let before = self.checked.graph().before(node);
        with_default()
            .find(|(from, _)| before.contains(from))
            .or_else(|| with_default().next())
            .map(|(_, default)| default.clone())
    }
}

/// What a step's node and template declare, by name.
struct Own<'a> {
    by_name: HashMap<&'a str, Vec<&'a DeclaredName>>,
}

impl<'a> Own<'a> {
    fn of(scope: &'a StepScope) -> Self {
        let mut by_name: HashMap<&str, Vec<&DeclaredName>> = HashMap::new();
        for declared in &scope.declared {
            by_name.entry(&declared.name).or_default().push(declared);
        }
        Self { by_name }
    }
}

fn found<T>(lookup: Option<&Lookup<T>>) -> Option<Arc<T>> {
    match lookup {
        Some(Lookup::Found(found)) => Some(found.clone()),
        Some(Lookup::Missing { .. } | Lookup::Ambiguous { .. } | Lookup::Broken(_) | Lookup::NotChecked) | None => None,
    }
}

/// What `inputs` says of a name.
pub(super) fn refinement<'a>(checked: &'a CheckedFlow, declared_as: Option<&InputScope>) -> Option<&'a Refinement> {
    checked.flow().inputs.get(declared_as?.refinement?)
}

/// Lets a step's one open name take the output of its one parent, where nothing else can be meant.
pub(super) fn map_automatically(steps: &mut [Step], checked: &CheckedFlow) {
    let mut needed: HashMap<String, usize> = HashMap::new();
    for step in steps.iter() {
        for open in opens(step).filter(|(_, open)| open.required) {
            *needed.entry(open.1.input.clone()).or_default() += 1;
        }
    }
    let alone = |open: &Open| {
        open.required
            && !open.mapped
            && !checked.scope().inputs.contains_key(&open.input)
            && needed.get(&open.input) == Some(&1)
    };
    for step in steps.iter_mut() {
        let [parent] = step.parents.as_slice() else { continue };
        let parent = *parent;
        let candidates: Vec<usize> = opens(step).filter(|(_, open)| alone(open)).map(|(place, _)| place).collect();
        let [place] = candidates.as_slice() else { continue };
        let place = *place;
        let slots = match &mut step.work {
            Work::Render(rendering) => &mut rendering.slots,
            Work::Call(call) => &mut call.slots,
            Work::Flow(linked) => &mut linked.slots,
            Work::Gather(_) | Work::Faulty { .. } => continue,
        };
        let reads_parent = slots
            .iter()
            .any(|slot| matches!(slot.source, Source::Step { step, part: OutputPart::Result, .. } if step == parent));
        if reads_parent {
            continue;
        }
        if let Some(Slot { source: Source::Open(open), .. }) = slots.get_mut(place) {
            open.auto = Some(parent);
            open.required = false;
        }
    }
}

/// The open slots of a step, with their places.
pub(super) fn opens(step: &Step) -> impl Iterator<Item = (usize, &Open)> {
    step.work.slots().iter().enumerate().filter_map(|(place, slot)| match &slot.source {
        Source::Open(open) => Some((place, open)),
        Source::Step { .. } | Source::Passed(_) => None,
    })
}

fn call(
    address: &crate::model::ToolAddress,
    arguments: &Arc<crate::render::Stencil>,
    tool: &ToolNode,
    scope: &StepScope,
    slots: Vec<Slot>,
) -> Call {
    let millis = Duration::from_millis;
    let (holes, required) = scope.outline.name_of.split_at(arguments.holes().len().min(scope.outline.name_of.len()));
    let paths = scope.outline.placeholders.iter().skip(holes.len()).map(|placeholder| placeholder.path.clone());
    Call {
        address: address.clone(),
        arguments: arguments.clone(),
        slots,
        slot_of: holes.to_vec(),
        requires: required.iter().copied().zip(paths).collect(),
        goes_on: tool.goes_on,
        retries: tool.retries.min(MOST_RETRIES),
        backoff: tool.backoff_ms.map_or(USUAL_BACKOFF, millis).min(LONGEST_BACKOFF),
        timeout: tool.timeout_ms.map(millis),
        delay: tool.delay_ms.map(millis).unwrap_or_default(),
        set: tool.set.clone(),
    }
}

/// The variables an input node declares, with their names in NFC.
pub(super) fn variables(input: &InputNode) -> impl Iterator<Item = String> + '_ {
    input
        .variables
        .iter()
        .filter_map(|variable| crate::names::VariableName::normal(&variable.name).ok())
        .map(|name| name.as_str().to_owned())
}
