//! Names of templates, outputs and variables, and what they mean.

use super::{finds, says};

#[test]
fn a_template_that_is_not_there_reaches_its_step_and_an_app_id_with_a_text_only_warns() {
    says(
        "missing-template",
        r#"
error step bad.json:13:31 /nodes/0/data/selectedTemplateId `"Sail_Nort"`
  node "sail" names template "Sail_Nort", but no template has that file name, id or title
  hint: did you mean "Sail_North"?
  hint: add the template to templates/, or fix the name
warning none bad.json:22:31 /nodes/1/data/selectedTemplateId `"1712345678901"`
  node "moor" names template "1712345678901", but no template has that file name, id or title; the node's own text stands in
  hint: save the template to templates/, or clear `selectedTemplateId`
error step bad.json:30:31 /nodes/2/data/selectedTemplateId `"Broken"`
  node "land" names template "Broken", which can't be used: templates/Broken.json: this list is never closed (line 1, column 15)
  hint: the file may have been cut off; add the missing ]
"#,
    );
}

#[test]
fn a_title_that_two_templates_have_reaches_the_step_that_asks_for_it() {
    says(
        "ambiguous-name",
        r#"
error step bad.json:12:31 /nodes/0/data/selectedTemplateId `"Sail north"`
  several templates go by "Sail north": templates/Sail_A.json, templates/Sail_B.json
  hint: rename one of the files, or give one of the templates an `id` or `title` of its own and name that
"#,
    );
}

#[test]
fn two_ids_that_give_one_name_are_told_with_both_and_the_reader() {
    says(
        "ambiguous-output",
        r#"
error flow bad.json:16:13 /nodes/1/id `"leg1"`
  nodes "leg-1" and "leg1" both give the name leg1_result, which "land" reads
  hint: rename one of the nodes, or of the names in `set`: hyphens do not count in these names
  8:13 `"leg-1"` gives the same name
"#,
    );
}

#[test]
fn several_readers_of_an_ambiguous_output_read_it() {
    let drawn = crate::support::drawing::flow()
        .text("leg-1", "A")
        .text("leg1", "B")
        .text("land", "{leg1_result}")
        .text("log", "{leg1_result}");
    let found = drawn.edges("leg-1 > land, leg1 > land, leg-1 > log, leg1 > log").findings();
    let found: Vec<_> = found.iter().filter(|finding| finding.rule == "ambiguous-output").collect();
    assert!(["\"land\"", "\"log\""].iter().all(|reader| found[0].message.contains(reader)), "{}", found[0].message);
}

#[test]
fn an_output_that_cannot_be_there_yet_is_told_at_its_placeholder() {
    says(
        "unreachable-reference",
        r#"
error flow bad.json:12:28 /nodes/0/data/template `{moor_result}`
  node "sail" reads {moor_result}, the output of node "moor", but no edge leads from "moor" to it
  hint: turn edge "sail → moor" round, or remove the placeholder: "moor" comes after "sail"
error flow bad.json:12:45 /nodes/0/data/template `{sail_result}`
  node "sail" reads {sail_result}, the output of node "sail", which is the step itself
  hint: name another step, or remove the placeholder: no step reads its own output
"#,
    );
}

#[test]
fn a_name_that_no_placeholder_can_spell_is_told_in_whichever_file_it_stands() {
    says(
        "invalid-variable-name",
        r#"
error none bad.json:6:7 /metadata/inputs/a b `"a b"`
  variable name "a b" is not allowed: a variable is spelt with letters and digits of any script, _ and -; it is ignored
  hint: use letters, digits, _ and -; a dot begins a path into a value
error none bad.json:18:11 /nodes/0/data/variables/0 `"port of call"`
  node "ask": variable name "port of call" is not allowed: a variable is spelt with letters and digits of any script, _ and -; it is ignored
  hint: use letters, digits, _ and -; a dot begins a path into a value
error none bad.json:19:11 /nodes/0/data/variables/1 `"port.name"`
  node "ask": variable name "port.name" is not allowed: a variable is spelt with letters and digits of any script, _ and -; it is ignored
  hint: use letters, digits, _ and -; a dot begins a path into a value
error none bad.json:20:11 /nodes/0/data/variables/2 `"_variableSet"`
  node "ask": "_variableSet" is the selector of variable sets and can't be a variable; it is ignored
  hint: use letters, digits, _ and -; a dot begins a path into a value
error none Log2.json:8:9 /templates/0/variables/0 `"first mate"`
  template "Log2": variable name "first mate" is not allowed: a variable is spelt with letters and digits of any script, _ and -; it is ignored
  hint: use letters, digits, _ and -; a dot begins a path into a value
error none Log3.json:8:9 /templates/0/variables/0 `"second mate"`
  template "Log3": variable name "second mate" is not allowed: a variable is spelt with letters and digits of any script, _ and -; it is ignored
  hint: use letters, digits, _ and -; a dot begins a path into a value
"#,
    );
}

#[test]
fn a_placeholder_that_nothing_fills_is_a_warning_with_the_nearest_name() {
    says(
        "unbound-placeholder",
        r#"
warning none bad.json:22:34 /nodes/1/data/template `{porto}`
  node "sail": {porto} is not declared and no earlier step gives it; it stays as it is unless the caller gives a value
  hint: did you mean "port"?
  hint: declare "porto" in `variables`, or in an input node
"#,
    );
}

#[test]
fn a_declaration_without_a_use_is_told_once_however_many_steps_share_it() {
    says(
        "unused-variable",
        r#"
warning none bad.json:14:11 /nodes/0/data/variables/1 `"tide"`
  input "tide" is declared, and no step uses it
  hint: use {tide} in a text, or remove the input
warning none bad.json:26:11 /nodes/1/data/variables/1 `"crew"`
  node "load" declares "crew", and its text doesn't use it
  hint: use {crew} in the text, or remove the declaration
warning none Log_All.json:9:9 /templates/0/variables/1 `"wind"`
  template "Log_All" declares "wind", and its text doesn't use it
  hint: use {wind} in the text, or remove the declaration
"#,
    );
}

#[test]
fn a_name_that_flows_of_two_files_have_is_an_error_that_keeps_nothing_from_running() {
    let entry = ("flows/Boat.json".to_owned(), crate::support::drawing::flow().text("a", "A").bytes());
    let files = flowy::internals::names::Few::of(["flows/Boat.json", "flows/old/Boat.json"]);
    let twins = [("Boat".to_owned(), files)];
    let check =
        crate::support::checking::check_with(&entry, &[], &twins, flowy::internals::validate::Options::default());
    let found = crate::support::checking::findings(&check);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].rule, found[0].reach.to_string().as_str()), ("ambiguous-name", "none"));
    assert!(found[0].message.contains("flows/Boat.json, flows/old/Boat.json"), "{}", found[0].message);
    assert!(check.flows[0].checked.is_some());
}

#[test]
fn a_name_that_is_spelt_otherwise_than_what_it_means_is_used_and_told() {
    finds(
        "inexact-name",
        &[
            "warning none bad.json /nodes/0/data/selectedTemplateId",
            "warning none bad.json /nodes/0/data/persona",
            "warning none bad.json /nodes/0/data/contract",
            "warning none bad.json /nodes/1/data/flow",
        ],
    );
}
