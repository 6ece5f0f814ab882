//! A flow that begins as one of the built-in examples.

use std::collections::BTreeSet;

use serde_json::Value;

use super::NewRequest;
use crate::app::convert::{Contents, Form, check_contents, converted};
use crate::app::{Code, EXAMPLES, Error};
use crate::catalog::{CatalogCheck, ReportedFile};
use crate::model::Shape;
use crate::model::wire::is_markdown;
use crate::names::{did_you_mean, few, file_stem, nearest, quoted};
use crate::plan::Work;
use crate::validate::References;

/// The example's flow under another name, with everything that it names; the flow's path.
pub(super) async fn files(
    example: &str,
    stem: &str,
    request: &NewRequest,
    lenient: bool,
) -> Result<(Contents, String), Error> {
    if !request.inputs.is_empty() {
        return Err(Error::invalid("an example has its own inputs").next("leave --input out, or --from"));
    }
    let all: Contents = EXAMPLES.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec())).collect();
    let check = check_contents(&all, &[], lenient).await?;
    let (flow, place) = find(&check, example).ok_or_else(|| unknown(&check, example))?;
    let mut needed = BTreeSet::new();
    gather(&check, (flow, place), &all, &mut needed);
    needed.remove(&flow.file);
    let path = format!("flows/{stem}.json");
    let mut files: Contents = needed.iter().filter_map(|path| Some((path.clone(), all.get(path)?.clone()))).collect();
    let own = in_json(&all, flow, place, lenient).await?;
    files.insert(path.clone(), renamed(&own, stem, request)?);
    Ok((files, path))
}

/// The file of an example's flow, and its place there.
fn find<'c>(check: &'c CatalogCheck, name: &str) -> Option<(&'c ReportedFile, usize)> {
    let flows = || check.files.iter().flat_map(|file| file.flows.iter().map(move |flow| (file, flow)));
    let by = |same: fn(&str, &str) -> bool| flows().find(|(_, flow)| same(flow.name.as_str(), name));
    let (file, flow) = by(|own, name| own == name).or_else(|| by(str::eq_ignore_ascii_case))?;
    Some((file, flow.place_in_file))
}

fn unknown(check: &CatalogCheck, name: &str) -> Error {
    let names: Vec<&str> = check.files.iter().flat_map(|file| &file.flows).map(|flow| flow.name.as_str()).collect();
    let next = did_you_mean(nearest(name, names.iter().copied(), 3));
    let next = next.unwrap_or_else(|| format!("the examples are {}", few(names)));
    Error::new(Code::FlowNotFound, format!("no example is called {}", quoted(name))).next(next)
}

/// The files of a flow and of everything that it names.
fn gather(check: &CatalogCheck, (file, place): (&ReportedFile, usize), all: &Contents, needed: &mut BTreeSet<String>) {
    if !needed.insert(file.file.clone()) {
        return;
    }
    let mut take = |path: String| {
        if all.contains_key(&path) {
            needed.insert(path);
        }
    };
    let plan = file.plans.get(place).and_then(Option::as_ref);
    for step in plan.iter().flat_map(|plan| plan.steps()) {
        if let Work::Render(rendering) = &step.work {
            rendering.template_file.clone().into_iter().for_each(&mut take);
        }
    }
    let named = file.flows.get(place).map(|flow| References::of(flow)).unwrap_or_default();
    named.personas.iter().for_each(|name| take(format!("personas/{name}.md")));
    named.contracts.iter().for_each(|name| take(format!("contracts/{name}.json")));
    for name in named.flows {
        if let Some(found) = find(check, &name) {
            gather(check, found, all, needed);
        }
    }
}

/// A flow's text as JSON that holds it alone.
async fn in_json(all: &Contents, file: &ReportedFile, place: usize, lenient: bool) -> Result<Vec<u8>, Error> {
    let (mut all, mut path) = (all.clone(), file.file.clone());
    if let Some(flow) = file.flows.get(place).filter(|flow| flow.shape == Shape::Export) {
        // In Markdown each flow has a file of its own, and says of itself what it is called.
        let results = converted(&all, std::slice::from_ref(&path), Form::Markdown, lenient).await?;
        all.remove(&path);
        all.extend(results.clone());
        let own = results.into_iter().find(|(path, _)| file_stem(path) == flow.name.as_str());
        path = own.map(|(path, _)| path).unwrap_or(path);
    }
    if is_markdown(&path) {
        let results = converted(&all, &[path], Form::Json, lenient).await?;
        return Ok(results.into_iter().map(|(_, bytes)| bytes).next().unwrap_or_default());
    }
    Ok(all.remove(&path).unwrap_or_default())
}

/// A flow in JSON under another name, without what was said of where and when the other was made.
fn renamed(bytes: &[u8], name: &str, request: &NewRequest) -> Result<Vec<u8>, Error> {
    let unreadable = || Error::new(Code::InternalError, "an example can't be read");
    let mut flow: Value = serde_json::from_slice(bytes).map_err(|_| unreadable())?;
    let metadata = flow.get_mut("metadata").and_then(Value::as_object_mut).ok_or_else(unreadable)?;
    for key in ["id", "author", "created", "updated", "examples", "expose"] {
        metadata.shift_remove(key);
    }
    metadata.insert("name".to_owned(), Value::from(name));
    metadata.insert("version".to_owned(), Value::from("1.0.0"));
    if let Some(description) = &request.description {
        metadata.insert("description".to_owned(), Value::from(description.as_str()));
    }
    if let Some(object) = flow.as_object_mut() {
        object.shift_insert(0, "$schema".to_owned(), Value::from("urn:flowy:schema:flow:1"));
    }
    Ok(format!("{flow:#}\n").into_bytes())
}
