//! `flowy guide`: a person, or a program, does the steps of a guided execution at the terminal.

mod answering;

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

use super::run::{ask_for_missing, tell_why, values};
use super::{Done, ENDING, Stop, World, runtime, wait_on};
use crate::app::{
    App, BeginRequest, Caller, Closure, Code, Error, Escalation, ExecuteRequest, Guided, GuidedState, ModelChoice,
    OnFailure, OnStep, ResumeRequest, Resumed, Servers, StepOutcome, read_values,
};
use crate::cli::args::GuideArgs;
use crate::cli::progress::ProgressLine;
use crate::names::{quoted, shown};
use crate::report::{human, wire};
use answering::Answerer;

/// Walks through the flow, step by step.
pub(super) fn guide(args: &GuideArgs, world: &World<'_>) -> Done {
    let answerer = Answerer::of(args.program.as_deref(), world)?;
    let variables = values::read(&args.values, world.environment)?;
    let (app, servers) = crate::cli::open_with_servers(world)?;
    let walk = Walk { app: &app, world, runtime: runtime()?, answerer };
    let begun = match &args.resume {
        Some(id) => walk.found(id),
        None => walk.begin(args, variables),
    };
    let done = begun.and_then(|guided| walk.to_the_end(guided));
    walk.leave(&servers);
    super::finish_counting(&app);
    done
}

/// A walk through a guided execution.
struct Walk<'a> {
    app: &'a App,
    world: &'a World<'a>,
    /// One for the whole walk: tools that were called go on working while an answer is awaited.
    runtime: Runtime,
    answerer: Answerer,
}

impl Walk<'_> {
    /// An answer of the app, with a sign of life that tells how tools do meanwhile.
    fn wait<T>(&self, what: &str, answer: impl AsyncFnOnce(OnStep) -> Result<T, Error>) -> Result<T, Error> {
        let progress = ProgressLine::of(self.world.printer, what);
        let line = progress.line();
        let told: OnStep = Arc::new(move |done| line.set_message(done.words(40, 40)));
        wait_on(&self.runtime, &progress, answer(told))
    }

    fn leave(&self, servers: &Servers) {
        self.app.stop_calling();
        let progress = ProgressLine::of(self.world.printer, "ending");
        wait_on(&self.runtime, &progress, servers.shut_down(ENDING));
    }

    fn found(&self, id: &str) -> Result<Guided, Stop> {
        let story = self.wait("reading the execution", async |_| self.app.story(id).await)?;
        if story.guided.is_direct() {
            let id = story.guided.beginning().id.to_string();
            return Err(Stop::usage(
                format!("execution {id} is a direct one: the server does its steps"),
                format!("go on with it: flowy run --resume {id}"),
            ));
        }
        Ok(story.guided)
    }

    fn begin(&self, args: &GuideArgs, variables: Map<String, Value>) -> Result<Guided, Stop> {
        let world = self.world;
        let mut asked = ExecuteRequest {
            flow: args.name.clone().unwrap_or_default(),
            variables,
            git_ref: None,
            refresh: world.everywhere.refresh,
            on_failure: OnFailure::Continue,
            wait: None,
            models: ModelChoice::default(),
        };
        if self.answerer.is_person() {
            ask_for_missing(self.app, &mut asked, world)?;
        }
        let ExecuteRequest { flow, variables, refresh, .. } = asked;
        let request = BeginRequest { flow, task: args.task.clone(), variables, git_ref: None, refresh };
        let reading = format!("reading {}", self.app.describe());
        let begun = self.wait(&reading, async |told| self.app.begin(&request, Some(&told)).await);
        let begun = match begun {
            Ok(begun) => begun,
            Err(error) if error.code == Code::MissingVariables && !world.everywhere.json => {
                tell_why(&error, self.app, ("guide", &request.flow, &request.variables), world);
                return Err(Stop::Printed(error.exit_code()));
            }
            Err(error) => return Err(error.into()),
        };
        world.warn_of(&begun.origin);
        for warning in &begun.warnings {
            world.printer.note(&human::warning(&warning.message, world.printer.err_look()));
        }
        Ok(begun.turn.guided)
    }

    /// Goes on until the execution ends, or nobody answers.
    fn to_the_end(&self, mut guided: Guided) -> Done {
        if !guided.state().ended() {
            self.world.printer.note(&self.answerer.rules());
            let id = guided.beginning().id.as_str();
            self.world.printer.note(&format!("Ctrl-D leaves the step open; to go on there: flowy guide --resume {id}"));
        }
        loop {
            let open = guided.asked().and_then(|id| guided.escalations().iter().find(|asked| asked.id == *id));
            guided = if guided.state().ended() {
                return self.ended(&guided);
            } else if let Some(question) = open {
                self.ask(&guided, question)?
            } else if guided.handed().is_some() {
                self.do_step(&guided)?
            } else {
                let id = guided.beginning().id.to_string();
                self.wait("waiting for a tool", async |told| self.app.wait_for_server(&id, Some(&told)).await)?.guided
            };
        }
    }

    fn ended(&self, guided: &Guided) -> Done {
        let printer = self.world.printer;
        if self.world.everywhere.json {
            self.print(guided)?;
        } else if let Some(result) = guided.run().final_output() {
            printer.out_text(&result.text);
        }
        printer.note(&human::guided_end(guided, printer.err_look()));
        Ok(u8::from(guided.state() != GuidedState::Completed))
    }

    /// How the execution stands, as JSON.
    fn print(&self, guided: &Guided) -> Result<(), Stop> {
        let id = guided.beginning().id.as_str();
        let story = self.wait("reading the execution", async |_| self.app.story(id).await)?;
        self.world.printer.json(&wire::guided_status(&story, &[]));
        Ok(())
    }

    /// Ends the walk before the execution ends.
    fn later<T>(&self, guided: &Guided, why: &str) -> Result<T, Stop> {
        if self.world.everywhere.json {
            self.print(guided)?;
        }
        let id = guided.beginning().id.as_str();
        let error = Error::new(Code::AwaitingHuman, why).next(format!("go on with it: flowy guide --resume {id}"));
        self.world.printer.error(&error);
        Err(Stop::Printed(1))
    }

    /// Asks the person what an execution waits for.
    fn ask(&self, guided: &Guided, question: &Escalation) -> Result<Guided, Stop> {
        let printer = self.world.printer;
        printer.note(&format!("\n{}", shown(&question.reason, 2_000)));
        if !printer.can_ask() {
            for question in &question.questions {
                printer.note(&shown(question, 2_000));
            }
            return self.later(guided, "a person has to answer this, at a terminal or in a client");
        }
        // What became of a call has words of its own, and may be a result.
        let of_call = guided.unfinished().iter().any(|begun| begun.asks.as_ref() == Some(&question.id));
        loop {
            let mut answers = Map::new();
            for question in &question.questions {
                printer.note(&shown(question, 2_000));
                match printer.ask("> ") {
                    Some(typed) => answers.insert(question.clone(), Value::from(typed)),
                    None => return self.later(guided, "the question is still open"),
                };
            }
            let one = answers.values().next().and_then(Value::as_str).filter(|_| of_call);
            let answers = match one {
                Some(typed) => read_values(typed).unwrap_or_else(|_| Value::from(typed)),
                None => Value::Object(answers),
            };
            let request = ResumeRequest {
                execution: guided.beginning().id.to_string(),
                escalation: Some(question.id.to_string()),
                answers: Some(answers),
            };
            let resumed = self.wait("going on", async |told| {
                let caller = Caller { progress: Some(told), ..Caller::default() };
                self.app.resume(&request, None, &caller).await
            });
            match resumed {
                Ok(Resumed::Guided(turn)) => return Ok(turn.guided),
                Ok(Resumed::Direct(_) | Resumed::Asking(_)) => return self.found(&request.execution),
                Err(error) if error.code == Code::InvalidRequest => printer.error(&error),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Shows the open step, and hands in an answer that is accepted.
    fn do_step(&self, guided: &Guided) -> Result<Guided, Stop> {
        let (printer, look) = (self.world.printer, self.world.printer.err_look());
        let Some(handed) = guided.handed() else { return Ok(guided.clone()) };
        printer.note_as_it_is(&human::open_step(guided, look));
        let rendering = guided.rendering(handed.step);
        let optional = rendering.is_some_and(|rendering| rendering.optional);
        let most = rendering.map_or(1, |rendering| rendering.max_attempts);
        let id = guided.run().plan().step(handed.step).map(|step| quoted(&step.label)).unwrap_or_default();
        let (mut refused, mut tries) = (None::<(String, String)>, 0);
        loop {
            let why = refused.as_ref().map(|(_, why)| why.as_str());
            let step = human::step_in_full(guided, why);
            let before = refused.as_ref().map(|(answer, _)| answer.as_str());
            let answered = match self.answerer.answer(&step, before, self.world) {
                Ok(answered) => answered,
                Err(Stop::Failed { error, exit }) => {
                    printer.error(&error);
                    return self
                        .later(guided, &format!("step {id} has no answer yet"))
                        .map_err(|_| Stop::Printed(exit));
                }
                Err(stop) => return Err(stop),
            };
            // A person who leaves the editor without a word, or with what was refused, gives no answer.
            let idle = |answer: &String| {
                let same = before.is_some_and(|before| before.trim() == answer.trim());
                (answer.trim().is_empty() && !optional && self.answerer.is_person())
                    || (same && matches!(self.answerer, Answerer::Editor(_)))
            };
            let Some(answer) = answered.filter(|answer| !idle(answer)) else {
                return self.later(guided, &format!("step {id} has no answer yet"));
            };
            let skipped = optional && answer.trim().is_empty();
            let (outcome, output) = if skipped {
                (StepOutcome::Skipped, json!({"reason": "left out with an empty answer"}))
            } else {
                (StepOutcome::Done, Value::from(answer.as_str()))
            };
            let execution = guided.beginning().id.as_str();
            let closure = Closure { ticket: handed.ticket.clone(), output: Some(output), outcome, next: None };
            let done =
                self.wait("going on", async |told| self.app.complete_step(execution, &closure, Some(&told)).await);
            // The last answer is the result, which is about to be printed.
            let last = matches!(&done, Ok(turn) if turn.guided.run().final_output().is_some());
            if matches!(self.answerer, Answerer::Program(_)) && !last {
                printer.note_as_it_is(&human::given(&answer, look));
            }
            match done {
                Ok(turn) => {
                    for warning in turn.guided.noticed().get(&handed.step).into_iter().flatten() {
                        printer.note(&human::warning(&format!("step {id}: {}", warning.message), look));
                    }
                    return Ok(turn.guided);
                }
                Err(error) if matches!(error.code, Code::ContractViolation | Code::LimitExceeded) => {
                    // Its next step is for clients.
                    printer.error(&Error::new(error.code, error.message.clone()));
                    tries += 1;
                    if tries >= most && !self.answerer.is_person() {
                        let why = format!("step {id} stays open: its answer was refused {tries} times");
                        return self.later(guided, &why);
                    }
                    refused = Some((answer, error.message));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}
