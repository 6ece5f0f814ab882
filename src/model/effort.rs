//! How much work a schema makes: a few lines of references to references can stand for millions of
//! comparisons, and whoever wrote them may be anybody.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::names::shown;

/// The most schemas that one schema may stand for at one place of a value, 10,000: references, and
/// alternatives that don't go into the value.
const MOST_IN_PLACE: usize = 10_000;
/// The most comparisons that are made of one value.
const MOST_STEPS: usize = 2_000_000;
/// The most of them whose outcome is told one by one; what a comparison says takes a kilobyte.
const MOST_TOLD: usize = 100_000;
/// The most patterns that one schema may have. A compiled one may take megabytes.
const MOST_PATTERNS: usize = 200;
/// The most bytes that a compiled pattern may take, 4 MiB.
pub(super) const LARGEST_PATTERN: usize = 4 << 20;
/// How often matching one pattern may go back, where it can: each character of a text may cost one.
pub(super) const MOST_BACKTRACKS: usize = 100_000;
/// The most characters that patterns look at in one value, and times that they go back: some seconds.
const MOST_MATCHED: usize = 64_000_000;
/// How deep schemas within schemas are followed.
const DEEPEST: usize = 1_000;

/// Keys whose schemas are for the same value: one schema, a list of them, or an object of them.
const SAME_VALUE: [&str; 8] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];
/// Keys that refer to a schema for the same value.
const REFERENCES: [&str; 2] = ["$ref", "$dynamicRef"];

/// How much work it is to compare a value with a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckEffort {
    /// All that is wrong can be told.
    Small,
    /// Whether anything is wrong can be told.
    Large,
    /// It is not done.
    TooLarge,
}

/// Why a schema makes too much work, whatever it is compared with.
pub(super) fn too_intricate(root: &Value) -> Option<String> {
    let schemas = Schemas::of(root);
    let mut known = HashMap::new();
    let mut patterns = HashSet::new();
    let mut left = vec![(String::new(), root)];
    while let Some((place, value)) = left.pop() {
        if value.is_object() {
            let count = schemas.in_place(value, &mut known, 0);
            if count > MOST_IN_PLACE {
                let place = if place.is_empty() { "the whole".to_owned() } else { shown(&place, 100) };
                return Some(match count {
                    usize::MAX => format!("{place} leads back to itself, or too far, without going into the value"),
                    _ => format!("{place} stands for more than {MOST_IN_PLACE} schemas at one place"),
                });
            }
        }
        match value {
            Value::Object(members) => {
                patterns.extend(members.get("pattern").and_then(Value::as_str));
                patterns.extend(patterns_of_names(value).map(|(pattern, _)| pattern));
                if patterns.len() > MOST_PATTERNS {
                    return Some(format!("it has more than {MOST_PATTERNS} patterns"));
                }
                left.extend(members.iter().map(|(key, member)| (format!("{place}/{key}"), member)));
            }
            Value::Array(items) => {
                left.extend(items.iter().enumerate().map(|(number, item)| (format!("{place}/{number}"), item)));
            }
            _ => {}
        }
    }
    None
}

/// How much work it is to compare a value with a schema.
pub(super) fn effort(root: &Value, value: &Value) -> CheckEffort {
    let schemas = Schemas::of(root);
    let mut left = EffortLeft { steps: MOST_STEPS, matched: MOST_MATCHED };
    if !schemas.steps(root, value, &mut left, 0) {
        return CheckEffort::TooLarge;
    }
    if MOST_STEPS - left.steps <= MOST_TOLD { CheckEffort::Small } else { CheckEffort::Large }
}

/// How much may still be done for one value.
struct EffortLeft {
    steps: usize,
    matched: usize,
}

impl EffortLeft {
    /// Counts a text that is compared with a pattern; whether there was enough left for it.
    fn matches(&mut self, pattern: &str, text: &str) -> bool {
        let back = if may_go_back(pattern) { MOST_BACKTRACKS } else { 1 };
        let left = self.matched.checked_sub(text.len() + back);
        self.matched = left.unwrap_or(0);
        left.is_some()
    }
}

/// Whether matching a pattern may go back, which takes time that grows faster than the text: only looking around,
/// groups that keep what they have and references to groups do that. All others are matched in one pass.
fn may_go_back(pattern: &str) -> bool {
    let plain = pattern.replace("(?:", "(");
    plain.contains("(?")
        || ["*+", "++", "?+", "}+"].iter().any(|keeping| plain.contains(keeping))
        || plain
            .split('\\')
            .skip(1)
            .any(|escape| escape.starts_with(|c: char| c.is_ascii_digit() || "kgKG".contains(c)))
}

/// The patterns that a schema compares the names of members with, and what it says of these members.
fn patterns_of_names(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let patterns = schema.get("patternProperties").and_then(Value::as_object);
    patterns.into_iter().flatten().map(|(pattern, schema)| (pattern.as_str(), schema))
}

/// A schema with all that has a name in it.
struct Schemas<'s> {
    root: &'s Value,
    named: HashMap<String, &'s Value>,
    /// The schemas that are known to lead into no plain ring.
    ringless: RefCell<HashSet<*const Value>>,
}

impl<'s> Schemas<'s> {
    fn of(root: &'s Value) -> Self {
        let mut named = HashMap::new();
        let mut left = vec![root];
        while let Some(value) = left.pop() {
            for (key, before) in [("$id", ""), ("$anchor", "#"), ("$dynamicAnchor", "#")] {
                if let Some(name) = value.get(key).and_then(Value::as_str) {
                    named.insert(format!("{before}{name}"), value);
                }
            }
            match value {
                Value::Object(members) => left.extend(members.values()),
                Value::Array(items) => left.extend(items),
                _ => {}
            }
        }
        Self { root, named, ringless: RefCell::default() }
    }

    fn referred(&self, reference: &str) -> Option<&'s Value> {
        match reference.strip_prefix('#') {
            Some("") => Some(self.root),
            Some(pointer) if pointer.starts_with('/') => self.root.pointer(pointer),
            _ => self.named.get(reference).copied(),
        }
    }

    /// The schemas below one that are for the same value.
    fn same_value(&self, schema: &'s Value) -> Vec<&'s Value> {
        let mut all: Vec<&Value> = Vec::new();
        for key in REFERENCES {
            all.extend(schema.get(key).and_then(Value::as_str).and_then(|reference| self.referred(reference)));
        }
        for key in SAME_VALUE {
            match schema.get(key) {
                Some(Value::Array(schemas)) => all.extend(schemas),
                Some(Value::Object(schemas)) if key == "dependentSchemas" => all.extend(schemas.values()),
                Some(one) => all.push(one),
                None => {}
            }
        }
        all
    }

    /// The schemas of a ring in which each leads to one other alone, from one that leads into it. Comparing
    /// notices such a ring and ends; one that branches has more ways through it than can be counted.
    fn plain_ring(&self, schema: &'s Value) -> Option<Vec<&'s Value>> {
        let (mut ring, mut seen) = (Vec::new(), HashSet::new());
        let mut next = Some(schema);
        while let Some(schema) = next.filter(|schema| !self.ringless.borrow().contains(&std::ptr::from_ref(*schema))) {
            if !seen.insert(std::ptr::from_ref(schema)) {
                return Some(ring);
            }
            ring.push(schema);
            next = match self.same_value(schema).as_slice() {
                [one] => Some(one),
                _ => None,
            };
        }
        self.ringless.borrow_mut().extend(seen);
        None
    }

    /// For how many schemas one stands at one place of a value; without an end where it leads back to
    /// itself. What is known is kept by the schema's place in memory.
    fn in_place(&self, schema: &'s Value, known: &mut HashMap<*const Value, usize>, depth: usize) -> usize {
        if depth > DEEPEST {
            return usize::MAX;
        }
        if let Some(count) = known.get(&std::ptr::from_ref(schema)) {
            return *count;
        }
        if let Some(ring) = self.plain_ring(schema) {
            return ring.len();
        }
        // Whoever comes back here while it is counted goes round in a ring that branches.
        known.insert(schema, usize::MAX);
        let below = self.same_value(schema);
        let count =
            below.iter().fold(1_usize, |sum, schema| sum.saturating_add(self.in_place(schema, known, depth + 1)));
        known.insert(schema, count);
        count
    }

    /// Counts the comparisons of a value with a schema; whether there are enough left for them.
    fn steps(&self, schema: &'s Value, value: &Value, left: &mut EffortLeft, depth: usize) -> bool {
        if left.steps == 0 || depth > DEEPEST {
            return false;
        }
        left.steps -= 1;
        if !schema.is_object() {
            return true;
        }
        match self.plain_ring(schema) {
            Some(ring) => ring.into_iter().all(|schema| self.steps_inside(schema, value, left, depth)),
            None => {
                let same = self.same_value(schema);
                same.into_iter().all(|schema| self.steps(schema, value, left, depth + 1))
                    && self.steps_inside(schema, value, left, depth)
            }
        }
    }

    /// Counts the comparisons of what is inside a value with what a schema says of it.
    fn steps_inside(&self, schema: &'s Value, value: &Value, left: &mut EffortLeft, depth: usize) -> bool {
        match value {
            Value::Object(members) => members.iter().all(|(name, member)| {
                if !patterns_of_names(schema).all(|(pattern, _)| left.matches(pattern, name)) {
                    return false;
                }
                if let Some(names) = schema.get("propertyNames")
                    && !self.steps(names, &Value::String(name.clone()), left, depth + 1)
                {
                    return false;
                }
                let own = schema.get("properties").and_then(|properties| properties.get(name));
                let others = ["additionalProperties", "unevaluatedProperties"];
                let others = others.iter().filter_map(|key| schema.get(*key));
                let all = own.into_iter().chain(patterns_of_names(schema).map(|(_, schema)| schema)).chain(others);
                all.into_iter().all(|schema| self.steps(schema, member, left, depth + 1))
            }),
            Value::Array(items) => items.iter().enumerate().all(|(place, item)| {
                let at = |key: &str| schema.get(key).and_then(Value::as_array).and_then(|schemas| schemas.get(place));
                let each = ["items", "additionalItems", "contains", "unevaluatedItems"];
                let each = each.iter().filter_map(|key| schema.get(*key)).filter(|schema| schema.is_object());
                let all = at("prefixItems").into_iter().chain(at("items")).chain(each);
                all.into_iter().all(|schema| self.steps(schema, item, left, depth + 1))
            }),
            Value::String(text) => {
                let pattern = schema.get("pattern").and_then(Value::as_str);
                pattern.is_none_or(|pattern| left.matches(pattern, text))
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// `levels` definitions, each of which refers twice to the next.
    fn doubling(key: &str, levels: usize) -> Value {
        let mut definitions = serde_json::Map::new();
        for level in 0..levels {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            definitions.insert(format!("d{level}"), json!({key: [next, next]}));
        }
        definitions.insert(format!("d{levels}"), json!({"type": "object"}));
        json!({"$defs": definitions, "$ref": "#/$defs/d0"})
    }

    #[test]
    fn what_doubles_at_one_place_is_too_intricate_and_what_goes_into_the_value_is_not() {
        for key in ["allOf", "anyOf", "oneOf"] {
            assert_eq!(too_intricate(&doubling(key, 8)), None);
            for levels in [20, 22, 60, 2_000] {
                assert!(too_intricate(&doubling(key, levels)).is_some(), "{key} {levels}");
            }
        }
        let tree = json!({"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}},
            "items": {"anyOf": [{"$ref": "#"}, {"type": "string"}]}});
        assert_eq!(too_intricate(&tree), None);
        let two = json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"});
        for ring in [json!({"$ref": "#"}), json!({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}}), two] {
            assert_eq!((too_intricate(&ring), effort(&ring, &json!({"x": [1]}))), (None, CheckEffort::Small), "{ring}");
        }
        let branching = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]});
        assert!(too_intricate(&branching).is_some_and(|why| why.contains("itself")));
    }

    #[test]
    fn the_effort_is_that_of_the_value() {
        let twice = json!({"properties": {"a": {"$ref": "#"}}});
        let schema = json!({"anyOf": [twice, twice]});
        let nested = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!({"a": inner}));
        let sizes = [5, 17, 60].map(|depth| effort(&schema, &nested(depth)));
        assert_eq!(sizes, [CheckEffort::Small, CheckEffort::Large, CheckEffort::TooLarge]);
        let list = json!({"items": {"properties": {"a": {"type": "string"}}}});
        assert_eq!(effort(&list, &json!(vec![json!({"a": "x"}); 10_000])), CheckEffort::Small);
    }

    #[test]
    fn patterns_that_go_back_are_counted_and_plain_ones_are_not() {
        let list = json!(vec!["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"; 1_000]);
        let of = |pattern: &str| effort(&json!({"items": {"pattern": pattern}}), &list);
        assert_eq!(["^[a-z]+$", "^(?:a|b)*$"].map(of), [CheckEffort::Small; 2]);
        for pattern in ["^(a|a)*(?=b)c$", "^(a*)*\\1b$", "^(a++)*b$"] {
            assert_eq!(of(pattern), CheckEffort::TooLarge, "{pattern}");
        }
        let named = json!({"propertyNames": {"pattern": "(?=a)b"}});
        let object: Value = (0..1_000).map(|n| (format!("n{n}"), json!(1))).collect::<serde_json::Map<_, _>>().into();
        assert_eq!(effort(&named, &object), CheckEffort::TooLarge);
        let many: Vec<Value> = (0..=MOST_PATTERNS).map(|n| json!({"pattern": format!("^{n}")})).collect();
        assert!(too_intricate(&json!({"properties": {"x": {"enum": many}}})).is_some());
    }
}
