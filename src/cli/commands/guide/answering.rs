//! Where answers come from: a program, an editor, the terminal or a pipe. No shell is started.

use std::io::{self, BufRead as _, ErrorKind, IsTerminal as _, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::app::{Code, Error};
use crate::cli::commands::{Stop, World};
use crate::cli::printer::Printer;
use crate::config::system_says;
use crate::files::{new_private, read_up_to};
use crate::names::{quoted, shown};

/// The largest answer, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;
/// What stands between an answer and the step that it is for.
const BELOW: &str = "----- Write the answer above this line. What is below is the step. -----";

/// Who answers steps.
pub(super) enum Answerer {
    /// A program, by its words.
    Program(Vec<String>),
    /// The person at the terminal, in this editor.
    Editor(Vec<String>),
    /// The person at the terminal, line by line.
    Terminal,
    /// What stands on stdin, answer after answer.
    Pipe,
}

impl Answerer {
    /// Who answers here.
    pub(super) fn of(program: Option<&str>, world: &World<'_>) -> Result<Self, Stop> {
        let words = |flag: &str, text: &str| {
            let words = words(text).filter(|words| words.first().is_some_and(|program| !program.is_empty()));
            words.ok_or_else(|| {
                Stop::usage(
                    format!("{flag} {} is no command", quoted(text)),
                    "give a program and its arguments, apart by blanks; quotation marks hold a word together",
                )
            })
        };
        if let Some(program) = program {
            return Ok(Self::Program(words("--with", program)?));
        }
        if world.printer.can_ask() {
            let editor = world.environment.editor();
            return editor.map_or(Ok(Self::Terminal), |editor| Ok(Self::Editor(words("the editor", &editor)?)));
        }
        if io::stdin().is_terminal() {
            return Err(Stop::usage(
                "nobody can answer the steps: they are shown on stderr, which is no terminal or is kept quiet",
                "leave stderr on the terminal, give answers on stdin, or name a program with --with",
            ));
        }
        Ok(Self::Pipe)
    }

    /// Whether a person answers, who may try as often as he likes.
    pub(super) fn is_person(&self) -> bool {
        matches!(self, Self::Editor(_) | Self::Terminal)
    }

    /// How answers are given, for whoever sees the first step.
    pub(super) fn rules(&self) -> String {
        let how = match self {
            Self::Program(words) => format!("{} answers each step", shown(&words.join(" "), 200)),
            Self::Editor(_) => "you answer each step in your editor".to_owned(),
            Self::Terminal => "type the answer to each step, then a line with a single dot".to_owned(),
            Self::Pipe => "stdin answers each step, up to a line with a single dot".to_owned(),
        };
        format!("{how}; an answer that breaks the contract is refused, and the step is asked again")
    }

    /// An answer to a step, and `before`, the answer that was refused; none where nobody gives one.
    pub(super) fn answer(&self, step: &str, before: Option<&str>, world: &World<'_>) -> Result<Option<String>, Stop> {
        let answer = match self {
            Self::Program(words) => Some(of_program(words, step)?),
            Self::Editor(words) => Some(of_editor(words, step, before, world)?),
            Self::Terminal => of_stdin(Some(world.printer))?,
            Self::Pipe => of_stdin(None)?,
        };
        Ok(answer.map(|answer| answer.trim_end_matches(['\r', '\n']).to_owned()))
    }
}

/// The words of a command: blanks part them, quotation marks of either kind hold a word together. None where a
/// quotation does not end.
fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let (mut word, mut quote): (Option<String>, Option<char>) = (None, None);
    for c in text.chars() {
        match quote {
            Some(open) if open == c => quote = None,
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            Some(_) | None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// What keeps a program from answering; the step stays open.
fn broken(program: &str, what: &str, exit: u8) -> Stop {
    let code = if exit == 2 { Code::InvalidRequest } else { Code::ExecutionError };
    Stop::failed(Error::new(code, format!("{} {what}", quoted(program))), exit)
}

fn not_started(program: &str, error: &io::Error) -> Stop {
    broken(program, &format!("can't be started: {}", system_says(error)), 2)
}

/// What a program answers: the step is its stdin, the answer its stdout.
fn of_program(words: &[String], step: &str) -> Result<String, Stop> {
    let [program, arguments @ ..] = words else { return Ok(String::new()) };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| not_started(program, &error))?;
    let (stdin, step) = (child.stdin.take(), step.to_owned());
    // Beside reading, or both wait for each other. A program may answer without having read everything.
    let writing = std::thread::spawn(move || drop(stdin.map(|mut stdin| stdin.write_all(step.as_bytes()))));
    let read = child.stdout.take().map_or_else(|| Ok(Vec::new()), |stdout| read_up_to(stdout, LARGEST));
    if read.is_err() {
        // What it still has to say is wanted by nobody.
        drop(child.kill());
    }
    let status = child.wait().map_err(|error| broken(program, &format!("can't be waited for: {error}"), 1))?;
    drop(writing.join());
    let bytes = read.map_err(|error| broken(program, &format!("answered, but {}", system_says(&error)), 1))?;
    if !status.success() {
        return Err(broken(program, &format!("did not answer ({status})"), 1));
    }
    String::from_utf8(bytes).map_err(|_| broken(program, "answered with bytes that are not UTF-8 text", 1))
}

/// What a person writes in an editor, above the step.
fn of_editor(words: &[String], step: &str, before: Option<&str>, world: &World<'_>) -> Result<String, Stop> {
    let [program, arguments @ ..] = words else { return Ok(String::new()) };
    let draft = Draft::begin(&format!("{}\n\n{BELOW}\n\n{step}\n", before.unwrap_or_default()), world)?;
    let mut command = Command::new(program);
    // Stdout is for the result, and may be a file: the terminal is where notes go.
    command.args(arguments).arg(&draft.file).stdout(io::stderr());
    let status = command.status().map_err(|error| not_started(program, &error))?;
    if !status.success() {
        return Err(broken(program, &format!("ended without an answer ({status})"), 1));
    }
    let written = std::fs::File::open(&draft.file).and_then(|file| read_up_to(file, LARGEST));
    let bytes = written.map_err(|error| broken(program, &format!("wrote what can't be read: {error}"), 1))?;
    let text = String::from_utf8(bytes).map_err(|_| broken(program, "wrote bytes that are not UTF-8 text", 1))?;
    Ok(text.split(BELOW).next().unwrap_or_default().trim().to_owned())
}

/// A file to write an answer into, which nobody else may read; gone when dropped.
struct Draft {
    file: PathBuf,
}

impl Draft {
    fn begin(text: &str, world: &World<'_>) -> Result<Self, Stop> {
        let unwritten = |error: &io::Error| {
            let message = format!("a draft for the editor can't be written: {}", system_says(error));
            Stop::failed(Error::new(Code::ExecutionError, message), 1)
        };
        loop {
            let name = format!("flowy-answer-{:016x}.md", world.clock.fresh());
            let file = world.environment.temporary().join(name);
            match new_private(&file) {
                Ok(mut new) => {
                    let draft = Self { file };
                    new.write_all(text.as_bytes()).map_err(|error| unwritten(&error))?;
                    return Ok(draft);
                }
                // It is somebody else's, and stays.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(unwritten(&error)),
            }
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.file));
    }
}

/// An answer of several lines: it ends with a line that is a single dot, or with the input. None where the input has
/// ended.
fn of_stdin(terminal: Option<&Printer>) -> Result<Option<String>, Stop> {
    if let Some(printer) = terminal {
        printer.note("\nYour answer:");
    }
    let unreadable = |what: &str| Stop::usage(format!("stdin {what}"), "give the answer as UTF-8 text");
    let mut input = io::stdin().lock();
    let (mut answer, mut any) = (String::new(), false);
    loop {
        let room = LARGEST.saturating_sub(u64::try_from(answer.len()).unwrap_or(LARGEST));
        let mut line = Vec::new();
        let read = input.by_ref().take(room).read_until(b'\n', &mut line);
        let read = read.map_err(|error| unreadable(&format!("can't be read: {}", system_says(&error))))?;
        if read == 0 {
            return if room == 0 {
                Err(unreadable(&format!("has an answer that is larger than {LARGEST} bytes")))
            } else {
                Ok(any.then_some(answer))
            };
        }
        any = true;
        let line = String::from_utf8(line).map_err(|_| unreadable("is not UTF-8 text"))?;
        if line.trim_end_matches(['\r', '\n']) == "." {
            return Ok(Some(answer));
        }
        answer.push_str(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_words_that_quotation_marks_hold_together() {
        let of = |text| words(text).map(|words| words.join("|"));
        assert_eq!(of("llm -m  gpt-5").as_deref(), Some("llm|-m|gpt-5"));
        assert_eq!(of(r#"'/my tools/llm' -s "it's"x '' $HOME;"#).as_deref(), Some("/my tools/llm|-s|it'sx||$HOME;"));
        assert_eq!((of("llm 'open").as_deref(), of(" ").as_deref()), (None, Some("")));
    }
}
