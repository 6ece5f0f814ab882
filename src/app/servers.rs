//! External MCP servers as the product has them: opened with the settings in force, listed, asked
//! for their tools, and ended. Flows reach them through the port that this hands out.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::app::{Code, Error};
use crate::clock::Clock;
use crate::config::{Environment, ServersError, ServersFile, ServersPlace, Settings};
use crate::execute::Tools;
use crate::model::{KnownTool, ServerStanding, Toolbox};
use crate::names::{nearest, quoted};
use crate::upstream::{Registry, ServerRow, Surroundings};

/// The external servers that are configured.
#[derive(Debug, Clone)]
pub struct Servers {
    registry: Arc<Registry>,
    /// Where they are configured, in words.
    place: String,
}

/// What is known of all servers.
#[derive(Debug, Clone)]
pub struct ServerList {
    /// Where they are configured, in words.
    pub place: String,
    /// One for each server, by alias.
    pub rows: Vec<ServerRow>,
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
}

impl Servers {
    /// Reads the servers file that the settings name. Nothing is started. `program` is our own
    /// program, which watches over those that are.
    ///
    /// # Errors
    /// When the file can't be understood.
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
        let surroundings = Surroundings { guard: program, cache: Some(settings.cache_dir.clone()), clock };
        let place = place.map_or_else(|| "no servers file".to_owned(), |place| place.path.display().to_string());
        Ok(Self { registry: Arc::new(Registry::new(file, surroundings)), place })
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
        ServerList { place: self.place.clone(), rows: self.registry.list() }
    }

    /// The tools of one, asked now; where it can't be asked, those that were known before.
    ///
    /// # Errors
    /// When there is no such server, or nothing is known of its tools.
    pub async fn tools_of(&self, alias: &str) -> Result<ServerTools, Error> {
        let trouble = match self.registry.refresh(alias).await {
            Some(asked) => asked.err(),
            None if self.registry.aliases().any(|known| known == alias) => {
                Some("the operator switched it off".to_owned())
            }
            None => return Err(self.no_server(alias)),
        };
        let row = self.registry.list().into_iter().find(|row| row.alias == alias);
        let toolbox = self.registry.toolbox();
        let tools = toolbox.servers.get(alias).and_then(|known| known.tools.as_ref());
        match (row, tools, trouble) {
            (Some(row), Some(tools), trouble) => {
                Ok(ServerTools { row, tools: tools.values().cloned().collect(), trouble })
            }
            (_, _, trouble) => {
                let why = trouble.unwrap_or_else(|| "it lists no tools".to_owned());
                let error = Error::new(Code::ToolUnavailable, format!("the server {}: {why}", quoted(alias)));
                Err(error.next(format!("check its entry in {}; --log-level debug shows what it says", self.place)))
            }
        }
    }

    fn no_server(&self, alias: &str) -> Error {
        let error = Error::new(Code::ToolNotFound, format!("there is no server {} in {}", quoted(alias), self.place));
        let near: Vec<String> = nearest(alias, self.registry.aliases(), 3).into_iter().map(quoted).collect();
        if near.is_empty() {
            error.next("`flowy servers list` shows those there are")
        } else {
            error.next(format!("did you mean {}?", near.join(" or ")))
        }
    }

    /// What is known of their tools, after those whose tools are not known have been asked.
    pub async fn known(&self) -> Arc<Toolbox> {
        self.registry.read_unknown().await;
        self.registry.toolbox()
    }

    /// Why servers that are switched on can't be reached, after all have been asked.
    pub async fn unreachable(&self) -> Vec<(String, String)> {
        self.registry.warm().await;
        let toolbox = self.registry.toolbox();
        let troubles = toolbox.servers.iter().filter_map(|(alias, server)| match &server.standing {
            ServerStanding::Unavailable(why) => Some((alias.clone(), why.clone())),
            _ => None,
        });
        troubles.collect()
    }

    /// Connects to all of them at once.
    pub async fn warm(&self) {
        self.registry.warm().await;
    }

    /// Asks those whose tools are not known for their list, a few at once.
    pub async fn read_unknown(&self) {
        self.registry.read_unknown().await;
    }

    /// Ends every connection and every program.
    pub async fn shut_down(&self, within: Duration) {
        self.registry.shut_down(within).await;
    }
}

fn unusable(error: &ServersError) -> Error {
    let mut told = Error::new(Code::InvalidRequest, error.to_string());
    told.next_step = error.hint();
    told
}
