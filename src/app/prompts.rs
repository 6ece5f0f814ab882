//! Flows and templates as prompts: which there are, what each takes, and what each says.
//!
//! A prompt is text for a model and nothing is counted as done: a template is filled, a flow
//! becomes the texts of its steps in order, filled as far as the given values go.

mod write;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::Value;

use crate::app::{App, Catalog, Error, Origin, slug};
use crate::catalog::{CatalogError, in_sets, is_passing, named_in, variables};
use crate::discover::DamagedIndex;
use crate::lock::lock;
use crate::model::{Template, ValueType, text_of};
use crate::names::shown;
use crate::plan::{Plan, Work};

pub use write::{PromptRequest, Script, Written, WrittenBody};

/// By which argument a variable set is chosen.
pub(super) const SET_ARGUMENT: &str = "_variableSet";
/// The longest description of a prompt or an argument in a list, in characters.
const LONGEST_DESCRIPTION: usize = 300;

/// What a prompt is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptKind {
    /// A flow: a script that leads through its steps.
    Flow,
    /// A template: its text, filled.
    Template,
}

impl PromptKind {
    const fn prefix(self) -> &'static str {
        match self {
            Self::Flow => "flow_",
            Self::Template => "template_",
        }
    }
}

/// One prompt of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptEntry {
    /// The name clients ask for it by.
    pub slug: String,
    /// What it is made of.
    pub kind: PromptKind,
    /// The flow's or template's own name.
    pub name: String,
    /// What it is for; empty when nobody says.
    pub description: String,
    /// What it takes.
    pub arguments: Vec<PromptArgument>,
}

/// One argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptArgument {
    /// The variable's name, or `_variableSet`.
    pub name: String,
    /// What it is for; empty when nobody says.
    pub description: String,
    /// Whether neither the files nor any variable set gives it.
    pub required: bool,
    /// The only values, or the usual ones; empty when anything goes.
    pub choices: Vec<String>,
}

/// The prompts that are listed.
#[derive(Debug, Clone)]
pub struct Prompts {
    /// Flows by name, then templates by name where the settings want them; as many as the settings allow.
    pub listed: Arc<Vec<PromptEntry>>,
    /// How many could be listed. Those that are not, and templates, are answered all the same.
    pub total: usize,
    /// Where they come from.
    pub origin: Origin,
}

/// What a revision offers as prompts, worked out when first asked for.
#[derive(Default)]
pub(super) struct Offered {
    all: OnceLock<Offers>,
    listed: Mutex<Option<Arc<Vec<PromptEntry>>>>,
}

struct Offers {
    offers: Vec<Offer>,
    by_slug: HashMap<String, usize>,
}

/// A prompt as far as names go.
#[derive(Debug, Clone)]
struct Offer {
    slug: String,
    kind: PromptKind,
    name: String,
}

impl App {
    /// The prompts to list.
    ///
    /// # Errors
    /// When the catalog can't be reached.
    pub async fn prompts(&self) -> Result<Prompts, Error> {
        let catalog = self.catalog(None, false).await?;
        let shown = catalog.shown_as_prompts(self.settings.prompt_templates)?;
        let listed = catalog.prompts(shown.min(self.settings.max_prompts)).await?;
        Ok(Prompts { listed, total: shown, origin: catalog.origin().clone() })
    }
}

impl Catalog {
    fn offers(&self) -> Result<&Offers, DamagedIndex> {
        if let Some(offers) = self.beside().prompts.all.get() {
            return Ok(offers);
        }
        // Names are sorted; two flows of one name are one prompt, which says that there are two.
        let mut flows: Vec<String> = self.index().names()?.map(str::to_owned).collect();
        flows.dedup();
        let flows = flows.into_iter().map(|name| (PromptKind::Flow, name));
        let templates = self.template_names()?.into_iter().map(|name| (PromptKind::Template, name));
        let named: Vec<(PromptKind, String)> = flows.chain(templates).collect();
        let slugs = slug::slugs(named.iter().map(|(kind, name)| (kind.prefix(), name.as_str())));
        let offers: Vec<Offer> =
            named.into_iter().zip(slugs).map(|((kind, name), slug)| Offer { slug, kind, name }).collect();
        let by_slug = offers.iter().enumerate().map(|(place, offer)| (offer.slug.clone(), place)).collect();
        Ok(self.beside().prompts.all.get_or_init(|| Offers { offers, by_slug }))
    }

    /// How many prompts a client may be shown: the flows, and the templates if they are wanted.
    fn shown_as_prompts(&self, templates: bool) -> Result<usize, DamagedIndex> {
        let offers = &self.offers()?.offers;
        // Flows come first.
        Ok(if templates { offers.len() } else { offers.partition_point(|offer| offer.kind == PromptKind::Flow) })
    }

    async fn prompts(&self, most: usize) -> Result<Arc<Vec<PromptEntry>>, Error> {
        let kept = || lock(&self.beside().prompts.listed);
        if let Some(listed) = kept().as_ref() {
            return Ok(listed.clone());
        }
        let (mut listed, mut lasting) = (Vec::new(), true);
        for offer in self.offers()?.offers.iter().take(most) {
            let (entry, lasts) = self.prompt_entry(offer).await?;
            lasting &= lasts;
            listed.push(entry);
        }
        let listed = Arc::new(listed);
        if lasting {
            *kept() = Some(listed.clone());
        }
        Ok(listed)
    }

    /// A prompt with what it takes. The second value says whether that will stay so.
    async fn prompt_entry(&self, offer: &Offer) -> Result<(PromptEntry, bool), Error> {
        let told = match offer.kind {
            PromptKind::Flow => self.of_flow(&offer.name).await,
            PromptKind::Template => self.template_named(&offer.name).await.map(|template| {
                let description = template.description.as_deref().or(template.title.as_deref());
                (description.unwrap_or_default().to_owned(), template_arguments(&template), true)
            }),
        };
        let (description, arguments, lasting) = match told {
            Err(error) if error.is_internal() => return Err(error.into()),
            // Asked for, it says why it can't be had; the list goes on without that.
            Err(error) => (String::new(), Vec::new(), !error.is_passing()),
            Ok(told) => told,
        };
        let description = shown(&description, LONGEST_DESCRIPTION);
        let Offer { slug, kind, name } = offer.clone();
        Ok((PromptEntry { slug, kind, name, description, arguments }, lasting))
    }

    async fn of_flow(&self, name: &str) -> Result<(String, Vec<PromptArgument>, bool), CatalogError> {
        let prepared = self.prepare(name).await?;
        let arguments = prepared.plan.as_deref().map(flow_arguments).unwrap_or_default();
        let steps = prepared.plan.iter().flat_map(|plan| plan.steps());
        let lasting = steps.into_iter().all(|step| match &step.work {
            Work::Faulty { code, .. } => !is_passing(*code),
            Work::Render(_) | Work::Call(_) | Work::Flow(_) | Work::Gather(_) => true,
        });
        Ok((prepared.entry.description.clone(), arguments, lasting))
    }
}

fn flow_arguments(plan: &Plan) -> Vec<PromptArgument> {
    let in_sets = in_sets(plan);
    let mut arguments: Vec<PromptArgument> = plan
        .inputs()
        .iter()
        .map(|input| PromptArgument {
            name: input.name.clone(),
            description: described(input.description.as_deref(), input.default.as_deref()),
            required: input.required && !in_sets.contains(&input.name),
            choices: choices(&input.choices, input.kind),
        })
        .collect();
    arguments.extend(set_argument(plan.sets().iter().cloned()));
    arguments
}

fn template_arguments(template: &Template) -> Vec<PromptArgument> {
    let in_sets: HashSet<String> = named_in(template.sets.iter()).collect();
    let mut arguments: Vec<PromptArgument> = Vec::new();
    for variable in variables(template) {
        let declared = variable.declared;
        let description = declared.and_then(|declared| declared.description.as_deref());
        arguments.push(PromptArgument {
            description: described(description, declared.and_then(|declared| declared.default.as_deref())),
            required: variable.required && !in_sets.contains(&variable.name),
            choices: choices(&[], declared.and_then(|declared| declared.kind)),
            name: variable.name,
        });
    }
    arguments.extend(set_argument(template.sets.iter().map(|set| set.name.clone())));
    arguments
}

fn described(description: Option<&str>, default: Option<&Value>) -> String {
    let description = description.unwrap_or_default();
    let text = match default {
        None => description.to_owned(),
        Some(default) if description.is_empty() => format!("Default: {}", shown(&text_of(default), 80)),
        Some(default) => format!("{description} (default: {})", shown(&text_of(default), 80)),
    };
    shown(&text, LONGEST_DESCRIPTION)
}

fn choices(choices: &[Value], kind: Option<ValueType>) -> Vec<String> {
    if choices.is_empty() && kind == Some(ValueType::Boolean) {
        return vec!["true".to_owned(), "false".to_owned()];
    }
    choices.iter().map(|choice| text_of(choice).into_owned()).collect()
}

fn set_argument(sets: impl Iterator<Item = String>) -> Option<PromptArgument> {
    let mut names: Vec<String> = Vec::new();
    for set in sets.filter(|set| !set.is_empty()) {
        if !names.contains(&set) {
            names.push(set);
        }
    }
    (!names.is_empty()).then(|| PromptArgument {
        name: SET_ARGUMENT.to_owned(),
        description: shown(&format!("A named set of values to start from: {}", names.join(", ")), LONGEST_DESCRIPTION),
        required: false,
        choices: names,
    })
}
