//! What a step's output can hold, as far as the files say: whether a dot path into it leads anywhere.
//!
//! A contract is read as far as it speaks of fields: `properties`, `required`, lists, and what combines
//! schemas. What it says otherwise only makes a field less certain, never impossible.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::model::Contract;
use crate::names::spaced;

/// The most schemas that are looked at for one path: some that combine others are endless.
const MOST_SCHEMAS: usize = 10_000;
/// The most schemas that are looked at one within the other.
const DEEPEST: usize = 100;

/// The output of a step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum OutputShape {
    /// Nothing is known of it: a tool gives it.
    #[default]
    Unknown,
    /// A text.
    Text,
    /// Whatever meets a contract.
    Contract(Arc<Contract>),
    /// An object of exactly these fields: the results of another flow, by label.
    Labels(Vec<(String, Self)>),
}

/// Where a dot path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leads {
    /// To a value, or nobody can say.
    Somewhere,
    /// To a field that an output may lack.
    Maybe(Part),
    /// To a field that a contract does not speak of.
    Unsaid(Part),
    /// To a field that can't be there.
    Nowhere(Part),
    /// To any of several labels, which differ in blanks alone.
    Several {
        /// The labels.
        labels: Vec<String>,
    },
}

/// The part of a path at which it is decided where it leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The place of that step in the path, from 0.
    pub depth: usize,
    /// The fields there are; none where it is no object.
    pub fields: Vec<String>,
}

impl OutputShape {
    /// Where a dot path into such an output leads.
    pub fn leads(&self, path: &[String]) -> Leads {
        let Some((first, rest)) = path.split_first() else { return Leads::Somewhere };
        match self {
            Self::Unknown => Leads::Somewhere,
            Self::Text => Leads::Nowhere(Part { depth: 0, fields: Vec::new() }),
            Self::Contract(contract) => Fields::of(contract.schema()).leads(path),
            Self::Labels(labels) => match member(labels.iter().map(|(label, _)| label.as_str()), first) {
                Member::One(found) => {
                    let below = labels.iter().find(|(label, _)| label == found).map(|(_, shape)| shape.leads(rest));
                    below.map_or(Leads::Somewhere, Leads::deeper)
                }
                Member::Several(labels) => Leads::Several { labels },
                Member::None => {
                    let fields = labels.iter().map(|(label, _)| label.clone()).collect();
                    Leads::Nowhere(Part { depth: 0, fields })
                }
            },
        }
    }
}

impl Leads {
    fn deeper(self) -> Self {
        let deeper = |part: Part| Part { depth: part.depth + 1, ..part };
        match self {
            Self::Maybe(part) => Self::Maybe(deeper(part)),
            Self::Unsaid(part) => Self::Unsaid(deeper(part)),
            Self::Nowhere(part) => Self::Nowhere(deeper(part)),
            Self::Somewhere | Self::Several { .. } => self,
        }
    }
}

/// Which of some names a step of a path means: the one that is spelt like it, else the only one that
/// differs in nothing but blanks where the step has `_`.
enum Member<'n> {
    One(&'n str),
    Several(Vec<String>),
    None,
}

fn member<'n>(names: impl Iterator<Item = &'n str> + Clone, step: &str) -> Member<'n> {
    if let Some(exact) = names.clone().find(|name| *name == step) {
        return Member::One(exact);
    }
    if !step.contains('_') {
        return Member::None;
    }
    let wanted = spaced(step);
    let alike: Vec<&str> = names.filter(|name| spaced(name) == wanted).collect();
    match alike.as_slice() {
        [] => Member::None,
        [one] => Member::One(one),
        several => Member::Several(several.iter().map(|name| (*name).to_owned()).collect()),
    }
}

/// A path as a schema spells its fields; none where it leads nowhere, or nobody can say to which field.
pub(super) fn spelt(schema: &Value, path: &[String]) -> Option<Vec<String>> {
    let mut fields = Fields::of(schema);
    let mut here = Schema::One(schema);
    let mut spelt = Vec::with_capacity(path.len());
    for step in path {
        let field = fields.field(&here, step);
        if fields.left == 0 || field.standing == FieldStanding::Never {
            return None;
        }
        spelt.push(match member(field.names.iter().copied(), step) {
            Member::One(name) => name.to_owned(),
            Member::Several(_) => return None,
            Member::None => step.clone(),
        });
        here = field.next;
    }
    Some(spelt)
}

/// The member of an object that a step of a path means.
pub fn member_of<'v>(object: &'v Map<String, Value>, step: &str) -> Option<&'v Value> {
    object.get(step).or_else(|| match member(object.keys().map(String::as_str), step) {
        Member::One(name) => object.get(name),
        Member::Several(_) | Member::None => None,
    })
}

/// How sure it is that a value has a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldStanding {
    Always,
    Maybe,
    Unsaid,
    Never,
}

/// What a value has to meet.
#[derive(Debug, Clone)]
enum Schema<'s> {
    Free,
    One(&'s Value),
    All(Vec<Self>),
    Any(Vec<Self>),
}

/// What is known of one field.
struct FieldSchema<'s> {
    standing: FieldStanding,
    /// What its value has to meet.
    next: Schema<'s>,
    /// The fields that are spoken of beside it.
    names: Vec<&'s str>,
}

impl FieldSchema<'_> {
    fn plain(standing: FieldStanding) -> Self {
        Self { standing, next: Schema::Free, names: Vec::new() }
    }

    /// What holds where all of these do.
    fn all(fields: Vec<Self>) -> Self {
        let standing = [FieldStanding::Never, FieldStanding::Always, FieldStanding::Maybe]
            .into_iter()
            .find(|standing| fields.iter().any(|field| field.standing == *standing))
            .unwrap_or(FieldStanding::Unsaid);
        let names = fields.iter().flat_map(|field| field.names.iter().copied()).collect();
        Self { standing, next: Schema::All(fields.into_iter().map(|field| field.next).collect()), names }
    }

    /// What holds where one of these does.
    fn any(fields: Vec<Self>) -> Self {
        let first = fields.first().map_or(FieldStanding::Unsaid, |field| field.standing);
        let same = fields.iter().all(|field| field.standing == first);
        let names = fields.iter().flat_map(|field| field.names.iter().copied()).collect();
        let possible = fields.into_iter().filter(|field| field.standing != FieldStanding::Never);
        Self {
            standing: if same { first } else { FieldStanding::Maybe },
            next: Schema::Any(possible.map(|field| field.next).collect()),
            names,
        }
    }
}

/// A schema whose fields are looked up.
struct Fields<'s> {
    root: &'s Value,
    /// How many more schemas are looked at; none are left where there are too many to know anything.
    left: usize,
    /// How many are one within the other now.
    depth: usize,
}

impl<'s> Fields<'s> {
    fn of(root: &'s Value) -> Self {
        Self { root, left: MOST_SCHEMAS, depth: 0 }
    }

    fn leads(mut self, path: &[String]) -> Leads {
        let mut here = Schema::One(self.root);
        let mut doubt: Option<Leads> = None;
        for (depth, step) in path.iter().enumerate() {
            let field = self.field(&here, step);
            let mut fields: Vec<String> = Vec::new();
            for name in field.names {
                if !fields.iter().any(|other| other == name) {
                    fields.push(name.to_owned());
                }
            }
            let part = Part { depth, fields };
            if self.left == 0 {
                return Leads::Somewhere;
            }
            match field.standing {
                FieldStanding::Always => {}
                FieldStanding::Maybe => doubt = doubt.or(Some(Leads::Maybe(part))),
                // What speaks of no field at all leaves everything open.
                FieldStanding::Unsaid if part.fields.is_empty() => return doubt.unwrap_or(Leads::Somewhere),
                FieldStanding::Unsaid => return doubt.unwrap_or(Leads::Unsaid(part)),
                FieldStanding::Never => return Leads::Nowhere(part),
            }
            here = field.next;
        }
        doubt.unwrap_or(Leads::Somewhere)
    }

    fn field(&mut self, schema: &Schema<'s>, step: &str) -> FieldSchema<'s> {
        if self.depth >= DEEPEST {
            self.left = 0;
        }
        if self.left == 0 {
            return FieldSchema::plain(FieldStanding::Unsaid);
        }
        self.left -= 1;
        self.depth += 1;
        let field = match schema {
            Schema::One(Value::Object(schema)) => self.of_object(schema, step),
            Schema::One(Value::Bool(false)) => FieldSchema::plain(FieldStanding::Never),
            Schema::One(_) | Schema::Free => FieldSchema::plain(FieldStanding::Unsaid),
            Schema::All(schemas) => FieldSchema::all(schemas.iter().map(|schema| self.field(schema, step)).collect()),
            Schema::Any(schemas) => FieldSchema::any(schemas.iter().map(|schema| self.field(schema, step)).collect()),
        };
        self.depth -= 1;
        field
    }

    fn of_object(&mut self, schema: &'s Map<String, Value>, step: &str) -> FieldSchema<'s> {
        let kinds: Option<Vec<&str>> = schema.get("type").map(|kind| match kind {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            kind => kind.as_str().into_iter().collect(),
        });
        let allows = |kind: &str| kinds.as_ref().is_none_or(|kinds| kinds.contains(&kind));
        let mut parts = Vec::new();
        if !allows("object") && !allows("array") {
            return FieldSchema::plain(FieldStanding::Never);
        }
        if !allows("object") {
            parts.push(in_list(schema, step));
        } else if allows("array") && schema.contains_key("items") && !schema.contains_key("properties") {
            parts.push(FieldSchema::any(vec![in_list(schema, step), FieldSchema::plain(FieldStanding::Unsaid)]));
        } else {
            parts.push(member_in(schema, step));
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let target = reference.strip_prefix('#').and_then(|path| self.root.pointer(path));
            parts.push(self.field(&target.map_or(Schema::Free, Schema::One), step));
        }
        let list = |key: &str| schema.get(key).and_then(Value::as_array);
        for below in list("allOf").into_iter().flatten() {
            parts.push(self.field(&Schema::One(below), step));
        }
        for choices in [list("anyOf"), list("oneOf")].into_iter().flatten() {
            parts.push(FieldSchema::any(choices.iter().map(|choice| self.field(&Schema::One(choice), step)).collect()));
        }
        if schema.contains_key("if") {
            let branch = |key: &str| schema.get(key).map_or(Schema::Free, Schema::One);
            let branches = [branch("then"), branch("else")];
            let of_branch = branches.iter().map(|branch| self.field(branch, step)).collect();
            parts.push(FieldSchema::any(of_branch));
        }
        let mut field = FieldSchema::all(parts);
        if field.standing == FieldStanding::Unsaid && schema.get("unevaluatedProperties") == Some(&Value::Bool(false)) {
            field.standing = FieldStanding::Never;
        }
        // Where it may be something else as well, it may lack every field.
        if field.standing == FieldStanding::Always && kinds.is_some_and(|kinds| kinds.len() > 1) {
            field.standing = FieldStanding::Maybe;
        }
        field
    }
}

/// An item of a list.
fn in_list<'s>(schema: &'s Map<String, Value>, step: &str) -> FieldSchema<'s> {
    let Ok(index) = step.parse::<usize>() else { return FieldSchema::plain(FieldStanding::Never) };
    let bound = |key: &str| schema.get(key).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
    let first = schema.get("prefixItems").and_then(Value::as_array).and_then(|items| items.get(index));
    let next = first.or_else(|| schema.get("items"));
    let standing = match next {
        _ if bound("maxItems").is_some_and(|most| index >= most) => FieldStanding::Never,
        Some(Value::Bool(false)) => FieldStanding::Never,
        _ if bound("minItems").is_some_and(|least| index < least) => FieldStanding::Always,
        _ => FieldStanding::Maybe,
    };
    FieldSchema { standing, next: next.map_or(Schema::Free, Schema::One), names: Vec::new() }
}

/// A member of an object.
fn member_in<'s>(schema: &'s Map<String, Value>, step: &str) -> FieldSchema<'s> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let names: Vec<&str> = properties.into_iter().flat_map(Map::keys).map(String::as_str).collect();
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let due = |name: &str| required.clone().any(|other| other == name);
    let (standing, next) = match member(names.iter().copied(), step) {
        Member::One(name) => {
            let next = properties.and_then(|properties| properties.get(name)).map_or(Schema::Free, Schema::One);
            (if due(name) { FieldStanding::Always } else { FieldStanding::Maybe }, next)
        }
        Member::Several(_) => (FieldStanding::Never, Schema::Free),
        Member::None if due(step) => (FieldStanding::Always, Schema::Free),
        Member::None if schema.contains_key("patternProperties") => (FieldStanding::Maybe, Schema::Free),
        Member::None => match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => (FieldStanding::Never, Schema::Free),
            Some(further) => (FieldStanding::Unsaid, Schema::One(further)),
            None => (FieldStanding::Unsaid, Schema::Free),
        },
    };
    FieldSchema { standing, next, names }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn leads(schema: Value, path: &str) -> String {
        let contract = Contract::compile(None, schema).expect("a schema");
        let path: Vec<String> = path.split('.').map(str::to_owned).collect();
        match OutputShape::Contract(Arc::new(contract)).leads(&path) {
            Leads::Somewhere => "there".to_owned(),
            Leads::Maybe(part) => format!("maybe {}", part.depth),
            Leads::Unsaid(part) => format!("unsaid {}", part.depth),
            Leads::Nowhere(part) => format!("nowhere {} of {}", part.depth, part.fields.join(" ")),
            Leads::Several { labels } => format!("several {}", labels.join(" ")),
        }
    }

    #[test]
    fn a_closed_contract_has_no_other_field_and_an_open_one_may() {
        let closed = json!({"type": "object", "properties": {"steps": {"type": "string"}, "severity": {}},
            "required": ["steps"], "additionalProperties": false});
        assert_eq!(leads(closed.clone(), "steps"), "there");
        assert_eq!(leads(closed.clone(), "severity"), "maybe 0");
        assert_eq!(leads(closed.clone(), "stepz"), "nowhere 0 of steps severity");
        assert_eq!(leads(closed, "steps.first"), "nowhere 1 of ");
        assert_eq!(leads(json!({"type": "object"}), "x"), "there");
        assert_eq!(leads(json!({"type": "object", "required": ["x"]}), "x"), "there");
        assert_eq!(leads(json!({"patternProperties": {"^x": {}}, "additionalProperties": false}), "x1"), "maybe 0");
        assert_eq!(leads(json!({"type": "string"}), "x"), "nowhere 0 of ");
        assert_eq!(leads(json!({"type": ["object", "null"], "required": ["x"]}), "x"), "maybe 0");
    }

    #[test]
    fn lists_have_items_by_number() {
        let rows = json!({"type": "object", "required": ["rows"], "properties": {"rows": {"type": "array", "minItems": 1,
            "items": {"type": "object", "required": ["id"], "properties": {"id": {}}, "additionalProperties": false}}}});
        assert_eq!(leads(rows.clone(), "rows.0.id"), "there");
        assert_eq!(leads(rows.clone(), "rows.1.id"), "maybe 1");
        assert_eq!(leads(rows.clone(), "rows.0.name"), "nowhere 2 of id");
        assert_eq!(leads(rows, "rows.first"), "nowhere 1 of ");
    }

    #[test]
    fn combined_schemas_are_read_together() {
        let all = json!({"allOf": [{"$ref": "#/$defs/a"}, {"required": ["x"]}], "unevaluatedProperties": false,
            "$defs": {"a": {"type": "object", "properties": {"x": {}, "y": {}}}}});
        assert_eq!(leads(all.clone(), "x"), "there");
        assert_eq!(leads(all.clone(), "y"), "maybe 0");
        assert_eq!(leads(all, "z"), "nowhere 0 of x y");
        let any = json!({"oneOf": [
            {"type": "object", "required": ["ok"], "properties": {"ok": {}}, "additionalProperties": false},
            {"type": "object", "required": ["ok", "error"], "properties": {"ok": {}, "error": {}}, "additionalProperties": false}]});
        assert_eq!(leads(any.clone(), "ok"), "there");
        assert_eq!(leads(any.clone(), "error"), "maybe 0");
        assert_eq!(leads(any, "x"), "nowhere 0 of ok error");
        let branch = json!({"type": "object", "if": {"required": ["a"]}, "then": {"required": ["b"]}});
        assert_eq!(leads(branch, "b"), "maybe 0");
    }

    #[test]
    fn an_endless_schema_ends() {
        let mut defs = serde_json::Map::new();
        for level in 0..24 {
            let below = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            defs.insert(format!("d{level}"), json!({"anyOf": [below, below]}));
        }
        defs.insert("d24".to_owned(), json!({"type": "object"}));
        let schema = json!({"$ref": "#/$defs/d0", "$defs": defs});
        let contract = Contract::stored(None, schema);
        assert_eq!(OutputShape::Contract(Arc::new(contract)).leads(&["x".to_owned()]), Leads::Somewhere);
        let round = Contract::stored(None, json!({"$ref": "#"}));
        assert_eq!(OutputShape::Contract(Arc::new(round)).leads(&["x".to_owned()]), Leads::Somewhere);
    }

    #[test]
    fn a_label_with_blanks_is_meant_by_underscores_unless_another_is_spelt_so() {
        let labels = |labels: &[&str]| {
            OutputShape::Labels(labels.iter().map(|label| ((*label).to_owned(), OutputShape::Text)).collect())
        };
        let path = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
        let two = labels(&["Summary", "Open questions"]);
        assert_eq!(two.leads(&path("Open_questions")), Leads::Somewhere);
        assert_eq!(two.leads(&path("Open_questions.x")), Leads::Nowhere(Part { depth: 1, fields: Vec::new() }));
        assert!(matches!(two.leads(&path("Summry")), Leads::Nowhere(part) if part.fields.len() == 2));
        assert!(
            matches!(labels(&["A b_c", "A_b c"]).leads(&path("A_b_c")), Leads::Several { labels } if labels.len() == 2)
        );
        assert_eq!(labels(&["A b", "A_b"]).leads(&path("A_b")), Leads::Somewhere);
    }
}
