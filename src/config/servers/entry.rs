//! One server of the file, key by key. Each fault names the server and the key, and never a value:
//! any of them may be a secret.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use http::{HeaderName, HeaderValue, Uri};
use serde_json::{Map, Value};

use super::allow::{Allow, Pattern, READ_ONLY};
use super::error::ServersFault;
use super::expand::{Unfilled, expand};
use super::{Endpoint, Era, Program, ServerSpec, Transport};
use crate::config::environment::{Environment, goes_to_children};
use crate::config::secret::Secret;
use crate::document::Pointer;
use crate::names::{nearest, quoted};

/// An hour, the longest wait for a server; who writes more counts milliseconds.
const LONGEST_WAIT: Duration = Duration::from_hours(1);
/// A day, the longest that an idle server is kept.
const LONGEST_IDLE: Duration = Duration::from_hours(24);

/// Every key of an entry.
const KEYS: [&str; 17] = [
    "type",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "allow",
    "fromModels",
    "timeout",
    "connectTimeout",
    "idleStop",
    "maxResultBytes",
    "maxParallel",
    "disabled",
    "enabled",
    "era",
];
/// 64 MiB, the largest answer that can be asked for: it is held in memory.
const LARGEST_RESULT: u64 = 64 << 20;
/// Shorter values than this would mask parts of ordinary words.
const SHORTEST_SECRET: usize = 6;

/// One entry, and what is around it.
pub(super) struct ServerEntry<'a> {
    pub(super) alias: &'a str,
    /// The folder that relative paths are relative to.
    pub(super) folder: &'a Path,
    pub(super) environment: &'a Environment,
    pub(super) object: &'a Map<String, Value>,
}

/// What is wrong, and where below the entry.
pub(super) type Refused = (Option<Pointer>, ServersFault);

/// The place of a key as messages name it: `env.NAME`, `args[1]`, or the key alone.
pub(super) fn place_of(key: &'static str, shown: &str) -> Pointer {
    let place = Pointer::root().key(key);
    let below = shown.strip_prefix(key).unwrap_or_default();
    if let Some(name) = below.strip_prefix('.') {
        return place.key(name);
    }
    let number = below.strip_prefix('[').and_then(|number| number.strip_suffix(']'));
    number.map_or_else(|| place.clone(), |number| place.key(number))
}

/// What became of an entry: a server where nothing is wrong, and everything that is, key by key.
#[derive(Default)]
pub(super) struct EntryOutcome {
    pub(super) spec: Option<ServerSpec>,
    pub(super) faults: Vec<Refused>,
    /// Variables of the environment that it needs and that are not there: the file is right, and
    /// this one server can't be used.
    pub(super) unset: Vec<Refused>,
    /// What is doubtful: the key, and the fact.
    pub(super) notices: Vec<(String, String)>,
}

impl EntryOutcome {
    /// An entry that is no object.
    pub(super) fn of_no_entry(alias: &str) -> Self {
        let fault = ServersFault::NotAnEntry { alias: alias.to_owned() };
        Self { faults: vec![(None, fault)], ..Self::default() }
    }

    /// The value, or nothing and one more fault.
    fn of<T>(&mut self, read: Result<T, Refused>) -> Option<T> {
        read.map_err(|fault| self.faults.push(fault)).ok()
    }
}

/// A text as it is written and as it is filled in.
struct EntryText {
    written: String,
    filled: String,
    /// Whether all of it could be filled in.
    whole: bool,
}

/// What comes together while texts are filled in.
#[derive(Default)]
struct EntryFilling {
    /// What is switched off need not be set up.
    disabled: bool,
    secrets: Vec<Secret>,
    unset: Vec<Refused>,
    notices: Vec<(String, String)>,
}

impl ServerEntry<'_> {
    /// Reads an entry.
    pub(super) fn read(&self) -> EntryOutcome {
        let mut outcome = EntryOutcome::default();
        for key in self.object.keys().filter(|key| !KEYS.contains(&key.as_str())) {
            let near = nearest(key, KEYS, 1).first().map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            let told = format!("the key {} of the server {} is not known here{near}", quoted(key), quoted(self.alias));
            outcome.notices.push((key.clone(), told));
        }
        let disabled = outcome.of(self.switch("disabled")).flatten().unwrap_or(false);
        // Other clients' word for the opposite. Whoever switches a server off in either way means it.
        let enabled = outcome.of(self.switch("enabled")).flatten().unwrap_or(true);
        let disabled = disabled || !enabled;
        let mut filling = EntryFilling { disabled, ..EntryFilling::default() };
        let transport = outcome.of(self.transport(&mut filling));
        let usual = match &transport {
            Some((Transport::Http(_), _)) => Era::Auto,
            _ => Era::Initialize,
        };
        let allow = outcome.of(self.allow());
        let timeout = outcome.of(self.time("timeout", LONGEST_WAIT)).flatten();
        let connect_timeout = outcome.of(self.time("connectTimeout", LONGEST_WAIT)).flatten();
        let idle_stop = outcome.of(self.time("idleStop", LONGEST_IDLE)).flatten();
        let max_result_bytes = outcome.of(self.number("maxResultBytes", "bytes", 1..=LARGEST_RESULT)).flatten();
        let from_models = outcome.of(self.switch("fromModels")).flatten().unwrap_or(false);
        let max_parallel = outcome.of(self.number("maxParallel", "calls", 1..=100)).flatten();
        let era = outcome.of(self.era()).flatten();
        outcome.unset = filling.unset;
        outcome.notices.extend(filling.notices);
        if let (Some((transport, identity)), Some(allow)) = (transport, allow) {
            outcome.spec = Some(ServerSpec {
                transport,
                identity,
                allow,
                allow_at: None,
                timeout: timeout.unwrap_or(Duration::from_secs(30)),
                connect_timeout: connect_timeout.unwrap_or(Duration::from_secs(10)),
                idle_stop: idle_stop.unwrap_or(Duration::from_mins(5)),
                max_result_bytes: max_result_bytes.unwrap_or(4 << 20),
                from_models,
                max_parallel: max_parallel.unwrap_or(4),
                disabled,
                unset: None,
                era: era.unwrap_or(usual),
                secrets: filling.secrets,
            });
        }
        outcome
    }

    fn transport(&self, filling: &mut EntryFilling) -> Result<(Transport, String), Refused> {
        let alias = || self.alias.to_owned();
        let kind = self.kind()?;
        // Some clients write both keys, the one that is not meant as null or "".
        let says = |key: &str| self.object.get(key).is_some_and(|value| !value.is_null() && *value != "");
        let command = says("command") || (self.object.contains_key("command") && !says("url"));
        let url = says("url") || (self.object.contains_key("url") && !self.object.contains_key("command"));
        if command && url {
            return Err((Some(place_of("url", "url")), ServersFault::BothTransports { alias: alias() }));
        }
        match kind {
            Some("stdio") if !command => Err((
                Some(place_of("type", "type")),
                ServersFault::TypeWithout { alias: alias(), kind: "stdio", key: "command" },
            )),
            Some("http") if !url => Err((
                Some(place_of("type", "type")),
                ServersFault::TypeWithout { alias: alias(), kind: "http", key: "url" },
            )),
            _ if command => self.program(filling),
            _ if url => self.endpoint(filling),
            _ => {
                let unknown = self.object.keys().filter(|key| !KEYS.contains(&key.as_str()));
                let mut meant = unknown.filter_map(|key| {
                    let near = nearest(key, ["command", "url"], 1).first().copied()?;
                    Some((key.clone(), near))
                });
                Err((None, ServersFault::NoTransport { alias: alias(), meant: meant.next() }))
            }
        }
    }

    fn kind(&self) -> Result<Option<&'static str>, Refused> {
        match self.plain_text("type")?.map(str::to_ascii_lowercase).as_deref() {
            None => Ok(None),
            Some("stdio") => Ok(Some("stdio")),
            Some("http" | "streamable-http" | "streamable_http" | "streamablehttp") => Ok(Some("http")),
            Some("sse") => Err((Some(place_of("type", "type")), ServersFault::Sse { alias: self.alias.to_owned() })),
            Some(_) => Err(self.bad("type", "is none of stdio, http and streamable-http", None)),
        }
    }

    fn program(&self, filling: &mut EntryFilling) -> Result<(Transport, String), Refused> {
        let Some(command) = self.plain_text("command")? else {
            return Err((None, ServersFault::NoTransport { alias: self.alias.to_owned(), meant: None }));
        };
        let command = self.fill("command", command, filling)?;
        if command.filled.trim().is_empty() && !filling.disabled {
            return Err(self.bad("command", "is empty", None));
        }
        let mut args = Vec::new();
        let mut identity = format!("stdio\n{}", command.written);
        for (place, value) in self.list("args")?.iter().enumerate() {
            let key = format!("args[{place}]");
            let Some(text) = value.as_str() else { return Err(self.wrong_kind("args", &key, value, "a text")) };
            let arg = self.fill_at("args", &key, text, filling)?;
            identity.push('\n');
            identity.push_str(&arg.written);
            args.push(arg.filled);
        }
        let cwd = match self.plain_text("cwd")? {
            None => self.folder.to_owned(),
            Some(cwd) => {
                let cwd = self.fill("cwd", cwd, filling)?;
                identity.push_str("\ncwd ");
                identity.push_str(&cwd.written);
                self.environment.resolved(&cwd.filled, self.folder)
            }
        };
        let mut env = self.environment.for_children();
        for (name, value) in self.members("env")? {
            let key = format!("env.{name}");
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(self.bad_at("env", &key, "is not the name of a variable", None));
            }
            let text = match value {
                Value::String(text) => text.clone(),
                // Other clients take numbers and true or false here, as people write them.
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                _ => return Err(self.wrong_kind("env", &key, value, "a text")),
            };
            let EntryText { filled: value, whole, .. } = self.fill_at("env", &key, &text, filling)?;
            if value.contains('\0') {
                return Err(self.bad_at("env", &key, "holds a null character", None));
            }
            if whole && !goes_to_children(name) {
                keep(&value, &mut filling.secrets);
            }
            env.insert(OsString::from(name), OsString::from(value));
        }
        // A path is made whole here: where a program without an absolute path is looked for when
        // its folder is another one differs between systems.
        let command = if command.filled.contains(['/', '\\']) || command.filled.starts_with('~') {
            self.environment.resolved(&command.filled, &cwd).into_os_string()
        } else {
            OsString::from(command.filled)
        };
        if command.as_encoded_bytes().contains(&0) || args.iter().any(|arg| arg.contains('\0')) {
            return Err(self.bad("command", "or one of its arguments holds a null character", None));
        }
        Ok((Transport::Stdio(Program { command, args, env, cwd }), identity))
    }

    fn endpoint(&self, filling: &mut EntryFilling) -> Result<(Transport, String), Refused> {
        let Some(url) = self.plain_text("url")? else {
            return Err((None, ServersFault::NoTransport { alias: self.alias.to_owned(), meant: None }));
        };
        let url = self.fill("url", url, filling)?;
        let address = url.filled.trim();
        let meant = url.whole && !filling.disabled;
        if meant && let Some(why) = bad_address(address) {
            return Err((Some(place_of("url", "url")), ServersFault::BadUrl { alias: self.alias.to_owned(), why }));
        }
        let mut headers = Vec::new();
        for (name, value) in self.members("headers")? {
            let key = format!("headers.{name}");
            let Ok(header) = HeaderName::from_bytes(name.as_bytes()) else {
                return Err(self.bad_at("headers", &key, "is not the name of a header", None));
            };
            if OURS.contains(&header.as_str()) {
                return Err(self.bad_at("headers", &key, "is a header that the protocol sets itself", None));
            }
            let Some(text) = value.as_str() else { return Err(self.wrong_kind("headers", &key, value, "a text")) };
            let EntryText { filled: value, whole, .. } = self.fill_at("headers", &key, text, filling)?;
            let Ok(mut sent) = HeaderValue::from_str(value.trim()) else {
                return Err(self.bad_at("headers", &key, "holds a character that no header can have", None));
            };
            sent.set_sensitive(true);
            if whole {
                keep(value.trim(), &mut filling.secrets);
                // "Bearer abc": the second word is the secret.
                if let Some((_, rest)) = value.trim().split_once(' ') {
                    keep(rest.trim(), &mut filling.secrets);
                }
            }
            headers.push((header, sent));
        }
        let open = address.starts_with("http://") && !Uri::try_from(address).is_ok_and(|uri| here(&uri));
        if meant && open && !headers.is_empty() {
            let told = format!("the headers of the server {} are sent without encryption", quoted(self.alias));
            filling.notices.push(("headers".to_owned(), told));
        }
        Ok((Transport::Http(Endpoint { url: address.to_owned(), headers }), format!("http\n{}", url.written.trim())))
    }

    fn allow(&self) -> Result<Allow, Refused> {
        let mut allow = Allow::default();
        let listed = match self.object.get("allow") {
            None | Some(Value::Null) => &[][..],
            Some(one @ Value::String(_)) => std::slice::from_ref(one),
            Some(Value::Array(listed)) => listed.as_slice(),
            Some(other) => return Err(self.wrong_kind("allow", "allow", other, "a list of tools, or readOnly")),
        };
        for (place, value) in listed.iter().enumerate() {
            let Some(text) = value.as_str() else {
                return Err(self.wrong_kind("allow", &format!("allow[{place}]"), value, "a text"));
            };
            if text == READ_ONLY {
                allow.read_only = true;
                continue;
            }
            let pattern = Pattern::new(text).map_err(|why| {
                let (alias, pattern) = (self.alias.to_owned(), text.to_owned());
                (Some(place_of("allow", &format!("allow[{place}]"))), ServersFault::BadPattern { alias, pattern, why })
            })?;
            allow.patterns.push(pattern);
        }
        Ok(allow)
    }

    fn era(&self) -> Result<Option<Era>, Refused> {
        match self.plain_text("era")? {
            None => Ok(None),
            Some("initialize") => Ok(Some(Era::Initialize)),
            Some("discover") => Ok(Some(Era::Discover)),
            Some("auto") => Ok(Some(Era::Auto)),
            Some(_) => Err(self.bad("era", "is none of initialize, discover and auto", None)),
        }
    }

    fn fill(&self, key: &'static str, text: &str, filling: &mut EntryFilling) -> Result<EntryText, Refused> {
        self.fill_at(key, key, text, filling)
    }

    /// Fills in variables; the text stays as it is written where one is not there.
    fn fill_at(
        &self,
        key: &'static str,
        shown: &str,
        text: &str,
        filling: &mut EntryFilling,
    ) -> Result<EntryText, Refused> {
        let written = text.to_owned();
        let (alias, of, place) = (self.alias.to_owned(), shown.to_owned(), Some(place_of(key, shown)));
        match expand(text, |name| self.environment.named(name)) {
            Ok(expanded) => {
                for (_, value) in expanded.used.iter().filter(|(name, _)| !goes_to_children(name)) {
                    keep(value, &mut filling.secrets);
                }
                return Ok(EntryText { written, filled: expanded.text, whole: true });
            }
            Err(_) if filling.disabled => {}
            Err(Unfilled::Unset(variable)) => {
                filling.unset.push((place, ServersFault::Unset { alias, key: of, variable }));
            }
            Err(Unfilled::NotUnicode(variable)) => {
                filling.unset.push((place, ServersFault::NotUnicode { alias, key: of, variable }));
            }
            Err(Unfilled::NoName) => return Err((place, ServersFault::NoVariable { alias, key: of })),
        }
        Ok(EntryText { filled: written.clone(), written, whole: false })
    }
}

/// Headers that the protocol's client sets.
const OURS: [&str; 5] = ["accept", "content-type", "mcp-session-id", "mcp-protocol-version", "last-event-id"];

fn keep(value: &str, secrets: &mut Vec<Secret>) {
    if value.len() >= SHORTEST_SECRET && !secrets.iter().any(|kept| kept.expose() == value) {
        secrets.push(Secret::new(value.to_owned()));
    }
}

fn bad_address(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("it is empty");
    }
    if !text.contains("://") {
        return Some("it has no scheme (https:// or http://)");
    }
    let Ok(uri) = Uri::try_from(text) else { return Some("it cannot be read") };
    match uri.scheme_str() {
        Some("http" | "https") => {}
        _ => return Some("it is neither http:// nor https://"),
    }
    if uri.host().is_none_or(str::is_empty) {
        return Some("it names no host");
    }
    if text.contains('#') {
        return Some("it has a fragment");
    }
    let port = uri.authority().and_then(|authority| {
        let host = authority.as_str().rsplit('@').next()?;
        host.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.is_empty() && !port.ends_with(']'))
    });
    if port.is_some_and(|port| !port.parse::<u16>().is_ok_and(|port| port > 0)) {
        return Some("its port is no number from 1 to 65535");
    }
    None
}

/// Whether an address is on this machine.
fn here(uri: &Uri) -> bool {
    uri.host().is_some_and(crate::config::reading::on_this_machine)
}
