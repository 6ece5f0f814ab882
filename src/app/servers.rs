//! External MCP servers as the product has them: opened with the settings in force, listed, asked
//! for their tools, and ended. Flows reach them through the port that this hands out.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::app::{Code, Error};
use crate::clock::Clock;
use crate::config::{Environment, ServersError, ServersFile, ServersMistake, ServersNotice, ServersPlace, Settings};
use crate::execute::Tools;
use crate::model::{KnownTool, ServerStanding, Toolbox};
use crate::names::{did_you_mean, nearest, quoted};
use crate::plan::{Intent, Work};
use crate::run::Run;
use crate::upstream::{Registry, ServerRow, Surroundings, UnfitPattern, Unreachable};

/// The external servers that are configured.
#[derive(Debug, Clone)]
pub struct Servers {
    registry: Arc<Registry>,
    /// Where they are configured; none without a user's folder.
    file: Option<PathBuf>,
    /// What is doubtful in that file.
    notices: Arc<[ServersNotice]>,
    /// Why servers can't be used, as far as that file and the environment tell.
    troubles: Option<ServersError>,
    /// Why nothing is known of any, where the file can't be understood.
    unreadable: Option<ServersError>,
}

/// What is known of all servers.
#[derive(Debug, Clone)]
pub struct ServerList {
    /// Where they are configured, in words.
    pub place: String,
    /// One for each server, by alias.
    pub rows: Vec<ServerRow>,
    /// What is doubtful about them.
    pub notices: Vec<String>,
}

/// The tools of one server.
#[derive(Debug, Clone)]
pub struct ServerTools {
    /// The server.
    pub row: ServerRow,
    /// Its tools, by name.
    pub tools: Vec<Arc<KnownTool>>,
    /// Why these are the tools that were known from before, if they are.
    pub trouble: Option<String>,
    /// What to do about that.
    pub hint: Option<String>,
    /// What is doubtful about it.
    pub notices: Vec<String>,
}

impl Servers {
    /// Reads the servers file that the settings name. Nothing is started. `program` is our own
    /// program, which watches over those that are. A server whose entry can't be understood, or that
    /// needs a variable which is not set, counts as unavailable; [`Servers::all_set`] refuses it.
    ///
    /// # Errors
    /// When a file that the settings name can't be read, is not JSON or has no servers in it. One that
    /// nobody named makes all servers unavailable; [`Servers::readable`] refuses it.
    pub fn open(
        settings: &Settings,
        environment: &Environment,
        clock: Arc<dyn Clock>,
        program: Option<PathBuf>,
    ) -> Result<Self, Error> {
        let place = ServersPlace::of(settings, environment);
        let file = match &place {
            Some(place) => ServersFile::load(place, environment).map_err(|error| unusable(&error))?,
            None => ServersFile::default(),
        };
        let (cache, web_fault) = (Some(settings.cache_dir.clone()), settings.web_fault.clone());
        let surroundings = Surroundings { guard: program, cache, web_fault, clock };
        let (notices, troubles) = (Arc::from(file.notices.as_slice()), file.troubles());
        let unreadable = file.unreadable.clone();
        let registry = Arc::new(Registry::new(file, surroundings));
        Ok(Self { registry, file: place.map(|place| place.path), notices, troubles, unreadable })
    }

    /// Refuses a file that can't be understood, for whoever asks about servers.
    ///
    /// # Errors
    /// When it is not JSON, can't be read, or has no servers in it.
    pub fn readable(&self) -> Result<(), Error> {
        self.unreadable.as_ref().map_or(Ok(()), |why| Err(unusable(why)))
    }

    /// Refuses servers that can't be used by what the file and the environment say, for whoever asks
    /// about servers.
    ///
    /// # Errors
    /// When an entry can't be understood, or needs a variable that is not set.
    pub fn all_set(&self) -> Result<(), Error> {
        self.troubles.as_ref().map_or(Ok(()), |troubles| Err(unusable(troubles)))
    }

    /// What the file says doubtful of servers, and what it allows that they don't have, as far as
    /// their tools are known.
    pub fn notices(&self, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let unfit = self.registry.unfit_patterns();
        let unusable = self.registry.unusable_tools();
        let of_file = self.notices.iter().map(|notice| (&notice.alias, notice.told.clone()));
        let of_tools = unusable.iter().map(|(alias, name, why)| {
            (alias, format!("the tool {} of the server {} is left aside: {why}", quoted(name), quoted(alias)))
        });
        let all = of_file.chain(unfit.iter().map(|unfit| (&unfit.alias, unfit_pattern(unfit)))).chain(of_tools);
        all.filter(|(alias, _)| wanted(alias)).map(|(_, told)| told).collect()
    }

    /// The same of the servers whose tools steps of a run called in vain: a misspelt key may be why.
    pub fn notices_of_failures(&self, run: &Run) -> Vec<String> {
        let called: BTreeSet<&str> = run
            .failures()
            .filter_map(|(step, _)| match &run.plan().step(step)?.work {
                Work::Call(call) => Some(call.address.server.as_str()),
                Work::Faulty { meant: Intent::Call(call), .. } => call.split(':').next(),
                Work::Render(_) | Work::Flow(_) | Work::Gather(_) | Work::Faulty { .. } => None,
            })
            .collect();
        self.notices(|alias| called.contains(alias))
    }

    /// Logs what is doubtful in the file, and which servers can't be used.
    pub fn warn(&self) {
        if let Err(Error { message, next_step, .. }) = self.readable() {
            let step = next_step.map(|step| format!(" ({})", step.for_commands())).unwrap_or_default();
            tracing::warn!("{message}{step}; until then no external server can be used");
        }
        for notice in self.notices.iter() {
            tracing::warn!("{}", notice.told);
        }
        for row in self.registry.list() {
            if let ServerStanding::Unavailable(why) = row.standing {
                tracing::warn!(server = row.alias, "can't be used: {why}");
            }
        }
    }

    /// Logs what is allowed and no server has.
    pub fn warn_of_patterns(&self) {
        for unfit in self.registry.unfit_patterns() {
            tracing::warn!("{}", unfit_pattern(&unfit));
        }
    }

    /// Where they are configured, in words.
    fn place(&self) -> String {
        self.file.as_ref().map_or_else(|| "no servers file".to_owned(), |file| file.display().to_string())
    }

    /// The port through which flows call their tools.
    pub fn tools(&self) -> Arc<dyn Tools> {
        self.registry.clone()
    }

    /// Whether none is configured.
    pub fn is_empty(&self) -> bool {
        self.registry.is_empty()
    }

    /// What is known of all of them; none is asked.
    pub fn list(&self) -> ServerList {
        ServerList { place: self.place(), rows: self.registry.list(), notices: self.notices(|_| true) }
    }

    /// The tools of one, asked now; where it can't be asked, those that were known before.
    ///
    /// # Errors
    /// When there is no such server, or nothing is known of its tools.
    pub async fn tools_of(&self, alias: &str) -> Result<ServerTools, Error> {
        let Some(asked) = self.registry.refresh(alias).await else { return Err(self.no_server(alias)) };
        let (trouble, hint) = match asked.err() {
            Some(Unreachable { why, hint }) => (Some(why), hint),
            None => (None, None),
        };
        let row = self.registry.list().into_iter().find(|row| row.alias == alias);
        let toolbox = self.registry.toolbox();
        let tools = toolbox.servers.get(alias).and_then(|known| known.tools.as_ref());
        match (row, tools, trouble) {
            (Some(row), Some(tools), trouble) => {
                let notices = self.notices(|known| known == alias);
                Ok(ServerTools { row, tools: tools.values().cloned().collect(), trouble, hint, notices })
            }
            (_, _, trouble) => {
                let why = trouble.unwrap_or_else(|| "it lists no tools".to_owned());
                let error = Error::new(Code::ToolUnavailable, format!("the server {}: {why}", quoted(alias)));
                let file = self.place();
                Err(error.next(match hint {
                    Some(hint) => format!("{hint}; its entry is in {file}"),
                    None => format!("check its entry in {file}"),
                }))
            }
        }
    }

    fn no_server(&self, alias: &str) -> Error {
        let file = self.place();
        if self.file.as_ref().is_none_or(|file| !file.exists()) {
            let fact = format!("there is no server {}: the servers file {file} does not exist", quoted(alias));
            let entry = json!({"mcpServers": {alias: {"command": "PROGRAM", "args": [], "allow": "readOnly"}}});
            let step = format!("make it, with an entry for each server: {entry}; --servers names another file");
            return Error::new(Code::ToolNotFound, fact).next(step);
        }
        let error = Error::new(Code::ToolNotFound, format!("there is no server {} in {file}", quoted(alias)));
        let next = did_you_mean(nearest(alias, self.registry.aliases(), 3));
        error.next(next.unwrap_or_else(|| "`flowy servers list` shows those there are".to_owned()))
    }

    /// What is known of their tools, after those that are wanted and whose tools are not known have
    /// been asked.
    pub async fn known(&self, wanted: &BTreeSet<String>) -> Arc<Toolbox> {
        self.registry.read_unknown(|alias| wanted.contains(alias)).await;
        self.registry.toolbox()
    }

    /// Why servers that are switched on can't be reached, after all have been asked.
    pub async fn unreachable(&self) -> Vec<(String, String)> {
        self.registry.warm().await;
        let toolbox = self.registry.toolbox();
        let troubles = toolbox.servers.iter().filter_map(|(alias, server)| {
            let ServerStanding::Unavailable(why) = &server.standing else { return None };
            Some((alias.clone(), why.clone()))
        });
        troubles.collect()
    }

    /// Connects to all of them at once.
    pub async fn warm(&self) {
        self.registry.warm().await;
    }

    /// Asks those whose tools are not known for their list, a few at once.
    pub async fn read_unknown(&self) {
        self.registry.read_unknown(|_| true).await;
    }

    /// Ends every connection and every program.
    pub async fn shut_down(&self, within: Duration) {
        self.registry.shut_down(within).await;
    }
}

fn unusable(error: &ServersError) -> Error {
    let line = |mistake: &ServersMistake| format!("{} [{}]", error.sentence(mistake), mistake.fault.word());
    let message = match error.mistakes.as_slice() {
        [one] => line(one),
        several => {
            let lines: Vec<String> = several.iter().map(|mistake| format!("\n  {}", line(mistake))).collect();
            format!("the servers file has {} mistakes:{}", several.len(), lines.concat())
        }
    };
    let faults: Vec<Value> = error.mistakes.iter().map(fault).collect();
    let word = error.mistakes.first().map(|mistake| mistake.fault.word());
    let mut told = Error::invalid(message)
        .detail("fault", json!(word))
        .detail("file", json!(error.file.display().to_string()))
        .detail("faults", Value::Array(faults));
    told.next_step = error.hint().map(Into::into);
    told
}

fn fault(mistake: &ServersMistake) -> Value {
    let mut object = Map::new();
    object.insert("fault".to_owned(), json!(mistake.fault.word()));
    if let Some(at) = mistake.position {
        object.insert("line".to_owned(), json!(at.line));
        object.insert("column".to_owned(), json!(at.column));
    }
    object.insert("message".to_owned(), json!(mistake.fault.to_string()));
    Value::Object(object)
}

fn unfit_pattern(unfit: &UnfitPattern) -> String {
    let meant = did_you_mean(&unfit.near).map(|asked| format!("; {asked}")).unwrap_or_default();
    format!(
        "{}: allow of the server {} holds {}, which fits no tool of it{meant}",
        unfit.place,
        quoted(&unfit.alias),
        quoted(&unfit.pattern)
    )
}
