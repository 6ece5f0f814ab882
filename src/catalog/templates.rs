//! The templates by name, and as listings show them: a template is like a flow without steps and results.

use std::sync::Arc;

use super::error::ItemKind;
use super::inputs::inputs_of;
use super::names::near;
use super::stock::TemplatesOfFile;
use super::{Catalog, CatalogError};
use crate::discover::{DamagedIndex, FlowIndex, FlowRow, IndexRows};
use crate::lock::lock;
use crate::model::{Lookup, Template};
use crate::names::ItemName;

impl<K: Send + Sync> Catalog<K> {
    /// The templates by name, made when first asked for: every template file is read then. One that can't be
    /// read is left out, and named among the problems.
    ///
    /// # Errors
    /// When the catalog's own index is damaged, or this one can't be made, which is a bug.
    pub async fn template_index(&self) -> Result<FlowIndex, CatalogError> {
        let kept = || lock(&self.shared.templates);
        if let Some(index) = kept().as_ref() {
            return Ok(index.clone());
        }
        let (mut entries, mut lasting) = (Vec::new(), true);
        let mut read: Option<(String, TemplatesOfFile)> = None;
        for (name, file, place) in self.named_templates()? {
            // Those of one file come together, so that it is read once.
            let (file, templates) = match read.take().filter(|(last, _)| *last == file) {
                Some(read) => read,
                None => {
                    let templates = self.templates_of(&file).await.0;
                    (file, templates)
                }
            };
            let found = template_of(templates.get(place), &file);
            read = Some((file, templates));
            match found {
                Ok(template) => entries.push(FlowRow {
                    description: template.description.clone().or_else(|| template.title.clone()).unwrap_or_default(),
                    inputs: inputs_of(&template),
                    file: template.file.to_string(),
                    flow_id: template.id.clone(),
                    meta_name: template.title.clone(),
                    name,
                    ..FlowRow::default()
                }),
                Err(error) if error.is_internal() => return Err(error),
                Err(error) => lasting &= !error.is_passing(),
            }
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        for (place, entry) in entries.iter_mut().enumerate() {
            entry.place_in_file = place;
        }
        let records = IndexRows::new(entries, Vec::new(), Vec::new(), Vec::new()).records();
        let index = FlowIndex::in_memory(records).ok_or(CatalogError::IndexUnreadable)?;
        if lasting {
            *kept() = Some(index.clone());
        }
        Ok(index)
    }

    /// A name for every template that one can be asked for by, sorted: the file's stem, or the
    /// title or id where the file holds several.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn template_names(&self) -> Result<Vec<String>, DamagedIndex> {
        let mut names: Vec<String> = self.named_templates()?.into_iter().map(|(name, ..)| name).collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    /// The same names in the order of the files, each with its file and its place in it.
    fn named_templates(&self) -> Result<Vec<(String, String, usize)>, DamagedIndex> {
        let directory = self.directory()?;
        let mut names = Vec::new();
        for (file, listed) in directory.listed().iter().enumerate() {
            let several = listed.entries.len() > 1;
            for (place, (id, title)) in listed.entries.iter().enumerate() {
                let stem = Some(listed.stem.as_str());
                let own = [title.as_deref(), id.as_deref(), stem.filter(|_| place == 0)];
                let alone = [stem.filter(|_| place == 0), id.as_deref(), title.as_deref()];
                let wanted = if several { own } else { alone };
                let leads_here = |name: &&str| ItemName::new(name).is_ok() && directory.leads_to(name, (file, place));
                let name = wanted.into_iter().flatten().find(leads_here);
                names.extend(name.map(|name| (name.to_owned(), listed.file.clone(), place)));
            }
        }
        Ok(names)
    }

    /// Reads a template by a name it goes by.
    ///
    /// # Errors
    /// A forbidden name, no template of that name, several, or a file that can't be used.
    pub async fn template_named(&self, name: &str) -> Result<Arc<Template>, CatalogError> {
        let kind = ItemKind::Template;
        ItemName::new(name).map_err(|why| CatalogError::ForbiddenName { kind, why })?;
        let (file, place) = match self.directory()?.resolve(name) {
            Ok((listed, place)) => (listed.file.as_str(), place),
            Err(Lookup::Ambiguous { files }) => {
                return Err(CatalogError::AmbiguousTemplate { name: name.to_owned(), files });
            }
            Err(_) => {
                let names = self.template_names()?;
                let nearest = near(name, names.iter().map(String::as_str));
                return Err(CatalogError::NotFound { kind, name: name.to_owned(), nearest, misplaced: None });
            }
        };
        template_of(self.templates_of(file).await.0.get(place), file)
    }
}

/// The template that was looked up in its file.
fn template_of(found: Lookup, file: &str) -> Result<Arc<Template>, CatalogError> {
    match found {
        Lookup::Found(template) => Ok(template),
        Lookup::Broken(unusable) => Err(CatalogError::Unusable(unusable)),
        Lookup::Missing { .. } | Lookup::Ambiguous { .. } | Lookup::NotChecked => {
            Err(CatalogError::Gone { kind: ItemKind::Template, file: file.to_owned() })
        }
    }
}
