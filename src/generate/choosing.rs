//! Who answers a step: the node, its flow, the flow around it, the caller, the operator, in this order.

use crate::config::{Answers, NO_MODEL};
use crate::model::ModelWish;
use crate::names::nearest;

/// What a caller says of models.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelChoice {
    /// `--model NAME`: who answers steps for which no file names anybody.
    pub usual: Option<String>,
    /// `--model none`: nobody answers anything.
    pub nobody: bool,
    /// `--model OLD=NEW`: who answers instead of whom.
    pub instead: Vec<(String, String)>,
    /// `--answers`: what is done with stored answers; none for what the operator says.
    pub answers: Option<Answers>,
}

impl ModelChoice {
    /// Takes in one value of `--model`: `NAME`, `none` or `OLD=NEW`.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn take(&mut self, text: &str) -> Result<(), String> {
        let text = text.trim();
        match text.split_once('=').map(|(old, new)| (old.trim(), new.trim())) {
            Some((old, new)) if old.is_empty() || new.is_empty() => {
                return Err("one side of OLD=NEW is empty".to_owned());
            }
            Some((old, new)) => self.instead.push((old.to_owned(), new.to_owned())),
            None if text.is_empty() => return Err("it is empty".to_owned()),
            None if text == NO_MODEL => self.nobody = true,
            None if self.usual.as_ref().is_some_and(|usual| usual != text) => {
                return Err("two models are named; OLD=NEW replaces one by another".to_owned());
            }
            None => self.usual = Some(text.to_owned()),
        }
        Ok(())
    }

    /// Nobody answers anything.
    pub fn of_nobody() -> Self {
        Self { nobody: true, ..Self::default() }
    }

    /// The same as values of `--model`, which [`ModelChoice::take`] takes in again, and of `--answers`.
    pub fn words(&self) -> (Vec<String>, Option<String>) {
        let mut words: Vec<String> = self.instead.iter().map(|(old, new)| format!("{old}={new}")).collect();
        words.extend(self.usual.clone());
        words.extend(self.nobody.then(|| NO_MODEL.to_owned()));
        (words, self.answers.map(|answers| answers.word().to_owned()))
    }

    /// The names of models that have to be there for it to make sense.
    pub fn named(&self) -> impl Iterator<Item = &str> {
        let new = self.instead.iter().map(|(_, new)| new.as_str()).filter(|new| *new != NO_MODEL);
        self.usual.as_deref().into_iter().chain(new)
    }
}

/// Who answers a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answerer {
    /// Nobody: its text is its output.
    Nobody,
    /// The model of this name.
    Model(String),
    /// A model that the operator does not have.
    Unknown {
        /// Its name.
        name: String,
        /// The nearest names there are.
        near: Vec<String>,
    },
}

/// Who answers a step: `wish` is what its node, its flow or the flow around it says, `usual` the operator's
/// default, `known` the names of his models. Where he has none, nobody answers.
pub fn who(wish: Option<&ModelWish>, choice: &ModelChoice, usual: Option<&str>, known: &[&str]) -> Answerer {
    if known.is_empty() || choice.nobody {
        return Answerer::Nobody;
    }
    let of_files = match wish {
        Some(ModelWish::Nobody) => return Answerer::Nobody,
        Some(ModelWish::Model(model)) => model.name.as_deref(),
        None => None,
    };
    let Some(name) = of_files.or(choice.usual.as_deref()).or(usual) else { return Answerer::Nobody };
    let name = choice.instead.iter().find(|(old, _)| old == name).map_or(name, |(_, new)| new);
    if name == NO_MODEL {
        Answerer::Nobody
    } else if known.contains(&name) {
        Answerer::Model(name.to_owned())
    } else {
        let near = nearest(name, known.iter().copied(), 2).into_iter().map(str::to_owned).collect();
        Answerer::Unknown { name: name.to_owned(), near }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelUse;

    type Row<'a> = (Option<ModelWish>, &'a [&'a str], Option<&'a str>, &'a [&'a str], Answerer);

    fn chosen(values: &[&str]) -> ModelChoice {
        let mut choice = ModelChoice::default();
        for value in values {
            choice.take(value).unwrap();
        }
        choice
    }

    #[test]
    fn the_first_of_node_flow_caller_and_operator_decides() {
        let named =
            |name: &str| Some(ModelWish::Model(ModelUse { name: Some(name.to_owned()), ..ModelUse::default() }));
        let only_limits = || Some(ModelWish::Model(ModelUse { max_output_tokens: Some(9), ..ModelUse::default() }));
        let known = ["fast", "writer"];
        let none: [&str; 0] = [];
        let model = |name: &str| Answerer::Model(name.to_owned());
        let rows: [Row<'_>; 14] = [
            (None, &[], None, &known, Answerer::Nobody),
            (None, &[], Some("fast"), &known, model("fast")),
            (None, &["writer"], Some("fast"), &known, model("writer")),
            (named("writer"), &["fast"], Some("fast"), &known, model("writer")),
            (only_limits(), &["fast"], None, &known, model("fast")),
            (only_limits(), &[], None, &known, Answerer::Nobody),
            (Some(ModelWish::Nobody), &["fast"], Some("fast"), &known, Answerer::Nobody),
            (named("writer"), &["none"], Some("fast"), &known, Answerer::Nobody),
            (named("writer"), &["writer=fast"], None, &known, model("fast")),
            (None, &["writer=fast"], Some("writer"), &known, model("fast")),
            (
                named("other"),
                &["writer=fast"],
                None,
                &known,
                Answerer::Unknown { name: "other".to_owned(), near: vec![] },
            ),
            (
                named("writr"),
                &[],
                None,
                &known,
                Answerer::Unknown { name: "writr".to_owned(), near: vec!["writer".to_owned()] },
            ),
            (named("writer"), &["writer=none"], Some("fast"), &known, Answerer::Nobody),
            (named("writer"), &["fast"], Some("fast"), &none, Answerer::Nobody),
        ];
        for (number, (wish, given, usual, known, expected)) in rows.into_iter().enumerate() {
            assert_eq!(who(wish.as_ref(), &chosen(given), usual, known), expected, "row {number}");
        }
    }

    #[test]
    fn what_names_no_model_is_refused() {
        for bad in ["", "=x", "x=", " "] {
            assert!(ModelChoice::default().take(bad).is_err(), "{bad:?}");
        }
        assert!(chosen(&["a"]).take("b").is_err());
        assert_eq!(chosen(&["a", "b=c", "d=none"]).named().collect::<Vec<_>>(), ["a", "c"]);
    }
}
