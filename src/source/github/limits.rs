//! What a status means: limits told from refusals, and how long to wait before another try.
//!
//! The rules are GitHub's own ("Rate limits for the REST API", "Best practices for using the REST
//! API"): `retry-after` first, then `x-ratelimit-remaining: 0` with its reset, then a message about
//! a secondary limit, which asks for a minute at least. Nothing is sent or slept here.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use http::{HeaderMap, StatusCode};

/// The pause where GitHub names none.
const UNNAMED: TimeDelta = TimeDelta::seconds(60);
/// The first pause of the back-off, doubled with every try.
const FIRST: Duration = Duration::from_millis(500);
/// The longest pause of the back-off.
const LONGEST: Duration = Duration::from_secs(8);

/// What an answer means for the next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The answer, or one that its asker understands (304, 404, 409, 422).
    Answer,
    /// The token is not accepted.
    Unauthorized,
    /// The token lacks a right, or an organisation wants a sign-on at this address first.
    Forbidden { permission: Option<String>, sign_on: Option<String> },
    /// Nothing more before this time.
    Limited { retry_at: DateTime<Utc>, secondary: bool },
    /// The server's own trouble; another try may work, after the pause it asks for.
    Trouble { pause: Option<Duration> },
    /// Anything else.
    Odd,
}

/// Reads status, headers and GitHub's message.
pub(super) fn judge(status: StatusCode, headers: &HeaderMap, message: &str, now: DateTime<Utc>) -> Verdict {
    match status.as_u16() {
        200..=299 | 304 | 404 | 409 | 410 | 422 | 451 => Verdict::Answer,
        401 => Verdict::Unauthorized,
        403 | 429 => limit(status, headers, message, now).unwrap_or_else(|| Verdict::Forbidden {
            permission: text(headers, "x-accepted-github-permissions"),
            sign_on: text(headers, "x-github-sso").map(|asked| sign_on(&asked)),
        }),
        408 | 500..=599 => Verdict::Trouble { pause: retry_after(headers, now) },
        _ => Verdict::Odd,
    }
}

/// The limit behind a GraphQL error of type `RATE_LIMITED`, which comes with status 200.
pub(super) fn graphql_limit(headers: &HeaderMap, now: DateTime<Utc>) -> Verdict {
    let retry_at = reset(headers).filter(|at| *at > now).unwrap_or(now + UNNAMED);
    Verdict::Limited { retry_at, secondary: false }
}

fn limit(status: StatusCode, headers: &HeaderMap, message: &str, now: DateTime<Utc>) -> Option<Verdict> {
    let used_up = text(headers, "x-ratelimit-remaining").is_some_and(|left| left == "0");
    if let Some(pause) = retry_after(headers, now) {
        let retry_at = now + TimeDelta::from_std(pause).unwrap_or(UNNAMED);
        return Some(Verdict::Limited { retry_at, secondary: !used_up });
    }
    if used_up {
        let retry_at = reset(headers).filter(|at| *at > now).unwrap_or(now + UNNAMED);
        return Some(Verdict::Limited { retry_at, secondary: false });
    }
    let message = message.to_ascii_lowercase();
    let secondary = message.contains("secondary rate limit") || message.contains("abuse detection");
    if secondary || status == StatusCode::TOO_MANY_REQUESTS || message.contains("rate limit exceeded") {
        return Some(Verdict::Limited { retry_at: now + UNNAMED, secondary: !message.contains("api rate limit") });
    }
    None
}

/// `retry-after` in seconds or as a date.
fn retry_after(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let value = text(headers, "retry-after")?;
    if let Ok(seconds) = value.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    let date = DateTime::parse_from_rfc2822(&value).ok()?;
    Some((date.with_timezone(&Utc) - now).to_std().unwrap_or_default())
}

/// `x-ratelimit-reset`, in seconds since 1970.
fn reset(headers: &HeaderMap) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp(text(headers, "x-ratelimit-reset")?.parse().ok()?, 0)
}

/// The address in `required; url=https://github.com/orgs/acme/sso?authorization_request=...`, without the
/// request, which is the token's own; empty where none is told.
fn sign_on(asked: &str) -> String {
    let url = asked.split("url=").nth(1).unwrap_or_default();
    let url = url.split(['?', '#', ';', ' ']).next().unwrap_or_default();
    if url.starts_with("https://") { url.to_owned() } else { String::new() }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?.trim();
    (!value.is_empty()).then(|| crate::names::shown(value, 500))
}

/// The pause before the next try: doubled each time, and somewhere between half and all of it, so
/// that many clients don't come back at the same moment.
pub(super) fn back_off(tries_so_far: u32, random: u64) -> Duration {
    let full = FIRST.saturating_mul(1 << tries_so_far.saturating_sub(1).min(8)).min(LONGEST);
    let half = full / 2;
    let micros = u64::try_from(half.as_micros()).unwrap_or(1).max(1);
    half + Duration::from_micros(random % micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).expect("a time")
    }

    fn judged(status: u16, headers: &[(&'static str, &'static str)], message: &str) -> Verdict {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), http::HeaderValue::from_static(value)))
            .collect();
        judge(StatusCode::from_u16(status).expect("a status"), &headers, message, at(1000))
    }

    #[test]
    fn a_used_up_quota_is_not_a_missing_permission() {
        let used_up = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "4600")];
        for status in [403, 429] {
            assert_eq!(
                judged(status, &used_up, "API rate limit exceeded for 203.0.113.9."),
                Verdict::Limited { retry_at: at(4600), secondary: false }
            );
        }
        assert_eq!(
            judged(
                403,
                &[("x-ratelimit-remaining", "42"), ("x-accepted-github-permissions", "contents=read")],
                "Resource not accessible by personal access token"
            ),
            Verdict::Forbidden { permission: Some("contents=read".to_owned()), sign_on: None }
        );
    }

    #[test]
    fn an_organisation_that_wants_a_sign_on_says_where() {
        let asked = |header| match judged(403, &[("x-github-sso", header)], "Resource protected by organization SAML") {
            Verdict::Forbidden { permission: None, sign_on } => sign_on,
            other => panic!("{other:?}"),
        };
        let url = "required; url=https://github.com/orgs/acme/sso?authorization_request=A1B2";
        assert_eq!(asked(url).as_deref(), Some("https://github.com/orgs/acme/sso"));
        assert_eq!(asked("required").as_deref(), Some(""));
        assert_eq!(asked("required; url=javascript:alert(1)").as_deref(), Some(""));
    }

    #[test]
    fn a_limit_without_a_time_is_a_minute() {
        let minute = |secondary| Verdict::Limited { retry_at: at(1060), secondary };
        assert_eq!(judged(429, &[], ""), minute(true));
        assert_eq!(judged(403, &[], "You have exceeded a secondary rate limit."), minute(true));
        assert_eq!(judged(403, &[], "API rate limit exceeded for 203.0.113.9."), minute(false));
        assert_eq!(judged(403, &[("x-ratelimit-remaining", "0")], ""), minute(false));
        assert_eq!(judged(403, &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "900")], ""), minute(false));
    }

    #[test]
    fn retry_after_comes_first_in_seconds_or_as_a_date() {
        assert_eq!(judged(403, &[("retry-after", "7")], ""), Verdict::Limited { retry_at: at(1007), secondary: true });
        assert_eq!(
            judged(429, &[("retry-after", "Thu, 01 Jan 1970 00:17:00 GMT")], ""),
            Verdict::Limited { retry_at: at(1020), secondary: true }
        );
        assert_eq!(judged(503, &[("retry-after", "3")], ""), Verdict::Trouble { pause: Some(Duration::from_secs(3)) });
        assert_eq!(judged(502, &[], ""), Verdict::Trouble { pause: None });
    }

    #[test]
    fn the_pause_doubles_and_never_exceeds_its_bound() {
        for (tries, low, high) in [(1, 250, 500), (2, 500, 1000), (3, 1000, 2000), (40, 4000, 8000)] {
            for random in [0, 1, u64::MAX / 3, u64::MAX] {
                let pause = back_off(tries, random).as_millis();
                assert!((low..=high).contains(&pause), "{tries} {random}: {pause}");
            }
        }
    }
}
