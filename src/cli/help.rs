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

/// What means something to commands that are alike: the settings, by what they are about, and the other flags that
/// every command accepts.
struct Relevant(&'static [&'static str], &'static [Concern], &'static [&'static str]);

const READING: &[&str] = &["refresh", "json", "quiet", "color"];
const ANSWERING: &[&str] = &["json", "quiet", "color"];
const EVERY_SETTING: &[Concern] =
    &[Source, Catalog, Reading, Serving, Exposing, Models, Servers, CacheFolder, StateFolder, Counts, All];

/// The commands, and in a second level the commands below them that differ; a command that is not
/// here is as the one above it.
const RELEVANT: &[Relevant] = &[
    Relevant(&["flowy"], &[Source, Catalog], READING),
    Relevant(
        &["list", "run", "guide"],
        &[Source, Catalog, Reading, Servers, CacheFolder, StateFolder, Counts, All],
        READING,
    ),
    Relevant(&["show", "validate", "graph"], &[Source, Catalog, Reading, Servers, CacheFolder, All], READING),
    Relevant(&["new"], &[Source, All], ANSWERING),
    Relevant(&["init", "fmt"], &[All], ANSWERING),
    Relevant(&["test"], &[Source, Reading, All], ANSWERING),
    Relevant(&["diff"], &[Reading, CacheFolder, All], READING),
    // The rules are the same whatever is set.
    Relevant(&["explain"], &[], ANSWERING),
    Relevant(&["convert", "import"], &[Reading, All], ANSWERING),
    // A schema is JSON anyway.
    Relevant(&["schema"], &[Source, Catalog, Reading, CacheFolder, All], &["refresh", "quiet", "color"]),
    // What it prints is the protocol's, and its catalogs are those around the files.
    Relevant(&["lsp"], &[Reading, All], &[]),
    // What it prints is the protocol's, and its callers say when to refresh.
    Relevant(&["serve"], EVERY_SETTING, &[]),
    Relevant(&["executions"], &[StateFolder, All], ANSWERING),
    Relevant(&["executions export"], &[StateFolder, All], &["quiet", "color"]),
    Relevant(&["models"], &[Models, All], ANSWERING),
    Relevant(&["servers"], &[Servers, CacheFolder, All], ANSWERING),
    Relevant(&["stats"], &[Source, StateFolder, Counts, All], ANSWERING),
    Relevant(&["doctor"], &[Source, Reading, Servers, CacheFolder, StateFolder, All], ANSWERING),
    // What is set here becomes part of the entry.
    Relevant(&["config"], EVERY_SETTING, ANSWERING),
    // A script is the same whatever is set.
    Relevant(&["completions"], &[], &[]),
];

/// The commands whose `--json` is the form of the files that they write.
const WRITING: &[&str] = &["new", "init"];

/// The command line, with help pages that show what concerns each command.
pub(super) fn command(page: HelpPage) -> Command {
    let command = Cli::command();
    let shared: Vec<Arg> = command.get_arguments().cloned().collect();
    let Some(all) = RELEVANT.first() else { return command };
    let command = command.mut_args(|flag| shown(flag, "flowy", all, page));
    let command = laid_out(command, page);
    command.mut_subcommands(|sub| dressed(sub, "", all, &shared, page))
}

/// A command and those below it.
fn dressed(command: Command, above: &str, inherited: &'static Relevant, shared: &[Arg], page: HelpPage) -> Command {
    let name = format!("{above}{}", command.get_name());
    let relevant = RELEVANT.iter().find(|Relevant(commands, ..)| commands.contains(&&*name)).unwrap_or(inherited);
    // All of them, so that they stand in their usual order.
    let command = command.args(shared.iter().map(|flag| shown(flag.clone(), &name, relevant, page)));
    let below = format!("{name} ");
    laid_out(command, page).mut_subcommands(|sub| dressed(sub, &below, relevant, shared, page))
}

fn shown(flag: Arg, command: &str, Relevant(_, settings, flags): &Relevant, page: HelpPage) -> Arg {
    let id = flag.get_id().as_str();
    let means_something = match concern_of(id) {
        Some(concern) => settings.contains(&concern),
        None => flags.contains(&id),
    };
    let hidden = flag.is_hide_set() || !means_something;
    let rare = flag.is_hide_short_help_set() && page == HelpPage::Short;
    let of_files = id == "json" && WRITING.contains(&command);
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
