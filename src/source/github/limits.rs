//! What a status means: limits told from refusals, and how long to wait before another try.
//!
//! The rules are GitHub's own ("Rate limits for the REST API", "Best practices for using the REST
//! API"): `retry-after` first, then `x-ratelimit-remaining: 0` with its reset, then a message about
//! a secondary limit, which asks for a minute at least. A time that lies further away than GitHub's
//! hour is a mistake, and nothing waits longer than that. Nothing is sent or slept here.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use http::{HeaderMap, StatusCode};

use crate::source::refusal::Refusal;
use crate::web;

/// The pause where GitHub names none.
const UNNAMED: TimeDelta = TimeDelta::seconds(60);
/// The pause where the time that GitHub names is over.
const SHORTEST: TimeDelta = TimeDelta::seconds(1);
/// The longest that one of GitHub's limits lasts: quotas are counted by the hour.
const AN_HOUR: TimeDelta = TimeDelta::hours(1);
/// Three thousand years from now, in seconds since 1970: what is more is in milliseconds.
const LATEST_SECONDS: i64 = 100_000_000_000;
/// The first pause of the back-off, doubled with every try.
const FIRST: Duration = Duration::from_millis(500);
/// The longest pause of the back-off.
const LONGEST: Duration = Duration::from_secs(8);

/// What an answer means for the next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LimitVerdict {
    /// The answer, or one that its asker understands (304, 404, 409, 422).
    Answer,
    /// The token is not accepted.
    Unauthorized,
    /// It is refused, whoever asks again.
    Forbidden(Refusal),
    /// Nothing more before its time.
    Limited(RateLimit),
    /// The server's own trouble; another try may work, after the pause it asks for.
    Trouble { pause: Option<Duration> },
    /// Anything else.
    Odd,
}

/// A limit that was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RateLimit {
    /// Nothing is asked before.
    pub(super) retry_at: DateTime<Utc>,
    /// The time that GitHub named, where it is too far away to be meant.
    pub(super) named: Option<DateTime<Utc>>,
    /// Too fast, rather than too much in an hour.
    pub(super) secondary: bool,
}

impl RateLimit {
    fn until(named: DateTime<Utc>, secondary: bool, now: DateTime<Utc>) -> Self {
        let latest = now + AN_HOUR;
        Self { retry_at: named.min(latest), named: Some(named).filter(|named| *named > latest), secondary }
    }
}

/// Reads status, headers and GitHub's message; `None` where the answer is not one of GitHub's.
pub(super) fn judge(
    status: StatusCode,
    headers: &HeaderMap,
    message: Option<&str>,
    now: DateTime<Utc>,
) -> LimitVerdict {
    match status.as_u16() {
        200..=299 | 304 | 404 | 409 | 410 | 422 => LimitVerdict::Answer,
        401 => LimitVerdict::Unauthorized,
        403 | 429 => limit(status, headers, message.unwrap_or_default(), now)
            .map_or_else(|| LimitVerdict::Forbidden(refusal(headers, message)), LimitVerdict::Limited),
        408 | 500..=599 => LimitVerdict::Trouble { pause: retry_after(headers, now) },
        _ => LimitVerdict::Odd,
    }
}

fn refusal(headers: &HeaderMap, message: Option<&str>) -> Refusal {
    if let Some(asked) = text(headers, "x-github-sso") {
        return Refusal::SignOn(sign_on(&asked));
    }
    let Some(message) = message else {
        let by_github = headers.contains_key("x-github-request-id");
        return if by_github { Refusal::Unnamed } else { Refusal::NotGitHub };
    };
    match (Refusal::told(message), text(headers, "x-accepted-github-permissions")) {
        // It names what the request needs, also where that is not what is missing.
        (Refusal::Permission(_) | Refusal::Unnamed, Some(needed)) => Refusal::Permission(Some(needed)),
        (told, _) => told,
    }
}

/// The limit behind an error of GraphQL's, which comes with status 200; `kind` and `code` are how it is
/// marked: `RATE_LIMIT`, `RATE_LIMITED`, `graphql_rate_limit`.
pub(super) fn graphql_limit(
    marks: [&str; 3],
    message: &str,
    headers: &HeaderMap,
    now: DateTime<Utc>,
) -> Option<RateLimit> {
    let marked = marks.iter().any(|mark| mark.to_ascii_lowercase().contains("rate_limit"));
    let message = message.to_ascii_lowercase();
    if !marked && !in_words(&message) {
        return None;
    }
    let limit = limit(StatusCode::TOO_MANY_REQUESTS, headers, &message, now)?;
    Some(RateLimit { secondary: slowed_down(&message), ..limit })
}

/// Whether a message, in lower case, tells of too many requests at a time.
fn slowed_down(message: &str) -> bool {
    message.contains("secondary rate limit") || message.contains("abuse detection")
}

fn in_words(message: &str) -> bool {
    slowed_down(message) || message.contains("rate limit exceeded") || message.contains("rate limit already exceeded")
}

fn limit(status: StatusCode, headers: &HeaderMap, message: &str, now: DateTime<Utc>) -> Option<RateLimit> {
    let used_up = text(headers, "x-ratelimit-remaining").is_some_and(|left| left == "0");
    if let Some(pause) = retry_after(headers, now) {
        let named = TimeDelta::from_std(pause).ok().and_then(|pause| now.checked_add_signed(pause));
        return Some(RateLimit::until(named.unwrap_or(DateTime::<Utc>::MAX_UTC), !used_up, now));
    }
    if used_up {
        // A time that is over by now was over a moment ago, or the two clocks differ.
        let named = reset(headers).map_or(now + UNNAMED, |named| named.max(now + SHORTEST));
        return Some(RateLimit::until(named, false, now));
    }
    let message = message.to_ascii_lowercase();
    if status == StatusCode::TOO_MANY_REQUESTS || in_words(&message) {
        return Some(RateLimit::until(now + UNNAMED, !message.contains("api rate limit"), now));
    }
    None
}

/// `retry-after` in seconds or as a date.
pub(super) fn retry_after(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    web::retry_after(&text(headers, "retry-after")?, now)
}

/// `x-ratelimit-reset`, in seconds since 1970; who counts in milliseconds is understood.
fn reset(headers: &HeaderMap) -> Option<DateTime<Utc>> {
    let number: i64 = text(headers, "x-ratelimit-reset")?.parse().ok()?;
    let seconds = if number > LATEST_SECONDS { number / 1000 } else { number };
    // What no calendar holds is far away all the same.
    Some(DateTime::from_timestamp(seconds, 0).unwrap_or(if seconds > 0 {
        DateTime::<Utc>::MAX_UTC
    } else {
        DateTime::<Utc>::MIN_UTC
    }))
}

/// The address in `required; url=https://github.com/orgs/acme/sso?authorization_request=...`, without the
/// request, which is the token's own.
fn sign_on(asked: &str) -> Option<String> {
    let url = asked.split("url=").nth(1).unwrap_or_default();
    let url = url.split(['?', '#', ';', ' ']).next().unwrap_or_default();
    url.starts_with("https://").then(|| url.to_owned())
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

    fn judged(status: u16, headers: &[(&'static str, &'static str)], message: &str) -> LimitVerdict {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), http::HeaderValue::from_static(value)))
            .collect();
        judge(StatusCode::from_u16(status).expect("a status"), &headers, Some(message), at(1000))
    }

    fn limited(retry_at: i64, secondary: bool) -> LimitVerdict {
        LimitVerdict::Limited(RateLimit { retry_at: at(retry_at), named: None, secondary })
    }

    #[test]
    fn a_used_up_quota_is_not_a_missing_permission() {
        let used_up = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "4600")];
        for status in [403, 429] {
            assert_eq!(judged(status, &used_up, "API rate limit exceeded for 203.0.113.9."), limited(4600, false));
        }
        assert_eq!(
            judged(
                403,
                &[("x-ratelimit-remaining", "42"), ("x-accepted-github-permissions", "contents=read")],
                "Resource not accessible by personal access token"
            ),
            LimitVerdict::Forbidden(Refusal::Permission(Some("contents=read".to_owned())))
        );
    }

    #[test]
    fn an_organisation_that_wants_a_sign_on_says_where() {
        let asked = |header| match judged(403, &[("x-github-sso", header)], "Resource protected by organization SAML") {
            LimitVerdict::Forbidden(Refusal::SignOn(address)) => address,
            other => panic!("{other:?}"),
        };
        let url = "required; url=https://github.com/orgs/acme/sso?authorization_request=A1B2";
        assert_eq!(asked(url).as_deref(), Some("https://github.com/orgs/acme/sso"));
        assert_eq!(asked("required"), None);
        assert_eq!(asked("required; url=javascript:alert(1)"), None);
    }

    #[test]
    fn a_refusal_that_is_no_answer_of_githubs_is_told_apart() {
        let judged = |headers| judge(StatusCode::FORBIDDEN, &headers, None, at(1000));
        assert_eq!(judged(HeaderMap::new()), LimitVerdict::Forbidden(Refusal::NotGitHub));
        let by_github = [("x-github-request-id", "1")]
            .map(|(name, value)| (http::HeaderName::from_static(name), http::HeaderValue::from_static(value)));
        assert_eq!(judged(by_github.into_iter().collect()), LimitVerdict::Forbidden(Refusal::Unnamed));
    }

    #[test]
    fn what_the_request_needs_is_not_taken_for_what_is_missing() {
        let needed = [("x-accepted-github-permissions", "contents=read")];
        let message = "the `acme` organization has an IP allow list enabled";
        assert_eq!(judged(403, &needed, message), LimitVerdict::Forbidden(Refusal::NetworkAddress));
    }

    #[test]
    fn a_limit_without_a_time_is_a_minute() {
        let minute = |secondary| limited(1060, secondary);
        assert_eq!(judged(429, &[], ""), minute(true));
        assert_eq!(judged(403, &[], "You have exceeded a secondary rate limit."), minute(true));
        assert_eq!(judged(403, &[], "API rate limit exceeded for 203.0.113.9."), minute(false));
        assert_eq!(judged(403, &[("x-ratelimit-remaining", "0")], ""), minute(false));
    }

    #[test]
    fn a_limit_whose_time_is_over_lasts_a_moment() {
        let used_up = |reset| judged(403, &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", reset)], "");
        assert_eq!(used_up("900"), limited(1001, false));
        assert_eq!(used_up("1000"), limited(1001, false));
    }

    #[test]
    fn retry_after_comes_first_in_seconds_or_as_a_date() {
        assert_eq!(judged(403, &[("retry-after", "7")], ""), limited(1007, true));
        assert_eq!(judged(429, &[("retry-after", "Thu, 01 Jan 1970 00:17:00 GMT")], ""), limited(1020, true));
        assert_eq!(
            judged(503, &[("retry-after", "3")], ""),
            LimitVerdict::Trouble { pause: Some(Duration::from_secs(3)) }
        );
        assert_eq!(judged(502, &[], ""), LimitVerdict::Trouble { pause: None });
    }

    #[test]
    fn no_limit_lasts_longer_than_githubs_hour() {
        for (name, value) in [
            ("x-ratelimit-reset", "1060000"),
            ("x-ratelimit-reset", "4102444800"),
            ("x-ratelimit-reset", "4102444800000"),
            ("x-ratelimit-reset", "9223372036854775807"),
            ("retry-after", "4294967295"),
            ("retry-after", "99999999999999999"),
            ("retry-after", "Fri, 01 Jan 2100 00:00:00 GMT"),
        ] {
            let LimitVerdict::Limited(limit) = judged(429, &[("x-ratelimit-remaining", "0"), (name, value)], "") else {
                panic!("{name}: {value}")
            };
            assert_eq!(limit.retry_at, at(4600), "{name}: {value}");
            assert!(limit.named.is_some_and(|named| named > at(4600)), "{name}: {value}");
        }
    }

    #[test]
    fn a_reset_in_milliseconds_is_understood() {
        let now = at(1_767_603_600);
        let headers = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1767604000000")]
            .map(|(name, value)| (http::HeaderName::from_static(name), http::HeaderValue::from_static(value)));
        let verdict = judge(StatusCode::FORBIDDEN, &headers.into_iter().collect(), Some(""), now);
        let limit = RateLimit { retry_at: at(1_767_604_000), named: None, secondary: false };
        assert_eq!(verdict, LimitVerdict::Limited(limit));
    }

    #[test]
    fn graphql_marks_a_limit_in_several_ways() {
        let told = |marks, message| graphql_limit(marks, message, &HeaderMap::new(), at(1000));
        let quota = Some(RateLimit { retry_at: at(1060), named: None, secondary: false });
        assert_eq!(told(["RATE_LIMITED", "", ""], "API rate limit exceeded"), quota);
        assert_eq!(
            told(["RATE_LIMIT", "graphql_rate_limit", ""], "API rate limit already exceeded for user ID 7."),
            quota
        );
        assert_eq!(told(["", "graphql_rate_limit", ""], "Wait"), quota);
        assert_eq!(told(["", "", ""], "API rate limit already exceeded for user ID 7."), quota);
        assert_eq!(
            told(["", "", ""], "You have exceeded a secondary rate limit."),
            Some(RateLimit { retry_at: at(1060), named: None, secondary: true })
        );
        assert_eq!(told(["INTERNAL", "", ""], "Something went wrong"), None);
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
