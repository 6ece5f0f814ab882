//! Checks a flow file with the templates beside it, the way the command line does.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flowy::internals::code::Code;
use flowy::internals::model::{
    Contract, Directory, KnownFlow, KnownServer, KnownTool, Listed, Lookup, OutputShape, ServerStanding, Shelf,
    Toolbox, UnfoldedSize, Unusable,
};
use flowy::internals::names::{CatalogPath, Comparisons, Few};
use flowy::internals::validate::{
    FileCheck, Finding, FlowCheck, Guidance, Known, Options, ParsedFlows, StrayExample, TemplateCheck, Twins,
    flow_file, parse, template_file,
};
use serde_json::Value;

/// A file of a catalog: its path in it, and its bytes.
pub(crate) type Entry = (String, Vec<u8>);

/// The root of this repository.
pub(crate) fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every `.json` and `.md` file of a folder and its subfolders, sorted, as entries under `under`.
pub(crate) fn entries(folder: &Path, under: &str) -> Vec<Entry> {
    let mut found = Vec::new();
    let Ok(listing) = std::fs::read_dir(folder) else { return found };
    for item in listing {
        let item = item.unwrap();
        let name = item.file_name().into_string().unwrap();
        let path = format!("{under}/{name}");
        if item.file_type().unwrap().is_dir() {
            found.extend(entries(&item.path(), &path));
        } else if Path::new(&name).extension().is_some_and(|end| end == "json" || end == "md")
            && !["_category.json", "README.md"].contains(&name.as_str())
        {
            found.push((path, std::fs::read(item.path()).unwrap()));
        }
    }
    found.sort();
    found
}

/// Checks a flow file against templates, with the default options.
pub(crate) fn check(flow: &Entry, templates: &[Entry]) -> FileCheck {
    check_with(flow, templates, &[], Options::default())
}

/// Checks a flow file against templates and what else is known of the catalog.
pub(crate) fn check_with(
    (path, bytes): &Entry,
    templates: &[Entry],
    twins: &[(String, Few)],
    options: Options,
) -> FileCheck {
    check_against((path, bytes), templates, &Value::Null, twins, options)
}

/// The same where something is known of external tools and of other flows: `{tools: {server: {disabled?,
/// unreachable?, tools: {name: {allowed, schema}}}}, flows: {name: {inputs: {name: required}, sets?: {set: [input]},
/// labels?: {label: null | schema}} | {missing: [nearest]} |
/// {broken: why} | {unchecked: true}}, rings: {stem: {name: [flows]}}}`.
pub(crate) fn check_against(
    (path, bytes): (&str, &[u8]),
    templates: &[Entry],
    outside: &Value,
    twins: &[(String, Few)],
    options: Options,
) -> FileCheck {
    let path = CatalogPath::new(path).unwrap();
    let twins = Twins { shared: twins.iter().cloned().collect(), ..Twins::default() };
    let file = ParsedFlows::read(&path, bytes);
    let mut shelf = shelf(&file, templates);
    put_flows(&mut shelf, outside, path.stem());
    let tools = outside.get("tools").map(toolbox);
    let tools = tools.as_ref();
    let check = flow_file(&file, Known { shelf: &shelf, twins: Some(&twins), strays: &[], tools, options });
    // The file is the whole catalog here.
    let strays = strays(&check);
    flow_file(&file, Known { shelf: &shelf, twins: Some(&twins), strays: &strays, tools, options })
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// What is known of external tools.
pub(crate) fn toolbox(servers: &Value) -> Toolbox {
    let tool = |(name, tool): (&String, &Value)| {
        let known = KnownTool {
            name: name.clone(),
            description: None,
            input: Contract::stored(None, tool["schema"].clone()),
            allowed: tool["allowed"] == true,
            read_only: false,
            idempotent: false,
        };
        (name.clone(), Arc::new(known))
    };
    let server = |(name, server): (&String, &Value)| {
        let standing = match server["unreachable"].as_str() {
            _ if server["disabled"] == true => ServerStanding::Disabled,
            Some(why) => ServerStanding::Unavailable(why.to_owned()),
            None => ServerStanding::Ready,
        };
        let tools = server.get("tools").map(|tools| members(tools).map(tool).collect());
        (name.clone(), KnownServer { standing, tools, ..KnownServer::default() })
    };
    Toolbox { servers: members(servers).map(server).collect(), revision: 1, ..Toolbox::default() }
}

/// Variable sets with the inputs that each gives: `{set: [input]}`.
fn sets(sets: &Value) -> Vec<(String, Vec<String>)> {
    members(sets).map(|(name, inputs)| (name.clone(), texts(inputs))).collect()
}

fn put_flows(shelf: &mut Shelf, outside: &Value, stem: &str) {
    for (name, flow) in members(&outside["flows"]) {
        let lookup = if let Some(why) = flow["broken"].as_str() {
            let file = format!("flows/{name}.json");
            Lookup::Broken(unusable(file, Code::ParseError, why))
        } else if flow["unchecked"] == true {
            Lookup::NotChecked
        } else if flow.get("missing").is_some() {
            Lookup::Missing { nearest: texts(&flow["missing"]) }
        } else {
            let inputs = members(&flow["inputs"]).map(|(name, required)| (name.clone(), *required == true)).collect();
            let output = match flow["labels"].as_object() {
                None => OutputShape::Unknown,
                Some(labels) => {
                    OutputShape::Labels(labels.iter().map(|(label, shape)| (label.clone(), output(shape))).collect())
                }
            };
            let name = flow["name"].as_str().unwrap_or(name).to_owned();
            let sets = sets(&flow["sets"]);
            let known = KnownFlow {
                name,
                inputs,
                sets,
                depth: 1,
                size: UnfoldedSize { steps: 1, ..UnfoldedSize::default() },
                output,
                ..KnownFlow::default()
            };
            Lookup::Found(Arc::new(known))
        };
        shelf.put_flow(name, lookup);
    }
    for (name, ring) in members(&outside["rings"][stem]) {
        shelf.put_ring(0, name, texts(ring));
    }
}

fn unusable(file: String, code: Code, message: &str) -> Unusable {
    Unusable { file, code, message: message.to_owned(), at: None, hints: vec!["fix it".to_owned()] }
}

/// What a result of another flow is: text, or what meets a contract.
fn output(shape: &Value) -> OutputShape {
    match shape {
        Value::Object(_) => OutputShape::Contract(Arc::new(Contract::stored(None, shape.clone()))),
        _ => OutputShape::Text,
    }
}

/// The examples of a file's flows that don't find their flow among the others of the file.
fn strays(check: &FileCheck) -> Vec<StrayExample> {
    let entry = |flow: &FlowCheck| flowy::internals::discover::FlowRow {
        name: flow.flow.name.to_string(),
        description: flow.flow.description.clone().unwrap_or_default(),
        tags: flow.flow.tags.clone(),
        examples: flow.flow.examples.clone(),
        ..flowy::internals::discover::FlowRow::default()
    };
    let entries: Vec<_> = check.flows.iter().map(entry).collect();
    let stray = |stray: flowy::internals::discover::rank::Stray| StrayExample {
        place_in_file: stray.flow,
        example: stray.example,
        finds: stray.finds.iter().map(|place| entries[*place].name.clone()).collect(),
    };
    flowy::internals::discover::rank::strays(&entries).into_iter().map(stray).collect()
}

/// Looks up every template, persona and contract that the flows of a file name; `templates` are told
/// from the others by their folder.
pub(crate) fn shelf(file: &ParsedFlows, templates: &[Entry]) -> Shelf {
    let checked: Vec<(CatalogPath, TemplateCheck)> = templates
        .iter()
        .filter(|(path, _)| !path.starts_with("personas/") && !path.starts_with("contracts/"))
        .map(|(path, bytes)| {
            let path = CatalogPath::new(path).unwrap();
            let check = template_file(&path, &parse(&path, bytes));
            (path, check)
        })
        .collect();
    let listed = checked.iter().map(|(path, check)| Listed {
        file: path.to_string(),
        stem: path.stem().to_owned(),
        entries: check.templates.iter().map(|template| (template.id.clone(), template.title.clone())).collect(),
    });
    let directory = Directory::new(listed.collect());
    let mut shelf = Shelf::default();
    for reference in file.flows().iter().flat_map(|(_, names)| names.templates.clone()) {
        let lookup = match directory.resolve_within(&reference, &Comparisons::default()) {
            Err(lookup) => lookup,
            Ok((listed, place)) => {
                let (_, check) = checked.iter().find(|(path, _)| path.as_str() == listed.file).unwrap();
                match check.templates.get(place) {
                    Some(template) => Lookup::Found(template.clone()),
                    None => Lookup::Broken(check.findings[0].as_unusable()),
                }
            }
        };
        shelf.put(&reference, lookup);
    }
    let mut guidance = Guidance::default();
    for (path, bytes) in templates {
        guidance.take(&CatalogPath::new(path).unwrap(), Ok(bytes));
    }
    for (_, names) in file.flows() {
        guidance.put_on(&mut shelf, names, &Comparisons::default());
    }
    shelf
}

/// All findings of a file: those of its flows, or of the file where it holds none.
pub(crate) fn findings(check: &FileCheck) -> Vec<Finding> {
    if check.flows.is_empty() {
        check.findings.clone()
    } else {
        check.flows.iter().flat_map(|flow| flow.findings.clone()).collect()
    }
}

/// A finding in lines: severity, reach, file, pointer, place, the bytes meant; message; hints;
/// related places.
pub(crate) fn told(finding: &Finding) -> String {
    let bytes = |from: usize, to: usize| finding.text[from..to].to_owned();
    let file = finding.file.as_str().rsplit('/').next().unwrap();
    let mut told = format!(
        "{} {} {file}:{}:{} {} `{}`\n",
        finding.severity,
        finding.reach,
        finding.position.line,
        finding.position.column,
        finding.place.pointer,
        bytes(finding.span.start, finding.span.end),
    );
    writeln!(told, "  {}", finding.message).unwrap();
    for hint in &finding.hints {
        writeln!(told, "  hint: {hint}").unwrap();
    }
    for related in &finding.related {
        let (span, at) = (related.span, related.position);
        writeln!(told, "  {}:{} `{}` {}", at.line, at.column, bytes(span.start, span.end), related.label).unwrap();
    }
    if !finding.ring.is_empty() {
        writeln!(told, "  ring: {}", finding.ring.join(" ")).unwrap();
    }
    told
}
