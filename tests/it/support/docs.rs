//! Tables for documents, made from what the program itself knows.
//!
//! A document holds a marked block for each table; a test compares the blocks with what is made
//! here, so a setting, a rule or a code that is added shows up, or the test fails.

mod fields;

use std::fmt::Write as _;

use clap::CommandFactory as _;

use flowy::internals::app::{Code, EXIT_CODES, RULES};
use flowy::internals::cli::Cli;
use flowy::internals::code::WarningCode;
use flowy::internals::config::{SERVERS_FAULTS, SETTINGS, SURROUNDINGS};
use flowy::internals::mcp::{RESOURCES, tool_rows};
use flowy::internals::report::wire::STATUSES;

/// Every block there is: its name and its Markdown.
pub(crate) fn blocks() -> Vec<(&'static str, String)> {
    let mut blocks = vec![
        ("tools", tools()),
        ("tool-arguments", tool_arguments()),
        ("resources", resources()),
        ("commands", commands()),
        ("options", options()),
        ("settings", settings()),
        ("environment", environment()),
        ("rules", rules()),
        ("codes", codes()),
        ("exit-codes", exit_codes()),
        ("statuses", statuses()),
        ("warnings", warnings()),
        ("server-faults", server_faults()),
    ];
    blocks.extend(fields::shapes().into_iter().map(|(name, fields)| (name, result(&fields))));
    blocks
}

/// A document with its blocks filled in. A block begins with `<!-- generated: NAME -->` and ends
/// with `<!-- /generated -->`, each on a line of its own.
///
/// # Errors
/// In words, when a block has no end or a name that no table has.
pub(crate) fn filled(document: &str, blocks: &[(&'static str, String)]) -> Result<String, String> {
    const END: &str = "<!-- /generated -->";
    let mut out = String::with_capacity(document.len());
    let mut rest = document;
    while let Some(at) = rest.find("<!-- generated: ") {
        let (before, begun) = rest.split_at(at);
        let (first, after) = begun.split_once('\n').ok_or_else(|| "a block has no end".to_owned())?;
        let name = first.trim_start_matches("<!-- generated: ").trim_end_matches(" -->");
        let (_, text) = blocks
            .iter()
            .find(|(block, _)| *block == name)
            .ok_or_else(|| format!("there is no table called {name}"))?;
        let (_, behind) = after.split_once(END).ok_or_else(|| format!("the block {name} has no end"))?;
        out.push_str(before);
        let _ = write!(out, "{first}\n\n{text}\n{END}");
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{text}`") }
}

fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut out = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|text| cell(text)).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out
}

fn tools() -> String {
    let rows = tool_rows().into_iter().map(|tool| {
        let arguments: Vec<String> = tool
            .arguments
            .iter()
            .map(
                |argument| if argument.required { format!("**{}**", code(argument.name)) } else { code(argument.name) },
            )
            .collect();
        vec![code(tool.name), tool.title.to_owned(), arguments.join(", ")]
    });
    table(&["tool", "what it does", "arguments (**required**)"], rows)
}

fn tool_arguments() -> String {
    let rows = tool_rows().into_iter().flat_map(|tool| {
        tool.arguments.into_iter().map(move |argument| {
            let default = if argument.required { "required".to_owned() } else { code(argument.default) };
            vec![code(tool.name), code(argument.name), argument.kind, default, argument.description.to_owned()]
        })
    });
    table(&["tool", "argument", "value", "default", "what it does"], rows)
}

/// Every command that does something, by what is typed.
fn leaves(cli: &clap::Command) -> Vec<(String, &clap::Command)> {
    let shown = cli.get_subcommands().filter(|command| !command.is_hide_set());
    shown
        .flat_map(|command| {
            let below = leaves(command);
            let name = command.get_name();
            if below.is_empty() {
                vec![(name.to_owned(), command)]
            } else {
                below.into_iter().map(|(rest, command)| (format!("{name} {rest}"), command)).collect()
            }
        })
        .collect()
}

fn resources() -> String {
    let rows = RESOURCES
        .iter()
        .map(|row| vec![code(row.address), row.description.to_owned(), code(row.media_type), row.tool.to_owned()]);
    table(&["address", "what is there", "media type", "tool that answers the same"], rows)
}

fn commands() -> String {
    let cli = Cli::command();
    let rows = leaves(&cli).into_iter().map(|(name, command)| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let arguments: Vec<String> = command
            .get_positionals()
            .map(|argument| {
                let name =
                    argument.get_value_names().and_then(|names| names.first()).map_or("ARG", |name| name.as_str());
                let many = matches!(argument.get_action(), clap::ArgAction::Append);
                match (argument.is_required_set(), many) {
                    (true, _) => name.to_owned(),
                    (false, true) => format!("[{name}…]"),
                    (false, false) => format!("[{name}]"),
                }
            })
            .collect();
        vec![code(format!("flowy {name} {}", arguments.join(" ")).trim()), about]
    });
    table(&["command", "what it does"], rows.collect::<Vec<_>>())
}

/// The options of each command that are its own.
fn options() -> String {
    let cli = Cli::command();
    let mut rows = Vec::new();
    for (name, command) in std::iter::once(("every command".to_owned(), &cli)).chain(leaves(&cli)) {
        for argument in command.get_arguments().filter(|argument| argument.get_long().is_some()) {
            let long = argument.get_long().unwrap_or_default();
            if matches!(long, "help" | "version") {
                continue;
            }
            let value = argument
                .get_action()
                .takes_values()
                .then(|| argument.get_value_names().and_then(|names| names.first()).map(|name| format!(" {name}")))
                .flatten()
                .unwrap_or_default();
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            let defaults: Vec<String> =
                argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
            let choices: Vec<String> = argument
                .get_possible_values()
                .iter()
                .filter(|_| argument.get_action().takes_values())
                .map(|choice| choice.get_name().to_owned())
                .collect();
            let default =
                if defaults.is_empty() { String::new() } else { format!(" (default {})", defaults.join(", ")) };
            let choices = if choices.is_empty() { String::new() } else { format!(": {}", choices.join(", ")) };
            rows.push(vec![name.clone(), code(&format!("--{long}{value}")), format!("{help}{choices}{default}")]);
        }
    }
    table(&["command", "option", "what it does"], rows)
}

fn settings() -> String {
    let rows = SETTINGS.iter().map(|row| {
        let variables: Vec<String> = row.variables.iter().map(|name| code(name)).collect();
        let own = if row.own_file_only { "; in a file only in your own" } else { "" };
        vec![
            code(row.flag.unwrap_or_default()),
            variables.join(", "),
            code(row.key.unwrap_or_default()),
            row.default.words().to_owned(),
            format!("{}{own}", row.meaning),
        ]
    });
    table(&["flag", "environment", "`flowy.toml`", "default", "meaning"], rows)
}

fn environment() -> String {
    table(&["variable", "what for"], SURROUNDINGS.iter().map(|(name, meaning)| vec![code(name), (*meaning).to_owned()]))
}

fn rules() -> String {
    let rows = RULES.iter().map(|rule| {
        let mut severities: Vec<String> = rule.verdicts().map(|(severity, _)| severity.to_string()).collect();
        severities.dedup();
        let reaches: Vec<String> = rule.verdicts().map(|(_, reach)| reach.to_string()).collect();
        let also: Vec<String> =
            rule.also.iter().map(|also| format!(" ({}, {}: {})", also.severity, also.reach, also.when)).collect();
        vec![code(rule.id), severities.join(" / "), reaches.join(" / "), format!("{}{}", rule.summary, also.concat())]
    });
    table(&["rule", "severity", "stops", "what it notices"], rows)
}

fn codes() -> String {
    let rows = Code::ALL
        .iter()
        .map(|code_of| vec![code(code_of.word()), code_of.meaning().to_owned(), code_of.retried().to_owned()]);
    table(&["code", "when", "tried again"], rows)
}

fn statuses() -> String {
    table(
        &["`status`", "given by", "meaning"],
        STATUSES.map(|(word, place, meaning)| vec![code(word), place.to_owned(), meaning.to_owned()]),
    )
}

fn warnings() -> String {
    let rows = WarningCode::ALL
        .iter()
        .map(|warning| vec![code(warning.word()), warning.place().to_owned(), warning.meaning().to_owned()]);
    table(&["code", "given by", "when"], rows)
}

fn server_faults() -> String {
    table(&["`fault`", "when"], SERVERS_FAULTS.map(|(word, meaning)| vec![code(word), meaning.to_owned()]))
}

fn result(fields: &[fields::Field]) -> String {
    let rows = fields.iter().map(|field| vec![code(&field.path), field.kind(), field.meaning.clone()]);
    table(&["field", "value", "what it is"], rows)
}

fn exit_codes() -> String {
    table(
        &["exit code", "meaning"],
        EXIT_CODES.iter().map(|(code, meaning)| vec![code.to_string(), (*meaning).to_owned()]),
    )
}

#[test]
fn a_block_is_replaced_and_everything_around_it_stays() {
    let document = "a\n<!-- generated: x -->\nold\n<!-- /generated -->\nb\n";
    let new = filled(document, &[("x", "new\n".to_owned())]);
    assert_eq!(new.as_deref(), Ok("a\n<!-- generated: x -->\n\nnew\n\n<!-- /generated -->\nb\n"));
    assert_eq!(filled(new.as_deref().unwrap_or_default(), &[("x", "new\n".to_owned())]), new);
    assert!(filled(document, &[]).is_err());
}
