//! Everything the product can do, one function per use case; the top error, hints, exit codes.
//!
//! Surfaces call this room and print what it returns; it knows neither command lines nor
//! protocols, and it prints nothing itself.

#![warn(clippy::wildcard_enum_match_arm)]

mod carry;
mod changes;
mod check;
pub mod clients;
mod complete;
mod convert;
mod diff;
mod doctor;
mod editing;
mod examples;
mod execute;
mod expose;
mod failure;
mod files;
mod graph;
mod guide;
mod list;
mod memory;
mod models;
mod new;
mod prompts;
mod reading;
mod resources;
mod servers;
mod show;
mod slug;
mod status;
mod testing;
mod usage;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::catalog::Catalogs;
use crate::config::{Environment, Settings, has_flows};
use crate::execute::{NoTools, Tools};
use crate::generate::Models;
use crate::guide::Guide;
use crate::names::{RefName, quoted};
use crate::next_step::Word;
use crate::provider::Providers;
use crate::source::slug::parse;
use crate::source::{Ask, Pace, Source, SourceSpec, View};
use crate::store::Store;

// What requests and answers are made of, so that a surface needs no other room to ask.
pub use crate::catalog::{IgnoredRef, InexactName, Origin, Prepared};
pub use crate::clock::{Clock, SystemClock};
pub use crate::discover::{LARGEST_BUDGET, LARGEST_LIMIT, ListKind, Mode, QUERY_LIMIT, Selection, Usage};
pub use crate::execute::StepEnd;
pub use crate::generate::{ModelChoice, OnPiece, Priced, PricedTotal, StreamPiece};
pub use crate::guide::{Answering, Asked, Asker, Closure, NoAnswer, Question, Story, Turn};
pub use crate::model::{KnownTool, ServerStanding};
pub use crate::run::{Escalation, Guided, GuidedState, OnFailure, Outcome as StepOutcome, Refusal, Ticket};
pub use crate::source::READING;
pub use crate::store::{ListingTotals, ModelCount, Summary, Tally};
pub use crate::upstream::{ServerRow, TOLD};
pub use crate::validate::{Finding, REGISTRY as RULES, Rule, Severity, SuppressedBy};

pub(crate) use crate::catalog::in_sets;
pub use crate::code::Code;
pub use crate::document::{ValuesError, read_values};
pub use carry::Resumed;
pub use changes::{Change, Changes};
pub use check::{
    BASELINE_FILE, BaselineMode, BaselineNote, ChangedFile, CheckRequest, CheckedDraft, CheckedFile, Checkup,
    DraftFlow, DraftRequest, FormatReport, KeptTools, Overlay, SinceNote, TypedFile, add_to_file, check_paths,
    fingerprints, fix_paths, format_paths, is_here, name_of_text, write_changed,
};
pub use complete::{Completing, Completion};
pub use convert::{Conversion, ConvertRequest, ConvertedPart, ForeignKind, Form, ImportRequest, convert, import};
pub use diff::{
    DiffRequest, Difference, DifferenceKind, FlowDifference, InputChange, InputChangeKind, StepChange, StepChangeKind,
    diff,
};
pub use doctor::{Check, DoctorRequest, Standing, examine};
pub use editing::{Explanation, Offer, OfferKind, QuickFix, Replacement, Spot, Troubles, UNSAVED, Workbench};
pub use examples::{EXAMPLES, is_example};
pub use execute::{Caller, Detail, ExecuteRequest, MissingInput, OnEnd, OnStep, Rehearsal};
pub use expose::{Exposed, ExposedFlow, ExposedTool, Hints, NotExposed};
#[cfg(feature = "internals")]
pub use failure::EXIT_CODES;
pub use failure::Error;
pub use guide::{BeginRequest, Begun, PruneRequest, Pruned, ResumeRequest};
pub use list::{ListRequest, Listing, UNASKED_EXAMPLES};
pub use memory::{CallNews, Finished, Memory, Outcome, Pending, Recorded, Rest, StepDone};
pub use models::{ModelRow, ModelTrial, check_model, list_models};
pub use new::{Created, NewRequest, new_catalog, new_flow};
pub use prompts::{PromptArgument, PromptEntry, PromptKind, PromptRequest, Prompts, Script, Written, WrittenBody};
pub use resources::{FlowEntry, FlowNames, ResourcePage};
pub use servers::{ServerList, ServerTools, Servers};
pub use show::{ShowRequest, Shown, ShownTemplate};
pub use status::{ExecutionEntry, MOST_CHARACTERS, Section, StatusAnswer, StatusRequest, TextPage, state_of};
pub use testing::{
    BrokenTests, Mismatch, Shard, TestChange, TestEnd, TestReport, TestRequest, TestResult, Verdict, test_flows,
};
pub use usage::{FlowStats, ListingCost, ModelStats, Stats, StatsRequest, UsageByFlow};

/// One revision's flows, with what is worked out of them here.
type Catalog = crate::catalog::Catalog<Derived>;

/// What is worked out of a revision when somebody first asks for it.
#[derive(Default)]
struct Derived {
    /// What it offers as prompts.
    prompts: prompts::Offered,
    /// What it offers as tools.
    exposure: OnceLock<Arc<expose::Exposure>>,
}

/// The product, open on one source.
pub struct App {
    settings: Settings,
    source: Source,
    /// The catalog's folder, where the source is one.
    folder: Option<PathBuf>,
    /// Whether the source has branches, tags and commits.
    has_refs: bool,
    /// Whether the built-in examples are served because nobody named a source.
    unasked_examples: bool,
    clock: Arc<dyn Clock>,
    catalogs: Catalogs<Derived>,
    revisions: changes::Revisions,
    memory: Arc<Memory>,
    guide: Guide,
    /// Who calls external tools.
    tools: Arc<dyn Tools>,
    /// Who may answer steps.
    models: Arc<Models>,
    /// None where nothing is counted.
    counting: Option<Arc<usage::UsageCounter>>,
}

impl App {
    /// Opens the source that the settings name; without one, the current folder where it has
    /// `flows/`, else the built-in examples. Nothing is fetched yet.
    ///
    /// # Errors
    /// When the source can't be understood.
    pub fn open(settings: Settings, environment: &Environment, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let spec = Self::choose(&settings, environment)?;
        let unasked_examples = settings.source.is_none() && matches!(spec, SourceSpec::Examples(_));
        Ok(Self { unasked_examples, ..Self::open_at(spec, settings, clock, Pace::Real)? })
    }

    /// Opens a source, with pauses between tries of another length: for tests.
    ///
    /// # Errors
    /// When the source can't be opened.
    pub fn open_at(spec: SourceSpec, settings: Settings, clock: Arc<dyn Clock>, pace: Pace) -> Result<Self, Error> {
        let has_refs = matches!(spec, SourceSpec::GitHub { .. });
        let folder = if let SourceSpec::Folder(path) = &spec { Some(path.clone()) } else { None };
        let source = Source::open_at(spec, &settings, clock.clone(), pace)?;
        let catalogs = Catalogs::new();
        let mut guide = Guide::new(Store::at(&settings.state_dir), clock.clone());
        let counting =
            (!settings.no_usage).then(|| usage::UsageCounter::of(source.key(), &settings.state_dir, clock.clone()));
        if let Some(counting) = counting.clone() {
            guide = guide.telling_ends(Arc::new(move |guided| counting.guided(guided)));
        }
        let revisions = changes::Revisions::new();
        let memory = Arc::new(Memory::new(clock.clone()));
        let tools = Arc::new(NoTools);
        let providers = Arc::new(Providers::new(clock.clone(), settings.web_fault.clone()));
        let kept = Arc::new(models::KeptModels::of(&settings, clock.clone()));
        let models = Models::of(&settings, providers, clock.clone()).within(kept.clone()).remembering(kept);
        let models = Arc::new(models);
        let guide = answered(guide, &models, &settings, &clock);
        let unasked_examples = false;
        Ok(Self {
            settings,
            source,
            folder,
            has_refs,
            unasked_examples,
            clock,
            catalogs,
            revisions,
            memory,
            guide,
            tools,
            models,
            counting,
        })
    }

    /// Whether the built-in examples are served because nobody named a source: a variable of a
    /// client's file may be misspelt.
    pub fn unasked_examples(&self) -> bool {
        self.unasked_examples
    }

    /// Whether flows may call external tools that change things.
    pub fn may_change_things(&self) -> bool {
        self.tools.toolbox().may_change_things()
    }

    /// Whether steps may be answered by models, which costs tokens.
    pub fn may_spend(&self) -> bool {
        self.models.any()
    }

    /// The same with somebody who calls external tools.
    #[must_use]
    pub fn with_tools(self, tools: Arc<dyn Tools>) -> Self {
        let guide = self.guide.calling(tools.clone());
        Self { guide, tools, ..self }
    }

    /// The same with others to ask: answers of a script instead of a model's.
    #[cfg(feature = "internals")]
    #[must_use]
    pub fn with_models(self, models: Models) -> Self {
        let models = Arc::new(models);
        let guide = answered(self.guide, &models, &self.settings, &self.clock);
        Self { guide, models, ..self }
    }

    fn choose(settings: &Settings, environment: &Environment) -> Result<SourceSpec, Error> {
        let here = environment.current_folder();
        if let Some(text) = &settings.source {
            if names_examples(text, here) {
                return Ok(SourceSpec::Examples(EXAMPLES));
            }
            let spec = parse(text, &settings.api_url)?;
            return Ok(match spec {
                SourceSpec::Folder(path) => SourceSpec::Folder(environment.resolved(&path.to_string_lossy(), here)),
                spec @ (SourceSpec::GitHub { .. } | SourceSpec::Examples(_) | SourceSpec::Texts { .. }) => spec,
            });
        }
        if has_flows(here) { Ok(SourceSpec::Folder(here.to_owned())) } else { Ok(SourceSpec::Examples(EXAMPLES)) }
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The clock in use.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// The source in words: `acme/flows`, `folder …`, `built-in examples`.
    pub fn describe(&self) -> String {
        self.source.describe()
    }

    /// What changes in the catalog, and of what is known of external tools, from now on. A change of
    /// the catalog is noticed when somebody reads it, not sooner: nothing asks the source by itself.
    pub fn changes(&self) -> Changes {
        self.revisions.follow(self.tools.revisions())
    }

    /// The ref that is asked for, or set, and not used: a folder and the examples have none.
    pub fn ignored_ref(&self, asked: Option<&str>) -> Option<IgnoredRef> {
        let git_ref = asked.map(str::to_owned).or_else(|| self.settings.git_ref.as_ref().map(ToString::to_string));
        git_ref.filter(|_| !self.has_refs).map(|git_ref| IgnoredRef { git_ref, source: self.describe() })
    }

    async fn view(&self, git_ref: Option<&str>, refresh: bool) -> Result<View, Error> {
        let git_ref = git_ref.map(RefName::new).transpose().map_err(|error| {
            let leave = "name a branch, a tag or a commit, or leave " + Word::Argument("ref", "--ref");
            Error::invalid(error.to_string()).next(leave + " out for the source's own")
        })?;
        let own = git_ref.is_none();
        let view = self.source.snapshot(&Ask { git_ref, refresh }).await.map_err(|error| {
            let set = self.settings.git_ref.as_ref();
            if own { Error::of_own_ref(&error, set) } else { error.into() }
        })?;
        if own {
            self.revisions.note(view.snapshot.revision());
        }
        Ok(view)
    }

    async fn catalog(&self, git_ref: Option<&str>, refresh: bool) -> Result<Arc<Catalog>, Error> {
        let view = self.view(git_ref, refresh).await?;
        Ok(self.catalogs.of(view, self.ignored_ref(git_ref), &self.settings, self.tools.toolbox()).await?)
    }
}

/// The word that names the built-in examples as a source, where no folder goes by it.
const EXAMPLES_WORD: &str = "examples";

/// Whether a source means the built-in examples.
fn names_examples(source: &str, here: &Path) -> bool {
    source.trim() == EXAMPLES_WORD && !here.join(EXAMPLES_WORD).is_dir()
}

/// The folder of the catalog that a path lies in, or that it is.
fn catalog_around(path: &Path) -> Option<&Path> {
    path.ancestors().find(|folder| has_flows(folder))
}

/// The folder of the catalog that is worked in: the one that the settings name, else the one around the current
/// folder; none where there is none.
///
/// # Errors
/// When the settings name something else; `work` says what needs a folder.
fn working_folder(settings: &Settings, environment: &Environment, work: &str) -> Result<Option<PathBuf>, Error> {
    let here = environment.current_folder();
    let Some(source) = &settings.source else { return Ok(catalog_around(here).map(Path::to_owned)) };
    match parse(source, &settings.api_url) {
        Ok(SourceSpec::Folder(path)) if !names_examples(source, here) => {
            Ok(Some(environment.resolved(&path.to_string_lossy(), here)))
        }
        _ => Err(Error::invalid(format!("{work} a folder, and {} is not one", quoted(source))).next(NAME_A_FOLDER)),
    }
}

/// What to do where a folder is needed and none is there.
const NAME_A_FOLDER: &str = "run it in a checkout of the repository, or name one: --source FOLDER";

/// Guided executions in which these models answer the steps whose nodes name them.
fn answered(guide: Guide, models: &Arc<Models>, settings: &Settings, clock: &Arc<dyn Clock>) -> Guide {
    let longest = settings.execution_timeout.unwrap_or(execute::WITH_MODELS);
    guide.answering(Arc::new(models::GuidedModels { models: models.clone(), clock: clock.clone(), longest }))
}
