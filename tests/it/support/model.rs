//! A stand-in for a provider of models: an address on loopback that answers as a script says, in the shape of
//! Anthropic, `OpenAI`, Gemini or Ollama.

use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// Whose shape is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaks {
    Anthropic,
    OpenAi,
    Gemini,
    Ollama,
}

/// What one request comes to.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// This text, streamed in two pieces.
    Answer(String),
    /// The same, with how it ended and how many tokens the prompt had.
    Ended(String, &'static str, u64),
    /// The same as an answer, with so much time before each piece.
    Slowly(String, Duration),
    /// A part of an answer, and then the connection is lost.
    Cut(String),
    /// A status, headers and a body.
    Refuse(u16, Vec<(&'static str, String)>, Value),
    /// Nothing, until the other side gives up.
    Hang,
    /// These bytes, as they are.
    Raw(String),
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The last text of the user, in whichever shape.
    pub(crate) fn prompt(&self) -> String {
        let messages = self.body.get("messages").or(self.body.get("contents")).unwrap();
        let last = messages.as_array().unwrap().last().unwrap();
        let text = last.pointer("/parts/0/text").or(last.get("content")).unwrap();
        text.as_str().unwrap().to_owned()
    }

    /// All of the system prompt, in whichever shape.
    pub(crate) fn system(&self) -> String {
        let anthropic = self.body.get("system").and_then(Value::as_array).cloned();
        let gemini = self.body.pointer("/systemInstruction/parts").and_then(Value::as_array).cloned();
        let texts = |parts: Vec<Value>| parts.iter().map(|part| part["text"].as_str().unwrap().to_owned()).collect();
        let parts: Vec<String> = anthropic.or(gemini).map_or_else(
            || {
                let messages = self.body["messages"].as_array().cloned().unwrap_or_default();
                let system = messages.iter().filter(|message| message["role"] == "system");
                system.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
            },
            texts,
        );
        parts.join("\n--\n")
    }
}

/// An address that answers. Letting go of it ends it.
pub(crate) struct StandIn {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    most: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // It waits for a connection, and looks then.
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
    }
}

impl StandIn {
    /// One that does these in turn, and the last one again and again.
    pub(crate) fn doing(speaks: Speaks, acts: Vec<Act>) -> Self {
        Self::by(speaks, move |number, _| acts.get(number).or(acts.last()).cloned().unwrap())
    }

    /// One that answers every prompt with itself.
    pub(crate) fn echoing(speaks: Speaks) -> Self {
        Self::by(speaks, |_, asked| Act::Answer(format!("<{}>", asked.prompt())))
    }

    /// One that does what this says of each request, the first of which is number 0.
    pub(crate) fn by(speaks: Speaks, act: impl Fn(usize, &Asked) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (asked, most, over) =
            (Arc::<Mutex<Vec<Asked>>>::default(), Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
        let (act, under_way) = (Arc::new(act), Arc::new(AtomicUsize::new(0)));
        let (kept, highest, ended) = (asked.clone(), most.clone(), over.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (act, kept, highest, under_way) = (act.clone(), kept.clone(), highest.clone(), under_way.clone());
                std::thread::spawn(move || {
                    let Some(request) = read(&stream) else { return };
                    highest.fetch_max(under_way.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    let number = {
                        let mut kept = kept.lock().unwrap();
                        kept.push(request.clone());
                        kept.len() - 1
                    };
                    let act = act(number, &request);
                    // A client that gave up is no fault of the test.
                    let _ = answer(speaks, act, &stream);
                    under_way.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self { url, asked, most, over }
    }

    /// What it was asked, in order.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// The most requests that were under way at once.
    pub(crate) fn most_at_once(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").map_or("0", |(_, value)| value);
    let mut body = vec![0; length.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { path, headers, body: serde_json::from_slice(&body).ok()? })
}

fn answer(speaks: Speaks, act: Act, mut stream: &TcpStream) -> std::io::Result<()> {
    match act {
        Act::Hang => {
            let mut nothing = [0];
            stream.read_exact(&mut nothing)
        }
        Act::Raw(bytes) => stream.write_all(bytes.as_bytes()),
        Act::Refuse(status, headers, body) => {
            let body = body.to_string();
            let headers: String = headers.iter().map(|(name, value)| [name, ": ", value, "\r\n"].concat()).collect();
            let length = body.len();
            write!(
                stream,
                "HTTP/1.1 {status} No\r\ncontent-type: application/json\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
            )
        }
        Act::Answer(text) => whole(speaks, &text, "stop", 7, stream),
        Act::Slowly(text, pause) => {
            head(speaks, stream)?;
            for event in events(speaks, &text, "stop", 7) {
                std::thread::park_timeout(pause);
                chunk(&event, stream)?;
                stream.flush()?;
            }
            write!(stream, "0\r\n\r\n")
        }
        Act::Ended(text, end, input) => whole(speaks, &text, end, input, stream),
        Act::Cut(text) => {
            head(speaks, stream)?;
            let begun = events(speaks, &text, "stop", 7);
            // All but what says that it is over, and no end of the body.
            let keep = begun.len().saturating_sub(2).max(1);
            begun.iter().take(keep).try_for_each(|event| chunk(event, stream))?;
            stream.flush()
        }
    }
}

fn head(speaks: Speaks, mut stream: &TcpStream) -> std::io::Result<()> {
    let kind = if speaks == Speaks::Ollama { "application/x-ndjson" } else { "text/event-stream" };
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n")
}

fn chunk(event: &str, mut stream: &TcpStream) -> std::io::Result<()> {
    write!(stream, "{:x}\r\n{event}\r\n", event.len())
}

fn whole(speaks: Speaks, text: &str, end: &str, input: u64, mut stream: &TcpStream) -> std::io::Result<()> {
    head(speaks, stream)?;
    events(speaks, text, end, input).iter().try_for_each(|event| chunk(event, stream))?;
    write!(stream, "0\r\n\r\n")
}

/// An answer as its provider streams it; `end` is stop, length or filter.
fn events(speaks: Speaks, text: &str, end: &str, input: u64) -> Vec<String> {
    let half = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
    let (first, second) = text.split_at(half);
    let output = u64::try_from(text.len()).unwrap();
    // Lines without a meaning, as proxies send them to keep a connection open, change nothing.
    let data = |value: Value| format!(": wait\nretry: soon\nid\ndata: {value}\n\n");
    match speaks {
        Speaks::OpenAi => {
            let end = if end == "filter" { "content_filter" } else { end };
            let piece = |text: &str| data(json!({"choices": [{"index": 0, "delta": {"content": text}}]}));
            vec![
                data(json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})),
                piece(first),
                piece(second),
                data(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": end}]})),
                data(json!({"choices": [], "usage": {
                    "prompt_tokens": input, "completion_tokens": output,
                    "prompt_tokens_details": {"cached_tokens": 2},
                    "completion_tokens_details": {"reasoning_tokens": 1},
                }})),
                "data: [DONE]\n\n".to_owned(),
            ]
        }
        Speaks::Anthropic => {
            let end = match end {
                "length" => "max_tokens",
                "filter" => "refusal",
                _ => "end_turn",
            };
            let event = |name: &str, value: Value| format!("event: {name}\n{}", data(value));
            let piece = |text: &str| {
                let delta = json!({"type": "text_delta", "text": text});
                event("content_block_delta", json!({"type": "content_block_delta", "index": 0, "delta": delta}))
            };
            let usage = json!({"input_tokens": input - 2, "cache_read_input_tokens": 2, "output_tokens": 1});
            vec![
                event("message_start", json!({"type": "message_start", "message": {"usage": usage}})),
                event("ping", json!({"type": "ping"})),
                piece(first),
                piece(second),
                event(
                    "message_delta",
                    json!({
                        "type": "message_delta", "delta": {"stop_reason": end}, "usage": {"output_tokens": output},
                    }),
                ),
                event("message_stop", json!({"type": "message_stop"})),
            ]
        }
        Speaks::Gemini => {
            let end = match end {
                "length" => "MAX_TOKENS",
                "filter" => "SAFETY",
                _ => "STOP",
            };
            let content = |text: &str| json!({"parts": [{"text": text}], "role": "model"});
            vec![
                data(json!({"candidates": [{"content": {"parts": [{"text": "hm", "thought": true}]}}]})),
                data(json!({"candidates": [{"content": content(first)}]})),
                data(json!({
                    "candidates": [{"content": content(second), "finishReason": end}],
                    "usageMetadata": {
                        "promptTokenCount": input, "candidatesTokenCount": output - 1, "thoughtsTokenCount": 1,
                        "cachedContentTokenCount": 2,
                    },
                })),
            ]
        }
        Speaks::Ollama => {
            let line = |value: Value| format!("{value}\n");
            let piece = |text: &str| line(json!({"message": {"role": "assistant", "content": text}, "done": false}));
            vec![
                piece(first),
                piece(second),
                line(json!({
                    "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": end,
                    "prompt_eval_count": input, "eval_count": output,
                })),
            ]
        }
    }
}
