//! What can be written on the command line, and the help for it.
//!
//! Values are kept as they were written: what a setting's text means is decided by
//! [`config`](crate::config), so a flag, a variable and a line of `flowy.toml` are understood alike.

mod checking;
mod guiding;
mod outside;
mod writing;

use std::path::PathBuf;

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

pub(super) use checking::{
    CheckFormat, DiffArgs, DiffFormat, ExplainArgs, FailOn, FixChoice, FmtArgs, TestArgs, TestFormat, ValidateArgs,
};
pub(super) use guiding::{GuideArgs, ValueArgs};
pub(super) use outside::{ModelsCommand, ServersCommand};
pub(super) use writing::{ConvertArgs, ImportArgs, InitArgs, NewArgs};

use super::settings::SettingFlags;
use crate::app::clients::SERVER;
use crate::app::{Detail, GuidedState, ListKind, Mode, OnFailure};
use crate::config::Answers;
use crate::report::draw::FORMATS;
use crate::report::files::FILE_KINDS;

/// List, show, check and execute prompt flows that are kept in a GitHub repository or a folder.
#[derive(Debug, Parser)]
#[command(
    name = "flowy",
    version,
    propagate_version = false,
    max_term_width = 100,
    after_help = "Without --source, the catalog is the current folder if it has flows/, else the built-in examples.\n\n\
                  Examples:\n  flowy list\n  \
                  flowy run Marketing_Strategy --source examples\n  \
                  flowy list --source your-name/your-flows\n  flowy config claude-desktop --write\n\n\
                  Exit codes: 0 fine, 1 findings or a failed execution, 2 a command line or setting that can't be understood, 3 a catalog that can't be reached."
)]
pub struct Cli {
    /// What is valid for every command.
    #[command(flatten)]
    pub(super) everywhere: Everywhere,
    /// What to do.
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

/// When to use colour: on a terminal unless the environment says no, always, or never.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

/// Flags of every command.
#[derive(Debug, Args)]
pub(super) struct Everywhere {
    /// Ask GitHub for the newest state now, even if the cached copy is still fresh
    #[arg(long, global = true, help_heading = "Catalog", display_order = 100)]
    pub(super) refresh: bool,

    /// Print the result as JSON, in the shape of the MCP tools' answers
    #[arg(long, global = true, help_heading = "Output")]
    pub(super) json: bool,
    /// Print results and errors only: no progress, no notes
    #[arg(short, long, global = true, help_heading = "Output")]
    pub(super) quiet: bool,
    /// When to use colour; auto: on a terminal, unless a variable such as `NO_COLOR` disables it
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Output",
        hide_short_help = true
    )]
    pub(super) color: Color,

    /// The settings.
    #[command(flatten)]
    pub(super) settings: SettingFlags,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the flows of the catalog
    #[command(
        long_about = "List the flows of the catalog.\n\nIn a pipe, each line is a flow: name, description, inputs and \
                      tags, separated by tabs.",
        after_help = "Examples:\n  flowy list --query 'write up an outage' --query postmortem --explain\n  flowy list --tag marketing\n  flowy list --mode index | grep -i report"
    )]
    List(ListArgs),
    /// Show a flow (inputs, steps, order, results) or a template
    #[command(
        long_about = "Show a flow: its inputs, its steps in order, where the value of each placeholder comes from, and \
                      findings. This is the plan that would run. NAME may also be a template.",
        after_help = "Example:\n  flowy show Launch_Brief --full"
    )]
    Show(ShowArgs),
    /// Execute a flow: fill in all its steps, in order
    #[command(
        long_about = "Execute a flow: fill in all its steps, in the order of its edges.\n\nThe final result goes to \
                      stdout, byte for byte and with nothing around it, so `flowy run NAME > out.md` saves exactly that. \
                      A line for each step goes to stderr; --steps adds the texts of the steps. If a step fails, \
                      the finished parts are printed, and the exit code is 1.\n\nThe result of a flow of texts is a prompt, \
                      unless --model or your settings name a model that answers its steps. An execution that calls tools \
                      or models is stored; if it is interrupted, --resume goes on with it. On a terminal, flowy asks for \
                      required values that are not given.",
        after_help = "Examples:\n  flowy run Marketing_Strategy --var company=TechCorp --var market=AI --var budget=100K\n  \
                      flowy run Meeting_Follow_Up --var-file meeting_notes=notes.txt --var participants=Kim > follow-up.md\n  \
                      echo '{\"company\": \"TechCorp\"}' | flowy run Marketing_Strategy --vars - --dry-run\n  \
                      flowy run --resume ID"
    )]
    Run(RunArgs),
    /// Carry out a flow step by step: you or a program answer each step
    #[command(
        long_about = "Carry out a flow step by step, as a client's model does in a guided execution: each step's text is \
                      shown with its persona and its contract, its answer is checked and kept, and the next step reads it. \
                      The final result goes to stdout.\n\nYou answer on the terminal, in your editor if VISUAL or EDITOR \
                      names one. --with names a program that answers instead; it is started without a shell. Otherwise \
                      answers come from stdin, each ended by a line with a single dot. An answer that breaks the contract \
                      is refused, and the step is asked again. If the answers end before the steps do, the exit code \
                      is 1, and --resume goes on.",
        after_help = "Examples:\n  flowy guide Feature_Development --var feature='dark mode' --var codebase=web/\n  \
                      flowy guide Marketing_Strategy --with 'ollama run llama3.2' --vars values.json\n  \
                      cat answer.txt | flowy guide --resume ID"
    )]
    Guide(GuideArgs),
    /// Check flow and template files, and show each finding at its place
    #[command(
        long_about = "Check flow and template files, and show each finding at its place.\n\nWithout paths, flowy checks the \
                      catalog that --source names, else the one in the current folder, else the one in the settings; the \
                      last line says which. A file is checked together with the catalog around it. References in a \
                      standalone file can't be resolved; flowy says so. A catalog without a flow is a warning. Without any \
                      catalog, nothing is checked and the exit code is 2. Errors exit 1; warnings alone exit 0, unless \
                      --strict or --fail-on is given.",
        after_help = "Examples:\n  flowy validate\n  flowy validate flows/My_Flow.json\n  flowy validate --strict --quiet\n  flowy validate --fix --diff\n  flowy validate --format sarif --fail-on never > flowy.sarif\n  flowy validate --source your-name/your-flows"
    )]
    Validate(ValidateArgs),
    /// Begin a flow: its file, its template and a test
    #[command(
        long_about = "Begin a flow: its file, a template and a test, in the catalog of the current folder. All of it is valid \
                      at once, and nothing is overwritten.\n\nOn a terminal, flowy asks what the flow is for and which \
                      values it needs, unless --description, --input or --from is given. The files are Markdown; with \
                      --json they are JSON.",
        after_help = "Examples:\n  flowy new Weekly_Report\n  flowy new Weekly_Report --input team --input notes --description 'Writes the report of a week.'\n  flowy new Our_Brief --from Launch_Brief --json"
    )]
    New(NewArgs),
    /// Begin a catalog: a folder with a flow, its template and test, and a workflow that checks them
    #[command(
        long_about = "Begin a catalog: a folder with flows/, templates/ and tests/, a README.md and a GitHub workflow. The \
                      files are Markdown; with --json they are JSON. Nothing is overwritten.",
        after_help = "Examples:\n  flowy init\n  flowy init my-flows"
    )]
    Init(InitArgs),
    /// Run the tests of flows: what they give for given inputs
    #[command(
        long_about = "Run the tests in tests/*.flowtest.json: each gives a flow inputs, and says what is expected of it. \
                      Only what a test says is compared.\n\nNothing is ever called: a test says what tools and models \
                      answer (`mocks`), and a call without an answer fails it. NAME is a flow, a test or a file of tests. \
                      The exit code is 1 if a test fails, and 2 if a NAME has no test.",
        after_help = "Examples:\n  flowy test\n  flowy test Launch_Brief\n  flowy test --update\n  flowy test --shard 1/4 --format junit > tests.xml"
    )]
    Test(TestArgs),
    /// Show what changes in behaviour between two states of a catalog
    #[command(
        long_about = "Show what changes in behaviour between two states of a catalog: flows that come, go and are renamed, \
                      inputs, steps, order, results, and texts word by word.\n\nA state is a folder, a branch, tag or commit \
                      of the repository in the current folder, or owner/repo@ref on GitHub. Without TO, it is the working \
                      copy.",
        after_help = "Examples:\n  flowy diff main\n  flowy diff v1.0 v1.1 --exit-code\n  flowy diff origin/main >> \"$GITHUB_STEP_SUMMARY\""
    )]
    Diff(DiffArgs),
    /// Explain a rule of `flowy validate`, with a bad and a good example; without a rule, list all
    #[command(after_help = "Example:\n  flowy explain dangling-edge")]
    Explain(ExplainArgs),
    /// Lay out flow and template files: known keys in order, indented by two spaces a level
    #[command(
        long_about = "Lay out flow and template files: the keys that the format names on file, flow, node, edge and template \
                      in its order, one member a line, indented by two spaces a level.\n\nTexts and numbers stay as they are written, \
                      and nothing moves inside values, arguments and unknown fields. A file that repeats a key is refused.",
        after_help = "Examples:\n  flowy fmt\n  flowy fmt --check flows/My_Flow.json"
    )]
    Fmt(FmtArgs),
    /// Turn flows and templates from JSON into Markdown, or back
    #[command(
        long_about = "Turn flows and templates from JSON into Markdown, or back.\n\nEach flow and each template gets a file \
                      of its own. A result is written only if its plan is that of its source; what the other form has no \
                      place for is named.",
        after_help = "Examples:\n  flowy convert flows/My_Flow.json --to markdown --replace\n  \
                      flowy convert flows/*.json templates/*.json --to markdown --out ../in-markdown"
    )]
    Convert(ConvertArgs),
    /// Bring in prompts of other programs, each as a flow in Markdown
    #[command(
        long_about = "Bring in prompts of other programs, each as a flow in Markdown with one step.\n\nWhat a flow has no \
                      place for (commands that a client runs, files that it reads in, settings of a model, control \
                      structures) is named with its line, and stays in the text. No file is overwritten.",
        after_help = "Examples:\n  flowy import claude-command .claude/commands/*.md\n  \
                      flowy import prompty basic.prompty --out ../prompts\n  flowy import skill .claude/skills/pdf"
    )]
    Import(ImportArgs),
    /// Draw a flow's graph: a picture, a page, or text for Mermaid or Graphviz
    #[command(
        long_about = "Draw a flow's graph: its steps in waves, what they read from whom, findings, and how a run went.",
        after_help = "Examples:\n  flowy graph Launch_Brief --format svg > launch.svg\n  \
                      flowy run Launch_Brief --vars values.json --json > run.json\n  \
                      flowy graph Launch_Brief --format html --run run.json > launch.html"
    )]
    Graph(GraphArgs),
    /// Serve an editor: findings, completion, renaming and more while you write
    #[command(
        long_about = "Serve an editor over stdin and stdout, by the Language Server Protocol.\n\nAn editor starts this \
                      itself; docs/EDITORS.md has settings for VS Code, Neovim, Helix and Zed. Findings appear while \
                      you write, also in files that are not saved and in flows that no catalog holds.",
        after_help = "Example (Helix, languages.toml):\n  [language-server.flowy]\n  command = \"flowy\"\n  args = [\"lsp\"]"
    )]
    Lsp,
    /// Print the JSON Schema of a flow's inputs, or of a kind of file
    #[command(after_help = "Example:\n  flowy schema Marketing_Strategy > inputs.schema.json")]
    Schema(SchemaArgs),
    /// Serve the catalog to an MCP client over stdin and stdout
    #[command(
        long_about = "Serve the catalog to an MCP client over stdin and stdout, until stdin ends.\n\nA client starts this \
                      itself; `flowy config` writes the entry for it.",
        after_help = "Example:\n  flowy serve --source your-name/your-flows"
    )]
    Serve(ServeArgs),
    /// List, show, export, cancel and delete stored executions
    #[command(
        subcommand,
        long_about = "List, show, export, cancel and delete stored executions, with their inputs and outputs.\n\nAn MCP \
                      client's model does the steps of guided ones; only `prune` deletes them. Direct ones are stored if \
                      they call tools or ask models: the newest 1,000, for 30 days (settings executions_kept, executions_kept_days); \
                      `flowy run --resume ID` goes on with one that was interrupted.",
        after_help = "Examples:\n  flowy executions list --state awaiting_human\n  flowy executions show ID\n  \
                      flowy executions prune --older-than 90 --dry-run"
    )]
    Executions(ExecutionsCommand),
    /// Show the external MCP servers that flows may call, and what tools they have
    #[command(
        subcommand,
        long_about = "Show the external MCP servers that flows may call, and what tools they have.\n\nThey are configured \
                      in the servers file (--servers, else flowy.servers.json beside your flowy.toml), in the shape that \
                      other MCP clients use. A flow may call only what `allow` names there.\n\nIn a pipe, the output is \
                      tab-separated lines.",
        after_help = "Examples:\n  flowy servers list\n  flowy servers tools browser --schema"
    )]
    Servers(ServersCommand),
    /// Show the models that may answer steps, and whether one answers
    #[command(subcommand, after_help = "Examples:\n  flowy models list\n  flowy models check writer")]
    Models(ModelsCommand),
    /// Show how often flows are used and succeed, and what models and listings cost
    #[command(
        long_about = "Show how often the catalog's flows are used, how often they succeed, how long they take, and what \
                      models and listings cost.\n\nThe counts are per catalog and include the command line and MCP clients on this \
                      machine. They never leave it, and --no-usage stops counting. The score, by which listings sort, is \
                      between 0 and 1: it grows with uses, successes, speed and recent use, and hot (from 0.80), warm, standard \
                      and cold name its size. It always covers all use, whatever --days says.",
        after_help = "Examples:\n  flowy stats --days 30\n  flowy stats --flow Marketing_Strategy --json"
    )]
    Stats(UsageArgs),
    /// Show or write the entry that makes an MCP client start flowy
    #[command(
        long_about = "Show the entry that makes an MCP client start flowy, and where it belongs; --write puts it \
                      there. Everything else in the file stays. Claude Desktop's file is backed up beside it. Claude Code's \
                      .mcp.json is shared by a team, so it gets no backup and no path of this machine. The entry includes the \
                      source and settings given here, but never a token.",
        after_help = "Examples:\n  flowy config claude-desktop --source your-name/your-flows\n  flowy config claude-code --write\n  flowy config claude-desktop --source your-name/other-flows --name other-flows --write"
    )]
    Config(ConfigArgs),
    /// Look for what keeps flowy from working on this machine
    #[command(
        long_about = "Look for what keeps flowy from working on this machine, and say what helps.\n\nThe source, the token and \
                      what it may do, GitHub's quota, the clock, the proxy, the cache and state folders, the servers file, the \
                      models, your PATH and the configurations of MCP clients are looked at. Nothing is changed, no model is \
                      asked, no external server is started, and no secret is shown. Exits with 1 where something is wrong.",
        after_help = "Example:\n  flowy doctor --source your-name/your-flows"
    )]
    Doctor,
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  flowy completions bash > ~/.local/share/bash-completion/completions/flowy")]
    Completions(CompletionsArgs),
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// How much to show of each flow
    #[arg(long, value_name = "MODE", default_value = "compact",
          value_parser = PossibleValuesParser::new(Mode::OFFERED_WORDS))]
    pub(super) mode: String,
    /// What to list
    #[arg(long, value_name = "KIND", default_value = "flows", value_parser = PossibleValuesParser::new(ListKind::WORDS))]
    pub(super) kind: String,
    /// Describe the task; the best matches come first. Repeat the flag with other words
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub(super) query: Vec<String>,
    /// Show how well each flow matches the query, and which words matched
    #[arg(long, requires = "query")]
    pub(super) explain: bool,
    /// Only flows with this tag; may be repeated, and all tags must match
    #[arg(long = "tag", value_name = "TAG", value_parser = NonEmptyStringValueParser::new())]
    pub(super) tags: Vec<String>,
    /// Only flows of this category
    #[arg(long, value_name = "CATEGORY", value_parser = NonEmptyStringValueParser::new())]
    pub(super) category: Option<String>,
    /// Only flows of this complexity: simple, moderate or high
    #[arg(long, value_name = "COMPLEXITY", value_parser = NonEmptyStringValueParser::new())]
    pub(super) complexity: Option<String>,
    /// Only the flow with this name; may be repeated
    #[arg(long = "name", value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(super) names: Vec<String>,
    /// Only flows that take at most this long on average, in milliseconds, or whose time is not known
    #[arg(long, value_name = "MS")]
    pub(super) max_latency_ms: Option<i64>,
    /// List at most this many flows; the default is 10 with --query, and 15 with --mode hot
    #[arg(long, value_name = "COUNT")]
    pub(super) limit: Option<i64>,
    /// Continue after the previous page: the cursor that it printed
    #[arg(long, value_name = "CURSOR", value_parser = NonEmptyStringValueParser::new())]
    pub(super) cursor: Option<String>,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// The name of a flow or a template
    pub(super) name: String,
    /// Also show the texts of the steps
    #[arg(long)]
    pub(super) full: bool,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// The name of the flow
    #[arg(required_unless_present = "resume")]
    pub(super) name: Option<String>,
    /// Go on with an interrupted execution, by its id
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new(),
          conflicts_with_all = ["name", "vars", "json_vars", "file_vars", "files", "set", "dry_run", "models", "answers"])]
    pub(super) resume: Option<String>,
    /// What becomes of a call that was cut off: repeat, fail or {"result": …}
    #[arg(long, value_name = "ANSWER", requires = "resume", value_parser = NonEmptyStringValueParser::new())]
    pub(super) answer: Option<String>,
    /// The values.
    #[command(flatten)]
    pub(super) values: ValueArgs,
    /// Show what would run and which values are missing; execute nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// The model that answers steps, none, or OLD=NEW; may be repeated
    #[arg(long = "model", value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(super) models: Vec<String>,
    /// What is done with answers of models that are stored on this machine
    #[arg(long, value_name = "WHAT", value_parser = PossibleValuesParser::new(Answers::WORDS))]
    pub(super) answers: Option<String>,
    /// Whether steps that don't depend on a failed step still run
    #[arg(long, value_name = "WHAT", default_value = "continue",
          value_parser = PossibleValuesParser::new(OnFailure::WORDS))]
    pub(super) on_failure: String,
    /// Print this result to stdout, if the flow has several
    #[arg(long, value_name = "LABEL", conflicts_with = "json", value_parser = NonEmptyStringValueParser::new())]
    pub(super) result: Option<String>,
    /// Print the texts of the steps to stderr
    #[arg(long)]
    pub(super) steps: bool,
    /// Save the files that tools return in this folder
    #[arg(long = "files", value_name = "FOLDER", conflicts_with = "dry_run")]
    pub(super) keep: Option<PathBuf>,
    /// How much detail --json gives of each step
    #[arg(long, value_name = "DETAIL", default_value = "full",
          value_parser = PossibleValuesParser::new(Detail::WORDS))]
    pub(super) detail: String,
}

/// Arguments of `graph`.
#[derive(Debug, Args)]
pub(super) struct GraphArgs {
    /// The name of the flow
    pub(super) name: String,
    /// The output format
    #[arg(long, value_name = "FORMAT", default_value = FORMATS[0].0,
          value_parser = PossibleValuesParser::new(FORMATS.map(|(word, _)| word)))]
    pub(super) format: String,
    /// Also draw the steps of flows within the flow
    #[arg(long)]
    pub(super) unfold: bool,
    /// Show how a run went: a file that `flowy run NAME --json` wrote, or - for stdin (svg and html)
    #[arg(long, value_name = "FILE")]
    pub(super) run: Option<PathBuf>,
}

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub(super) struct SchemaArgs {
    /// The name of the flow
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    pub(super) name: Option<String>,
    /// Instead, print the JSON Schema of a kind of file, for editors
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(FILE_KINDS))]
    pub(super) file: Option<String>,
}

/// What can be done with guided executions.
#[derive(Debug, Subcommand)]
pub(super) enum ExecutionsCommand {
    /// List stored executions, newest first
    List(ListExecutionsArgs),
    /// Show one execution: its steps, outputs, questions and answers
    #[command(after_help = "Example:\n  flowy executions show ID --html > execution.html")]
    Show(ShowExecutionArgs),
    /// Print one execution in full, as JSON
    Export(ExecutionArgs),
    /// Cancel one execution; it stays readable
    Cancel(CancelArgs),
    /// Permanently delete executions and their outputs
    Prune(PruneArgs),
    /// Show how executions ended, per flow: completed, abandoned, refused outputs, questions
    Stats(StatsArgs),
}

/// One of these words, as what it stands for.
fn word<const N: usize, T: Clone + Send + Sync + 'static>(
    words: [&'static str; N],
    named: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words).try_map(move |word| named(&word).ok_or("no such word"))
}

/// Arguments of `executions show`.
#[derive(Debug, Args)]
pub(super) struct ShowExecutionArgs {
    /// The execution.
    #[command(flatten)]
    pub(super) execution: ExecutionArgs,
    /// Print a self-contained HTML page with everything that happened, in order
    #[arg(long, conflicts_with = "json")]
    pub(super) html: bool,
}

/// Arguments of `executions list`.
#[derive(Debug, Args)]
pub(super) struct ListExecutionsArgs {
    /// Only executions of this flow
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(super) flow: Option<String>,
    /// Only executions in this state; may be repeated
    #[arg(long = "state", value_name = "STATE", value_parser = word(GuidedState::WORDS, GuidedState::named))]
    pub(super) states: Vec<GuidedState>,
    /// List at most this many
    #[arg(long, value_name = "COUNT")]
    pub(super) limit: Option<i64>,
    /// Continue after the previous page: the cursor that it printed
    #[arg(long, value_name = "CURSOR", value_parser = NonEmptyStringValueParser::new())]
    pub(super) cursor: Option<String>,
}

/// Arguments that name one execution.
#[derive(Debug, Args)]
pub(super) struct ExecutionArgs {
    /// The execution's id, or the end of it that the list shows
    pub(super) id: String,
}

/// Arguments of `executions cancel`.
#[derive(Debug, Args)]
pub(super) struct CancelArgs {
    /// The execution.
    #[command(flatten)]
    pub(super) execution: ExecutionArgs,
    /// The reason, kept with the execution
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub(super) reason: Option<String>,
}

/// Arguments of `executions prune`.
#[derive(Debug, Args)]
pub(super) struct PruneArgs {
    /// Only these executions
    #[arg(value_name = "ID")]
    pub(super) ids: Vec<String>,
    /// Only executions of this flow
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(super) flow: Option<String>,
    /// Executions in this state instead of ended ones; may be repeated
    #[arg(long = "state", value_name = "STATE", value_parser = word(GuidedState::WORDS, GuidedState::named))]
    pub(super) states: Vec<GuidedState>,
    /// Executions in which nothing happened for this many days
    #[arg(long, value_name = "DAYS")]
    pub(super) older_than: Option<u32>,
    /// All executions that have ended
    #[arg(long)]
    pub(super) all: bool,
    /// The stored answers of models, too; alone, nothing but these
    #[arg(long)]
    pub(super) answers: bool,
    /// Only show what would be deleted
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// Arguments of `executions stats`.
#[derive(Debug, Args)]
pub(super) struct StatsArgs {
    /// Count an execution as abandoned after this many days without activity
    #[arg(long, value_name = "DAYS", default_value_t = 7)]
    pub(super) idle_days: u32,
}

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// Connect to all external servers at the start, instead of when a flow first calls them
    #[arg(long)]
    pub(super) warm: bool,
    /// Connect to all external servers first; refuse to start if one can't be reached or a flow's call can't work
    #[arg(long)]
    pub(super) strict: bool,
}

/// Arguments of `stats`.
#[derive(Debug, Args)]
pub(super) struct UsageArgs {
    /// Only this flow
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(super) flow: Option<String>,
    /// Only this many days, up to and including today (UTC)
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=36_500))]
    pub(super) days: Option<u32>,
}

/// Arguments of `config`.
#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    /// The client: claude-desktop, claude-code, or another name, for which a generic entry is shown
    #[arg(value_name = "CLIENT", value_parser = NonEmptyStringValueParser::new())]
    pub(super) client: String,
    /// Put the entry into the client's file
    #[arg(long)]
    pub(super) write: bool,
    /// The entry's name; several catalogs need different names
    #[arg(long, value_name = "NAME", default_value = SERVER)]
    pub(super) name: String,
    /// Overwrite an entry of that name, even if it serves another catalog
    #[arg(long, requires = "write")]
    pub(super) replace: bool,
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(super) shell: clap_complete::Shell,
}
