//! Where the names come from that a step reads: what an edge carries to them, or what else gives them.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::{InputScope, OutputPart};
use crate::graph::Ancestors;
use crate::model::{Flow, Node, NodeKind};
use crate::names::VariableName;

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
    Ambiguous,
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

/// A step that reads names, and what leads to it.
pub(super) struct Reader<'a> {
    pub(super) flow: &'a Flow,
    pub(super) node: usize,
    /// None where there is a ring.
    pub(super) ancestors: Option<&'a Ancestors>,
    carried: HashMap<String, Vec<Carried<'a>>>,
}

/// What an edge says that it carries to a name.
struct Carried<'a> {
    edge: usize,
    from: usize,
    giver: &'a Node,
    /// The right side of its mapping; none where its `targetHandle` is the name.
    source: Option<&'a str>,
}

impl<'a> Reader<'a> {
    /// A step, with the numbers of the edges into it in the order of the file.
    pub(super) fn of(
        flow: &'a Flow,
        node: usize,
        ends: &[Option<(usize, usize)>],
        incoming: &[usize],
        ancestors: Option<&'a Ancestors>,
    ) -> Self {
        let mut carried: HashMap<String, Vec<Carried<'a>>> = HashMap::new();
        for number in incoming {
            let Some(edge) = flow.edges.get(*number) else { continue };
            let Some((from, _)) = ends.get(*number).copied().flatten() else { continue };
            let Some(giver) = flow.nodes.get(from) else { continue };
            let mapped = edge.mapping.iter().map(|(target, source)| (target.as_str(), Some(source.as_str())));
            let handle = edge.target_handle.as_deref().filter(|_| giver.runnable()).map(|target| (target, None));
            for (target, source) in mapped.chain(handle) {
                let Ok(name) = VariableName::normal(target) else { continue };
                let of_name = carried.entry(name.as_str().to_owned()).or_default();
                // Of two spellings of one name in a mapping the first counts.
                if source.is_none() || of_name.last().is_none_or(|last| last.edge != *number) {
                    of_name.push(Carried { edge: *number, from, giver, source });
                }
            }
        }
        Self { flow, node, ancestors, carried }
    }

    /// The first edge in the file that carries a value to a name; a mapping that carries nothing counts as absent.
    pub(super) fn mapped(
        &self,
        name: &str,
        inputs: &BTreeMap<String, InputScope>,
        declared: bool,
    ) -> Option<ReadSource> {
        self.carried.get(name)?.iter().find_map(|carried| match carried.source {
            Some(source) => mapping_source(source, carried.edge, (carried.from, carried.giver), inputs, declared),
            None => Some(ReadSource::Mapped(Mapped {
                edge: carried.edge,
                node: carried.from,
                path: Vec::new(),
                by: MappedBy::Handle,
            })),
        })
    }
}

/// What the right side of a `data.mapping` means: `result`, a dot path of it, or an input's name.
pub(in crate::validate) fn mapping_source(
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
    // A word alone that is no input is a field, where there may be any.
    let is_text = matches!(&giver.kind, NodeKind::Template(step) if step.contract.is_none());
    let may_be_field = !source.is_empty() && (!is_text || source.contains('.'));
    if runnable && may_be_field { mapped(path(source)) } else { None }
}
