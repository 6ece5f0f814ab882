//! Reading the section `[models]`: every key with the fault that it makes, and no key of a provider in any
//! message.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use http::Uri;
use toml::de::{DeTable, DeValue};

use super::{Answers, ModelKey, ModelSpec, NO_MODEL, Provider, SECTION};
use crate::config::environment::Environment;
use crate::config::error::{Origin, Place, SettingsError, system_says};
use crate::config::file::position;
use crate::config::reading::{is_placeholder, on_this_machine};
use crate::config::secret::{Secret, redact};
use crate::files::{read_named, readable_by_others};
use crate::names::{nearest, quoted, unprintable};

/// The most models that one file may list.
const MOST: usize = 100;
/// The largest file that a key is read from, in bytes.
const LARGEST_KEY: u64 = 16 << 10;
/// The most tokens that a budget may name.
const MOST_TOKENS: u64 = 1_000_000_000_000;
/// One in millionths: how prices are kept.
const MILLION: f64 = 1_000_000.0;

/// Every key of a model's table.
const KEYS: [&str; 16] = [
    "provider",
    "model",
    "base_url",
    "key_env",
    "key_file",
    "max_output_tokens",
    "temperature",
    "context_tokens",
    "fallback",
    "parallel",
    "timeout_ms",
    "per_execution_tokens",
    "per_day_tokens",
    "price_in",
    "price_out",
    "answers",
];

/// Reads the section `[models]`, every model of it.
///
/// # Errors
/// The first thing in it that can't be used.
pub(in crate::config) fn read(
    table: DeTable<'_>,
    (file, text): (&Path, &str),
    environment: &Environment,
) -> Result<Vec<ModelSpec>, SettingsError> {
    let mut models = BTreeMap::new();
    for (name, value) in table {
        let line = position(text, name.span().start).0;
        let name = name.into_inner().into_owned();
        let origin = || Origin::File { path: file.to_owned(), line };
        let setting = format!("{SECTION}.{}", crate::names::shown(&redact(&name, &[]), 80));
        let place = Place { setting, origin: origin() };
        if !is_name(&name) {
            let why = "a model's name has 1 to 64 letters, digits, - _ . and is not none";
            return Err(SettingsError::BadModel { place, why: why.to_owned(), hint: None });
        }
        let DeValue::Table(table) = value.into_inner() else {
            let why = "is no table: a model is a section of its own".to_owned();
            let hint = Some(format!("write [{SECTION}.{name}] and its keys below it"));
            return Err(SettingsError::BadModel { place, why, hint });
        };
        let entry = ModelEntry { name: &name, at: place, file, text, environment, values: BTreeMap::new() };
        models.insert(name.clone(), entry.read(table)?);
    }
    if models.len() > MOST {
        let place = Place { setting: SECTION.to_owned(), origin: Origin::File { path: file.to_owned(), line: 1 } };
        let why = format!("lists {} models, and {MOST} are allowed", models.len());
        return Err(SettingsError::BadModel { place, why, hint: None });
    }
    let names: Vec<String> = models.keys().cloned().collect();
    for spec in models.values() {
        if let Some(unknown) = spec.fallback.iter().find(|name| **name == spec.name || !names.contains(*name)) {
            let setting = format!("{SECTION}.{}.fallback", spec.name);
            let place =
                Place { setting, origin: Origin::File { path: file.to_owned(), line: line_of(text, &spec.name) } };
            let others: Vec<String> = names.iter().filter(|name| **name != spec.name).cloned().collect();
            let (why, hint) = if *unknown == spec.name {
                ("names the model itself; only another one can stand in for it".to_owned(), None)
            } else {
                (format!("names {}, which is no model of this file", quoted(unknown)), did_you_mean(unknown, &others))
            };
            return Err(SettingsError::BadModel { place, why, hint });
        }
    }
    Ok(models.into_values().collect())
}

/// The line of `fallback` in a model's section, as good as it can be told.
fn line_of(text: &str, name: &str) -> usize {
    let lines = || text.lines().enumerate();
    let head = lines().find(|(_, line)| line.contains(SECTION) && line.contains(name)).map_or(0, |(line, _)| line);
    let key = lines().skip(head).find(|(_, line)| line.contains("fallback"));
    key.map_or(head, |(line, _)| line) + 1
}

/// "did you mean", or which ones there are.
pub(in crate::config) fn did_you_mean(name: &str, names: &[String]) -> Option<String> {
    let near = nearest(name, names.iter().map(String::as_str), 1).first().map(|near| format!("did you mean {near}?"));
    near.or_else(|| (!names.is_empty()).then(|| format!("there are: {}", crate::names::few(names))))
}

fn is_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=64).contains(&name.len()) && name.chars().all(letter) && name != NO_MODEL
}

/// A value as it is written, and its line.
struct Written {
    value: WrittenValue,
    line: usize,
}

enum WrittenValue {
    Text(String),
    Number(f64),
    Whole(u64),
    Texts(Vec<String>),
    Other(&'static str),
}

/// One model's table on its way to become a model.
struct ModelEntry<'a> {
    name: &'a str,
    at: Place,
    file: &'a Path,
    text: &'a str,
    environment: &'a Environment,
    values: BTreeMap<&'static str, Written>,
}

impl ModelEntry<'_> {
    fn read(mut self, table: DeTable<'_>) -> Result<ModelSpec, SettingsError> {
        for (key, value) in table {
            let line = position(self.text, key.span().start).0;
            let key = key.into_inner();
            let Some(known) = KEYS.iter().find(|known| **known == key) else {
                return Err(SettingsError::UnknownKey {
                    file: self.file.to_owned(),
                    line,
                    shown: quoted(&redact(&format!("{SECTION}.{}.{key}", self.name), &[])),
                    nearest: nearest(&key, KEYS, 1).first().copied(),
                    keys: KEYS.to_vec(),
                });
            };
            self.values.insert(known, Written { value: written(value.into_inner()), line });
        }
        let provider = self.word("provider", &Provider::WORDS)?.and_then(Provider::named);
        let Some(provider) = provider else {
            return Err(self.bad(
                "provider",
                "is missing",
                Some(format!("write one of: {}", Provider::WORDS.join(", "))),
            ));
        };
        let Some(model) = self.plain("model")? else {
            let hint = "write the provider's name for the model: model = \"…\"".to_owned();
            return Err(self.bad("model", "is missing", Some(hint)));
        };
        let (base_url, local) = self.address(provider)?;
        let (key, key_place) = self.key(provider, local)?;
        Ok(ModelSpec {
            name: self.name.to_owned(),
            provider,
            model,
            base_url,
            local,
            key,
            key_place,
            max_output_tokens: self.small("max_output_tokens", 1, 1_000_000)?.unwrap_or(4_096),
            temperature: self.thousandths("temperature", 2.0)?,
            context_tokens: self.small("context_tokens", 256, 100_000_000)?,
            fallback: self.list("fallback")?,
            parallel: self.small("parallel", 1, 64)?.and_then(|number| usize::try_from(number).ok()).unwrap_or(4),
            timeout: Duration::from_millis(self.whole("timeout_ms", 1_000, 3_600_000)?.unwrap_or(300_000)),
            per_execution_tokens: self.whole("per_execution_tokens", 1, MOST_TOKENS)?.unwrap_or(200_000),
            per_day_tokens: self.whole("per_day_tokens", 1, MOST_TOKENS)?,
            price_in: self.millionths("price_in")?,
            price_out: self.millionths("price_out")?,
            answers: self.word("answers", &Answers::WORDS)?.and_then(Answers::named),
        })
    }

    fn place(&self, key: &'static str) -> Place {
        let line = self.values.get(key).map(|written| written.line);
        let origin = line.map_or(self.at.origin.clone(), |line| Origin::File { path: self.file.to_owned(), line });
        Place { setting: format!("{SECTION}.{}.{key}", self.name), origin }
    }

    fn bad(&self, key: &'static str, why: &str, hint: Option<String>) -> SettingsError {
        SettingsError::BadModel { place: self.place(key), why: why.to_owned(), hint }
    }

    fn kind(&self, key: &'static str, value: &WrittenValue, due: &str) -> SettingsError {
        let is = match value {
            WrittenValue::Text(_) => "a text",
            WrittenValue::Number(_) | WrittenValue::Whole(_) => "a number",
            WrittenValue::Texts(_) => "a list",
            WrittenValue::Other(kind) => kind,
        };
        self.bad(key, &format!("is {is}, and {due} is due"), None)
    }

    fn plain(&self, key: &'static str) -> Result<Option<String>, SettingsError> {
        let Some(written) = self.values.get(key) else { return Ok(None) };
        let WrittenValue::Text(text) = &written.value else { return Err(self.kind(key, &written.value, "a text")) };
        let text = text.trim();
        if text.is_empty() {
            return Err(self.bad(key, "is empty", None));
        }
        if text.chars().any(unprintable) || text.chars().count() > 1_000 {
            return Err(self.bad(key, "holds control characters, or is longer than 1,000 characters", None));
        }
        if is_placeholder(text) {
            return Err(SettingsError::Placeholder { place: self.place(key) });
        }
        Ok(Some(text.to_owned()))
    }

    fn word(&self, key: &'static str, words: &'static [&'static str]) -> Result<Option<&'static str>, SettingsError> {
        let Some(text) = self.plain(key)? else { return Ok(None) };
        let known = words.iter().copied().find(|word| *word == text);
        let shown = || quoted(&redact(&text, &[]));
        known.map(Some).ok_or_else(|| SettingsError::NotAChoice {
            place: self.place(key),
            shown: shown(),
            choices: words,
        })
    }

    fn list(&self, key: &'static str) -> Result<Vec<String>, SettingsError> {
        match self.values.get(key).map(|written| &written.value) {
            None => Ok(Vec::new()),
            Some(WrittenValue::Texts(texts)) => Ok(texts.clone()),
            Some(WrittenValue::Text(text)) => Ok(vec![text.clone()]),
            Some(other) => Err(self.kind(key, other, "a list of models' names")),
        }
    }

    fn whole(&self, key: &'static str, least: u64, most: u64) -> Result<Option<u64>, SettingsError> {
        match self.values.get(key).map(|written| &written.value) {
            None => Ok(None),
            Some(WrittenValue::Whole(number)) if (least..=most).contains(number) => Ok(Some(*number)),
            Some(WrittenValue::Whole(_)) => Err(self.bad(key, &format!("goes from {least} to {most}"), None)),
            Some(other) => Err(self.kind(key, other, "a whole number")),
        }
    }

    fn small(&self, key: &'static str, least: u64, most: u64) -> Result<Option<u32>, SettingsError> {
        Ok(self.whole(key, least, most)?.and_then(|number| u32::try_from(number).ok()))
    }

    fn number(&self, key: &'static str, most: f64) -> Result<Option<f64>, SettingsError> {
        let number = match self.values.get(key).map(|written| &written.value) {
            None => return Ok(None),
            Some(WrittenValue::Number(number)) => *number,
            #[allow(clippy::cast_precision_loss, reason = "what is too large for that is out of bounds")]
            Some(WrittenValue::Whole(number)) => *number as f64,
            Some(other) => return Err(self.kind(key, other, "a number")),
        };
        let fits = number.is_finite() && (0.0..=most).contains(&number);
        if fits { Ok(Some(number)) } else { Err(self.bad(key, &format!("goes from 0 to {most}"), None)) }
    }

    fn thousandths(&self, key: &'static str, most: f64) -> Result<Option<u32>, SettingsError> {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "its bounds were looked at")]
        Ok(self.number(key, most)?.map(|number| (number * 1_000.0).round() as u32))
    }

    fn millionths(&self, key: &'static str) -> Result<Option<u64>, SettingsError> {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "its bounds were looked at")]
        Ok(self.number(key, 1_000_000.0)?.map(|number| (number * MILLION).round() as u64))
    }

    /// The address, and whether it is on this machine or in a private network.
    fn address(&self, provider: Provider) -> Result<(String, bool), SettingsError> {
        let given = self.plain("base_url")?;
        let Some(text) = given.as_deref().or(provider.usual_address()) else {
            let hint = "write where the model is, for instance base_url = \"http://127.0.0.1:8000/v1\"".to_owned();
            return Err(self.bad("base_url", "is missing", Some(hint)));
        };
        let bad = |why: &str| Err(self.bad("base_url", &format!("is no address for a model: {why}"), None));
        if text.contains('@') || redact(text, &[]) != text {
            return Err(self.bad(
                "base_url",
                "has a user name or a key inside the address",
                Some("take it out, name the key's variable in key_env, and revoke the key that stood there".to_owned()),
            ));
        }
        if text.contains(['?', '#']) {
            return bad("it has a query or a fragment");
        }
        if text.chars().any(char::is_whitespace) {
            return bad("it has blanks in it");
        }
        let Ok(uri) = text.parse::<Uri>() else { return bad("it cannot be read") };
        let Some(host) = uri.host().filter(|host| !host.is_empty()) else { return bad("it names no host") };
        let local = is_private(host);
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if local => {}
            Some("http") => {
                return bad(
                    "http is for localhost and the numbers of private networks only, all else travels in the open",
                );
            }
            _ => return bad("it begins with neither https:// nor http://"),
        }
        Ok((text.trim_end_matches('/').to_owned(), local))
    }

    fn key(&self, provider: Provider, local: bool) -> Result<(ModelKey, Option<String>), SettingsError> {
        let (variable, file) = (self.plain("key_env")?, self.plain("key_file")?);
        match (variable, file) {
            (Some(_), Some(_)) => {
                Err(self.bad("key_file", "stands beside key_env", Some("keep one of the two".to_owned())))
            }
            (Some(name), None) => {
                if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                    // Perhaps the key itself: not shown.
                    let hint = "write the name of an environment variable; the key itself never stands in this file";
                    return Err(self.bad("key_env", "is not the name of a variable", Some(hint.to_owned())));
                }
                let key = match self.environment.named(&name).map(|value| value.to_str()) {
                    Some(Some(value)) => usable(value).map_err(|why| format!("the variable {name} {why}")),
                    None => Err(format!("the variable {name} is not set")),
                    Some(None) => Err(format!("the variable {name} is not Unicode text")),
                };
                Ok((key.map_or_else(ModelKey::Missing, ModelKey::Known), Some(format!("the variable {name}"))))
            }
            (None, Some(path)) => {
                let path = self.environment.resolved(&path, self.file.parent().unwrap_or(self.file));
                let key = key_of_file(&path).map_err(|why| format!("the file {} {why}", path.display()));
                let place = Some(format!("the file {}", path.display()));
                Ok((key.map_or_else(ModelKey::Missing, ModelKey::Known), place))
            }
            (None, None) if local || matches!(provider, Provider::Ollama) => Ok((ModelKey::None, None)),
            (None, None) => {
                let hint =
                    "name the environment variable that holds the key: key_env = \"…\"; or its file: key_file = \"…\"";
                Err(self.bad("key_env", "is missing", Some(hint.to_owned())))
            }
        }
    }
}

fn written(value: DeValue<'_>) -> WrittenValue {
    match value {
        DeValue::String(text) => WrittenValue::Text(text.into_owned()),
        DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix())
            .map_or(WrittenValue::Other("a number below 0 or too large"), WrittenValue::Whole),
        DeValue::Float(number) => {
            number.as_str().parse().map_or(WrittenValue::Other("no number"), WrittenValue::Number)
        }
        DeValue::Array(items) => {
            let texts = items.into_iter().map(|item| match item.into_inner() {
                DeValue::String(text) => Some(text.into_owned()),
                _ => None,
            });
            texts.collect::<Option<_>>().map_or(WrittenValue::Other("a list of other things"), WrittenValue::Texts)
        }
        DeValue::Boolean(_) => WrittenValue::Other("true or false"),
        DeValue::Datetime(_) => WrittenValue::Other("a date"),
        DeValue::Table(_) => WrittenValue::Other("a table"),
    }
}

/// A key without the line end that files have; what can't stand in a header is none.
fn usable(text: &str) -> Result<Secret, &'static str> {
    let key = text.trim();
    if key.is_empty() {
        Err("is empty")
    } else if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        Err("holds characters that no key has")
    } else {
        Ok(Secret::new(key.to_owned()))
    }
}

fn key_of_file(path: &Path) -> Result<Secret, String> {
    if readable_by_others(path) {
        return Err("can be read by others: make it yours alone (chmod 600)".to_owned());
    }
    let bytes = read_named(path, LARGEST_KEY).map_err(|error| format!("can't be read: {}", system_says(&error)))?;
    let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_owned())?;
    usable(&text).map_err(str::to_owned)
}

/// Whether a host is this machine or in a private network, by its number; names other than localhost are
/// not, because nobody looks them up here.
fn is_private(host: &str) -> bool {
    let number = host.trim_start_matches('[').trim_end_matches(']');
    on_this_machine(host)
        || match number.parse::<IpAddr>() {
            Ok(IpAddr::V4(address)) => address.is_private() || address.is_link_local(),
            Ok(IpAddr::V6(address)) => address.is_unique_local() || address.is_unicast_link_local(),
            Err(_) => false,
        }
}
