//! Arguments of the commands about what is outside of this machine: servers and models.

use clap::{Args, Subcommand};

/// Commands about external servers.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum ServersCommand {
    /// List configured servers and their cached status without contacting them
    List,
    /// Contact one server, and show its tools and which of them flows may call
    #[command(after_help = "Example:\n  flowy servers tools browser --schema --json")]
    Tools(ServerToolsArgs),
}

/// Arguments of `servers tools`.
#[derive(Debug, Args)]
pub(in crate::cli) struct ServerToolsArgs {
    /// The server's name in the servers file
    #[arg(value_name = "ALIAS")]
    pub(in crate::cli) alias: String,
    /// Also show the JSON Schema of each tool's arguments
    #[arg(long)]
    pub(in crate::cli) schema: bool,
}

/// Commands about models.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum ModelsCommand {
    /// List configured models without contacting them
    List,
    /// Ask one model for a word, which costs a few tokens
    #[command(after_help = "Example:\n  flowy models check writer")]
    Check(ModelArgs),
}

/// Arguments of `models check`.
#[derive(Debug, Args)]
pub(in crate::cli) struct ModelArgs {
    /// The model's name in the settings file
    #[arg(value_name = "NAME")]
    pub(in crate::cli) name: String,
}
