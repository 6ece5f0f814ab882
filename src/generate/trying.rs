//! One call: tries where another one may work, waits where a limit asks for them, news while a model writes.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::answering::{Fault, Tally};
use super::budget::Reserved;
use super::models::{ModelWorker, OnPiece, StreamPiece};
use super::port::{Prompt, Reply, Trouble, TroubleKind};
use crate::clock::Clock;
use crate::config::Answers;
use crate::execute::{OnToolProgress, ToolProgress};
use crate::lock::lock;
use crate::model::Finish;
use crate::names::{grouped, quoted};
use crate::tokens;

/// How often a call is made that fails for reasons that may pass.
const MOST_TRIES: u32 = 3;
/// The first pause before another try; it doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The first pause for a limit that names none; it doubles.
const FIRST_WAIT: Duration = Duration::from_secs(2);
/// The longest pause that nobody asked for.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// The shortest wait, so that a server which asks for none is not asked at once for ever; it doubles.
const SHORTEST_WAIT: Duration = Duration::from_millis(10);
/// How often news are told while nothing comes.
const QUIET: Duration = Duration::from_secs(10);
/// The shortest time between two news.
const NEWS: Duration = Duration::from_millis(500);

/// Where answers are stored on this machine.
pub trait AnswerBook: Send + Sync {
    /// The stored answer to a call.
    fn find(&self, prompt: &Prompt) -> Option<Reply>;

    /// Stores the answer to a call.
    fn keep(&self, prompt: &Prompt, reply: &Reply);
}

/// The stored answer to a call, where there is one that may be used again.
pub(super) async fn stored(worker: &ModelWorker, prompt: &Prompt, tally: &mut Tally, teller: &Teller) -> Option<Reply> {
    let book = worker.models.answers.as_ref().filter(|_| answers_of(worker, prompt) == Answers::Reuse)?;
    let reply = aside(book, prompt, |book, prompt| book.find(prompt)).await.flatten()?;
    teller.text(&reply.text);
    (tally.stored, tally.usage, tally.finish) = (true, reply.usage, Some(reply.finish));
    Some(reply)
}

/// Stores an answer that its step takes. What was cut off, or broken off by a filter, is no answer to keep.
pub(super) async fn keep(worker: &ModelWorker, prompt: &Prompt, reply: &Reply) {
    let book = worker.models.answers.as_ref().filter(|_| answers_of(worker, prompt) != Answers::Off);
    if let Some(book) = book.filter(|_| reply.finish == Finish::Stop) {
        let reply = reply.clone();
        aside(book, prompt, move |book, prompt| book.keep(prompt, &reply)).await;
    }
}

/// Makes one call, with its tries and waits.
pub(super) async fn call(
    worker: &ModelWorker,
    prompt: &Prompt,
    tally: &mut Tally,
    teller: &Teller,
) -> Result<Reply, Fault> {
    let reply = tries(worker, prompt, tally, teller).await?;
    tally.add(&prompt.model, &reply);
    Ok(reply)
}

/// Looks into the book of answers on a thread that may wait: other processes write there, too.
async fn aside<T: Send + 'static>(
    book: &Arc<dyn AnswerBook>,
    prompt: &Prompt,
    what: impl FnOnce(&dyn AnswerBook, &Prompt) -> T + Send + 'static,
) -> Option<T> {
    let (book, prompt) = (book.clone(), prompt.clone());
    tokio::task::spawn_blocking(move || what(&*book, &prompt)).await.ok()
}

/// Sets aside what a call may take.
async fn reserve<'a>(worker: &'a ModelWorker, prompt: &'a Prompt) -> Result<Reserved<'a>, Fault> {
    let models = &worker.models;
    worker.purse.reserve(prompt, models.day.as_ref()).await.map_err(|short| {
        let tomorrow = || models.clock.now().date_naive().succ_opt()?.and_hms_opt(0, 0, 0);
        Fault::Budget(short.said, short.of_day.then(tomorrow).flatten().map(|midnight| midnight.and_utc()))
    })
}

/// What is done with stored answers: what the caller says, else the operator, else nothing unless the model always
/// says the same.
fn answers_of(worker: &ModelWorker, prompt: &Prompt) -> Answers {
    let usual = if prompt.temperature == Some(0) { Answers::Reuse } else { Answers::Off };
    worker.choice.answers.or(prompt.model.answers).unwrap_or(usual)
}

async fn tries(worker: &ModelWorker, prompt: &Prompt, tally: &mut Tally, teller: &Teller) -> Result<Reply, Fault> {
    let (models, spec) = (&worker.models, &prompt.model);
    let clock = &*models.clock;
    let Some(gate) = models.gate(spec) else {
        return Err(Fault::Call(Trouble::new(TroubleKind::NoModel, "it is no longer configured")));
    };
    let (mut tried, mut waited) = (0_u32, 0_u32);
    loop {
        let opens = gate.opens();
        if worker.ends.is_some_and(|ends| opens >= ends) {
            let trouble = Trouble::new(TroubleKind::Limited, "it waits for a limit that another call met");
            return Err(Fault::Call(beyond(&trouble, opens.saturating_sub(clock.reading()), clock)));
        }
        // A call that can't be paid for is refused at once, not after the wait.
        if opens > clock.reading() {
            reserve(worker, prompt).await?.settle(0).await;
        }
        // Tokens are set aside for a call that is under way alone: whoever waits for a limit or makes a pause leaves
        // them to others, and nothing is lost to a process that ends meanwhile.
        let passage = gate.enter(clock, |pause| teller.waits(pause)).await;
        let reserved = reserve(worker, prompt).await?;
        teller.begins();
        let result = once(worker, prompt, teller).await.map(|reply| counted(prompt, reply));
        reserved.settle(taken(prompt, &result)).await;
        let trouble = match result {
            Ok(reply) => {
                tally.attempts += 1;
                gate.worked();
                return Ok(reply);
            }
            Err(trouble) => trouble,
        };
        let now = clock.reading();
        if trouble.kind.is_wait() {
            waited += 1;
            let pause = wait_for(&trouble, waited, clock);
            let until = now.saturating_add(pause);
            gate.limited(&passage, now, until);
            drop(passage);
            tracing::info!(model = spec.name, pause_ms = pause.as_millis(), said = trouble.said, "a model's limit");
            if worker.ends.is_some_and(|ends| until >= ends) {
                return Err(Fault::Call(beyond(&trouble, pause, clock)));
            }
            continue;
        }
        drop(passage);
        tally.attempts += 1;
        tried += 1;
        if !trouble.kind.may_pass() || tried >= MOST_TRIES {
            let times = if tried > 1 { format!(", after {tried} tries") } else { String::new() };
            return Err(Fault::Call(Trouble { said: format!("{}{times}", trouble.said), ..trouble }));
        }
        tracing::info!(model = spec.name, said = trouble.said, "a call to a model failed and is made again");
        let doubled = FIRST_PAUSE.saturating_mul(1 << (tried - 1).min(8));
        // A server that says when it is there again is not asked before.
        let pause = trouble.pause.unwrap_or_else(|| jittered(doubled, clock).min(LONGEST_PAUSE));
        if worker.ends.is_some_and(|ends| now.saturating_add(pause) >= ends) {
            return Err(Fault::Call(beyond(&trouble, pause, clock)));
        }
        teller.waits(trouble.pause);
        tokio::time::sleep(pause).await;
    }
}

/// One call, given up when it takes too long, with news meanwhile.
async fn once(worker: &ModelWorker, prompt: &Prompt, teller: &Teller) -> Result<Reply, Trouble> {
    let on_text = |piece: &str| teller.text(piece);
    let call = worker.models.generator().generate(prompt, &on_text);
    let limit = prompt.model.timeout;
    let end = tokio::time::sleep(limit);
    tokio::pin!(call, end);
    loop {
        tokio::select! {
            biased;
            result = &mut call => return result,
            () = &mut end => {
                let said = format!("it took longer than {} ms (timeout_ms)", grouped(limit.as_millis()));
                return Err(Trouble::new(TroubleKind::TimedOut, said));
            }
            () = tokio::time::sleep(QUIET) => teller.tell(true),
        }
    }
}

/// What a call took, as far as that is known: of one that broke off, its prompt at least was read.
fn taken(prompt: &Prompt, result: &Result<Reply, Trouble>) -> u64 {
    match result {
        Ok(reply) => reply.usage.all(),
        Err(Trouble { kind: TroubleKind::Broken | TroubleKind::TimedOut | TroubleKind::Odd, .. }) => {
            u64::try_from(prompt.estimate).unwrap_or(u64::MAX)
        }
        Err(_) => 0,
    }
}

/// A reply whose tokens nobody counted has our own estimate.
fn counted(prompt: &Prompt, mut reply: Reply) -> Reply {
    if reply.usage.all() == 0 {
        reply.usage.input = u64::try_from(prompt.estimate).unwrap_or(u64::MAX);
        reply.usage.output = u64::try_from(tokens::estimate(&reply.text)).unwrap_or(u64::MAX);
    }
    reply
}

/// How long to wait for a limit: as long as the server asks for and a little more, else between nothing and a
/// time that doubles.
fn wait_for(trouble: &Trouble, waited: u32, clock: &dyn Clock) -> Duration {
    let times = 1_u32 << (waited - 1).min(8);
    let least = SHORTEST_WAIT.saturating_mul(times);
    match trouble.pause {
        Some(pause) => pause.saturating_add(jittered(pause / 20, clock)).max(least),
        None => jittered(FIRST_WAIT.saturating_mul(times).min(LONGEST_PAUSE), clock).max(least),
    }
}

/// A time between nothing and this one.
fn jittered(most: Duration, clock: &dyn Clock) -> Duration {
    let most = u64::try_from(most.as_micros()).unwrap_or(u64::MAX);
    Duration::from_micros(clock.fresh() % most.max(1))
}

/// The time of day after a pause.
pub(super) fn after(pause: Duration, clock: &dyn Clock) -> Option<DateTime<Utc>> {
    TimeDelta::from_std(pause).ok().and_then(|pause| clock.now().checked_add_signed(pause))
}

/// A limit that lasts longer than the execution may.
fn beyond(trouble: &Trouble, pause: Duration, clock: &dyn Clock) -> Trouble {
    let until = after(pause, clock).map_or_else(String::new, |until| {
        format!(
            "; it can be asked again at {}, which is longer than the execution may last (execution_timeout_ms)",
            until.format("%Y-%m-%dT%H:%M:%SZ")
        )
    });
    Trouble { said: format!("{}{until}", trouble.said), pause: Some(pause), ..trouble.clone() }
}

/// Tells whoever listens how an answer goes.
pub(super) struct Teller {
    model: String,
    told: Option<OnToolProgress>,
    stream: Option<OnPiece>,
    clock: Arc<dyn Clock>,
    /// Characters so far of the answer that is under way.
    characters: AtomicUsize,
    /// When news were last told, by the clock's reading.
    last: Mutex<Duration>,
    /// Whether it was told that a limit is waited for.
    waiting: AtomicBool,
}

impl Teller {
    pub(super) fn new(
        model: &str,
        told: Option<OnToolProgress>,
        stream: Option<OnPiece>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let last = Mutex::new(Duration::ZERO);
        let (characters, waiting) = (AtomicUsize::new(0), AtomicBool::new(false));
        Self { model: model.to_owned(), told, stream, clock, characters, last, waiting }
    }

    /// A call begins: what came of one before it is void.
    fn begins(&self) {
        if self.characters.swap(0, Ordering::Relaxed) > 0
            && let Some(stream) = &self.stream
        {
            stream(StreamPiece::Restart);
        }
        self.tell(true);
    }

    fn text(&self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        self.characters.fetch_add(piece.chars().count(), Ordering::Relaxed);
        if let Some(stream) = &self.stream {
            stream(StreamPiece::Text(piece));
        }
        self.tell(false);
    }

    /// Tells how many characters there are, unless that was told a moment ago.
    fn tell(&self, at_once: bool) {
        let Some(told) = &self.told else { return };
        let now = self.clock.reading();
        {
            let mut last = lock(&self.last);
            if !at_once && now.saturating_sub(*last) < NEWS {
                return;
            }
            *last = now;
        }
        let characters = self.characters.load(Ordering::Relaxed);
        let words = match characters {
            0 => format!("asks {}", quoted(&self.model)),
            1 => "1 character".to_owned(),
            more => format!("{} characters", grouped(more)),
        };
        told(ToolProgress { progress: as_number(characters), total: None, message: Some(words), until: None });
    }

    /// Tells that nothing happens for a while, because of a limit; or, where it was told, that this is over.
    fn waits(&self, pause: Option<Duration>) {
        let Some(told) = &self.told else { return };
        if self.waiting.swap(pause.is_some(), Ordering::Relaxed) && pause.is_none() {
            self.tell(true);
        }
        let Some(pause) = pause else { return };
        let until = after(pause, &*self.clock);
        let words = until.map_or_else(String::new, |until| format!(" until {} UTC", until.format("%H:%M:%S")));
        let message = Some(format!("waits for a limit of {}{words}", quoted(&self.model)));
        told(ToolProgress { progress: 0.0, total: None, message, until });
    }
}

fn as_number(characters: usize) -> f64 {
    u32::try_from(characters).map_or(f64::from(u32::MAX), f64::from)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A clock that draws one number.
    struct Draws(u64);

    impl Clock for Draws {
        fn now(&self) -> DateTime<Utc> {
            DateTime::UNIX_EPOCH
        }

        fn reading(&self) -> Duration {
            Duration::ZERO
        }

        fn fresh(&self) -> u64 {
            self.0
        }
    }

    proptest! {
        #[test]
        fn a_limit_is_waited_for_as_long_as_it_lasts_and_callers_spread(
            drawn in any::<u64>(), waited in 1..20_u32, asked in 0..120_000_u64,
        ) {
            let least = SHORTEST_WAIT.saturating_mul(1 << (waited - 1).min(8));
            let unknown = Trouble::new(TroubleKind::Limited, "");
            let wait = wait_for(&unknown, waited, &Draws(drawn));
            prop_assert!(wait >= least && wait <= LONGEST_PAUSE.max(least));
            let known = Trouble { pause: Some(Duration::from_millis(asked)), ..unknown };
            let wait = wait_for(&known, waited, &Draws(drawn));
            prop_assert!(wait >= Duration::from_millis(asked).max(least));
            prop_assert!(wait <= Duration::from_micros(asked * 1_050).max(least));
        }
    }

    #[test]
    fn a_pause_is_drawn_from_nothing_up_to_all_of_it() {
        let most = Duration::from_secs(2);
        let drawn = |number| jittered(most, &Draws(number));
        assert_eq!((drawn(0), drawn(1_999_999)), (Duration::ZERO, Duration::from_micros(1_999_999)));
        let mean = (0..1_000).map(|n| drawn(n * 7_919_317).as_secs_f64()).sum::<f64>() / 1_000.0;
        assert!((0.9..1.1).contains(&mean), "{mean}");
    }
}
