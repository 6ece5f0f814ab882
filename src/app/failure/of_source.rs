//! A source's errors as callers see them: the code, the facts beside it, and who can do what about it.

use std::time::Duration;

use serde_json::json;

use super::Error;
use crate::catalog::instead_of;
use crate::names::{RefName, counted, did_you_mean, quoted};
use crate::next_step::Word;
use crate::source::{Refusal, SourceError};
use crate::web::WebTrouble;

/// What can be named as a source.
const SOURCES: &str = "name a folder that holds flows/, owner/repo or any address of a GitHub repository; `examples` are the built-in ones";
/// Shorter waits are told as a minute.
const A_MINUTE: Duration = Duration::from_mins(1);
/// What every right token for a repository is.
const RIGHT_TOKEN: &str = "fine-grained, with Contents: read on this repository";

impl From<SourceError> for Error {
    fn from(error: SourceError) -> Self {
        Self::of_source(&error, "`ref`")
    }
}

impl Error {
    /// An error of the source's own ref, that nobody asked for in the call: `set` is what the settings say.
    pub(in crate::app) fn of_own_ref(error: &SourceError, set: Option<&RefName>) -> Self {
        let missing = if let SourceError::RefNotFound { git_ref, .. } = error { Some(git_ref) } else { None };
        let set = set.is_some_and(|set| Some(&quoted(set.as_str())) == missing);
        let place = if set { "--ref (GITHUB_REF, or ref in flowy.toml)" } else { "the ref in the source's address" };
        Self::of_source(error, place)
    }

    /// An error of the source, with what helps; `place` is where the ref was given.
    fn of_source(error: &SourceError, place: &str) -> Self {
        let mut made = Self::new(error.code(), error.to_string()).about_source();
        match error {
            SourceError::Unauthorized { token: None, .. } => made.next(set_a_token()),
            SourceError::Unauthorized { token: Some(place), .. } => {
                let again = if place.contains("environment") { "; a server that runs sees it when it is started again" } else { "" };
                made.next(format!(
                    "put a valid token ({RIGHT_TOKEN}) into {place}, or take it away for a public repository{again}"
                ))
            }
            SourceError::Forbidden { reason, authenticated, .. } => {
                made.detail("reason", json!(reason.word())).next(after_refusal(reason, *authenticated))
            }
            SourceError::RateLimited { retry_at, authenticated, secondary, .. } => {
                let at = retry_at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
                let more = match (secondary, authenticated) {
                    // More of a quota would not help against asking too fast.
                    (true, _) => "; fewer calls at once help (MAX_CONCURRENT_REQUESTS)",
                    (false, true) => "",
                    (false, false) => ", or set GITHUB_PAT: with a token the quota is 5,000 requests an hour",
                };
                made.detail("retryAt", json!(at)).next(format!("try again after {at}{more}"))
            }
            SourceError::RepoNotFound { repo, authenticated, .. } => {
                let step = if *authenticated {
                    format!("check the spelling of {repo}, and that the token may read it (fine-grained tokens: this repository, Contents: read)")
                } else {
                    format!("check the spelling of {repo}; for a private repository set GITHUB_PAT to a fine-grained token with Contents: read")
                };
                made.detail("repository", json!(repo)).next(step)
            }
            SourceError::NotAFolder { .. } | SourceError::BadSource { .. } => made.next(SOURCES),
            SourceError::RefNotFound { default_branch, nearest, .. } => {
                let branch = default_branch.as_deref().map(|branch| format!(" {branch}")).unwrap_or_default();
                let default = format!("leave {place} out to read the default branch{branch}");
                match did_you_mean(nearest) {
                    Some(asked) => made.detail("nearest", json!(nearest)).next(format!("{asked} or {default}")),
                    None => made.next(format!("{default}; `git ls-remote` lists branches and tags")),
                }
            }
            SourceError::CommitNotOnDefaultBranch { branch, .. } => {
                made.next(format!("name a commit of {branch}, or a branch or tag; --allow-any-commit reads any commit"))
            }
            SourceError::GitHub { wait: Some(wait), status: 500.., .. } if *wait > A_MINUTE => {
                let minutes = wait.as_secs().div_ceil(60);
                made.next(format!("try again in {}, as the answer asks; a kept copy is served when there is one", counted(usize::try_from(minutes).unwrap_or(usize::MAX), "minute", "minutes")))
            }
            SourceError::GitHub { status, .. } => made.next(after_status(*status)),
            SourceError::Network { trouble, host, proxy, .. } => {
                if let Some(word) = trouble.word() {
                    made = made.detail("reason", json!(word));
                }
                made.next(after_trouble(*trouble, host, proxy.as_deref()))
            }
            SourceError::WebFault { fault, .. } => made.next(fault.hint()),
            SourceError::NotThereYet { .. }
            | SourceError::TimedOut { .. }
            | SourceError::Corrupt { .. } => made.next(after_status(500)),
            SourceError::MovedAway { .. } | SourceError::BadRedirect { .. } => {
                made.next("check the repository's name and the API's address (--api-url), and what stands between: a proxy may want a login")
            }
            SourceError::FileTooLarge { .. } => made.next("make the file smaller, or raise MAX_FILE_SIZE"),
            SourceError::NotAsked { .. } => made.next("check the API's address (--api-url) and the token; only https is asked, and http on this machine"),
            SourceError::NotRead { kind, .. } => made.next(instead_of(kind)),
            SourceError::NoSuchFile { .. } => made.next(Word::Either("call flows_list with refresh: true to see", "`flowy list --refresh` shows") + " what there is now"),
            SourceError::Unreadable { .. } => made.next("check that the file can be read by this user"),
        }
    }
}

fn set_a_token() -> String {
    format!("set GITHUB_PAT to a token ({RIGHT_TOKEN})")
}

/// What helps after a request that was not answered.
fn after_trouble(trouble: WebTrouble, host: &str, proxy: Option<&str>) -> String {
    let proxy_named = proxy.map_or_else(|| "the proxy".to_owned(), |proxy| format!("the proxy {proxy}"));
    match (trouble, proxy) {
        (WebTrouble::Untrusted, None) => format!(
            "check that {host} is the right server (--api-url); if a company's own authority signs for it, or for what stands between, name a file of its certificates in SSL_CERT_FILE or add them to the system's"
        ),
        (WebTrouble::Untrusted, Some(_)) => format!(
            "name a file of certificates in SSL_CERT_FILE, or add them to the system's: {proxy_named} may answer with one of the company's own authority"
        ),
        (WebTrouble::OutOfDate, _) => {
            format!("check this machine's clock; if it is right, {host} or what stands between needs a new certificate")
        }
        (WebTrouble::OtherHost, _) => format!(
            "check the API's address (--api-url): what answers there has another host's certificate than {host}'s"
        ),
        (WebTrouble::ProxyLogin, _) => {
            format!("give {proxy_named} its login in HTTPS_PROXY, or correct it: http://USER:PASSWORD@HOST:PORT")
        }
        (WebTrouble::ProxyRefuses, _) => {
            // The HTTP library knows no ports there.
            let name =
                host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(name, _)| name);
            format!(
                "look whether {proxy_named} works and lets {host} through, or put {name} into NO_PROXY (without a port) where it can be reached directly"
            )
        }
        (WebTrouble::ProxyUnreachable, _) => {
            format!("check {proxy_named}, which HTTPS_PROXY or ALL_PROXY names: nothing answers there")
        }
        (WebTrouble::UnknownHost, None) => format!(
            "check the network, and the name {host} (--api-url); where only a proxy leads out, name it in HTTPS_PROXY"
        ),
        (WebTrouble::UnknownHost, Some(_)) => {
            format!("check the network, and {proxy_named}, which HTTPS_PROXY or ALL_PROXY names")
        }
        (WebTrouble::Other, Some(_)) => {
            format!("check {proxy_named}, or try again in a minute; a kept copy is served when there is one")
        }
        (WebTrouble::Other, None) if host == "api.github.com" => after_status(500).to_owned(),
        (WebTrouble::Other, None) => format!(
            "try again in a minute, or check that {host} is the API's host and port (--api-url); a kept copy is served when there is one"
        ),
    }
}

/// What helps after a status that is nobody's refusal.
fn after_status(status: u16) -> &'static str {
    match status {
        0..300 => "check the API's address (--api-url), and what stands between: a proxy may want a login",
        451 => "GitHub has blocked the repository for a legal reason; name another one as the source",
        408 | 409 | 429 => "try again in a minute; a kept copy is served when there is one",
        400..500 => {
            "asking again will not help: check the API's address (--api-url), the repository's name and what stands between, such as a proxy"
        }
        _ => "try again in a minute; a kept copy is served when there is one",
    }
}

/// What helps after a refusal. Most reasons have nothing to do with what the token may read.
fn after_refusal(reason: &Refusal, authenticated: bool) -> String {
    const WITHOUT: &str = "; a public repository can be read without a token";
    match reason {
        Refusal::Permission(_) | Refusal::Unnamed if !authenticated => set_a_token(),
        Refusal::Permission(needed) => {
            let needed = needed.as_deref().unwrap_or("contents=read");
            format!("give the token the permission {needed} on this repository (fine-grained tokens: Contents: read)")
        }
        Refusal::SignOn(address) => {
            let there = address.as_deref().map(|address| format!(", or sign on at {address}")).unwrap_or_default();
            format!("authorise the token for the organisation (GitHub: Settings, Developer settings, Personal access tokens, Configure SSO){there}")
        }
        Refusal::NetworkAddress => {
            format!("ask from a network that the organisation lets in, or have its owner add this one's address{WITHOUT}")
        }
        Refusal::TokenKind => {
            format!("use a token of a kind and lifetime that the organisation takes, which GitHub's message names: mostly a fine-grained one that ends within a year{WITHOUT}")
        }
        Refusal::OauthApp => {
            format!("have the organisation's owner approve the app, or use a personal token ({RIGHT_TOKEN}){WITHOUT}")
        }
        Refusal::Suspended => {
            format!("use a token of an account or app that is not suspended, or write to GitHub's support{WITHOUT}")
        }
        Refusal::ManagedAccount => format!("use a token of an account that is a member there{WITHOUT}"),
        Refusal::Blocked => "name another repository as the source; GitHub's support tells its owner why it is blocked".to_owned(),
        Refusal::NotGitHub => "look for what stands between: a proxy or firewall refuses, not GitHub; let it through to the API's address (--api-url), or set HTTPS_PROXY or NO_PROXY".to_owned(),
        Refusal::Unnamed => format!("see what GitHub's message says; a token has to be {RIGHT_TOKEN}{WITHOUT}"),
    }
}
