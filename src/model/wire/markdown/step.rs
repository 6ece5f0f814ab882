//! A step of a flow in Markdown: a heading, a block of settings, and a text.

use std::collections::HashMap;
use std::ops::Range;

use super::scan::{self, Section};
use super::template::read_as;
use super::{
    BadYaml, as_text, as_texts, commas, cut_off, flow, mapping, misspelt, pruned, sets, slips_in_braces, variables,
};
use crate::document::{Duplicate, Member, Note, NoteKind, Span, Style, SyntaxKind, Tree, TreeKind, Yaml, YamlProblem};
use crate::names::{quoted, unreadable_id, variable_char};

/// The keys of every step's block.
const COMMON: [&str; 5] = ["after", "map", "label", "sets", "x-flowy-ignore"];
/// Those of a step with a text.
const OF_TEXTS: [&str; 11] = [
    "template",
    "text",
    "persona",
    "contract",
    "variables",
    "variableValueSets",
    "literal",
    "optional",
    "maxAttempts",
    "model",
    "onError",
];
/// Those of a step that calls a tool.
const OF_CALLS: [&str; 8] = ["call", "args", "requires", "onError", "retry", "timeoutMs", "delayMs", "set"];
/// Those of a step that goes through another flow.
const OF_FLOWS: [&str; 2] = ["flow", "variables"];

/// The keys of a block in the order in which they are laid out.
pub(super) const ORDER: [&str; 23] = [
    "label",
    "template",
    "call",
    "flow",
    "persona",
    "contract",
    "args",
    "requires",
    "variables",
    "literal",
    "optional",
    "maxAttempts",
    "onError",
    "retry",
    "timeoutMs",
    "delayMs",
    "set",
    "sets",
    "model",
    "after",
    "map",
    "x-flowy-ignore",
    "text",
];

/// What other programs call what a block says, and how it is said here.
const INSTEAD: [(&[&str], &str); 7] = [
    (&["dependson", "needs", "depends", "wait", "waitfor", "previous"], "did you mean \"after\"?"),
    (&["prompt", "body", "content", "message"], "the text stands below the block"),
    (&["role", "agent", "system"], "did you mean \"persona\"?"),
    (&["tool", "mcp", "function"], "did you mean \"call\"?"),
    (&["schema", "outputschema", "output"], "did you mean \"contract\"?"),
    (&["mapping", "mappings"], "did you mean \"map\"?"),
    (&["id", "name", "title"], "a step's id and its label stand in its heading: `## Label {#id}`"),
];

/// A step as JSON has it.
pub(super) struct ReadStep {
    pub(super) id: String,
    pub(super) node: Tree,
    pub(super) edges: StepEdges,
    pub(super) notes: Vec<Note>,
    /// Where its text stands, where it has one after its block.
    pub(super) text: Option<Range<usize>>,
}

/// The edges that a step's block names, one for each step or input node before it.
pub(super) struct StepEdges {
    id: String,
    /// Where it comes from (none: the input node), where that is said, and what it carries.
    edges: Vec<(Option<String>, Span, Vec<Member>)>,
    /// Which of them comes from where.
    places: HashMap<Option<String>, usize>,
}

impl StepEdges {
    fn note(&mut self, from: Option<String>, at: Span, carries: Option<Member>) {
        let place = *self.places.entry(from).or_insert_with_key(|from| {
            self.edges.push((from.clone(), at, Vec::new()));
            self.edges.len() - 1
        });
        if let (Some(edge), Some(carries)) = (self.edges.get_mut(place), carries) {
            edge.2.push(carries);
        }
    }

    /// The steps that the block names.
    pub(super) fn named(&self) -> impl Iterator<Item = &str> {
        self.edges.iter().filter_map(|(from, ..)| from.as_deref())
    }

    /// Leaves out what comes from inputs, where the flow has none.
    pub(super) fn without_inputs(&mut self) -> Option<Note> {
        let place = self.edges.iter().position(|(from, ..)| from.is_none())?;
        let (_, at, _) = self.edges.remove(place);
        let message = format!("step {}: `map` takes an input, and the flow has no `inputs`", quoted(&self.id));
        let hint = "declare it under `inputs` of the front matter, or write the id of a step".to_owned();
        Some(Note::new(NoteKind::Misspelt, at, message, hint).stops_step(&self.id))
    }

    /// An edge as JSON has it.
    pub(super) fn edge(at: Span, from: &str, to: &str, mapping: Vec<Member>) -> Tree {
        let mut members =
            vec![Member::new("source", at, Tree::made(at, from)), Member::new("target", at, Tree::made(at, to))];
        if !mapping.is_empty() {
            let data = Tree::map(at, vec![Member::new("mapping", at, Tree::map(at, mapping))]);
            members.push(Member::new("data", at, data));
        }
        Tree::map(at, members)
    }

    /// The edges as JSON has them.
    pub(super) fn into_trees(self, inputs: &str) -> impl Iterator<Item = Tree> {
        let to = self.id;
        self.edges
            .into_iter()
            .map(move |(from, at, mapping)| Self::edge(at, from.as_deref().unwrap_or(inputs), &to, mapping))
    }
}

/// Reads a step. `plain` says that the file holds no hidden characters; `is_read`, whether a text reads the output of
/// the step of that id.
pub(super) fn read(
    text: &str,
    section: &Section<'_>,
    plain: bool,
    is_read: &dyn Fn(&str) -> bool,
    duplicates: &mut Vec<Duplicate>,
) -> Result<ReadStep, BadYaml> {
    let cut = |span: Span| text.get(span.start..span.end).unwrap_or_default();
    let named = |span: Span| if plain { cut(span).to_owned() } else { read_as(cut(span)) };
    let id = named(section.id);
    let of = format!("step {}: ", quoted(&id));
    let (mut notes, mut members): (Vec<Note>, Vec<Member>) = Default::default();
    let (mut at, mut content) = (section.heading, section.all.clone());
    match &section.block {
        Some(block) if block.is_settings() && !block.closed => return Err(never_closed(text, block)),
        Some(block) if block.is_settings() => {
            let read = mapping(SyntaxKind::Yaml, text, block.inside.clone(), duplicates);
            // The marks that end it are those of a step below.
            let swallows = || scan::holds_a_step(text, block.inside.clone());
            members = read.map_err(|bad| if swallows() { never_closed(text, block) } else { bad })?;
            at = Span { start: block.inside.start, end: block.inside.end };
            content = section.text.clone();
        }
        Some(block) => notes.extend(wrong_mark(text, block, content.start, &of).map(|note| note.of_step(&id))),
        None => notes.extend(unfenced(text, content.clone(), &of, &id)),
    }
    notes.extend(
        odd_id(is_read, &id, section.id)
            .into_iter()
            .chain(late_blocks(text, content.clone(), &of))
            .map(|note| note.of_step(&id)),
    );
    let has = |key: &str| members.iter().any(|member| member.key == key && !member.tree.is_empty());
    let (kind, own): (_, &[&str]) = match () {
        () if has("call") => ("tool", &OF_CALLS),
        () if has("flow") => ("flow", &OF_FLOWS),
        () => ("template", &OF_TEXTS),
    };
    let (texts_stand, own_text) = (kind == "template" && !has("template"), has("text"));
    let mut edges = StepEdges { id: id.clone(), edges: Vec::new(), places: HashMap::new() };
    let (mut data, mut beside, mut used) = (Vec::new(), Vec::new(), None);
    if !has("label") && section.label.start < section.label.end {
        data.push(Member::new("label", section.label, Tree::text(section.label, named(section.label))));
    }
    for member in members {
        if member.tree.is_empty() {
            continue;
        }
        if !COMMON.contains(&member.key.as_str()) && !own.contains(&member.key.as_str()) {
            notes.push(unknown(&member, own, kind, &of).stops_step(&id));
            continue;
        }
        slips_in_braces(text, &member.tree, false, &mut notes);
        let Member { key, at, tree } = member;
        if key == "args" || key == "variables" && kind == "flow" {
            notes.extend(unquoted(text, &tree, &of).into_iter().map(|note| note.stops_step(&id)));
        }
        let mut push = |key: &str, tree: Tree| data.push(Member::new(key, at, tree));
        match key.as_str() {
            "label" => {
                let member = Member::new("label", at, as_text(text, tree));
                notes.extend(cut_off(text, &member));
                data.push(member);
            }
            "template" => push("selectedTemplateId", as_text(text, tree)),
            "text" if texts_stand => push("template", as_text(text, tree)),
            "text" => {
                let message = format!("{of}nobody reads `text` beside `template`");
                notes
                    .push(Note::new(NoteKind::Misspelt, at, message, "keep one of the two".to_owned()).stops_step(&id));
            }
            "call" | "flow" | "persona" | "onError" => push(&key, as_text(text, tree)),
            "requires" | "literal" => {
                notes.extend(commas(&key, &tree).map(|note| note.of_step(&id)));
                push(&key, as_texts(text, tree));
            }
            "contract" if !matches!(tree.kind, TreeKind::Map(_)) => push(&key, as_text(text, tree)),
            "variables" if kind == "template" => push(&key, variables(text, tree)),
            "sets" => push("variableValueSets", sets(tree)),
            "x-flowy-ignore" => beside.push(Member::new(&key, at, tree)),
            "after" => {
                for (at, step) in ids(text, &tree, &format!("{of}`after`"), Some(&id), &mut notes) {
                    edges.note(Some(step), at, None);
                }
            }
            "map" => mapped(text, tree, &mut edges, &mut notes, (&id, &of)),
            _ => push(&key, if key == "contract" { tree } else { pruned(tree) }),
        }
    }
    let written = Span { start: content.start, end: content.end };
    if written.start < written.end {
        if texts_stand && !own_text {
            data.push(Member::new("template", written, Tree::text(written, read_as(cut(written)))));
            used = Some(content);
        } else {
            let by = if own_text { "text" } else { kind };
            notes.push(unread_text(text, written, by, &of).of_step(&id));
        }
    }
    let id_tree = Tree::text(section.id, id.clone());
    let mut node = flow::node(section.heading, id_tree, kind, Tree::map(at, data));
    if let TreeKind::Map(members) = &mut node.kind {
        members.extend(beside);
    }
    Ok(ReadStep { id, node, edges, notes, text: used })
}

/// A block of settings that is text, because it is marked as something else.
fn wrong_mark(text: &str, block: &scan::Block<'_>, start: usize, of: &str) -> Option<Note> {
    let language = block.language.to_lowercase();
    if !["", "yml", "json", "yaml"].contains(&language.as_str()) || !only_known(text, block.inside.clone()) {
        return None;
    }
    let span = Span { start, end: block.inside.start.saturating_sub(1).max(start) };
    let marked =
        if language.is_empty() { "without a mark".to_owned() } else { format!("marked {}", quoted(block.language)) };
    let message = format!("{of}a block {marked} is text, not the step's settings");
    Some(Note::new(NoteKind::Misspelt, span, message, "mark it `yaml`".to_owned()))
}

fn never_closed(text: &str, block: &scan::Block<'_>) -> BadYaml {
    let message = "the block of settings that begins here is never closed".to_owned();
    let hint = if text.get(block.fence.start..).is_some_and(|line| line.trim_start().starts_with('~')) {
        "write ~~~ alone on the line where it ends: a block ends with the marks that it begins with"
    } else {
        "write ``` alone on the line where it ends"
    };
    (SyntaxKind::Yaml, YamlProblem { message, hint, span: block.fence })
}

/// What is said of an id that no placeholder can name, where a text was to read it, or where it has attributes of
/// other forms of Markdown behind it.
fn odd_id(is_read: &dyn Fn(&str) -> bool, id: &str, at: Span) -> Option<Note> {
    let (message, written) = unreadable_id(id)?;
    let first = id.split_whitespace().next().unwrap_or_default();
    let mut behind = id.split_whitespace().skip(1).peekable();
    let attributes = behind.peek().is_some() && behind.all(|part| part.starts_with(['.', '#']) || part.contains('='));
    let plain = if attributes && first.chars().all(variable_char) { first.to_owned() } else { written };
    let read = id.split_whitespace().chain([id, &plain]).any(is_read);
    if !read && !attributes {
        return None;
    }
    let hint = format!("an id is letters, digits and _: write `{{#{plain}}}`");
    Some(Note::new(NoteKind::OddId, at, message, hint))
}

/// Settings that stand below a heading without a fence, where nothing else can be meant. Where marks begin or end them,
/// the step is not done without them.
fn unfenced(text: &str, content: Range<usize>, of: &str, id: &str) -> Option<Note> {
    let mut lines = scan::lines(text, content.clone());
    let (mut start, first) = lines.next()?;
    // Fewer than three marks are no fence.
    let opens = first.starts_with('`') && is_settings_mark(first.trim_matches('`'));
    if opens {
        start += first.len();
    }
    let (span, ended) = if first.trim_end() == "---" {
        let (end, last) = lines.find(|(_, line)| line.trim_end() == "---")?;
        let span = Span { start, end: end + last.trim_end().len() };
        (only_known(text, start + first.len()..end).then_some(span)?, false)
    } else {
        let ends = |line: &str| line.trim().is_empty() || line.trim_end().trim_matches('`').is_empty();
        let (end, last) = lines.find(|(_, line)| ends(line)).unwrap_or((content.end, ""));
        let last = last.trim_end();
        let length = text.get(start..end + last.len()).map_or(0, |written| written.trim_end().len());
        (are_settings(text, start..end).then_some(Span { start, end: start + length })?, !last.is_empty())
    };
    let message = format!("{of}these lines are text, not the step's settings");
    let hint = match (opens, ended) {
        (true, _) => "begin and end them with three marks: ```yaml and ```",
        (false, true) => "write ```yaml alone on the line before them",
        (false, false) => "write ```yaml alone on the line before them, and ``` on the line after",
    };
    let note = Note::new(NoteKind::Misspelt, span, message, hint.to_owned());
    Some(if opens || ended { note.stops_step(id) } else { note.of_step(id) })
}

/// Whether lines can only have been meant as a step's settings.
pub(super) fn are_settings(text: &str, part: Range<usize>) -> bool {
    // A prompt may say `persona: {persona}`.
    let says = |member: &Member| match &member.tree.kind {
        TreeKind::Map(members) => members.iter().any(|member| !member.tree.is_empty()),
        TreeKind::List(_) => true,
        TreeKind::Scalar(value, _) => !member.tree.is_empty() && !value.to_string().contains('{'),
    };
    let sure = |member: &Member| match &*member.key {
        "after" => member.tree.as_text().is_some_and(|id| text.contains(&format!("{{#{id}}}"))),
        "map" | "sets" => !matches!(member.tree.kind, TreeKind::Scalar(..)),
        key => SURE.contains(&key),
    };
    known_members(text, part).is_some_and(|members| members.iter().all(says) && members.iter().any(sure))
}

/// Whether what stands between marks says that settings begin, or says nothing.
fn is_settings_mark(mark: &str) -> bool {
    let mark = mark.trim();
    mark.is_empty() || scan::is_settings(mark)
}

/// Keys of settings with which no prompt begins.
const SURE: [&str; 11] = [
    "template",
    "persona",
    "contract",
    "maxAttempts",
    "onError",
    "timeoutMs",
    "delayMs",
    "requires",
    "literal",
    "variables",
    "x-flowy-ignore",
];

/// Blocks of settings that are text, because something stands before them.
fn late_blocks<'t>(text: &'t str, content: Range<usize>, of: &str) -> impl Iterator<Item = Note> + use<'t> {
    let message = format!("{of}a block of settings counts right after the heading only; this one is text");
    let known = |block: &scan::Block<'_>| only_known(text, block.inside.clone());
    scan::yaml_blocks(text, content).into_iter().filter(known).map(move |block| {
        let hint = "move it to the line after the heading, or mark it otherwise than `yaml`".to_owned();
        Note::new(NoteKind::Misspelt, block.fence, message.clone(), hint)
    })
}

/// Placeholders that stand in no quotation marks: YAML makes objects of them.
fn unquoted(text: &str, tree: &Tree, of: &str) -> Vec<Note> {
    match &tree.kind {
        TreeKind::Map(members) => match members.as_slice() {
            [one] if one.tree.is_empty() && text.get(tree.span.start..).is_some_and(|raw| raw.starts_with('{')) => {
                let written = quoted(&format!("{{{}}}", one.key));
                let message = format!("{of}{{{}}} without quotation marks is a mapping, not a placeholder", one.key);
                vec![Note::new(NoteKind::Misspelt, tree.span, message, format!("write {written}"))]
            }
            several => several.iter().flat_map(|member| unquoted(text, &member.tree, of)).collect(),
        },
        TreeKind::List(items) => items.iter().flat_map(|item| unquoted(text, item, of)).collect(),
        TreeKind::Scalar(..) => Vec::new(),
    }
}

/// A text that a step does not read, because its block says otherwise what it does.
fn unread_text(text: &str, written: Span, by: &str, of: &str) -> Note {
    let by = if by == "tool" { "call" } else { by };
    let message = format!("{of}nobody reads the text below the block, because the block has `{by}`");
    let hint = "delete the text, or move it before the first step, or into a step of its own".to_owned();
    let first = text.get(written.start..written.end).and_then(|text| text.lines().next()).map_or(0, str::len);
    Note::new(NoteKind::Misspelt, Span { start: written.start, end: written.start + first }, message, hint)
}

/// A key that a step of this kind does not read.
fn unknown(member: &Member, own: &[&str], kind: &str, of: &str) -> Note {
    let key = member.key.as_str();
    let belongs = [("call", &OF_CALLS[..]), ("flow", &OF_FLOWS[..])].into_iter().find(|(_, keys)| keys.contains(&key));
    let text = OF_TEXTS.contains(&key).then_some("a text or a template");
    let place =
        belongs.map(|(by, _)| format!("a step that has `{by}`")).or(text.map(|text| format!("a step with {text}")));
    match place {
        Some(place) => {
            let this = match kind {
                "tool" => "this step calls a tool",
                "flow" => "this step goes through a flow",
                _ => "this step has a text",
            };
            let message = format!("{of}nobody reads {} here: {this}", quoted(key));
            Note::new(NoteKind::Misspelt, member.at, message, format!("it belongs to {place}"))
        }
        None => {
            let plain = key.replace(['_', '-', ' '], "").to_lowercase();
            if let Some((_, meant)) = INSTEAD.iter().find(|(names, _)| names.contains(&plain.as_str())) {
                let message = format!("{of}nobody reads the field {}", quoted(key));
                return Note::new(NoteKind::Misspelt, member.at, message, (*meant).to_owned());
            }
            let read = own.iter().chain(&COMMON).filter(|key| **key != "variableValueSets");
            let known: Vec<&str> = read.copied().collect();
            misspelt(member, &known, of)
        }
    }
}

/// `map`: variable → step, or {from, path}, or {input}.
fn mapped(text: &str, tree: Tree, edges: &mut StepEdges, notes: &mut Vec<Note>, (id, of): (&str, &str)) {
    let TreeKind::Map(members) = tree.kind else {
        let message = format!("{of}`map` is no mapping of variables to steps");
        notes.push(
            Note::new(NoteKind::Misspelt, tree.span, message, "for instance `map: {facts: collect}`".to_owned())
                .stops_step(id),
        );
        return;
    };
    for Member { key, at, tree } in members {
        let span = tree.span;
        let carried =
            |what: String| Some(Member::new(&key, at, Tree { span, kind: TreeKind::Scalar(what.into(), Style::Made) }));
        match tree.kind {
            TreeKind::Map(said) => {
                let of_key = |wanted: &str| {
                    let found = said.iter().find(|member| member.key == wanted && !member.tree.is_empty())?;
                    as_text(text, found.tree.clone()).as_text().map(str::to_owned)
                };
                let (from, path, input) = (of_key("from"), of_key("path"), of_key("input"));
                let read = [&from, &path, &input].iter().filter(|said| said.is_some()).count();
                for member in said.iter().filter(|member| !["from", "path", "input"].contains(&member.key.as_str())) {
                    notes.push(misspelt(member, &["from", "path", "input"], of).stops_step(id));
                }
                match (from, input) {
                    (Some(from), _) => {
                        let what = path.map_or_else(|| "result".to_owned(), |path| format!("result.{path}"));
                        edges.note(Some(from), span, carried(what));
                    }
                    (None, Some(input)) => edges.note(None, span, carried(input)),
                    // What was to say it is told.
                    (None, None) if said.len() > read => {}
                    (None, None) => {
                        let message = format!("{of}`map` says no step for {}", quoted(&key));
                        let hint = "write `{from: step, path: a.b}` or `{input: name}`".to_owned();
                        notes.push(Note::new(NoteKind::Misspelt, span, message, hint).stops_step(id));
                    }
                }
            }
            _ => {
                let from = as_text(text, tree);
                match from.as_text() {
                    Some(from) => edges.note(Some(from.to_owned()), span, carried("result".to_owned())),
                    None => {
                        let message = format!("{of}`map` says no step for {}", quoted(&key));
                        let hint = "write the id of a step".to_owned();
                        notes.push(Note::new(NoteKind::Misspelt, span, message, hint).stops_step(id));
                    }
                }
            }
        }
    }
}

/// The ids of steps that stand in a place, one or a list; what is none is told, and may stop a step.
pub(super) fn ids(
    text: &str,
    tree: &Tree,
    of: &str,
    stops: Option<&str>,
    notes: &mut Vec<Note>,
) -> Vec<(Span, String)> {
    let items = match &tree.kind {
        TreeKind::List(items) => items.as_slice(),
        _ => std::slice::from_ref(tree),
    };
    let mut found = Vec::new();
    for item in items.iter().filter(|item| !item.is_empty()) {
        if let Some(id) = as_text(text, item.clone()).as_text() {
            found.push((item.span, id.to_owned()));
            continue;
        }
        let hint = "write the id of a step, or a list of ids: `[facts, messages]`".to_owned();
        let note = Note::new(NoteKind::Misspelt, item.span, format!("{of} names no step here"), hint);
        notes.push(match stops {
            Some(id) => note.stops_step(id),
            None => note,
        });
    }
    found
}

/// Whether a block holds settings of a step and nothing else.
fn only_known(text: &str, inside: Range<usize>) -> bool {
    known_members(text, inside).is_some()
}

/// The settings that lines hold which hold nothing else.
fn known_members(text: &str, inside: Range<usize>) -> Option<Vec<Member>> {
    let all = || [&COMMON[..], &OF_TEXTS, &OF_CALLS, &OF_FLOWS].into_iter().flatten();
    // Most paragraphs of a prompt begin otherwise, and reading them as YAML would cost more than the rest of the file.
    let is_key = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#') && line.trim() != "---";
    let (first, _) = text.get(inside.clone())?.lines().find(is_key)?.split_once(':')?;
    let first = first.trim_end().trim_end_matches(['"', '\'']);
    if !all().any(|key| first.ends_with(key)) {
        return None;
    }
    let Tree { kind: TreeKind::Map(members), .. } = Yaml::read(text, inside).ok()?.tree? else { return None };
    let known = |key: &str| all().any(|known| *known == key);
    (!members.is_empty() && members.iter().all(|member| known(&member.key))).then_some(members)
}
