//! Flows and templates that are written in Markdown: read into the document that the same thing in JSON
//! would give, with places in the Markdown. Everything after reading is the same for both.

mod flow;
mod nearly;
mod scan;
mod step;
mod template;
mod tidy;
mod whole;
mod write;

use std::ops::Range;

use serde_json::Value;

pub use whole::unfenced;
pub(in crate::model) use whole::{Holds, Wrong, wrong};
pub use write::{MappedFrom, Markdown, StepWords, write_flow, write_template};

use crate::document::{
    self, Document, Duplicate, Edit, Locator, Member, Note, Span, SyntaxKind, SyntaxProblem, Tree, TreeKind, Yaml,
    YamlProblem,
};
use crate::names::{CatalogPath, FLOW_ENDING, did_you_mean, hidden, nearest, quoted, shown, spelt_in_tags};

/// Reads a file of a catalog: Markdown where its path ends so, else JSON.
///
/// # Errors
/// When it is not UTF-8, is no JSON, or its front matter or a step's block can't be read.
pub fn parse(path: &CatalogPath, bytes: &[u8]) -> Result<Document, SyntaxProblem> {
    let Some(read) = reader(path.as_str()) else { return Document::parse(path.clone(), bytes) };
    let text = Document::decode(bytes)?;
    let written = as_a_whole(path, text)
        .and_then(|()| read(text))
        .map_err(|(kind, problem)| SyntaxProblem::of_yaml(kind, problem, text))?;
    Ok(Document {
        path: path.clone(),
        value: written.tree.into_value(),
        duplicates: written.duplicates,
        hidden: Vec::new(),
        notes: [written.notes, hidden_notes(text)].concat(),
        text: text.into(),
    })
}

/// Refuses what reading would drop or take for text.
fn as_a_whole(path: &CatalogPath, text: &str) -> Result<(), BadYaml> {
    let steps = is_flow(path.as_str());
    let keys = if steps { &flow::KEYS[..] } else { &template::KEYS };
    let holds = Holds { keys, own: &template::OWN, steps, stem: path.stem() };
    let has_front = text.lines().next().is_some_and(|line| line.trim_end() == "---");
    match wrong(text, has_front, &holds) {
        None => Ok(()),
        Some(Wrong::Front(problem)) => Err((SyntaxKind::FrontMatter, problem)),
        Some(Wrong::Around(problem)) => Err((SyntaxKind::Yaml, problem)),
    }
}

/// What looks up places in a file of that path.
pub fn locator<'t>(path: &CatalogPath, text: &'t str) -> Locator<'t> {
    match path.as_str() {
        path if is_flow(path) => Locator::reading(text, |text| flow::read(text).ok().map(|written| written.tree)),
        path if is_markdown(path) => {
            Locator::reading(text, |text| template::read(text).ok().map(|written| written.tree))
        }
        _ => Locator::new(text),
    }
}

/// What a change does to a file's text: the bytes that go, and what comes in their place. None where it can't be
/// made in that text.
pub fn change(path: &CatalogPath, text: &str, edit: &Edit) -> Option<(Range<usize>, String)> {
    if !is_markdown(path.as_str()) {
        return document::change(text, edit);
    }
    tidy::change(&parse(path, text.as_bytes()).ok()?, &locator(path, text), edit)
}

/// Whether a change can be made in a file in Markdown that is read already.
pub fn can_change(document: &Document, locator: &Locator<'_>, edit: &Edit) -> bool {
    tidy::change(document, locator, edit).is_some()
}

/// A file's text with changes; in Markdown without those that can't be made there. None where nothing can be
/// changed.
pub fn edited(path: &CatalogPath, text: &str, edits: &[Edit]) -> Option<String> {
    if !is_markdown(path.as_str()) {
        return document::edited(text, edits);
    }
    let (document, locator) = (parse(path, text.as_bytes()).ok()?, locator(path, text));
    let mut changes: Vec<_> = edits.iter().filter_map(|edit| tidy::change(&document, &locator, edit)).collect();
    changes.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    document::spliced(text, changes)
}

/// A text in Markdown whose front matter and blocks have their keys in the order of the format.
///
/// # Errors
/// When its front matter is never closed.
pub fn in_order(path: &CatalogPath, text: &str) -> Result<String, SyntaxProblem> {
    tidy::in_order(path.as_str(), text)
}

/// Whether a text in Markdown is a flow's: a template has no steps.
pub fn has_steps(text: &str) -> bool {
    let from = scan::front_matter(text).map_or(0, |(_, body)| body);
    !scan::body(text, from).sections.is_empty()
}

/// Whether a text was written as a flow: its front matter says what only flows say, or it has steps and says more of
/// itself than the headings of a page do.
pub fn reads_like_a_flow(text: &str) -> bool {
    let Ok((front, from)) = scan::front_matter(text) else { return false };
    let yaml = front.and_then(|front| Yaml::read(text, front).ok()).and_then(|yaml| yaml.tree);
    let members = if let Some(Tree { kind: TreeKind::Map(members), .. }) = yaml { members } else { Vec::new() };
    let says = |keys: &[&str]| members.iter().any(|member| keys.contains(&member.key.as_str()));
    let sections = scan::body(text, from).sections;
    let ids: Vec<&str> = sections.iter().filter_map(|section| text.get(section.id.start..section.id.end)).collect();
    let settings = |section: &scan::Section<'_>| section.block.as_ref().is_some_and(|block| block.language == "yaml");
    let more = || says(&["name", "version", "model", "expose"]) || sections.iter().any(settings);
    says(&["inputs", "results"]) || !ids.is_empty() && (more() || nearly::reads_one_of(text, &ids))
}

/// What a file in Markdown says that only this form has a place for, in words.
pub fn only_here(text: &str) -> Vec<String> {
    let Ok((front, from)) = scan::front_matter(text) else { return Vec::new() };
    let blocks = scan::body(text, from).sections.into_iter().filter_map(|section| section.block);
    let blocks = blocks.filter(scan::Block::is_settings).map(|block| block.inside);
    let mut only = Vec::new();
    let says_schema = |tree: &Tree| match &tree.kind {
        TreeKind::Map(members) => members.iter().any(|member| member.key == "$schema"),
        TreeKind::List(_) | TreeKind::Scalar(..) => false,
    };
    let read = |part: &std::ops::Range<usize>| Yaml::read(text, part.clone()).ok()?.tree;
    if front.as_ref().and_then(read).is_some_and(|tree| says_schema(&tree)) {
        only.push("`$schema`".to_owned());
    }
    let commented = |part: std::ops::Range<usize>| {
        let mut taken = Vec::new();
        if let Some(tree) = read(&part) {
            scalars(&tree, &mut taken);
        }
        let sharp = |(at, _): (usize, &str)| {
            let at = part.start + at;
            text.get(..at).is_none_or(|before| before.ends_with(char::is_whitespace))
                && !taken.iter().any(|span| (span.start..span.end).contains(&at))
        };
        text.get(part.clone()).is_some_and(|yaml| yaml.match_indices('#').any(sharp))
    };
    if front.into_iter().chain(blocks).any(commented) {
        only.push("comments of the front matter and of blocks".to_owned());
    }
    only
}

/// Where keys and scalars stand.
fn scalars(tree: &Tree, spans: &mut Vec<Span>) {
    match &tree.kind {
        TreeKind::Map(members) => members.iter().for_each(|member| {
            spans.push(member.at);
            scalars(&member.tree, spans);
        }),
        TreeKind::List(items) => items.iter().for_each(|item| scalars(item, spans)),
        TreeKind::Scalar(..) => spans.push(tree.span),
    }
}

/// Whether a path is of a file in Markdown.
pub fn is_markdown(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("md"))
}

fn is_flow(path: &str) -> bool {
    let ending = path.len().checked_sub(FLOW_ENDING.len()).and_then(|from| path.get(from..));
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case(FLOW_ENDING))
}

/// What of a file can't be read, and why.
type BadYaml = (SyntaxKind, YamlProblem);

/// What reads a text in Markdown.
type Reader = fn(&str) -> Result<Written, BadYaml>;

fn reader(path: &str) -> Option<Reader> {
    match path {
        path if is_flow(path) => Some(flow::read),
        path if is_markdown(path) => Some(template::read),
        _ => None,
    }
}

/// A file in Markdown, as the same thing in JSON.
struct Written {
    tree: Tree,
    duplicates: Vec<Duplicate>,
    notes: Vec<Note>,
}

/// The mapping that a front matter or a block holds; empty where it holds nothing.
fn mapping(
    kind: SyntaxKind,
    text: &str,
    range: std::ops::Range<usize>,
    duplicates: &mut Vec<Duplicate>,
) -> Result<Vec<Member>, BadYaml> {
    let yaml = Yaml::read(text, range).map_err(|problem| (kind, problem))?;
    duplicates.extend(yaml.duplicates);
    match yaml.tree {
        None => Ok(Vec::new()),
        Some(Tree { kind: TreeKind::Map(members), .. }) => {
            // An empty value is absent.
            Ok(members)
        }
        Some(other) => {
            let (what, hint) = match kind {
                SyntaxKind::FrontMatter => {
                    ("the front matter", "write lines of `key: value` between the two lines of ---")
                }
                _ => ("the block of a step", "write lines of `key: value`, for instance `template: Facts`"),
            };
            let message = format!("{what} is no mapping of keys to values");
            Err((kind, YamlProblem { message, hint, span: other.span }))
        }
    }
}

/// A scalar as the characters that are written, where a text is expected.
fn as_text(text: &str, tree: Tree) -> Tree {
    match &tree.kind {
        TreeKind::Scalar(Value::Number(_) | Value::Bool(_) | Value::Null, _) if !tree.is_empty() => {
            let written = text.get(tree.span.start..tree.span.end).unwrap_or_default();
            Tree::text(tree.span, written)
        }
        _ => tree,
    }
}

/// A list of texts; one text alone is a list of it.
fn as_texts(text: &str, tree: Tree) -> Tree {
    let span = tree.span;
    let items = match tree.kind {
        TreeKind::List(items) => items,
        TreeKind::Scalar(..) => vec![tree],
        TreeKind::Map(_) => return tree,
    };
    let items = items.into_iter().filter(|item| !item.is_empty()).map(|item| as_text(text, item)).collect();
    Tree::list(span, items)
}

/// One text with a comma in it, where several were to be a list.
fn commas(key: &str, tree: &Tree) -> Option<Note> {
    let TreeKind::Scalar(Value::String(said), crate::document::Style::Plain) = &tree.kind else { return None };
    let several: Vec<&str> = said.split(',').map(str::trim).collect();
    if several.len() < 2 || several.contains(&"") {
        return None;
    }
    let message = format!("`{key}` is one text with a comma in it: {}", quoted(said));
    let hint = format!("write a list: `{key}: [{}]`", shown(&several.join(", "), 200));
    Some(Note::new(crate::document::NoteKind::FrontMatter, tree.span, message, hint))
}

/// A value in which nothing is written that is absent.
fn pruned(tree: Tree) -> Tree {
    let kind = match tree.kind {
        TreeKind::Map(members) => {
            let there = members.into_iter().filter(|member| !member.tree.is_empty());
            TreeKind::Map(there.map(|member| Member { tree: pruned(member.tree), ..member }).collect())
        }
        TreeKind::List(items) => TreeKind::List(items.into_iter().map(pruned).collect()),
        scalar @ TreeKind::Scalar(..) => scalar,
    };
    Tree { kind, ..tree }
}

/// `variables`: names, or name → default, or name → what is said of it, as the list that JSON has.
fn variables(text: &str, tree: Tree) -> Tree {
    let TreeKind::Map(members) = tree.kind else { return as_texts(text, tree) };
    let items = members.into_iter().map(|Member { key, at, tree }| {
        let name = Member::new("name", at, Tree::text(at, key));
        match tree.kind {
            TreeKind::Scalar(..) if tree.is_empty() => Tree { span: at, ..name.tree },
            TreeKind::Map(said) => {
                let said = said.into_iter().filter(|member| !member.tree.is_empty()).map(|member| Member {
                    tree: if member.key == "description" { as_text(text, member.tree) } else { member.tree },
                    ..member
                });
                Tree::map(tree.span, std::iter::once(name).chain(said).collect())
            }
            _ => Tree::map(tree.span, vec![name, Member { key: "default".to_owned(), at, tree }]),
        }
    });
    Tree::list(tree.span, items.collect())
}

/// `sets`: name → {variable → value}, as the list that JSON has.
fn sets(tree: Tree) -> Tree {
    let TreeKind::Map(members) = tree.kind else { return tree };
    let items = members.into_iter().map(|Member { key, at, tree }| {
        let span = tree.span;
        let values = if tree.is_empty() { Tree::map(span, Vec::new()) } else { pruned(tree) };
        Tree::map(span, vec![Member::new("name", at, Tree::text(at, key)), Member::new("values", at, values)])
    });
    Tree::list(tree.span, items.collect())
}

/// A key that nobody reads.
fn misspelt(member: &Member, known: &[&str], of: &str) -> Note {
    let hint = did_you_mean(nearest(&member.key, known.iter().copied(), 2)).unwrap_or_else(|| {
        let mut read: Vec<&str> = Vec::new();
        for key in known.iter().copied() {
            if !read.contains(&key) {
                read.push(key);
            }
        }
        format!("read are {}", read.join(", "))
    });
    Note::new(
        crate::document::NoteKind::Misspelt,
        member.at,
        format!("{of}nobody reads the field {}", quoted(&member.key)),
        hint,
    )
}

/// A comment of YAML that cuts off what a person may have meant as part of a text.
fn cut_off(text: &str, member: &Member) -> Option<Note> {
    let TreeKind::Scalar(_, crate::document::Style::Plain) = member.tree.kind else { return None };
    let rest = text.get(member.tree.span.end..)?.lines().next()?;
    let comment = rest.trim_start();
    if !comment.starts_with('#') || comment.trim_end().len() < 2 {
        return None;
    }
    let start = member.tree.span.end + rest.len() - comment.len();
    let message = format!("what follows ` #` is a comment, so that `{}` ends before it", member.key);
    let span = Span { start, end: start + comment.trim_end().len() };
    let hint = "quote the value if it belongs to the text";
    Some(Note::new(crate::document::NoteKind::FrontMatter, span, message, hint.to_owned()))
}

/// A value between quotation marks that are none of YAML's, so that they are part of it.
fn quoted_otherwise(tree: &Tree) -> Option<Note> {
    let TreeKind::Scalar(Value::String(value), crate::document::Style::Plain) = &tree.kind else { return None };
    let mark = |c: char| matches!(c, '\u{2018}'..='\u{201F}' | '\u{AB}' | '\u{BB}' | '\u{FF02}');
    let first = value.chars().next().filter(|first| mark(*first))?;
    (value.chars().count() > 1 && value.ends_with(mark)).then(|| {
        let message =
            format!("a typographic quotation mark ({first}, U+{:04X}) is part of the value", u32::from(first));
        let hint =
            "use straight quotation marks; put typographic ones inside straight ones if they are meant".to_owned();
        Note::new(crate::document::NoteKind::FrontMatter, tree.span, message, hint)
    })
}

/// What was meant otherwise between braces: a comma cuts off a text, a blank is missing behind a colon. `told` says
/// that a name alone means nothing there.
fn slips_in_braces(text: &str, tree: &Tree, told: bool, notes: &mut Vec<Note>) {
    let members = match &tree.kind {
        TreeKind::Map(members) => members,
        TreeKind::List(items) => return items.iter().for_each(|item| slips_in_braces(text, item, told, notes)),
        TreeKind::Scalar(..) => return notes.extend(quoted_otherwise(tree)),
    };
    let braces = text.get(tree.span.start..).is_some_and(|raw| raw.starts_with('{'));
    let mut before: Option<&Member> = None;
    for member in members {
        slips_in_braces(text, &member.tree, told, notes);
        if !braces || !member.tree.is_empty() {
            before = Some(member);
            continue;
        }
        let plain = |member: &&Member| {
            let style = &member.tree.kind;
            matches!(style, TreeKind::Scalar(Value::String(_), crate::document::Style::Plain))
        };
        let words = member.key.contains(' ') || told;
        let slip = match (member.key.split_once(':'), before.filter(plain)) {
            (Some((key, _)), _) => {
                let message = format!("there is no blank behind the colon of {}", quoted(&member.key));
                Some((message, format!("write `{key}: …`")))
            }
            (None, Some(before)) if words => {
                let message = format!("the comma ends `{}`: {} is no part of it", before.key, quoted(&member.key));
                Some((message, "put the whole value in quotation marks".to_owned()))
            }
            _ => None,
        };
        if let Some((message, hint)) = slip {
            notes.push(Note::new(crate::document::NoteKind::FrontMatter, member.at, message, hint));
        }
    }
}

/// Characters that nobody sees, one note for each line that holds some.
fn hidden_notes(text: &str) -> Vec<Note> {
    let mut told: Vec<(Span, String)> = Vec::new();
    for range in hidden(text) {
        let here = Span { start: range.start, end: range.end };
        let written = text.get(range).unwrap_or_default();
        match told.last_mut() {
            Some((span, all)) if text.get(span.end..here.start).is_some_and(|between| !between.contains('\n')) => {
                span.end = here.end;
                all.push_str(written);
            }
            _ => told.push((here, written.to_owned())),
        }
    }
    let note = |(span, all): (Span, String)| {
        let kind = crate::document::NoteKind::Hidden { count: all.chars().count(), spelt: spelt_in_tags(&all) };
        Note::new(kind, span, String::new(), String::new())
    };
    told.into_iter().map(note).collect()
}
