//! External servers and their tools, for people.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use unicode_width::UnicodeWidthStr as _;

use super::{BAD, Cell, FAINT, GOOD, HEADING, Look, NAME, ago, count, hint, prose, rows as rows_of, safe_block, table};
use super::{cut_to, warning, whole, with_below, wrapped};
use crate::app::{ServerList, ServerRow, ServerStanding, ServerTools};
use crate::names::{quoted, shown};

/// The longest text in a line, in characters.
const LINE: usize = 160;
/// A description of fewer characters says nothing.
const SHORTEST: usize = 12;
/// The blanks between two columns of a table.
const BETWEEN: usize = 2;

/// All servers, one in each line: on a terminal with a mark, elsewhere with tabs between alias,
/// transport, standing, tools, allowed tools and when the list was read.
pub fn servers(list: &ServerList, now: DateTime<Utc>, look: Look) -> String {
    if look.terminal {
        let rows: Vec<_> = list.rows.iter().map(|row| marked(row, now)).collect();
        let lines = rows_of(&rows, 3, &[], look);
        // The reason stands below its row, in full.
        let why = |row: &ServerRow| match &row.standing {
            ServerStanding::Unavailable(why) => wrapped(&fact(why, row, &list.place), 4, look),
            ServerStanding::Idle | ServerStanding::Ready | ServerStanding::Disabled => String::new(),
        };
        return with_below(&lines, list.rows.iter().map(why));
    }
    let row = |row: &ServerRow| {
        let standing = match &row.standing {
            ServerStanding::Unavailable(why) => format!("unavailable: {}", shown(why, LINE)),
            ServerStanding::Idle => "not connected".to_owned(),
            ServerStanding::Ready => "connected".to_owned(),
            ServerStanding::Disabled => "disabled".to_owned(),
        };
        let known = row.tools.map_or_else(|| "not known yet".to_owned(), |tools| tools.to_string());
        let allowed = row.tools.map_or_else(|| "–".to_owned(), |_| row.allowed.to_string());
        let since = row.known_since.map_or_else(|| "–".to_owned(), |time| time.format("%Y-%m-%d %H:%M").to_string());
        vec![shown(&row.alias, LINE), row.transport.to_owned(), standing, known, allowed, since]
    };
    lines(&list.rows.iter().map(row).collect::<Vec<_>>())
}

/// Why a server can't be used, as far as its row does not say it already: which file that is stands below the
/// rows, and its name before.
fn fact(why: &str, row: &ServerRow, place: &str) -> String {
    let behind = why.strip_prefix(place).and_then(|rest| rest.split_once(": "));
    let fact = behind.map_or(why, |(_, fact)| fact);
    shown(&fact.replace(&format!(" of the server {}", quoted(&row.alias)), ""), LINE)
}

/// A server's mark, name, transport, and what is known of it.
fn marked(row: &ServerRow, now: DateTime<Utc>) -> Vec<Cell> {
    let tools = row.tools.map(|tools| {
        let read = row.known_since.map(|then| format!(" · read {}", ago(then, now))).unwrap_or_default();
        format!("{} of {} allowed{read}", row.allowed, count(tools, "tool", "tools"))
    });
    let known = tools.unwrap_or_else(|| "tools not read yet".to_owned());
    let (mark, style, told) = match &row.standing {
        ServerStanding::Unavailable(_) => ("✗", BAD, "can't be used".to_owned()),
        ServerStanding::Disabled => ("–", FAINT, "disabled".to_owned()),
        ServerStanding::Idle | ServerStanding::Ready if row.tools.is_none() => ("·", FAINT, known),
        ServerStanding::Idle | ServerStanding::Ready => ("✓", GOOD, known),
    };
    vec![
        Cell::painted(mark, style),
        Cell::painted(shown(&row.alias, LINE), NAME),
        Cell::painted(row.transport, FAINT),
        Cell::plain(told),
    ]
}

fn lines(rows: &[Vec<String>]) -> String {
    rows.iter().map(|row| row.join("\t") + "\n").collect()
}

fn warnings(notices: &[String], look: Look) -> String {
    notices.iter().map(|notice| warning(notice, look)).collect()
}

/// What is to be said beside the servers.
pub fn servers_notes(list: &ServerList, look: Look) -> String {
    let place = shown(&list.place, 300);
    if list.rows.is_empty() {
        return format!("no external servers are configured: {place} would list them (docs/SERVERS.md shows its form)");
    }
    let warnings = warnings(&list.notices, look);
    format!("{warnings}configured in {place}; none was asked now: `flowy servers tools ALIAS` asks one for its tools")
}

/// The tools of a server; with the schemas of their arguments where they are wanted.
pub fn server_tools(asked: &ServerTools, schemas: bool, look: Look) -> String {
    if !schemas {
        return tool_rows(asked, look);
    }
    let mut text = String::new();
    for tool in &asked.tools {
        let call = shown(&format!("{}:{}", asked.row.alias, tool.name), LINE);
        let allowed = if tool.allowed { "" } else { " (not allowed)" };
        let _ = writeln!(text, "{}{allowed}", look.paint(NAME, &call));
        if let Some(description) = &tool.description {
            if look.terminal {
                text.push_str(&wrapped(description, 0, look));
            } else {
                let _ = writeln!(text, "{}", safe_block(description));
            }
        }
        let _ = writeln!(text, "{}\n", safe_block(&format!("{:#}", tool.input.schema())));
    }
    text
}

/// One tool in each line: on a terminal as a table that keeps to its width by cutting descriptions,
/// elsewhere with tabs between call, what flows may do, and the description's first line.
fn tool_rows(asked: &ServerTools, look: Look) -> String {
    let row = |tool: &std::sync::Arc<crate::app::KnownTool>| {
        let allowed = if tool.allowed { "allowed" } else { "not allowed" };
        let mark = match (tool.read_only, tool.idempotent) {
            (true, _) => ", read-only",
            (false, true) => ", idempotent",
            (false, false) => "",
        };
        let call = format!("{}:{}", asked.row.alias, tool.name);
        let description = tool.description.as_deref().unwrap_or_default();
        [shown(&call, LINE), format!("{allowed}{mark}"), shown(description, LINE)]
    };
    let mut rows: Vec<[String; 3]> = asked.tools.iter().map(row).collect();
    let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or_default();
    let calls = widest(&mut rows.iter().map(|[call, ..]| call.width()));
    let marks = widest(&mut rows.iter().map(|[_, marks, _]| marks.width()));
    if !look.terminal {
        return lines(&rows.into_iter().map(Vec::from).collect::<Vec<_>>());
    }
    let left = look.columns().saturating_sub(calls + marks + 3 * BETWEEN);
    for [.., description] in &mut rows {
        *description = if left < SHORTEST { String::new() } else { cut_to(description, left - 1) };
    }
    let rows: Vec<_> = rows.into_iter().map(Vec::from).collect();
    table(&[whole("call"), whole("flows"), prose("description").spare()], &rows, 0, look)
}

/// What is to be said beside the tools.
pub fn server_tools_notes(asked: &ServerTools, look: Look) -> String {
    let mut text = warnings(&asked.notices, look);
    if let Some(trouble) = &asked.trouble {
        let since = asked.row.known_since.map(|time| time.format(", as they were at %Y-%m-%d %H:%M UTC").to_string());
        let _ = writeln!(
            text,
            "{} could not be asked ({}); these are the tools that are known{}",
            look.paint(HEADING, &shown(&asked.row.alias, LINE)),
            shown(trouble, 300),
            since.unwrap_or_default()
        );
        if let Some(step) = &asked.hint {
            let _ = writeln!(text, "{}", hint(step, look));
        }
    }
    let _ = write!(text, "{}, {} allowed", count(asked.tools.len(), "tool", "tools"), asked.row.allowed);
    if asked.row.allowed == 0 && !asked.tools.is_empty() {
        text.push_str("; name those that flows may call in `allow` of the servers file, or write \"readOnly\" there");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::app::KnownTool;
    use crate::model::Contract;

    fn asked(alias: &str) -> ServerTools {
        let tool = |name: &str, read_only| {
            Arc::new(KnownTool {
                name: name.to_owned(),
                description: Some(format!("What it does, at length.\n{}", "And more of it. ".repeat(20))),
                input: Contract::stored(None, json!({})),
                allowed: read_only,
                read_only,
                idempotent: true,
            })
        };
        let row = ServerRow {
            alias: alias.to_owned(),
            transport: "stdio",
            standing: ServerStanding::Ready,
            tools: Some(2),
            allowed: 1,
            known_since: None,
        };
        let tools = vec![tool("list_directory_with_sizes", true), tool("write_file", false)];
        ServerTools { row, tools, trouble: None, hint: None, notices: Vec::new() }
    }

    #[test]
    fn a_tool_takes_one_line_of_a_terminal_and_its_name_is_never_broken() {
        let look = Look { terminal: true, width: Some(80), ..Look::default() };
        let text = server_tools(&asked("files"), false, look);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[1].starts_with("files:list_directory_with_sizes") && lines[1].contains("allowed, read-only"));
        assert!(lines.iter().all(|line| line.chars().count() <= 80) && text.contains("What it does"), "{text}");
        // Where even the names have no room, each has a line of its own.
        let narrow = server_tools(&asked(&"long".repeat(12)), false, look);
        assert!(narrow.contains(":write_file\n  flows: not allowed, idempotent\n"), "{narrow}");
        let schemas = server_tools(&asked("files"), true, look);
        assert!(schemas.lines().all(|line| line.chars().count() <= 80), "{schemas}");
    }
}
