//! The streams: the only place that writes to stdout.
//!
//! A pipe that closes early (`| head`) is no error: what is left is dropped. What each stream can
//! show (colour, width) is found out once.

use std::cell::Cell;
use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal, Write as _};
use std::process::ExitCode;
use std::sync::Mutex;

use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use clap::builder::StyledStr;
use serde::Serialize;
use terminal_size::{Height, Width, terminal_size_of};

use super::args::Color;
use super::help::UNBROKEN;
use crate::app::Error;
use crate::lock::lock;
use crate::names::unprintable;
use crate::report::human::{self, Look};

/// Stdout for results, stderr for everything else.
#[derive(Debug)]
pub(super) struct Printer {
    out_look: Look,
    err_look: Look,
    color: Color,
    quiet: bool,
    lost: Cell<bool>,
}

impl Printer {
    /// The streams of this process.
    pub(super) fn of_process(color: Color, quiet: bool) -> Self {
        let look = |automatic: ColorChoice, terminal: bool, size: Option<(Width, Height)>| Look {
            color: match color {
                Color::Auto => automatic != ColorChoice::Never,
                Color::Always => true,
                Color::Never => false,
            },
            terminal,
            width: size.map(|(width, _)| usize::from(width.0)).filter(|width| terminal && *width > 0),
        };
        let (out, err) = (io::stdout(), io::stderr());
        Self {
            out_look: look(AutoStream::choice(&out), out.is_terminal(), terminal_size_of(&out)),
            err_look: look(AutoStream::choice(&err), err.is_terminal(), terminal_size_of(&err)),
            color,
            quiet,
            lost: Cell::new(false),
        }
    }

    /// How results may look.
    pub(super) fn out_look(&self) -> Look {
        self.out_look
    }

    /// How notes may look.
    pub(super) fn err_look(&self) -> Look {
        self.err_look
    }

    /// Whether only results and errors are wanted.
    pub(super) fn quiet(&self) -> bool {
        self.quiet
    }

    /// The same choice of colour, for help.
    pub(super) fn clap_color(&self) -> clap::ColorChoice {
        match self.color {
            Color::Auto => clap::ColorChoice::Auto,
            Color::Always => clap::ColorChoice::Always,
            Color::Never => clap::ColorChoice::Never,
        }
    }

    /// A result for people, made safe and ending its last line.
    pub(super) fn out(&self, text: &str) {
        let mut text = text.to_owned();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        self.out_exact(&text);
    }

    /// Exactly these bytes.
    fn out_exact(&self, text: &str) {
        self.write_to(io::stdout().lock(), text);
    }

    /// What can't be written for another reason than that nobody reads on (a full disk) is told, once.
    fn write_to(&self, mut out: impl io::Write, text: &str) {
        let Err(cause) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) else { return };
        if cause.kind() != io::ErrorKind::BrokenPipe && !self.lost.replace(true) {
            write_err(&format!("error: the result could not be written: {cause}"));
        }
    }

    /// How the program ends: never well where a result could not be written.
    pub(super) fn exit(&self, code: u8) -> ExitCode {
        ExitCode::from(if self.lost.get() { code.max(1) } else { code })
    }

    /// Help, whose colours are dropped where they are not wanted.
    pub(super) fn out_help(&self, help: &StyledStr) {
        self.out_exact(&page(help, self.out_look.color));
    }

    /// Help that nobody asked for, and why it comes.
    pub(super) fn err_help(&self, help: &StyledStr) {
        write_err(&page(help, self.err_look.color));
    }

    /// A text of a flow: byte-exact, except that a terminal gets no control characters and a last
    /// line that ends.
    pub(super) fn out_text(&self, text: &str) {
        if self.out_look.terminal {
            return self.out(&human::safe_block(text));
        }
        self.out_exact(text);
        // In a log that holds both streams, the next line would stand behind the text's last one.
        if !self.quiet && !text.is_empty() && !text.ends_with('\n') && one_stream() {
            write_err("\n");
        }
    }

    /// A result for programs.
    pub(super) fn json(&self, answer: &impl Serialize) {
        // None of our answers can refuse to be written.
        let text = serde_json::to_string_pretty(answer).unwrap_or_default();
        self.out(&if self.out_look.terminal { escaped(&text) } else { text });
    }

    /// A note, in lines that fit; not when quiet.
    pub(super) fn note(&self, text: &str) {
        self.note_as_it_is(&human::fitted(text, self.err_look));
    }

    /// A note in which texts stand that keep their lines; not when quiet.
    pub(super) fn note_as_it_is(&self, text: &str) {
        if !self.quiet {
            write_err(text);
        }
    }

    /// Whether a person can be asked: stdin and stderr are terminals, and notes are wanted.
    pub(super) fn can_ask(&self) -> bool {
        self.err_look.terminal && io::stdin().is_terminal() && !self.quiet
    }

    /// Asks for one line; none where the person ends the input, or nobody can be asked.
    pub(super) fn ask(&self, question: &str) -> Option<String> {
        if !self.can_ask() {
            return None;
        }
        let mut err = io::stderr().lock();
        drop(err.write_all(question.as_bytes()).and_then(|()| err.flush()));
        let mut line = String::new();
        match io::stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => {
                drop(err.write_all(b"\n"));
                None
            }
            Ok(_) => Some(line.trim_end_matches(['\r', '\n']).to_owned()),
        }
    }

    /// What went wrong.
    pub(super) fn error(&self, error: &Error) {
        write_err(&human::error(error, self.err_look));
    }

    /// What is in the way of an execution, in words that are made already.
    pub(super) fn missing(&self, tell: impl FnOnce(Look) -> String) {
        write_err(&tell(self.err_look));
    }
}

/// A result that is shown on a terminal as it comes, piece by piece.
#[derive(Debug, Default)]
pub(super) struct Streamed {
    so_far: Mutex<SoFar>,
}

/// What was shown of it.
#[derive(Debug, Default)]
struct SoFar {
    text: String,
    /// Whether its last line is not ended.
    open: bool,
}

impl Streamed {
    /// Shows more of it. Each character is judged alone, so it does not matter where a text is cut.
    pub(super) fn more(&self, piece: &str) {
        let mut so_far = lock(&self.so_far);
        so_far.text.push_str(piece);
        so_far.show(&human::safe_block(piece));
    }

    /// Says that what was shown is void.
    pub(super) fn again(&self) {
        let mut so_far = lock(&self.so_far);
        if !so_far.text.is_empty() {
            so_far.end_line();
            so_far.show("[the answer broke off, and begins anew]\n");
            so_far.text.clear();
        }
    }

    /// Ends its last line; whether all of this text was shown, and nothing else.
    pub(super) fn end(&self, whole: Option<&str>) -> bool {
        let mut so_far = lock(&self.so_far);
        so_far.end_line();
        !so_far.text.is_empty() && whole == Some(so_far.text.as_str())
    }
}

impl SoFar {
    fn show(&mut self, text: &str) {
        let mut out = io::stdout().lock();
        // Whether it could be written is told with the whole.
        drop(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
        self.open = if text.is_empty() { self.open } else { !text.ends_with('\n') };
    }

    fn end_line(&mut self) {
        if self.open {
            self.show("\n");
        }
    }
}

/// JSON in which characters that a terminal would obey are escaped: the same values, and nothing that
/// changes how the text around them is shown. Outside of its texts JSON has none of them but line ends.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || !unprintable(c) {
            out.push(c);
            continue;
        }
        let mut units = [0; 2];
        for unit in c.encode_utf16(&mut units) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

/// Whether stdout and stderr are the same pipe or file.
#[cfg(unix)]
fn one_stream() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let file = |path| std::fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
    file("/dev/stdout").is_some_and(|out| Some(out) == file("/dev/stderr"))
}

#[cfg(not(unix))]
fn one_stream() -> bool {
    false
}

/// A page of help as a stream shows it.
fn page(help: &StyledStr, color: bool) -> String {
    let text = help.ansi().to_string().replace(UNBROKEN, " ");
    if color { text } else { strip_str(&text).to_string() }
}

fn write_err(text: &str) {
    if text.is_empty() {
        return;
    }
    let mut err = io::stderr().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    drop(err.write_all(text.as_bytes()).and_then(|()| err.write_all(end.as_bytes())));
}
