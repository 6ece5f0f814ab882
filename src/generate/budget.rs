//! Budgets of tokens: what a call may take is reserved before it and settled after it, so that calls side
//! by side never spend more than they may together.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tokio::sync::{Notify, oneshot};

use super::port::Prompt;
use crate::lock::lock;
use crate::names::{grouped, quoted};

/// Where the tokens of a day are counted, for all processes of this machine.
pub trait DayBook: Send + Sync {
    /// Adds tokens to what a model took today, unless that would be more than `most`; the day on which they
    /// count.
    ///
    /// # Errors
    /// How many it took, where that leaves too few; nothing is added then. `None` where nobody can tell.
    fn reserve(&self, model: &str, tokens: u64, most: u64) -> Result<i64, Option<u64>>;

    /// Replaces what was reserved on a day by what was taken.
    fn settle(&self, model: &str, day: i64, reserved: u64, taken: u64);
}

/// What one execution took of each model.
#[derive(Debug, Default)]
pub(super) struct Purse {
    shares: Mutex<BTreeMap<String, Share>>,
    /// Told whenever a call is settled.
    settled: Notify,
    /// Held while tokens are set aside, so that nobody sees what another call has of a day before it is under way.
    turn: tokio::sync::Mutex<()>,
}

/// What one execution spends on one model.
#[derive(Debug, Default)]
struct Share {
    taken: u64,
    /// What the calls that are under way may still take.
    aside: u64,
    /// How many calls are under way.
    under_way: usize,
    /// How many calls were settled.
    settled: u64,
}

/// Tokens that are set aside for one call. Letting go of it without settling counts the prompt as taken: nobody is
/// told what a call took that was given up.
pub(super) struct Reserved<'a> {
    purse: &'a Purse,
    day: Option<(Arc<dyn DayBook>, i64)>,
    model: &'a str,
    tokens: u64,
    taken: u64,
    under_way: bool,
}

/// Why a call is not made.
pub(super) struct TooFewTokens {
    /// The fact.
    pub(super) said: String,
    /// Whether the same call may be made tomorrow.
    pub(super) of_day: bool,
}

impl Purse {
    fn with<T>(&self, model: &str, what: impl FnOnce(&mut Share) -> T) -> T {
        what(lock(&self.shares).entry(model.to_owned()).or_default())
    }

    /// Adds what a model took before.
    pub(super) fn note(&self, model: &str, tokens: u64) {
        self.with(model, |share| share.taken = share.taken.saturating_add(tokens));
    }

    /// Sets aside what a call may take. While other calls of the execution are under way it waits for what they
    /// leave, so that calls side by side come as far as one after the other.
    ///
    /// # Errors
    /// Why there are too few tokens left.
    pub(super) async fn reserve<'a>(
        &'a self,
        prompt: &'a Prompt,
        day: Option<&Arc<dyn DayBook>>,
    ) -> Result<Reserved<'a>, TooFewTokens> {
        loop {
            let settled = self.settled.notified();
            tokio::pin!(settled);
            // From here on no call that ends is missed.
            settled.as_mut().enable();
            let turn = self.turn.lock().await;
            let before = self.with(&prompt.model.name, |share| share.settled);
            let short = match self.try_reserve(prompt, day).await {
                Ok(reserved) => return Ok(reserved),
                Err(short) => short,
            };
            drop(turn);
            match self.with(&prompt.model.name, |share| (share.settled > before, share.under_way > 0)) {
                (true, _) => {}
                (false, true) => settled.await,
                (false, false) => return Err(short),
            }
        }
    }

    async fn try_reserve<'a>(
        &'a self,
        prompt: &'a Prompt,
        day: Option<&Arc<dyn DayBook>>,
    ) -> Result<Reserved<'a>, TooFewTokens> {
        let (spec, tokens) = (&*prompt.model, prompt.most_tokens());
        self.with(&spec.name, |share| {
            let before = share.taken.saturating_add(share.aside);
            if before.saturating_add(tokens) > spec.per_execution_tokens {
                return Err(before);
            }
            share.aside = share.aside.saturating_add(tokens);
            Ok(())
        })
        .map_err(|before| {
            let said = format!(
                "the call may take {} tokens, and of the {} that one execution may spend on the model {} {} are spent \
                 (per_execution_tokens)",
                grouped(tokens),
                grouped(spec.per_execution_tokens),
                quoted(&spec.name),
                grouped(before),
            );
            TooFewTokens { said, of_day: false }
        })?;
        // Until all is set aside nothing is asked: the execution gets its share back whatever happens.
        let mut reserved = Reserved { purse: self, day: None, model: &spec.name, tokens, taken: 0, under_way: false };
        // What a day takes is kept wherever a budget asks for it.
        if let (Some(day), Some(most)) = (day, spec.per_day_tokens) {
            let today = of_day(day.clone(), spec.name.clone(), tokens, most).await.map_err(|before| {
                let spent = before.map_or_else(
                    || "and how many are spent can't be read".to_owned(),
                    |before| format!("and {} of them are spent or set aside", grouped(before)),
                );
                let said = format!(
                    "the call may take {} tokens; the model {} may take {} in a day (UTC), {spent} (per_day_tokens)",
                    grouped(tokens),
                    quoted(&spec.name),
                    grouped(most),
                );
                TooFewTokens { said, of_day: before.is_some() && tokens <= most }
            })?;
            reserved.day = Some((day.clone(), today));
        }
        reserved.taken = u64::try_from(prompt.estimate).unwrap_or(u64::MAX);
        reserved.under_way = true;
        self.with(&spec.name, |share| share.under_way += 1);
        Ok(reserved)
    }
}

/// Sets tokens of a day aside on a thread that may wait: other processes write there, too. Whoever gives up
/// meanwhile takes nothing of the day.
async fn of_day(day: Arc<dyn DayBook>, model: String, tokens: u64, most: u64) -> Result<i64, Option<u64>> {
    let (answer, answered) = oneshot::channel();
    tokio::task::spawn_blocking(move || {
        let reserved = day.reserve(&model, tokens, most);
        if let Err(Ok(today)) = answer.send(reserved) {
            day.settle(&model, today, tokens, 0);
        }
    });
    answered.await.unwrap_or(Err(None))
}

impl Reserved<'_> {
    /// Says what the call took.
    pub(super) async fn settle(mut self, taken: u64) {
        self.taken = taken;
        let Some((day, today)) = self.day.take() else { return };
        let (model, tokens) = (self.model.to_owned(), self.tokens);
        // What can't be written is in the log.
        let _ = tokio::task::spawn_blocking(move || day.settle(&model, today, tokens, taken)).await;
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        if let Some((day, today)) = self.day.take() {
            let (model, tokens, taken) = (self.model.to_owned(), self.tokens, self.taken);
            let settle = move || day.settle(&model, today, tokens, taken);
            match tokio::runtime::Handle::try_current() {
                Ok(runtime) => drop(runtime.spawn_blocking(settle)),
                Err(_) => settle(),
            }
        }
        self.purse.with(self.model, |share| {
            share.aside = share.aside.saturating_sub(self.tokens);
            share.taken = share.taken.saturating_add(self.taken);
            if self.under_way {
                share.under_way -= 1;
                share.settled += 1;
            }
        });
        if self.under_way {
            self.purse.settled.notify_waiters();
        }
    }
}
