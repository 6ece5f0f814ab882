//! Findings as code frames: the lines of the file with the place underlined.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::{
    BAD, DOUBTFUL, FAINT, GOOD, HEADING, Look, age, count, error as told, faint, fitted, folded, grouped, hanging,
};
use crate::app::{BaselineNote, CheckedFile, Checkup};
use crate::document::{Position, Span};
use crate::names::{invisible, quoted, shown};
use crate::validate::{Finding, Reach, Related, Severity, mending_of};

/// The longest message or hint, in characters.
const LONGEST: usize = 1_000;
/// A line longer than this is cut around the place, in bytes: some exports are one single line of a
/// megabyte.
const LONGEST_LINE: usize = 2_000;
/// What stands before a note: the margin of the frame, and `= help: `.
const BEFORE_NOTE: usize = 14;
/// The most findings of one file that are framed.
const MOST_FRAMES: usize = 50;
/// From so many findings on they are counted by rule.
const MANY: usize = 20;

/// Every finding in its frame, and a line that sums up.
pub fn checkup(checkup: &Checkup, look: Look) -> String {
    let mut text = String::new();
    for file in &checkup.files {
        if let Some(problem) = &file.unreadable {
            let _ = writeln!(text, "{}: {}", look.paint(HEADING, &shown(&file.shown, 300)), told(problem, look));
        }
        for finding in file.findings.iter().take(MOST_FRAMES) {
            text.push_str(&frame(finding, file, look));
            text.push_str("\n\n");
        }
        if file.findings.len() > MOST_FRAMES {
            let more = file.findings.len() - MOST_FRAMES;
            let _ = writeln!(
                text,
                "{}: {} more; --json has them all\n",
                shown(&file.shown, 300),
                count(more, "finding", "findings")
            );
        }
    }
    text + &fitted(&summary(checkup, look), look)
}

/// One short line for each finding: `file:line:column: severity[rule]: message`.
pub fn checkup_lines(checkup: &Checkup) -> String {
    let mut text = String::new();
    for file in &checkup.files {
        let name = shown(&file.shown, 300);
        if let Some(problem) = &file.unreadable {
            let _ = writeln!(text, "{name}: error[{}]: {}", problem.code.word(), shown(&problem.message, LONGEST));
        }
        for finding in &file.findings {
            let Position { line, column } = finding.position;
            let message = shown(&finding.message, LONGEST);
            let _ = writeln!(text, "{name}:{line}:{column}: {}[{}]: {message}", finding.severity, finding.rule);
        }
    }
    for catalog in &checkup.empty {
        let _ = writeln!(text, "warning: {}", none_in(catalog));
    }
    text
}

fn none_in(catalog: &str) -> String {
    format!("0 flows: {} has no flow files in flows/", shown(catalog, 300))
}

/// What the calls of external tools were checked against, where that is not what the servers say now.
fn tool_notes(checkup: &Checkup) -> Vec<String> {
    let kept = checkup.kept_tools.iter().map(|kept| {
        let server = shown(&kept.server, 100);
        let then = if kept.age_seconds == 0 { "now".to_owned() } else { format!("{} ago", age(kept.age_seconds)) };
        format!(
            "calls of the server {} are checked against its tools as of {then}; `flowy servers tools {server}` asks it",
            quoted(&server)
        )
    });
    let left = (checkup.calls_left > 0).then(|| {
        let calls = count(checkup.calls_left, "call of an external tool", "calls of external tools");
        format!("{calls} not looked up: --servers FILE names the servers")
    });
    kept.chain(left).collect()
}

fn summary(checkup: &Checkup, look: Look) -> String {
    let files = checkup.files.len();
    let alone: Vec<String> =
        checkup.files.iter().filter(|file| file.alone).map(|file| shown(&file.shown, 300)).collect();
    let mut text = String::new();
    if !alone.is_empty() {
        let what = if alone.len() > 4 { count(alone.len(), "file", "files") } else { alone.join(", ") };
        let why = "no flows/ folder around it: references to templates not checked";
        text.push_str(&faint(&format!("{what}: {why}"), look));
    }
    for note in tool_notes(checkup) {
        text.push_str(&faint(&note, look));
    }
    if let Some(since) = &checkup.since {
        let commit = since.commit.get(..7).unwrap_or(&since.commit);
        let changed = count(since.changed, "file", "files");
        let note = format!("since {} ({commit}): {changed} changed", shown(&since.git_ref, 200));
        text.push_str(&faint(&note, look));
    }
    for note in &checkup.baselines {
        text.push_str(&faint(&baseline_note(note), look));
    }
    let counts = [
        (checkup.count(Severity::Error), "error", "errors", BAD),
        (checkup.count(Severity::Warning), "warning", "warnings", DOUBTFUL),
        (checkup.count(Severity::Info), "remark", "remarks", FAINT),
    ];
    for catalog in &checkup.empty {
        text.push_str(&super::warning(&none_in(catalog), look));
    }
    let place = match checkup.catalogs.as_slice() {
        [] => String::new(),
        catalogs => format!(" of {}", catalogs.iter().map(|name| shown(name, 300)).collect::<Vec<_>>().join(" and ")),
    };
    let suppressed = match checkup.suppressed() {
        0 => String::new(),
        some => format!("; {some} suppressed"),
    };
    let said: Vec<String> = counts
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, one, many, style)| look.paint(style, &count(number, one, many)))
        .collect();
    if said.is_empty() {
        let (flows, templates) =
            (count(checkup.flows, "flow", "flows"), count(checkup.templates, "template", "templates"));
        let what = match checkup.tests {
            0 => format!("{flows} and {templates}"),
            tests => format!("{flows}, {templates} and {}", count(tests, "test", "tests")),
        };
        let _ = writeln!(
            text,
            "{}: {what} in {}{place}, nothing found{suppressed}",
            look.paint(GOOD, "ok"),
            count(files, "file", "files")
        );
    } else {
        let with = checkup.files.iter().filter(|file| !file.findings.is_empty() || file.unreadable.is_some()).count();
        let _ = writeln!(text, "{} in {with} of {}{place}{suppressed}", said.join(", "), count(files, "file", "files"));
        if checkup.files.iter().any(|file| !file.findings.is_empty()) {
            text.push_str(&by_rule(checkup, look));
            text.push_str("`flowy explain RULE` explains a rule\n");
        }
        let whole = |finding: &Finding| finding.severity == Severity::Error && finding.reach == Reach::Flow;
        if checkup.files.iter().flat_map(|file| &file.findings).any(whole) {
            text.push_str("Some checks run only after the errors that stop a whole flow are fixed.\n");
        }
        text.push_str(&mendable(checkup));
    }
    text
}

/// How many findings there are of each rule, most first, where there are too many to count them by eye.
fn by_rule(checkup: &Checkup, look: Look) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in checkup.files.iter().flat_map(|file| &file.findings) {
        *counts.entry(finding.rule).or_default() += 1;
    }
    if counts.values().sum::<usize>() < MANY || counts.len() < 2 {
        return String::new();
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    let rules: Vec<String> = counts.into_iter().map(|(rule, number)| format!("{} {rule}", grouped(number))).collect();
    hanging("", &rules.join(", "), 2, look)
}

/// How many findings can be mended, where any can and the files are here.
fn mendable(checkup: &Checkup) -> String {
    let here = checkup.files.iter().filter(|file| file.path.is_some());
    let all: Vec<bool> =
        here.flat_map(|file| &file.findings).filter_map(|finding| Some(mending_of(finding)?.1)).collect();
    let safe = all.iter().filter(|safe| **safe).count();
    let risky = all.len() - safe;
    let told = |number: usize| count(number, "finding", "findings");
    match (safe, risky) {
        (0, 0) => String::new(),
        (safe, 0) => format!("`flowy validate --fix` mends {}; --diff only shows how\n", told(safe)),
        (0, risky) => format!("`flowy validate --fix=unsafe` mends {}; --diff only shows how\n", told(risky)),
        (safe, risky) => format!(
            "`flowy validate --fix` mends {}, and --fix=unsafe {risky} more; --diff only shows how\n",
            told(safe)
        ),
    }
}

fn baseline_note(note: &BaselineNote) -> String {
    let path = shown(&note.path.to_string_lossy(), 300);
    match (note.written, note.gone) {
        (Some(written), _) => {
            let barred = [
                (note.stopping, "stops a whole flow", "stop a whole flow"),
                (note.never, "is of a rule that can't be suppressed", "are of rules that can't be suppressed"),
            ];
            let barred = barred.into_iter().filter(|(number, ..)| *number > 0).map(|(number, one, many)| {
                format!(
                    "; {number} left out, because {}",
                    if number == 1 { format!("it {one}") } else { format!("they {many}") }
                )
            });
            format!("{path}: {} written{}", count(written, "finding", "findings"), barred.collect::<String>())
        }
        (None, 0) => format!("{path}: used"),
        (None, gone) => {
            let gone = count(gone, "finding is", "findings are");
            format!("{path}: {gone} no longer there; --baseline write takes them out")
        }
    }
}

pub(super) fn frame(finding: &Finding, file: &CheckedFile, look: Look) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let (path, window) = (shown(&file.shown, 300), Window::around(finding));
    let of_cause = finding.cause.as_deref().filter(|cause| !cause.text.is_empty());
    let of_cause = of_cause.map(|cause| (shown(&beside(file, finding, cause), 300), Window::around(cause), cause));
    // What stands before a message, with a digit or two for the frame's margin.
    let before_title = finding.severity.to_string().len() + finding.rule.len() + 4;
    let fitting = |text: &str, taken: usize| {
        let text = shown(text, LONGEST);
        let room = look.columns().saturating_sub(taken);
        if look.terminal { folded(&text, room, room).join("\n") } else { text }
    };
    let mut group = Group::with_title(level.primary_title(fitting(&finding.message, before_title)).id(finding.rule));
    if let Some((path, window, cause)) = &of_cause {
        let (origin, snippet) = window.snippet(path, cause);
        group = group.elements(origin);
        group = group.element(snippet.annotation(AnnotationKind::Primary.span(window.within(cause.span))));
    }
    let (origin, mut snippet) = window.snippet(&path, finding);
    group = group.elements(origin);
    let place = window.within(finding.span);
    snippet = snippet.annotation(match of_cause {
        Some(_) => AnnotationKind::Context.span(place).label("named here"),
        None => AnnotationKind::Primary.span(place),
    });
    // Of two marks far apart in long lines, a screen shows one, and a note tells of the other.
    let room = look.columns().saturating_sub(BEFORE_NOTE);
    let beside = |related: &Related| {
        let apart = related.position.column.abs_diff(finding.position.column);
        let taken = apart + related.span.end.saturating_sub(related.span.start) + related.label.len();
        window.holds(related.span).filter(|_| !look.terminal || taken <= room)
    };
    for related in &finding.related {
        if let Some(span) = beside(related) {
            snippet = snippet.annotation(AnnotationKind::Context.span(span).label(shown(&related.label, LONGEST)));
        }
    }
    // Where a file as such is meant, there are no lines to show.
    if !finding.text.is_empty() {
        group = group.element(snippet);
    }
    for related in finding.related.iter().filter(|related| beside(related).is_none()) {
        let Position { line, column } = related.position;
        let note = format!("line {line}, column {column}: {}", shown(&related.label, LONGEST));
        group = group.element(Level::NOTE.message(fitting(&note, BEFORE_NOTE)));
    }
    for hint in &finding.hints {
        group = group.element(Level::HELP.message(fitting(hint, BEFORE_NOTE)));
    }
    let renderer = if look.color { Renderer::styled() } else { Renderer::plain() };
    let text = renderer.decor_style(DecorStyle::Ascii).term_width(look.columns()).render(&[group]);
    if !window.cut && of_cause.is_none_or(|(_, window, _)| !window.cut) {
        return text;
    }
    // A snippet without a path of its own is announced by a line that points nowhere.
    let lines: Vec<&str> = text.lines().filter(|line| !(line.contains("::: ") && line.len() < 40)).collect();
    lines.join("\n")
}

/// That the settings name another source than the catalog that was checked.
pub fn passed_over(source: &str) -> String {
    let source = shown(source, 200);
    format!(
        "This checks the catalog around the current folder. The settings name another source, which `flowy run` and \
         `flowy list` read: `flowy validate --source {source}` checks that one."
    )
}

/// How the file of a cause is shown beside a file of the same catalog.
fn beside(file: &CheckedFile, finding: &Finding, cause: &Finding) -> String {
    match file.shown.strip_suffix(finding.file.as_str()) {
        Some(catalog) => format!("{catalog}{}", cause.file),
        None => cause.file.to_string(),
    }
}

/// A text with signs in the place of invisible characters, each as long as what it stands for, so that
/// places in it stay what they are.
fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(invisible) {
        return Cow::Borrowed(text);
    }
    let seen = |c: char| match c.len_utf8() {
        _ if !invisible(c) => c.to_string(),
        3 => "\u{FFFD}".to_owned(),
        _ => "\u{B7}\u{B7}".to_owned(),
    };
    Cow::Owned(text.chars().map(seen).collect())
}

/// The part of a file that a frame shows: whole lines, unless one is very long.
struct Window<'t> {
    text: &'t str,
    start: usize,
    first_line: usize,
    /// Whether it begins or ends within a line.
    cut: bool,
}

impl<'t> Window<'t> {
    fn around(finding: &'t Finding) -> Self {
        let whole: &str = &finding.text;
        let inside = |at: usize| {
            let mut at = at.min(whole.len());
            while !whole.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let primary = (inside(finding.span.start), inside(finding.span.end));
        let line_of = |from: usize, to: usize| {
            let start = whole.get(..from).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
            let end = whole.get(to..).and_then(|after| after.find('\n')).map_or(whole.len(), |at| to + at);
            (start, end)
        };
        let (mut start, mut end) = line_of(primary.0, primary.1);
        for related in &finding.related {
            let (from, to) = line_of(inside(related.span.start), inside(related.span.end));
            (start, end) = (start.min(from), end.max(to));
        }
        let longest = whole.get(start..end).unwrap_or_default().lines().map(str::len).max().unwrap_or(0);
        let cut = longest > LONGEST_LINE;
        if cut {
            // What stands around the place is enough.
            let (line_start, line_end) = line_of(primary.0, primary.0);
            start = inside(primary.0.saturating_sub(LONGEST_LINE / 4)).max(line_start);
            end = inside(primary.1.min(primary.0 + LONGEST_LINE / 2) + LONGEST_LINE / 4).min(line_end);
        }
        let first_line = Position::of(whole, start).line;
        Self { text: whole.get(start..end).unwrap_or_default(), start, first_line, cut }
    }

    /// The lines under their path. Where the window cuts a line, or there is no text, an origin says the place:
    /// the snippet would count columns from where the window begins.
    fn snippet(&self, path: &str, finding: &Finding) -> (Option<Origin<'static>>, Snippet<'t, Annotation<'t>>) {
        let snippet = Snippet::source(visible(self.text)).line_start(self.first_line);
        if self.cut || finding.text.is_empty() {
            let Position { line, column } = finding.position;
            (Some(Origin::path(path.to_owned()).line(line).char_column(column)), snippet)
        } else {
            (None, snippet.path(path.to_owned()))
        }
    }

    /// A range within the window; cut where it sticks out.
    fn within(&self, span: Span) -> std::ops::Range<usize> {
        let clamp = |at: usize| at.saturating_sub(self.start).min(self.text.len());
        let (mut start, mut end) = (clamp(span.start), clamp(span.end).max(clamp(span.start)));
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        start..end.max(start)
    }

    fn holds(&self, span: Span) -> Option<std::ops::Range<usize>> {
        (span.start >= self.start && span.end <= self.start + self.text.len()).then(|| self.within(span))
    }
}
