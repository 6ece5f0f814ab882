//! What a name means, in words: where the value of a placeholder comes from, and what it is in a test.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

use serde_json::Value;

use super::leading::Pointed;
use super::mentions::Subject;
use super::renaming::{is_of, tests_in};
use super::{Place, Workbench};
use crate::catalog::FlowReading;
use crate::model::{Template, text_or_json};
use crate::names::{capital, counted, nfc, shown};
use crate::plan::{Open, Source};
use crate::validate::{OutputPart, Read, ReadSource, StepScope};

/// The longest value that is shown, in characters.
const LONGEST_VALUE: usize = 300;
/// The most flows of which a template's variable is told.
const MOST_FLOWS: usize = 5;

/// What there is to say of a name, as Markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The bytes of the name.
    pub bytes: Range<usize>,
    /// The text.
    pub markdown: String,
}

impl Workbench {
    /// What the name at a byte of a file means.
    pub fn explained(&self, path: &Path, offset: usize) -> Option<Explanation> {
        let place = self.place(path)?;
        let Pointed { mention, reading } = self.pointed(path, offset)?;
        let markdown = match (&mention.subject, reading) {
            (Subject::Variable(name), Some(reading)) => {
                let step = mention.node.and_then(|node| reading.scope.step_of(node));
                let read = step.and_then(|step| Some((step, step.read(name)?)));
                let of = match read {
                    Some((step, read)) => self.of_read(&place, &reading, step, read),
                    None => self.of_input(&place, &reading, name),
                };
                format!("**{}**\n\n{of}", code(name))
            }
            (Subject::Variable(name), None) => self.of_template_variable(&place, path, name),
            (Subject::Output(node), Some(reading)) => {
                let step = mention.node.and_then(|node| reading.scope.step_of(node));
                let text = self.text(path)?;
                let written = nfc(text.get(mention.bytes.clone()).unwrap_or_default());
                let read = step.and_then(|step| Some((step, step.read(&written)?)));
                match read {
                    Some((step, read)) => {
                        format!("**{}**\n\n{}", code(&written), self.of_read(&place, &reading, step, read))
                    }
                    None => format!("The output of {}.", step_named(&reading, *node)),
                }
            }
            (Subject::InputOf { flow, input }, _) => {
                let reading = self.reading_of(&place, flow)?;
                let of = self.of_input(&place, &reading, input);
                format!("**{}**, an input of flow {}\n\n{of}", code(input), code(reading.flow.name.as_str()))
            }
            (Subject::Template(name), _) => of_template(place.desk.template(name)?),
            (Subject::Flow(name), _) => {
                let flow = place.desk.flow(name)?;
                let about = flow.description.as_deref().map(line).unwrap_or_default();
                format!("Flow **{}**\n\n{about}\n\n`{}`", line(flow.name.as_str()), shown(flow.file.as_str(), 200))
            }
            (Subject::Persona(name), _) => format!("Persona `{}`", place.desk.guidance().persona(name)?),
            (Subject::Contract(name), _) => format!("Contract `{}`", place.desk.guidance().contract(name)?),
            (Subject::Node(id), Some(reading)) => step_named(&reading, reading.flow.place_of(id)?),
            (Subject::Output(_) | Subject::Node(_), None) => return None,
        };
        Some(Explanation { bytes: mention.bytes, markdown: markdown.trim_end().to_owned() })
    }

    /// Where a step gets the value of a name that it reads.
    fn of_read(&self, place: &Place<'_>, reading: &FlowReading, step: &StepScope, read: &Read) -> String {
        let named = |node: usize| step_named(reading, node);
        match &read.source {
            ReadSource::Output { node, part: OutputPart::Result } => format!("The output of {}.", named(*node)),
            ReadSource::Output { node, part: OutputPart::Template } => {
                format!("The name of the template that {} is made of.", named(*node))
            }
            ReadSource::Set { node, path } => {
                format!("{} sets it: `{}` of its result.", capital(&named(*node)), shown(&path.join("."), 80))
            }
            ReadSource::Mapped(mapped) => {
                let of = if mapped.path.is_empty() {
                    "the output".to_owned()
                } else {
                    format!("the field `{}` of the output", shown(&mapped.path.join("."), 80))
                };
                format!("An edge maps it: {of} of {}.", named(mapped.node))
            }
            ReadSource::MappedInput { input, .. } => {
                format!("An edge maps it to the input {}.\n\n{}", code(input), self.of_input(place, reading, input))
            }
            ReadSource::Unreachable { node } => {
                format!("The output of {}, which does not come before this step.", named(*node))
            }
            ReadSource::Ambiguous => "Several steps give this name.".to_owned(),
            ReadSource::Open { .. } => {
                let plan = reading.plan.as_ref();
                let planned = plan.and_then(|plan| plan.steps().iter().find(|planned| planned.node == step.node));
                let slot = planned.and_then(|step| step.work.slots().iter().find(|slot| slot.name == read.name));
                match slot.map(|slot| &slot.source) {
                    Some(Source::Open(open)) => self.of_open(place, reading, step, open),
                    _ => self.of_input(place, reading, &read.name),
                }
            }
        }
    }

    fn of_open(&self, place: &Place<'_>, reading: &FlowReading, step: &StepScope, open: &Open) -> String {
        let mut lines = Vec::new();
        if !open.declared && !reading.scope.inputs.contains_key(&open.input) {
            lines.push("Nobody declares this name: where the caller does not give it, it stays as it is.".to_owned());
        } else if open.required {
            lines.push("The caller has to give it.".to_owned());
        } else {
            lines.push("The caller may give it.".to_owned());
        }
        if let (Some(auto), Some(plan)) = (open.auto, &reading.plan)
            && let Some(parent) = plan.step(auto)
        {
            lines.push(format!("Else it is the output of {}.", step_named(reading, parent.node)));
        }
        let description = step.declared.iter().find(|declared| declared.name == open.input);
        let description = description.and_then(|declared| declared.description.as_deref()).map(line);
        lines.extend(description.or_else(|| described(reading, &open.input)));
        lines.extend(self.value(place, reading, &open.input, open.default.as_deref()));
        lines.join("\n\n")
    }

    /// What the files say of a flow's input.
    fn of_input(&self, place: &Place<'_>, reading: &FlowReading, name: &str) -> String {
        let input = reading.plan.as_ref().and_then(|plan| plan.inputs().iter().find(|input| input.name == name));
        let known = reading.scope.inputs.get(name);
        let mut lines = Vec::new();
        let default = input.and_then(|input| input.default.clone()).or_else(|| {
            let refined = known.and_then(|known| reading.flow.inputs.get(known.refinement?)?.default.clone());
            refined.or_else(|| known.and_then(|known| known.nodes.iter().find_map(|(_, _, default)| default.clone())))
        });
        lines.push(match (input, known.is_some()) {
            (Some(input), _) if input.required => "The caller has to give it.".to_owned(),
            (Some(_), _) | (None, true) => "The caller gives it.".to_owned(),
            (None, false) => "No step reads this name from the caller.".to_owned(),
        });
        if let Some(kind) = input.and_then(|input| input.kind) {
            lines.push(format!("Type: {kind}."));
        }
        lines.extend(described(reading, name));
        lines.extend(self.value(place, reading, name, default.as_deref()));
        lines.join("\n\n")
    }

    /// The value in the flow's first test that gives one, else the default.
    fn value(&self, place: &Place<'_>, reading: &FlowReading, name: &str, default: Option<&Value>) -> Option<String> {
        for (path, document) in self.tests(place) {
            for (_, test) in tests_in(&document).into_iter().filter(|(_, test)| is_of(test, &reading.flow)) {
                let inputs = test.get("inputs").and_then(Value::as_object);
                if let Some((_, value)) = inputs.into_iter().flatten().find(|(key, _)| nfc(key) == name) {
                    let file = path.strip_prefix(place.root).unwrap_or(&path).display().to_string();
                    return Some(format!("In `{}`: {}", shown(&file, 200), value_code(value)));
                }
            }
        }
        default.map(|value| format!("Default: {}", value_code(value)))
    }

    /// What the flows that use a template give its variable.
    fn of_template_variable(&self, place: &Place<'_>, path: &Path, name: &str) -> String {
        let mut text = format!("**{}**", code(name));
        let users = self.users(path);
        if users.is_empty() {
            text.push_str("\n\nNo flow uses this template.");
        }
        for (reading, steps) in users.iter().take(MOST_FLOWS) {
            for node in steps.iter().take(MOST_FLOWS) {
                let Some(step) = reading.scope.step_of(*node) else { continue };
                let Some(read) = step.read(name) else { continue };
                let of = self.of_read(place, reading, step, read);
                let (flow, step) = (line(reading.flow.name.as_str()), step_named(reading, *node));
                let _ = write!(text, "\n\nIn flow **{flow}**, {step}:\n\n{of}");
            }
        }
        if users.len() > MOST_FLOWS {
            let _ = write!(text, "\n\nand in {}", counted(users.len() - MOST_FLOWS, "more flow", "more flows"));
        }
        text
    }
}

fn described(reading: &FlowReading, name: &str) -> Option<String> {
    let refinement = reading.flow.inputs.iter().find(|refinement| nfc(&refinement.name) == name)?;
    refinement.description.as_deref().map(line)
}

fn of_template(template: &Template) -> String {
    let mut text = format!("Template **{}**", line(&template.name));
    for said in [template.title.as_ref(), template.description.as_ref()].into_iter().flatten() {
        if *said != template.name {
            let _ = write!(text, "\n\n{}", line(said));
        }
    }
    let names: Vec<String> = template.variables.iter().map(|variable| code(&variable.name)).collect();
    if !names.is_empty() {
        let _ = write!(text, "\n\nVariables: {}", names.join(", "));
    }
    let _ = write!(text, "\n\n`{}`", shown(template.file.as_str(), 200));
    text
}

/// A step as a reader knows it: its number, its label and its id.
fn step_named(reading: &FlowReading, node: usize) -> String {
    let Some(spec) = reading.flow.nodes.get(node) else { return "a step".to_owned() };
    let number = reading.plan.as_ref().and_then(|plan| plan.steps().iter().position(|step| step.node == node));
    let head = match number {
        Some(number) => format!("step {}", number + 1),
        None if spec.runnable() => "step".to_owned(),
        None => "node".to_owned(),
    };
    format!("{head}, **{}** ({})", line(spec.caption()), code(&spec.id))
}

/// Untrusted text as one line of Markdown that can't become markup.
fn line(text: &str) -> String {
    let mut out = String::new();
    for c in shown(text, LONGEST_VALUE).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '#' | '!' | '|') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Untrusted text as code within a line of Markdown.
fn code(text: &str) -> String {
    let text = shown(text, LONGEST_VALUE);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    if longest == 0 {
        return format!("`{text}`");
    }
    let fence = "`".repeat(longest + 1);
    format!("{fence} {text} {fence}")
}

fn value_code(value: &Value) -> String {
    let text = text_or_json(value);
    if text.is_empty() { "empty".to_owned() } else { code(&text) }
}
