//! What the caller gives, and why it may be refused: unknown set, misfit, missing, in this order.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value};

use crate::model::{ValueType, is_among, text_of};
use crate::names::{Comparisons, Few, few, nearly_same, nfc, quoted};
use crate::plan::{Input, Plan, Terms, Work};

/// The selector of variable sets.
const SET_SELECTOR: &str = "_variableSet";
/// Its old spelling: the set's name follows.
const OLD_SET_SELECTOR: &str = "_useSet_";
/// What the names of steps' outputs end in.
pub(super) const OUTPUT_ENDS: [&str; 2] = ["_result", "_template"];

/// Values by name in NFC, and the chosen set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Given {
    /// The values; null counts as not given.
    pub values: BTreeMap<String, Value>,
    /// The chosen variable set, in NFC.
    pub set: Option<String>,
    /// Names whose values are not there yet, because the call is only rehearsed: they count as given.
    pub pending: BTreeSet<String>,
}

/// Why nothing ran.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// No step has a variable set of that name.
    #[error("there is no variable set {}", quoted(name))]
    UnknownSet {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// The set's name is not a text.
    #[error("`_variableSet` takes the name of a set, as text")]
    SetNotText,
    /// One name, or the choice of a set, in two spellings with different values.
    #[error("{} is given twice, with different values", quoted(.0))]
    GivenTwice(String),
    /// Values that do not fit what `inputs` says.
    #[error("{}", Few::of(.0.iter().map(ToString::to_string)).joined("; "))]
    Misfit(Vec<Unfit>),
    /// Values that nobody gives.
    #[error("missing: {}", few(missing.iter().map(|(name, _)| name)))]
    Missing {
        /// The names given.
        provided: Vec<String>,
        /// Every name that is required.
        required: Vec<String>,
        /// The missing names, each with the ids of the steps that need it.
        missing: Vec<(String, Vec<String>)>,
        /// Given names that look like misspelt missing ones: given, missing.
        misspelt: Vec<(String, String)>,
        /// What helps to give them.
        wanted: Box<Wanted>,
    },
}

/// What helps to give the values that are missing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wanted {
    /// What is known of them, in the order in which they are missing.
    pub inputs: Vec<Input>,
    /// The variable sets that give at least one of them, in the order of the plan.
    pub sets: Vec<Helpful>,
    /// Missing names that look like misspelt outputs of steps: missing, output.
    pub slips: Vec<(String, String)>,
}

/// A variable set that gives something of what is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Helpful {
    /// Its name.
    pub name: String,
    /// The missing names that it gives.
    pub gives: Vec<String>,
    /// The missing names that it leaves to the caller.
    pub leaves: Vec<String>,
}

impl Helpful {
    /// What it does for what is missing, in words that follow its name.
    pub fn what(&self) -> String {
        if self.leaves.is_empty() {
            return "gives all that is missing".to_owned();
        }
        format!("gives {}, but not {}", few(&self.gives), few(&self.leaves))
    }
}

impl Wanted {
    /// The variable sets that help, each with what it gives and what it leaves.
    pub fn told_sets(&self) -> String {
        few(self.sets.iter().map(|set| format!("_variableSet {} {}", quoted(&set.name), set.what())))
    }

    /// The missing names that look like slips of the flow, each with the output that is probably meant.
    pub fn told_slips(&self) -> String {
        few(self.slips.iter().map(|(name, meant)| format!("{{{name}}} is probably the output {{{meant}}}, misspelt")))
    }

    /// What to write for a missing name: the first of its choices, else a value of its type.
    pub fn sample(&self, name: &str) -> Value {
        self.inputs.iter().find(|input| input.name == name).map_or_else(|| ValueType::String.sample(), Input::sample)
    }
}

/// One value that does not fit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{} is {}, and {expected}", quoted(name), quoted(&text_of(value)))]
pub struct Unfit {
    /// The variable.
    pub name: String,
    /// The value given.
    pub value: Value,
    /// What would fit, in words.
    pub expected: String,
    /// A value that fits.
    pub sample: Value,
}

impl Given {
    /// Reads what the caller gave: selectors out, nulls out, names in NFC.
    ///
    /// # Errors
    /// [`Refusal::SetNotText`] or [`Refusal::GivenTwice`].
    pub fn read(variables: &Map<String, Value>) -> Result<Self, Refusal> {
        let mut given = Self::default();
        for (name, value) in variables {
            let set = if name == SET_SELECTOR {
                match value {
                    Value::String(set) => Some(set.as_str()).filter(|set| !set.is_empty()),
                    Value::Null => None,
                    Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                        return Err(Refusal::SetNotText);
                    }
                }
            } else if let Some(set) = name.strip_prefix(OLD_SET_SELECTOR) {
                (!matches!(value, Value::Null | Value::Bool(false))).then_some(set)
            } else {
                if value.is_null() {
                    continue;
                }
                let normal = if name.is_ascii() { name.clone() } else { nfc(name) };
                if given.values.insert(normal, value.clone()).is_some_and(|before| before != *value) {
                    return Err(Refusal::GivenTwice(nfc(name)));
                }
                continue;
            };
            let Some(set) = set.map(nfc) else { continue };
            if given.set.replace(set.clone()).is_some_and(|before| before != set) {
                return Err(Refusal::GivenTwice(SET_SELECTOR.to_owned()));
            }
        }
        Ok(given)
    }

    /// Whether a name that no step reads may be meant to choose a variable set.
    pub(super) fn is_nearly_selector(name: &str) -> bool {
        let plain: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        plain == "set" || plain.starts_with("useset") || nearly_same(&plain, "variableset")
    }

    /// Whether a flow that asks for this can run with it.
    ///
    /// # Errors
    /// The first kind of refusal that applies, with everything of that kind.
    pub fn check(&self, terms: Terms<'_>) -> Result<(), Refusal> {
        self.check_values(terms)?;
        let missing = self.lacking(terms);
        if missing.is_empty() {
            return Ok(());
        }
        let provided: Vec<String> = self.values.keys().cloned().collect();
        let by_name: HashMap<&str, &Input> = terms.inputs.iter().map(|input| (input.name.as_str(), input)).collect();
        let comparisons = Comparisons::default();
        let misspelt = provided
            .iter()
            .filter(|name| !by_name.contains_key(name.as_str()))
            .filter_map(|name| {
                let missing = missing.iter().map(|(name, _)| name.as_str());
                let meant = comparisons.nearest(name, missing, 1);
                meant.first().map(|&meant| (name.clone(), meant.to_owned()))
            })
            .collect();
        let required = terms.inputs.iter().filter(|input| input.required).map(|input| input.name.clone()).collect();
        let known = missing.iter().filter_map(|(name, _)| by_name.get(name.as_str()).copied());
        let (inputs, sets) = (known.cloned().collect(), self.sets_that_help(terms, &missing));
        let stems: Vec<String> = terms.step_ids().map(|id| id.replace('-', "")).collect();
        let slip = |(name, _): &(String, Vec<String>)| {
            let end = OUTPUT_ENDS.iter().find(|end| name.ends_with(*end))?;
            let near = comparisons.nearest(name.strip_suffix(end)?, stems.iter().map(String::as_str), 1);
            Some((name.clone(), format!("{}{end}", near.first()?)))
        };
        let slips = missing.iter().filter_map(slip).collect();
        let wanted = Wanted { inputs, sets, slips };
        Err(Refusal::Missing { provided, required, missing, misspelt, wanted: Box::new(wanted) })
    }

    /// The variable sets that give something of what is missing.
    fn sets_that_help(&self, terms: Terms<'_>, missing: &[(String, Vec<String>)]) -> Vec<Helpful> {
        let all = terms.given_by_sets(|name| self.gives(name));
        let helpful = terms.sets.iter().map(|set| {
            let of_set = all.get(set.as_str()).map(Vec::as_slice).unwrap_or_default();
            let names = missing.iter().map(|(name, _)| name.clone());
            let (gives, leaves) = names.partition(|name| of_set.contains(&name.as_str()));
            Helpful { name: set.clone(), gives, leaves }
        });
        helpful.filter(|set| !set.gives.is_empty()).collect()
    }

    fn gives(&self, name: &str) -> bool {
        self.values.contains_key(name) || self.pending.contains(name)
    }

    /// Whether the chosen set is there and every value fits; what is missing is not looked at.
    ///
    /// # Errors
    /// [`Refusal::UnknownSet`] or [`Refusal::Misfit`].
    pub fn check_values(&self, terms: Terms<'_>) -> Result<(), Refusal> {
        if let Some(set) = &self.set
            && !terms.sets.iter().any(|known| nfc(known) == *set)
        {
            return Err(Refusal::UnknownSet { name: set.clone(), known: terms.sets.to_vec() });
        }
        let mut unfit = Vec::new();
        for input in terms.inputs {
            let Some(value) = self.values.get(&input.name) else { continue };
            if let Some(kind) = input.held_to
                && !kind.fits(value)
            {
                unfit.push(Unfit {
                    name: input.name.clone(),
                    value: value.clone(),
                    expected: format!("its type is {kind}"),
                    sample: input.sample(),
                });
            } else if !input.choices.is_empty() && !is_among(&input.choices, value, input.held_to) {
                let choices = few(input.choices.iter().map(|choice| quoted(&text_of(choice))));
                unfit.push(Unfit {
                    name: input.name.clone(),
                    value: value.clone(),
                    expected: format!("only {choices} are allowed"),
                    sample: input.sample(),
                });
            }
        }
        if unfit.is_empty() { Ok(()) } else { Err(Refusal::Misfit(unfit)) }
    }

    /// Required names that neither the caller nor the chosen set gives, with the steps that need them.
    pub fn missing(&self, plan: &Plan) -> Vec<(String, Vec<String>)> {
        self.lacking(plan.terms())
    }

    fn lacking(&self, terms: Terms<'_>) -> Vec<(String, Vec<String>)> {
        terms.lacking(self.set.as_deref(), |name| self.gives(name))
    }

    /// What the chosen set gives one step for a name.
    pub fn of_set<'p>(&self, work: &'p Work, name: &str) -> Option<&'p Value> {
        work.of_set(self.set.as_deref(), name)
    }
}
