//! What the log of a guided execution says, entry by entry.

use std::sync::Arc;
use std::time::Duration;

use chrono::DateTime;
use flowy::internals::clock::Clock;
use flowy::internals::code::WarningCode;
use flowy::internals::plan::Plan;
use flowy::internals::run::{
    Beginning, Entry, EscalationId, ExecutionId, Fate, Guided, GuidedState, Limits, Moment, Outcome, Rules, State,
    StoredEnd, Ticket, Warning, Way,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::drawing::flow;
use crate::support::walking::{clock, given};

/// A log that is being lived.
struct Life {
    guided: Guided,
    log: Vec<Entry>,
    clock: Arc<flowy::internals::clock::ManualClock>,
}

impl Life {
    fn begin(plan: Arc<Plan>, variables: &Value) -> Self {
        let clock = clock();
        let beginning = Beginning {
            rules: Rules::NEWEST,
            id: ExecutionId::named("x"),
            way: Way::Guided,
            plan,
            given: given(variables),
            task: None,
            limits: Limits::default(),
            git_ref: None,
            commit: None,
            source: None,
            models: Vec::new(),
            answers: None,
        };
        let entry = Entry { at: clock.now(), moment: Moment::Begun(Arc::new(beginning)) };
        Self { guided: Guided::begin(&entry).unwrap(), log: vec![entry], clock }
    }

    fn try_live(&mut self, moment: Moment) -> Result<(), String> {
        self.clock.advance(Duration::from_secs(1));
        let entry = Entry { at: self.clock.now(), moment };
        self.guided.apply(&entry).map_err(|misfit| misfit.why.to_owned())?;
        self.log.push(entry);
        Ok(())
    }

    /// The same, noting how it stands afterwards; what does not fit changes nothing.
    fn try_and_note(&mut self, moment: Moment, lived: &mut Vec<Guided>) -> Result<(), TestCaseError> {
        let before = self.guided.clone();
        match self.try_live(moment) {
            Ok(()) => lived.push(self.guided.clone()),
            Err(_) => prop_assert_eq!(&self.guided, &before),
        }
        Ok(())
    }

    /// Every prefix of the log, replayed, is how it stood then.
    fn replays_as(&self, lived: &[Guided]) -> Result<(), TestCaseError> {
        for (length, lived) in lived.iter().enumerate() {
            prop_assert_eq!(&Guided::replay(&self.log[..=length]).unwrap(), lived);
        }
        Ok(())
    }

    #[track_caller]
    fn live(&mut self, moment: Moment) {
        self.try_live(moment).unwrap();
    }

    fn number(&self, id: &str) -> usize {
        self.guided.run().plan().steps().iter().position(|step| step.id == id).expect(id)
    }

    /// Hands a step out; its ticket is its id.
    #[track_caller]
    fn open(&mut self, id: &str) {
        let step = self.number(id);
        self.live(Moment::Opened { step, ticket: Ticket::named(id) });
    }

    #[track_caller]
    fn close(&mut self, ticket: &str, outcome: Outcome, output: Value) {
        self.live(Moment::Closed { ticket: Ticket::named(ticket), outcome, output });
    }

    fn ready(&self) -> Vec<&str> {
        self.guided.run().ready().map(|step| self.guided.run().plan().steps()[step].id.as_str()).collect()
    }

    fn state(&self, id: &str) -> &State {
        self.guided.run().state(self.number(id)).unwrap()
    }
}

fn escalated(id: &str, ticket: &str) -> Moment {
    Moment::Escalated {
        id: EscalationId::named(id),
        ticket: Ticket::named(ticket),
        reason: "unclear".to_owned(),
        questions: vec!["Which?".to_owned()],
        context: None,
    }
}

#[test]
fn later_steps_read_the_result_else_the_summary_else_the_plain_text() {
    let plan = flow().text("a", "A.").text("b", "{a_result}").edges("a > b").plan();
    for (output, read) in [
        (json!({"summary": "s", "result": "r"}), "r"),
        (json!({"summary": "s"}), "s"),
        (json!("plain"), "plain"),
        (json!({"summary": "s", "result": {"n": 1}}), r#"{"n":1}"#),
    ] {
        let mut life = Life::begin(plan.clone(), &json!({}));
        life.open("a");
        life.close("a", Outcome::Done, output);
        life.open("b");
        let b = life.number("b");
        let bound = life.guided.run().bind(b, life.guided.rendering(b).unwrap()).unwrap();
        assert_eq!(bound.text, read);
    }
}

#[test]
fn a_step_that_is_left_out_takes_those_that_read_it_along_and_nobody_else() {
    let plan = flow()
        .text("a", "A.")
        .data("b", json!({"template": "B.", "optional": true}))
        .text("c", "{b_result}")
        .text("d", "after")
        .edges("a > b > c > d")
        .plan();
    let mut life = Life::begin(plan, &json!({}));
    life.open("a");
    life.close("a", Outcome::Done, json!("done"));
    life.open("b");
    life.close("b", Outcome::Skipped, json!({"reason": "not needed"}));
    assert!(matches!(life.state("c"), State::Omitted { because: 1, why } if &**why == "not needed"));
    assert_eq!(life.ready(), ["d"]);
    life.open("d");
    life.close("d", Outcome::Done, json!("done"));
    assert_eq!(life.guided.state(), GuidedState::Completed);
    assert_eq!(life.guided.run().status(), flowy::internals::run::Status::Success);
}

#[test]
fn what_follows_a_step_that_was_left_out_early_still_waits_for_what_came_before_that_step() {
    let plan = flow()
        .data("x", json!({"template": "X.", "optional": true}))
        .text("f", "F.")
        .text("o", "{x_result}")
        .text("c", "{f_result}")
        .edges("x > o, f > o > c")
        .plan();
    let mut life = Life::begin(plan, &json!({}));
    life.open("x");
    life.close("x", Outcome::Skipped, json!(null));
    assert_eq!(life.ready(), ["f"]);
    life.open("f");
    let mut failed = Life { guided: life.guided.clone(), log: life.log.clone(), clock: life.clock.clone() };
    life.close("f", Outcome::Done, json!("done"));
    assert_eq!(life.ready(), ["c"]);
    failed.close("f", Outcome::Failed, json!({"reason": "no"}));
    assert!(matches!(failed.state("c"), State::Skipped { .. }));
    assert!(failed.guided.run().ended());
}

#[test]
fn nothing_advances_while_a_person_is_awaited_and_the_old_ticket_is_replaced() {
    let plan = flow().text("a", "A.").plan();
    let mut life = Life::begin(plan, &json!({}));
    life.open("a");
    for round in 0..3 {
        let (id, old, new) = (format!("e{round}"), ["a", "t1", "t2"][round], ["t1", "t2", "t3"][round]);
        life.live(escalated(&id, old));
        assert_eq!(life.guided.state(), GuidedState::AwaitingHuman);
        let closing = Moment::Closed { ticket: Ticket::named(old), outcome: Outcome::Done, output: json!("x") };
        assert!(life.try_live(closing).is_err());
        assert!(life.try_live(escalated("again", old)).is_err());
        let answers = json!(["this one"]);
        life.live(Moment::Answered { id: EscalationId::named(&id), answers, ticket: Ticket::named(new) });
        assert_eq!(life.guided.fate(&Ticket::named(old)), Some(Fate::Replaced { step: 0 }));
    }
    let late = Moment::Answered { id: EscalationId::named("e0"), answers: json!(1), ticket: Ticket::named("t4") };
    assert!(life.try_live(late).is_err());
    life.close("t3", Outcome::Done, json!("x"));
    assert_eq!(life.guided.state(), GuidedState::Completed);
}

#[test]
fn a_cancelled_execution_takes_nothing_more() {
    let mut life = Life::begin(flow().text("a", "A.").text("b", "B.").edges("a > b").plan(), &json!({}));
    life.open("a");
    life.live(Moment::Cancelled { reason: None });
    assert_eq!(life.guided.state(), GuidedState::Cancelled);
    assert_eq!(life.guided.fate(&Ticket::named("a")), Some(Fate::Void { step: 0 }));
    let closing = Moment::Closed { ticket: Ticket::named("a"), outcome: Outcome::Done, output: json!("x") };
    assert!(life.try_live(closing).is_err());
    assert!(life.try_live(Moment::Cancelled { reason: None }).is_err());
}

/// Two tools side by side, a step that reads both, and what hangs on one.
fn tools() -> Arc<Plan> {
    flow()
        .text("a", "A.")
        .tool("b", json!({"call": "web:get", "args": {"x": "{{ a_result }}"}}))
        .tool("c", json!({"call": "web:get"}))
        .text("d", "{b_result} {c_result}")
        .tool("e", json!({"call": "web:put", "args": {"x": "{{ c_result }}"}}))
        .text("f", "after")
        .edges("a > b > d, c > d, c > e > f")
        .plan()
}

fn ended(step: usize, error: Option<&str>) -> Moment {
    let output = || {
        let file = flowy::internals::model::ToolFile {
            media_type: "image/png".to_owned(),
            name: None,
            bytes: Arc::from(*b"png"),
        };
        let answer = flowy::internals::model::ToolAnswer {
            structured: Some(json!({"n": 1})),
            files: vec![file],
            ..Default::default()
        };
        flowy::internals::run::Output::answered(answer, "execution://x/s")
    };
    let result = error.map_or_else(
        || Ok(output()),
        |why| Err(flowy::internals::run::StepError::new(flowy::internals::code::Code::ToolError, why)),
    );
    let warnings = vec![Warning::of(WarningCode::AnswerCutOff, "s", "it was cut off")];
    Moment::ToolEnded {
        step,
        end: StoredEnd { result, warnings, took: Duration::from_micros(1_500), calls: 2, retries: 1 },
    }
}

fn waits(step: usize, second: Option<i64>) -> Moment {
    Moment::Waits { step, until: second.and_then(|second| DateTime::from_timestamp(second, 0)), spent: None }
}

fn tool_asked(id: EscalationId, step: usize) -> Moment {
    Moment::ToolAsked {
        id,
        step,
        reason: "nobody knows".to_owned(),
        questions: vec!["Again?".to_owned()],
        arguments: None,
    }
}

#[test]
fn a_moment_of_a_tool_step_is_refused_wherever_it_does_not_fit() {
    let mut life = Life::begin(tools(), &json!({}));
    let number = |id: &str| life.guided.run().plan().steps().iter().position(|step| step.id == id).expect(id);
    let (a, b, c) = (number("a"), number("b"), number("c"));
    let starts = |step| Moment::ToolStarted { step, owner: "p".to_owned(), next: None };
    let decided = |id: &str| Moment::ToolDecided { id: EscalationId::named(id), answers: json!("repeat") };
    let left_out = |step| Moment::LeftOut { step, why: "w".to_owned() };
    let asks = |id: &str, step| tool_asked(EscalationId::named(id), step);
    let opens = |step| Moment::Opened { step, ticket: Ticket::named("t") };
    // No tool is called: nothing ends, nobody asks; a text is no call, and what waits is not begun.
    for refused in
        [starts(a), starts(b), starts(99), ended(c, None), waits(c, Some(9)), asks("e", c), decided("e"), left_out(b)]
    {
        assert!(life.try_live(refused.clone()).is_err(), "{refused:?}");
    }
    life.live(starts(c));
    // One thing at a time, and of the same step: whoever takes a call over begins it again.
    for refused in [starts(b), ended(a, None), opens(a), left_out(a), left_out(c), asks("e", a), decided("e")] {
        assert!(life.try_live(refused.clone()).is_err(), "{refused:?}");
    }
    life.live(starts(c));
    for refused in [waits(c, None), waits(a, Some(9))] {
        assert!(life.try_live(refused.clone()).is_err(), "{refused:?}");
    }
    life.live(waits(c, Some(9)));
    assert_eq!(life.guided.state(), GuidedState::Waiting);
    assert!(life.try_live(waits(c, Some(9))).is_err(), "that is known");
    life.live(waits(c, None));
    assert_eq!((life.guided.state(), life.guided.resumes_at()), (GuidedState::Running, None));
    life.live(waits(c, Some(10)));
    life.live(asks("e", c));
    assert_eq!(life.guided.state(), GuidedState::AwaitingHuman);
    // Nothing advances while a person is awaited.
    for refused in [starts(c), ended(c, None), waits(c, Some(11)), opens(a), asks("f", c), decided("f")] {
        assert!(life.try_live(refused.clone()).is_err(), "{refused:?}");
    }
    life.live(decided("e"));
    for refused in [decided("e"), asks("e", c)] {
        assert!(life.try_live(refused.clone()).is_err(), "{refused:?}");
    }
    life.live(ended(c, None));
    assert_eq!((life.guided.auto(), life.guided.called(), life.guided.tool_at_work()), (&[c][..], (2, 1), None));
    life.open("a");
    // While a step is open no tool is called, and none is left out.
    let e = life.number("e");
    for refused in [starts(e), ended(e, None), left_out(e)] {
        assert!(life.try_live(refused.clone()).is_err(), "{refused:?}");
    }
    life.close("a", Outcome::Done, json!("o"));
    assert!(life.guided.auto().is_empty());
    life.live(starts(e));
    life.live(Moment::Cancelled { reason: None });
    for refused in [starts(e), ended(e, None), asks("g", e), left_out(e)] {
        assert!(life.try_live(refused.clone()).is_err(), "{refused:?}");
    }
    assert_eq!(life.guided.tool_at_work(), None);
    assert_eq!(Guided::replay(&life.log).unwrap(), life.guided);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    /// Tool steps, too: whatever fits and whatever doesn't, in any order.
    #[test]
    fn replaying_any_prefix_of_a_log_with_tool_steps_equals_having_lived_it(
        choices in prop::collection::vec((0_usize..12, 0_usize..7, any::<bool>()), 0..50)
    ) {
        let mut life = Life::begin(tools(), &json!({}));
        let mut lived = vec![life.guided.clone()];
        for (number, (kind, step, other)) in choices.into_iter().enumerate() {
            let handed = life.guided.handed().map(|handed| handed.ticket.clone());
            let at_work = life.guided.tool_at_work().map(|at_work| at_work.step);
            let asked = life.guided.asked().cloned().unwrap_or_else(|| EscalationId::named("e0"));
            let ready = life.guided.run().ready().next().filter(|_| !other).unwrap_or(step);
            let ours = at_work.filter(|_| !other).unwrap_or(step);
            let fresh = EscalationId::named(&format!("e{number}"));
            let moment = match kind {
                0 | 1 => Moment::ToolStarted { step: ready, owner: format!("p{step}"), next: (step < 3).then_some(step) },
                2 | 3 => ended(ours, other.then_some("no")),
                4 => Moment::LeftOut { step: ready, why: "not given".to_owned() },
                5 => tool_asked(fresh, ours),
                6 => Moment::ToolDecided { id: asked, answers: json!({"decision": "repeat"}) },
                7 | 8 => Moment::Opened { step: ready, ticket: Ticket::named(&format!("t{number}")) },
                9 => Moment::Closed {
                    ticket: handed.unwrap_or_else(|| Ticket::named("t0")),
                    outcome: Outcome::Done,
                    output: json!("o"),
                },
                10 => waits(ours, (step > 2).then(|| i64::try_from(number).unwrap())),
                _ if step == 0 && other => Moment::Cancelled { reason: None },
                _ => Moment::Broke { step: ready, error: flowy::internals::run::StepError::new(flowy::internals::code::Code::ExecutionError, "no") },
            };
            life.try_and_note(moment, &mut lived)?;
        }
        life.replays_as(&lived)?;
        let guided = &life.guided;
        prop_assert!(guided.handed().is_none() || guided.tool_at_work().is_none());
        if guided.handed().is_none() && guided.tool_at_work().is_none() && !guided.state().ended() {
            prop_assert!(guided.run().ready().next().is_some(), "nothing is open and nothing is ready");
        }
        let waits = guided.asked().is_some();
        prop_assert_eq!(guided.state() == GuidedState::AwaitingHuman, waits);
        prop_assert_eq!(guided.state() == GuidedState::Waiting, guided.resumes_at().is_some());
    }

    /// Entries that fit and entries that don't, in any order: what is refused changes nothing, and
    /// every prefix of the log replays to what was lived.
    #[test]
    fn replaying_any_prefix_of_a_log_equals_having_lived_it(
        choices in prop::collection::vec((0_usize..8, 0_usize..6, any::<bool>()), 0..40)
    ) {
        let plan = flow()
            .text("a", "A.")
            .data("b", json!({"template": "{a_result}", "optional": true}))
            .text("c", "{a_result}")
            .text("d", "{b_result} {c_result}")
            .text("e", "after")
            .text("f", "{d_result}")
            .edges("a > b > d > f, a > c > d, b > e")
            .plan();
        let mut life = Life::begin(plan, &json!({}));
        let mut lived = vec![life.guided.clone()];
        for (number, (kind, step, other)) in choices.into_iter().enumerate() {
            let ticket = match life.guided.handed() {
                Some(handed) if !other => handed.ticket.clone(),
                _ => Ticket::named(&format!("t{}", number / 2)),
            };
            let awaited = life.guided.handed().and_then(|handed| handed.asks.clone());
            let ready = life.guided.run().ready().next();
            let moment = match kind {
                0 | 1 => Moment::Opened {
                    step: ready.filter(|_| !other).unwrap_or(step),
                    ticket: Ticket::named(&format!("t{number}")),
                },
                2 => Moment::Closed { ticket, outcome: Outcome::Done, output: json!(format!("o{number}")) },
                3 => Moment::Closed { ticket, outcome: Outcome::ALL[step % 3], output: json!({"reason": "r"}) },
                4 => Moment::Breached { ticket, breaches: Vec::new() },
                5 => escalated(&format!("e{number}"), ticket.as_str()),
                6 => Moment::Answered {
                    id: awaited.unwrap_or_else(|| EscalationId::named("e0")),
                    answers: json!([number]),
                    ticket: Ticket::named(&format!("t{number}")),
                },
                _ if step == 0 => Moment::Cancelled { reason: None },
                _ => Moment::Broke { step, error: flowy::internals::run::StepError::new(flowy::internals::code::Code::ExecutionError, "no") },
            };
            life.try_and_note(moment, &mut lived)?;
        }
        life.replays_as(&lived)?;
        if life.guided.handed().is_none() && !life.guided.state().ended() {
            prop_assert!(life.guided.run().ready().next().is_some(), "nothing is open and nothing is ready");
        }
    }
}
