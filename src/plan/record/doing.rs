//! The stored form of calls, of flows within the flow, and of what these are handed.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    InputRecord, PlanRecord, RecordError, SlotRecord, SourceRecord, input_back, input_record, kind_back, slot_back,
    slot_record,
};
use crate::model::{Syntax, ToolAddress};
use crate::plan::{Call, Door, Gather, Linked, Passage, Passed, Passing, Slot, Source};
use crate::render::{Outline, Stencil};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CallRecord {
    server: String,
    tool: String,
    /// As the node has them: they are taken apart again on the way back.
    arguments: Map<String, Value>,
    slots: Vec<SlotRecord>,
    slot_of: Vec<usize>,
    requires: Vec<(usize, Vec<String>)>,
    goes_on: bool,
    retries: u32,
    backoff_ms: u64,
    timeout_ms: Option<u64>,
    delay_ms: u64,
    set: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LinkedRecord {
    plan: PlanRecord,
    handed: ValuesRecord,
    slots: Vec<SlotRecord>,
}

/// What is handed to a flow within the flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ValuesRecord {
    /// As the node has them: they are taken apart again on the way back.
    values: Map<String, Value>,
    slot_of: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct DoorRecord {
    handed: ValuesRecord,
    inputs: Vec<InputRecord>,
    sets: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct GatherRecord {
    flow: String,
    last: usize,
    results: Vec<(String, usize)>,
    slots: Vec<SlotRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    door: Option<Box<DoorRecord>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PassageRecord {
    text: String,
    slot_of: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PassedRecord {
    flow: String,
    input: String,
    value: PassingRecord,
    held_to: Option<String>,
    choices: Vec<Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PassingRecord {
    Text { passage: PassageRecord, slots: Vec<SlotRecord> },
    Default { value: Value },
    Auto { step: usize },
    Nothing { declared: bool, required: bool },
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn slots_of(slots: &[Slot]) -> Vec<SlotRecord> {
    slots.iter().map(slot_record).collect()
}

fn slots_back(slots: Vec<SlotRecord>) -> Result<Vec<Slot>, RecordError> {
    slots.into_iter().map(slot_back).collect()
}

impl CallRecord {
    pub(super) fn of(call: &Call) -> Self {
        Self {
            server: call.address.server.clone(),
            tool: call.address.tool.clone(),
            arguments: call.arguments.written().clone(),
            slots: slots_of(&call.slots),
            slot_of: call.slot_of.clone(),
            requires: call.requires.clone(),
            goes_on: call.goes_on,
            retries: call.retries,
            backoff_ms: millis(call.backoff),
            timeout_ms: call.timeout.map(millis),
            delay_ms: millis(call.delay),
            set: call.set.clone(),
        }
    }

    pub(super) fn back(self) -> Result<Call, RecordError> {
        let arguments = Stencil::of(&self.arguments);
        let slots = slots_back(self.slots)?;
        let known = |slot: &usize| *slot < slots.len();
        if arguments.holes().len() != self.slot_of.len()
            || !self.slot_of.iter().chain(self.requires.iter().map(|(slot, _)| slot)).all(known)
        {
            return Err(RecordError::Torn("a value of a call"));
        }
        Ok(Call {
            address: ToolAddress { server: self.server, tool: self.tool },
            arguments: Arc::new(arguments),
            slots,
            slot_of: self.slot_of,
            requires: self.requires,
            goes_on: self.goes_on,
            retries: self.retries,
            backoff: Duration::from_millis(self.backoff_ms),
            timeout: self.timeout_ms.map(Duration::from_millis),
            delay: Duration::from_millis(self.delay_ms),
            set: self.set,
        })
    }
}

impl LinkedRecord {
    pub(super) fn of(linked: &Linked) -> Self {
        Self {
            plan: PlanRecord::of(&linked.plan),
            handed: ValuesRecord::of(&linked.values, &linked.slot_of),
            slots: slots_of(&linked.slots),
        }
    }

    pub(super) fn back(self) -> Result<Linked, RecordError> {
        let slots = slots_back(self.slots)?;
        let (values, slot_of) = self.handed.back(slots.len())?;
        Ok(Linked { plan: Arc::new(self.plan.plan()?), values, slot_of, slots })
    }
}

impl ValuesRecord {
    fn of(values: &Stencil, slot_of: &[usize]) -> Self {
        Self { values: values.written().clone(), slot_of: slot_of.to_vec() }
    }

    fn back(self, slots: usize) -> Result<(Arc<Stencil>, Vec<usize>), RecordError> {
        let values = Stencil::spelt(&self.values, Syntax::Single);
        if values.holes().len() != self.slot_of.len() || self.slot_of.iter().any(|slot| *slot >= slots) {
            return Err(RecordError::Torn("a value for a flow"));
        }
        Ok((Arc::new(values), self.slot_of))
    }
}

impl DoorRecord {
    fn of(door: &Door) -> Self {
        Self {
            handed: ValuesRecord::of(&door.values, &door.slot_of),
            inputs: door.inputs.iter().map(input_record).collect(),
            sets: door.sets.clone(),
        }
    }

    fn back(self, slots: usize) -> Result<Door, RecordError> {
        let (values, slot_of) = self.handed.back(slots)?;
        let inputs = self.inputs.into_iter().map(input_back).collect::<Result<_, _>>()?;
        Ok(Door { values, slot_of, inputs, sets: self.sets })
    }
}

impl GatherRecord {
    pub(super) fn of(gather: &Gather) -> Self {
        Self {
            flow: gather.flow.clone(),
            last: gather.last,
            results: gather.results.clone(),
            slots: slots_of(&gather.slots),
            door: gather.door.as_deref().map(|door| Box::new(DoorRecord::of(door))),
        }
    }

    pub(super) fn back(self) -> Result<Gather, RecordError> {
        let slots = slots_back(self.slots)?;
        let door = self.door.map(|door| door.back(slots.len()).map(Box::new)).transpose()?;
        Ok(Gather { flow: self.flow, last: self.last, results: self.results, slots, door })
    }
}

impl PassageRecord {
    fn of(passage: &Passage) -> Self {
        Self { text: passage.text.to_string(), slot_of: passage.slot_of.clone() }
    }

    fn back(self) -> Passage {
        let outline = Arc::new(Outline::of(&self.text, Syntax::Single));
        Passage { text: Arc::from(self.text), outline, slot_of: self.slot_of }
    }
}

impl PassedRecord {
    pub(super) fn of(passed: &Passed) -> SourceRecord {
        let value = match &passed.value {
            Passing::Text { passage, slots } => {
                PassingRecord::Text { passage: PassageRecord::of(passage), slots: slots_of(slots) }
            }
            Passing::Default(value) => PassingRecord::Default { value: value.clone() },
            Passing::Auto(step) => PassingRecord::Auto { step: *step },
            Passing::Nothing { declared, required } => {
                PassingRecord::Nothing { declared: *declared, required: *required }
            }
        };
        SourceRecord::Passed(Box::new(Self {
            flow: passed.flow.clone(),
            input: passed.input.clone(),
            value,
            held_to: passed.held_to.map(|kind| kind.name().to_owned()),
            choices: passed.choices.clone(),
        }))
    }

    pub(super) fn back(self) -> Result<Source, RecordError> {
        let value = match self.value {
            PassingRecord::Text { passage, slots } => {
                Passing::Text { passage: passage.back(), slots: slots_back(slots)? }
            }
            PassingRecord::Default { value } => Passing::Default(value),
            PassingRecord::Auto { step } => Passing::Auto(step),
            PassingRecord::Nothing { declared, required } => Passing::Nothing { declared, required },
        };
        Ok(Source::Passed(Arc::new(Passed {
            flow: self.flow,
            input: self.input,
            value,
            held_to: kind_back(self.held_to)?,
            choices: self.choices,
        })))
    }
}
