//! Renaming a variable in every file that says it, so that the flows do the same afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::leading::Pointed;
use super::mentions::{Mention, Subject, of_flow, of_template};
use super::{Place as FilePlace, Replacement, Workbench, is_unsaved};
use crate::app::Error;
use crate::app::testing::test_files;
use crate::catalog::FlowReading;
use crate::document::{Document, Locator, Place, Pointer};
use crate::model::Template;
use crate::names::{CatalogPath, VariableName, few, nfc, quoted};
use crate::validate::Body;

/// What is renamed: a variable of a flow, or of a template that no flow uses.
struct Renaming<'w> {
    place: FilePlace<'w>,
    name: String,
    reading: Option<FlowReading>,
}

/// What files say, by file.
type MentionsByFile = BTreeMap<PathBuf, Vec<Mention>>;

impl Workbench {
    /// The bytes of the variable at a byte of a file, as it is written there.
    ///
    /// # Errors
    /// When nothing stands there that can be renamed.
    pub fn renamable(&self, path: &Path, offset: usize) -> Result<std::ops::Range<usize>, Error> {
        self.renaming(path, offset).map(|(_, mention)| mention.bytes)
    }

    /// The changes that rename the variable at a byte of a file.
    ///
    /// # Errors
    /// When the name can't be one, is taken, or belongs to a template that other flows use, too.
    pub fn renamed(&self, path: &Path, offset: usize, new: &str) -> Result<Vec<Replacement>, Error> {
        let (renaming, _) = self.renaming(path, offset)?;
        let name = VariableName::normal(new).map_err(|error| refused(error.to_string(), "give it another name"))?;
        if matches!(name.as_str(), "_variableSet") || name.as_str().starts_with("_useSet_") {
            return Err(refused(format!("{} chooses a variable set", quoted(new)), "give it another name"));
        }
        if name.as_str() == renaming.name {
            return Ok(Vec::new());
        }
        self.refuse_shared(&renaming)?;
        let mentions = self.mentions_of(&renaming);
        for (file, found) in &mentions {
            if found.iter().any(|mention| mention.subject == Subject::Variable(name.as_str().to_owned())) {
                let message = format!("{} is said already in {}", quoted(new), Self::shown(&renaming, file));
                return Err(refused(message, "give it a name that neither the flow nor its templates have"));
            }
        }
        if let Some(reading) = &renaming.reading
            && reading.scope.givers(name.as_str()).next().is_some()
        {
            let message = format!("a step of flow {} gives {}", quoted(reading.flow.name.as_str()), quoted(new));
            return Err(refused(message, "give it a name that no step gives"));
        }
        let mut changes = Vec::new();
        for (file, found) in mentions {
            self.refuse_broken(&renaming, &file)?;
            let wanted = |mention: &Mention| Self::says(&renaming, &mention.subject);
            let mut ranges: Vec<_> = found.into_iter().filter(wanted).map(|mention| mention.bytes).collect();
            ranges.sort_by_key(|bytes| bytes.start);
            ranges.dedup();
            changes.extend(ranges.into_iter().map(|bytes| Replacement {
                path: file.clone(),
                bytes,
                text: name.as_str().to_owned(),
            }));
        }
        Ok(changes)
    }

    /// Everything that says the variable at a byte, in all files: its flow, its templates, the flows that go
    /// through it, and its tests.
    pub(super) fn connected(&self, path: &Path, offset: usize) -> Vec<(PathBuf, Mention)> {
        let Ok((renaming, _)) = self.renaming(path, offset) else { return Vec::new() };
        let mut all = vec![renaming];
        // A template's variable is one of every flow that uses it.
        let name = all.first().map(|renaming| renaming.name.clone()).unwrap_or_default();
        for (reading, _) in self.users(path) {
            all.extend(self.place(path).map(|place| Renaming { place, name: name.clone(), reading: Some(reading) }));
        }
        let of_one = |renaming: &Renaming<'_>| {
            let wanted = |mention: &Mention| Self::says(renaming, &mention.subject);
            let files = self.mentions_of(renaming).into_iter();
            files
                .flat_map(|(file, found)| found.into_iter().filter(wanted).map(move |mention| (file.clone(), mention)))
                .collect::<Vec<_>>()
        };
        all.iter().flat_map(of_one).collect()
    }

    fn renaming(&self, path: &Path, offset: usize) -> Result<(Renaming<'_>, Mention), Error> {
        let nothing = || refused("no variable stands here".to_owned(), "place the cursor on the name of a variable");
        let place = self.place(path).ok_or_else(|| {
            refused("the file belongs to no catalog".to_owned(), "keep it below flows/ or templates/ of a catalog")
        })?;
        let Some(Pointed { mention, reading }) = self.pointed(path, offset) else { return Err(nothing()) };
        let (name, reading) = match (&mention.subject, reading) {
            (Subject::Variable(name), Some(reading)) => (name.clone(), Some(reading)),
            (Subject::Variable(name), None) => {
                (name.clone(), self.users(path).into_iter().map(|(reading, _)| reading).next())
            }
            (Subject::InputOf { flow, input }, _) => {
                (input.clone(), Some(self.reading_of(&place, flow).ok_or_else(nothing)?))
            }
            (Subject::Output(_), Some(_)) => {
                let message = "this name comes of a step's id".to_owned();
                return Err(refused(message, "rename the node, and what reads it, by hand"));
            }
            _ => return Err(nothing()),
        };
        Ok((Renaming { place, name, reading }, mention))
    }

    /// Refuses where a template that says the variable is used by flows besides the one that is renamed.
    fn refuse_shared(&self, renaming: &Renaming<'_>) -> Result<(), Error> {
        let own = renaming.reading.as_ref().map(|reading| (&reading.flow.file, reading.flow.place_in_file));
        for template in self.templates_of(renaming) {
            let says = |mention: Mention| mention.subject == Subject::Variable(renaming.name.clone());
            if !of_template(&template).into_iter().any(says) {
                continue;
            }
            if !template.text_whole {
                let message = format!("the text of template {} consists of several parts", quoted(&template.name));
                return Err(refused(message, "rename the variable by hand"));
            }
            let path = renaming.place.file(&template.file);
            let users = self.users(&path).into_iter().filter(|(reading, steps)| {
                let uses = |step: &crate::validate::StepScope| {
                    matches!(&step.body, Body::Text { template: Some(used), .. } if used.text_pointer == template.text_pointer)
                };
                let steps = reading.scope.steps.iter().filter(|step| steps.contains(&step.node)).any(uses);
                steps && Some((&reading.flow.file, reading.flow.place_in_file)) != own
            });
            let others: BTreeSet<String> = users.map(|(reading, _)| quoted(reading.flow.name.as_str())).collect();
            if !others.is_empty() {
                let message = format!("template {} is used by flow {}, too", quoted(&template.name), few(others));
                let next = "give this flow a template of its own, or rename the variable in all these flows by hand";
                return Err(refused(message, next));
            }
        }
        Ok(())
    }

    /// Refuses where a file can't be changed with certainty.
    fn refuse_broken(&self, renaming: &Renaming<'_>, file: &Path) -> Result<(), Error> {
        let Some(path) = super::in_catalog(renaming.place.root, file) else { return Ok(()) };
        let text = self.text(file).unwrap_or_default();
        if crate::validate::parse(&path, text.as_bytes()).is_ok_and(|document| document.duplicates.is_empty()) {
            return Ok(());
        }
        let message = format!("{} has errors in its syntax, or repeats a key", Self::shown(renaming, file));
        Err(refused(message, "mend the file first"))
    }

    fn shown(renaming: &Renaming<'_>, file: &Path) -> String {
        file.strip_prefix(renaming.place.root).unwrap_or(file).display().to_string()
    }

    /// Whether a mention is one of the variable.
    fn says(renaming: &Renaming<'_>, subject: &Subject) -> bool {
        match subject {
            Subject::Variable(name) => *name == renaming.name,
            Subject::InputOf { flow, input } => {
                let reading = renaming.reading.as_ref();
                reading.is_some_and(|reading| means(&renaming.place, flow, reading)) && *input == renaming.name
            }
            Subject::Output(_)
            | Subject::Template(_)
            | Subject::Flow(_)
            | Subject::Persona(_)
            | Subject::Contract(_)
            | Subject::Node(_) => false,
        }
    }

    /// The templates that the flow uses, or those of the file where no flow does.
    fn templates_of(&self, renaming: &Renaming<'_>) -> Vec<Arc<Template>> {
        let Some(reading) = &renaming.reading else {
            let path = renaming.place.file(&renaming.place.path);
            return self.templates_in(&path).into_iter().cloned().collect();
        };
        let mut templates: Vec<Arc<Template>> = Vec::new();
        for step in &reading.scope.steps {
            if let Body::Text { template: Some(template), .. } = &step.body
                && !templates.iter().any(|known| Arc::ptr_eq(known, template))
            {
                templates.push(template.clone());
            }
        }
        templates
    }

    /// What the files say that may say the variable, by file; of flows around it, and of tests, nothing but the
    /// inputs that they give it.
    fn mentions_of(&self, renaming: &Renaming<'_>) -> MentionsByFile {
        let place = &renaming.place;
        let mut found = MentionsByFile::new();
        for template in self.templates_of(renaming) {
            found.entry(place.file(&template.file)).or_default().extend(of_template(&template));
        }
        if let Some(reading) = &renaming.reading {
            found.entry(place.file(&reading.flow.file)).or_default().extend(of_flow(reading));
            self.callers(place, reading, &mut found);
            self.tests_of(place, reading, &mut found);
        }
        found.retain(|_, mentions| !mentions.is_empty());
        found
    }

    /// What flows that go through this one hand to it.
    fn callers(&self, place: &FilePlace<'_>, reading: &FlowReading, found: &mut MentionsByFile) {
        for file in place.desk.flow_files() {
            if !file.flows().iter().any(|(_, names)| names.flows.iter().any(|name| means(place, name, reading))) {
                continue;
            }
            let mentions = found.entry(place.file(file.path())).or_default();
            for caller in place.desk.readings(file.path(), self.settings.lenient) {
                let handed = of_flow(&caller).into_iter();
                mentions.extend(handed.filter(|mention| matches!(mention.subject, Subject::InputOf { .. })));
            }
        }
    }

    /// The inputs that tests give a flow.
    fn tests_of(&self, place: &FilePlace<'_>, reading: &FlowReading, found: &mut MentionsByFile) {
        for (path, document) in self.tests(place) {
            let mentions = found.entry(path).or_default();
            let locator = Locator::new(&document.text);
            for (at, test) in tests_in(&document) {
                if !is_of(test, &reading.flow) {
                    continue;
                }
                let inputs = test.get("inputs").and_then(Value::as_object);
                for name in inputs.into_iter().flat_map(serde_json::Map::keys) {
                    let span = locator.span(&Place::key(at.key("inputs").key(name)));
                    let bytes = span.start + 1..span.end.saturating_sub(1);
                    let subject = Subject::Variable(nfc(name));
                    mentions.push(Mention { bytes, subject, declares: false, node: None });
                }
            }
        }
    }

    /// The files of a catalog's tests that can be read, in order.
    pub(super) fn tests(&self, place: &FilePlace<'_>) -> Vec<(PathBuf, Document)> {
        if is_unsaved(place.root) {
            return Vec::new();
        }
        let read = |(file, bytes): (CatalogPath, Result<Arc<[u8]>, Error>)| {
            let path = place.file(&file);
            let held = self.open.get(&path).map(|text| Arc::from(text.as_bytes()));
            let bytes: Arc<[u8]> = held.or(bytes.ok())?;
            Some((path, Document::parse(file, &bytes).ok()?))
        };
        test_files(place.root, self.settings.max_file_size).into_iter().filter_map(read).collect()
    }
}

/// Whether a name means the flow of a reading.
fn means(place: &FilePlace<'_>, name: &str, reading: &FlowReading) -> bool {
    let own = (&reading.flow.file, reading.flow.place_in_file);
    place.desk.flow(name).is_some_and(|flow| (&flow.file, flow.place_in_file) == own)
}

/// The tests of a file, each with where it stands.
pub(super) fn tests_in(document: &Document) -> Vec<(Pointer, &Value)> {
    let test = &document.value;
    let Some(tests) = test.as_array() else { return vec![(Pointer::root(), test)] };
    tests.iter().enumerate().map(|(at, test)| (Pointer::root().item(at), test)).collect()
}

/// Whether a test is one of a flow.
pub(super) fn is_of(test: &Value, flow: &crate::model::Flow) -> bool {
    let named = test.get("flow").and_then(Value::as_str);
    named.is_some_and(|name| name == flow.name.as_str() || Some(name) == flow.given_name.as_deref())
}

fn refused(message: String, next: &str) -> Error {
    Error::invalid(message).next(next)
}
