//! What clients list and read as resources, besides what other use cases answer already.

use std::sync::Arc;

use crate::app::{App, Catalog, Code, Error, ExecutionEntry, Origin, StatusAnswer, StatusRequest};
use crate::discover::{DamagedIndex, Figures, ListEntry, Mode, Selection};
use crate::model::Template;
use crate::names::shown;

/// How many executions a list of resources names: the newest.
const EXECUTIONS: i64 = 20;
/// The longest description in a list of resources, in characters.
const LONGEST_DESCRIPTION: usize = 200;

/// The names of flows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowNames {
    /// The names, in order.
    pub names: Vec<String>,
    /// Where they come from.
    pub origin: Origin,
}

/// One flow, as the detailed listing shows it.
#[derive(Debug, Clone)]
pub struct FlowEntry {
    /// The entry.
    pub entry: ListEntry,
    /// Where it comes from.
    pub origin: Origin,
}

/// A page of what can be read.
#[derive(Debug, Clone)]
pub struct ResourcePage {
    /// The newest executions; on the first page only.
    pub executions: Vec<ExecutionEntry>,
    /// Flows by name, each with the beginning of its description.
    pub flows: Vec<(String, String)>,
    /// The name after which the next page goes on.
    pub next_after: Option<String>,
    /// Where the flows come from.
    pub origin: Origin,
}

impl App {
    /// The names of the flows that have all of these tags.
    ///
    /// # Errors
    /// When the catalog can't be reached.
    pub async fn flow_names(&self, tags: Vec<String>) -> Result<FlowNames, Error> {
        let catalog = self.catalog(None, false).await?;
        let flows = catalog.index().keys()?.iter().filter(|flow| flow.fits(&tags, None, None));
        let names = flows.map(|flow| flow.name.clone()).collect();
        Ok(FlowNames { names, origin: catalog.origin().clone() })
    }

    /// One flow's entry of the detailed listing, whole.
    ///
    /// # Errors
    /// When there is no such flow, or the catalog can't be reached.
    pub async fn flow_entry(&self, name: &str) -> Result<FlowEntry, Error> {
        let catalog = self.catalog(None, false).await?;
        catalog.find(name)?;
        let selection = Selection {
            names: vec![name.to_owned()],
            max_tokens: Some(crate::discover::LARGEST_BUDGET),
            ..Selection::all(Mode::Detailed)
        };
        let page = catalog.page(catalog.index(), &selection, &Figures::default())?;
        let entry = page.entries.first().cloned();
        let entry = entry.ok_or_else(|| Error::new(Code::InternalError, "the listing index holds no such row"))?;
        Ok(FlowEntry { entry, origin: catalog.origin().clone() })
    }

    /// One template, whatever flow has the same name, and how long that stays as it is, in
    /// milliseconds.
    ///
    /// # Errors
    /// When there is no such template, or the catalog can't be reached.
    pub async fn template(&self, name: &str) -> Result<(Arc<Template>, u64), Error> {
        let catalog = self.catalog(None, false).await?;
        Ok((catalog.template_named(name).await?, catalog.origin().fresh_for_ms))
    }

    /// A page of what can be read: the newest executions, then every flow. It goes on after a
    /// name, so a change of the catalog between two pages neither repeats nor loses a flow.
    ///
    /// # Errors
    /// When the catalog can't be reached.
    pub async fn resource_page(&self, after: Option<&str>, most: usize) -> Result<ResourcePage, Error> {
        let catalog = self.catalog(None, false).await?;
        let executions = match after {
            None => self.newest_executions().await?,
            Some(_) => Vec::new(),
        };
        let room = most.saturating_sub(executions.len());
        let mut flows = flows_after(&catalog, after, room + 1)?;
        let more = flows.len() > room;
        flows.truncate(room);
        let next_after = flows.last().filter(|_| more).map(|(name, _)| name.clone());
        Ok(ResourcePage { executions, flows, next_after, origin: catalog.origin().clone() })
    }

    /// The newest executions of both kinds, as many as a list of resources names.
    ///
    /// # Errors
    /// When they can't be listed.
    pub async fn newest_executions(&self) -> Result<Vec<ExecutionEntry>, Error> {
        self.newest(EXECUTIONS).await
    }

    /// The newest executions of both kinds. A store that can't be read hides no direct ones.
    pub(super) async fn newest(&self, most: i64) -> Result<Vec<ExecutionEntry>, Error> {
        let request = StatusRequest { limit: Some(most), ..StatusRequest::default() };
        let StatusAnswer::List { executions, .. } = self.status(&request).await? else { return Ok(Vec::new()) };
        Ok(executions)
    }
}

fn flows_after(catalog: &Catalog, after: Option<&str>, most: usize) -> Result<Vec<(String, String)>, DamagedIndex> {
    let index = catalog.index();
    let mut flows: Vec<(String, String)> = Vec::new();
    for (row, name) in index.names()?.enumerate() {
        // Two flows of one name are one address, which says that there are two.
        let again = flows.last().is_some_and(|(last, _)| last == name);
        if again || after.is_some_and(|after| name <= after) {
            continue;
        }
        if flows.len() == most {
            break;
        }
        flows.push((name.to_owned(), shown(&index.row(row)?.description, LONGEST_DESCRIPTION)));
    }
    Ok(flows)
}
