//! The rules, one file each; this list is the table of contents.

use crate::validate::Rule;

mod ambiguous_name;
mod ambiguous_output;
mod bad_contract;
mod bad_version;
mod cycle;
mod dangling_edge;
mod differing_defaults;
mod duplicate_edge;
mod duplicate_key;
mod duplicate_node;
mod empty_flow;
mod empty_step;
mod invalid_variable_name;
mod misfit_default;
mod missing_name;
mod missing_persona;
mod missing_template;
mod over_limit;
mod path_into_text;
pub(super) mod schema;
mod self_edge;
mod stray_example;
pub(super) mod syntax;
mod unbound_placeholder;
mod unconnected_node;
mod unknown_node_kind;
mod unreachable_reference;
mod unused_variable;
mod useless_mapping;

/// Every rule, in the order in which they look.
pub static REGISTRY: &[Rule] = &[
    syntax::RULE,
    schema::RULE,
    duplicate_key::RULE,
    empty_flow::RULE,
    missing_name::RULE,
    bad_version::RULE,
    over_limit::RULE,
    duplicate_node::RULE,
    duplicate_edge::RULE,
    dangling_edge::RULE,
    self_edge::RULE,
    cycle::RULE,
    unknown_node_kind::RULE,
    empty_step::RULE,
    missing_template::RULE,
    missing_persona::RULE,
    bad_contract::RULE,
    ambiguous_name::RULE,
    ambiguous_output::RULE,
    unreachable_reference::RULE,
    invalid_variable_name::RULE,
    unbound_placeholder::RULE,
    unused_variable::RULE,
    unconnected_node::RULE,
    differing_defaults::RULE,
    misfit_default::RULE,
    useless_mapping::RULE,
    path_into_text::RULE,
    stray_example::RULE,
];
