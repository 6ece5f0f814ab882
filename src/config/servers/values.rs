//! Values of an entry by their kind, each with the fault it makes.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use serde_json::Value;

use super::entry::{Refused, ServerEntry, place_of};
use super::error::ServersFault;
use crate::config::reading::{SettingUnit, with_unit};
use crate::document::kind_of;

impl ServerEntry<'_> {
    /// A time: a number of seconds, or a text with its unit.
    pub(super) fn time(&self, key: &'static str, longest: Duration) -> Result<Option<Duration>, Refused> {
        let most = longest.as_secs();
        let time = match self.object.get(key) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Number(number)) => {
                number.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            }
            Some(Value::String(text)) => with_unit(text.trim(), SettingUnit::Milliseconds).map(Duration::from_millis),
            Some(other) => {
                return Err(self.wrong_kind(key, key, other, "a number of seconds, or a text such as 500ms"));
            }
        };
        match time {
            Some(time) if time >= Duration::from_millis(1) && time <= longest => Ok(Some(time)),
            Some(time) if time > longest => {
                // 30000 is half a minute to clients that count milliseconds.
                let meant = Duration::from_millis(time.as_secs());
                let write =
                    (meant <= longest).then(|| format!("\"{}ms\" if milliseconds are meant", meant.as_millis()));
                Err(self.bad(key, &format!("is {} seconds, but it goes up to {most} seconds", time.as_secs()), write))
            }
            _ => {
                let why = format!("is no time from 0.001 to {most} seconds");
                Err(self.bad(
                    key,
                    &why,
                    Some("a number of seconds, or a text such as \"500ms\", \"30s\" or \"2m\"".to_owned()),
                ))
            }
        }
    }

    pub(super) fn number(
        &self,
        key: &'static str,
        unit: &str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<usize>, Refused> {
        let number = match self.object.get(key) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Number(number)) => number.as_u64(),
            Some(Value::String(text)) if unit == "bytes" => with_unit(text.trim(), SettingUnit::Bytes),
            Some(other) => return Err(self.wrong_kind(key, key, other, "a whole number")),
        };
        match number.filter(|number| range.contains(number)).and_then(|number| usize::try_from(number).ok()) {
            Some(number) => Ok(Some(number)),
            None => Err(self.bad(
                key,
                &format!("is no whole number from {} to {} {unit}", range.start(), range.end()),
                None,
            )),
        }
    }

    pub(super) fn switch(&self, key: &'static str) -> Result<Option<bool>, Refused> {
        match self.object.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(on)) => Ok(Some(*on)),
            Some(other) => Err(self.wrong_kind(key, key, other, "true or false")),
        }
    }

    pub(super) fn plain_text(&self, key: &'static str) -> Result<Option<&str>, Refused> {
        match self.object.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong_kind(key, key, other, "a text")),
        }
    }

    pub(super) fn list(&self, key: &'static str) -> Result<&[Value], Refused> {
        match self.object.get(key) {
            None | Some(Value::Null) => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(other) => Err(self.wrong_kind(key, key, other, "a list of texts")),
        }
    }

    pub(super) fn members(&self, key: &'static str) -> Result<BTreeMap<&str, &Value>, Refused> {
        match self.object.get(key) {
            None | Some(Value::Null) => Ok(BTreeMap::new()),
            Some(Value::Object(members)) => Ok(members.iter().map(|(name, value)| (name.as_str(), value)).collect()),
            Some(other) => Err(self.wrong_kind(key, key, other, "an object of names and texts")),
        }
    }

    pub(super) fn wrong_kind(&self, at: &'static str, key: &str, value: &Value, due: &'static str) -> Refused {
        let (alias, key, place) = (self.alias.to_owned(), key.to_owned(), Some(place_of(at, key)));
        (place, ServersFault::WrongKind { alias, key, is: kind_of(value), due })
    }

    pub(super) fn bad(&self, key: &'static str, why: &str, write: Option<String>) -> Refused {
        self.bad_at(key, key, why, write)
    }

    pub(super) fn bad_at(&self, at: &'static str, key: &str, why: &str, write: Option<String>) -> Refused {
        let (alias, key, why, place) = (self.alias.to_owned(), key.to_owned(), why.to_owned(), Some(place_of(at, key)));
        (place, ServersFault::BadValue { alias, key, why, write })
    }
}
