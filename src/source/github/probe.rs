//! One question to GitHub, and all that its answer tells besides: how much may be asked still, what a
//! token may do, and what time it is there.

use chrono::{DateTime, TimeZone as _, Utc};
use http::HeaderMap;

use super::Repository;
use crate::source::SourceError;

/// What an answer of GitHub's told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// What a classic token may do, as GitHub lists it; none for other tokens, and without one.
    pub scopes: Option<String>,
    /// Requests that may be asked in this hour, and how many of them are left.
    pub quota: Option<(u64, u64)>,
    /// When the hour ends.
    pub resets: Option<DateTime<Utc>>,
    /// The time at GitHub.
    pub date: Option<DateTime<Utc>>,
}

impl Repository {
    /// Asks for the repository itself, once.
    pub(in crate::source) async fn probe(&self) -> Result<Probe, SourceError> {
        let ground = &self.ground;
        let call = ground.about_itself();
        let reply = ground.client.ask(&call, ground.client.effort()).await?;
        if !reply.status.is_success() {
            return Err(match reply.status.as_u16() {
                404 => ground.no_such_repository(),
                _ => ground.client.unusable(&call, &reply),
            });
        }
        Ok(Probe::of(&reply.headers))
    }
}

impl Probe {
    fn of(headers: &HeaderMap) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
        let number = |name: &str| text(name).and_then(|text| text.parse::<u64>().ok());
        let resets = number("x-ratelimit-reset").and_then(|seconds| i64::try_from(seconds).ok());
        Self {
            scopes: text("x-oauth-scopes").map(str::to_owned),
            quota: number("x-ratelimit-limit").zip(number("x-ratelimit-remaining")),
            resets: resets.and_then(|seconds| Utc.timestamp_opt(seconds, 0).single()),
            date: text("date").and_then(|date| DateTime::parse_from_rfc2822(date).ok()).map(|date| date.to_utc()),
        }
    }
}
