//! Braces that were to be placeholders, in both forms: one finding each, and none where they are fine.

use serde_json::json;

use crate::support::checking::{check, findings};

/// Rule and hints of what is found in a flow whose step `sum` has a text, in JSON and in Markdown.
fn told(text: &str) -> [Vec<(String, String)>; 2] {
    let node = |id: &str, text: &str| json!({"id": id, "type": "template", "data": {"label": id, "template": text}});
    let edge =
        |source: &str, target: &str| json!({"id": format!("{source}-{target}"), "source": source, "target": target});
    let flow = json!({
        "metadata": {"name": "T", "version": "1.0.0", "inputs": {"crew": {"description": "Who"}, "price": {"description": "In dollars"}}},
        "nodes": [
            {"id": "in", "type": "multi_input", "data": {"label": "In", "variables": ["crew", "price"]}},
            node("log", "Log {price}"),
            node("sum", text),
            {"id": "out", "type": "result", "data": {"label": "Out"}},
        ],
        "edges": [edge("in", "log"), edge("in", "sum"), edge("log", "sum"), edge("sum", "out")],
    });
    let markdown = format!(
        "---\nname: T\nversion: 1.0.0\ninputs: {{ crew: {{ description: Who }}, price: {{ description: In dollars }} }}\n---\n\
         ## Log {{#log}}\nLog {{price}}\n## Sum {{#sum}}\n```yaml\nafter: log\n```\n{text}\n"
    );
    [("flows/T.json", flow.to_string()), ("flows/T.flow.md", markdown)].map(|(path, text)| {
        let found = findings(&check(&(path.to_owned(), text.into_bytes()), &[]));
        found.into_iter().map(|finding| (finding.rule.to_owned(), finding.hints.join("; "))).collect()
    })
}

#[test]
fn a_placeholder_as_another_language_has_it_is_one_finding() {
    for (written, hint) in [
        ("${crew}", "{crew}"),
        ("{{crew|upper}}", "{crew}"),
        ("{{ crew | upper }}", "{crew}"),
        ("{crew|x}", "{crew}"),
        ("{crew!}", "{crew}"),
        ("{crew!r}", "{crew}"),
        ("{{#crew}} and", "{crew}"),
        ("{% if crew %} and", "{crew}"),
        ("{%- for one in crew -%}", "{crew}"),
        ("{{ crew or 'nobody' }}", "{crew}"),
        ("{{ crew }}", "{crew}"),
        ("{ crew }", "{crew}"),
        ("{crew", "{crew}"),
        ("{crew)", "{crew}"),
        ("{log_result of it", "{log_result}"),
        ("{crew\u{200B}}", "{crew}"),
        ("{crew\u{A0}}", "{crew}"),
        ("\u{FF5B}crew\u{FF5D}", "{crew}"),
        ("{crew\u{FF5D}", "{crew}"),
        ("$crew", "{crew}"),
        ("%crew%", "{crew}"),
        ("[crew]", "{crew}"),
        ("<crew>", "{crew}"),
        ("<<crew>>", "{crew}"),
        ("<%= crew %>", "{crew}"),
        ("%(crew)s", "{crew}"),
        ("{crew?}", "{crew}"),
    ] {
        let more = if written.contains("crew") { "" } else { ", {crew}" };
        let told = told(&format!("Sum up {{log_result}} for {written} now{more}."));
        for found in told {
            let unread: Vec<_> = found.iter().filter(|(rule, _)| rule != "foreign-placeholder").collect();
            let foreign = found.iter().find(|(rule, _)| rule == "foreign-placeholder");
            assert_eq!(unread.len(), 0, "{written}: {found:?}");
            assert!(foreign.is_some_and(|(_, hints)| hints.contains(hint)), "{written}: {found:?}");
        }
    }
}

#[test]
fn braces_and_signs_that_are_meant_so_are_silent() {
    for written in [
        "It costs ${price}.",
        "In the shell: `echo ${crew}`",
        "\n```\necho ${crew} {{crew|upper}}\n```",
        "A set {crew,price} and {crew:1} and {a|b}",
        "\\textbf{crew} and f(x) = {x | x > 0}",
        "{% if admin %} {{#users}} {{ total | sum }}",
        "function crew() { return crew; } .crew { color: red }",
        "{crew: 1,\n b: 2}",
    ] {
        for found in told(&format!("For {{crew}}, {{log_result}}: {written}")) {
            assert_eq!(found, [], "{written}");
        }
    }
}

#[test]
fn a_name_in_signs_that_mean_something_else_is_only_unused() {
    for written in [
        "$5 and $crews",
        "the formula $crew$",
        "\\$crew or \\[crew\\]",
        "`$crew`",
        "\n```\necho $crew %crew% <crew> [crew]\n```",
        "[crew](https://example.com) and ![crew](x.png) and [crew][1]",
        "[crew]: https://example.com",
        "rows[crew] and Vec<crew>",
        "<crew>Tom</crew>",
        "50%crew%",
        "[[crew]]",
        "<<crew and 100%(crew)",
    ] {
        for found in told(&format!("For {{log_result}}, {{price}}: {written}")) {
            let rules: Vec<&str> = found.iter().map(|(rule, _)| &**rule).collect();
            assert_eq!(rules, ["unused-variable"], "{written}: {found:?}");
        }
    }
    // A word in brackets is what an author writes of a form when the text has the value already.
    for written in ["[crew]", "<crew>", "$crew", "[log_result]", "<price>", "<log>", "[out]"] {
        for found in told(&format!("For {{crew}}, {{log_result}}: {written}")) {
            assert_eq!(found, [], "{written}");
        }
    }
}

#[test]
fn an_output_by_another_word_is_told_with_its_name() {
    for written in
        ["{log_results}", "{log_output}", "{log_outputs}", "{log_resul}", "{log_response}", "{log_Result}", "{log}"]
    {
        for found in told(&format!("For {{crew}}: {written}")) {
            assert_eq!(found.len(), 1, "{written}: {found:?}");
            assert!(
                found[0].0 == "unbound-placeholder" && found[0].1.contains("\"log_result\""),
                "{written}: {found:?}"
            );
        }
    }
    for written in ["{log_book}", "{log_text}", "{crew_output}", "{output}", "{results}"] {
        for found in told(&format!("For {{crew}}, {{log_result}}: {written}")) {
            assert_eq!(found, [], "{written}");
        }
    }
}

#[test]
fn what_nobody_sees_in_a_text_is_told_where_no_script_needs_it() {
    for written in ["a\u{202E}b", "a\u{2066}b\u{2069}", "zero\u{200B}width", "join\u{200D}ed", "a\u{2060} b"] {
        for found in told(&format!("For {{crew}}, {{log_result}}: {written}")) {
            assert_eq!(
                found.iter().map(|(rule, _)| &**rule).collect::<Vec<_>>(),
                ["hidden-text"],
                "{written:?}: {found:?}"
            );
        }
    }
    for written in [
        "\u{5E9}\u{5DC} \u{2066}abc\u{2069}",
        "\u{645}\u{200C}\u{62E}",
        "\u{1F468}\u{200D}\u{1F469}",
        "co\u{AD}op",
        "\u{178F}\u{200B}\u{17A2}",
    ] {
        for found in told(&format!("For {{crew}}, {{log_result}}: {written}")) {
            assert_eq!(found, [], "{written:?}");
        }
    }
}
