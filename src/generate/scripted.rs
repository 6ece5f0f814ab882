//! Answers that are given instead of a model's: by tests, and wherever nothing may be called.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::port::{Generating, Generator, OnText, Prompt, Reply, Trouble, TroubleKind};
use crate::model::{Finish, TokenUsage};

/// One answer.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptedAnswer {
    /// A text.
    Text(String),
    /// A value, as JSON.
    Json(Value),
    /// The model fails, in these words.
    Error(String),
    /// One call fails in this way.
    Trouble(Trouble),
    /// This reply, as it is.
    Reply(Reply),
}

impl ScriptedAnswer {
    /// What a call comes to.
    pub fn given(self, prompt: &Prompt) -> Result<Reply, Trouble> {
        let usage = |text: &str| TokenUsage {
            input: u64::try_from(prompt.estimate).unwrap_or(u64::MAX),
            output: u64::try_from(crate::tokens::estimate(text)).unwrap_or(u64::MAX),
            ..TokenUsage::default()
        };
        let of = |text: String| Reply { usage: usage(&text), text, finish: Finish::Stop };
        match self {
            Self::Text(text) => Ok(of(text)),
            Self::Json(value) => Ok(of(value.to_string())),
            Self::Error(said) => Err(Trouble::new(TroubleKind::Refused, said)),
            Self::Trouble(trouble) => Err(trouble),
            Self::Reply(reply) => Ok(reply),
        }
    }
}

/// A generator that gives what it was handed, in this order, and keeps what it was asked.
#[derive(Debug, Default)]
pub struct Scripted {
    answers: Mutex<VecDeque<ScriptedAnswer>>,
    asked: Mutex<Vec<Prompt>>,
}

impl Scripted {
    /// These answers, one for each call.
    pub fn of(answers: impl IntoIterator<Item = ScriptedAnswer>) -> Self {
        Self { answers: Mutex::new(answers.into_iter().collect()), asked: Mutex::default() }
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<Prompt> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Generator for Scripted {
    fn generate<'a>(&'a self, prompt: &'a Prompt, on_text: OnText<'a>) -> Generating<'a> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(prompt.clone());
        let next = self.answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        Box::pin(async move {
            let nothing = || Trouble::new(TroubleKind::Refused, "the script has no more answers");
            let reply = next.ok_or_else(nothing)?.given(prompt)?;
            on_text(&reply.text);
            Ok(reply)
        })
    }
}
