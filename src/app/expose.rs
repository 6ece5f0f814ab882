//! Flows as tools of their own: which there are, and which can't be, and why.
//!
//! The operator decides with the settings, the flow's file only asks. What a tool is called and what
//! it takes comes from the listing index alone, so a catalog of any size is not read for it.
//! Whether a flow may run is not known here: a call is an execution like any other.

mod hints;
mod shape;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::app::{App, Error, slug};
use crate::catalog::calls_of;
use crate::config::{Expose, ExposeList, Settings, reserved_tool_name};
use crate::discover::{DamagedIndex, FlowIndex};
use crate::model::ToolAddress;
use crate::names::{counted, did_you_mean, nearest, quoted};

pub use hints::Hints;

/// The longest name of a tool behind the prefix, in characters.
const LONGEST_SLUG: usize = 40;
/// The longest definition of one tool, in bytes: every conversation carries it.
const LARGEST_TOOL: usize = 16_384;
/// How many names one sentence holds.
const NAMED: usize = 5;

/// A flow that is a tool of its own.
#[derive(Debug, PartialEq)]
pub struct ExposedFlow {
    /// The tool's name.
    pub tool: String,
    /// The flow's name.
    pub flow: String,
    /// What it does, in one line without control or bidirectional characters.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Map<String, Value>,
    /// Its arguments, as the schema names them and as the flow does.
    pub arguments: Vec<ExposedArgument>,
    /// The external tools that it and the flows within it call.
    calls: Vec<ToolAddress>,
}

/// One argument of such a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExposedArgument {
    /// Its name in the schema.
    pub key: String,
    /// The variable's name.
    pub name: String,
}

/// A tool as it is listed now.
#[derive(Debug, Clone, PartialEq)]
pub struct ExposedTool {
    /// What it runs.
    pub flow: Arc<ExposedFlow>,
    /// What running it does to the world.
    pub hints: Hints,
}

/// The tools that flows are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Exposed {
    /// The tools, by name.
    pub tools: Vec<ExposedTool>,
    /// What the operator meant and can't have.
    pub refused: Arc<Vec<NotExposed>>,
    /// The revision they come from; empty where no catalog was asked.
    pub revision: String,
    /// How much longer this is fresh, in milliseconds; none for ever.
    pub fresh_for_ms: Option<u64>,
}

impl Exposed {
    /// The flow behind a tool.
    pub fn find(&self, tool: &str) -> Option<&ExposedTool> {
        self.tools.iter().find(|one| one.flow.tool == tool)
    }
}

/// Why flows are no tools although the operator means them to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotExposed {
    /// Several flows would be one tool.
    Clash {
        /// The tool's name.
        tool: String,
        /// The flows, by name.
        flows: Vec<String>,
    },
    /// The name is the server's own.
    Reserved {
        /// The tool's name.
        tool: String,
        /// The flow.
        flow: String,
    },
    /// The flow has errors, as far as its files alone tell.
    Broken {
        /// The flow.
        flow: String,
    },
    /// Its inputs make a definition that is too large.
    TooLarge {
        /// The flow.
        flow: String,
    },
    /// There are more flows than tools may be.
    TooMany {
        /// How many are left out.
        left_out: usize,
        /// The first of them.
        first: String,
        /// The most there may be.
        most: usize,
    },
    /// It is on the list, and its file does not ask for it.
    NotMarked {
        /// The flow.
        flow: String,
    },
    /// It is on the list, and not in the catalog.
    NotThere {
        /// The name on the list.
        name: String,
        /// A flow that is spelt alike.
        nearest: Option<String>,
    },
    /// Marked flows are wanted, and the operator's list is empty.
    EmptyList {
        /// How many flows ask for it.
        marked: usize,
    },
}

impl fmt::Display for NotExposed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let no_tool = |flow: &str| format!("flow {} is no tool of its own", quoted(flow));
        match self {
            Self::Clash { tool, flows } => {
                let mut names: Vec<String> = flows.iter().map(|flow| quoted(flow)).collect();
                names.dedup();
                if let [name] = names.as_slice() {
                    let count = flows.len();
                    return write!(f, "flow {name} is no tool of its own: {count} flows have that name; rename one");
                }
                let more = names.len().saturating_sub(NAMED);
                names.truncate(NAMED);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let names = names.join(", ");
                write!(f, "flows {names}{more} are no tools of their own: each would be {tool}; rename all but one")
            }
            Self::Reserved { tool, flow } => {
                write!(f, "{}: {tool} is a name of the server's own; choose another --expose-prefix", no_tool(flow))
            }
            Self::Broken { flow } => {
                write!(f, "{}: it has errors; `flowy validate` shows them", no_tool(flow))
            }
            Self::TooLarge { flow } => {
                let most = LARGEST_TOOL;
                write!(
                    f,
                    "{}: what it takes fills more than {most} bytes; shorten descriptions of inputs",
                    no_tool(flow)
                )
            }
            Self::TooMany { left_out, first, most } => write!(
                f,
                "{} from {} on {} of their own: there {} already; use --expose-list, or set max_exposed",
                counted(*left_out, "flow", "flows"),
                quoted(first),
                if *left_out == 1 { "is no tool" } else { "are no tools" },
                if *most == 1 { "is 1".to_owned() } else { format!("are {most}") },
            ),
            Self::NotMarked { flow } => {
                write!(f, "{}: it is on --expose-list, and its file does not say expose: true", no_tool(flow))
            }
            Self::NotThere { name, nearest } => {
                let meant = did_you_mean(nearest).map(|asked| format!("; {asked}"));
                write!(f, "no flow is called {}, which is on --expose-list{}", quoted(name), meant.unwrap_or_default())
            }
            Self::EmptyList { marked } => {
                let (says, it) = if *marked == 1 {
                    ("says expose: true and is no tool of its own", "it")
                } else {
                    ("say expose: true and are no tools of their own", "them")
                };
                let flows = counted(*marked, "flow", "flows");
                write!(f, "{flows} {says}: --expose-list is empty; name {it} there, or * for all")
            }
        }
    }
}

/// What a revision offers as tools, worked out when first asked for.
#[derive(Debug, Default)]
pub(super) struct Exposure {
    flows: Vec<Arc<ExposedFlow>>,
    refused: Arc<Vec<NotExposed>>,
}

impl App {
    /// The flows that are tools of their own; none, without a look at the catalog, where the
    /// settings expose none.
    ///
    /// # Errors
    /// When the catalog can't be reached.
    pub async fn exposed(&self) -> Result<Exposed, Error> {
        if self.settings.expose == Expose::None {
            return Ok(Exposed::default());
        }
        let catalog = self.catalog(None, false).await.inspect_err(|_| self.revisions.lacked())?;
        let exposure = match catalog.beside().exposure.get() {
            Some(exposure) => exposure.clone(),
            None => {
                let exposure = Exposure::of(catalog.index(), &self.settings)?;
                catalog.beside().exposure.get_or_init(|| Arc::new(exposure)).clone()
            }
        };
        let listed = |flow: &Arc<ExposedFlow>| ExposedTool {
            flow: flow.clone(),
            hints: hints::annotations(&flow.calls, catalog.tools()),
        };
        Ok(Exposed {
            tools: exposure.flows.iter().map(listed).collect(),
            refused: exposure.refused.clone(),
            revision: catalog.origin().revision.clone(),
            fresh_for_ms: Some(catalog.origin().fresh_for_ms),
        })
    }
}

/// A flow that is meant to be a tool, by its row in the index.
struct ExposedRow<'i> {
    row: usize,
    name: &'i str,
    tool: String,
}

impl Exposure {
    fn of(index: &FlowIndex, settings: &Settings) -> Result<Self, DamagedIndex> {
        let mut refused = Vec::new();
        let mut candidates = candidates(index, settings, &mut refused)?;
        let mut by_tool: HashMap<&str, Vec<&str>> = HashMap::with_capacity(candidates.len());
        for candidate in &candidates {
            by_tool.entry(&candidate.tool).or_default().push(candidate.name);
        }
        let mut clashes: Vec<(&str, Vec<&str>)> = by_tool.into_iter().filter(|(_, flows)| flows.len() > 1).collect();
        clashes.sort_unstable();
        let clashing: HashSet<String> = clashes.iter().map(|(tool, _)| (*tool).to_owned()).collect();
        refused.extend(clashes.into_iter().map(|(tool, flows)| NotExposed::Clash {
            tool: tool.to_owned(),
            flows: flows.into_iter().map(str::to_owned).collect(),
        }));
        candidates.retain(|candidate| !clashing.contains(&candidate.tool));

        let mut flows = Vec::new();
        let mut left_out: Option<(usize, String)> = None;
        for ExposedRow { row, name, tool } in candidates {
            let flow = name.to_owned();
            if reserved_tool_name(&tool) {
                refused.push(NotExposed::Reserved { tool, flow });
                continue;
            }
            if flows.len() >= settings.max_exposed {
                left_out.get_or_insert((0, flow)).0 += 1;
                continue;
            }
            let entry = index.row(row)?;
            if entry.broken {
                refused.push(NotExposed::Broken { flow });
                continue;
            }
            let calls = calls_of(index, &entry, row)?;
            let exposed = shape::exposed(tool, &entry, calls);
            if shape::size(&exposed) > LARGEST_TOOL {
                refused.push(NotExposed::TooLarge { flow });
                continue;
            }
            flows.push(Arc::new(exposed));
        }
        if let Some((left_out, first)) = left_out {
            refused.push(NotExposed::TooMany { left_out, first, most: settings.max_exposed });
        }
        flows.sort_by(|a, b| a.tool.cmp(&b.tool));
        Ok(Self { flows, refused: Arc::new(refused) })
    }
}

/// The flows that the settings mean, by name; what they mean in vain goes to `refused`.
fn candidates<'i>(
    index: &'i FlowIndex,
    settings: &Settings,
    refused: &mut Vec<NotExposed>,
) -> Result<Vec<ExposedRow<'i>>, DamagedIndex> {
    let keys = index.keys()?;
    let rows: Vec<usize> = match settings.expose {
        Expose::None => Vec::new(),
        Expose::Marked => index.exposed().to_vec(),
        Expose::All => (0..index.len()).collect(),
    };
    let listed: HashSet<&str> = settings.expose_list.names().iter().map(String::as_str).collect();
    let every = match &settings.expose_list {
        ExposeList::Every => true,
        ExposeList::Named(names) => settings.expose == Expose::All && names.is_empty(),
    };
    let prefix = &settings.expose_prefix;
    let candidate = |row: usize| {
        let name = keys.get(row)?.name.as_str();
        (every || listed.contains(name)).then(|| {
            let tool = format!("{prefix}{}", slug::alone(name, LONGEST_SLUG));
            ExposedRow { row, name, tool }
        })
    };
    let marked = rows.len();
    let candidates: Vec<ExposedRow<'_>> = rows.into_iter().filter_map(candidate).collect();
    if settings.expose == Expose::Marked && !every && listed.is_empty() && marked > 0 {
        refused.push(NotExposed::EmptyList { marked });
    }
    let meant: HashSet<&str> = candidates.iter().map(|candidate| candidate.name).collect();
    for name in settings.expose_list.names().iter().filter(|name| !meant.contains(name.as_str())) {
        refused.push(if keys.iter().any(|key| key.name == *name) {
            NotExposed::NotMarked { flow: name.clone() }
        } else {
            let near =
                nearest(name, keys.iter().map(|key| key.name.as_str()), 1).first().map(|near| (*near).to_owned());
            NotExposed::NotThere { name: name.clone(), nearest: near }
        });
    }
    Ok(candidates)
}
