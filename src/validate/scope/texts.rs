//! The texts of steps: found, taken apart once, and counted.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Body, Intent, Mending, app_internal};
use crate::code::Code;
use crate::model::Syntax;
use crate::model::{Lookup, Node, Shelf, Template, TemplateNode, UnfoldedSize};
use crate::names::Comparisons;
use crate::render::Outline;
use crate::validate::Known;
use crate::validate::rules::over_limit::{MAX_BYTES, MAX_GROUPS, MAX_NAMES};

/// The texts of a flow's steps, each looked through once.
pub(super) struct Texts<'a> {
    pub(super) known: Known<'a>,
    pub(super) shelf: &'a Shelf,
    /// The templates' texts by where the template lies, which the shelf keeps in place.
    outlined: HashMap<*const Template, (Arc<str>, Arc<Outline>)>,
    so_far: UnfoldedSize,
    /// What may still be compared to find names that are spelt alike.
    pub(super) comparisons: Comparisons,
}

impl<'a> Texts<'a> {
    pub(super) fn of(known: Known<'a>) -> Self {
        let (outlined, so_far, comparisons) = Default::default();
        Self { known, shelf: known.shelf, outlined, so_far, comparisons }
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
                let (text, outline) = self.outlined.entry(Arc::as_ptr(&template)).or_insert_with(|| {
                    let text: Arc<str> = Arc::from(template.text());
                    let outline = Outline::without(&text, template.syntax, &template.literal);
                    (text, Arc::new(outline))
                });
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
                faulty(Code::AmbiguousName, format!("several templates go by {}: {}", shown(), files.joined(", ")))
            }
            Lookup::Broken(unusable) => faulty(unusable.code, unusable.to_string()),
            Lookup::NotChecked => inline().map_or((Body::Elsewhere, Arc::default()), of_node),
        }
    }

    /// Counts what a step with a text has, as [`Self::too_many`] does.
    pub(super) fn too_many_of(
        &mut self,
        step: &TemplateNode,
        (text, template): (&str, Option<&Template>),
        outline: &Outline,
    ) -> Option<String> {
        let values = |sets: &[crate::model::VariableSet]| sets.iter().map(|set| set.values.len()).sum::<usize>();
        let own = step.variables.len() + values(&step.sets);
        let saved = template.map_or(0, |template| template.variables.len() + values(&template.sets));
        self.too_many(UnfoldedSize {
            steps: 1,
            names: outline.names.len() + own + saved,
            groups: outline.placeholders.len(),
            bytes: text.len(),
        })
    }

    /// Counts what a step has; past what a flow may have, says so. Without it a thousand nodes that share
    /// one large template would take gigabytes or minutes before anything is refused.
    pub(super) fn too_many(&mut self, of_step: UnfoldedSize) -> Option<String> {
        self.so_far = self.so_far.and(of_step);
        let (names, groups, bytes) = (self.so_far.names, self.so_far.groups, self.so_far.bytes);
        let said = |what: &str, limit: usize| format!("the steps up to this one {what}, and {limit} are allowed");
        if names > MAX_NAMES {
            Some(said(&format!("declare, read and set {names} names"), MAX_NAMES))
        } else if groups > MAX_GROUPS {
            Some(said(&format!("have {groups} placeholders"), MAX_GROUPS))
        } else if bytes > MAX_BYTES {
            Some(said(&format!("have {bytes} bytes of text"), MAX_BYTES))
        } else {
            None
        }
    }
}
