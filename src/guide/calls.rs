//! What each call comes to, given the log: pure decisions, made again when the log has grown.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::handing::{breaches, bytes, fresh_ticket, hand_out, taken_in, unmet};
use super::models::Server;
use super::{Closure, Decision, Deed, GuideError, Question, Story, Turn};
use crate::clock::Clock;
use crate::code::Code;
use crate::model::Generated;
use crate::names::shown;
use crate::run::{
    Entry, Escalation, EscalationId, Fate, Guided, Handed, Moment, Outcome, Output, StepError, StoredEnd, Ticket,
    ToolAtWork, gives_reason, read_output, says_nothing,
};

/// The most questions to a person at once.
const MOST_QUESTIONS: usize = 20;
/// The most that is kept of a reason, a question or answers, in bytes.
const LARGEST_NOTE: usize = 100_000;
/// How much of a call's arguments a question shows, in characters.
const LONGEST_SHOWN: usize = 1_000;

/// Whether a tool is at work from then on.
fn starts(moment: &Moment) -> bool {
    matches!(moment, Moment::ToolStarted { .. })
}

impl Story {
    /// The execution after its first `entries` entries.
    pub(super) fn as_of(&self, entries: usize) -> Result<Guided, GuideError> {
        if entries >= self.entries.len() {
            return Ok(self.guided.clone());
        }
        let beginning = self.entries.iter().take(entries);
        Guided::replay(beginning).map_err(|misfit| GuideError::Torn { id: self.guided.beginning().id.clone(), misfit })
    }

    /// How many entries there were when the call had ended that wrote this one (from 1): after a
    /// step was closed, the next is handed out in the same breath.
    pub(super) fn end_of_call(&self, entry: usize) -> usize {
        let mut calls = self.entries.get(entry.saturating_sub(1)).is_some_and(|entry| starts(&entry.moment));
        let mut end = entry;
        for Entry { moment, .. } in self.entries.iter().skip(entry) {
            match moment {
                Moment::Broke { .. }
                | Moment::Opened { .. }
                | Moment::LeftOut { .. }
                | Moment::ToolStarted { .. }
                | Moment::ToolEnded { .. }
                | Moment::ToolAsked { .. } => {}
                Moment::Waits { .. } => {
                    end += 1;
                    continue;
                }
                // Who waited for a tool is told that nobody does any more.
                Moment::Cancelled { .. } if calls => return end + 1,
                Moment::Begun(_)
                | Moment::Closed { .. }
                | Moment::Breached { .. }
                | Moment::Escalated { .. }
                | Moment::Answered { .. }
                | Moment::ToolDecided { .. }
                | Moment::Taken { .. }
                | Moment::StepStarted { .. }
                | Moment::StepEnded { .. }
                | Moment::Interrupted { .. }
                | Moment::Cancelled { .. } => return end,
            }
            calls = starts(moment);
            end += 1;
        }
        end
    }

    fn step_id(&self, step: usize) -> String {
        self.guided.run().plan().step(step).map(|step| step.id.clone()).unwrap_or_default()
    }

    fn before(&self, entry: usize, done: Deed) -> Result<Decision, GuideError> {
        Ok(Decision::Before(Box::new(Turn::of(self.as_of(entry)?, done))))
    }

    /// The open step, where that is its ticket.
    fn open(&self, ticket: &Ticket) -> Result<&Handed, GuideError> {
        match self.guided.fate(ticket) {
            None => Err(GuideError::UnknownTicket { state: self.guided.state() }),
            Some(Fate::Void { .. }) => Err(GuideError::Cancelled),
            Some(Fate::Replaced { step }) => Err(GuideError::Replaced { step: self.step_id(step) }),
            Some(Fate::Closed { step, .. }) => {
                Err(GuideError::AlreadyCompleted { step: self.step_id(step), state: self.guided.state() })
            }
            Some(Fate::Open) => {
                let handed = self.guided.handed().filter(|handed| handed.ticket == *ticket);
                handed.ok_or(GuideError::UnknownTicket { state: self.guided.state() })
            }
        }
    }

    fn awaited(&self, handed: &Handed) -> Result<(), GuideError> {
        let awaited = handed.asks.as_ref();
        let open = awaited.and_then(|id| self.guided.escalations().iter().find(|open| open.id == *id));
        match open {
            None => Ok(()),
            Some(open) => Err(GuideError::AwaitingHuman { id: open.id.clone(), questions: open.questions.clone() }),
        }
    }
}

pub(super) fn complete(
    story: &Story,
    closure: &Closure,
    server: Server<'_>,
    clock: &dyn Clock,
) -> Result<Decision, GuideError> {
    let guided = &story.guided;
    let in_form = |step: usize, output: Value| {
        let usual = guided.rendering(step).is_none_or(|rendering| rendering.terms.is_none());
        match closure.outcome {
            Outcome::Done => taken_in(output, &guided.terms(step), usual),
            Outcome::Failed | Outcome::Skipped => taken_in(output, &crate::model::Contract::usual(), true),
        }
    };
    let output = closure.output.clone().unwrap_or(Value::Null);
    let nothing = output.is_null();
    if let Some(Fate::Closed { step, entry }) = guided.fate(&closure.ticket)
        && let Some(closing) = guided.closing(step)
        && closing.outcome == closure.outcome
        && closing.output == in_form(step, output.clone())
    {
        return story.before(story.end_of_call(entry), Deed::Closed { step });
    }
    let handed = story.open(&closure.ticket)?;
    story.awaited(handed)?;
    let step = handed.step;
    let limits = guided.beginning().limits;
    if bytes(&output) > limits.step {
        return Err(GuideError::TooLarge { what: "`output`", bytes: bytes(&output), limit: limits.step });
    }
    let output = in_form(step, output);
    match closure.outcome {
        Outcome::Done => {
            if nothing {
                return Err(GuideError::Missing("output"));
            }
            let (terms, own) = (guided.terms(step), guided.rendering(step));
            let usual = own.is_none_or(|rendering| rendering.terms.is_none());
            let fields = !guided.run().fields_read(step).is_empty();
            let mut breaches = breaches(&output, &terms, usual, fields);
            for unmet in unmet(guided, step, &output, usual) {
                // What the contract itself asks for is told once.
                if !breaches.iter().any(|breach| breach.path == unmet.path) {
                    breaches.push(unmet);
                }
            }
            if !breaches.is_empty() {
                let violation = GuideError::Breached {
                    step: story.step_id(step),
                    breaches: breaches.clone(),
                    terms: guided.terms_in_full(step),
                    attempts: handed.breaches.saturating_add(1),
                    most: own.map_or(crate::plan::MAX_ATTEMPTS, |rendering| rendering.max_attempts),
                };
                let moment = Moment::Breached { ticket: closure.ticket.clone(), breaches };
                return Ok(Decision::Now(vec![moment], Err(violation)));
            }
            if let Some(error) = guided.run().too_large(step, read_output(&output, usual).text.len()) {
                return Err(GuideError::Full(error));
            }
        }
        Outcome::Skipped if !guided.rendering(step).is_some_and(|rendering| rendering.optional) => {
            return Err(GuideError::NotOptional { step: story.step_id(step) });
        }
        Outcome::Failed | Outcome::Skipped if !gives_reason(&output) => {
            return Err(GuideError::Missing("output.reason"));
        }
        Outcome::Failed | Outcome::Skipped => {}
    }
    let closed = Moment::Closed { ticket: closure.ticket.clone(), outcome: closure.outcome, output };
    let mut after = guided.clone();
    let entry = Entry::new(guided.updated_at(), closed.clone());
    after.apply(&entry).map_err(|misfit| GuideError::Torn { id: guided.beginning().id.clone(), misfit })?;
    let next = chosen(&after, closure.next.as_deref())?;
    let mut moments = vec![closed];
    moments.extend(hand_out(&after, next, server, clock));
    Ok(Decision::Now(moments, Ok(Deed::Closed { step })))
}

/// The step that the caller wants to go on with.
fn chosen(after: &Guided, next: Option<&str>) -> Result<Option<usize>, GuideError> {
    let Some(wanted) = next.filter(|_| !after.run().ended()) else { return Ok(None) };
    let ready: Vec<usize> = after.run().ready().collect();
    let id = |step: usize| after.run().plan().step(step).map(|step| step.id.clone()).unwrap_or_default();
    match ready.iter().find(|step| id(**step) == wanted) {
        Some(step) => Ok(Some(*step)),
        None => Err(GuideError::NotReady { wanted: wanted.to_owned(), ready: ready.into_iter().map(id).collect() }),
    }
}

pub(super) fn escalate(story: &Story, question: &Question, fresh: &EscalationId) -> Result<Decision, GuideError> {
    let questions = &question.questions;
    if question.reason.trim().is_empty() {
        return Err(GuideError::Missing("reason"));
    }
    if questions.iter().all(|question| question.trim().is_empty()) {
        return Err(GuideError::Missing("questions"));
    }
    if questions.len() > MOST_QUESTIONS {
        return Err(GuideError::TooMany { given: questions.len(), most: MOST_QUESTIONS });
    }
    let size = question.reason.len()
        + questions.iter().map(String::len).sum::<usize>()
        + question.context.as_ref().map_or(0, bytes);
    if size > LARGEST_NOTE {
        let what = "`reason`, `questions` and `context` together";
        return Err(GuideError::TooLarge { what, bytes: size, limit: LARGEST_NOTE });
    }
    let context = question.context.clone().filter(|context| !context.is_null());
    let same = |asked: &&Escalation| {
        asked.ticket == question.ticket
            && asked.reason == question.reason
            && asked.questions == *questions
            && asked.context == context
    };
    if let Some(asked) = story.guided.escalations().iter().find(same) {
        return match &asked.answer {
            None if story.guided.cancelled().is_some() => Err(GuideError::Cancelled),
            None => story.before(asked.entry, Deed::Asked(asked.id.clone())),
            Some((_, _, entry)) => story.before(*entry, Deed::Answered(asked.id.clone())),
        };
    }
    let handed = story.open(&question.ticket)?;
    story.awaited(handed)?;
    let moment = Moment::Escalated {
        id: fresh.clone(),
        ticket: question.ticket.clone(),
        reason: question.reason.clone(),
        questions: questions.clone(),
        context,
    };
    Ok(Decision::Now(vec![moment], Ok(Deed::Asked(fresh.clone()))))
}

pub(super) fn resume(
    story: &Story,
    escalation: Option<&EscalationId>,
    answers: &Value,
    server: Server<'_>,
    clock: &dyn Clock,
) -> Result<Decision, GuideError> {
    if bytes(answers) > LARGEST_NOTE {
        return Err(GuideError::TooLarge { what: "`answers`", bytes: bytes(answers), limit: LARGEST_NOTE });
    }
    if escalation.is_none() && story.guided.cancelled().is_some() {
        return Err(GuideError::Cancelled);
    }
    let awaited = story.guided.asked().cloned();
    let of_call = |id: &EscalationId| story.guided.unfinished().iter().any(|begun| begun.asks.as_ref() == Some(id));
    // A person may know that a call gave nothing: `{"result": ""}`.
    let result = answers.get("result").is_some_and(|result| !result.is_null());
    let empty = says_nothing(answers) && !(result && escalation.or(awaited.as_ref()).is_some_and(of_call));
    // Where nobody is awaited, answers help nobody: they would only be made up.
    if empty && (awaited.is_some() || escalation.is_some()) {
        return Err(GuideError::Missing("answers"));
    }
    let state = story.guided.state();
    let unknown = |answered| {
        let (id, awaited) = (escalation.cloned(), awaited.clone());
        GuideError::NoEscalation { state, id, answered, awaited }
    };
    let Some(id) = escalation.or(awaited.as_ref()) else { return Err(unknown(false)) };
    let Some(asked) = story.guided.escalations().iter().find(|asked| asked.id == *id) else {
        return Err(unknown(false));
    };
    match &asked.answer {
        Some((before, _, entry)) if before == answers => {
            story.before(story.end_of_call(*entry), Deed::Answered(id.clone()))
        }
        Some(_) => Err(unknown(true)),
        None if story.guided.cancelled().is_some() => Err(GuideError::Cancelled),
        None if of_call(id) => decide(story, id, answers, server, clock),
        None => {
            let ticket = fresh_ticket(&story.guided, clock);
            let moment = Moment::Answered { id: id.clone(), answers: answers.clone(), ticket };
            Ok(Decision::Now(vec![moment], Ok(Deed::Answered(id.clone()))))
        }
    }
}

/// What a person decided about a call of which nobody knows what became.
fn decide(
    story: &Story,
    id: &EscalationId,
    answers: &Value,
    server: Server<'_>,
    clock: &dyn Clock,
) -> Result<Decision, GuideError> {
    let mut unfinished = story.guided.unfinished().iter();
    let Some(at_work) = unfinished.find(|begun| begun.asks.as_ref() == Some(id)) else {
        return Err(GuideError::UnknownDecision { not_yet: false });
    };
    let direct = story.guided.is_direct();
    let (step, next) = (at_work.step, at_work.next);
    let mut moments = vec![Moment::ToolDecided { id: id.clone(), answers: answers.clone() }];
    let took = std::time::Duration::ZERO;
    let ended = |result| {
        let end = StoredEnd { result, warnings: Vec::new(), took, calls: 0, retries: 0 };
        if direct { Moment::StepEnded { step, end } } else { Moment::ToolEnded { step, end } }
    };
    let asked = story.guided.escalations().iter().find(|asked| asked.id == *id);
    let not_yet = asked.is_some_and(Escalation::needs_word);
    let questions = asked.map(|asked| asked.questions.as_slice()).unwrap_or_default();
    match Decided::read(answers, questions, not_yet).ok_or(GuideError::UnknownDecision { not_yet })? {
        // Whoever goes on with a direct execution begins its steps.
        Decided::Repeat if direct => {}
        Decided::Repeat => moments.push(Moment::ToolStarted { step, owner: server.owner.to_owned(), next }),
        Decided::Fail => {
            let error = StepError::new(Code::ExecutionError, "a person decided that the call counts as failed");
            moments.push(ended(Err(error)));
        }
        Decided::Result(result) => {
            let fields = matches!(result, Value::Object(_) | Value::Array(_));
            let output = if fields {
                Output::with_fields(result.to_string(), result)
            } else {
                Output::text(crate::model::text_of(&result).as_ref())
            };
            moments.push(ended(Ok(output)));
        }
    }
    if !direct && !matches!(moments.last(), Some(Moment::ToolStarted { .. })) {
        let after = after(&story.guided, &moments)?;
        moments.extend(hand_out(&after, next, server, clock));
    }
    Ok(Decision::Now(moments, Ok(Deed::Answered(id.clone()))))
}

/// An execution after some moments, as far as deciding on the next ones needs it.
fn after(guided: &Guided, moments: &[Moment]) -> Result<Guided, GuideError> {
    let mut after = guided.clone();
    for moment in moments {
        let entry = Entry::new(guided.updated_at(), moment.clone());
        after.apply(&entry).map_err(|misfit| GuideError::Torn { id: guided.beginning().id.clone(), misfit })?;
    }
    Ok(after)
}

/// What is to become of a call.
#[derive(Debug, PartialEq)]
enum Decided {
    Repeat,
    Fail,
    Result(Value),
}

impl Decided {
    /// Reads `{"decision": "repeat" | "fail"}` or `{"result": …}`; of a call that was not made yet, "call" in the
    /// place of "repeat". One of the words is understood alone, in a list, and where it answers the question by its
    /// text. What stands under another name is no decision: calls are made on it that can't be taken back.
    fn read(answers: &Value, questions: &[String], not_yet: bool) -> Option<Self> {
        let word = |text: &str| match text.trim().trim_matches(['.', '!', '"']).to_ascii_lowercase().as_str() {
            "repeat" | "retry" | "again" if !not_yet => Some(Self::Repeat),
            "call" | "yes" if not_yet => Some(Self::Repeat),
            "no" if not_yet => Some(Self::Fail),
            "fail" | "failed" | "stop" => Some(Self::Fail),
            _ => None,
        };
        match answers {
            Value::String(text) => word(text),
            Value::Object(fields) => {
                let plain = |text: &str| text.trim().trim_end_matches('?').to_lowercase();
                let names = ["decision", "answer", "answer1"];
                let asked =
                    |key: &str| names.contains(&key) || questions.iter().any(|asked| plain(asked) == plain(key));
                let decision = fields.get("decision").and_then(Value::as_str);
                match (decision, fields.get("result").filter(|result| !result.is_null())) {
                    (Some(text), _) => word(text),
                    (None, Some(result)) => Some(Self::Result(result.clone())),
                    (None, None) => {
                        let (key, answer) = fields.iter().next().filter(|_| fields.len() == 1)?;
                        word(answer.as_str()?).filter(|_| asked(key))
                    }
                }
            }
            Value::Array(items) => Self::read(items.first().filter(|_| items.len() == 1)?, questions, not_yet),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }
}

/// A call that this process made came to its end, or a person is asked about it.
pub(super) fn tool_ended(
    story: &Story,
    ended: &Moment,
    server: Server<'_>,
    clock: &dyn Clock,
) -> Result<Decision, GuideError> {
    let (Moment::ToolEnded { step, .. } | Moment::ToolAsked { step, .. }) = ended else {
        return Err(GuideError::Cancelled);
    };
    let ours = |at_work: &&ToolAtWork| at_work.step == *step && at_work.owner == server.owner && at_work.asks.is_none();
    let Some(at_work) = story.guided.tool_at_work().filter(ours) else {
        // It was cancelled meanwhile.
        return Err(GuideError::Cancelled);
    };
    let Moment::ToolEnded { end, .. } = ended else {
        return Ok(Decision::Now(vec![ended.clone()], Ok(Deed::Called { step: *step })));
    };
    let mut end = end.clone();
    // What the run would not take is not kept either.
    if let Some(error) = end.result.as_ref().ok().and_then(|output| story.guided.run().unkeepable(*step, output)) {
        end.result = Err(error);
    }
    let mut moments = vec![Moment::ToolEnded { step: *step, end }];
    let after = after(&story.guided, &moments)?;
    moments.extend(hand_out(&after, at_work.next, server, clock));
    Ok(Decision::Now(moments, Ok(Deed::Called { step: *step })))
}

/// A step that this process does waits for a model's limit, or no longer does.
pub(super) fn waits(
    story: &Story,
    step: usize,
    (until, spent): (Option<DateTime<Utc>>, Option<&Arc<Generated>>),
    owner: &str,
) -> Decision {
    let ours = |at_work: &&ToolAtWork| at_work.step == step && at_work.owner == owner && at_work.asks.is_none();
    let deed = Deed::Called { step };
    match story.guided.tool_at_work().filter(ours) {
        Some(at_work) if at_work.waits != until || spent.is_some() => {
            Decision::Now(vec![Moment::Waits { step, until, spent: spent.cloned() }], Ok(deed))
        }
        Some(_) | None => Decision::Before(Box::new(Turn::of(story.guided.clone(), deed))),
    }
}

/// The process that made a call is gone: the call is made again where that does no harm, else a person
/// is asked.
pub(super) fn take_over(
    story: &Story,
    gone: &ToolAtWork,
    harmless: bool,
    (owner, fresh): (&str, &EscalationId),
) -> Result<Decision, GuideError> {
    let step = gone.step;
    if story.guided.tool_at_work() != Some(gone) {
        return story.before(story.entries.len(), Deed::Called { step });
    }
    let moment = if harmless {
        Moment::ToolStarted { step, owner: owner.to_owned(), next: gone.next }
    } else {
        unknown(story, step, fresh.clone())
    };
    Ok(Decision::Now(vec![moment], Ok(Deed::Called { step })))
}

/// Nobody knows what became of a call: a person is asked.
pub(super) fn unknown(story: &Story, step: usize, fresh: EscalationId) -> Moment {
    let call = story.guided.run().plan().called(step);
    let id = story.step_id(step);
    Moment::ToolAsked {
        id: fresh,
        step,
        reason: format!(
            "The program ended while it called {call} for step {id}: nobody knows whether the call did its work."
        ),
        questions: vec![of_unknown(&call)],
        arguments: None,
    }
}

fn of_unknown(call: &str) -> String {
    format!("Shall {call} be called again (repeat), shall the step count as failed (fail), or do you know its result?")
}

/// A call that changes things gave no answer, and may have done its work: a person is asked.
pub(super) fn in_doubt(guided: &Guided, step: usize, error: &StepError, fresh: EscalationId) -> Moment {
    let call = guided.run().plan().called(step);
    Moment::ToolAsked {
        id: fresh,
        step,
        reason: format!("{call} gave no answer. {error}."),
        questions: vec![of_unknown(&call)],
        arguments: None,
    }
}

/// A call changes things, and its arguments hold what a model wrote: a person says whether it is made.
pub(super) fn needs_word(guided: &Guided, step: usize, arguments: Value, fresh: EscalationId) -> Moment {
    let run = guided.run();
    let call = run.plan().called(step);
    let id = run.plan().step(step).map(|step| step.id.clone()).unwrap_or_default();
    Moment::ToolAsked {
        id: fresh,
        step,
        reason: format!(
            "Step {id} calls {call}, which may change things, and its arguments come from what a model wrote. Nothing was \
             sent yet."
        ),
        questions: vec![format!(
            "Shall {call} be called with these arguments (call), shall the step count as failed (fail), or do you know its \
             result? Arguments: {}",
            shown(&arguments.to_string(), LONGEST_SHOWN)
        )],
        arguments: Some(arguments),
    }
}

pub(super) fn cancel(story: &Story, reason: Option<&str>) -> Result<Decision, GuideError> {
    if story.guided.cancelled().is_some() {
        return story.before(story.entries.len(), Deed::Cancelled);
    }
    let state = story.guided.state();
    if state.ended() {
        return Err(GuideError::Ended { state });
    }
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty()).map(str::to_owned);
    if let Some(bytes) = reason.as_ref().map(String::len).filter(|bytes| *bytes > LARGEST_NOTE) {
        return Err(GuideError::TooLarge { what: "`reason`", bytes, limit: LARGEST_NOTE });
    }
    Ok(Decision::Now(vec![Moment::Cancelled { reason }], Ok(Deed::Cancelled)))
}

/// The limit of a step's model lasts longer than it is waited for: a person is asked.
pub(super) fn put_off(guided: &Guided, step: usize, error: &StepError, fresh: EscalationId) -> Moment {
    let id = guided.run().plan().step(step).map_or("", |step| step.id.as_str());
    Moment::ToolAsked {
        id: fresh,
        step,
        reason: format!("Step {id} could not be answered by its model. {error}"),
        questions: vec![
            "Shall the model be asked again now (repeat), shall the step count as failed (fail), or do you know its result?"
                .to_owned(),
        ],
        arguments: None,
    }
}

/// The server of a step's tool could not be reached: a person is asked, for it may be back soon.
pub(super) fn unreached(guided: &Guided, step: usize, error: &StepError, fresh: EscalationId) -> Moment {
    let call = guided.run().plan().called(step);
    let server = call.split(':').next().unwrap_or_default();
    Moment::ToolAsked {
        id: fresh,
        step,
        reason: format!("The server of {call} could not be reached, and nothing was sent to it. {error}"),
        questions: vec![format!(
            "Shall {call} be called again now (repeat; check before that the server {server} runs: `flowy servers tools \
             {server}` asks it), shall the step count as failed (fail), or do you know its result?"
        )],
        arguments: None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_decision_is_understood_however_it_is_put_and_nothing_is_guessed() {
        let questions = ["Shall web:get be called again (repeat)?".to_owned()];
        let read = |answers: &Value, not_yet| Decided::read(answers, &questions, not_yet);
        for repeat in [
            json!("repeat"),
            json!(" Again! "),
            json!(["retry"]),
            json!({"decision": "repeat"}),
            json!({"answer": "Repeat."}),
            json!({"shall web:get be called again (repeat)": "repeat"}),
        ] {
            assert_eq!(read(&repeat, false), Some(Decided::Repeat), "{repeat}");
        }
        for fail in [json!("fail"), json!({"decision": "failed", "result": 1}), json!({"answer1": "stop"})] {
            assert_eq!(read(&fail, false), Some(Decided::Fail), "{fail}");
        }
        for result in [json!("it was 7"), json!(0), json!({"n": 1}), json!(["repeat"])] {
            assert_eq!(read(&json!({"result": result}), false), Some(Decided::Result(result)));
        }
        for unclear in [
            json!("yes"),
            json!({"decision": "perhaps"}),
            json!({"result": null}),
            json!({"a": "repeat", "b": "fail"}),
            json!({"comment": "repeat"}),
            json!({"Did the user say repeat?": "repeat"}),
            json!(["repeat", "fail"]),
            json!(7),
        ] {
            assert_eq!(read(&unclear, false), None, "{unclear}");
        }
        let of_word = |text: &str| read(&json!({"decision": text}), true);
        assert_eq!((of_word("Call."), of_word("yes")), (Some(Decided::Repeat), Some(Decided::Repeat)));
        assert_eq!((of_word("no"), of_word("perhaps"), of_word("repeat")), (Some(Decided::Fail), None, None));
    }
}
