//! What people write to name a source: a repository in any form GitHub shows it, or a folder.

use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;
use reqwest::Url;

use super::files::CATALOG_FOLDERS;
use super::{SourceError, SourceSpec};
use crate::names::{RefName, RepoSlug, nearest, quoted, shown};

const GITHUB: &str = "github.com";
/// Where other services are, which have no GitHub API.
const OTHERS: [&str; 6] = ["gitlab.com", "bitbucket.org", "codeberg.org", "gitea.com", "sr.ht", "dev.azure.com"];

/// Reads a source: `owner/repo[@ref]`, a GitHub address in any form, or a folder.
///
/// A folder is what exists as one, or begins with `.`, `/`, `~` or a drive. `api_url` tells which
/// host `owner/repo` is on; an address on a host other than github.com must be that host's.
///
/// # Errors
/// When the text is neither, or names a host that `api_url` does not belong to.
pub fn parse(text: &str, api_url: &str) -> Result<SourceSpec, SourceError> {
    let text = text.trim();
    let bad = |why: &str| SourceError::BadSource { text: quoted(&without_password(text)), why: why.to_owned() };
    if text.is_empty() {
        return Err(bad("it is empty; write owner/repo, a GitHub address or a folder"));
    }
    if let Some(address) = Address::of(text) {
        return address.spec(api_url).map_err(|why| bad(&why));
    }
    if let Some(folder) = folder(text) {
        return Ok(SourceSpec::Folder(folder));
    }
    let (name, git_ref) = split_ref(text);
    let Some((owner, repo)) = name.trim_end_matches('/').split_once('/') else {
        return Err(bad("it is neither owner/repo nor a GitHub address, and there is no such folder"));
    };
    if repo.contains('/') {
        return Err(bad("there is no such folder, and a repository is owner/repo"));
    }
    let host = host_of(api_url).filter(|host| !is_loopback(host)).unwrap_or_else(|| GITHUB.to_owned());
    repository(owner, repo, git_ref, host).map_err(|why| bad(&why))
}

/// The name before the first `@`, and the ref behind it.
fn split_ref(text: &str) -> (&str, Option<&str>) {
    text.split_once('@').map_or((text, None), |(name, git_ref)| (name, Some(git_ref)))
}

fn repository(owner: &str, repo: &str, git_ref: Option<&str>, host: String) -> Result<SourceSpec, String> {
    let repo = repo.strip_suffix(".git").filter(|name| !name.is_empty()).unwrap_or(repo);
    let slug = RepoSlug::new(owner, repo).map_err(|error| error.why.to_owned())?;
    let git_ref = git_ref.map(ref_name).transpose()?;
    Ok(SourceSpec::GitHub { slug, git_ref, host })
}

fn ref_name(text: &str) -> Result<RefName, String> {
    let plain = text.strip_prefix("refs/heads/").or_else(|| text.strip_prefix("refs/tags/")).unwrap_or(text);
    RefName::new(plain).map_err(|error| error.to_string())
}

/// An address taken apart: host and path segments, percent-decoded.
struct Address {
    host: String,
    path: String,
}

impl Address {
    fn of(text: &str) -> Option<Self> {
        if let Some((scheme, rest)) = text.split_once("://") {
            let known = ["https", "http", "ssh", "git", "git+https", "git+ssh"];
            let path_and_host = rest.split(['?', '#']).next().unwrap_or(rest);
            let (host, path) = path_and_host.split_once('/').unwrap_or((path_and_host, ""));
            let host = if known.contains(&scheme.to_ascii_lowercase().as_str()) { host } else { "" };
            return Some(Self::new(host, path));
        }
        // git@host:owner/repo, as `git clone` takes it.
        if let Some((user_and_host, path)) = text.split_once(':')
            && let Some((user, host)) = user_and_host.split_once('@')
            && !user.contains('/')
            && !host.contains('/')
        {
            return Some(Self::new(host, path));
        }
        let (host, path) = text.split_once('/')?;
        let host = host.to_ascii_lowercase();
        (host == GITHUB || host == "www.github.com").then(|| Self::new(&host, path))
    }

    fn new(host: &str, path: &str) -> Self {
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host).to_ascii_lowercase();
        // A port belongs to ssh or to a server for tests; the host is what tells servers apart.
        let host = host.split_once(':').map_or(host.as_str(), |(host, _)| host);
        let host = host.strip_prefix("www.").unwrap_or(host).to_owned();
        Self { host, path: percent_decode_str(path).decode_utf8_lossy().into_owned() }
    }

    fn spec(&self, api_url: &str) -> Result<SourceSpec, String> {
        if self.host.is_empty() {
            return Err("this kind of address is not one of a GitHub repository".to_owned());
        }
        let host = match self.host.as_str() {
            "api.github.com" | "raw.githubusercontent.com" | "codeload.github.com" => GITHUB,
            other => other,
        };
        let api_host = host_of(api_url);
        if host != GITHUB && api_host.as_deref() != Some(host) {
            return Err(not_the_host(host));
        }
        let path = self.path.trim_matches('/');
        let path = path.strip_prefix("api/v3/").unwrap_or(path);
        let path = if self.host.starts_with("api.") || self.path.contains("api/v3/") {
            path.strip_prefix("repos/").unwrap_or(path)
        } else {
            path
        };
        let (path, at_ref) = split_ref(path);
        let mut parts = path.split('/').filter(|part| !part.is_empty());
        let (Some(owner), Some(repo)) = (parts.next(), parts.next()) else {
            return Err("the address names no repository; it ends in owner/repo".to_owned());
        };
        let rest: Vec<&str> = parts.collect();
        let shown_ref = if self.host == "raw.githubusercontent.com" { ref_part(of_refs(&rest)) } else { state(&rest)? };
        repository(owner, repo, at_ref.or(shown_ref.as_deref()), host.to_owned())
    }
}

/// The state that a page of a repository shows; none where it shows no certain one.
fn state(page: &[&str]) -> Result<Option<String>, String> {
    let none_named = |what: &str| {
        Err(format!("the address is that of {what}, which is no branch or tag: write owner/repo@BRANCH for its branch"))
    };
    let archive = |parts: &[&str]| {
        let name = of_refs(parts).join("/");
        let ending = [".zip", ".tar.gz"].into_iter().find(|ending| name.ends_with(ending)).unwrap_or_default();
        Some(name.strip_suffix(ending).unwrap_or(&name).to_owned()).filter(|name| !name.is_empty())
    };
    Ok(match page {
        ["tree" | "blob" | "raw" | "commits" | "commit" | "blame", rest @ ..] => ref_part(rest),
        ["archive" | "zipball" | "tarball" | "zip" | "tar.gz" | "legacy.zip" | "legacy.tar.gz", rest @ ..] => {
            archive(rest)
        }
        ["releases", "tag", rest @ ..] => (!rest.is_empty()).then(|| rest.join("/")),
        ["releases", "download", tag, ..] => Some((*tag).to_owned()),
        ["releases", "latest", ..] => return none_named("the latest release"),
        ["pull" | "pulls", _, ..] => return none_named("a pull request"),
        ["compare", _, ..] => return none_named("a comparison"),
        _ => None,
    })
}

/// What follows `refs/heads/` or `refs/tags/`.
fn of_refs<'p, 'a>(parts: &'p [&'a str]) -> &'p [&'a str] {
    match parts {
        ["refs", "heads" | "tags", rest @ ..] => rest,
        _ => parts,
    }
}

/// What to say of a host that is neither github.com nor the one of the API's address. Where it may be taken
/// for another, no address is offered to which the token would go.
fn not_the_host(host: &str) -> String {
    let host = shown(host, 100);
    if OTHERS.iter().any(|other| host == *other || host.ends_with(&format!(".{other}"))) {
        return format!("{host} is not a GitHub server");
    }
    if looks_like_github(&host) {
        return format!("{host} is not {GITHUB}, though it looks like it");
    }
    format!(
        "{host} is not {GITHUB}; if it is your own GitHub Enterprise server, set its API address (--api-url https://{host}/api/v3)"
    )
}

/// Whether a host's name may be taken for GitHub's: by a slip of the keys, by letters that look alike, or
/// because it holds GitHub's name.
fn looks_like_github(host: &str) -> bool {
    let foreign = !host.is_ascii() || host.split('.').any(|label| label.starts_with("xn--"));
    let holds = ["github.com", "githubusercontent", "github.io"].iter().any(|known| host.contains(known));
    // `github.acme.example` and `github.intern` are how companies call their own servers.
    let alike = host.split_once('.').is_some_and(|(name, rest)| {
        !nearest(name, ["github"], 1).is_empty() && !rest.contains('.') && (name != "github" || ENDINGS.contains(&rest))
    });
    foreign || holds || alike
}

/// Endings of public names that are written for `.com`.
const ENDINGS: [&str; 11] = ["co", "cm", "om", "con", "cmo", "org", "net", "dev", "app", "ai", "info"];

/// The ref at the beginning of `ref/and/a/path`: everything before the first folder of a catalog,
/// because a branch's name may hold slashes itself.
fn ref_part(parts: &[&str]) -> Option<String> {
    let end = parts.iter().skip(1).position(|part| CATALOG_FOLDERS.contains(part)).map_or(parts.len(), |at| at + 1);
    let parts = parts.get(..end).unwrap_or(parts);
    (!parts.is_empty()).then(|| parts.join("/"))
}

fn folder(text: &str) -> Option<PathBuf> {
    if let Some(rest) = text.strip_prefix('~')
        && (rest.is_empty() || rest.starts_with(['/', '\\']))
    {
        let home = std::env::home_dir()?;
        return Some(home.join(rest.trim_start_matches(['/', '\\'])));
    }
    let drive = matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    let path = Path::new(text);
    (text.starts_with(['.', '/', '\\']) || drive || path.exists()).then(|| path.to_owned())
}

/// The host of an address, lower-case, without `api.`: GitHub's own API and its subdomain form for others.
fn host_of(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let host = url.host_str()?.to_ascii_lowercase();
    Some(host.strip_prefix("api.").unwrap_or(&host).to_owned())
}

/// Whether a host is this machine itself.
pub(super) fn is_loopback(host: &str) -> bool {
    let plain = host.trim_start_matches('[').trim_end_matches(']');
    plain == "localhost" || plain.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The text without a login: what stands before the `@` of an address, however the address is misspelt.
fn without_password(text: &str) -> String {
    // With a scheme, or with slashes that were meant for one.
    let place = text.find("//").map_or(0, |at| at + 2);
    let (scheme, rest) = text.split_at_checked(place).unwrap_or(("", text));
    // A password may hold a slash, but `owner/repo@ref` has no login, nor has `C:\\folder@x`.
    let login = rest.rsplit_once('@').filter(|(before, _)| {
        let drive = matches!(before.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
        !drive && (before.contains(':') || !before.contains('/'))
    });
    let host = login.map_or(rest, |(_, host)| host);
    super::redact::clean(&format!("{scheme}{host}"), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const API: &str = "https://api.github.com";

    fn read(text: &str) -> (String, Option<String>, String) {
        match parse(text, API).unwrap_or_else(|error| panic!("{text}: {error}")) {
            SourceSpec::GitHub { slug, git_ref, host } => {
                (slug.to_string(), git_ref.map(|name| name.to_string()), host)
            }
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn every_form_of_an_address_names_the_same_repository() {
        for text in [
            "acme/my.flows",
            "acme/my.flows/",
            "acme/my.flows.git",
            " https://github.com/acme/my.flows ",
            "https://github.com/acme/my.flows/",
            "https://github.com/acme/my.flows.git",
            "http://www.github.com/acme/my.flows?tab=readme#top",
            "https://user:secret@github.com/acme/my.flows",
            "HTTPS://GitHub.com/acme/my.flows/issues/1",
            "github.com/acme/my.flows",
            "git@github.com:acme/my.flows.git",
            "ssh://git@github.com/acme/my.flows.git",
            "ssh://git@github.com:22/acme/my.flows",
            "git+https://github.com/acme/my.flows.git",
            "https://api.github.com/repos/acme/my.flows",
        ] {
            assert_eq!(read(text), ("acme/my.flows".to_owned(), None, "github.com".to_owned()), "{text}");
        }
    }

    #[test]
    fn a_ref_may_hold_slashes_and_a_path_behind_it_is_cut_off() {
        for (text, git_ref) in [
            ("acme/flows@v1.2", "v1.2"),
            ("acme/flows@feature/new-tone", "feature/new-tone"),
            ("acme/flows@refs/heads/main", "main"),
            ("https://github.com/acme/flows@dev", "dev"),
            ("https://github.com/acme/flows.git@feature/x", "feature/x"),
            ("https://github.com/acme/flows/tree/feature/new-tone", "feature/new-tone"),
            ("https://github.com/acme/flows/tree/feature%2Fnew-tone/", "feature/new-tone"),
            ("https://github.com/acme/flows/tree/main/flows/sales", "main"),
            ("https://github.com/acme/flows/blob/feature/x/flows/a.json", "feature/x"),
            ("https://github.com/acme/flows/tree/flows", "flows"),
            (
                "https://github.com/acme/flows/commit/0123456789abcdef0123456789abcdef01234567",
                "0123456789abcdef0123456789abcdef01234567",
            ),
            ("https://github.com/acme/flows/releases/tag/v2", "v2"),
            ("https://github.com/acme/flows/releases/download/v2/flows.zip", "v2"),
            ("https://github.com/acme/flows/archive/refs/heads/feature/x.zip", "feature/x"),
            ("https://github.com/acme/flows/archive/refs/tags/v2.tar.gz", "v2"),
            ("https://codeload.github.com/acme/flows/zip/refs/heads/dev", "dev"),
            ("https://raw.githubusercontent.com/acme/flows/refs/heads/main/flows/a.json", "main"),
        ] {
            assert_eq!(read(text).1.as_deref(), Some(git_ref), "{text}");
        }
    }

    #[test]
    fn a_page_that_shows_another_state_is_not_read_as_the_default_branch() {
        for page in ["pull/5", "pull/5/files", "compare/main...dev", "releases/latest"] {
            let text = format!("https://github.com/acme/flows/{page}");
            let error = parse(&text, API).expect_err(page).to_string();
            assert!(error.contains("owner/repo@BRANCH"), "{error}");
        }
        assert_eq!(read("https://github.com/acme/flows/issues/5").1, None);
    }

    #[test]
    fn another_host_needs_its_api_address() {
        let text = "https://git.corp.example/acme/flows";
        let error = parse(text, API).expect_err("another host").to_string();
        assert!(error.contains("git.corp.example") && error.contains("--api-url"), "{error}");
        for api in ["https://git.corp.example/api/v3", "https://api.git.corp.example"] {
            let spec = parse(text, api).expect("its own API");
            assert!(matches!(spec, SourceSpec::GitHub { host, .. } if host == "git.corp.example"));
        }
        let spec = parse("acme/flows", "https://git.corp.example/api/v3").expect("the API's host");
        assert!(matches!(spec, SourceSpec::GitHub { host, .. } if host == "git.corp.example"));
    }

    #[test]
    fn folders_are_told_from_repositories() {
        for text in [".", "./flows", "../x", "/srv/catalog", "C:\\catalog", "src", "~/catalog"] {
            assert!(matches!(parse(text, API), Ok(SourceSpec::Folder(_))), "{text}");
        }
    }

    #[test]
    fn what_is_no_source_is_refused_without_showing_a_password() {
        for text in [
            "",
            "acme",
            "a/b/c/d",
            "ftp://github.com/acme/flows",
            "https://github.com/acme",
            "ac me/flows",
            "acme/flows@",
            "acme/flows@a..b",
            "acme/..",
        ] {
            assert!(matches!(parse(text, API), Err(SourceError::BadSource { .. })), "{text}");
        }
        for text in [
            "https://me:hunter2hunter2@evil.example/acme/flows",
            "me:hunter2hunter2@github.com/acme/flows",
            "https:/me:hunter2hunter2@github.com/acme/flows",
            "https//me:hunter2hunter2@github.com/acme/flows",
            "//me:hunter2hunter2@github.com/acme/flows",
            "me:hunter2/hunter2@evil.example/acme/flows/x",
            "hunter2hunter2@github.com/acme/flows",
            "me:hunter2hunter2@evil.example:acme/flows/x/y",
            "ftp://me:p@hunter2hunter2@evil.example/acme/flows",
        ] {
            let Err(error) = parse(text, API) else { continue };
            assert!(!error.to_string().contains("hunter2"), "{text}: {error}");
        }
        let error = parse("ac me/flows@main", API).expect_err("no repository").to_string();
        assert!(error.contains("ac me/flows@main"), "{error}");
    }

    #[test]
    fn no_address_is_offered_to_which_a_token_would_go_by_mistake() {
        for host in [
            "githib.com",
            "github.co",
            "github.com.evil.example",
            "api.github.com.evil.example",
            "my-github.com",
            "xn--gthub-n4a.com",
            "gіthub.com",
            "gitlab.com",
            "raw.githubusercontent.com.evil.example",
        ] {
            let error = parse(&format!("https://{host}/acme/flows"), API).expect_err(host).to_string();
            assert!(!error.contains("--api-url"), "{host}: {error}");
        }
        for host in ["git.corp.example", "github.acme.example", "github.intern", "ghe.acme.example"] {
            let error = parse(&format!("https://{host}/acme/flows"), API).expect_err(host).to_string();
            assert!(error.contains(&format!("--api-url https://{host}/api/v3")), "{host}: {error}");
        }
    }
}
