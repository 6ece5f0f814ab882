//! Google's Gemini API.

use serde_json::{Value, json};

use super::exchange::{Asked, Coming, number, put, text};
use super::refusal::{Refused, of_event};
use crate::generate::{Prompt, Shape, Speaker};
use crate::model::{Finish, TokenUsage};
use crate::names::segment;

pub(super) fn asked(prompt: &Prompt) -> Asked {
    let contents: Vec<Value> = prompt
        .turns
        .iter()
        .map(|turn| {
            let role = if turn.speaker == Speaker::User { "user" } else { "model" };
            json!({"role": role, "parts": [{"text": &*turn.text}]})
        })
        .collect();
    let mut config = json!({"maxOutputTokens": prompt.max_output_tokens});
    if let Some(temperature) = prompt.temperature {
        put(&mut config, "temperature", json!(f64::from(temperature) / 1_000.0));
    }
    if let (Shape::Schema | Shape::Json, Some(contract)) = (prompt.shape, &prompt.contract) {
        put(&mut config, "responseMimeType", json!("application/json"));
        if prompt.shape == Shape::Schema {
            put(&mut config, "responseJsonSchema", contract.schema().clone());
        }
    }
    let mut body = json!({"contents": contents, "generationConfig": config});
    if !prompt.system.is_empty() {
        let parts: Vec<Value> = prompt.system.iter().map(|part| json!({"text": &**part})).collect();
        put(&mut body, "systemInstruction", json!({"parts": parts}));
    }
    let path = format!("/models/{}:streamGenerateContent?alt=sse", segment(&prompt.model.model));
    Asked { path, headers: Vec::new(), key: ("x-goog-api-key", ""), body }
}

pub(super) fn take(event: &Value, coming: &mut Coming) -> Result<(), Refused> {
    if let Some(refused) = of_event(event) {
        return Err(refused);
    }
    if let Some(reason) = text(event, "/promptFeedback/blockReason") {
        return Err(Refused::within("content_filter", &format!("the prompt is blocked: {reason}")));
    }
    let parts = event.pointer("/candidates/0/content/parts").and_then(Value::as_array).into_iter().flatten();
    for part in parts.filter(|part| part.get("thought") != Some(&Value::Bool(true))) {
        coming.text.push_str(text(part, "/text").unwrap_or_default());
    }
    if event.get("usageMetadata").is_some_and(Value::is_object) {
        let reasoning = number(event, "/usageMetadata/thoughtsTokenCount");
        coming.usage = TokenUsage {
            input: number(event, "/usageMetadata/promptTokenCount"),
            output: number(event, "/usageMetadata/candidatesTokenCount").saturating_add(reasoning),
            cached: number(event, "/usageMetadata/cachedContentTokenCount"),
            reasoning,
        };
    }
    if let Some(reason) = text(event, "/candidates/0/finishReason") {
        coming.finish = Some(match reason {
            "STOP" => Finish::Stop,
            "MAX_TOKENS" => Finish::Length,
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => Finish::Filter,
            _ => Finish::Other,
        });
    }
    Ok(())
}
