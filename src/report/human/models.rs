//! Models, for people.

use super::{BAD, Cell, FAINT, GOOD, Look, NAME, hint, rows as rows_of, time, with_below, wrapped};
use crate::app::{ModelRow, ModelTrial};
use crate::names::shown;

/// The longest text in a line, in characters.
const LINE: usize = 160;

/// All models, one in each line: on a terminal with a mark, elsewhere with tabs between name, provider, model,
/// address and key.
pub fn models(rows: &[ModelRow], look: Look) -> String {
    let key = |row: &ModelRow| match (row.lacks_key(), &row.spec.key_place) {
        (Some(why), _) => format!("no key: {}", shown(why, LINE)),
        (None, Some(place)) => format!("key from {}", shown(place, LINE)),
        (None, None) => "no key needed".to_owned(),
    };
    if look.terminal {
        let cells = |row: &ModelRow| {
            let (mark, style) = if row.lacks_key().is_some() { ("✗", BAD) } else { ("✓", GOOD) };
            let usual = if row.usual { " · the default" } else { "" };
            vec![
                Cell::painted(mark, style),
                Cell::painted(shown(&row.spec.name, LINE), NAME),
                Cell::painted(row.spec.provider.word(), FAINT),
                Cell::plain(match row.lacks_key() {
                    // It stands below, in full.
                    Some(_) => format!("{} · no key{usual}", shown(&row.spec.model, LINE)),
                    None => format!("{} · {}{usual}", shown(&row.spec.model, LINE), key(row)),
                }),
            ]
        };
        let lines = rows_of(&rows.iter().map(cells).collect::<Vec<_>>(), 3, &[], look);
        let why = |row: &ModelRow| row.lacks_key().map(|why| wrapped(&shown(why, LINE), 4, look)).unwrap_or_default();
        return with_below(&lines, rows.iter().map(why));
    }
    let line = |row: &ModelRow| {
        let spec = &row.spec;
        let texts = [&spec.name, spec.provider.word(), &spec.model, &spec.base_url];
        let mut line: Vec<String> = texts.iter().map(|text| shown(text, LINE)).collect();
        line.push(key(row));
        format!("{}\n", line.join("\t"))
    };
    rows.iter().map(line).collect()
}

/// What to do next.
pub fn models_notes(rows: &[ModelRow], look: Look) -> String {
    let told = if rows.is_empty() {
        "no model is configured: texts are filled in, and your client's model answers them. A section [models.NAME] in your \
         own flowy.toml (`flowy/flowy.toml` in your config folder) configures one; docs/MODELS.md shows it"
    } else {
        "`flowy models check NAME` asks one for a word; `flowy run FLOW --model NAME` lets it answer"
    };
    format!("{}\n", hint(told, look))
}

/// That a model answered.
pub fn model_trial(trial: &ModelTrial) -> String {
    let (input, output) = (trial.usage.input, trial.usage.output);
    format!("{} answers: {}, {input} + {output} tokens\n", shown(&trial.model, LINE), time(trial.took))
}
