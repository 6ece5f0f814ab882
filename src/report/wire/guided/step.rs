//! The step that is handed out, whole: what it is for, what to do, as whom, and in which shape.

use std::sync::Arc;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use sha1::{Digest as _, Sha1};

use super::id_of;
use crate::model::{Contract, Persona, text_or_json};
use crate::names::{cut, hex};
use crate::plan::Source;
use crate::report::wire::common::Stamp;
use crate::report::wire::limit::{Limit, frame_fits};
use crate::report::wire::size::{Cuttable, beginning};
use crate::run::{Escalation, FilledWith, Guided, Handed, State};

/// How much of an earlier output is shown, in characters; the prompt holds what it reads.
const SUMMARY: usize = 600;
/// How much of a given value is shown beside the prompt, in characters.
const INPUT: usize = 300;
/// The shortest that a text of a step is cut to, in characters.
const SHORTEST: usize = 2_000;

/// The step that is open.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenStep {
    /// Id of the node.
    id: String,
    /// Its place in the plan, from 1.
    index: usize,
    /// How many steps there are.
    of: usize,
    /// Name of the step as people read it.
    label: String,
    /// What the step is for; where the file says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// What the whole is for, as it was given to `flows_begin`.
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<String>,
    /// What to do: the step's text, filled in.
    prompt: Option<String>,
    /// What belongs to the step besides its prompt.
    context: StepContext,
    /// What the steps before gave, by node id.
    previous_output: IndexMap<String, PreviousOutput>,
    /// The role to take on.
    #[serde(skip_serializing_if = "Option::is_none")]
    persona: Option<PersonaAnswer>,
    /// The JSON Schema that the output must meet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = "object"))]
    contract: Option<Value>,
    /// An output that the contract takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<Value>,
    /// True when the step may be left out with outcome skipped.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    optional: bool,
    /// Which attempt this is: 1, and one more for each output that was refused.
    attempt: u32,
    #[serde(flatten)]
    cut: Option<PromptCut>,
}

/// What belongs to a step besides its prompt.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StepContext {
    /// What the caller gave of what the step reads, by name; long values are cut.
    inputs: Map<String, Value>,
    /// What a person answered about this step, in order.
    answers: Vec<PersonsAnswer>,
}

/// What a person answered about a step.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PersonsAnswer {
    /// Id of the question.
    escalation_id: String,
    /// Why it was asked.
    reason: String,
    /// What was asked.
    questions: Vec<String>,
    /// What the person said.
    answers: Value,
    /// When, ISO 8601 in UTC.
    answered_at: Stamp,
}

/// What a step before gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PreviousOutput {
    /// What it says, in short.
    summary: String,
    /// Where the whole is.
    #[serde(rename = "ref")]
    address: String,
}

/// A role to take on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PersonaAnswer {
    /// Name of the persona.
    name: String,
    /// Its text; only with the first step in this role.
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    /// A mark of the text.
    hash: String,
}

/// What was cut of the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PromptCut {
    /// Length of the whole prompt in characters; where it was cut.
    prompt_length: usize,
    /// True when the prompt was cut to fit the reply.
    truncated: bool,
    /// The call that pages the whole prompt.
    rest_of_prompt: String,
}

impl OpenStep {
    pub(super) fn of(guided: &Guided, handed: &Handed, whole_persona: bool) -> Option<Self> {
        let (number, run) = (handed.step, guided.run());
        let step = run.plan().step(number)?;
        let (place, of) = run.place_of(number);
        let rendering = guided.rendering(number);
        let (contract, example) = asked_of(guided, number);
        let role = guided.role(number);
        Some(Self {
            id: step.id.clone(),
            index: place,
            of,
            label: step.label.clone(),
            description: step.description.clone(),
            task: guided.beginning().task.clone(),
            prompt: rendering.and_then(|rendering| run.bind(number, rendering).ok()).map(|bound| bound.text.clone()),
            context: StepContext { inputs: inputs(guided, number), answers: answers(guided, number) },
            previous_output: previous(guided, number),
            persona: role.map(|role| PersonaAnswer::of(role, whole_persona || handed.new_role)),
            contract: Some(contract),
            example,
            optional: rendering.is_some_and(|rendering| rendering.optional),
            attempt: handed.attempt(),
            cut: None,
        })
    }
}

/// What the output must be, and one that is.
pub(in crate::report) fn asked_of(guided: &Guided, step: usize) -> (Value, Option<Value>) {
    if guided.rendering(step).is_none_or(|rendering| rendering.terms.is_none()) {
        let fields = guided.run().fields_read(step);
        return (usual_contract(&fields), Some(usual_example(&fields)));
    }
    let terms = guided.terms_in_full(step);
    (contract(&terms), terms.example_handed_in())
}

/// The usual contract in short; a breach is told with the whole of it. `fields` are what later steps read of the
/// result.
fn usual_contract(fields: &[Vec<String>]) -> Value {
    let description = "Plain text, or an object. `result` is what later steps read (without it: `summary`). Also: \
                       artifacts [{type, title, content}], decisions [{title, rationale}], findings [{severity: \
                       critical|high|medium|low|info, description}], confidence (0 to 1), nextSteps, blockers, references.";
    let summary = json!({"type": "string", "maxLength": 5000});
    if fields.is_empty() {
        return json!({
            "description": description,
            "properties": {"summary": summary, "result": {}},
            "anyOf": [{"required": ["summary"]}, {"required": ["result"]}],
        });
    }
    json!({
        "description": description,
        "type": "object",
        "properties": {"summary": summary, "result": result_read(fields).schema()},
        "required": ["result"],
    })
}

/// What the result must hold, where later steps read fields of it.
fn result_read(fields: &[Vec<String>]) -> Arc<Contract> {
    Arc::new(Contract::stored(None, json!({}))).requiring(fields)
}

fn usual_example(fields: &[Vec<String>]) -> Value {
    if fields.is_empty() {
        return json!({"summary": Contract::USUAL_SUMMARY, "result": "What later steps read."});
    }
    json!({"summary": Contract::USUAL_SUMMARY, "result": result_read(fields).example()})
}

/// The schema, without what only tools read.
fn contract(terms: &Contract) -> Value {
    let mut schema = terms.schema().clone();
    if let Value::Object(fields) = &mut schema {
        for key in ["$schema", "$id", "examples"] {
            fields.shift_remove(key);
        }
    }
    schema
}

impl PersonaAnswer {
    fn of(role: &Persona, whole: bool) -> Self {
        let mut hash = hex(&Sha1::digest(role.text.as_bytes()));
        hash.truncate(12);
        Self { name: role.name.clone(), instructions: whole.then(|| role.text.to_string()), hash }
    }
}

/// What callers gave of what the step reads.
fn inputs(guided: &Guided, step: usize) -> Map<String, Value> {
    let given = guided.run().slots(step).into_iter().filter_map(|(slot, with)| {
        let (Source::Open(_), FilledWith::Value(value)) = (&slot.source, with) else { return None };
        let text = text_or_json(&value);
        let whole = !value.is_string() && text.chars().count() <= INPUT;
        let shown = if whole { Value::clone(&value) } else { json!(cut(&text, INPUT)) };
        Some((slot.name.clone(), shown))
    });
    given.collect()
}

/// What a person answered about this step, in order.
pub(super) fn answers(guided: &Guided, step: usize) -> Vec<PersonsAnswer> {
    let told = |asked: &Escalation| {
        let (answers, at, _) = asked.answer.as_ref()?;
        Some(PersonsAnswer {
            escalation_id: asked.id.to_string(),
            reason: asked.reason.clone(),
            questions: asked.questions.clone(),
            answers: answers.clone(),
            answered_at: Stamp::millis(*at),
        })
    };
    guided.escalations().iter().filter(|asked| asked.step == step).filter_map(told).collect()
}

/// What the steps before gave, in short, and where the whole is.
fn previous(guided: &Guided, step: usize) -> IndexMap<String, PreviousOutput> {
    let run = guided.run();
    let parents = run.plan().step(step).map(|step| step.parents.as_slice()).unwrap_or_default();
    let told = parents.iter().filter_map(|parent| {
        let Some(State::Done { output, .. }) = run.state(*parent) else { return None };
        let said = guided.closing(*parent).and_then(|closing| closing.output.get("summary")).and_then(Value::as_str);
        let id = id_of(guided, *parent);
        let address = crate::names::step_address(guided.beginning().id.as_str(), &id);
        Some((id, PreviousOutput { summary: cut(said.unwrap_or(&output.text), SUMMARY), address }))
    });
    told.collect()
}

/// Cuts the longest texts of an answer's open step until the answer fits; says how long they were and how to read the
/// rest.
pub(super) fn shortened<A: Cuttable>(
    mut answer: A,
    open: fn(&mut A) -> Option<&mut OpenStep>,
    id: &str,
    limit: &Limit,
) -> A {
    // A persona is delivered whole as long as a message can hold it; what gives way first is the
    // prompt, which can be paged.
    while !limit.fits(&answer) {
        let in_a_frame = frame_fits(&answer);
        let Some(step) = open(&mut answer) else { return answer };
        // What is left is a persona or a contract: whole, unless no message could hold it.
        let whole = step.cut.is_none();
        if !step.shorten_text(id) && (in_a_frame || !step.gives_way()) {
            return answer;
        }
        // Who follows nextStep alone would do a part of the step.
        if let (true, Some(cut)) = (whole, &step.cut) {
            let first = format!("the prompt is cut: read all of it first, {}; then ", cut.rest_of_prompt);
            answer.parts().next_step.get_or_insert_default().insert_str(0, &first);
        }
    }
    answer
}

impl OpenStep {
    /// Halves the longer one of task and prompt; says whether one of them was long enough.
    fn shorten_text(&mut self, id: &str) -> bool {
        let length = |text: &Option<String>| text.as_deref().map_or(0, |text| text.chars().count());
        let (prompt, task) = (length(&self.prompt), length(&self.task));
        let (text, length) = if prompt >= task { (&mut self.prompt, prompt) } else { (&mut self.task, task) };
        let Some(text) = text.as_mut().filter(|_| length > SHORTEST) else { return false };
        *text = beginning(text, length / 2).0;
        if prompt >= task {
            let node = &self.id;
            self.cut.get_or_insert_with(|| PromptCut {
                prompt_length: prompt,
                truncated: true,
                rest_of_prompt: format!("flows_status with executionId {id} and nodeId {node} pages the whole prompt"),
            });
        }
        true
    }

    /// Takes the least needed of a step away; says whether there was anything.
    fn gives_way(&mut self) -> bool {
        if self.example.take().is_some() || self.contract.take().is_some() {
            return true;
        }
        match self.persona.as_mut().and_then(|role| role.instructions.as_mut()) {
            Some(text) if text.chars().count() > SHORTEST => {
                *text = text.chars().take(text.chars().count() / 2).collect();
                true
            }
            Some(_) | None => false,
        }
    }
}
