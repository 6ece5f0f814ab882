//! Chat Completions in `OpenAI`'s shape, which Mistral, `vLLM`, llama.cpp and gateways speak as well.

use serde_json::{Value, json};

use super::exchange::{Asked, Coming, number, put, text};
use super::refusal::{Refused, of_event};
use crate::config::Provider;
use crate::generate::{Prompt, Shape, Speaker};
use crate::model::{Finish, TokenUsage};

pub(super) fn asked(prompt: &Prompt) -> Asked {
    let spec = &prompt.model;
    let mut messages: Vec<Value> =
        prompt.system.iter().map(|part| json!({"role": "system", "content": &**part})).collect();
    messages.extend(prompt.turns.iter().map(|turn| {
        let role = if turn.speaker == Speaker::User { "user" } else { "assistant" };
        json!({"role": role, "content": &*turn.text})
    }));
    // `OpenAI`'s newer models refuse the older name; many others know no other one.
    let most = if spec.provider == Provider::OpenAi { "max_completion_tokens" } else { "max_tokens" };
    let mut body = json!({"model": spec.model, "messages": messages, "stream": true});
    put(&mut body, most, json!(prompt.max_output_tokens));
    if spec.provider != Provider::Mistral {
        // Mistral counts unasked and refuses the option.
        put(&mut body, "stream_options", json!({"include_usage": true}));
    }
    if let Some(temperature) = prompt.temperature {
        put(&mut body, "temperature", json!(f64::from(temperature) / 1_000.0));
    }
    match (prompt.shape, &prompt.contract) {
        (Shape::Schema, Some(contract)) => {
            let schema = json!({"name": "output", "schema": contract.schema(), "strict": false});
            put(&mut body, "response_format", json!({"type": "json_schema", "json_schema": schema}));
        }
        (Shape::Json, Some(_)) => put(&mut body, "response_format", json!({"type": "json_object"})),
        (Shape::Text, _) | (_, None) => {}
    }
    Asked { path: "/chat/completions".to_owned(), headers: Vec::new(), key: ("authorization", "Bearer "), body }
}

/// Takes in an event, or a whole answer of a server that does not stream.
pub(super) fn take(event: &Value, coming: &mut Coming) -> Result<(), Refused> {
    if let Some(refused) = of_event(event) {
        return Err(refused);
    }
    match event.pointer("/choices/0/delta/content").or_else(|| event.pointer("/choices/0/message/content")) {
        Some(Value::String(content)) => coming.text.push_str(content),
        // Models that think send a list of chunks, of which those of the type text are the answer.
        Some(Value::Array(chunks)) => {
            let answer = chunks.iter().filter(|chunk| text(chunk, "/type") == Some("text"));
            coming.text.extend(answer.filter_map(|chunk| text(chunk, "/text")));
        }
        _ => {}
    }
    if let Some(refusal) = text(event, "/choices/0/delta/refusal").or_else(|| text(event, "/choices/0/message/refusal"))
    {
        return Err(Refused::within("content_filter", refusal));
    }
    // A whole answer is over, whether it says why or not.
    coming.over |= event.pointer("/choices/0/message").is_some() && event.pointer("/choices/0/delta").is_none();
    if let Some(reason) = text(event, "/choices/0/finish_reason") {
        coming.finish = Some(match reason {
            "stop" | "eos" | "end_turn" => Finish::Stop,
            "length" => Finish::Length,
            "model_length" => Finish::Context,
            "content_filter" => Finish::Filter,
            _ => Finish::Other,
        });
    }
    if event.get("usage").is_some_and(Value::is_object) {
        coming.usage = TokenUsage {
            input: number(event, "/usage/prompt_tokens"),
            output: number(event, "/usage/completion_tokens"),
            cached: number(event, "/usage/prompt_tokens_details/cached_tokens"),
            reasoning: number(event, "/usage/completion_tokens_details/reasoning_tokens"),
        };
    }
    Ok(())
}
