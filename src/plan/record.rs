//! A plan's stored form, both ways: what an execution needs to be finished on the flow it began
//! with, however the catalog has changed since.
//!
//! What steps share stands in it once, and what follows from the rest is left out. Forms of before are
//! read as well; what they hold beyond that, as the flow's nodes and edges, is passed over.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::unfold::size_of;
use crate::code::Code;
use crate::model::{Contract, ModelWish, Persona, Sets, StepSets, Syntax, ToolAddress, VariableSet};
use crate::names::{CatalogPath, ItemName, quoted};
use crate::plan::{Asks, Call, Door, Gather, Input, Passage, Plan, Rendering, ResultMark, Slot, Step, Work};
use crate::render::{Outline, Placeholder, Stencil};
use crate::validate::{Intent, Mending};

/// The version of the form that is written. Up to 2, the flow's nodes and edges were part of it.
const VERSION: u32 = 3;

/// Why a plan can't be stored, or a stored one can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// It was written by a newer version of the program.
    #[error("the stored plan has version {found}, and this program knows up to {VERSION}")]
    Newer {
        /// Its version.
        found: u32,
    },
    /// It refers to a part of itself that is not there.
    #[error("the stored plan refers to {part}, which is not part of it")]
    Torn {
        /// What is not there.
        part: &'static str,
    },
    /// A step is another flow: only unfolded plans are walked over, and stored.
    #[error("step {} of the plan is a flow that is not unfolded", quoted(step))]
    Folded {
        /// The step's id.
        step: String,
    },
}

impl RecordError {
    fn torn(part: &'static str) -> Self {
        Self::Torn { part }
    }
}

/// The stored form of a whole plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanRecord {
    version: u32,
    flow: FlowRecord,
    /// Texts, personas and contracts stand here once, however many steps use them.
    texts: Vec<TextRecord>,
    roles: Vec<Arc<Persona>>,
    contracts: Vec<ContractRecord>,
    steps: Vec<StepRecord>,
    inputs: Vec<Input>,
    sets: Vec<String>,
    results: Vec<ResultMark>,
    last: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct FlowRecord {
    name: ItemName,
    file: CatalogPath,
    /// Its steps are unfolded, and each has it where it counts; kept so that what is read is what was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<ModelWish>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct TextRecord {
    text: Arc<str>,
    placeholders: Vec<PlaceholderRecord>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct PlaceholderRecord {
    start: usize,
    end: usize,
    name: String,
    path: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ContractRecord {
    name: Option<String>,
    schema: Arc<Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct StepRecord {
    node: usize,
    id: String,
    label: String,
    description: Option<String>,
    wave: usize,
    parents: Vec<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    within: Option<usize>,
    work: WorkRecord,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WorkRecord {
    Render(Box<RenderingRecord>),
    Call(Box<Call>),
    Gather(Box<Gather>),
    Faulty {
        code: Code,
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flow: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hints: Vec<String>,
    },
}

/// A rendering; `text`, `role` and `terms` are places in the plan's lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RenderingRecord {
    template_name: String,
    template_file: Option<String>,
    text: usize,
    slots: Vec<Slot>,
    sets: Vec<VariableSet>,
    persona: Option<String>,
    contract: Option<Arc<Value>>,
    role: Option<usize>,
    terms: Option<usize>,
    optional: bool,
    max_attempts: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    asks: Asks,
}

fn is_default(asks: &Asks) -> bool {
    *asks == Asks::default()
}

/// A call; its arguments are as the node has them, and taken apart again on the way back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CallRecord {
    server: String,
    tool: String,
    arguments: Map<String, Value>,
    slots: Vec<Slot>,
    slot_of: Vec<usize>,
    requires: Vec<(usize, Vec<String>)>,
    goes_on: bool,
    retries: u32,
    backoff_ms: u64,
    timeout_ms: Option<u64>,
    delay_ms: u64,
    set: Vec<(String, String)>,
}

/// What is handed to a flow within the flow; as a call's arguments, it is taken apart again on the way back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct DoorRecord {
    values: Map<String, Value>,
    slot_of: Vec<usize>,
    inputs: Vec<Input>,
    sets: Vec<String>,
}

/// A text that is handed on, without its brace groups, which follow from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PassageRecord {
    text: Arc<str>,
    slot_of: Vec<usize>,
}

/// Which part of an output is read: whether it is the name of the template.
pub(super) mod part {
    use serde::{Deserialize as _, Deserializer, Serializer};

    use crate::validate::OutputPart;

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands references")]
    pub(in crate::plan) fn serialize<S: Serializer>(part: &OutputPart, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(*part == OutputPart::Template)
    }

    pub(in crate::plan) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<OutputPart, D::Error> {
        Ok(if bool::deserialize(deserializer)? { OutputPart::Template } else { OutputPart::Result })
    }
}

impl PlanRecord {
    /// The stored form of a plan.
    ///
    /// # Errors
    /// When a flow within it is not unfolded.
    pub fn of(plan: &Plan) -> Result<Self, RecordError> {
        let mut parts = Parts::default();
        let steps = plan.steps.iter().map(|step| parts.step(step)).collect::<Result<_, _>>()?;
        Ok(Self {
            version: VERSION,
            flow: FlowRecord { name: plan.name.clone(), file: plan.file.clone(), model: plan.model.clone() },
            texts: parts.texts,
            roles: parts.roles,
            contracts: parts.contracts,
            steps,
            inputs: plan.inputs.clone(),
            sets: plan.sets.to_vec(),
            results: plan.results.clone(),
            last: plan.last,
        })
    }

    /// The plan again.
    ///
    /// # Errors
    /// When it is of a newer version, or damaged.
    pub fn plan(self) -> Result<Plan, RecordError> {
        if self.version > VERSION {
            return Err(RecordError::Newer { found: self.version });
        }
        let contract = |record: ContractRecord| Arc::new(Contract::stored(record.name, record.schema));
        let shelves = Shelves {
            texts: self.texts.into_iter().map(TextRecord::back).collect(),
            roles: self.roles,
            contracts: self.contracts.into_iter().map(contract).collect(),
        };
        let count = self.steps.len();
        let mut steps = self.steps.into_iter().map(|step| shelves.step(step)).collect::<Result<Vec<_>, _>>()?;
        for child in 0..count {
            for parent in steps.get(child).map(|step| step.parents.clone()).unwrap_or_default() {
                steps.get_mut(parent).ok_or(RecordError::torn("a step"))?.children.push(child);
            }
        }
        let marked = self.results.iter().filter_map(|mark| mark.step).chain(self.last);
        if marked.into_iter().any(|step| step >= count) {
            return Err(RecordError::torn("a step"));
        }
        Ok(Plan {
            size: size_of(&steps, &self.inputs),
            name: self.flow.name,
            file: self.flow.file,
            steps,
            inputs: self.inputs,
            sets: self.sets.into(),
            results: self.results,
            last: self.last,
            model: self.flow.model,
        })
    }
}

/// Collects what several steps share.
#[derive(Default)]
struct Parts {
    texts: Vec<TextRecord>,
    roles: Vec<Arc<Persona>>,
    contracts: Vec<ContractRecord>,
    /// Places by where the shared part lies in memory.
    known_texts: HashMap<(*const u8, *const Outline), usize>,
    known_roles: HashMap<*const Persona, usize>,
    known_contracts: HashMap<*const Contract, usize>,
}

impl Parts {
    fn step(&mut self, step: &Step) -> Result<StepRecord, RecordError> {
        let work = match &step.work {
            Work::Faulty { code, message, meant, mending } => {
                let (call, flow) = match meant {
                    Intent::Text => (None, None),
                    Intent::Call(call) => (Some(call.clone()), None),
                    Intent::Flow(flow) => (None, Some(flow.clone())),
                };
                let Mending { files, hints } = mending.clone();
                WorkRecord::Faulty { code: *code, message: message.clone(), call, flow, files, hints }
            }
            Work::Render(rendering) => WorkRecord::Render(Box::new(self.rendering(rendering))),
            Work::Call(call) => WorkRecord::Call(call.clone()),
            Work::Gather(gather) => WorkRecord::Gather(gather.clone()),
            Work::Flow(_) => return Err(RecordError::Folded { step: step.id.clone() }),
        };
        Ok(StepRecord {
            node: step.node,
            id: step.id.clone(),
            label: step.label.clone(),
            description: step.description.clone(),
            wave: step.wave,
            parents: step.parents.clone(),
            within: step.within,
            work,
        })
    }

    fn rendering(&mut self, rendering: &Rendering) -> RenderingRecord {
        RenderingRecord {
            template_name: rendering.template_name.clone(),
            template_file: rendering.template_file.clone(),
            text: self.text(rendering),
            slots: rendering.slots.clone(),
            sets: rendering.sets.iter().cloned().collect(),
            persona: rendering.persona.clone(),
            contract: rendering.contract.clone(),
            role: rendering.role.as_ref().map(|role| self.role(role)),
            terms: rendering.terms.as_ref().map(|contract| self.contract(contract)),
            optional: rendering.optional,
            max_attempts: rendering.max_attempts,
            asks: rendering.asks.clone(),
        }
    }

    fn text(&mut self, rendering: &Rendering) -> usize {
        let texts = &mut self.texts;
        let key = (rendering.text.as_ptr(), Arc::as_ptr(&rendering.outline));
        *self.known_texts.entry(key).or_insert_with(|| {
            let placeholders = rendering.outline.placeholders.iter().map(|placeholder| PlaceholderRecord {
                start: placeholder.range.start,
                end: placeholder.range.end,
                name: placeholder.name.clone(),
                path: placeholder.path.clone(),
            });
            texts.push(TextRecord { text: rendering.text.clone(), placeholders: placeholders.collect() });
            texts.len() - 1
        })
    }

    fn role(&mut self, role: &Arc<Persona>) -> usize {
        let roles = &mut self.roles;
        *self.known_roles.entry(Arc::as_ptr(role)).or_insert_with(|| {
            roles.push(role.clone());
            roles.len() - 1
        })
    }

    fn contract(&mut self, contract: &Arc<Contract>) -> usize {
        let contracts = &mut self.contracts;
        *self.known_contracts.entry(Arc::as_ptr(contract)).or_insert_with(|| {
            let name = contract.name().map(str::to_owned);
            contracts.push(ContractRecord { name, schema: contract.shared_schema() });
            contracts.len() - 1
        })
    }
}

/// What steps share, on the way back.
struct Shelves {
    texts: Vec<(Arc<str>, Arc<Outline>)>,
    roles: Vec<Arc<Persona>>,
    contracts: Vec<Arc<Contract>>,
}

impl Shelves {
    fn step(&self, record: StepRecord) -> Result<Step, RecordError> {
        Ok(Step {
            node: record.node,
            id: record.id,
            label: record.label,
            description: record.description,
            wave: record.wave,
            parents: record.parents,
            children: Vec::new(),
            within: record.within,
            work: match record.work {
                WorkRecord::Faulty { code, message, call, flow, files, hints } => {
                    let meant = call.map(Intent::Call).or_else(|| flow.map(Intent::Flow)).unwrap_or_default();
                    Work::Faulty { code, message, meant, mending: Mending { files, hints } }
                }
                WorkRecord::Render(rendering) => Work::Render(self.rendering(*rendering)?),
                WorkRecord::Call(call) => Work::Call(call),
                WorkRecord::Gather(gather) => Work::Gather(gather),
            },
        })
    }

    fn rendering(&self, record: RenderingRecord) -> Result<Rendering, RecordError> {
        fn shared<T>(list: &[Arc<T>], place: Option<usize>, what: &'static str) -> Result<Option<Arc<T>>, RecordError> {
            place.map(|place| list.get(place).cloned().ok_or(RecordError::torn(what))).transpose()
        }
        let (text, outline) = self.texts.get(record.text).cloned().ok_or(RecordError::torn("a text"))?;
        Ok(Rendering {
            template_name: record.template_name,
            template_file: record.template_file,
            text,
            outline,
            slots: record.slots,
            sets: StepSets::of([Arc::new(Sets::of(&record.sets))]),
            persona: record.persona,
            contract: record.contract,
            role: shared(&self.roles, record.role, "a persona")?,
            terms: shared(&self.contracts, record.terms, "a contract")?,
            optional: record.optional,
            max_attempts: record.max_attempts,
            asks: record.asks,
        })
    }
}

impl TextRecord {
    fn back(self) -> (Arc<str>, Arc<Outline>) {
        let placeholders = self.placeholders.into_iter().map(|record| Placeholder {
            range: record.start..record.end,
            name: record.name,
            path: record.path,
        });
        (self.text, Arc::new(Outline::made_of(placeholders.collect())))
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl From<Call> for CallRecord {
    fn from(call: Call) -> Self {
        Self {
            server: call.address.server,
            tool: call.address.tool,
            arguments: call.arguments.written().clone(),
            slots: call.slots,
            slot_of: call.slot_of,
            requires: call.requires,
            goes_on: call.goes_on,
            retries: call.retries,
            backoff_ms: millis(call.backoff),
            timeout_ms: call.timeout.map(millis),
            delay_ms: millis(call.delay),
            set: call.set,
        }
    }
}

impl TryFrom<CallRecord> for Call {
    type Error = RecordError;

    fn try_from(record: CallRecord) -> Result<Self, RecordError> {
        let arguments = Stencil::of(&record.arguments);
        let known = |slot: &usize| *slot < record.slots.len();
        if arguments.holes().len() != record.slot_of.len()
            || !record.slot_of.iter().chain(record.requires.iter().map(|(slot, _)| slot)).all(known)
        {
            return Err(RecordError::torn("a value of a call"));
        }
        Ok(Self {
            address: ToolAddress { server: record.server, tool: record.tool },
            arguments: Arc::new(arguments),
            slots: record.slots,
            slot_of: record.slot_of,
            requires: record.requires,
            goes_on: record.goes_on,
            retries: record.retries,
            backoff: Duration::from_millis(record.backoff_ms),
            timeout: record.timeout_ms.map(Duration::from_millis),
            delay: Duration::from_millis(record.delay_ms),
            set: record.set,
        })
    }
}

impl From<Door> for DoorRecord {
    fn from(door: Door) -> Self {
        Self {
            values: door.values.written().clone(),
            slot_of: door.slot_of,
            inputs: door.inputs,
            sets: door.sets.to_vec(),
        }
    }
}

impl TryFrom<DoorRecord> for Door {
    type Error = RecordError;

    fn try_from(record: DoorRecord) -> Result<Self, RecordError> {
        let values = Stencil::spelt(&record.values, Syntax::Single);
        if values.holes().len() != record.slot_of.len() {
            return Err(RecordError::torn("a value for a flow"));
        }
        Ok(Self { values: Arc::new(values), slot_of: record.slot_of, inputs: record.inputs, sets: record.sets.into() })
    }
}

impl From<Passage> for PassageRecord {
    fn from(passage: Passage) -> Self {
        Self { text: passage.text, slot_of: passage.slot_of }
    }
}

impl From<PassageRecord> for Passage {
    fn from(record: PassageRecord) -> Self {
        let outline = Arc::new(Outline::of(&record.text, Syntax::Single));
        Self { text: record.text, outline, slot_of: record.slot_of }
    }
}
