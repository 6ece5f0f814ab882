//! Steps that do something other than fill a text: what a `tool` or a `flow` node needs, and what keeps
//! it from being done. The rules and the plan both ask here, so they can't differ.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use crate::code::Code;
use crate::document::Pointer;
use crate::model::{Contract, FlowNode, KnownFlow, Lookup, Shelf, Syntax, ToolAddress, ToolLookup, ToolNode, Toolbox};
use crate::names::{Comparisons, Few, VariableName, did_you_mean, few, nearest, nfc, quoted, shown};
use crate::render::{Placeholder, Stencil};
use crate::validate::scope::set_selector;
use crate::validate::{Body, DeclaredName, Mending};

/// How many flows may be one within the other, the outermost counted.
pub const MAX_DEPTH: usize = 8;
/// How to fix that several flows go by one name.
pub const TELL_FLOWS_APART: &str = "rename one of the files (or, in a file of several flows, one `meta.name`)";
/// How to tell templates apart where several go by one name.
pub const TELL_TEMPLATES_APART: &str =
    "rename one of the files, or give one of the templates an `id` or `title` of its own and name that";
/// What chooses a variable set.
const SET_SELECTOR: &str = "_variableSet";

/// What keeps a step from being done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DoingFault {
    pub(super) kind: FaultKind,
    pub(super) message: String,
    /// Where, below the node's `data`.
    pub(super) at: Pointer,
    /// A misspelt name and what is there instead.
    pub(super) meant: Option<(String, Vec<String>)>,
    /// What has to be fixed, where that is not the node.
    pub(super) mending: Option<Box<Mending>>,
}

/// The kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// Nothing says what to do.
    Empty,
    /// `call` names no tool.
    BadCall,
    /// `requires` holds what is no name.
    BadGuard,
    /// There is no such server, or it has no such tool.
    UnknownTool,
    /// The operator does not allow it.
    NotAllowed,
    /// The operator switched its server off.
    SwitchedOff,
    /// The arguments can't fit what the tool takes.
    Misfit,
    /// There is no such flow, or several.
    NoFlow,
    /// The flow can't be executed.
    BrokenFlow(Code),
    /// The flow leads back to this one.
    Ring,
    /// A fixed value is none that the flow's input takes.
    UnfitInput,
    /// The flow lacks an input.
    LacksInput,
    /// The flow has no such variable set.
    UnknownSet,
    /// Too many flows, one within the other.
    TooMuch,
}

impl FaultKind {
    /// The code with which the step fails.
    pub(super) fn code(self) -> Code {
        match self {
            Self::Empty | Self::BadCall | Self::BadGuard | Self::Misfit => Code::ValidationError,
            Self::UnknownTool => Code::ToolNotFound,
            Self::NotAllowed => Code::ToolNotAllowed,
            Self::SwitchedOff => Code::ToolUnavailable,
            Self::NoFlow => Code::FlowNotFound,
            Self::BrokenFlow(code) => code,
            Self::Ring => Code::CircularDependency,
            Self::LacksInput => Code::MissingVariables,
            Self::UnknownSet | Self::UnfitInput => Code::InvalidRequest,
            Self::TooMuch => Code::LimitExceeded,
        }
    }
}

impl DoingFault {
    pub(super) fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), at: Pointer::root(), meant: None, mending: None }
    }

    fn at(self, key: &str) -> Self {
        Self { at: Pointer::root().key(key), ..self }
    }

    /// At what a flow is handed under a name.
    fn at_variable(self, name: &str) -> Self {
        Self { at: Pointer::root().key("variables").key(name), ..self }
    }

    /// The fact, with the names that are spelt alike: a step that fails says it all in one sentence.
    pub(super) fn with_nearest(&self, comparisons: &Comparisons) -> String {
        let near =
            self.meant.as_ref().map(|(wanted, names)| comparisons.nearest(wanted, names.iter().map(String::as_str), 3));
        match near.and_then(did_you_mean) {
            Some(asked) => format!("{}; {asked}", self.message),
            None => self.message.clone(),
        }
    }

    fn mended_by(self, files: Vec<String>, hints: Vec<String>) -> Self {
        Self { mending: Some(Box::new(Mending { files, hints })), ..self }
    }

    fn meant(self, wanted: &str, nearest: &[String]) -> Self {
        Self { meant: Some((wanted.to_owned(), nearest.to_vec())), ..self }
    }
}

/// A step that can be done, and what it reads.
pub(super) struct Doing {
    pub(super) body: Body,
    pub(super) placeholders: Vec<Placeholder>,
    pub(super) places: Vec<Pointer>,
    pub(super) declared: Vec<DeclaredName>,
}

/// What a tool node needs.
pub(super) fn call(tool: &ToolNode, data: &Pointer, tools: Option<&Toolbox>) -> Result<Doing, DoingFault> {
    let Some(call) = &tool.call else { return Err(DoingFault::new(FaultKind::Empty, "`call` is not set")) };
    let address = ToolAddress::read(call)
        .map_err(|error| DoingFault::new(FaultKind::BadCall, format!("{}: {error}", quoted(call))).at("call"))?;
    let stencil = Stencil::of(&tool.args);
    let (mut placeholders, mut places, mut declared) = (Vec::new(), Vec::new(), Vec::<DeclaredName>::new());
    let mut number_of: HashMap<String, usize> = HashMap::new();
    let args = data.key("args");
    for hole in stencil.holes() {
        let place = below(&args, &hole.at);
        placeholders.push(Placeholder { range: 0..0, name: hole.name.clone(), path: hole.path.clone() });
        places.push(place.clone());
        match number_of.get(&hole.name).and_then(|number| declared.get_mut(*number)) {
            Some(known) => {
                // A name is optional where each of its placeholders has a default, and has one
                // itself where they agree.
                known.required = Some(known.required == Some(true) || hole.default.is_none());
                if known.default.as_deref() != hole.default.as_ref() {
                    known.default = None;
                }
            }
            None => {
                number_of.insert(hole.name.clone(), declared.len());
                // The default of a field is no default of the whole.
                let default = hole.default.clone().filter(|_| hole.path.is_empty()).map(Arc::new);
                declared.push(DeclaredName { default, ..read_name(&hole.name, hole.default.is_none(), place) });
            }
        }
    }
    for (number, required) in tool.requires.iter().enumerate() {
        let mut parts = required.split('.').map(str::to_owned);
        let place = data.key("requires").item(number);
        let Some(name) = parts.next().and_then(|name| VariableName::normal(&name).ok()) else {
            // Left out, it would guard nothing, and the call would be made.
            let message = format!("`requires` names {}, which can't be the name of a value", quoted(required));
            let at = Pointer::root().key("requires").item(number);
            return Err(DoingFault { at, ..DoingFault::new(FaultKind::BadGuard, message) });
        };
        placeholders.push(Placeholder { range: 0..0, name: name.as_str().to_owned(), path: parts.collect() });
        places.push(place.clone());
        // Without it the step is left out, so nobody has to give it.
        match number_of.get(name.as_str()).and_then(|number| declared.get_mut(*number)) {
            Some(known) => known.required = Some(false),
            None => {
                number_of.insert(name.as_str().to_owned(), declared.len());
                declared.push(read_name(name.as_str(), false, place));
            }
        }
    }
    // What is wrong in the file comes before what this machine lacks: only the former can be seen everywhere.
    if let Some(tools) = tools {
        look_up(&address, &stencil, tools)?;
    }
    let body = Body::Call { address, arguments: Arc::new(stencil) };
    Ok(Doing { body, placeholders, places, declared })
}

/// A name that a call reads, which declares it.
fn read_name(name: &str, required: bool, pointer: Pointer) -> DeclaredName {
    let (default, kind, description) = (None, None, None);
    DeclaredName { name: name.to_owned(), by_node: true, required: Some(required), default, kind, description, pointer }
}

/// Whether the operator's servers have the tool, allow it, and take such arguments.
fn look_up(address: &ToolAddress, stencil: &Stencil, tools: &Toolbox) -> Result<(), DoingFault> {
    let (server, tool) = (quoted(&address.server), quoted(&address.tool));
    let called = shown(&address.to_string(), 200);
    match tools.find(address) {
        ToolLookup::Found(known) => {
            let breaches = misfits(stencil, &known.input);
            if breaches.is_empty() {
                return Ok(());
            }
            let all = Few::of(breaches.iter().map(|breach| format!("{} {}", breach.0, breach.1))).joined("; ");
            let message = format!("the arguments don't fit what {called} takes: {all}");
            Err(DoingFault::new(FaultKind::Misfit, message).at("args"))
        }
        ToolLookup::NotKnown => Ok(()),
        ToolLookup::NotAllowed => {
            Err(DoingFault::new(FaultKind::NotAllowed, format!("{called} is not allowed by the operator")).at("call"))
        }
        ToolLookup::Disabled => {
            Err(DoingFault::new(FaultKind::SwitchedOff, format!("{called}: the operator switched server {server} off"))
                .at("call"))
        }
        ToolLookup::NoServer { nearest } => {
            let message = if tools.servers.is_empty() {
                format!("{called}: no external server is configured")
            } else {
                format!("{called}: no external server is called {server}")
            };
            Err(DoingFault::new(FaultKind::UnknownTool, message).at("call").meant(&address.server, &nearest))
        }
        ToolLookup::NoTool { nearest } => {
            Err(DoingFault::new(FaultKind::UnknownTool, format!("{called}: server {server} has no tool {tool}"))
                .at("call")
                .meant(&address.tool, &nearest))
        }
    }
}

/// Where the fixed parts of arguments don't fit a tool's schema: place and words.
fn misfits(stencil: &Stencil, schema: &Contract) -> Vec<(String, String)> {
    let unknown = stencil.holes().iter().map(|hole| hole.at.as_str()).collect();
    let filled = stencil.fill(|_, hole| {
        Ok::<_, std::convert::Infallible>(match &hole.default {
            Some(default) => crate::render::Filling::Value(std::borrow::Cow::Borrowed(default)),
            None => crate::render::Filling::Left,
        })
    });
    let Ok(arguments) = filled;
    let breaches = schema.misfits(&Value::Object(arguments), &unknown);
    breaches.into_iter().map(|breach| (breach.path, breach.message)).collect()
}

/// What a flow node needs.
pub(super) fn link(link: &FlowNode, place_in_file: usize, data: &Pointer, shelf: &Shelf) -> Result<Doing, DoingFault> {
    let Some(name) = &link.flow else { return Err(DoingFault::new(FaultKind::Empty, "`flow` is not set")) };
    let flow = flow_of(name, place_in_file, shelf)?;
    let values = Stencil::spelt(&link.variables, Syntax::Single);
    let (mut placeholders, mut places) = (Vec::new(), Vec::new());
    for hole in values.holes() {
        placeholders.push(Placeholder { range: 0..0, name: hole.name.clone(), path: hole.path.clone() });
        places.push(below(&data.key("variables"), &hole.at));
    }
    let body = match flow {
        Some(flow) => {
            handed(name, &flow, &values)?;
            Body::Link { flow, values: Arc::new(values) }
        }
        None => Body::Elsewhere,
    };
    Ok(Doing { body, placeholders, places, declared: Vec::new() })
}

/// Whether a flow can do with what a step hands it, as far as the files say.
fn handed(name: &str, flow: &KnownFlow, values: &Stencil) -> Result<(), DoingFault> {
    let mut by_name: HashMap<String, &Value> = HashMap::new();
    for (key, value) in values.written().iter().filter(|(_, value)| !value.is_null()) {
        if let Ok(name) = VariableName::normal(key) {
            by_name.entry(name.as_str().to_owned()).or_insert(value);
        }
    }
    let written = |wanted: &str| by_name.get(wanted).copied();
    let mut of_set: Option<&[String]> = None;
    match written(SET_SELECTOR) {
        None => {}
        // Which set that is, is known when it is filled.
        Some(Value::String(_)) if values.holes().iter().any(|hole| hole.at == Pointer::root().key(SET_SELECTOR)) => {
            return Ok(());
        }
        Some(Value::String(chosen)) if chosen.is_empty() => {}
        Some(Value::String(chosen)) => match flow.sets.iter().find(|(set, _)| nfc(set) == nfc(chosen)) {
            Some((_, gives)) => of_set = Some(gives),
            None => {
                let known: Vec<String> = flow.sets.iter().map(|(set, _)| set.clone()).collect();
                let message = format!("flow {} has no variable set {}", quoted(name), quoted(chosen));
                let fault = DoingFault::new(FaultKind::UnknownSet, message).meant(chosen, &known);
                return Err(fault.at_variable(SET_SELECTOR));
            }
        },
        Some(_) => {
            let message = format!("`{SET_SELECTOR}` takes the name of a set of flow {}, as text", quoted(name));
            return Err(DoingFault::new(FaultKind::UnknownSet, message).at_variable(SET_SELECTOR));
        }
    }
    for refinement in &flow.refinements {
        let Ok(input) = VariableName::normal(&refinement.name) else { continue };
        let mut fixed = values.written().iter().filter(|(key, value)| {
            let filled = || values.holes().iter().any(|hole| hole.at.steps().next().as_ref() == Some(*key));
            !value.is_null() && VariableName::normal(key).is_ok_and(|key| key == input) && !filled()
        });
        if let Some((key, fault)) = fixed.find_map(|(key, value)| Some((key, refinement.misfit(value)?))) {
            let message = format!("input {} of flow {} {fault}", quoted(input.as_str()), quoted(name));
            return Err(DoingFault::new(FaultKind::UnfitInput, message).at_variable(key));
        }
    }
    // The old spelling of the selector has the set's name in its key.
    if values.written().keys().any(|key| key.starts_with("_useSet_")) {
        return Ok(());
    }
    let of_set: HashSet<&String> = of_set.into_iter().flatten().collect();
    let given = |name: &String| written(name).is_some() || of_set.contains(name);
    let lacking: Vec<&str> = flow
        .inputs
        .iter()
        .filter(|(name, required)| *required && !given(name))
        .map(|(name, _)| name.as_str())
        .collect();
    if lacking.is_empty() {
        return Ok(());
    }
    let message = format!("flow {} needs {}", quoted(name), few(lacking.iter().copied()));
    let fault = DoingFault::new(FaultKind::LacksInput, message).at("variables");
    // What is given under a name that the flow does not have may be what it lacks, or the choice of a set.
    let lacking: Vec<String> = lacking.into_iter().map(str::to_owned).chain([SET_SELECTOR.to_owned()]).collect();
    let comparisons = Comparisons::default();
    let near = |key: &&str| !comparisons.nearest(key, lacking.iter().map(String::as_str), 1).is_empty();
    Err(match strangers(flow, values).map(|(key, _)| key).find(near) {
        Some(key) => {
            let message = format!("{}, and has no input {}", fault.message, quoted(key));
            DoingFault { message, ..fault }.meant(key, &lacking)
        }
        None => match lacking.iter().find_map(|name| misspelt_within(name, flow)) {
            Some(hint) => fault.mended_by(Vec::new(), vec![hint]),
            None => fault,
        },
    })
}

/// Where a name that another flow asks for seems to be misspelt in that flow, what to do there.
fn misspelt_within(name: &str, flow: &KnownFlow) -> Option<String> {
    let inputs = flow.inputs.iter().map(|(input, _)| input.as_str()).filter(|input| *input != name);
    let near = nearest(name, inputs, 1).into_iter().next().map(str::to_owned);
    let of = quoted(&flow.name);
    let output = name.ends_with("_result") || name.ends_with("_template");
    match near {
        Some(near) => Some(format!("flow {of} may misspell {} as {}: correct it there", quoted(&near), quoted(name))),
        None if output => {
            Some(format!("{} looks like the misspelt output of a step: correct it in flow {of}", quoted(name)))
        }
        None => None,
    }
}

/// The flow of that name; none where a file is checked without its catalog.
fn flow_of(name: &str, place_in_file: usize, shelf: &Shelf) -> Result<Option<Arc<KnownFlow>>, DoingFault> {
    let fault = |kind, message: String| Err(DoingFault::new(kind, message).at("flow"));
    if let Some(ring) = shelf.ring(place_in_file, name) {
        return fault(FaultKind::Ring, format!("the flows go round: {}", ring.join(" → ")));
    }
    match shelf.flow(name) {
        Lookup::NotChecked => Ok(None),
        Lookup::Found(flow) if flow.depth >= MAX_DEPTH => fault(
            FaultKind::TooMuch,
            format!("flow {} makes this more than {MAX_DEPTH} flows deep, this one counted", quoted(name)),
        ),
        Lookup::Found(flow) if flow.size.steps == 0 => {
            fault(FaultKind::BrokenFlow(Code::ValidationError), format!("flow {} has no steps", quoted(name)))
        }
        Lookup::Found(flow) => Ok(Some(flow)),
        Lookup::Missing { nearest } => {
            Err(DoingFault::new(FaultKind::NoFlow, format!("there is no flow {}", quoted(name)))
                .at("flow")
                .meant(name, &nearest))
        }
        Lookup::Ambiguous { files } => {
            let message = format!("several flows go by {}: {}", quoted(name), files.joined(", "));
            let fault = DoingFault::new(FaultKind::BrokenFlow(Code::AmbiguousName), message).at("flow");
            Err(fault.mended_by(files.named, vec![TELL_FLOWS_APART.to_owned()]))
        }
        Lookup::Broken(unusable) => {
            let message = format!("flow {} can't be executed: {unusable}", quoted(name));
            let fault = DoingFault::new(FaultKind::BrokenFlow(unusable.code), message).at("flow");
            Err(fault.mended_by(vec![unusable.file], unusable.hints))
        }
    }
}

/// Names that a flow node gives to an input which the flow does not have: as written, and in NFC.
pub(super) fn strangers<'f>(flow: &'f KnownFlow, values: &'f Stencil) -> impl Iterator<Item = (&'f str, VariableName)> {
    let inputs: HashSet<&str> = flow.inputs.iter().map(|(input, _)| input.as_str()).collect();
    let names = values.written().keys().filter_map(|key| Some((key.as_str(), VariableName::normal(key).ok()?)));
    names.filter(move |(_, name)| !set_selector(name.as_str()) && !inputs.contains(name.as_str()))
}

fn below(base: &Pointer, rest: &Pointer) -> Pointer {
    Pointer::spelt(&format!("{}{}", base.as_str(), rest.as_str()))
}
