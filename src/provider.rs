//! Speaking to models over HTTP: requests and streamed answers in the shapes of Anthropic, `OpenAI`, Gemini and
//! Ollama, and what their refusals mean.
//!
//! One call is one request: tries, waits and budgets are not known here, nor flows. A key goes to its own
//! address and nowhere else: redirects are not followed.
//!
//! | file | what is in it |
//! |---|---|
//! | `exchange` | one request and the events of its answer, within bounds |
//! | `refusal` | what a status and a provider's words mean, and how long to wait |
//! | `anthropic`, `openai`, `gemini`, `ollama` | the request, and what an event adds to the answer |

#![warn(clippy::wildcard_enum_match_arm)]

mod anthropic;
mod exchange;
mod gemini;
mod ollama;
mod openai;
mod refusal;

use std::sync::{Arc, OnceLock};

use reqwest::Client;

use crate::clock::Clock;
use crate::config::WebFault;
use crate::generate::{Generating, Generator, OnText, Prompt};

/// Asks models over HTTP. Its clients are made when they are first needed.
pub struct Providers {
    clock: Arc<dyn Clock>,
    /// What is wrong with the proxy or the certificates that the environment names.
    fault: Option<WebFault>,
    /// For addresses on this machine and in private networks, which no proxy reaches.
    local: OnceLock<Result<Client, String>>,
    remote: OnceLock<Result<Client, String>>,
}

impl Providers {
    /// Nothing is opened yet.
    pub fn new(clock: Arc<dyn Clock>, fault: Option<WebFault>) -> Self {
        Self { clock, fault, local: OnceLock::new(), remote: OnceLock::new() }
    }
}

impl Generator for Providers {
    fn generate<'a>(&'a self, prompt: &'a Prompt, on_text: OnText<'a>) -> Generating<'a> {
        Box::pin(self.ask(prompt, on_text))
    }
}
