//! Writing one prompt: values read, what is missing told, texts filled once.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::DateTime;
use serde_json::{Map, Value};

use super::{Offer, PromptEntry, PromptKind};
use crate::app::execute::{Place, refused_as};
use crate::app::{App, Catalog, Code, Error, InexactName};
use crate::catalog::{CatalogError, near, normal, variables};
use crate::model::{Template, text_of};
use crate::plan::{Plan, Work};
use crate::render::{Outline, Walked, fill, walk};
use crate::run::{Coming, Event, Given, Limits, Output, Refusal, Run, State, StepError, Timing};

/// The longest that a filled template may get, in bytes; no client takes more in one message.
const LONGEST_TEXT: usize = 1_000_000;

/// Which prompt, and what it is given.
#[derive(Debug, Clone, Default)]
pub struct PromptRequest {
    /// Its slug, or the exact name of a flow or template.
    pub name: String,
    /// Values by name; empty texts and nulls count as not given.
    pub values: Map<String, Value>,
}

/// A prompt, written.
#[derive(Debug, Clone)]
pub struct Written {
    /// The flow's or template's name.
    pub name: String,
    /// What it is for; empty when nobody says.
    pub description: String,
    /// What it says.
    pub body: WrittenBody,
    /// The flow that was taken for a name that is spelt otherwise.
    pub inexact_name: Option<InexactName>,
}

/// What a prompt says.
#[derive(Debug, Clone)]
pub enum WrittenBody {
    /// A template's text, filled.
    Text(String),
    /// A flow's steps.
    Script(Script),
}

/// A flow's steps, for whoever carries them out.
#[derive(Debug, Clone)]
pub struct Script {
    /// The plan.
    pub plan: Arc<Plan>,
    /// Each step's text, filled as far as the given values go: outputs of earlier steps are not
    /// there yet, so their placeholders stay. An error where the step can't be done.
    pub texts: Vec<Result<String, StepError>>,
    /// For each step the placeholders that stay, with what belongs there.
    pub reads: Vec<Vec<(String, Coming)>>,
}

impl App {
    /// Writes a prompt.
    ///
    /// # Errors
    /// When there is none of that name, required values are missing, or its flow can't be executed.
    pub async fn prompt(&self, request: &PromptRequest) -> Result<Written, Error> {
        let catalog = self.catalog(None, false).await?;
        let offer = catalog.offer(&request.name)?;
        let mut inexact_name = None;
        let mut values = request.values.clone();
        values.retain(|_, value| !matches!(value, Value::Null) && value.as_str() != Some(""));
        let (description, body) = match offer.kind {
            PromptKind::Template => {
                let template = catalog.template_named(&offer.name).await?;
                let text = filled(&template, &values)?;
                (template.description.clone().or_else(|| template.title.clone()), WrittenBody::Text(text))
            }
            PromptKind::Flow => {
                let prepared = catalog.prepare(&offer.name).await?;
                inexact_name = catalog.origin_of(&prepared, &offer.name).inexact_name;
                let script = script(prepared.plan()?.clone(), &offer.name, &values)?;
                (Some(prepared.entry.description.clone()), WrittenBody::Script(script))
            }
        };
        Ok(Written { name: offer.name, description: description.unwrap_or_default(), body, inexact_name })
    }

    /// What a prompt takes, listed or not.
    ///
    /// # Errors
    /// When there is none of that name, or the catalog can't be reached.
    pub(in crate::app) async fn prompt_named(&self, name: &str) -> Result<PromptEntry, Error> {
        let catalog = self.catalog(None, false).await?;
        let offer = catalog.offer(name)?;
        Ok(catalog.prompt_entry(&offer).await?.0)
    }
}

impl Catalog {
    /// The prompt of a slug, else the flow, else the template of exactly that name.
    fn offer(&self, name: &str) -> Result<Offer, Error> {
        let offers = self.offers()?;
        if let Some(offer) = offers.by_slug.get(name).and_then(|place| offers.offers.get(*place)) {
            return Ok(offer.clone());
        }
        let named = |kind| Offer { slug: name.to_owned(), kind, name: name.to_owned() };
        match self.find(name) {
            Ok(_) | Err(CatalogError::AmbiguousFlow { .. }) => Ok(named(PromptKind::Flow)),
            Err(CatalogError::IsTemplate { .. }) => Ok(named(PromptKind::Template)),
            Err(CatalogError::NotFound { .. } | CatalogError::ForbiddenName { .. }) => {
                let nearest = near(name, offers.offers.iter().map(|offer| offer.slug.as_str()));
                let asked =
                    if nearest.is_empty() { String::new() } else { format!("did you mean {}? ", nearest.join(" or ")) };
                let step = format!("{asked}prompts/list shows the names");
                Err(Error::not_found(Code::FlowNotFound, "prompt", name, &nearest).next(step))
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn script(plan: Arc<Plan>, name: &str, values: &Map<String, Value>) -> Result<Script, Error> {
    let told = |refusal: &Refusal| refused_as(Some(name), refusal, Place::Prompt);
    let given = Given::read(values).map_err(|refusal| told(&refusal))?;
    given.check(plan.terms()).map_err(|refusal| told(&refusal))?;
    let mut script = walked(plan.clone(), given.clone()).map_err(|refusal| told(&refusal))?;
    // Values with other braces, so that what is in braces still is a placeholder.
    let mut plain = given;
    plain.values.values_mut().for_each(without_braces);
    // Where a value without braces is refused, it is one of a few that the flow's author chose.
    if let Ok(plain) = walked(plan, plain) {
        for ((text, reads), plain) in script.texts.iter_mut().zip(&mut script.reads).zip(&plain.texts) {
            if let (Ok(text), Ok(plain)) = (text, plain) {
                tell_apart(text, reads, plain);
            }
        }
    }
    Ok(script)
}

/// Puts other brackets into the place of a value's opening braces; its texts keep their length.
fn without_braces(value: &mut Value) {
    match value {
        Value::String(text) => *text = text.replace('{', "("),
        Value::Array(items) => items.iter_mut().for_each(without_braces),
        Value::Object(fields) => fields.values_mut().for_each(without_braces),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Marks the placeholders that wait for an output where a value holds the same braces, which are text. `plain` is
/// the text with values that have none.
fn tell_apart(text: &mut String, reads: &mut [(String, Coming)], plain: &str) {
    if text.len() != plain.len() {
        return;
    }
    let mut more: HashMap<&str, usize> = HashMap::new();
    for (_, group) in groups(text) {
        *more.entry(group).or_default() += 1;
    }
    for (_, group) in groups(plain) {
        more.entry(group).and_modify(|count| *count = count.saturating_sub(1));
    }
    let marks = "@".repeat(text.split(|c| c != '@').map(str::len).max().unwrap_or_default() + 1);
    let mut marked: HashSet<String> = HashSet::new();
    for (spelt, _) in reads {
        if more.get(spelt.as_str()).is_some_and(|count| *count > 0) {
            marked.insert(spelt.clone());
            spelt.insert_str(0, &marks);
        }
    }
    let (mut told, mut done) = (String::with_capacity(text.len()), 0);
    for (at, _) in groups(plain).filter(|(_, group)| marked.contains(*group)) {
        told.push_str(text.get(done..at).unwrap_or_default());
        told.push_str(&marks);
        done = at;
    }
    told.push_str(text.get(done..).unwrap_or_default());
    *text = told;
}

/// What stands between two braces of a text without another one between, and where.
fn groups(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices('{').filter_map(|(at, _)| {
        let (group, _) = text.get(at + 1..)?.split_once(['{', '}'])?;
        text.get(at + 1 + group.len()..)?.starts_with('}').then_some((at + 1, group))
    })
}

/// A flow's steps with texts as far as values go.
fn walked(plan: Arc<Plan>, given: Given) -> Result<Script, Refusal> {
    let mut run = Run::rehearse(plan, given, Limits::default())?;
    // The flows within it are unfolded, so that their texts are there too.
    let plan = run.plan().clone();
    let mut texts: Vec<Result<String, StepError>> = vec![Ok(String::new()); plan.steps().len()];
    let mut reads = vec![Vec::new(); plan.steps().len()];
    let timing = Timing { at: DateTime::UNIX_EPOCH, took: Duration::ZERO };
    let next = |run: &Run| run.ready().next();
    while let Some(number) = next(&run) {
        if let (Some(work), Some(text), Some(reads)) =
            (plan.step(number).map(|step| &step.work), texts.get_mut(number), reads.get_mut(number))
        {
            *text = text_of_step(&run, number, work);
            *reads = reads_of_step(&run, number, work);
        }
        // No output is there yet. What does not begin takes its steps with it.
        let event = match run.admitted(number) {
            Ok(()) => Event::Done { step: number, output: Output::pending(), timing },
            Err(error) => Event::Failed { step: number, error, timing },
        };
        run.apply(event);
    }
    for (number, text) in texts.iter_mut().enumerate() {
        if let Some(State::Skipped { because }) = run.state(number)
            && let Some(State::Failed { error, .. }) = run.state(*because)
        {
            *text = Err(error.clone());
        }
    }
    Ok(Script { plan, texts, reads })
}

fn text_of_step(run: &Run, number: usize, work: &Work) -> Result<String, StepError> {
    match work {
        Work::Render(rendering) => run.bind(number, rendering).map(|bound| bound.text),
        Work::Call(call) => {
            let message = format!(
                "it calls {}, which only the server can do: call flows_begin for this flow instead.",
                call.address
            );
            Err(StepError::new(Code::ToolUnavailable, message))
        }
        Work::Flow(_) | Work::Gather(_) => Ok(String::new()),
        Work::Faulty { code, message, .. } => Err(StepError::new(*code, message.clone())),
    }
}

/// The placeholders that stay in a step's text, each once, with what belongs there.
fn reads_of_step(run: &Run, number: usize, work: &Work) -> Vec<(String, Coming)> {
    let Work::Render(rendering) = work else { return Vec::new() };
    let (mut reads, mut known) = (Vec::new(), HashSet::new());
    for (placeholder, place) in rendering.outline.placeholders.iter().zip(&rendering.outline.name_of) {
        let spelt = placeholder.spelt();
        if let Some(slot) = rendering.slots.get(*place)
            && let Some(coming) = run.coming(number, slot, &placeholder.path)
            && known.insert(spelt.clone())
        {
            reads.push((spelt, coming));
        }
    }
    reads
}

/// A template's text with values in it: those given, else those of the chosen set, else defaults.
fn filled(template: &Template, values: &Map<String, Value>) -> Result<String, Error> {
    let given = Given::read(values).map_err(|refusal| refused_as(None, &refusal, Place::Prompt))?;
    let set = match &given.set {
        None => None,
        Some(wanted) => {
            let known = || template.sets.iter().map(|set| set.name.clone()).collect();
            let found = template.sets.iter().find(|set| crate::names::nfc(&set.name) == *wanted);
            let unknown = || Refusal::UnknownSet { name: wanted.clone(), known: known() };
            Some(found.ok_or_else(|| refused_as(None, &unknown(), Place::Prompt))?)
        }
    };
    let of_set: BTreeMap<String, &Value> =
        set.into_iter().flat_map(|set| &set.values).filter_map(|(name, value)| Some((normal(name)?, value))).collect();
    let variables = variables(template);
    let value_of = |name: &str| -> Option<&Value> {
        let declared = || variables.iter().find(|variable| variable.name == name);
        let given = given.values.get(name).or_else(|| of_set.get(name).copied());
        given.or_else(|| declared()?.declared?.default.as_deref())
    };
    let missing: Vec<&str> = variables
        .iter()
        .filter(|variable| variable.required && value_of(&variable.name).is_none())
        .map(|variable| variable.name.as_str())
        .collect();
    if !missing.is_empty() {
        let required = variables.iter().filter(|variable| variable.required).map(|variable| variable.name.clone());
        let missing = missing.into_iter().map(|name| (name.to_owned(), Vec::new())).collect();
        let provided = given.values.keys().cloned().collect();
        let refusal = Refusal::Missing {
            provided,
            required: required.collect(),
            missing,
            misspelt: Vec::new(),
            wanted: Box::default(),
        };
        return Err(refused_as(None, &refusal, Place::Prompt));
    }
    let outline = Outline::of_template(template);
    fill(&template.text(), &outline.placeholders, LONGEST_TEXT, |number| {
        let placeholder = outline.placeholders.get(number)?;
        match value_of(&placeholder.name) {
            Some(value) if placeholder.path.is_empty() => Some(text_of(value)),
            Some(value) => match walk(value, &placeholder.path) {
                Walked::Value(value) => Some(text_of(value)),
                Walked::NoInside | Walked::Absent => None,
            },
            // Declared and not required: empty, as in a flow. Nobody declares it: text.
            None if variables.iter().any(|variable| variable.name == placeholder.name) => Some(Cow::Borrowed("")),
            None => None,
        }
    })
    .map_err(|error| Error::new(Code::LimitExceeded, error.to_string()).next("give shorter values"))
}
