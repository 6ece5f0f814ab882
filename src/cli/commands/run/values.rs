//! The values for a flow: from flags, files and stdin.
//!
//! Files come first, in the order given; flags win over them. A name given twice among the flags, or
//! twice in one file, is refused, for one of the two would be lost without a word.

use std::io::ErrorKind;
use std::path::Path;

use serde_json::{Map, Value};

use super::Stop;
use crate::app::{ValuesError, read_values};
use crate::cli::args::ValueArgs;
use crate::config::{Environment, system_says};
use crate::files::{read_named, read_up_to};
use crate::names::quoted;

/// The most that is read from stdin or a file, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;
/// What helps against a key that stands twice.
const KEEP_ONE: &str = "keep one of the two";

/// Everything that was given.
pub(in crate::cli::commands) fn read(args: &ValueArgs, environment: &Environment) -> Result<Map<String, Value>, Stop> {
    let mut all = Map::new();
    let mut stdin_read = false;
    for file in &args.files {
        let text = text_of(file, environment, &mut stdin_read)?;
        let shown = file.display();
        let value = read_values(&text).map_err(|error| {
            let hint = match error {
                ValuesError::NotJson(_) => "give an object, like {\"company\": \"TechCorp\"}",
                ValuesError::Twice { .. } => KEEP_ONE,
            };
            Stop::usage(format!("--vars {shown}: {error}"), hint)
        })?;
        let Value::Object(object) = value else {
            return Err(Stop::usage(
                format!("--vars {shown}: this is JSON, but no object"),
                "give an object, like {\"company\": \"TechCorp\"}",
            ));
        };
        all.extend(object);
    }
    let mut given: Vec<(String, Value)> = Vec::new();
    for pair in &args.vars {
        let (name, text) = split(pair, "--var", "company=TechCorp")?;
        given.push((name.to_owned(), Value::String(text.to_owned())));
    }
    for pair in &args.json_vars {
        let (name, text) = split(pair, "--var-json", "count=3")?;
        let value = read_values(text).map_err(|error| {
            let hint = match error {
                ValuesError::NotJson(_) => {
                    "for text, use --var, or put the text into quotation marks that reach the program"
                }
                ValuesError::Twice { .. } => KEEP_ONE,
            };
            Stop::usage(format!("--var-json {}: {error}", quoted(name)), hint)
        })?;
        given.push((name.to_owned(), value));
    }
    for pair in &args.file_vars {
        let (name, file) = split(pair, "--var-file", "notes=notes.txt")?;
        given.push((name.to_owned(), Value::String(text_of(Path::new(file), environment, &mut stdin_read)?)));
    }
    if let Some(set) = &args.set {
        given.push(("_variableSet".to_owned(), Value::String(set.clone())));
    }
    let mut flags: Map<String, Value> = Map::new();
    for (name, value) in given {
        if flags.insert(name.clone(), value).is_some() {
            return Err(Stop::usage(format!("a value for {} is given twice", quoted(&name)), "give it once"));
        }
    }
    all.extend(flags);
    Ok(all)
}

fn split<'a>(pair: &'a str, flag: &str, example: &str) -> Result<(&'a str, &'a str), Stop> {
    match pair.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim(), value)),
        _ => Err(Stop::usage(
            format!("{flag} {}: a name, =, and a value are needed", quoted(pair)),
            format!("write it like {flag} {example}"),
        )),
    }
}

/// The text of a file, or of stdin for `-`; a byte-order mark is not part of it.
pub(in crate::cli::commands) fn text_of(
    file: &Path,
    environment: &Environment,
    stdin_read: &mut bool,
) -> Result<String, Stop> {
    let from_stdin = file == Path::new("-");
    let shown = if from_stdin { "stdin".to_owned() } else { file.display().to_string() };
    if from_stdin && std::mem::replace(stdin_read, true) {
        return Err(Stop::usage("stdin is asked for twice", "use - once, and files for the rest"));
    }
    let read = if from_stdin {
        read_up_to(std::io::stdin().lock(), LARGEST)
    } else {
        read_named(&environment.resolved(&file.to_string_lossy(), environment.current_folder()), LARGEST)
    };
    let bytes = read.map_err(|cause| {
        let hint = match cause.kind() {
            ErrorKind::FileTooLarge => "give a smaller file",
            _ => "give the path of a text file, or - for stdin",
        };
        Stop::usage(format!("{shown} can't be read: {}", system_says(&cause)), hint)
    })?;
    let text =
        String::from_utf8(bytes).map_err(|_| Stop::usage(format!("{shown} is not UTF-8 text"), "save it as UTF-8"))?;
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}
