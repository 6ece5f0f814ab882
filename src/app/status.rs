//! Asking for an execution again, direct or guided: where it stands, and long texts page by page.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::app::guide::unkept;
use crate::app::memory::{Finished, Kept};
use crate::app::{App, Code, Error, Outcome};
use crate::guide::Story;
use crate::model::text_or_json;
use crate::names::{did_you_mean, folded, nearest, quoted, words};
use crate::next_step::Word;
use crate::plan::Plan;
use crate::run::{Escalation, ExecutionId, GuidedState, Run};
use crate::store::{Filter, Summary};

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct StatusRequest {
    /// The execution; none for a list of all.
    pub execution: Option<String>,
    /// One step, whose full text is wanted; `result` is the final result, and a result's label is
    /// what feeds it.
    pub node: Option<String>,
    /// Only executions of this flow.
    pub flow: Option<String>,
    /// Only executions in these states.
    pub states: Vec<GuidedState>,
    /// What to add.
    pub include: Vec<Section>,
    /// Entries of a list, or characters of a text.
    pub limit: Option<i64>,
    /// Where to go on.
    pub cursor: Option<String>,
}

words! {
    /// What a status may add.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Section {
        /// Each step's state and output.
        Steps = "steps",
        /// What steps handed in besides: files, documents, data.
        Artifacts = "artifacts",
        /// What steps noticed, critical first.
        Findings = "findings",
        /// The texts that steps were handed.
        Prompts = "prompts",
        /// Everything that happened, in order.
        Events = "events",
    }
}

/// The answer.
#[derive(Debug, Clone)]
pub enum StatusAnswer {
    /// One execution.
    One {
        /// How it stands.
        outcome: Outcome,
        /// What to add.
        include: Vec<Section>,
    },
    /// One guided execution.
    Guided {
        /// Its log, and what that says.
        story: Box<Story>,
        /// What to add.
        include: Vec<Section>,
    },
    /// A page of one step's text.
    Text(TextPage),
    /// Executions, the newest first.
    List {
        /// How each stands.
        executions: Vec<ExecutionEntry>,
        /// How many there are in all.
        total: usize,
        /// Where the next page begins.
        next_cursor: Option<String>,
        /// What persons are asked in executions that wait for them, by the execution's id; of the first few.
        asked: BTreeMap<String, Escalation>,
        /// Why the guided ones are not among them, where they can't be read.
        trouble: Option<Box<Error>>,
        /// Flows that were probably meant, where none is of the one that is asked for.
        meant: Vec<String>,
    },
}

/// One execution of a list.
#[derive(Debug, Clone)]
pub enum ExecutionEntry {
    /// The server did its steps.
    Direct {
        /// How it stands.
        outcome: Outcome,
        /// When it began.
        begun: DateTime<Utc>,
    },
    /// The client's model does them.
    Guided(Summary),
}

impl ExecutionEntry {
    fn place(&self) -> (i64, &str) {
        match self {
            Self::Direct { outcome, begun } => (begun.timestamp_micros(), outcome.id()),
            Self::Guided(summary) => (summary.begun_at.timestamp_micros(), &summary.id),
        }
    }

    /// The position in a list, as a cursor.
    fn cursor(&self) -> String {
        let (micros, id) = self.place();
        format!("{micros}_{id}")
    }
}

impl StatusAnswer {
    /// How many entries or characters this page holds; 1 where the answer has no pages.
    pub fn returned(&self) -> usize {
        match self {
            Self::One { .. } | Self::Guided { .. } => 1,
            Self::Text(page) => page.text.chars().count(),
            Self::List { executions, .. } => executions.len(),
        }
    }
}

/// A page of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPage {
    /// The execution.
    pub execution: String,
    /// The step.
    pub node: String,
    /// This page's text.
    pub text: String,
    /// Whether it is what the open step was handed, and no output.
    pub is_prompt: bool,
    /// The first character on this page, from 0.
    pub offset: usize,
    /// All characters.
    pub total: usize,
    /// Where the next page begins.
    pub next_cursor: Option<String>,
}

/// What the final result is asked for by, whichever step gives it.
const RESULT: &str = "result";
/// Entries of a list page, unless another number is asked for.
const LIST_LIMIT: usize = 20;
/// Characters of a text page, unless another number is asked for.
const TEXT_LIMIT: usize = 20_000;
/// The most entries of a list page: no more are kept.
const MOST_ENTRIES: i64 = 100;
/// The most characters of a text page.
pub const MOST_CHARACTERS: i64 = 100_000;

/// The fewest characters of an id's end that name an execution: as many as its random part has.
const SHORTEST_END: usize = 6;
/// Of so many executions that wait for a person a list shows what is asked.
const MOST_ASKED: usize = 5;
/// The most executions that are named where several end alike.
const MOST_NAMED: usize = 10;

impl App {
    /// The id of the execution that is named by the whole id or by a unique end of it, of six characters or
    /// more; what is nobody's end is told as it is given.
    ///
    /// # Errors
    /// When several end like this, or executions can't be read.
    pub(super) async fn execution_named(&self, given: &str) -> Result<String, Error> {
        let end = given.trim().trim_start_matches(['…', '.']);
        if is_whole(given) || end.chars().count() < SHORTEST_END {
            return Ok(given.to_owned());
        }
        let direct = self.memory.all().into_iter().map(|kept| kept.id).filter(|id| id.ends_with(end));
        let filter = Filter { ending: Some(end.to_owned()), ..Filter::default() };
        let page = self.guide.store().page(filter, MOST_NAMED).await.map_err(|error| unkept(&error))?;
        let found: Vec<String> = direct.chain(page.executions.into_iter().map(|summary| summary.id)).collect();
        match found.as_slice() {
            [] => Ok(given.to_owned()),
            [id] => Ok(id.clone()),
            _ if found.iter().any(|id| id == given) => Ok(given.to_owned()),
            several => Err(Error::new(Code::AmbiguousName, format!("several executions end in {}", quoted(end)))
                .next(format!("give the whole id: {}", several.join(" or ")))
                .detail("candidates", several.iter().map(|id| Value::String(id.clone())).collect())),
        }
    }

    /// Where executions stand. Who asks for one goes on with it: of a guided one whose process ended
    /// while it called a tool, the call is made again or a person is asked; else nothing changes.
    ///
    /// # Errors
    /// An unknown execution or step, a request that can't be understood, or a store that fails.
    pub async fn status(&self, request: &StatusRequest) -> Result<StatusAnswer, Error> {
        let (most, of) = match &request.execution {
            Some(_) => (MOST_CHARACTERS, "characters of a text"),
            None => (MOST_ENTRIES, "executions"),
        };
        let limit = match request.limit {
            None => None,
            Some(limit) if (1..=most).contains(&limit) => usize::try_from(limit).ok(),
            Some(limit) => {
                let message = format!("limit {limit} is not allowed: it is a number of {of} from 1 to {most}");
                return Err(Error::invalid(message)
                    .next(Word::Either(
                        "give another `limit`, and go on with nextCursor",
                        "give another --limit, and go on with --cursor",
                    ))
                    .detail("argument", "limit".into()));
            }
        };
        let Some(named) = &request.execution else { return self.executions(request, limit).await };
        let id = &self.execution_named(named).await?;
        let (node, cursor) = (request.node.as_deref(), request.cursor.as_deref());
        if let Some(kept) = self.memory.get(id) {
            return match node {
                None => Ok(StatusAnswer::One { outcome: kept.outcome(), include: request.include.clone() }),
                Some(node) => text_of(&kept, node, cursor, limit).map(StatusAnswer::Text),
            };
        }
        let attended = self.guide.attended(&ExecutionId::named(id)).await;
        let story = attended.map_err(|error| self.told(id, &error))?;
        match node {
            None => Ok(StatusAnswer::Guided { story: Box::new(story), include: request.include.clone() }),
            Some(node) => guided_text(&story, node, cursor, limit).map(StatusAnswer::Text),
        }
    }

    /// Both kinds in one list. The cursor is the place after which to go on: new executions come in
    /// front and move nothing.
    async fn executions(&self, request: &StatusRequest, limit: Option<usize>) -> Result<StatusAnswer, Error> {
        let after = request.cursor.as_deref().map(place).transpose()?;
        let limit = limit.unwrap_or(LIST_LIMIT);
        let (flow, meant) = match &request.flow {
            Some(flow) => self.flow_of_executions(flow).await,
            None => (None, Vec::new()),
        };
        let wanted = |kept: &Kept| {
            flow.as_ref().is_none_or(|flow| kept.flow == *flow)
                && (request.states.is_empty()
                    || request.states.iter().any(|state| state.word() == state_of(&kept.outcome())))
        };
        let direct: Vec<Kept> = self.memory.all().into_iter().filter(wanted).collect();
        let mut total = direct.len();
        let mut listed: Vec<ExecutionEntry> = direct
            .into_iter()
            .map(|kept| ExecutionEntry::Direct { outcome: kept.outcome(), begun: kept.begun })
            .collect();
        if let Some((micros, id)) = &after {
            listed.retain(|one| one.place() < (*micros, id.as_str()));
        }
        let filter = Filter {
            flow,
            states: request.states.clone(),
            after: after.and_then(|(micros, id)| Some((DateTime::from_timestamp_micros(micros)?, id))),
            ..Filter::default()
        };
        let trouble = match self.guide.store().page(filter, limit + 1).await {
            Ok(page) => {
                total += page.total;
                listed.extend(page.executions.into_iter().map(ExecutionEntry::Guided));
                None
            }
            Err(error) => Some(Box::new(unkept(&error))),
        };
        listed.sort_by(|one, other| other.place().cmp(&one.place()));
        let more = listed.len() > limit;
        listed.truncate(limit);
        let next_cursor = listed.last().filter(|_| more).map(ExecutionEntry::cursor);
        let mut asked = BTreeMap::new();
        let waiting = listed.iter().filter_map(|one| match one {
            ExecutionEntry::Guided(summary) if summary.state == GuidedState::AwaitingHuman => Some(&summary.id),
            ExecutionEntry::Direct { .. } | ExecutionEntry::Guided(_) => None,
        });
        for id in waiting.take(MOST_ASKED) {
            // One whose log can't be read says so when it is asked for.
            if let Ok(Story { guided, .. }) = self.guide.story(&ExecutionId::named(id)).await
                && let Some(open) = guided.escalations().iter().find(|asked| guided.asked() == Some(&asked.id))
            {
                asked.insert(id.clone(), open.clone());
            }
        }
        Ok(StatusAnswer::List { executions: listed, total, next_cursor, asked, trouble, meant })
    }

    /// The name under which executions of a flow are listed, as loosely as flows are asked for; and those that were
    /// probably meant, where there is none.
    async fn flow_of_executions(&self, asked: &str) -> (Option<String>, Vec<String>) {
        let tallies = self.guide.store().tallies(DateTime::UNIX_EPOCH).await;
        // That they can't be read is told by the list.
        let stored = tallies.unwrap_or_default().into_iter().map(|tally| tally.flow);
        let known: BTreeSet<String> = self.memory.all().into_iter().map(|kept| kept.flow).chain(stored).collect();
        let mut alike = known.iter().filter(|name| folded(name) == folded(asked));
        let name = match (alike.next(), alike.next()) {
            (Some(name), None) if !known.contains(asked) => name,
            _ => asked,
        };
        let meant = if known.contains(name) { Vec::new() } else { nearest(asked, known.iter().map(String::as_str), 3) };
        (Some(name.to_owned()), meant.into_iter().map(str::to_owned).collect())
    }
}

/// Whether an id is whole by its form: the flow's name, the time, and a random end.
fn is_whole(id: &str) -> bool {
    let mut parts = id.rsplitn(3, '_');
    let random =
        parts.next().is_some_and(|end| end.len() >= SHORTEST_END && end.chars().all(|c| c.is_ascii_hexdigit()));
    let time = parts.next().is_some_and(|time| time.len() >= 10 && time.chars().all(|c| c.is_ascii_digit()));
    random && time && parts.next().is_some()
}

fn place(cursor: &str) -> Result<(i64, String), Error> {
    let split = cursor.split_once('_').and_then(|(micros, id)| Some((micros.parse().ok()?, id.to_owned())));
    split.ok_or_else(|| Error::of_cursor("the cursor does not go on with this list"))
}

/// The state of an execution, in the words that direct and guided ones share.
pub fn state_of(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Running(pending) => pending.state(),
        Outcome::Finished { finished: Finished::Broke(_), .. } => "failed",
        // Somebody ended it: nothing went wrong.
        Outcome::Finished { finished: Finished::Ran(recorded), .. } if was_cancelled(&recorded.executed.run) => {
            "cancelled"
        }
        Outcome::Finished { finished: Finished::Ran(recorded), .. } => match recorded.executed.run.status() {
            crate::run::Status::Failed => "failed",
            crate::run::Status::Partial => "partial",
            crate::run::Status::Running | crate::run::Status::Success => "completed",
        },
    }
}

/// Whether a run was ended before all its steps were.
fn was_cancelled(run: &Run) -> bool {
    run.failures().any(|(_, error)| error.code == Code::Cancelled)
}

/// The most steps that an error names.
const NAMED: usize = 30;

/// There is no such step; this execution's steps are what helps.
fn no_step(plan: &Plan, node: &str) -> Error {
    let ids = || plan.steps().iter().map(|step| step.id.as_str());
    let steps: Vec<&str> = ids().take(NAMED).collect();
    let listed = if plan.steps().len() > NAMED { "the first of its steps are" } else { "its steps are" };
    let meant = did_you_mean(nearest(node, ids(), 3)).map(|asked| format!("{asked} ")).unwrap_or_default();
    Error::invalid(format!("the execution has no step {}", quoted(node)))
        .next(format!("{meant}{listed} {}; \"{RESULT}\" is the final result", steps.join(", ")))
        .detail("steps", steps.iter().map(|id| Value::String((*id).to_owned())).collect())
}

fn text_of(kept: &Kept, node: &str, cursor: Option<&str>, limit: Option<usize>) -> Result<TextPage, Error> {
    let finished = kept.finished.borrow().clone();
    let Some(Finished::Ran(recorded)) = finished else {
        return Err(Error::new(Code::ExecutionNotFound, format!("execution {} has no texts yet", quoted(&kept.id)))
            .next("ask for its status without nodeId"));
    };
    let run = &recorded.executed.run;
    let Some(step) = step_named(run, node) else { return Err(no_step(run.plan(), node)) };
    let node = run.plan().step(step).map_or(node, |step| step.id.as_str());
    match run.output_of(step) {
        Some(output) => page(&kept.id, node, &output.text, cursor, limit),
        None => Err(Error::invalid(format!("step {} has no output: it failed or was skipped", quoted(node)))
            .next("ask for the execution's status without nodeId: it says why")),
    }
}

/// A step's output; of the open step, what it was handed; of `step/artifacts/0`, that artifact.
fn guided_text(story: &Story, node: &str, cursor: Option<&str>, limit: Option<usize>) -> Result<TextPage, Error> {
    let guided = &story.guided;
    let (run, id) = (guided.run(), guided.beginning().id.as_str());
    let Some(step) = step_named(run, node) else {
        return match artifact(story, node) {
            Some(text) => page(id, node, &text, cursor, limit),
            None => Err(no_step(run.plan(), node)),
        };
    };
    let name = run.plan().step(step).map_or(node, |step| step.id.as_str());
    if let Some(output) = run.output_of(step) {
        return page(id, name, &output.text, cursor, limit);
    }
    if name != node {
        return Err(Error::invalid(format!("there is no result yet: step {} gives it", quoted(name)))
            .next("ask for the execution's status without nodeId: it says how it stands"));
    }
    let open = guided.handed().filter(|handed| handed.step == step);
    let bound = open.and_then(|_| run.bind(step, guided.rendering(step)?).ok());
    match bound {
        Some(bound) => Ok(TextPage { is_prompt: true, ..page(id, name, &bound.text, cursor, limit)? }),
        None => Err(Error::invalid(format!(
            "step {} has no text: it was not reached, failed or was left out",
            quoted(name)
        ))
        .next("ask for the execution's status with include [\"steps\"]: it says how each step stands")),
    }
}

fn artifact(story: &Story, node: &str) -> Option<String> {
    let (rest, number) = node.rsplit_once('/')?;
    let step = step_named(story.guided.run(), rest.strip_suffix("/artifacts")?)?;
    let artifact = story.guided.closing(step)?.output.get("artifacts")?.get(number.parse::<usize>().ok()?)?;
    artifact.get("content").map(|content| text_or_json(content).into_owned())
}

/// A step of that id comes first; else it may mean what gives the final result, or one of several.
pub(super) fn step_named(run: &Run, node: &str) -> Option<usize> {
    let plan = run.plan();
    let named = plan.steps().iter().position(|step| step.id == node);
    let last = || plan.last().filter(|_| node == RESULT);
    let labelled = || plan.results().iter().find(|mark| mark.label == node).and_then(|mark| mark.step);
    named.or_else(last).or_else(labelled)
}

fn page(id: &str, node: &str, whole: &str, cursor: Option<&str>, limit: Option<usize>) -> Result<TextPage, Error> {
    let total = whole.chars().count();
    let offset = match cursor {
        None => 0,
        Some(cursor) => cursor
            .parse::<usize>()
            .ok()
            .filter(|offset| *offset < total)
            .ok_or_else(|| Error::of_cursor("the cursor does not go on with this text"))?,
    };
    let length = limit.unwrap_or(TEXT_LIMIT);
    let text: String = whole.chars().skip(offset).take(length).collect();
    let end = offset + text.chars().count();
    Ok(TextPage {
        execution: id.to_owned(),
        node: node.to_owned(),
        text,
        is_prompt: false,
        offset,
        total,
        next_cursor: (end < total).then(|| end.to_string()),
    })
}
