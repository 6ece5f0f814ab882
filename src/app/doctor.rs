//! What keeps this program from working on this machine, looked for side by side and told with what helps.
//!
//! Nothing is changed: a folder is tried by a file that is taken away again. No model is asked, no external
//! server is started, and no secret is told.

mod folders;
mod setup;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::app::guide::untold;
use crate::app::{App, Error, Servers, list_models};
use crate::clock::Clock;
use crate::config::{
    Environment, Origin, Place, ServerSpec, ServersFile, ServersPlace, Settings, SettingsError, TokenKind, Transport,
};
use crate::files::readable_by_others;
use crate::names::{counted, few, grouped, quoted, shell_word, shown, words};
use crate::source::{Ask, Probe};
use crate::store::{Filter, Store};
use crate::web::proxy_of;

/// What is said of the folder of stored executions.
const STATE: &str = "state folder";
/// How long the source may take to answer.
const LONGEST: Duration = Duration::from_secs(10);
/// How far this machine's clock may be from GitHub's: from here on certificates and limits are misjudged.
const CLOCK: TimeDelta = TimeDelta::minutes(2);
/// Fewer requests than this may not be enough to read a catalog.
const FEW_REQUESTS: u64 = 20;

words! {
    /// How something stands.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Standing {
        /// As it should be.
        Good = "good",
        /// Not there, and nothing needs it.
        Absent = "absent",
        /// Worth knowing; nothing is kept from working.
        Note = "note",
        /// Something doesn't work.
        Wrong = "wrong",
        /// It could not be asked.
        Unknown = "unknown",
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What.
    pub about: &'static str,
    /// How it stands.
    pub standing: Standing,
    /// What was found.
    pub found: String,
    /// What helps.
    pub fix: Option<String>,
}

impl Check {
    fn of(about: &'static str, standing: Standing, found: impl Into<String>) -> Self {
        Self { about, standing, found: found.into(), fix: None }
    }

    fn fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }

    /// What an error says, and what helps against it.
    fn failed(about: &'static str, error: &Error) -> Self {
        let fix = error.next_step.as_ref().map(|step| step.for_commands().to_owned());
        Self { fix, ..Self::of(about, Standing::Wrong, error.message.clone()) }
    }
}

/// What is looked at.
#[derive(Clone)]
pub struct DoctorRequest {
    /// The settings, or why they can't be used.
    pub settings: Result<Settings, SettingsError>,
    /// Where folders and programs are.
    pub environment: Environment,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// This program, by its path.
    pub program: Option<PathBuf>,
}

/// Looks at everything.
pub async fn examine(request: DoctorRequest) -> Vec<Check> {
    let program =
        request.program.as_ref().map_or_else(|| "its path is not known".to_owned(), |path| path.display().to_string());
    let mut checks =
        vec![Check::of("program", Standing::Good, format!("flowy {}, {program}", env!("CARGO_PKG_VERSION")))];
    let settings = match &request.settings {
        Ok(settings) => settings.clone(),
        Err(error) => {
            let check = Check::of("settings", Standing::Wrong, error.to_string());
            checks.push(Check { fix: error.hint(), ..check });
            let unknown = "can't be told: see what is said of the settings";
            let depends = ["source", "token", "state folder", "servers file", "models"];
            checks.extend(depends.map(|about| Check::of(about, Standing::Unknown, unknown)));
            let setup = move || setup::checks(&request.environment, request.program.as_deref());
            checks.extend(tokio::task::spawn_blocking(setup).await.unwrap_or_default());
            return checks;
        }
    };
    let local = {
        let (settings, request) = (settings.clone(), request.clone());
        tokio::task::spawn_blocking(move || on_this_machine(&settings, &request))
    };
    let (source, local) = tokio::join!(of_source(&settings, &request), local);
    checks.extend(source);
    let mut local = local.unwrap_or_default();
    // A folder that can be written may hold a file that can't be read.
    if let Some(unreadable) = of_store(&settings).await
        && let Some(folder) = local.iter_mut().find(|check| check.about == STATE && check.standing == Standing::Good)
    {
        *folder = unreadable;
    }
    checks.extend(local);
    checks
}

/// Why the executions that are kept can't be read, if they can't.
async fn of_store(settings: &Settings) -> Option<Check> {
    let store = Store::at(&settings.state_dir);
    if !store.file().exists() {
        return None;
    }
    let error = store.page(Filter::default(), 1).await.err()?;
    Some(Check::failed(STATE, &untold("what is kept of executions can't be read", &error)))
}

/// The source, and what its server tells of the token, the quota and the time.
async fn of_source(settings: &Settings, request: &DoctorRequest) -> Vec<Check> {
    let app = match App::open(settings.clone(), &request.environment, request.clock.clone()) {
        Ok(app) => app,
        Err(error) => return vec![Check::failed("source", &error)],
    };
    let name = app.describe();
    let begun = request.clock.reading();
    let probed = match tokio::time::timeout(LONGEST, app.source.probe()).await {
        Ok(Some(probed)) => probed.map_err(Error::from),
        Ok(None) => return vec![of_files(&app, &name).await],
        Err(_) => {
            let message = format!("{name} does not answer within {} s", LONGEST.as_secs());
            Err(Error::new(crate::app::Code::Timeout, message)
                .next("look whether this machine reaches GitHub, if need be through a proxy"))
        }
    };
    let took = request.clock.reading().saturating_sub(begun);
    let now = request.clock.now();
    let proxy = of_proxy(settings);
    match probed {
        Err(error) => {
            let unknown = |about| Check::of(about, Standing::Unknown, "can't be told: see what is said of the source");
            let token = of_token(settings, None);
            vec![Check::failed("source", &error), token, unknown("quota"), unknown("clock"), proxy]
        }
        Ok(probe) => {
            let answers = format!("{name} answers ({} ms)", took.as_millis());
            vec![
                of_files(&app, &answers).await,
                of_token(settings, Some(&probe)),
                of_quota(&probe, settings, now),
                of_clock(&probe, now),
                proxy,
            ]
        }
    }
}

/// A folder or the examples.
async fn of_files(app: &App, name: &str) -> Check {
    let files = async {
        let view = app.source.snapshot(&Ask::default()).await?;
        view.snapshot
            .files()
            .await
            .map(|files| files.iter().filter(|(path, _)| path.as_str().starts_with("flows/")).count())
    };
    match files.await {
        Err(error) => Check::failed("source", &Error::from(error)),
        Ok(0) => Check::of("source", Standing::Note, format!("{name}, no files in flows/"))
            .fix("name your catalog with --source, or begin one with `flowy init`"),
        Ok(files) => {
            let unasked = app.unasked_examples();
            let standing = if unasked { Standing::Note } else { Standing::Good };
            let found = format!("{name}, {} in flows/", counted(files, "file", "files"));
            let fix = unasked.then(|| "name your own catalog with --source owner/repo or a folder".to_owned());
            Check { fix, ..Check::of("source", standing, found) }
        }
    }
}

/// Which token is used, and whether it may do more than read.
fn of_token(settings: &Settings, probe: Option<&Probe>) -> Check {
    let check = |standing, found: String| Check::of("token", standing, found);
    let Some(token) = &settings.token else {
        let found = "none: public repositories can be read, 60 requests an hour";
        return check(Standing::Note, found.to_owned());
    };
    let place = settings.token_place.as_ref().map_or_else(|| "GITHUB_PAT".to_owned(), ToString::to_string);
    let hides = settings.hidden_token.as_ref().map(|hidden| format!(", which hides {hidden}")).unwrap_or_default();
    let kind = token.kind();
    let found = format!("{}, from {place}{hides}", kind.words());
    if let Some(Place { origin: Origin::File { path, .. }, .. }) = &settings.token_place
        && readable_by_others(path)
    {
        let file = path.display().to_string();
        return check(Standing::Note, format!("{found}; the file can be read by others"))
            .fix(format!("make it yours alone: chmod 600 {}", shell_word(&file)));
    }
    let narrow = "use a fine-grained token of this repository alone with the permission Contents: read";
    let scopes = probe.and_then(|probe| probe.scopes.as_deref());
    match (kind, scopes) {
        (TokenKind::FineGrained | TokenKind::App, _) => {
            check(Standing::Good, format!("{found}; GitHub does not tell what it may do: Contents: read is enough"))
        }
        (_, Some("")) => check(Standing::Good, format!("{found}; it may read what is public, and nothing else")),
        (_, Some(scopes)) => {
            check(Standing::Note, format!("{found}; it may do more than read ({})", shown(scopes, 120))).fix(narrow)
        }
        (_, None) if probe.is_none() => check(Standing::Unknown, format!("{found}; what it may do can't be asked")),
        (_, None) => check(Standing::Note, format!("{found}; what it may do can't be told")).fix(narrow),
    }
}

fn of_quota(probe: &Probe, settings: &Settings, now: DateTime<Utc>) -> Check {
    let Some((limit, left)) = probe.quota else {
        return Check::of("quota", Standing::Unknown, "the server does not tell how much may be asked");
    };
    let minutes = probe.resets.map(|resets| (resets - now).num_minutes().max(0));
    let resets = minutes.map(|minutes| format!(", all of them again in {minutes} min")).unwrap_or_default();
    let found = format!("{} of {} requests left{resets}", grouped(left), grouped(limit));
    if left >= FEW_REQUESTS.min(limit) {
        return Check::of("quota", Standing::Good, found);
    }
    let check = Check::of("quota", if left == 0 { Standing::Wrong } else { Standing::Note }, found);
    if settings.token.is_some() {
        check.fix("wait until then; others may use the same token")
    } else {
        check.fix("a token raises the quota to 5,000 an hour: put it into GITHUB_PAT or your flowy.toml")
    }
}

fn of_clock(probe: &Probe, now: DateTime<Utc>) -> Check {
    let Some(date) = probe.date else {
        return Check::of("clock", Standing::Unknown, "the server does not tell the time");
    };
    let off = now - date;
    if off.abs() < CLOCK {
        return Check::of("clock", Standing::Good, "as the server's, within two minutes");
    }
    let (seconds, way) = (off.abs().num_seconds(), if off > TimeDelta::zero() { "ahead of" } else { "behind" });
    Check::of("clock", Standing::Wrong, format!("{seconds} s {way} the server's"))
        .fix("set this machine's clock: certificates and limits are judged by it")
}

fn of_proxy(settings: &Settings) -> Check {
    if let Some(fault) = &settings.web_fault {
        let what = if fault.is_of_certificates() { "certificates" } else { "proxy" };
        return Check::of(what, Standing::Wrong, fault.to_string()).fix(fault.hint());
    }
    match proxy_of(&settings.api_url) {
        Some(proxy) => Check::of("proxy", Standing::Good, format!("GitHub is asked through {}", shown(&proxy, 200))),
        None => Check::of("proxy", Standing::Good, "none"),
    }
}

/// What needs nobody to be asked.
fn on_this_machine(settings: &Settings, request: &DoctorRequest) -> Vec<Check> {
    let environment = &request.environment;
    let now = request.clock.now();
    let mut checks = vec![
        folders::check("cache folder", &settings.cache_dir, "--cache-dir", now),
        folders::check(STATE, &settings.state_dir, "--state-dir", now),
        of_servers(settings, request),
        of_models(settings, request),
    ];
    checks.extend(setup::checks(environment, request.program.as_deref()));
    checks
}

/// The servers file: whether it can be read, and whether each server has what it needs.
fn of_servers(settings: &Settings, request: &DoctorRequest) -> Check {
    let place = ServersPlace::of(settings, &request.environment);
    let Some(place) = place.filter(|place| place.named || place.path.exists()) else {
        return Check::of("servers file", Standing::Good, "none: flows call no external tools");
    };
    let opened = Servers::open(settings, &request.environment, request.clock.clone(), None);
    let usable = opened.and_then(|servers| servers.readable().and_then(|()| servers.all_set()));
    let name = place.path.display().to_string();
    match usable {
        Err(error) => {
            let failed = Check::failed("servers file", &error);
            let fix = failed
                .fix
                .clone()
                .unwrap_or_else(|| "change the file there; docs/SERVERS.md shows its form".to_owned());
            failed.fix(fix)
        }
        Ok(()) => {
            let servers = ServersFile::load(&place, &request.environment).map(|file| file.servers).unwrap_or_default();
            let missing = |(alias, server): (&String, &ServerSpec)| {
                Some(format!("{} starts {}, which is not found", quoted(alias), quoted(&missing_program(server)?)))
            };
            let missing: Vec<String> = servers.iter().filter_map(missing).collect();
            if !missing.is_empty() {
                return Check::of("servers file", Standing::Wrong, format!("{name}: {}", few(missing)))
                    .fix("install it, or write its whole path in command");
            }
            let all = counted(servers.len(), "server", "servers");
            let found = format!("{name}, {all}, none of them started; `flowy servers tools NAME` tries one");
            Check::of("servers file", Standing::Good, found)
        }
    }
}

/// The program of a server, if there is none where it is looked for.
fn missing_program(server: &ServerSpec) -> Option<String> {
    let Transport::Stdio(program) = &server.transport else { return None };
    let command = Path::new(&program.command);
    let path = program.env.iter().find(|(name, _)| name.eq_ignore_ascii_case("PATH")).map(|(_, path)| path.as_os_str());
    let there =
        |file: PathBuf| file.is_file() || ["exe", "cmd", "bat"].iter().any(|end| file.with_extension(end).is_file());
    // An absolute path stays as it is.
    let found =
        std::env::split_paths(path.unwrap_or("/bin:/usr/bin".as_ref())).any(|folder| there(folder.join(command)));
    (!found && !server.disabled).then(|| command.display().to_string())
}

/// The models: whether each has its key. None is asked.
fn of_models(settings: &Settings, request: &DoctorRequest) -> Check {
    let rows = list_models(settings);
    if rows.is_empty() {
        // Where a settings file can't be used, its models are not known.
        let known = request.settings.is_ok();
        let what = if known {
            "none: texts are filled in, and your client's model answers them"
        } else {
            "not known: the settings can't be used"
        };
        return Check::of("models", if known { Standing::Good } else { Standing::Unknown }, what);
    }
    let keyless: Vec<String> =
        rows.iter().filter_map(|row| Some(format!("{}: {}", row.spec.name, row.lacks_key()?))).collect();
    if keyless.is_empty() {
        let names = few(rows.iter().map(|row| row.spec.name.clone()));
        return Check::of("models", Standing::Good, format!("{names}; `flowy models check NAME` asks one"));
    }
    Check::of("models", Standing::Wrong, format!("no key for {}", few(keyless)))
        .fix("set the variable or write the file that key_env or key_file of its section in flowy.toml names")
}
