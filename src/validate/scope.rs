//! Who declares, reads and provides which name: worked out once for the rules and for the plan.
//!
//! Everything that gives a name its meaning is decided here from the files alone, so that what a
//! rule says, what `flows_show` shows and what a run does can't differ.

mod texts;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::code::Code;
use crate::document::Pointer;
use crate::graph::{Ancestors, Graph, Order};
use crate::model::{
    Contract, Flow, KnownFlow, Lookup, Node, NodeKind, Persona, Shelf, Template, ToolAddress, Unusable, ValueType,
};
use crate::names::VariableName;
use crate::render::{Outline, Placeholder, Stencil};
use crate::validate::{Finding, Known, doing};
use texts::Texts;

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
    pub nodes: Vec<(usize, usize, Option<Value>)>,
    /// Its place in the flow's `inputs`.
    pub refinement: Option<usize>,
}

/// What is known of one step's text, or of the texts it has instead of one.
#[derive(Debug, Clone)]
pub struct StepScope {
    /// The node's number.
    pub node: usize,
    /// Its text, or why there is none.
    pub body: Body,
    /// What node and template declare, the node first; names outside the alphabet are left out.
    pub declared: Vec<DeclaredName>,
    /// The brace groups of its text; shared by steps of one template.
    pub outline: Arc<Outline>,
    /// Where each brace group stands, for a step that has several texts; else empty.
    pub places: Vec<Pointer>,
    /// The distinct names its text reads, in order of appearance: one for each name of the outline.
    pub reads: Vec<Read>,
    /// The role it asks for, looked up.
    pub persona: Option<Lookup<Persona>>,
    /// What its output must meet, looked up or compiled.
    pub contract: Option<Lookup<Contract>>,
    /// What keeps a step that has no text from being done.
    pub(super) fault: Option<doing::DoingFault>,
}

impl StepScope {
    fn without_text(node: usize, body: Body) -> Self {
        let outline = Arc::default();
        Self {
            node,
            body,
            declared: Vec::new(),
            outline,
            places: Vec::new(),
            reads: Vec::new(),
            persona: None,
            contract: None,
            fault: None,
        }
    }

    /// What the text reads under a name (in NFC), if it does.
    pub fn read(&self, name: &str) -> Option<&Read> {
        self.reads.get(self.outline.number(name)?)
    }

    /// The first brace group of a read.
    pub fn placeholder(&self, read: &Read) -> Option<&Placeholder> {
        self.outline.placeholders.get(read.placeholder)
    }
}

/// A step's text.
#[derive(Debug, Clone)]
pub enum Body {
    /// There is a text.
    Text {
        /// The text.
        text: Arc<str>,
        /// The template it comes from; none for inline text.
        template: Option<Arc<Template>>,
        /// How results name it: the template's name, or the node's caption for inline text.
        template_name: String,
    },
    /// There is an external tool to call.
    Call {
        /// Which.
        address: ToolAddress,
        /// With what.
        arguments: Arc<Stencil>,
    },
    /// There is another flow to go through.
    Link {
        /// Which.
        flow: Arc<KnownFlow>,
        /// What its inputs get.
        values: Arc<Stencil>,
    },
    /// The step fails when it is reached.
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
    /// A file is checked without its catalog: its template is somewhere else.
    Elsewhere,
}

/// What a step that can't be done was to do, as its node says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Intent {
    /// To fill a text.
    #[default]
    Text,
    /// To call a tool.
    Call(String),
    /// To go through another flow.
    Flow(String),
}

/// What has to be fixed so that a step can be done; the same as its finding says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mending {
    /// The files.
    pub files: Vec<String>,
    /// How.
    pub hints: Vec<String>,
}

impl Mending {
    /// What a finding says.
    pub fn of(finding: &Finding) -> Self {
        let own = || vec![finding.file.to_string()];
        let files = if finding.files.is_empty() { own() } else { finding.files.clone() };
        Self { files, hints: finding.hints.clone() }
    }
}

impl Intent {
    fn of(node: &Node) -> Self {
        match &node.kind {
            NodeKind::Tool(tool) => tool.call.clone().map_or(Self::Text, Self::Call),
            NodeKind::Flow(link) => link.flow.clone().map_or(Self::Text, Self::Flow),
            NodeKind::Template(_) | NodeKind::Input(_) | NodeKind::Result | NodeKind::Other(_) => Self::Text,
        }
    }
}

/// A name that a node or its template declares for the text.
#[derive(Debug, Clone)]
pub struct DeclaredName {
    /// The name in NFC.
    pub name: String,
    /// Whether the node says so, or the template.
    pub by_node: bool,
    /// `required`, where it is said.
    pub required: Option<bool>,
    /// The default, where there is one.
    pub default: Option<Value>,
    /// The type, where it is said.
    pub kind: Option<ValueType>,
    /// The description, where there is one.
    pub description: Option<String>,
    /// Where it is declared, in the file of node or template.
    pub pointer: Pointer,
}

/// A name that a step's text reads.
#[derive(Debug, Clone)]
pub struct Read {
    /// The name in NFC.
    pub name: String,
    /// The first placeholder that reads it.
    pub placeholder: usize,
    /// Where its value comes from, as far as the files say.
    pub source: ReadSource,
}

/// Where a name's value comes from, as far as the files say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadSource {
    /// An edge says so: the output of a step.
    Mapped(Mapped),
    /// An edge says so: the value of an input, under this name.
    MappedInput {
        /// The edge.
        edge: usize,
        /// The input's name.
        input: String,
        /// Whether the step declares the name that it reads.
        declared: bool,
    },
    /// An ancestor's output.
    Output {
        /// The node that gives it.
        node: usize,
        /// What of it.
        part: OutputPart,
    },
    /// A part of an ancestor's output that its `set` names.
    Set {
        /// The node that gives it.
        node: usize,
        /// The dot path into its result.
        path: Vec<String>,
    },
    /// The output of a step that doesn't come before.
    Unreachable {
        /// That step's node.
        node: usize,
    },
    /// Several nodes give that name.
    Ambiguous {
        /// Those nodes.
        nodes: Vec<usize>,
    },
    /// The caller, a variable set, or a default.
    Open {
        /// Whether node or template declare it, or (where they declare nothing) the text itself.
        declared: bool,
        /// Whether an input node or `inputs` declares it.
        input: bool,
    },
}

/// A value that an edge carries from a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapped {
    /// The edge.
    pub edge: usize,
    /// The node it comes from.
    pub node: usize,
    /// The dot path into the output; empty for the whole.
    pub path: Vec<String>,
    /// What says so.
    pub by: MappedBy,
}

/// What makes an edge carry a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MappedBy {
    /// `data.mapping`.
    Mapping,
    /// `targetHandle`.
    Handle,
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
            let reader = Reader { flow, node: number, edges, incoming, ancestors: ancestors.as_ref() };
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
        let NodeKind::Template(step) = &node.kind else {
            return self.doing(node, reader, texts);
        };
        let (body, outline) = texts.body_of(node, step);
        let template = if let Body::Text { template, .. } = &body { template.as_deref() } else { None };
        if let Some(message) = texts.too_many_of(step, template, &outline) {
            let body = Body::Faulty {
                code: Code::LimitExceeded,
                message,
                meant: Intent::of(node),
                mending: Mending::default(),
            };
            return StepScope::without_text(reader.node, body);
        }
        let mut declared = names_of(&step.variables, true);
        if let Some(template) = template {
            declared.extend(names_of(&template.variables, false));
        }
        let known: HashSet<&str> = declared.iter().map(|declared| declared.name.as_str()).collect();
        let declares = !step.variables.is_empty() || template.is_some_and(|template| !template.variables.is_empty());
        let is_declared = |name: &str| if declares { known.contains(name) } else { begins_like_a_name(name) };
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
                let (code, message) = (fault.kind.code(), fault.with_nearest());
                let body = Body::Faulty { code, message, meant: Intent::of(node), mending: Mending::default() };
                return StepScope { fault: Some(fault), ..StepScope::without_text(reader.node, body) };
            }
        };
        let outline = Arc::new(Outline::made_of(done.placeholders));
        if let Some(message) = texts.too_many(outline.placeholders.len()) {
            let body = Body::Faulty {
                code: Code::LimitExceeded,
                message,
                meant: Intent::of(node),
                mending: Mending::default(),
            };
            return StepScope::without_text(reader.node, body);
        }
        let reads = self.reads(&outline, reader, &|name| {
            done.declared.iter().any(|declared| declared.name == name) || begins_like_a_name(name)
        });
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
            return Some(ReadSource::Ambiguous { nodes });
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

    /// The nodes that give a name: by their id, or by what their `set` says.
    pub fn givers<'s>(&'s self, name: &str) -> impl Iterator<Item = usize> + use<'s> {
        let outputs = self.outputs.get(name).into_iter().flatten().map(|(node, _)| *node);
        outputs.chain(self.set.get(name).into_iter().flatten().map(|(node, _)| *node))
    }
}

/// What a node's `contract` means: a name, or the schema itself.
fn contract_of(contract: &Value, flow: &Flow, shelf: &Shelf) -> Lookup<Contract> {
    match contract {
        Value::String(name) => shelf.contract(name),
        schema => match Contract::compile(None, schema.clone()) {
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

/// A step that reads names, and what leads to it.
struct Reader<'a> {
    flow: &'a Flow,
    node: usize,
    edges: &'a [Option<(usize, usize)>],
    /// The edges into it.
    incoming: &'a [usize],
    /// None where there is a ring.
    ancestors: Option<&'a Ancestors>,
}

impl Reader<'_> {
    /// The first edge in the file that carries a value to a name.
    fn mapped(&self, name: &str, inputs: &BTreeMap<String, InputScope>, declared: bool) -> Option<ReadSource> {
        self.incoming.iter().find_map(|number| {
            let edge = self.flow.edges.get(*number)?;
            let (from, _) = self.edges.get(*number).copied().flatten()?;
            let giver = self.flow.nodes.get(from)?;
            let runnable = giver.runnable();
            let same = |text: &str| VariableName::normal(text).is_ok_and(|text| text.as_str() == name);
            if let Some((_, source)) = edge.mapping.iter().find(|(target, _)| same(target)) {
                // A mapping that carries nothing counts as absent.
                if let Some(source) = mapping_source(source, *number, (from, giver), inputs, declared) {
                    return Some(source);
                }
            }
            (runnable && edge.target_handle.as_deref().is_some_and(same)).then(|| {
                ReadSource::Mapped(Mapped { edge: *number, node: from, path: Vec::new(), by: MappedBy::Handle })
            })
        })
    }
}

/// What the right side of a `data.mapping` means: `result`, a dot path of it, or an input's name.
pub(super) fn mapping_source(
    source: &str,
    edge: usize,
    (from, giver): (usize, &Node),
    inputs: &BTreeMap<String, InputScope>,
    declared: bool,
) -> Option<ReadSource> {
    let runnable = giver.runnable();
    let path = |text: &str| text.split('.').filter(|step| !step.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let mapped = |path: Vec<String>| Some(ReadSource::Mapped(Mapped { edge, node: from, path, by: MappedBy::Mapping }));
    if runnable && source == "result" {
        return mapped(Vec::new());
    }
    if runnable && let Some(rest) = source.strip_prefix("result.") {
        return mapped(path(rest));
    }
    if let Ok(name) = VariableName::normal(source)
        && inputs.contains_key(name.as_str())
    {
        return Some(ReadSource::MappedInput { edge, input: name.as_str().to_owned(), declared });
    }
    if runnable && !source.is_empty() { mapped(path(source)) } else { None }
}

fn names_of(variables: &[crate::model::Declared], by_node: bool) -> Vec<DeclaredName> {
    variables
        .iter()
        .filter_map(|declared| {
            let name = usable(&declared.name)?;
            Some(DeclaredName {
                name: name.as_str().to_owned(),
                by_node,
                required: declared.required,
                default: declared.default.clone(),
                kind: declared.kind,
                description: declared.description.clone(),
                pointer: declared.pointer.clone(),
            })
        })
        .collect()
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
