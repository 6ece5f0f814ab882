//! What moments of tool steps do: the server does these between the model's.

use chrono::{DateTime, Utc};
use serde_json::json;

use super::{Entry, Escalation, Guided, Moment, ToolAtWork};
use crate::plan::Work;
use crate::run::{Event, Ticket};

impl Guided {
    /// Takes in a moment of a tool step.
    pub(super) fn apply_tool(&mut self, entry: &Entry, number: usize) -> Result<(), &'static str> {
        match &entry.moment {
            Moment::ToolStarted { step, owner, next } => self.start_tool(*step, owner, *next, entry.at)?,
            Moment::ToolEnded { step, end } => {
                self.end_work(*step)?;
                self.take_end(*step, end, entry);
                self.auto.push(*step);
            }
            Moment::Waits { step, until, spent } => {
                let nobody = self.is_direct() && self.driver.is_none();
                let at_work = self.at_work.iter_mut().find(|at_work| at_work.step == *step && at_work.asks.is_none());
                let at_work = at_work.filter(|_| !nobody).ok_or("the step is not under way")?;
                if at_work.waits == *until && spent.is_none() {
                    return Err("nothing is new");
                }
                at_work.waits = *until;
                if let Some(generated) = spent.clone() {
                    self.run.apply(Event::Spent { generated });
                }
            }
            Moment::LeftOut { step, why } => {
                if !self.next_may_be(*step) && !self.direct_may(*step) {
                    return Err("the step is not ready");
                }
                self.run.apply(Event::Omitted { step: *step, why: why.clone() });
                if !self.is_direct() {
                    self.auto.push(*step);
                }
            }
            Moment::ToolAsked { id, step, reason, questions, arguments } => {
                let fresh = self.escalations.iter().all(|other| other.id != *id);
                let at_work = self.at_work.iter_mut().find(|at_work| at_work.step == *step && at_work.asks.is_none());
                let (Some(at_work), true) = (at_work, fresh) else { return Err("no tool is called for the step") };
                (at_work.asks, at_work.waits) = (Some(id.clone()), None);
                self.driver = None;
                self.escalations.push(Escalation {
                    id: id.clone(),
                    step: *step,
                    ticket: Ticket::named(""),
                    reason: reason.clone(),
                    questions: questions.clone(),
                    context: arguments.as_ref().map(|arguments| json!({"arguments": arguments})),
                    at: entry.at,
                    answer: None,
                    entry: number,
                });
            }
            Moment::ToolDecided { id, answers } => {
                let at_work = self.at_work.iter_mut().find(|at_work| at_work.asks.as_ref() == Some(id));
                let escalation = self.escalations.iter_mut().find(|escalation| escalation.id == *id);
                let (Some(at_work), Some(escalation)) = (at_work, escalation) else {
                    return Err("nobody waits for that answer");
                };
                at_work.asks = None;
                at_work.again = true;
                escalation.answer = Some((answers.clone(), entry.at, number));
            }
            Moment::Begun(_)
            | Moment::Opened { .. }
            | Moment::Closed { .. }
            | Moment::Broke { .. }
            | Moment::Breached { .. }
            | Moment::Escalated { .. }
            | Moment::Answered { .. }
            | Moment::Taken { .. }
            | Moment::StepStarted { .. }
            | Moment::StepEnded { .. }
            | Moment::Interrupted { .. }
            | Moment::Cancelled { .. } => return Err("this is no moment of a tool step"),
        }
        Ok(())
    }

    /// A tool is called for a step, or a model asked: for the first time, or again because nobody knows what became
    /// of the call before.
    fn start_tool(
        &mut self,
        step: usize,
        owner: &str,
        next: Option<usize>,
        at: DateTime<Utc>,
    ) -> Result<(), &'static str> {
        let again = !self.is_direct() && self.begun(step).is_some_and(|at_work| at_work.asks.is_none());
        let may = match self.run.plan().step(step).map(|step| &step.work) {
            Some(Work::Call(_)) => true,
            Some(Work::Render(rendering)) => rendering.asks.own,
            Some(Work::Flow(_) | Work::Gather(_) | Work::Faulty { .. }) | None => false,
        };
        if !may || !(again || self.next_may_be(step)) {
            return Err("the server can't do the step now");
        }
        if again && self.begun(step).is_some_and(|at_work| !at_work.again && at_work.waits.is_none()) {
            self.repeated.insert(step);
        }
        self.run.apply(Event::Started { step });
        let (owner, asks, again, waits) = (owner.to_owned(), None, false, None);
        self.at_work = vec![ToolAtWork { step, owner, since: at, next, asks, again, waits }];
        Ok(())
    }
}
