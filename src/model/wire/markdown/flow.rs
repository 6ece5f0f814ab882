//! `flows/*.flow.md`: front matter, steps under headings, and the edges that their blocks name.

use std::cell::LazyCell;
use std::collections::HashSet;

use serde_json::Value;

use super::step::{self, StepEdges};
use super::{
    BadYaml, Written, as_text, as_texts, commas, cut_off, mapping, misspelt, nearly, pruned, scan, slips_in_braces,
};
use crate::document::{Duplicate, Member, Note, NoteKind, Span, SyntaxKind, Tree, TreeKind};
use crate::model::MAX_EDGES;
use crate::names::{hidden, quoted};

/// The keys of a flow's front matter, in the order in which they are laid out.
pub(super) const KEYS: [&str; 19] = [
    "$schema",
    "name",
    "version",
    "description",
    "tags",
    "author",
    "category",
    "complexity",
    "estimatedDuration",
    "examples",
    "expose",
    "outputs",
    "id",
    "created",
    "updated",
    "model",
    "inputs",
    "results",
    "x-flowy-ignore",
];

/// What a flow's front matter gives.
#[derive(Default)]
struct Front {
    meta: Vec<Member>,
    /// What stands beside `metadata`.
    beside: Vec<Member>,
    /// The names that `inputs` declares, and where.
    inputs: Vec<(String, Span)>,
    inputs_at: Span,
    results: Vec<Member>,
    notes: Vec<Note>,
}

/// Reads a flow.
pub(super) fn read(text: &str) -> Result<Written, BadYaml> {
    let (front, from) = scan::front_matter(text)?;
    let whole = Span { start: 0, end: text.len() };
    let front_at = front.clone().map_or(Span::default(), |_| Span { start: 0, end: 3 });
    let mut duplicates: Vec<Duplicate> = Vec::new();
    let mut front = match front {
        Some(front) => read_front(text, mapping(SyntaxKind::FrontMatter, text, front, &mut duplicates)?),
        None => Front::default(),
    };
    let body = scan::body(text, from);
    let mut notes = std::mem::take(&mut front.notes);
    notes.extend(body.notes);
    let mut ids: Vec<String> = Vec::new();
    let mut steps = Vec::new();
    let plain = hidden(text).is_empty();
    let reads = LazyCell::new(|| nearly::begun_outputs(text));
    let is_read = |id: &str| reads.contains(id);
    for section in &body.sections {
        let read = step::read(text, section, plain, &is_read, &mut duplicates)?;
        notes.extend(read.notes);
        if let Some(range) = read.text {
            notes.extend(super::template::comments(&body.comments, range.start, range.end));
        }
        ids.push(read.id);
        steps.push((read.node, read.edges));
    }
    let mut results: Vec<(Member, Vec<(Span, String)>)> = Vec::new();
    for member in front.results {
        let before = notes.len();
        let feeders = step::ids(text, &member.tree, &format!("result {}", quoted(&member.key)), None, &mut notes);
        // What was to give it is told already.
        if !feeders.is_empty() || notes.len() == before {
            results.push((member, feeders));
        }
    }
    let named = || results.iter().flat_map(|(_, feeders)| feeders).map(|(_, id)| id.as_str());
    let sections: Vec<_> = body.sections.iter().zip(&ids).map(|(section, id)| (&**id, section.text.clone())).collect();
    let lost = nearly::steps(text, &body.headings, &sections, named());
    // What belongs to a step that is not there is no fault of the step before it.
    let swallowed = |note: &Note| {
        let at = note.span.start;
        let section = body.sections.partition_point(|section| section.all.start <= at).checked_sub(1);
        let section = section.and_then(|place| body.sections.get(place)).filter(|section| section.all.contains(&at));
        let lost = lost.partition_point(|lost| lost.span.start <= at).checked_sub(1).and_then(|place| lost.get(place));
        note.kind == NoteKind::Misspelt
            && section.zip(lost).is_some_and(|(section, lost)| section.all.start <= lost.span.start)
    };
    notes.retain(|note| !swallowed(note));
    notes.extend(lost);
    // Nodes that only JSON has are called as nothing that the file names.
    let mut taken: HashSet<String> = steps.iter().flat_map(|(_, edges)| edges.named()).map(str::to_owned).collect();
    taken.extend(named().map(str::to_owned));
    taken.extend(ids);
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    let inputs_id = free("inputs", &mut 0, &mut taken);
    if !front.inputs.is_empty() {
        let at = front.inputs_at;
        let names = front.inputs.iter().map(|(name, at)| Tree::text(*at, name)).collect();
        let data = vec![Member::new("variables", at, Tree::list(at, names))];
        nodes.push(node(at, Tree::made(at, inputs_id.clone()), "multi_input", Tree::map(at, data)));
    }
    for (node, mut of_step) in steps {
        if front.inputs.is_empty() {
            notes.extend(of_step.without_inputs());
        }
        nodes.push(node);
        // One more than a flow may have shows that there are too many: nothing is kept of the others.
        edges.extend(of_step.into_trees(&inputs_id).take((MAX_EDGES + 1).saturating_sub(edges.len())));
    }
    let mut number = 0;
    for (Member { key, at, .. }, feeders) in results {
        let id = free("result", &mut number, &mut taken);
        for (span, feeder) in feeders {
            edges.push(StepEdges::edge(span, &feeder, &id, Vec::new()));
        }
        let data = vec![Member::new("label", at, Tree::text(at, key))];
        nodes.push(node(at, Tree::made(at, id), "result", Tree::map(at, data)));
    }
    let mut members = vec![Member::new("metadata", front_at, Tree::map(front_at, front.meta))];
    members.extend(front.beside);
    members.push(Member::new("nodes", front_at, Tree::list(front_at, nodes)));
    members.push(Member::new("edges", front_at, Tree::list(front_at, edges)));
    Ok(Written { tree: Tree::map(whole, members), duplicates, notes })
}

/// A name that is not taken, which is taken then: the word, else the word with a number, from the last one on.
fn free(word: &str, number: &mut usize, taken: &mut HashSet<String>) -> String {
    loop {
        *number += 1;
        let name = if *number == 1 { word.to_owned() } else { format!("{word}-{number}") };
        if taken.insert(name.clone()) {
            return name;
        }
    }
}

/// A node as JSON has it.
pub(super) fn node(at: Span, id: Tree, kind: &str, data: Tree) -> Tree {
    let id_at = id.span;
    Tree::map(
        at,
        vec![
            Member::new("id", id_at, id),
            Member::new("type", at, Tree::made(at, kind)),
            Member::new("data", data.span, data),
        ],
    )
}

fn read_front(text: &str, members: Vec<Member>) -> Front {
    let mut front = Front::default();
    let mut empty: Option<String> = None;
    for Member { key, at, tree } in members {
        if tree.is_empty() {
            empty = Some(key);
            continue;
        }
        if !matches!(key.as_str(), "inputs" | "x-flowy-ignore") {
            slips_in_braces(text, &tree, false, &mut front.notes);
        }
        let new = |tree: Tree| Member::new(&key, at, tree);
        match key.as_str() {
            "id" | "name" | "description" | "created" | "updated" | "author" | "category" | "complexity"
            | "estimatedDuration" => {
                let member = new(as_text(text, tree));
                front.notes.extend(cut_off(text, &member));
                front.meta.push(member);
            }
            // A number's digits are kept, so that `1.10` stays what it is.
            "version" | "expose" | "model" => front.meta.push(new(tree)),
            "tags" | "examples" => {
                front.notes.extend(commas(&key, &tree).filter(|_| key == "tags"));
                front.meta.push(new(as_texts(text, tree)));
            }
            "outputs" => front.meta.push(new(described(text, tree))),
            "inputs" => {
                front.inputs_at = at;
                let refined = inputs(text, tree, &mut front.inputs, &mut front.notes);
                front.meta.push(new(refined));
            }
            "results" => match tree.kind {
                TreeKind::Map(results) => front.results = results,
                _ => front.notes.push(Note::new(
                    NoteKind::Misspelt,
                    tree.span,
                    "`results` is no mapping of labels to ids of steps".to_owned(),
                    "for instance `results: {Brief: join}`".to_owned(),
                )),
            },
            "x-flowy-ignore" => front.beside.push(new(described(text, tree))),
            "$schema" => {}
            _ => {
                let mut note = misspelt(&new(tree), &KEYS, "");
                if let Some(above) = empty.take().filter(|above| KEYS.contains(&above.as_str())) {
                    note.hint = format!("indent it by two blanks if it belongs to `{above}`");
                }
                front.notes.push(note);
            }
        }
    }
    front
}

/// An object of texts.
fn described(text: &str, tree: Tree) -> Tree {
    match tree.kind {
        TreeKind::Map(members) => {
            let members = members.into_iter().map(|member| Member { tree: as_text(text, member.tree), ..member });
            pruned(Tree::map(tree.span, members.collect()))
        }
        _ => tree,
    }
}

/// What stands among the inputs and is none: a key of the front matter, or one of the input above.
fn misplaced_in_inputs(member: &Member, above: Option<&str>) -> Option<Note> {
    let key = member.key.as_str();
    let texts = |members: &[Member]| {
        members.iter().all(|member| matches!(member.tree.kind, TreeKind::Scalar(Value::String(_), _)))
    };
    let (message, hint) = match (&member.tree.kind, above) {
        (TreeKind::Map(members), _) if key == "results" && !members.is_empty() && texts(members) => {
            (format!("`{key}` stands within `inputs`"), "write it at the beginning of the line".to_owned())
        }
        (TreeKind::List(_), _) if matches!(key, "tags" | "examples") => {
            (format!("`{key}` stands within `inputs`"), "write it at the beginning of the line".to_owned())
        }
        (TreeKind::Scalar(..) | TreeKind::List(_), Some(above))
            if !member.tree.is_empty() && matches!(key, "description" | "type" | "default" | "required" | "enum") =>
        {
            let message = format!("`{key}` stands beside the input {}, not within it", quoted(above));
            (message, format!("indent it by two more blanks if it belongs to {}", quoted(above)))
        }
        _ => return None,
    };
    Some(Note::new(NoteKind::Misspelt, member.at, message, hint))
}

/// The names that `inputs` declares go to the list; what it says of them is the object that is left.
fn inputs(text: &str, tree: Tree, names: &mut Vec<(String, Span)>, notes: &mut Vec<Note>) -> Tree {
    let span = tree.span;
    match tree.kind {
        TreeKind::Map(members) => {
            let mut refined = Vec::new();
            let mut empty: Option<String> = None;
            for member in members {
                if let Some(note) = misplaced_in_inputs(&member, empty.as_deref()) {
                    notes.push(note);
                    continue;
                }
                empty = member.tree.is_empty().then(|| member.key.clone());
                names.push((member.key.clone(), member.at));
                slips_in_braces(text, &member.tree, true, notes);
                if let TreeKind::Map(said) = member.tree.kind {
                    let said = said.into_iter().filter(|said| !said.tree.is_empty()).map(|said| {
                        let is_text = matches!(said.key.as_str(), "description" | "type");
                        Member { tree: if is_text { as_text(text, said.tree) } else { said.tree }, ..said }
                    });
                    let tree = Tree::map(member.tree.span, said.collect());
                    refined.push(Member { tree, ..member });
                } else if !member.tree.is_empty()
                    && !matches!(&member.tree.kind, TreeKind::Scalar(value, _) if value.is_null())
                {
                    // The schema says that an object belongs there.
                    refined.push(member);
                }
            }
            Tree::map(span, refined)
        }
        TreeKind::List(items) => {
            for item in items.iter().filter(|item| matches!(item.kind, TreeKind::Map(_))) {
                let message = "an item of `inputs` is a name, and this one is a mapping".to_owned();
                let hint = "leave the hyphens out where something is said of the inputs: `topic: { description: … }`"
                    .to_owned();
                notes.push(Note::new(NoteKind::Misspelt, item.span, message, hint));
            }
            let items = items.into_iter().map(|item| as_text(text, item));
            names.extend(items.filter_map(|item| Some((item.as_text()?.to_owned(), item.span))));
            Tree::map(span, Vec::new())
        }
        TreeKind::Scalar(..) => tree,
    }
}
