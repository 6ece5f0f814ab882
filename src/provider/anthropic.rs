//! Anthropic's Messages API.

use serde_json::{Value, json};

use super::exchange::{Asked, Coming, number, put, text};
use super::refusal::{Refused, of_event};
use crate::generate::{Prompt, Shape, Speaker};
use crate::model::Finish;

pub(super) fn asked(prompt: &Prompt) -> Asked {
    let messages: Vec<Value> = prompt
        .turns
        .iter()
        .map(|turn| {
            let role = if turn.speaker == Speaker::User { "user" } else { "assistant" };
            json!({"role": role, "content": &*turn.text})
        })
        .collect();
    let mut body = json!({
        "model": prompt.model.model,
        "max_tokens": prompt.max_output_tokens,
        "messages": messages,
        "stream": true,
    });
    if !prompt.system.is_empty() {
        let parts: Vec<Value> = prompt.system.iter().map(|part| json!({"type": "text", "text": &**part})).collect();
        put(&mut body, "system", json!(parts));
    }
    if let Some(temperature) = prompt.temperature {
        put(&mut body, "temperature", json!(f64::from(temperature) / 1_000.0));
    }
    if let (Shape::Schema, Some(contract)) = (prompt.shape, &prompt.contract) {
        put(&mut body, "output_config", json!({"format": {"type": "json_schema", "schema": contract.schema()}}));
    }
    let headers = vec![("anthropic-version", "2023-06-01")];
    Asked { path: "/v1/messages".to_owned(), headers, key: ("x-api-key", ""), body }
}

pub(super) fn take(event: &Value, coming: &mut Coming) -> Result<(), Refused> {
    if let Some(refused) = of_event(event) {
        return Err(refused);
    }
    match text(event, "/type") {
        Some("message_start") => {
            let cached = number(event, "/message/usage/cache_read_input_tokens");
            let written = number(event, "/message/usage/cache_creation_input_tokens");
            // What it had kept is counted apart from the rest of the prompt.
            coming.usage.input =
                number(event, "/message/usage/input_tokens").saturating_add(cached).saturating_add(written);
            coming.usage.cached = cached;
            coming.usage.output = number(event, "/message/usage/output_tokens");
        }
        Some("content_block_delta") => coming.text.push_str(text(event, "/delta/text").unwrap_or_default()),
        Some("message_delta") => {
            let output = number(event, "/usage/output_tokens");
            coming.usage.output = coming.usage.output.max(output);
            if let Some(reason) = text(event, "/delta/stop_reason") {
                coming.finish = Some(match reason {
                    "end_turn" | "stop_sequence" => Finish::Stop,
                    "max_tokens" => Finish::Length,
                    "model_context_window_exceeded" => Finish::Context,
                    "refusal" => Finish::Filter,
                    _ => Finish::Other,
                });
            }
        }
        Some("message_stop") => coming.over = true,
        _ => {}
    }
    Ok(())
}
