//! Ollama's own API: its address in `OpenAI`'s shape ignores how much context a prompt needs.

use serde_json::{Value, json};

use super::exchange::{Asked, Coming, number, put, text};
use super::refusal::{Refused, of_event};
use crate::generate::{Prompt, Shape, Speaker};
use crate::model::{Finish, TokenUsage};

/// The context that is asked for comes in steps of so many tokens: a change of it loads the model anew.
const STEP: u64 = 2_048;

pub(super) fn asked(prompt: &Prompt) -> Asked {
    let mut messages: Vec<Value> =
        prompt.system.iter().map(|part| json!({"role": "system", "content": &**part})).collect();
    messages.extend(prompt.turns.iter().map(|turn| {
        let role = if turn.speaker == Speaker::User { "user" } else { "assistant" };
        json!({"role": role, "content": &*turn.text})
    }));
    let mut options = json!({"num_predict": prompt.max_output_tokens, "num_ctx": context(prompt)});
    if let Some(temperature) = prompt.temperature {
        put(&mut options, "temperature", json!(f64::from(temperature) / 1_000.0));
    }
    let mut body = json!({"model": prompt.model.model, "messages": messages, "stream": true, "options": options});
    match (prompt.shape, &prompt.contract) {
        (Shape::Schema, Some(contract)) => put(&mut body, "format", contract.schema().clone()),
        (Shape::Json, Some(_)) => put(&mut body, "format", json!("json")),
        (Shape::Text, _) | (_, None) => {}
    }
    Asked { path: "/api/chat".to_owned(), headers: Vec::new(), key: ("authorization", "Bearer "), body }
}

/// How much context prompt and answer need: our estimate and a fifth, because vocabularies differ, and the answer.
fn context(prompt: &Prompt) -> u64 {
    let estimate = u64::try_from(prompt.estimate).unwrap_or(u64::MAX);
    let needed = estimate.saturating_add(estimate / 5).saturating_add(u64::from(prompt.max_output_tokens));
    let stepped = needed.div_ceil(STEP).saturating_mul(STEP);
    prompt.model.context_tokens.map_or(stepped, |most| stepped.min(u64::from(most)))
}

pub(super) fn take(event: &Value, coming: &mut Coming) -> Result<(), Refused> {
    if let Some(refused) = of_event(event) {
        return Err(refused);
    }
    coming.text.push_str(text(event, "/message/content").unwrap_or_default());
    if event.get("done") == Some(&Value::Bool(true)) {
        coming.over = true;
        coming.finish = Some(match text(event, "/done_reason") {
            Some("length") => Finish::Length,
            Some("stop") | None => Finish::Stop,
            Some(_) => Finish::Other,
        });
        coming.usage = TokenUsage {
            input: number(event, "/prompt_eval_count"),
            output: number(event, "/eval_count"),
            ..TokenUsage::default()
        };
    }
    Ok(())
}
