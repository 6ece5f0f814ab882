//! External servers and their tools, for people.

use std::fmt::Write as _;

use super::{HEADING, Look, NAME, count, safe_block, table};
use crate::app::{ServerList, ServerStanding, ServerTools};
use crate::names::shown;
use crate::report::wire::standing_word;

/// The longest description in a table, in characters.
const LINE: usize = 160;

/// All servers, one in each line.
pub fn servers(list: &ServerList, look: Look) -> String {
    if list.rows.is_empty() {
        return String::new();
    }
    let row = |row: &crate::app::ServerRow| {
        let standing = match &row.standing {
            ServerStanding::Unavailable(why) => format!("unavailable: {}", shown(why, LINE)),
            other => standing_word(other).to_owned(),
        };
        let known = row.tools.map_or_else(|| "not known yet".to_owned(), |tools| tools.to_string());
        let allowed = row.tools.map_or_else(|| "–".to_owned(), |_| row.allowed.to_string());
        let since = row.known_since.map_or_else(|| "–".to_owned(), |time| time.format("%Y-%m-%d %H:%M").to_string());
        vec![shown(&row.alias, LINE), row.transport.to_owned(), standing, known, allowed, since]
    };
    let headings = ["alias", "transport", "standing", "tools", "allowed", "list read (UTC)"];
    table(&headings, list.rows.iter().map(row).collect(), 0, look)
}

/// What is to be said beside the servers.
pub fn servers_notes(list: &ServerList) -> String {
    if list.rows.is_empty() {
        return format!("no external servers are configured ({})", shown(&list.place, 300));
    }
    format!("configured in {}; `flowy servers tools ALIAS` asks one for its tools", shown(&list.place, 300))
}

/// The tools of a server; with the schemas of their arguments where they are wanted.
pub fn server_tools(asked: &ServerTools, schemas: bool, look: Look) -> String {
    if !schemas {
        let row = |tool: &std::sync::Arc<crate::app::KnownTool>| {
            let mut marks = vec![if tool.allowed { "allowed" } else { "not allowed" }];
            marks.extend(tool.read_only.then_some("read-only"));
            marks.extend(tool.idempotent.then_some("idempotent"));
            let call = format!("{}:{}", asked.row.alias, tool.name);
            let description = tool.description.as_deref().unwrap_or_default();
            vec![shown(&call, LINE), marks.join(", "), shown(description, LINE)]
        };
        return table(&["call", "flows", "description"], asked.tools.iter().map(row).collect(), 0, look);
    }
    let mut text = String::new();
    for tool in &asked.tools {
        let call = shown(&format!("{}:{}", asked.row.alias, tool.name), LINE);
        let allowed = if tool.allowed { "" } else { " (not allowed)" };
        let _ = writeln!(text, "{}{allowed}", look.paint(NAME, &call));
        if let Some(description) = &tool.description {
            let _ = writeln!(text, "{}", safe_block(description));
        }
        let _ = writeln!(text, "{}\n", safe_block(&format!("{:#}", tool.input.schema())));
    }
    text
}

/// What is to be said beside the tools.
pub fn server_tools_notes(asked: &ServerTools, look: Look) -> String {
    let mut text = String::new();
    if let Some(trouble) = &asked.trouble {
        let since = asked.row.known_since.map(|time| time.format(", as they were at %Y-%m-%d %H:%M UTC").to_string());
        let _ = writeln!(
            text,
            "{} could not be asked ({}); these are the tools that are known{}",
            look.paint(HEADING, &shown(&asked.row.alias, LINE)),
            shown(trouble, 300),
            since.unwrap_or_default()
        );
    }
    let _ = write!(text, "{}, {} allowed", count(asked.tools.len(), "tool", "tools"), asked.row.allowed);
    if asked.row.allowed == 0 && !asked.tools.is_empty() {
        text.push_str("; name those that flows may call in `allow` of the servers file, or write \"readOnly\" there");
    }
    text
}
