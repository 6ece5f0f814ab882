//! What a flow is, after parsing: nodes, edges, templates, variables, personas and contracts, in one
//! model for every shape a file may have.
//!
//! Nothing here is checked beyond what the types force; [`wire`] alone reads files and says what
//! it could not read. No I/O, no time, no graph.

mod contract;
mod demand;
mod edge;
mod effort;
mod example;
mod fields;
mod flow;
mod flow_test;
mod generated;
mod node;
mod persona;
mod sets;
mod shelf;
mod template;
mod tool;
mod variable;
pub mod wire;
mod wish;

pub use contract::{Breach, Contract, MOST_BREACHES, NoSchema, spelt_path};
pub use edge::{Edge, EdgeKind, MAX_EDGES};
pub use fields::{Leads, OutputShape, Part, member_of};
pub use flow::{Flow, Shape};
pub use flow_test::{Expectation, Expected, FlowTest, Mock, Pattern, Taken, TestedFlow};
pub use generated::{Cost, Finish, Generated, TokenUsage};
pub use node::{FlowNode, InputNode, Node, NodeKind, TemplateNode, ToolNode};
pub use persona::{Persona, PersonaError, PersonaFront};
pub use sets::{Sets, StepSets};
pub use shelf::{Directory, KnownFlow, Listed, Lookup, Shelf, UnfoldedSize, Unusable, by_name};
pub use template::{Syntax, Template};
pub use tool::{
    KnownServer, KnownTool, LONGEST_BACKOFF, MOST_RETRIES, NoAddress, ServerStanding, ToolAddress, ToolAnswer,
    ToolCall, ToolFile, ToolLink, ToolLookup, Toolbox,
};
pub use variable::{Declared, InputVariable, Refinement, ValueType, VariableSet, is_among, text_of, text_or_json};
pub use wish::{ModelUse, ModelWish};
