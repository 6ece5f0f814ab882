//! Who declares, reads and provides which name: worked out once for the rules and for the plan.
//!
//! Everything that gives a name its meaning is decided here from the files alone, so that what a
//! rule says, what `flows_show` shows and what a run does can't differ.

mod reading;
mod step;
mod texts;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use crate::code::Code;
use crate::graph::{Ancestors, Graph, Order};
use crate::model::{Contract, Flow, Lookup, Node, NodeKind, Shelf, UnfoldedSize, Unusable};
use crate::names::VariableName;
use crate::render::Outline;
use crate::validate::{Known, doing};
use reading::Reader;
use step::names_of;
use texts::Texts;

pub(super) use reading::mapping_source;
pub use reading::{Mapped, MappedBy, Read, ReadSource};
pub use step::{Body, DeclaredName, Intent, Mending, StepScope};

/// The names of one flow.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// One for each runnable node, in file order.
    pub steps: Vec<StepScope>,
    /// Which node gives which name; several nodes where a name is ambiguous.
    pub outputs: HashMap<String, Vec<(usize, OutputPart)>>,
    /// Which node's `set` gives which name, and the dot path into its result.
    pub set: HashMap<String, Vec<(usize, Vec<String>)>>,
    /// What input nodes and `inputs` declare, by name in NFC.
    pub inputs: BTreeMap<String, InputScope>,
}

/// What of a step's output a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutputPart {
    /// `<id>_result`: the output.
    Result,
    /// `<id>_template`: the name of the template it was made from.
    Template,
}

/// A name that input nodes or `inputs` declare.
#[derive(Debug, Clone, Default)]
pub struct InputScope {
    /// The input nodes that declare it: node, place among its variables, default.
    pub nodes: Vec<(usize, usize, Option<Arc<Value>>)>,
    /// Its place in the flow's `inputs`.
    pub refinement: Option<usize>,
}

/// The names under which a node's output and template can be read.
pub fn output_names(id: &str) -> Vec<(String, OutputPart)> {
    let plain: String = id.chars().filter(|c| *c != '-').collect();
    let mut names = Vec::with_capacity(4);
    for (stem, again) in [(plain.as_str(), false), (id, true)] {
        if again && plain == id {
            continue;
        }
        for (end, part) in [("_result", OutputPart::Result), ("_template", OutputPart::Template)] {
            if let Ok(name) = VariableName::normal(&format!("{stem}{end}")) {
                names.push((name.as_str().to_owned(), part));
            }
        }
    }
    names
}

impl Scope {
    /// Works out the names of a flow. `order` is none where there is a ring: then nothing is
    /// called unreachable, because the ring is the trouble.
    pub fn of(
        flow: &Flow,
        graph: &Graph,
        order: Option<&Order>,
        edges: &[Option<(usize, usize)>],
        known: Known<'_>,
    ) -> Self {
        let shelf = known.shelf;
        let mut scope = Self::default();
        for (number, node) in flow.nodes.iter().enumerate() {
            if node.runnable() {
                for (name, part) in output_names(&node.id) {
                    let givers = scope.outputs.entry(name).or_default();
                    if !givers.contains(&(number, part)) {
                        givers.push((number, part));
                    }
                }
            }
            if let NodeKind::Tool(tool) = &node.kind {
                for (name, path) in &tool.set {
                    if let Some(name) = usable(name) {
                        let path = path.split('.').filter(|step| !step.is_empty()).map(str::to_owned).collect();
                        scope.set.entry(name.as_str().to_owned()).or_default().push((number, path));
                    }
                }
            }
            if let NodeKind::Input(input) = &node.kind {
                for (place, variable) in input.variables.iter().enumerate() {
                    if let Some(name) = usable(&variable.name) {
                        scope.inputs.entry(name.as_str().to_owned()).or_default().nodes.push((
                            number,
                            place,
                            variable.default.clone(),
                        ));
                    }
                }
            }
        }
        for (place, refinement) in flow.inputs.iter().enumerate() {
            if let Some(name) = usable(&refinement.name) {
                scope.inputs.entry(name.as_str().to_owned()).or_default().refinement.get_or_insert(place);
            }
        }
        let ancestors = order.map(Ancestors::of);
        let mut incoming: Vec<Vec<usize>> = vec![Vec::new(); graph.len()];
        for (edge, ends) in edges.iter().enumerate() {
            if let Some((_, to)) = ends
                && let Some(list) = incoming.get_mut(*to)
            {
                list.push(edge);
            }
        }
        let mut texts = Texts::of(known);
        let mut steps = Vec::new();
        for (number, node) in flow.nodes.iter().enumerate().filter(|(_, node)| node.runnable()) {
            let incoming = incoming.get(number).map(Vec::as_slice).unwrap_or_default();
            let reader = Reader::of(flow, number, edges, incoming, ancestors.as_ref());
            let mut step = scope.step(node, &reader, &mut texts);
            if let NodeKind::Template(template) = &node.kind {
                step.persona = template.persona.as_deref().map(|name| shelf.persona(name));
                step.contract = template.contract.as_ref().map(|contract| contract_of(contract, flow, shelf));
            }
            steps.push(step);
        }
        scope.steps = steps;
        scope
    }

    fn step(&self, node: &Node, reader: &Reader<'_>, texts: &mut Texts<'_>) -> StepScope {
        let NodeKind::Template(step) = &node.kind else { return self.doing(node, reader, texts) };
        let (body, outline) = texts.body_of(node, step);
        let (text, template) =
            if let Body::Text { text, template, .. } = &body { (&**text, template.as_deref()) } else { ("", None) };
        if let Some(message) = texts.too_many_of(step, (text, template), &outline) {
            return StepScope::without_text(reader.node, faulty(node, Code::LimitExceeded, message));
        }
        let mut declared = names_of(&step.variables, true);
        if let Some(template) = template {
            declared.extend(names_of(&template.variables, false));
        }
        let known: HashSet<&str> = declared.iter().map(|declared| declared.name.as_str()).collect();
        // A list in which nothing can be a name declares nothing.
        let is_declared = |name: &str| if known.is_empty() { begins_like_a_name(name) } else { known.contains(name) };
        let reads = self.reads(&outline, reader, &is_declared);
        StepScope { declared, outline, reads, ..StepScope::without_text(reader.node, body) }
    }

    /// What the brace groups of an outline read, once for each name.
    fn reads(&self, outline: &Outline, reader: &Reader<'_>, declared: &dyn Fn(&str) -> bool) -> Vec<Read> {
        let reads = outline.names.iter().filter_map(|place| {
            let name = outline.placeholders.get(*place)?.name.clone();
            let mapped = reader.mapped(&name, &self.inputs, declared(&name));
            let source = mapped.or_else(|| self.output(&name, reader)).unwrap_or_else(|| ReadSource::Open {
                declared: declared(&name),
                input: self.inputs.contains_key(&name),
            });
            Some(Read { name, placeholder: *place, source })
        });
        reads.collect()
    }

    /// A step that has no text of its own: it calls a tool, or goes through another flow.
    fn doing(&self, node: &Node, reader: &Reader<'_>, texts: &mut Texts<'_>) -> StepScope {
        let pointer = reader.flow.node_pointer(reader.node).key("data");
        let done = match &node.kind {
            NodeKind::Tool(tool) => doing::call(tool, &pointer, texts.known.tools),
            NodeKind::Flow(link) => doing::link(link, reader.flow.place_in_file, &pointer, texts.shelf),
            NodeKind::Template(_) | NodeKind::Input(_) | NodeKind::Result | NodeKind::Other(_) => {
                Err(doing::DoingFault::new(doing::FaultKind::Empty, "the node is no step"))
            }
        };
        let done = match done {
            Ok(done) => done,
            Err(fault) => {
                let (code, message) = (fault.kind.code(), fault.with_nearest(&texts.comparisons));
                return StepScope {
                    fault: Some(fault),
                    ..StepScope::without_text(reader.node, faulty(node, code, message))
                };
            }
        };
        let outline = Arc::new(Outline::made_of(done.placeholders));
        let placeholders = outline.placeholders.len();
        if let Some(message) =
            texts.too_many(UnfoldedSize { names: placeholders, groups: placeholders, ..UnfoldedSize::default() })
        {
            return StepScope::without_text(reader.node, faulty(node, Code::LimitExceeded, message));
        }
        let known: HashSet<&str> = done.declared.iter().map(|declared| declared.name.as_str()).collect();
        let reads = self.reads(&outline, reader, &|name| known.contains(name) || begins_like_a_name(name));
        StepScope {
            declared: done.declared,
            outline,
            places: done.places,
            reads,
            ..StepScope::without_text(reader.node, done.body)
        }
    }

    /// Whether a name stands for a step's output, and of which step.
    fn output(&self, name: &str, reader: &Reader<'_>) -> Option<ReadSource> {
        let (outputs, set) = (self.outputs.get(name), self.set.get(name));
        let mut nodes: Vec<usize> = self.givers(name).collect();
        nodes.sort_unstable();
        nodes.dedup();
        if nodes.len() > 1 {
            return Some(ReadSource::Ambiguous);
        }
        let node = *nodes.first()?;
        if !reader.ancestors.is_none_or(|ancestors| ancestors.reaches(node, reader.node)) {
            return Some(ReadSource::Unreachable { node });
        }
        Some(match (outputs.and_then(|givers| givers.first()), set.and_then(|givers| givers.first())) {
            (Some((node, part)), _) => ReadSource::Output { node: *node, part: *part },
            (None, Some((node, path))) => ReadSource::Set { node: *node, path: path.clone() },
            (None, None) => return None,
        })
    }

    /// The step that a node is.
    pub fn step_of(&self, node: usize) -> Option<&StepScope> {
        self.steps.iter().find(|step| step.node == node)
    }

    /// The nodes that give a name: by their id, or by what their `set` says.
    pub fn givers<'s>(&'s self, name: &str) -> impl Iterator<Item = usize> + use<'s> {
        let outputs = self.outputs.get(name).into_iter().flatten().map(|(node, _)| *node);
        outputs.chain(self.set.get(name).into_iter().flatten().map(|(node, _)| *node))
    }
}

/// What a node's `contract` means: a name, or the schema itself.
fn contract_of(contract: &Arc<Value>, flow: &Flow, shelf: &Shelf) -> Lookup<Contract> {
    match &**contract {
        Value::String(name) => shelf.contract(name),
        _ => match Contract::compile(None, contract.clone()) {
            Ok(contract) => Lookup::Found(Arc::new(contract)),
            Err(error) => Lookup::Broken(Unusable {
                file: flow.file.to_string(),
                code: Code::ValidationError,
                message: error.to_string(),
                at: None,
                hints: Vec::new(),
            }),
        },
    }
}

/// Whether a `selectedTemplateId` is the web app's own: all digits, or a UUID.
pub(super) fn app_internal(reference: &str) -> bool {
    let digits = !reference.is_empty() && reference.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<&str> = reference.split('-').collect();
    let uuid = parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12])
        && parts.iter().all(|part| part.bytes().all(|b| b.is_ascii_hexdigit()));
    digits || uuid
}

/// Whether a name that nobody declares is taken for one where node and template declare nothing.
fn begins_like_a_name(name: &str) -> bool {
    name.starts_with(|c: char| c == '_' || c.is_alphabetic()) && !set_selector(name)
}

/// Whether a name chooses a variable set (or is the old spelling that does), so that it can't be a
/// variable.
pub(super) fn set_selector(name: &str) -> bool {
    name == "_variableSet" || name.starts_with("_useSet_")
}

/// A declared name in NFC, where it can be one.
fn usable(name: &str) -> Option<VariableName> {
    VariableName::normal(name).ok().filter(|name| !set_selector(name.as_str()))
}

/// A node whose step can't be done.
fn faulty(node: &Node, code: Code, message: String) -> Body {
    Body::Faulty { code, message, meant: Intent::of(node), mending: Mending::default() }
}
