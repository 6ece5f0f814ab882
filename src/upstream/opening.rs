//! How a connection comes about: a program started or an address asked, by the older or the newer
//! beginning of the protocol, within a time.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ProtocolVersion, SubscriptionFilter};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, Peer, RunningService, Subscription,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use super::ears::Ears;
use super::line::ServerLine;
use super::lines::Lines;
use super::process::Process;
use super::tools::LARGEST_LIST;
use super::trouble::{LISTEN, Trouble, clean, of_beginning};
use crate::config::{Endpoint, Era, Program, Secret, ServerSpec, Transport, system_says};
use crate::guard;
use crate::names::quoted;
use crate::web::cause;

/// What stands around an answer in its line or event: ids, names, the protocol's own words.
const AROUND: usize = 64 << 10;
/// How long a program that did not begin well may take to end.
const GRACE: Duration = Duration::from_millis(300);

/// How long a program that says nothing more may take to end before it is told as one that runs on.
const ENDING: Duration = Duration::from_millis(700);

/// A connection that has just begun.
pub(super) struct OpenedServer {
    pub(super) running: RunningService<RoleClient, Ears>,
    pub(super) ears: Ears,
    /// Changes of its tools, where one has to ask to be told.
    pub(super) changes: Option<Subscription>,
    /// The program, where the server is one.
    pub(super) process: Option<Process>,
}

/// Connects to a server, within its time to connect.
pub(super) async fn open(
    alias: &str,
    spec: &ServerSpec,
    guard: Option<&Path>,
    secrets: &Arc<[Secret]>,
) -> Result<OpenedServer, Trouble> {
    let begin = async |mode, within| match &spec.transport {
        Transport::Http(endpoint) => address(alias, spec, endpoint, mode, within).await,
        Transport::Stdio(server) => program(alias, spec, server, guard, secrets, mode, within).await,
    };
    match spec.era {
        Era::Initialize => begin(initialize(), spec.connect_timeout).await,
        Era::Discover => begin(discover(), spec.connect_timeout).await,
        // Some servers end at a question they don't know, others never answer it, or with anything: they
        // are begun with once more, and asked as they expect.
        Era::Auto => match begin(discover(), spec.connect_timeout / 2).await {
            Ok(opened) => Ok(opened),
            Err(trouble) if trouble.lasting => Err(trouble),
            Err(_) => begin(initialize(), spec.connect_timeout / 2).await,
        },
    }
}

/// How many bytes one message of a server's may have.
fn longest(spec: &ServerSpec) -> usize {
    spec.max_result_bytes.max(LARGEST_LIST).saturating_add(AROUND)
}

fn initialize() -> ClientLifecycleMode {
    ClientLifecycleMode::Initialize
}

fn discover() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] }
}

async fn program(
    alias: &str,
    spec: &ServerSpec,
    program: &Program,
    guard: Option<&Path>,
    secrets: &Arc<[Secret]>,
    mode: ClientLifecycleMode,
    within: Duration,
) -> Result<OpenedServer, Trouble> {
    let (mut process, out, input) = Process::start(alias, program, guard, secrets.clone())
        .map_err(|error| not_started(program, &error, secrets))?;
    let longest = longest(spec);
    let transport = Lines::new(out, input, longest, alias, Box::new(process.stray(alias, secrets)));
    let ears = Ears::of(secrets);
    let begun = tokio::time::timeout(within, ears.clone().serve_with_lifecycle(transport, mode)).await;
    let trouble = match begun {
        Ok(Ok(running)) => return Ok(OpenedServer { running, ears, changes: None, process: Some(process) }),
        // One that has ended may also be noticed by not being able to write to it.
        Ok(Err(ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. })) => {
            ended(&mut process, secrets).await
        }
        Ok(Err(error)) => of_beginning(&error, secrets),
        Err(_) => silent(spec.connect_timeout, &process.said().instead(secrets)),
    };
    process.end(GRACE).await;
    Err(trouble.or_hint(LISTEN))
}

async fn address(
    alias: &str,
    spec: &ServerSpec,
    endpoint: &Endpoint,
    mode: ClientLifecycleMode,
    within: Duration,
) -> Result<OpenedServer, Trouble> {
    let line = ServerLine::lay(alias, endpoint, within)
        .map_err(|error| Trouble::lasting(format!("no client can be made for it: {}", cause(&error))))?;
    let longest = longest(spec);
    let config = StreamableHttpClientTransportConfig::with_uri(endpoint.url.as_str())
        .custom_headers(endpoint.headers.iter().cloned().collect())
        .max_json_response_size(longest)
        .max_sse_event_size(longest);
    let ears = Ears::of(&spec.secrets);
    let transport = StreamableHttpClientTransport::with_client(line, config);
    match tokio::time::timeout(within, ears.clone().serve_with_lifecycle(transport, mode)).await {
        Ok(Ok(running)) => Ok(OpenedServer { running, ears, changes: None, process: None }),
        Ok(Err(error)) => Err(of_beginning(&error, &spec.secrets).asked_with(&endpoint.headers)),
        Err(_) => Err(silent(spec.connect_timeout, "").hint("check that it runs, and host and port in its url")),
    }
}

/// Asks to be told of changed tools, where the newer generation of the protocol is spoken: there one
/// has to ask. A server that does not answer that well is asked for nothing more.
pub(super) async fn subscribe(peer: &Peer<RoleClient>, within: Duration) -> Option<Subscription> {
    let info = peer.peer_info()?;
    if info.protocol_version.has_initialize() || info.capabilities.tools.as_ref()?.list_changed != Some(true) {
        return None;
    }
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    tokio::time::timeout(within, peer.listen(filter)).await.ok()?.ok()
}

fn silent(within: Duration, instead: &str) -> Trouble {
    Trouble::passing(format!("it does not answer within {} ms{instead}", within.as_millis()))
}

fn not_started(program: &Program, error: &std::io::Error, secrets: &[Secret]) -> Trouble {
    match error.kind() {
        std::io::ErrorKind::NotFound => no_program(&program.command, secrets),
        std::io::ErrorKind::NotADirectory => {
            Trouble::lasting(clean(&error.to_string(), secrets)).hint("make the folder, or correct cwd of its entry")
        }
        kind => {
            let trouble = unstartable(&program.command, &system_says(error), secrets);
            Trouble { lasting: kind == std::io::ErrorKind::PermissionDenied, ..trouble }
        }
    }
}

fn no_program(command: &OsStr, secrets: &[Secret]) -> Trouble {
    let command = command.to_string_lossy();
    let hint = if command.contains(char::is_whitespace) {
        "command is the program alone: put the words after the first into args"
    } else if command.contains(['/', '\\']) {
        "correct the path in command of its entry"
    } else {
        "install it, or write its whole path in command: flowy may be started with another PATH than your shell"
    };
    Trouble::lasting(format!("there is no program {}", quoted(&clean(&command, secrets)))).hint(hint)
}

fn unstartable(command: &OsStr, why: &str, secrets: &[Secret]) -> Trouble {
    let name = quoted(&clean(&command.to_string_lossy(), secrets));
    Trouble::lasting(format!("{name} can't be started: {}", clean(why, secrets)))
        .hint("check that command of its entry is a program that you may start")
}

/// What a program that ended says of it.
pub(super) async fn ended(process: &mut Process, secrets: &[Secret]) -> Trouble {
    let status = process.ended_within(ENDING).await;
    let words = process.last_words(secrets).await;
    let by_guard = words.as_deref().and_then(|words| words.strip_prefix(guard::COULD_NOT_START));
    let code = status.and_then(|status| status.code());
    match (code, by_guard) {
        (Some(127), Some(_)) => return no_program(&process.command, secrets),
        (Some(126), Some(why)) => return unstartable(&process.command, why, secrets),
        _ => {}
    }
    let words = words.map(|words| format!(": {words}")).unwrap_or_default();
    let trouble = match (code, status.and_then(guard::signal_of)) {
        (_, Some(signal)) => Trouble::passing(format!("it was killed by a signal ({signal}){words}")),
        // What a shell says of a program that is not there or can't be started.
        (Some(127), _) => Trouble::lasting(format!("its program was not found{words}")),
        (Some(126), _) => Trouble::lasting(format!("its program can't be started{words}")),
        (Some(code), _) => Trouble::passing(format!("it ended with code {code}{words}")),
        (None, _) => Trouble::passing(format!("it closed its output{words}")),
    };
    trouble.hint(LISTEN)
}
