//! The texts of steps: found, taken apart once, and counted.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Body, Intent, Mending, app_internal};
use crate::code::Code;
use crate::model::Syntax;
use crate::model::{Lookup, Node, Shelf, Template, TemplateNode};
use crate::render::Outline;
use crate::validate::Known;

/// The most names that the steps of a flow may declare, read and set, all together.
const MAX_NAMES: usize = 100_000;

/// The texts of a flow's steps, each looked through once.
pub(super) struct Texts<'a> {
    pub(super) known: Known<'a>,
    pub(super) shelf: &'a Shelf,
    /// The templates' texts by where the template lies, which the shelf keeps in place.
    outlined: HashMap<*const Template, (Arc<str>, Arc<Outline>)>,
    names: usize,
}

impl<'a> Texts<'a> {
    pub(super) fn of(known: Known<'a>) -> Self {
        Self { known, shelf: known.shelf, outlined: HashMap::new(), names: 0 }
    }

    /// A step's text, or why there is none, and its brace groups.
    pub(super) fn body_of(&mut self, node: &Node, step: &TemplateNode) -> (Body, Arc<Outline>) {
        let inline = || step.text.as_deref().filter(|text| !text.trim().is_empty());
        let of_node = |text: &str| {
            let body = Body::Text { text: Arc::from(text), template: None, template_name: node.caption().to_owned() };
            (body, Arc::new(Outline::without(text, Syntax::Single, &step.literal)))
        };
        let faulty = |code: Code, message| {
            (Body::Faulty { code, message, meant: Intent::Text, mending: Mending::default() }, Arc::default())
        };
        let Some(selected) = &step.selected else {
            return match inline() {
                Some(text) => of_node(text),
                None => faulty(Code::ValidationError, "the step has neither a template nor a text".to_owned()),
            };
        };
        let shown = || crate::names::quoted(selected);
        match self.shelf.get(selected) {
            Lookup::Found(template) => {
                let (text, outline) = self
                    .outlined
                    .entry(Arc::as_ptr(&template))
                    .or_insert_with(|| (Arc::from(template.text.as_str()), Arc::new(Outline::of_template(&template))));
                let (text, mut outline) = (text.clone(), outline.clone());
                if !step.literal.is_empty() {
                    let literal: Vec<String> = template.literal.iter().chain(&step.literal).cloned().collect();
                    outline = Arc::new(Outline::without(&text, template.syntax, &literal));
                }
                (Body::Text { text, template_name: template.name.clone(), template: Some(template) }, outline)
            }
            Lookup::Missing { nearest } => match inline() {
                Some(text) if app_internal(selected) => of_node(text),
                _ => {
                    let near = if nearest.is_empty() {
                        String::new()
                    } else {
                        format!("; did you mean {}?", nearest.join(" or "))
                    };
                    faulty(Code::TemplateNotFound, format!("there is no template {}{near}", shown()))
                }
            },
            Lookup::Ambiguous { files } => {
                faulty(Code::AmbiguousName, format!("several templates go by {}: {}", shown(), files.join(", ")))
            }
            Lookup::Broken(unusable) => faulty(unusable.code, unusable.to_string()),
            Lookup::NotChecked => inline().map_or((Body::Elsewhere, Arc::default()), of_node),
        }
    }

    /// Counts a step's names, as [`Self::too_many`] does.
    pub(super) fn too_many_of(
        &mut self,
        step: &TemplateNode,
        template: Option<&Template>,
        outline: &Outline,
    ) -> Option<String> {
        let values = |sets: &[crate::model::VariableSet]| sets.iter().map(|set| set.values.len()).sum::<usize>();
        let own = step.variables.len() + values(&step.sets);
        let saved = template.map_or(0, |template| template.variables.len() + values(&template.sets));
        self.too_many(outline.names.len() + own + saved)
    }

    /// Counts a step's names; past what a flow may have, says so. Without it a thousand nodes that
    /// share one large template would take gigabytes before anything is refused.
    pub(super) fn too_many(&mut self, names: usize) -> Option<String> {
        self.names = self.names.saturating_add(names);
        (self.names > MAX_NAMES).then(|| {
            format!("the steps up to this one declare, read and set {} names, and {MAX_NAMES} are allowed", self.names)
        })
    }
}
