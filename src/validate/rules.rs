//! The rules, one file each; this list is the table of contents.

use crate::validate::Rule;

pub(super) mod ambiguous_name;
mod ambiguous_output;
mod bad_call;
mod bad_contract;
mod bad_retry;
pub(super) mod bad_test;
mod bad_version;
mod cycle;
mod dangling_edge;
mod differing_defaults;
mod duplicate_edge;
mod duplicate_key;
mod duplicate_node;
mod empty_flow;
mod empty_step;
mod flow_ring;
pub(super) mod foreign_placeholder;
pub(super) mod front_matter;
pub(super) mod hidden_text;
mod inexact_name;
mod invalid_variable_name;
mod lost_result;
mod misfit_arguments;
mod misfit_default;
pub(super) mod misplaced_file;
mod missing_flow;
mod missing_flow_input;
mod missing_name;
mod missing_persona;
mod missing_template;
pub(super) mod misspelt_field;
pub(super) mod over_limit;
mod path_into_text;
pub(super) mod schema;
mod self_edge;
mod stray_example;
pub(super) mod syntax;
mod tool_not_allowed;
pub(super) mod twin_files;
mod unavailable_tool;
mod unbound_placeholder;
mod unclosed_fence;
mod unconnected_node;
mod unknown_flow_input;
mod unknown_node_kind;
mod unknown_output_field;
mod unknown_set_key;
mod unknown_tool;
mod unknown_variable_set;
mod unordered_tools;
mod unreachable_reference;
mod unread_output;
pub(super) mod unusable_file;
mod unused_variable;
pub(super) mod useless_ignore;
mod useless_mapping;

/// The rules about what the operator's servers offer.
pub(super) const OF_TOOLS: [&str; 4] =
    [unknown_tool::RULE.id, tool_not_allowed::RULE.id, unavailable_tool::RULE.id, misfit_arguments::RULE.id];

/// The rules that look where all flows of a catalog are known.
pub(super) const OF_WHOLE: [&str; 2] = [stray_example::RULE.id, ambiguous_name::RULE.id];

/// The rule about servers that can't be reached.
pub const UNAVAILABLE_TOOL: &str = unavailable_tool::RULE.id;

/// Every rule, in the order in which they look.
pub static REGISTRY: &[Rule] = &[
    syntax::RULE,
    front_matter::RULE,
    unclosed_fence::RULE,
    schema::RULE,
    duplicate_key::RULE,
    hidden_text::RULE,
    empty_flow::RULE,
    missing_name::RULE,
    bad_version::RULE,
    over_limit::RULE,
    duplicate_node::RULE,
    duplicate_edge::RULE,
    dangling_edge::RULE,
    self_edge::RULE,
    cycle::RULE,
    unordered_tools::RULE,
    unknown_node_kind::RULE,
    empty_step::RULE,
    missing_template::RULE,
    missing_persona::RULE,
    inexact_name::RULE,
    bad_contract::RULE,
    bad_call::RULE,
    misspelt_field::RULE,
    bad_retry::RULE,
    unknown_tool::RULE,
    tool_not_allowed::RULE,
    unavailable_tool::RULE,
    misfit_arguments::RULE,
    missing_flow::RULE,
    flow_ring::RULE,
    missing_flow_input::RULE,
    unknown_flow_input::RULE,
    unknown_variable_set::RULE,
    ambiguous_name::RULE,
    ambiguous_output::RULE,
    unreachable_reference::RULE,
    invalid_variable_name::RULE,
    unbound_placeholder::RULE,
    foreign_placeholder::RULE,
    unused_variable::RULE,
    unknown_set_key::RULE,
    unconnected_node::RULE,
    unread_output::RULE,
    lost_result::RULE,
    differing_defaults::RULE,
    misfit_default::RULE,
    useless_mapping::RULE,
    path_into_text::RULE,
    unknown_output_field::RULE,
    stray_example::RULE,
    misplaced_file::RULE,
    twin_files::RULE,
    unusable_file::RULE,
    useless_ignore::RULE,
    bad_test::RULE,
];
