//! The tools, sorted by name: this list is what clients see, whatever the catalog holds.

mod begin;
mod cancel;
mod check;
mod complete_step;
mod escalate;
mod execute;
mod list;
mod resume;
mod show;
mod status;

use super::definition::Definition;

/// What a flow that is a tool does when it is called.
pub(super) static EXECUTE: Definition = execute::TOOL;

/// Every tool.
pub(super) const ALL: [Definition; 10] = [
    begin::TOOL,
    cancel::TOOL,
    check::TOOL,
    complete_step::TOOL,
    escalate::TOOL,
    execute::TOOL,
    list::TOOL,
    resume::TOOL,
    show::TOOL,
    status::TOOL,
];

/// The same sentence for the same argument of several tools.
const REF: &str = "Branch, tag or commit.";
const EXECUTION: &str = "Id from flows_begin.";
const TOKEN: &str = "Token of the open step.";

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::ALL;
    use crate::mcp::definition::Kind;

    #[test]
    fn no_two_arguments_of_a_tool_answer_to_the_same_name() {
        for tool in &ALL {
            for parameter in tool.parameters {
                for name in [parameter.name].iter().chain(parameter.also) {
                    assert_eq!(
                        crate::mcp::parameter::parameter_named(tool.parameters, name).map(|found| found.name),
                        Some(parameter.name),
                        "{} {name}",
                        tool.name
                    );
                }
            }
        }
    }

    #[test]
    fn defaults_are_of_the_kind_they_are_the_default_of() {
        for parameter in ALL.iter().flat_map(|tool| tool.parameters).filter(|parameter| !parameter.default.is_empty()) {
            let default: Value = serde_json::from_str(parameter.default).expect("JSON");
            let fits = match parameter.kind {
                Kind::Text | Kind::File => default.is_string(),
                Kind::Count(least, most) => default.as_i64().is_some_and(|number| (least..=most).contains(&number)),
                Kind::Seconds(most) => {
                    default.as_f64().is_some_and(|seconds| (0.0..=f64::from(most)).contains(&seconds))
                }
                Kind::Flag => default.is_boolean(),
                Kind::Word(words) => default.as_str().is_some_and(|word| words.contains(&word)),
                Kind::Texts | Kind::Words(_) => default.is_array(),
                Kind::Values => default.is_object(),
                Kind::Anything => true,
            };
            assert!(fits, "{}", parameter.name);
        }
    }

    #[test]
    fn what_is_on_its_way_out_is_not_listed() {
        let mut outgoing = ALL.iter().flat_map(|tool| tool.parameters).filter(|one| one.replaced_by.is_some());
        assert!(outgoing.clone().count() == 2 && outgoing.all(|parameter| !parameter.listed));
    }
}
