//! Showing one flow, from the plan that would run, or one template.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::app::failure::by_listed_name;
use crate::app::{App, Code, Error, Origin, Prepared, Priced};
use crate::catalog::{CatalogError, near, taken_by};
use crate::model::{Template, Toolbox};

/// What is to be shown.
#[derive(Debug, Clone)]
pub struct ShowRequest {
    /// The flow's or template's name.
    pub name: String,
    /// Branch, tag or commit; none for the source's own.
    pub git_ref: Option<String>,
    /// Ask for the newest state even while a copy is fresh.
    pub refresh: bool,
}

/// A flow or a template, and where it comes from.
#[derive(Debug, Clone)]
pub enum Shown {
    /// A flow.
    Flow {
        /// The flow.
        prepared: Arc<Prepared>,
        /// Where it comes from.
        origin: Origin,
        /// What is known of external tools at this moment.
        tools: Arc<Toolbox>,
        /// What models would take at most, by the ids of the steps that they answer.
        priced: BTreeMap<String, Priced>,
    },
    /// A template.
    Template {
        /// The template.
        template: Box<ShownTemplate>,
        /// Where it comes from.
        origin: Origin,
    },
}

/// A template and the flows that use its file.
#[derive(Debug, Clone)]
pub struct ShownTemplate {
    /// The template.
    pub template: Arc<Template>,
    /// What it takes: what it declares, or what its text reads.
    pub variables: Vec<String>,
    /// The flows that name it.
    pub used_by: Vec<String>,
}

impl Shown {
    /// Where it comes from.
    pub fn origin(&self) -> &Origin {
        match self {
            Self::Flow { origin, .. } | Self::Template { origin, .. } => origin,
        }
    }
}

impl App {
    /// Shows a flow, or else a template of that name.
    ///
    /// # Errors
    /// When neither is there, or the catalog can't be reached.
    pub async fn show(&self, request: &ShowRequest) -> Result<Shown, Error> {
        crate::names::ItemName::new(&request.name)
            .map_err(|error| Error::invalid(error.to_string()).next(by_listed_name("ask")))?;
        let catalog = self.catalog(request.git_ref.as_deref(), request.refresh).await?;
        match catalog.prepare(&request.name).await {
            Ok(prepared) => {
                let origin = catalog.origin_of(&prepared, &request.name);
                let priced = match &prepared.plan {
                    Some(plan) => self.prices(plan).await,
                    None => BTreeMap::new(),
                };
                Ok(Shown::Flow { prepared, origin, tools: catalog.tools().clone(), priced })
            }
            Err(CatalogError::IsTemplate { .. }) => {
                let template = catalog.template_named(&request.name).await?;
                let variables = taken_by(&template);
                let used_by = catalog.users_of(template.file.as_str()).await?;
                Ok(Shown::Template {
                    template: Box::new(ShownTemplate { template, variables, used_by }),
                    origin: catalog.origin().clone(),
                })
            }
            Err(CatalogError::NotFound { misplaced, .. }) => {
                let templates = catalog.directory()?.listed().iter().map(|listed| listed.stem.as_str());
                let nearest = near(&request.name, catalog.index().names()?.chain(templates));
                let error = Error::not_found(Code::FlowNotFound, "flow or template", &request.name, &nearest);
                Err(error.or_misplaced(misplaced))
            }
            Err(error) => Err(error.into()),
        }
    }
}
