//! A plan's stored form, both ways: what an execution needs to be finished on the flow it began
//! with, however the catalog has changed since.
//!
//! The form has a version of its own and types of its own, so that a change of the domain types is
//! no change of what is stored. Nothing is checked again on the way back but how names are spelt.

mod doing;
mod flow;

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::code::Code;
use crate::model::{Contract, Persona, ValueType};
use crate::names::{CatalogPath, NameError};
use crate::plan::{Input, Open, Plan, Rendering, ResultMark, Slot, Source, Step, Work};
use crate::render::{Outline, Placeholder};
use crate::validate::{Intent, MappedBy, Mending, OutputPart};
use doing::{CallRecord, GatherRecord, LinkedRecord, PassedRecord};
use flow::{FlowRecord, SetRecord};

/// The version of the form that is written.
const VERSION: u32 = 3;

/// Why a stored plan can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// It was written by a newer version of the program.
    #[error("the stored plan has version {found}, and this program knows up to {VERSION}")]
    Newer {
        /// Its version.
        found: u32,
    },
    /// It refers to a part of itself that is not there.
    #[error("the stored plan refers to {0}, which is not part of it")]
    Torn(&'static str),
    /// It holds a word that means nothing.
    #[error("the stored plan says {0}, which means nothing")]
    UnknownWord(String),
    /// It holds a name that is none.
    #[error("the stored plan: {0}")]
    Name(#[from] NameError),
}

/// The stored form of a whole plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanRecord {
    version: u32,
    flow: FlowRecord,
    /// Texts, personas and contracts stand here once, however many steps use them.
    texts: Vec<TextRecord>,
    roles: Vec<RoleRecord>,
    contracts: Vec<ContractRecord>,
    steps: Vec<StepRecord>,
    inputs: Vec<InputRecord>,
    sets: Vec<String>,
    results: Vec<ResultRecord>,
    last: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct TextRecord {
    text: String,
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
struct RoleRecord {
    name: String,
    file: String,
    description: Option<String>,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ContractRecord {
    name: Option<String>,
    schema: Value,
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
    Call(Box<CallRecord>),
    Flow(Box<LinkedRecord>),
    Gather(Box<GatherRecord>),
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RenderingRecord {
    template_name: String,
    template_file: Option<String>,
    text: usize,
    slots: Vec<SlotRecord>,
    sets: Vec<SetRecord>,
    persona: Option<String>,
    contract: Option<Value>,
    role: Option<usize>,
    terms: Option<usize>,
    optional: bool,
    max_attempts: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SlotRecord {
    name: String,
    source: SourceRecord,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SourceRecord {
    Step {
        step: usize,
        /// Whether the name of the template is meant, instead of the output.
        template: bool,
        path: Vec<String>,
        by: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        otherwise: Option<Box<SlotRecord>>,
    },
    Open {
        input: String,
        mapped: bool,
        default: Option<Value>,
        auto: Option<usize>,
        required: bool,
        declared: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        otherwise: Option<Box<SlotRecord>>,
    },
    Passed(Box<PassedRecord>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct InputRecord {
    name: String,
    kind: Option<String>,
    description: Option<String>,
    required: bool,
    default: Option<Value>,
    choices: Vec<Value>,
    held_to: Option<String>,
    used_by: Vec<usize>,
    needed_by: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ResultRecord {
    node: usize,
    label: String,
    step: Option<usize>,
}

impl PlanRecord {
    /// The stored form of a plan.
    pub fn of(plan: &Plan) -> Self {
        let mut parts = Parts::default();
        let steps = plan.steps.iter().map(|step| parts.step(step)).collect();
        Self {
            version: VERSION,
            flow: FlowRecord::of(&plan.flow),
            texts: parts.texts,
            roles: parts.roles,
            contracts: parts.contracts,
            steps,
            inputs: plan.inputs.iter().map(input_record).collect(),
            sets: plan.sets.clone(),
            results: plan
                .results
                .iter()
                .map(|mark| ResultRecord { node: mark.node, label: mark.label.clone(), step: mark.step })
                .collect(),
            last: plan.last,
        }
    }

    /// The plan again.
    ///
    /// # Errors
    /// When it is of a newer version, or damaged.
    pub fn plan(self) -> Result<Plan, RecordError> {
        if self.version > VERSION {
            return Err(RecordError::Newer { found: self.version });
        }
        let shelves = Shelves {
            texts: self.texts.into_iter().map(TextRecord::back).collect(),
            roles: self.roles.into_iter().map(RoleRecord::back).collect::<Result<_, _>>()?,
            contracts: self
                .contracts
                .into_iter()
                .map(|record| Arc::new(Contract::stored(record.name, record.schema)))
                .collect(),
        };
        let count = self.steps.len();
        let mut steps = self.steps.into_iter().map(|step| shelves.step(step)).collect::<Result<Vec<_>, _>>()?;
        for child in 0..count {
            for parent in steps.get(child).map(|step| step.parents.clone()).unwrap_or_default() {
                steps.get_mut(parent).ok_or(RecordError::Torn("a step"))?.children.push(child);
            }
        }
        let results: Vec<ResultMark> = self
            .results
            .into_iter()
            .map(|mark| ResultMark { node: mark.node, label: mark.label, step: mark.step })
            .collect();
        let marked = results.iter().filter_map(|mark| mark.step).chain(self.last);
        if marked.into_iter().any(|step| step >= count) {
            return Err(RecordError::Torn("a step"));
        }
        Ok(Plan {
            flow: Arc::new(self.flow.back()?),
            steps,
            inputs: self.inputs.into_iter().map(input_back).collect::<Result<_, _>>()?,
            sets: self.sets,
            results,
            last: self.last,
        })
    }
}

/// Collects what several steps share.
#[derive(Default)]
struct Parts {
    texts: Vec<TextRecord>,
    roles: Vec<RoleRecord>,
    contracts: Vec<ContractRecord>,
    /// Places by where the shared part lies in memory.
    known_texts: HashMap<(*const u8, *const Outline), usize>,
    known_roles: HashMap<*const Persona, usize>,
    known_contracts: HashMap<*const Contract, usize>,
}

impl Parts {
    fn step(&mut self, step: &Step) -> StepRecord {
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
            Work::Call(call) => WorkRecord::Call(Box::new(CallRecord::of(call))),
            Work::Flow(linked) => WorkRecord::Flow(Box::new(LinkedRecord::of(linked))),
            Work::Gather(gather) => WorkRecord::Gather(Box::new(GatherRecord::of(gather))),
        };
        StepRecord {
            node: step.node,
            id: step.id.clone(),
            label: step.label.clone(),
            description: step.description.clone(),
            wave: step.wave,
            parents: step.parents.clone(),
            within: step.within,
            work,
        }
    }

    fn rendering(&mut self, rendering: &Rendering) -> RenderingRecord {
        RenderingRecord {
            template_name: rendering.template_name.clone(),
            template_file: rendering.template_file.clone(),
            text: self.text(rendering),
            slots: rendering.slots.iter().map(slot_record).collect(),
            sets: rendering.sets.iter().map(SetRecord::of).collect(),
            persona: rendering.persona.clone(),
            contract: rendering.contract.clone(),
            role: rendering.role.as_ref().map(|role| self.role(role)),
            terms: rendering.terms.as_ref().map(|contract| self.contract(contract)),
            optional: rendering.optional,
            max_attempts: rendering.max_attempts,
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
            texts.push(TextRecord { text: rendering.text.to_string(), placeholders: placeholders.collect() });
            texts.len() - 1
        })
    }

    fn role(&mut self, role: &Arc<Persona>) -> usize {
        let roles = &mut self.roles;
        *self.known_roles.entry(Arc::as_ptr(role)).or_insert_with(|| {
            roles.push(RoleRecord {
                name: role.name.clone(),
                file: role.file.to_string(),
                description: role.description.clone(),
                text: role.text.to_string(),
            });
            roles.len() - 1
        })
    }

    fn contract(&mut self, contract: &Arc<Contract>) -> usize {
        let contracts = &mut self.contracts;
        *self.known_contracts.entry(Arc::as_ptr(contract)).or_insert_with(|| {
            let name = contract.name().map(str::to_owned);
            contracts.push(ContractRecord { name, schema: contract.schema().clone() });
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
                WorkRecord::Call(call) => Work::Call(Box::new(call.back()?)),
                WorkRecord::Flow(linked) => Work::Flow(Box::new(linked.back()?)),
                WorkRecord::Gather(gather) => Work::Gather(Box::new(gather.back()?)),
            },
        })
    }

    fn rendering(&self, record: RenderingRecord) -> Result<Rendering, RecordError> {
        fn shared<T>(list: &[Arc<T>], place: Option<usize>, what: &'static str) -> Result<Option<Arc<T>>, RecordError> {
            place.map(|place| list.get(place).cloned().ok_or(RecordError::Torn(what))).transpose()
        }
        let (text, outline) = self.texts.get(record.text).cloned().ok_or(RecordError::Torn("a text"))?;
        Ok(Rendering {
            template_name: record.template_name,
            template_file: record.template_file,
            text,
            outline,
            slots: record.slots.into_iter().map(slot_back).collect::<Result<_, _>>()?,
            sets: record.sets.into_iter().map(SetRecord::back).collect(),
            persona: record.persona,
            contract: record.contract,
            role: shared(&self.roles, record.role, "a persona")?,
            terms: shared(&self.contracts, record.terms, "a contract")?,
            optional: record.optional,
            max_attempts: record.max_attempts,
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
        let outline = Outline::made_of(placeholders.collect());
        (Arc::from(self.text), Arc::new(outline))
    }
}

impl RoleRecord {
    fn back(self) -> Result<Arc<Persona>, RecordError> {
        let file = CatalogPath::new(&self.file)?;
        Ok(Arc::new(Persona { name: self.name, file, description: self.description, text: Arc::from(self.text) }))
    }
}

fn slot_record(slot: &Slot) -> SlotRecord {
    let source = match &slot.source {
        Source::Step { step, part, path, by, otherwise } => SourceRecord::Step {
            step: *step,
            template: *part == OutputPart::Template,
            path: path.clone(),
            by: by.map(|by| by_word(by).to_owned()),
            otherwise: otherwise.as_deref().map(otherwise_record),
        },
        Source::Open(open) => SourceRecord::Open {
            input: open.input.clone(),
            mapped: open.mapped,
            default: open.default.clone(),
            auto: open.auto,
            required: open.required,
            declared: open.declared,
            otherwise: open.otherwise.as_deref().map(otherwise_record),
        },
        Source::Passed(passed) => PassedRecord::of(passed),
    };
    SlotRecord { name: slot.name.clone(), source }
}

fn otherwise_record(own: &Open) -> Box<SlotRecord> {
    let source = Source::Open(own.clone());
    Box::new(slot_record(&Slot { name: own.input.clone(), source }))
}

fn otherwise_back(record: Option<Box<SlotRecord>>) -> Result<Option<Box<Open>>, RecordError> {
    match record.map(|record| slot_back(*record)).transpose()? {
        None => Ok(None),
        Some(Slot { source: Source::Open(open), .. }) => Ok(Some(Box::new(open))),
        Some(_) => Err(RecordError::Torn("what a mapping falls back on")),
    }
}

fn by_word(by: MappedBy) -> &'static str {
    match by {
        MappedBy::Mapping => "mapping",
        MappedBy::Handle => "handle",
    }
}

fn slot_back(record: SlotRecord) -> Result<Slot, RecordError> {
    let source = match record.source {
        SourceRecord::Step { step, template, path, by, otherwise } => Source::Step {
            otherwise: otherwise_back(otherwise)?,
            step,
            part: if template { OutputPart::Template } else { OutputPart::Result },
            path,
            by: match by.as_deref() {
                None => None,
                Some("mapping") => Some(MappedBy::Mapping),
                Some("handle") => Some(MappedBy::Handle),
                Some(other) => return Err(RecordError::UnknownWord(other.to_owned())),
            },
        },
        SourceRecord::Open { input, mapped, default, auto, required, declared, otherwise } => {
            let otherwise = otherwise_back(otherwise)?;
            Source::Open(Open { input, mapped, default, auto, required, declared, otherwise })
        }
        SourceRecord::Passed(passed) => passed.back()?,
    };
    Ok(Slot { name: record.name, source })
}

fn input_record(input: &Input) -> InputRecord {
    InputRecord {
        name: input.name.clone(),
        kind: input.kind.map(|kind| kind.name().to_owned()),
        description: input.description.clone(),
        required: input.required,
        default: input.default.clone(),
        choices: input.choices.clone(),
        held_to: input.held_to.map(|kind| kind.name().to_owned()),
        used_by: input.used_by.clone(),
        needed_by: input.needed_by.clone(),
    }
}

fn input_back(record: InputRecord) -> Result<Input, RecordError> {
    Ok(Input {
        name: record.name,
        kind: kind_back(record.kind)?,
        description: record.description,
        required: record.required,
        default: record.default,
        choices: record.choices,
        held_to: kind_back(record.held_to)?,
        used_by: record.used_by,
        needed_by: record.needed_by,
    })
}

fn kind_back(word: Option<String>) -> Result<Option<ValueType>, RecordError> {
    word.map(|word| ValueType::named(&word).ok_or(RecordError::UnknownWord(word))).transpose()
}
