//! Budgets of tokens: what a call may take is reserved before it and settled after it, so that calls side
//! by side never spend more than they may together.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use super::port::Prompt;
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
    taken: Mutex<BTreeMap<String, u64>>,
}

/// Tokens that are set aside for one call. Letting go of it without settling counts the prompt as taken: nobody is
/// told what a call took that was given up.
pub(super) struct Reserved<'a> {
    purse: &'a Purse,
    day: Option<(Arc<dyn DayBook>, i64)>,
    model: &'a str,
    tokens: u64,
    taken: u64,
}

/// Why a call is not made.
pub(super) struct TooFewTokens {
    /// The fact.
    pub(super) said: String,
    /// Whether the same call may be made tomorrow.
    pub(super) of_day: bool,
}

impl Purse {
    /// Adds what a model took before.
    pub(super) fn note(&self, model: &str, tokens: u64) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = taken.entry(model.to_owned()).or_default();
        *sum = sum.saturating_add(tokens);
    }

    /// Sets aside what a call may take.
    ///
    /// # Errors
    /// Why there are too few tokens left.
    pub(super) async fn reserve<'a>(
        &'a self,
        prompt: &'a Prompt,
        day: Option<&Arc<dyn DayBook>>,
    ) -> Result<Reserved<'a>, TooFewTokens> {
        let (spec, tokens) = (&*prompt.model, prompt.most_tokens());
        {
            let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
            let before = taken.get(&spec.name).copied().unwrap_or(0);
            if before.saturating_add(tokens) > spec.per_execution_tokens {
                let said = format!(
                    "the call may take {} tokens, and of the {} that one execution may spend on the model {} {} are \
                     spent or set aside (per_execution_tokens)",
                    grouped(tokens),
                    grouped(spec.per_execution_tokens),
                    quoted(&spec.name),
                    grouped(before),
                );
                return Err(TooFewTokens { said, of_day: false });
            }
            taken.insert(spec.name.clone(), before.saturating_add(tokens));
        }
        // Until all is set aside nothing is asked: the execution gets its share back whatever happens.
        let mut reserved = Reserved { purse: self, day: None, model: &spec.name, tokens, taken: 0 };
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
        let mut all = self.purse.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sum) = all.get_mut(self.model) {
            *sum = sum.saturating_sub(self.tokens).saturating_add(self.taken);
        }
    }
}
