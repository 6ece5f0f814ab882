//! The tree is as `ARCHITECTURE.md` says: rooms, outside crates, module docs, sizes, paths.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::program::repository;

/// A source file must not be longer, in lines.
const LONGEST_FILE: usize = 600;
/// The rooms that stay free of `async` and of a runtime: those above `config` in the table.
const FIRST_WITH_IO: &str = "config";

struct Source {
    path: PathBuf,
    /// Relative to the repository, with `/`.
    name: String,
    /// `None` for `src/main.rs` and `src/lib.rs`.
    room: Option<String>,
    text: String,
    /// The text without comments and without what stands in string literals.
    code: String,
}

fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" && name != "node_modules" && name != "snapshots" {
                files(&path, ending, found);
            }
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
}

fn relative(path: &Path) -> String {
    path.strip_prefix(repository()).unwrap().to_str().unwrap().replace('\\', "/")
}

fn sources() -> Vec<Source> {
    let mut paths = Vec::new();
    files(&repository().join("src"), ".rs", &mut paths);
    let of = |path: PathBuf| {
        let name = relative(&path);
        let first = name.trim_start_matches("src/").split('/').next().unwrap().trim_end_matches(".rs").to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let code = bare(&text);
        Source { path, name, room: (first != "main" && first != "lib").then_some(first), text, code }
    };
    paths.into_iter().map(of).collect()
}

/// Code without comments and without the insides of string and character literals.
fn bare(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        match c {
            '/' if chars.peek() == Some(&'/') => {
                while chars.peek().is_some_and(|c| *c != '\n') {
                    chars.next();
                }
            }
            '/' if chars.peek() == Some(&'*') => {
                let mut last = ' ';
                for c in chars.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            'r' if matches!(chars.peek(), Some('"' | '#')) && !before.is_alphanumeric() && before != '_' => {
                let mut hashes = 0;
                while chars.peek() == Some(&'#') {
                    chars.next();
                    hashes += 1;
                }
                if chars.peek() == Some(&'"') {
                    chars.next();
                    let mut run = None;
                    for c in chars.by_ref() {
                        run = match (c, run) {
                            ('"', _) => Some(0),
                            ('#', Some(count)) => Some(count + 1),
                            _ => None,
                        };
                        if run == Some(hashes) {
                            break;
                        }
                    }
                }
            }
            '"' => {
                out.push('"');
                while let Some(c) = chars.next() {
                    match c {
                        '\\' => drop(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
                out.push('"');
            }
            '\'' => {
                // A character literal, or the beginning of a lifetime.
                let mut ahead = chars.clone();
                match (ahead.next(), ahead.next()) {
                    (Some('\\'), Some(_)) => {
                        chars.next();
                        chars.next();
                        for c in chars.by_ref() {
                            if c == '\'' {
                                break;
                            }
                        }
                    }
                    (Some(_), Some('\'')) => {
                        chars.next();
                        chars.next();
                    }
                    _ => out.push(c),
                }
            }
            _ => out.push(c),
        }
        before = c;
    }
    out
}

fn word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// What follows each occurrence of a prefix that does not continue a longer word.
fn after<'t>(code: &'t str, prefix: &'t str) -> impl Iterator<Item = &'t str> {
    code.match_indices(prefix)
        .filter(|(at, _)| !code[..*at].chars().next_back().is_some_and(|c| word_char(c) || c == ':'))
        .map(move |(at, _)| &code[at + prefix.len()..])
}

/// The first segments of what follows `crate::`, braces included: `crate::{app::App, names}`.
fn heads(rest: &str) -> Vec<String> {
    let word = |text: &str| text.trim_start().chars().take_while(|c| word_char(*c)).collect::<String>();
    let rest = rest.trim_start();
    if !rest.starts_with('{') {
        return vec![word(rest)];
    }
    let mut found = Vec::new();
    let mut depth = 0;
    let mut start = true;
    for (at, c) in rest.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => start = true,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if depth == 1 && start && word_char(c) {
            found.push(word(&rest[at..]));
            start = false;
        }
    }
    found
}

/// The modules of a file that has `super::` in it: how deep it stands below the crate.
fn depth(name: &str) -> usize {
    name.trim_start_matches("src/").trim_end_matches(".rs").split('/').count()
}

/// Every room of the crate that code names: by `crate::`, `flowy::`, or enough `super::`.
fn rooms_named(source: &Source, rooms: &BTreeSet<String>) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    let packed: String = source.code.split_whitespace().collect::<Vec<_>>().join(" ").replace(" :: ", "::");
    for prefix in ["crate::", "::flowy::internals::", "$crate::"] {
        for rest in after(&packed, prefix) {
            named.extend(heads(rest).into_iter().filter(|head| rooms.contains(head)));
        }
    }
    // As many `super` as the file is deep lead to the crate itself; inline modules lie deeper.
    let least = depth(&source.name);
    for (at, _) in packed.match_indices("super::") {
        if packed[..at].ends_with("super::") {
            continue;
        }
        let mut rest = &packed[at..];
        let mut count = 0;
        while let Some(shorter) = rest.strip_prefix("super::") {
            rest = shorter;
            count += 1;
        }
        if count >= least {
            named.extend(heads(rest).into_iter().filter(|head| rooms.contains(head)));
        }
    }
    named
}

/// The rows of the Markdown table whose first heading is `first`.
fn table(text: &str, first: &str) -> Vec<Vec<String>> {
    let head = format!("| {first} |");
    let rows =
        text.lines().skip_while(|line| !line.starts_with(&head)).skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

fn listed(cell: &str) -> BTreeSet<String> {
    cell.split(',').map(str::trim).filter(|word| !word.is_empty() && *word != "–").map(str::to_owned).collect()
}

fn architecture() -> String {
    fs::read_to_string(repository().join("ARCHITECTURE.md")).unwrap()
}

fn rooms() -> Vec<(String, BTreeSet<String>)> {
    table(&architecture(), "room").into_iter().map(|row| (row[0].clone(), listed(&row[2]))).collect()
}

fn nothing(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn a_room_uses_only_what_its_row_lists() {
    let table: BTreeMap<String, BTreeSet<String>> = rooms().into_iter().collect();
    let all: BTreeSet<String> = table.keys().cloned().collect();
    assert!(all.len() > 15, "{all:?}");
    let mut wrong = Vec::new();
    for source in sources() {
        let Some(room) = &source.room else { continue };
        // A file of tests builds what its room is handed, so it may know who makes it.
        if source.name.ends_with("/tests.rs") {
            continue;
        }
        let Some(uses) = table.get(room) else {
            wrong.push(format!("{}: {room} is no room of ARCHITECTURE.md", source.name));
            continue;
        };
        for used in rooms_named(&source, &all) {
            if used != *room && !uses.contains(&used) {
                wrong.push(format!("{}: {room} must not use {used}", source.name));
            }
        }
    }
    nothing(&wrong);
}

#[test]
fn only_app_and_plan_hand_on_what_belongs_to_another_room() {
    let all: BTreeSet<String> = rooms().into_iter().map(|(room, _)| room).collect();
    let mut wrong = Vec::new();
    for source in sources() {
        let Some(room) = &source.room else { continue };
        let packed = source.code.split_whitespace().collect::<Vec<_>>().join(" ");
        for public in ["pub use ", "pub(crate) use "] {
            for rest in after(&packed, public).filter_map(|rest| rest.strip_prefix("crate::")) {
                for head in heads(rest).into_iter().filter(|head| all.contains(head) && head != room) {
                    if room != "app" && (room.as_str(), head.as_str()) != ("plan", "validate") {
                        wrong.push(format!("{}: {room} hands on {head}", source.name));
                    }
                }
            }
        }
        // Another name for the crate or for all of it would hide what is used.
        for hidden in ["use crate as", "use crate::*", "use crate::{self", "extern crate"] {
            if packed.contains(hidden) {
                wrong.push(format!("{}: `{hidden}` hides what is used", source.name));
            }
        }
    }
    nothing(&wrong);
}

/// The crates of a section of `Cargo.toml`, as code names them.
fn crates(section: &str) -> Vec<String> {
    let manifest = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let lines = manifest.lines().skip_while(|line| *line != section).skip(1).take_while(|line| !line.starts_with('['));
    lines.filter_map(|line| line.split_once(" = ")).map(|(name, _)| name.replace('-', "_")).collect()
}

#[test]
fn outside_crates_stay_in_their_rooms() {
    let homes: BTreeMap<String, BTreeSet<String>> =
        table(&architecture(), "crate").into_iter().map(|row| (row[0].clone(), listed(&row[1]))).collect();
    let crates = crates("[dependencies]");
    let mut wrong = Vec::new();
    for name in &crates {
        if !homes.contains_key(name) {
            wrong.push(format!("{name} has no row in ARCHITECTURE.md"));
        }
    }
    wrong.extend(homes.keys().filter(|home| !crates.contains(home)).map(|home| format!("{home} is no dependency")));
    let mut used: BTreeSet<&String> = BTreeSet::new();
    for source in sources() {
        for name in &crates {
            let path = format!("{name}::");
            let imported = [format!("use {name};"), format!("use {name} as")];
            if after(&source.code, &path).next().is_none() && !imported.iter().any(|form| source.code.contains(form)) {
                continue;
            }
            used.insert(name);
            let Some(rooms) = homes.get(name) else { continue };
            let room = source.room.as_deref().unwrap_or("main");
            if !rooms.contains("*") && !rooms.contains(room) {
                wrong.push(format!("{}: {name} is not for {room}", source.name));
            }
        }
    }
    wrong.extend(crates.iter().filter(|name| !used.contains(name)).map(|name| format!("{name} is used nowhere")));
    nothing(&wrong);
}

#[test]
fn every_file_says_what_it_is_for_and_stays_readable() {
    let mut paths = Vec::new();
    for folder in ["src", "tests/it"] {
        files(&repository().join(folder), ".rs", &mut paths);
    }
    let mut wrong = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let name = relative(&path);
        if !text.starts_with("//! ") {
            wrong.push(format!("{name} does not begin with a module doc"));
        }
        let lines = text.lines().count();
        if lines > LONGEST_FILE {
            wrong.push(format!("{name} has {lines} lines, {LONGEST_FILE} are allowed"));
        }
        if name == "src/main.rs" && lines > 20 {
            wrong.push(format!("{name} is more than a door"));
        }
    }
    nothing(&wrong);
}

#[test]
fn a_file_that_lists_its_parts_lists_what_is_there() {
    let mut wrong = Vec::new();
    for source in sources() {
        let folder = source.path.with_extension("");
        let row = |line: &str| Some(line.strip_prefix("//! | `")?.split_once('`')?.0.to_owned());
        let listed: Vec<String> = source.text.lines().filter_map(row).collect();
        let there = |part: &String| folder.join(part).is_dir() || folder.join(format!("{part}.rs")).is_file();
        wrong.extend(
            listed.iter().filter(|part| !there(part)).map(|part| format!("{}: there is no part {part}", source.name)),
        );
    }
    nothing(&wrong);
}

#[test]
fn the_thinking_rooms_are_not_async_and_read_nothing() {
    let pure: BTreeSet<String> =
        rooms().into_iter().map(|(room, _)| room).take_while(|room| room != FIRST_WITH_IO).collect();
    assert!(pure.len() > 8 && pure.contains("discover"), "{pure:?}");
    let mut wrong = Vec::new();
    for source in sources() {
        if !source.room.as_ref().is_some_and(|room| pure.contains(room)) {
            continue;
        }
        // Tests in these files may read fixtures.
        let code = source.code.split("#[cfg(test)]").next().unwrap_or_default();
        if source.path.file_stem().is_some_and(|stem| stem == "tests" || stem == "samples")
            || source.name.contains("/tests/")
        {
            continue;
        }
        for forbidden in
            ["async ", ".await", "std::fs", "std::net", "std::process", "std::io", "std::env", "std::time::Instant"]
        {
            if code.contains(forbidden) {
                wrong.push(format!("{}: `{forbidden}`", source.name));
            }
        }
    }
    nothing(&wrong);
}

#[test]
fn only_the_printer_writes_to_stdout() {
    let mut wrong = Vec::new();
    for source in sources() {
        for printing in ["println!", "print!", "io::stdout", "stdout()", "Stdout", "dbg!"] {
            let there =
                after(&source.code, printing).next().is_some() || source.code.contains(&format!("::{printing}"));
            // rmcp is given the streams by name under `serve`.
            if there && source.name != "src/cli/printer.rs" {
                wrong.push(format!("{}: `{printing}`", source.name));
            }
        }
    }
    nothing(&wrong);
}

#[test]
fn every_path_that_a_document_names_is_there() {
    let mut documents = Vec::new();
    files(repository(), ".md", &mut documents);
    documents.retain(|path| !relative(path).starts_with("tests/fixtures"));
    assert!(documents.len() > 6, "{documents:?}");
    let tops: Vec<String> = fs::read_dir(repository())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_str().unwrap().to_owned() + "/")
        .filter(|name| !["target/", ".git/"].contains(&name.as_str()))
        .collect();
    let mut wrong = Vec::new();
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        let name = relative(&document);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !document.parent().unwrap().join(target).exists() {
                wrong.push(format!("{name}: the link {link} leads nowhere"));
            }
        }
        let mut fenced = false;
        for line in text.lines() {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
                continue;
            }
            if fenced {
                continue;
            }
            for word in line.split('`').skip(1).step_by(2) {
                let path = word.trim_end_matches(['/', ',']);
                let root_file =
                    [".md", ".toml", ".rs"].iter().any(|ending| path.ends_with(ending)) && !path.contains('/');
                let below = tops.iter().any(|top| word.starts_with(top.as_str()));
                // What a user's own repository or machine holds is not ours to have.
                let pattern = path.contains(['*', '<', ' ', '…', '{'])
                    || path.starts_with("flows/")
                    || path.starts_with("templates/")
                    || path.ends_with(".flowtest.json");
                let theirs = path == "flowy.toml" || path == "SKILL.md";
                if (below || root_file) && !pattern && !theirs && !repository().join(path).exists() {
                    let beside = document.parent().unwrap().join(path);
                    if !beside.exists() {
                        wrong.push(format!("{name}: `{word}` is not there"));
                    }
                }
            }
        }
    }
    nothing(&wrong);
}

#[test]
fn hidden_ways_to_name_a_room_are_seen() {
    let rooms: BTreeSet<String> = ["app", "names", "source"].into_iter().map(str::to_owned).collect();
    let seen = |name: &str, text: &str| {
        let source =
            Source { path: PathBuf::new(), name: name.to_owned(), room: None, text: text.to_owned(), code: bare(text) };
        assert_eq!(source.text, text);
        rooms_named(&source, &rooms).into_iter().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(seen("src/cli.rs", "use crate::source::Ask;"), "source");
    assert_eq!(seen("src/cli.rs", "use crate :: { names , app::{App, source::X} };"), "app names");
    assert_eq!(seen("src/cli.rs", "fn f() { crate::source::go() }"), "source");
    assert_eq!(seen("src/cli.rs", "pub use crate::source as s;"), "source");
    assert_eq!(seen("src/cli.rs", "macro_rules! m { () => { $crate::source::X } }"), "source");
    assert_eq!(seen("src/cli.rs", "use super::source;"), "source");
    assert_eq!(seen("src/cli/a/b.rs", "use super::super::super::{source, app};"), "app source");
    assert_eq!(seen("src/cli/a/b.rs", "use super::super::source;"), "");
    assert_eq!(
        seen("src/cli.rs", "// crate::source\nlet x = \"crate::source\"; /* crate::app */ r#\"crate::app\"#;"),
        ""
    );
}
