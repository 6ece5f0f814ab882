//! Help pages: each command shows the flags that mean something to it, and no others.
//!
//! Every flag is still accepted everywhere, so that an alias or a script may put them where it likes.

use clap::builder::Resettable;
use clap::{Arg, Command, CommandFactory as _};

use super::args::Cli;
use super::settings::concern_of;
use crate::config::Concern::{
    self, All, CacheFolder, Catalog, Counts, Exposing, Models, Reading, Servers, Serving, Source, StateFolder,
};

/// How much a page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HelpPage {
    /// `-h`: what most people need.
    Short,
    /// `--help`: everything there is to say.
    Whole,
}

/// What stands for a blank at which no line of a help page ends.
pub(super) const UNBROKEN: &str = "\u{a0}";

/// What means something to a command.
struct Relevant {
    command: &'static str,
    /// The settings, by what they are about.
    settings: &'static [Concern],
    /// The other flags that every command accepts.
    flags: &'static [&'static str],
}

const READING: &[&str] = &["refresh", "json", "quiet", "color"];
const ANSWERING: &[&str] = &["json", "quiet", "color"];
const EVERY_SETTING: &[Concern] =
    &[Source, Catalog, Reading, Serving, Exposing, Models, Servers, CacheFolder, StateFolder, Counts, All];

/// The commands, and in a second level the commands below them that differ; a command that is not
/// here is as the one above it.
const RELEVANT: &[Relevant] = &[
    Relevant { command: "flowy", settings: &[Source, Catalog], flags: READING },
    Relevant {
        command: "list",
        settings: &[Source, Catalog, Reading, Servers, CacheFolder, StateFolder, Counts, All],
        flags: READING,
    },
    Relevant { command: "show", settings: &[Source, Catalog, Reading, Servers, CacheFolder, All], flags: READING },
    Relevant {
        command: "run",
        settings: &[Source, Catalog, Reading, Servers, CacheFolder, StateFolder, Counts, All],
        flags: READING,
    },
    Relevant {
        command: "guide",
        settings: &[Source, Catalog, Reading, Servers, CacheFolder, StateFolder, Counts, All],
        flags: READING,
    },
    Relevant { command: "validate", settings: &[Source, Catalog, Reading, Servers, CacheFolder, All], flags: READING },
    Relevant { command: "new", settings: &[Source, All], flags: ANSWERING },
    Relevant { command: "init", settings: &[All], flags: ANSWERING },
    Relevant { command: "test", settings: &[Source, Reading, All], flags: ANSWERING },
    Relevant { command: "diff", settings: &[Reading, CacheFolder, All], flags: READING },
    Relevant { command: "fmt", settings: &[All], flags: ANSWERING },
    // The rules are the same whatever is set.
    Relevant { command: "explain", settings: &[], flags: ANSWERING },
    Relevant { command: "convert", settings: &[Reading, All], flags: ANSWERING },
    Relevant { command: "import", settings: &[Reading, All], flags: ANSWERING },
    Relevant { command: "graph", settings: &[Source, Catalog, Reading, Servers, CacheFolder, All], flags: READING },
    // A schema is JSON anyway.
    Relevant {
        command: "schema",
        settings: &[Source, Catalog, Reading, CacheFolder, All],
        flags: &["refresh", "quiet", "color"],
    },
    // What it prints is the protocol's, and its catalogs are those around the files.
    Relevant { command: "lsp", settings: &[Reading, All], flags: &[] },
    // What it prints is the protocol's, and its callers say when to refresh.
    Relevant { command: "serve", settings: EVERY_SETTING, flags: &[] },
    Relevant { command: "executions", settings: &[StateFolder, All], flags: ANSWERING },
    Relevant { command: "executions export", settings: &[StateFolder, All], flags: &["quiet", "color"] },
    Relevant { command: "models", settings: &[Models, All], flags: ANSWERING },
    Relevant { command: "servers", settings: &[Servers, CacheFolder, All], flags: ANSWERING },
    Relevant { command: "stats", settings: &[Source, StateFolder, Counts, All], flags: ANSWERING },
    // What is set here becomes part of the entry.
    Relevant {
        command: "doctor",
        settings: &[Source, Reading, Servers, CacheFolder, StateFolder, All],
        flags: ANSWERING,
    },
    Relevant { command: "config", settings: EVERY_SETTING, flags: ANSWERING },
    // A script is the same whatever is set.
    Relevant { command: "completions", settings: &[], flags: &[] },
];

/// The commands whose `--json` is the form of the files that they write.
const WRITING: &[&str] = &["new", "init"];

/// The command line, with help pages that show what concerns each command.
pub(super) fn command(page: HelpPage) -> Command {
    let command = Cli::command();
    let shared: Vec<Arg> = command.get_arguments().cloned().collect();
    let Some(all) = RELEVANT.first() else { return command };
    let command = command.mut_args(|flag| shown(flag, all, page));
    let command = laid_out(command, page);
    command.mut_subcommands(|sub| dressed(sub, "", all, &shared, page))
}

/// A command and those below it.
fn dressed(command: Command, above: &str, inherited: &'static Relevant, shared: &[Arg], page: HelpPage) -> Command {
    let name = format!("{above}{}", command.get_name());
    let relevant = RELEVANT.iter().find(|relevant| relevant.command == name).unwrap_or(inherited);
    // All of them, so that they stand in their usual order.
    let command = command.args(shared.iter().map(|flag| shown(flag.clone(), relevant, page)));
    let below = format!("{name} ");
    laid_out(command, page).mut_subcommands(|sub| dressed(sub, &below, relevant, shared, page))
}

fn shown(flag: Arg, relevant: &Relevant, page: HelpPage) -> Arg {
    let id = flag.get_id().as_str();
    let means_something = match concern_of(id) {
        Some(concern) => relevant.settings.contains(&concern),
        None => relevant.flags.contains(&id),
    };
    let hidden = flag.is_hide_set() || !means_something;
    let rare = flag.is_hide_short_help_set() && page == HelpPage::Short;
    let of_files = id == "json" && WRITING.contains(&relevant.command);
    let flag = flag.hide(hidden).hide_short_help(rare);
    if of_files { flag.help("Write the files as JSON instead of Markdown") } else { flag }
}

/// A text whose indented lines are not broken: they are commands to copy, and half of one is another command.
/// clap breaks lines at blanks alone; the printer puts them back.
fn kept_whole(text: &str) -> String {
    let line = |line: &str| if line.starts_with("  ") { line.replace(' ', UNBROKEN) } else { line.to_owned() };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// A whole page is laid out as a short one, one line a flag: clap's long form takes three.
fn laid_out(command: Command, page: HelpPage) -> Command {
    const WITHOUT_ABOUT: &str = "{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";
    let about = command.get_long_about().cloned();
    let command = match command.get_after_help().map(ToString::to_string) {
        Some(after) => command.after_help(kept_whole(&after)),
        None => command,
    };
    match (page, about) {
        (HelpPage::Whole, Some(about)) => {
            command.long_about(Resettable::Reset).before_help(about).help_template(WITHOUT_ABOUT)
        }
        _ => command,
    }
}
