//! A law of executions whose steps models answer: for a fixed script of answers, equal inputs give equal results on any
//! number of threads, and with any crash in between.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flowy::internals::clock::{Clock, SystemClock};
use flowy::internals::config::{ModelKey, ModelSpec, Provider, Settings};
use flowy::internals::execute::{Options, Workers, drive};
use flowy::internals::generate::{
    Generating, Generator, ModelChoice, ModelWorker, Models, OnText, Prompt, Reply, Trouble, TroubleKind,
};
use flowy::internals::guide::{Guide, Resumption, TakenUp};
use flowy::internals::model::{Finish, TokenUsage};
use flowy::internals::plan::Plan;
use flowy::internals::run::{Beginning, ExecutionId, OnFailure, Rules, Run, State, Warning, Way};
use flowy::internals::store::{Retention, Store};
use proptest::prelude::*;
use serde_json::json;
use tokio::sync::Notify;

use crate::support::drawing::flow;
use crate::support::walking::given;

/// Answers by what it is asked: some prompts meet a limit or a failure that passes first, some are refused, some
/// answers break their contract once.
struct Script {
    asked: Mutex<HashMap<String, u32>>,
    calls: AtomicUsize,
    /// The call at which the process is gone.
    last: usize,
    gone: Notify,
}

impl Script {
    fn until(last: usize) -> Self {
        Self { asked: Mutex::default(), calls: AtomicUsize::new(0), last, gone: Notify::new() }
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

impl Generator for Script {
    fn generate<'a>(&'a self, prompt: &'a Prompt, on_text: OnText<'a>) -> Generating<'a> {
        Box::pin(async move {
            if self.calls.fetch_add(1, Ordering::SeqCst) == self.last {
                self.gone.notify_one();
                std::future::pending::<()>().await;
            }
            let text = prompt.turns.first().unwrap().text.to_string();
            let mood = hash(&text);
            let times = {
                let mut asked = self.asked.lock().unwrap();
                let times = asked.entry(text).or_default();
                *times += 1;
                *times
            };
            for _ in 0..mood % 5 {
                tokio::task::yield_now().await;
            }
            let trouble = |kind| Err(Trouble { pause: Some(Duration::ZERO), ..Trouble::new(kind, "no luck") });
            match (mood % 7, times) {
                (0, 1) => return trouble(TroubleKind::Limited),
                (1, 1 | 2) => return trouble(TroubleKind::Server),
                (2, 1) => return trouble(TroubleKind::Broken),
                (3, _) => return trouble(TroubleKind::Refused),
                _ => {}
            }
            let text = match &prompt.contract {
                Some(_) if mood.is_multiple_of(2) && prompt.turns.len() == 1 => "no JSON".to_owned(),
                Some(_) => json!({"n": mood % 100}).to_string(),
                None => format!("answer {mood}"),
            };
            on_text(&text);
            Ok(Reply { text, usage: TokenUsage::default(), finish: Finish::Stop })
        })
    }
}

fn settings() -> Settings {
    let spec = ModelSpec {
        name: "m".to_owned(),
        provider: Provider::OpenAiCompatible,
        model: "m".to_owned(),
        base_url: "http://127.0.0.1:9".to_owned(),
        local: true,
        key: ModelKey::None,
        key_place: None,
        max_output_tokens: 100,
        temperature: None,
        context_tokens: None,
        fallback: Vec::new(),
        parallel: 3,
        timeout: Duration::from_mins(1),
        per_execution_tokens: 1_000_000,
        per_day_tokens: None,
        price_in: None,
        price_out: None,
        answers: None,
    };
    Settings { models: vec![Arc::new(spec)], currency: "USD".to_owned(), ..Settings::default() }
}

/// What a run came to, but for times and how often was tried.
fn story(run: &Run, warnings: &[Warning]) -> String {
    let mut story = format!("{:?} {:?}\n", run.status(), run.final_output().map(|output| &output.text));
    for number in 0..run.plan().steps().len() {
        let told = match run.state(number).unwrap() {
            State::Done { output, .. } => format!("done {} {:?}", output.text, output.value),
            State::Failed { error, .. } => format!("failed {error}"),
            State::Skipped { because } => format!("skipped {because}"),
            State::Omitted { because, .. } => format!("omitted {because}"),
            open @ (State::Waiting | State::Ready | State::Running) => panic!("step {number} is open: {open:?}"),
        };
        writeln!(story, "{number} {told}").unwrap();
    }
    let mut warned: Vec<String> = warnings.iter().map(|warning| format!("{warning:?}")).collect();
    warned.sort();
    story + &warned.join("\n")
}

/// One process with so many threads: goes on with the execution until its end, or until it is gone.
fn process(plan: &Arc<Plan>, folder: &Path, script: &Arc<Script>, threads: usize) -> Option<String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build().unwrap();
    let told = runtime.block_on(async {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let guide = Guide::new(Store::at(folder), clock.clone());
        let id = ExecutionId::named("x");
        let taken: Box<TakenUp> = if guide.story(&id).await.is_ok() {
            match guide.take_up(&id, None).await.unwrap() {
                Resumption::Going(taken) => taken,
                Resumption::Standing(ended) => {
                    let noticed: Vec<Warning> = ended.guided.noticed().values().flatten().cloned().collect();
                    return Some(story(ended.guided.run(), &noticed));
                }
            }
        } else {
            let beginning = Beginning {
                id,
                way: Way::Direct { on_failure: OnFailure::Continue },
                rules: Rules::NEWEST,
                plan: plan.clone(),
                given: given(&json!({"topic": "tea"})),
                task: None,
                limits: Options::default().limits,
                git_ref: None,
                commit: None,
                source: Some(String::new()),
                models: vec!["m".to_owned()],
                answers: None,
            };
            let keep = Retention { most: 10, longest: Duration::from_hours(1) };
            Box::new(guide.begin_direct(beginning, keep).await.unwrap())
        };
        let models = Arc::new(Models::of(&settings(), script.clone(), clock.clone()));
        let choice = ModelChoice { usual: Some("m".to_owned()), ..ModelChoice::default() };
        let worker = ModelWorker::new(models, choice, None).having_done(&taken.run);
        let workers = Workers { keeper: Some(&taken.log), ..Workers::of_texts(&worker) };
        let (options, run) = (Options::default(), (taken.run.clone(), taken.carried.clone()));
        tokio::select! {
            executed = drive(run, &options, workers, &*clock, &taken.cancel, |_, _| {}) => {
                taken.log.end().await.unwrap();
                Some(story(&executed.run, &executed.warnings))
            }
            () = script.gone.notified() => None,
        }
    });
    // What was under way is gone with it.
    runtime.shutdown_background();
    told
}

/// Processes one after the other, the first ones of which are gone at these calls.
fn execution(plan: &Arc<Plan>, threads: usize, crashes: &[usize]) -> String {
    let folder = tempfile::tempdir().unwrap();
    for crash in crashes {
        if let Some(told) = process(plan, folder.path(), &Arc::new(Script::until(*crash)), threads) {
            return told;
        }
    }
    process(plan, folder.path(), &Arc::new(Script::until(usize::MAX)), threads).unwrap()
}

/// Steps, each of which reads some of those before it.
fn plan(steps: &[(u8, u8)]) -> Arc<Plan> {
    let mut drawing = flow().input("in", json!(["topic"]));
    let mut edges = vec!["in > s0".to_owned()];
    for (number, (reads, kind)) in steps.iter().enumerate() {
        let before: Vec<usize> = (0..number).filter(|before| reads & (1 << before) != 0).collect();
        let fields = |before: usize| if steps[before].1 % 5 == 1 { ".n" } else { "" };
        let mut read = String::new();
        for before in &before {
            write!(read, " {{s{before}_result{}}}", fields(*before)).unwrap();
        }
        let text = format!("Step {number} on {{topic}}:{read}");
        let contract = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
        let data = match kind % 5 {
            0 => json!({"template": text, "onError": "continue"}),
            1 => json!({"template": text, "contract": contract}),
            2 => json!({"template": text, "model": false}),
            _ => json!({"template": text}),
        };
        drawing = drawing.data(&format!("s{number}"), data);
        edges.extend(before.iter().map(|before| format!("s{before} > s{number}")));
    }
    drawing.edges(&edges.join(", ")).plan()
}

fn law(cases: u32) {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) };
    let shapes = prop::collection::vec((any::<u8>(), any::<u8>()), 1..8);
    let crashes = prop::collection::vec(0_usize..12, 1..4);
    let checked = proptest::test_runner::TestRunner::new(config).run(&(shapes, crashes), |(shape, crashes)| {
        let plan = plan(&shape);
        let calm = execution(&plan, 1, &[]);
        for threads in [1, 2, 8] {
            prop_assert_eq!(&execution(&plan, threads, &crashes), &calm, "{} threads", threads);
        }
        prop_assert_eq!(&execution(&plan, 8, &[]), &calm);
        Ok(())
    });
    checked.unwrap();
}

#[test]
fn equal_inputs_give_equal_results_on_any_number_of_threads_and_over_any_crash() {
    law(12);
}

#[test]
#[ignore = "long: .ci/long runs it"]
fn hundreds_of_scripts_give_equal_results_on_any_number_of_threads_and_over_any_crash() {
    law(400);
}
