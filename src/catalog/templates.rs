//! The templates as listings show them: a template is like a flow without steps and results.

use super::{Catalog, PoisonError};
use crate::app::prompts::{inputs_of, passing};
use crate::app::{Code, Error};
use crate::discover::{FlowIndex, FlowRow, IndexRows};

impl Catalog {
    /// The templates by name, made when first asked for: every template file is read then. One that can't be
    /// read is left out, and named among the problems.
    ///
    /// # Errors
    /// When the catalog's own index is damaged, or this one can't be made, which is a bug.
    pub async fn template_index(&self) -> Result<FlowIndex, Error> {
        let kept = || self.shared.templates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = kept().as_ref() {
            return Ok(index.clone());
        }
        let (mut entries, mut lasting) = (Vec::new(), true);
        for name in self.template_names()? {
            match self.template_named(&name).await {
                Ok(template) => entries.push(FlowRow {
                    description: template.description.clone().or_else(|| template.title.clone()).unwrap_or_default(),
                    inputs: inputs_of(&template),
                    file: template.file.to_string(),
                    flow_id: template.id.clone(),
                    meta_name: template.title.clone(),
                    place_in_file: entries.len(),
                    name,
                    ..FlowRow::default()
                }),
                Err(error) if error.code == Code::InternalError => return Err(error),
                Err(error) => lasting &= !passing(error.code),
            }
        }
        let records = IndexRows::new(entries, Vec::new(), Vec::new(), Vec::new()).records();
        let unread = || Error::new(Code::InternalError, "the index of templates could not be read back");
        let index = FlowIndex::in_memory(records).ok_or_else(unread)?;
        if lasting {
            *kept() = Some(index.clone());
        }
        Ok(index)
    }
}
