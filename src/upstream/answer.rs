//! A tool's answer in one shape, whatever blocks it came in: texts joined, files decoded, links kept
//! and never followed. Its size is counted as it is held, not as it travelled.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;

use crate::model::{ToolAnswer, ToolFile, ToolLink};
use crate::names::{counted, legible, shown};

/// Base64 with or without its padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
/// The longest name or media type that is kept, in characters.
const LONGEST_NAME: usize = 200;
/// The longest address that is kept, in characters.
const LONGEST_URI: usize = 2_000;

/// Why an answer can't be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum UnusableBlock {
    /// Nothing of it can be handed on.
    #[error("{}", left_out.join("; "))]
    NothingLeft { left_out: Vec<String> },
    /// More than is allowed.
    #[error("its answer has {bytes} bytes, and maxResultBytes allows {most}")]
    TooLarge { bytes: usize, most: usize },
}

/// The answer, without what can't be handed on: to `left_out` of it that is known already comes what
/// shows here. One of more than `most` bytes is refused, and one of which nothing is left.
pub(super) fn normal(result: CallToolResult, left_out: Vec<String>, most: usize) -> Result<ToolAnswer, UnusableBlock> {
    let mut answer = ToolAnswer { is_error: result.is_error.unwrap_or(false), left_out, ..ToolAnswer::default() };
    let mut texts: Vec<String> = Vec::new();
    let add = |answer: &mut ToolAnswer, file: Result<ToolFile, String>| match file {
        Ok(file) => answer.files.push(file),
        Err(why) => answer.left_out.push(why),
    };
    for (place, block) in result.content.into_iter().enumerate() {
        match block {
            ContentBlock::Text(text) => texts.push(text.text),
            ContentBlock::Image(image) => add(&mut answer, file("image", place, &image.mime_type, None, &image.data)),
            ContentBlock::Audio(sound) => add(&mut answer, file("sound", place, &sound.mime_type, None, &sound.data)),
            ContentBlock::ResourceLink(link) => answer.links.push(ToolLink {
                uri: shown(&link.uri, LONGEST_URI),
                name: Some(shown(&link.name, LONGEST_NAME)),
                media_type: link.mime_type.map(|kind| shown(&kind, LONGEST_NAME)),
            }),
            ContentBlock::Resource(embedded) => match embedded.resource {
                // What it says is read like any text; where it is from is not lost.
                ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
                    texts.push(text);
                    let media_type = mime_type.map(|kind| shown(&kind, LONGEST_NAME));
                    answer.links.push(ToolLink { uri: shown(&uri, LONGEST_URI), name: None, media_type });
                }
                ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                    let kind = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
                    add(&mut answer, file("document", place, &kind, Some(&uri), &blob));
                }
                // The protocol may grow; what is not known can't be handed on.
                _ => answer.left_out.push(format!("its content number {} is not known here", place + 1)),
            },
            _ => answer.left_out.push(format!("its content number {} is not known here", place + 1)),
        }
    }
    let mut hidden = 0;
    answer.text = (!texts.is_empty()).then(|| without_hidden(&texts.join("\n"), &mut hidden));
    answer.structured = result.structured_content.map(|value| all_without_hidden(value, &mut hidden));
    if hidden > 0 {
        answer.left_out.push(format!("{} removed", counted(hidden, "hidden character", "hidden characters")));
    }
    let bytes = size(&answer);
    if bytes == 0 && answer.links.is_empty() && answer.files.is_empty() && !answer.left_out.is_empty() {
        return Err(UnusableBlock::NothingLeft { left_out: answer.left_out });
    }
    if bytes > most {
        return Err(UnusableBlock::TooLarge { bytes, most });
    }
    answer.json = answer.text.as_deref().and_then(as_json);
    Ok(answer)
}

/// A text without characters that no screen shows: a model would read them. `removed` counts them.
fn without_hidden(text: &str, removed: &mut usize) -> String {
    let kept = legible(text);
    if let Cow::Owned(kept) = &kept {
        *removed += text.chars().count().saturating_sub(kept.chars().count());
    }
    kept.into_owned()
}

/// A value without them in any of its texts and names.
fn all_without_hidden(value: Value, removed: &mut usize) -> Value {
    match value {
        Value::String(text) => Value::String(without_hidden(&text, removed)),
        Value::Array(items) => items.into_iter().map(|item| all_without_hidden(item, removed)).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| (without_hidden(&name, removed), all_without_hidden(value, removed)))
            .collect(),
        other => other,
    }
}

/// How many bytes an answer holds.
pub(super) fn size(answer: &ToolAnswer) -> usize {
    let text = answer.text.as_ref().map_or(0, String::len);
    let files: usize = answer.files.iter().map(|file| file.bytes.len()).sum();
    let links: usize = answer.links.iter().map(|link| link.uri.len()).sum();
    let structured = answer.structured.as_ref().map_or(0, |value| {
        let mut count = ByteCounter(0);
        // A counter can't fail.
        let _ = serde_json::to_writer(&mut count, value);
        count.0
    });
    text + files + links + structured
}

struct ByteCounter(usize);

impl std::io::Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn file(what: &'static str, place: usize, kind: &str, name: Option<&str>, data: &str) -> Result<ToolFile, String> {
    let packed: String;
    // Some tools write the address that a page would have.
    let data = match data.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
        Some((_, data)) => data,
        None => data,
    };
    // Some tools break their lines, as mail does.
    let data = if data.contains(|c: char| c.is_ascii_whitespace()) {
        packed = data.split_ascii_whitespace().collect();
        &packed
    } else {
        data
    };
    let bytes = BASE64.decode(data).map_err(|_| format!("its {what} number {} is not base64", place + 1))?;
    let name = name.map(|name| shown(name, LONGEST_NAME));
    Ok(ToolFile { media_type: shown(kind, LONGEST_NAME), name, bytes: Arc::from(bytes) })
}

/// The whole text as JSON, where that is an object or a list.
fn as_json(text: &str) -> Option<Value> {
    let text = text.trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn normal_of(result: Value) -> Result<ToolAnswer, UnusableBlock> {
        normal(serde_json::from_value(result).expect("a result"), Vec::new(), 10_000)
    }

    #[test]
    fn every_kind_of_block_finds_its_place() {
        let structured: Value = serde_json::from_str(r#"{"n": 1.10}"#).expect("JSON");
        let answer = normal_of(json!({"content": [
            {"type": "text", "text": "one"},
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            {"type": "audio", "data": "aG\nk", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "two"}},
            {"type": "resource", "resource": {"uri": "file:///b.bin", "blob": "aGk="}},
            {"type": "resource_link", "uri": "https://example.com/c", "name": "c", "mimeType": "text/html"},
        ], "structuredContent": structured, "isError": true}))
        .expect("an answer");
        assert_eq!((answer.text.as_deref(), answer.is_error, answer.json.is_none()), (Some("one\ntwo"), true, true));
        let files: Vec<(&str, Option<&str>, &[u8])> =
            answer.files.iter().map(|file| (file.media_type.as_str(), file.name.as_deref(), &*file.bytes)).collect();
        assert_eq!(
            files,
            [
                ("image/png", None, &b"hi"[..]),
                ("audio/wav", None, b"hi"),
                ("application/octet-stream", Some("file:///b.bin"), b"hi"),
            ]
        );
        let links: Vec<&str> = answer.links.iter().map(|link| link.uri.as_str()).collect();
        assert_eq!(links, ["file:///a.txt", "https://example.com/c"]);
        assert_eq!(answer.structured.expect("structured").to_string(), r#"{"n":1.10}"#);
    }

    #[test]
    fn a_text_that_is_an_object_or_a_list_is_read_as_json_with_its_digits() {
        for (text, json) in [
            (r#" {"a": 12345678901234567890} "#, Some(r#"{"a":12345678901234567890}"#)),
            ("[1, 2]", Some("[1,2]")),
            ("7", None),
            ("\"text\"", None),
            ("{not json", None),
            ("[see] there", None),
        ] {
            let answer = normal_of(json!({"content": [{"type": "text", "text": text}]})).expect("an answer");
            assert_eq!(answer.json.map(|value| value.to_string()).as_deref(), json, "{text}");
            assert_eq!(answer.text.as_deref(), Some(text));
        }
        let nothing = normal_of(json!({"content": []})).expect("an answer");
        assert_eq!(nothing, ToolAnswer::default());
    }

    #[test]
    fn a_file_that_is_not_base64_is_left_out_and_an_answer_with_nothing_else_is_refused() {
        let image = |data: &str| json!({"type": "image", "data": data, "mimeType": "image/png"});
        let beside =
            normal_of(json!({"content": [{"type": "text", "text": "x"}, image("not base64!")]})).expect("an answer");
        assert_eq!(
            (beside.text.as_deref(), beside.left_out),
            (Some("x"), vec!["its image number 2 is not base64".to_owned()])
        );
        let alone = normal_of(json!({"content": [image("not base64!")]})).expect_err("refused");
        assert_eq!(alone.to_string(), "its image number 1 is not base64");
        let of_a_page = normal_of(json!({"content": [image("data:image/png;base64,aGk=")]})).expect("an answer");
        assert_eq!(&*of_a_page.files[0].bytes, b"hi");
    }

    #[test]
    fn an_answer_that_is_too_large_is_refused_in_words() {
        let large = json!({"content": [{"type": "text", "text": "x".repeat(9_000)}], "structuredContent": {"a": "y".repeat(1_000)}});
        assert_eq!(
            normal_of(large).expect_err("refused").to_string(),
            "its answer has 10008 bytes, and maxResultBytes allows 10000"
        );
    }
}
