//! Showing one flow, from the plan that would run, or one template.

use std::sync::Arc;

use crate::app::{App, Catalog, Code, Error, Origin, Prepared};
use crate::model::{Lookup, Template, Toolbox};

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
        crate::names::ItemName::new(&request.name).map_err(|error| {
            Error::new(Code::InvalidRequest, error.to_string()).next("ask by the name that flows_list shows")
        })?;
        let catalog = self.catalog(request.git_ref.as_deref(), request.refresh).await?;
        let origin = catalog.origin().clone();
        let refused = match catalog.prepare(&request.name).await {
            Ok(prepared) => return Ok(Shown::Flow { prepared, origin, tools: catalog.tools().clone() }),
            Err(error) => error,
        };
        if refused.code != Code::FlowNotFound {
            return Err(refused);
        }
        match found(&catalog, &request.name).await? {
            Some((template, file)) => {
                let used_by = catalog.users_of(&file).await?;
                Ok(Shown::Template { template: Box::new(ShownTemplate { template, used_by }), origin })
            }
            None => {
                let templates = catalog.directory()?.listed().iter().map(|listed| listed.stem.as_str());
                let all = catalog.index().names()?.chain(templates);
                Err(Error::not_found(Code::FlowNotFound, "flow or template", &request.name, all))
            }
        }
    }
}

/// A template by its name, and its file; none where there is no such file.
async fn found(catalog: &Catalog, name: &str) -> Result<Option<(Arc<Template>, String)>, Error> {
    let Some((listed, place)) = catalog.template_file(name)? else { return Ok(None) };
    let file = listed.file.clone();
    match catalog.template(&file, place).await.0 {
        Lookup::Found(template) => Ok(Some((template, file))),
        Lookup::Broken { code, message, .. } => Err(Error::about_file(code, message)),
        _ => Ok(None),
    }
}
