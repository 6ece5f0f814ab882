//! What a large folder costs, in both forms: whole processes that check, list, show and execute, and an editor's
//! change of one file.
//!
//! Run with `cargo build --release && cargo bench --profile dev --bench folder`; docs/performance.md says how the
//! figures are read. It measures the program at `target/release/flowy`, or the one that the first argument names.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a bench fails by panicking and prints its figures"
)]
#![allow(clippy::disallowed_methods, clippy::cast_precision_loss, reason = "a bench measures real time")]

mod driver;

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use driver::{Figures, ms};
use serde_json::{Value, json};

const FLOWS: usize = 10_000;
/// How often each command is called.
const TIMES: usize = 5;

fn main() {
    let program = driver::program();
    let mut cold: Vec<Vec<f64>> = Vec::new();
    for form in ["json", "md"] {
        let (place, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let size = write(place.path(), form);
        println!("\n{FLOWS} flows and as many templates in {form}, {:.1} MB", size as f64 / 1e6);
        let cache = home.path().join(".cache");
        let call = |what: &str, line: &[&str], afresh: bool| {
            let mut peak = 0.0_f64;
            let times = (0..TIMES).map(|_| {
                if afresh {
                    let _ = fs::remove_dir_all(&cache);
                }
                let (took, most) = run(Command::new(&program).args(line).current_dir(place.path()), home.path());
                peak = peak.max(most);
                took
            });
            let mut times: Vec<Duration> = times.collect();
            times.sort();
            println!(
                "  {what:<26} median {:>8.0} ms, least {:>6.0} ms, {peak:>5.0} MB",
                ms(times[TIMES / 2]),
                ms(times[0])
            );
            ms(times[TIMES / 2])
        };
        let validate = call("validate, cold", &["validate"], true);
        call("validate, unchanged", &["validate"], false);
        let list = call("list, cold", &["list", "--limit", "20"], true);
        call("list, unchanged", &["list", "--limit", "20"], false);
        call("show, unchanged", &["show", "Flow_7"], false);
        call("run, unchanged", &["run", "Flow_7", "--var", "company=Tea", "--var", "notes=none"], false);
        cold.push(vec![validate, list]);
        println!("  an editor's change         {}", changes(&program, place.path(), home.path(), form));
    }
    println!(
        "\nMarkdown over JSON, cold: validate {:.2}, list {:.2}",
        cold[1][0] / cold[0][0],
        cold[1][1] / cold[0][1]
    );
}

/// Writes the catalog, as if it had lain there for a while; gives its size in bytes.
fn write(place: &Path, form: &str) -> usize {
    let line = "the quarterly report of a small team that ships every week and writes down what it learnt\n";
    let long = SystemTime::now() - Duration::from_hours(2);
    let mut size = 0;
    for folder in ["flows", "templates"] {
        fs::create_dir(place.join(folder)).unwrap();
    }
    let mut put = |path: String, text: String| {
        size += text.len();
        let mut file = File::create(place.join(path)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.set_modified(long).unwrap();
    };
    for n in 0..FLOWS {
        let draft = format!("# Task {n}\n\nYou write for {{company}}.\n\n{}\nUse {{notes}}.\n", line.repeat(45));
        let (review, end) = (line.repeat(20), line.repeat(14));
        if form == "md" {
            put(format!("templates/Draft_{n}.md"), format!("---\nvariables: [company, notes]\n---\n{draft}"));
            put(
                format!("flows/Flow_{n}.flow.md"),
                format!(
                    "---\nname: Flow_{n}\nversion: 1.0.0\ndescription: Reads notes and writes report {n}.\ninputs: [company, notes]\n---\n\
                     ## Draft {{#a}}\n\n```yaml\ntemplate: Draft_{n}\n```\n\n## Review {{#b}}\n\nReview for {{company}}:\n{{a_result}}\n{review}\n\
                     ## Final {{#c}}\n\nFinish:\n{{b_result}}\n{end}"
                ),
            );
            continue;
        }
        let template = json!({"title": format!("Draft_{n}"), "template": draft, "variables": [{"name": "company"}, {"name": "notes"}]});
        put(format!("templates/Draft_{n}.json"), template.to_string());
        let step = |id: &str, label: &str, more: Value| {
            let mut data = json!({"label": label});
            data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({"id": id, "type": "template", "position": {"x": 0, "y": 0}, "data": data})
        };
        let flow = json!({
            "metadata": {"name": format!("Flow_{n}"), "version": "1.0.0", "description": format!("Reads notes and writes report {n}.")},
            "nodes": [
                {"id": "in", "type": "multi_input", "data": {"label": "Inputs", "variables": ["company", "notes"]}},
                step("a", "Draft", json!({"selectedTemplateId": format!("Draft_{n}")})),
                step("b", "Review", json!({"template": format!("Review for {{company}}:\n{{a_result}}\n{review}")})),
                step("c", "Final", json!({"template": format!("Finish:\n{{b_result}}\n{end}")})),
                {"id": "r", "type": "result", "data": {"label": "Result"}}
            ],
            "edges": [{"source": "in", "target": "a"}, {"source": "in", "target": "b"}, {"source": "a", "target": "b"},
                {"source": "b", "target": "c"}, {"source": "c", "target": "r"}]
        });
        put(format!("flows/Flow_{n}.json"), flow.to_string());
    }
    size
}

/// How long a process takes, and its greatest resident size in MB, looked at every few milliseconds.
fn run(command: &mut Command, home: &Path) -> (Duration, f64) {
    let begun = Instant::now();
    let mut child = command.env_clear().env("HOME", home).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut peak = 0.0_f64;
    while child.try_wait().unwrap().is_none() {
        peak = peak.max(most_resident(&child));
        std::thread::sleep(Duration::from_millis(2));
    }
    let took = begun.elapsed();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{command:?}: {said}");
    (took, peak)
}

fn most_resident(child: &Child) -> f64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or(0.0) / 1000.0
}

/// An editor that changes one flow of the catalog, until what is wrong in it is told.
fn changes(program: &Path, place: &Path, home: &Path, form: &str) -> Figures {
    let mut command = Command::new(program);
    let command = command.arg("lsp").current_dir(place).env_clear().env("HOME", home);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut send = |message: Value| {
        let text = message.to_string();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        input.flush().unwrap();
    };
    let mut receive = |method: &str| loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            match line.trim().split_once(": ") {
                Some((_, value)) => length = value.parse().unwrap_or(length),
                None => break,
            }
        }
        let mut text = vec![0; length];
        output.read_exact(&mut text).unwrap();
        let message: Value = serde_json::from_slice(&text).unwrap();
        if message["method"] == method || message["method"].is_null() && method.is_empty() {
            return;
        }
    };
    let root = format!("file://{}", place.display());
    send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"rootUri": root, "capabilities": {}}}));
    receive("");
    send(json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
    let ending = if form == "md" { "flow.md" } else { "json" };
    let file = place.join(format!("flows/Flow_7.{ending}"));
    let (uri, text) = (format!("file://{}", file.display()), fs::read_to_string(&file).unwrap());
    let told = "textDocument/publishDiagnostics";
    let document = json!({"uri": uri, "languageId": form, "version": 1, "text": text});
    send(json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}}));
    receive(told);
    let times = (0..200).map(|n| {
        let new = text.replacen("{a_result}", if n % 2 == 0 { "{a_resul}" } else { "{a_result}" }, 1);
        let params = json!({"textDocument": {"uri": uri, "version": n + 2}, "contentChanges": [{"text": new}]});
        let begun = Instant::now();
        send(json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params}));
        receive(told);
        begun.elapsed()
    });
    let figures = Figures::of(times.collect());
    child.kill().unwrap();
    child.wait().unwrap();
    figures
}
