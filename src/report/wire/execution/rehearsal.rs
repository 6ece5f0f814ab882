//! What would run, with `dryRun`: texts, order, what is missing, and how long the texts are.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::advice::made_for_guided;
use super::steps::{MappedVariable, OmittedStep, StepHead, failures, skipped};
use crate::app::{Priced, Rehearsal};
use crate::plan::Work;
use crate::report::wire::asked::{ModelAsked, ModelsAsked};
use crate::report::wire::common::{FailedStep, ReadAt, Results, SkippedStep, WarningAnswer, written};
use crate::report::wire::limit::{Limit, MAX_TOKENS};
use crate::report::wire::size::{
    Cut, CutPart, CutParts, CutPiece, CutWords, Cuttable, StepCut, StepPieces, fit, shorten,
};
use crate::report::wire::warning::of_execution;
use crate::run::Run;
use crate::tokens;

/// What would happen.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RehearsedAnswer {
    /// Name of the flow.
    flow_name: String,
    /// True: nothing was executed.
    #[schemars(extend("const" = true))]
    dry_run: bool,
    /// Whether it could begin.
    #[schemars(extend("enum" = ["ready", "would_fail", "missing_variables"]))]
    status: &'static str,
    /// The call that comes next.
    #[schemars(required)]
    next_step: Option<String>,
    /// Required values that nobody gave.
    missing: Vec<MissingValue>,
    #[serde(flatten)]
    results: Results,
    /// The steps that would run, in order.
    intermediate_results: Vec<RehearsedStep>,
    /// Steps that would not run because one before them fails.
    skipped: Vec<SkippedStep>,
    /// Steps that would fail.
    failures: Vec<FailedStep>,
    #[serde(flatten)]
    read_at: ReadAt,
    /// Variables that would take a step's output by an edge or by auto-mapping.
    mappings: Vec<MappedVariable>,
    /// Steps that would be left out on purpose.
    omitted: Vec<OmittedStep>,
    /// What models would take together; absent where none would answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    most_usage: Option<ModelsAsked>,
    /// What the caller should know.
    warnings: Vec<WarningAnswer>,
    #[serde(flatten)]
    cut: Cut,
}

/// A required value that nobody gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MissingValue {
    /// The variable.
    name: String,
    /// Labels of the steps that read it.
    needed_by: Vec<String>,
}

/// A step that would run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RehearsedStep {
    #[serde(flatten)]
    head: StepHead,
    /// Steps of one wave run side by side; from 0.
    wave: usize,
    /// The names that the step reads and what they would be filled with.
    input_variables: Map<String, Value>,
    #[serde(flatten)]
    does: RehearsedWork,
    #[serde(flatten)]
    cut: StepCut,
}

/// What a step would do.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", untagged)]
enum RehearsedWork {
    Text {
        /// The rendered text.
        output: Value,
        /// Estimated size of the text, in tokens.
        estimated_tokens: usize,
        /// The model that would answer it; the output is what it would be asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<ModelAsked>,
    },
    Call {
        /// The tool that would be called, as alias:tool.
        call: String,
        /// The arguments that it would get; what an earlier step gives is not known yet.
        args: Option<Map<String, Value>>,
    },
}

impl RehearsedStep {
    /// Each step that would run, without the times of a real execution.
    fn all(run: &Run, priced: &BTreeMap<usize, Priced>) -> Vec<Self> {
        let shown = run.plan().steps().iter().enumerate().filter_map(|(number, step)| {
            let output = run.output_of(number)?;
            let does = match &step.work {
                Work::Gather(_) => return None,
                // Nothing is called, so there is no output: what would be sent is shown instead.
                Work::Call(call) => {
                    RehearsedWork::Call { call: call.address.to_string(), args: run.arguments(number, call).ok() }
                }
                Work::Render(_) | Work::Flow(_) | Work::Faulty { .. } => {
                    let model = priced.get(&number).map(ModelAsked::from);
                    RehearsedWork::Text {
                        output: written(output),
                        estimated_tokens: tokens::estimate(&output.text),
                        model,
                    }
                }
            };
            Some(Self {
                head: StepHead::of(step).answered(priced.contains_key(&number)),
                wave: step.wave,
                input_variables: run.seen(number),
                does,
                cut: StepCut::default(),
            })
        });
        shown.collect()
    }

    fn pieces(&mut self) -> StepPieces<'_> {
        let seen = CutPiece::new("inputVariables", CutPart::Seen, CutWords::Values(&mut self.input_variables));
        let put_out = match &mut self.does {
            RehearsedWork::Text { output, .. } => {
                Some(CutPiece::new("output", CutPart::PutOut, CutWords::Value(output)))
            }
            RehearsedWork::Call { .. } => None,
        };
        StepPieces { pieces: std::iter::once(seen).chain(put_out).collect(), cut: &mut self.cut }
    }
}

/// How many placeholders would stay, because no model gives the fields they ask for.
pub fn unfilled(rehearsal: &Rehearsal) -> usize {
    // What a model would answer is not known.
    if rehearsal.priced.is_empty() { rehearsal.executed.unfilled().count() } else { 0 }
}

/// What would run, cut to `max_tokens` (20,000 unless that is said).
pub fn rehearsal(rehearsal: &Rehearsal, max_tokens: Option<usize>) -> RehearsedAnswer {
    let run = &rehearsal.executed.run;
    let missing = rehearsal.missing.iter();
    let (status, next_step) = match (rehearsal.missing.is_empty(), run.failures().next()) {
        (false, _) => (
            "missing_variables",
            "ask your user for the values in `missing`, then call flows_execute with them in initialVariables",
        ),
        (true, Some(_)) => {
            ("would_fail", "fix what `failures` names, or call flows_execute without dryRun for the other steps")
        }
        (true, None) => ("ready", "nothing was executed: call flows_execute without dryRun"),
    };
    let next_step = match (status, unfilled(rehearsal)) {
        ("ready", placeholders @ 1..) => {
            format!("nothing was executed: {}", made_for_guided(&rehearsal.flow, placeholders))
        }
        _ => next_step.to_owned(),
    };
    let whole = RehearsedAnswer {
        flow_name: rehearsal.flow.clone(),
        dry_run: true,
        next_step: Some(next_step),
        status,
        missing: missing.map(|(name, steps)| MissingValue { name: name.clone(), needed_by: steps.clone() }).collect(),
        results: Results::of(run),
        intermediate_results: RehearsedStep::all(run, &rehearsal.priced),
        skipped: skipped(run),
        failures: failures(run),
        read_at: (&rehearsal.origin).into(),
        mappings: MappedVariable::all(run),
        omitted: OmittedStep::all(run),
        most_usage: ModelsAsked::of(rehearsal.priced.values()),
        warnings: of_execution(&rehearsal.executed.warnings, &rehearsal.findings, &rehearsal.origin),
        cut: Cut::default(),
    };
    let limit = Limit::tokens(max_tokens.unwrap_or(MAX_TOKENS));
    fit(whole, &limit, "texts were cut to fit; a larger maxTokens shows more of them")
}

impl RehearsedAnswer {
    /// The same of a flow that no catalog holds yet.
    pub fn of_draft(self) -> Self {
        let next_step = "nothing was executed: texts stand as far as they can be filled without values and answers";
        Self { next_step: Some(next_step.to_owned()), ..self }
    }
}

impl Cuttable for RehearsedAnswer {
    fn parts(&mut self) -> CutParts<'_> {
        let failures = self.failures.iter_mut().map(|failed| &mut failed.error.fault.message);
        let warnings = self.warnings.iter_mut().map(|warning| &mut warning.message);
        CutParts {
            cut: &mut self.cut,
            next_step: &mut self.next_step,
            steps: self.intermediate_results.iter_mut().map(RehearsedStep::pieces).collect(),
            messages: failures.chain(warnings).collect(),
            finals: self.results.words(),
        }
    }

    fn shorten_lists(&mut self, limit: &Limit) -> bool {
        shorten(self, "intermediateResults", |answer| Some(&mut answer.intermediate_results), limit)
            || shorten(self, "skipped", |answer| Some(&mut answer.skipped), limit)
            || shorten(self, "mappings", |answer| Some(&mut answer.mappings), limit)
            || shorten(self, "warnings", |answer| Some(&mut answer.warnings), limit)
            || shorten(self, "missing", |answer| Some(&mut answer.missing), limit)
            || shorten(self, "failures", |answer| Some(&mut answer.failures), limit)
    }
}
