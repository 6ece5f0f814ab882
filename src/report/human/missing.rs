//! Values that a flow needs and nobody gave: what they are for, and what to type.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{BAD, HEADING, Look, NAME, hanging, hint, prose, table_of_many, whole};
use crate::app::Error;
use crate::model::text_or_json;
use crate::names::{few, quoted, shell_word, shown};
use crate::plan::{Input, Plan};
use crate::run::{Given, Refusal};

/// The longest value that is repeated in the command, in characters.
const LONGEST_REPEATED: usize = 60;

/// The missing values with their descriptions, and the command line that gives them.
pub fn missing(
    error: &Error,
    plan: &Plan,
    (verb, given, source): (&str, &Map<String, Value>, Option<&str>),
    look: Look,
) -> String {
    let refusal = Given::read(given).and_then(|given| given.check(plan.terms()));
    let Err(Refusal::Missing { missing, misspelt, wanted, .. }) = refusal else { return super::error(error, look) };
    let missing: Vec<&str> = missing.iter().map(|(name, _)| name.as_str()).collect();
    let flow = plan.name();
    let (are, values) = if missing.len() == 1 { ("is", "value") } else { ("are", "values") };
    let head = format!("{}:", look.paint(BAD, &format!("error[{}]", error.code.word())));
    let needs =
        format!(" {} needs {} {values} that {are} not given:", look.paint(NAME, &shown(flow, 200)), missing.len());
    let mut text = hanging(&head, &needs, 2, look) + "\n";
    let inputs: HashMap<&str, &Input> = plan.inputs().iter().map(|input| (input.name.as_str(), input)).collect();
    let rows = missing.iter().map(|name| {
        let input = inputs.get(name).copied();
        let kind = input.and_then(|input| input.kind).map_or("string", crate::model::ValueType::name);
        let steps = input.map(|input| {
            let labels = input.needed_by.iter().filter_map(|step| plan.step(*step)).map(|step| shown(&step.label, 60));
            few(labels)
        });
        let description = input.and_then(|input| input.description.as_deref()).unwrap_or("–");
        vec![shown(name, 100), kind.to_owned(), shown(description, 500), steps.unwrap_or_default()]
    });
    let columns = [whole("name"), whole("type"), prose("what for"), prose("needed by").spare()];
    text.push_str(&table_of_many(&columns, rows, 2, look));
    // A name that nothing reads is most likely a misspelt one, and not to be typed again.
    let known = given.iter().filter(|(name, _)| *name == "_variableSet" || inputs.contains_key(name.as_str()));
    let known = known.filter(|(_, value)| !value.is_null());
    let known: Map<String, Value> = known.map(|(name, value)| (name.clone(), value.clone())).collect();
    let _ = writeln!(
        text,
        "\n{}\n  {}",
        look.paint(HEADING, "Type:"),
        command(verb, flow, &wanted.inputs, (&known, source))
    );
    if !wanted.sets.is_empty() {
        let sets = few(wanted.sets.iter().map(|set| format!("--set {} {}", shell_word(&set.name), set.what())));
        text.push_str(&hint(&format!("variable sets help: {sets}"), look));
    }
    if !wanted.slips.is_empty() {
        text.push_str(&hint(&format!("the flow has a slip: {}", wanted.told_slips()), look));
    }
    for (given, meant) in &misspelt {
        text.push_str(&hint(&format!("you gave {}: did you mean {}?", quoted(given), shown(meant, 100)), look));
    }
    text
}

/// The command that executes a flow, or guides through it, with what is given and what is still to be filled in.
pub(in crate::report) fn command(
    verb: &str,
    flow: &str,
    missing: &[Input],
    (given, source): (&Map<String, Value>, Option<&str>),
) -> String {
    let mut words = vec![format!("flowy {verb}"), shell_word(flow)];
    if let Some(source) = source {
        words.extend(["--source".to_owned(), shell_word(source)]);
    }
    for (name, value) in given {
        if let Some(set) = value.as_str().filter(|_| name == "_variableSet") {
            words.extend(["--set".to_owned(), shell_word(set)]);
            continue;
        }
        let flag = if value.is_string() { "--var" } else { "--var-json" };
        let text = text_or_json(value).into_owned();
        let short = text.chars().count() <= LONGEST_REPEATED && !text.contains('\n');
        words.extend([flag.to_owned(), shell_word(&format!("{name}={}", if short { text } else { "…".to_owned() }))]);
    }
    for input in missing {
        words.extend(words_for(&input.name, &input.sample()));
    }
    words.join(" ")
}

/// The flag that gives a value, and what follows it.
pub(super) fn words_for(name: &str, value: &Value) -> [String; 2] {
    let flag = if value.is_object() || value.is_array() { "--var-json" } else { "--var" };
    [flag.to_owned(), shell_word(&format!("{name}={}", text_or_json(value)))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_to_type_survives_a_shell() {
        let given = serde_json::json!({"company": "Bob's \"Co\"", "count": 3, "_variableSet": "b"});
        let Value::Object(given) = given else { return };
        assert_eq!(
            command("run", "Two words", &[], (&given, None)),
            "flowy run 'Two words' --var 'company=Bob'\\''s \"Co\"' --var-json count=3 --set b"
        );
    }
}
