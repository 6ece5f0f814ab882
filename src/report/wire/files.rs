//! Files that tools gave, as they travel beside a reply.

use serde_json::Value;

use super::limit::{Travels, bytes_of};
use crate::app::{Detail, Finished, Outcome};
use crate::model::ToolFile;
use crate::names::step_address;
use crate::plan::Work;
use crate::run::{Guided, Run};

/// A file beside a reply: to be shown where there is room, else only named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attached {
    /// Where it can be read as long as the execution is kept.
    pub address: String,
    /// What it is called: its own name, else that of its step.
    pub name: String,
    /// The file.
    pub file: ToolFile,
    /// Whether its bytes go along.
    pub shown: bool,
}

/// The files of an execution that has ended: of all steps, or of the final result alone. Of those that
/// a client can show, as many go along as fit beside the reply when they are written in Base64.
pub fn attached(outcome: &Outcome, detail: Detail, reply: &Value) -> Vec<Attached> {
    let Outcome::Finished { id, finished: Finished::Ran(recorded), .. } = outcome else { return Vec::new() };
    let run = &recorded.executed.run;
    let last = run.plan().last();
    // What a flow within the flow gathers was given by a step of its own.
    let shown = run.plan().steps().iter().enumerate().filter(|(number, step)| match detail {
        Detail::Final => Some(*number) == last,
        Detail::Full | Detail::Outputs => !matches!(step.work, Work::Gather(_)),
    });
    beside(reply, shown.flat_map(|(number, _)| files(id, run, number)))
}

/// The same of a guided execution: the files of the steps that the server did since the call before.
pub fn attached_to(guided: &Guided, reply: &Value) -> Vec<Attached> {
    let id = guided.beginning().id.as_str();
    beside(reply, guided.auto().iter().flat_map(|number| files(id, guided.run(), *number)))
}

/// What a block has around its file, in bytes, with room for long names.
const AROUND: usize = 1_024;

fn beside<'r>(reply: &Value, files: impl Iterator<Item = (String, String, &'r ToolFile)>) -> Vec<Attached> {
    let mut files = files.peekable();
    if files.peek().is_none() {
        return Vec::new();
    }
    let mut left = Travels::room().saturating_sub(bytes_of(reply));
    let attached = files.map(|(address, name, file)| {
        let bytes = file.bytes.len().div_ceil(3) * 4 + AROUND;
        let showable = file.media_type.starts_with("image/") || file.media_type.starts_with("audio/");
        let shown = showable && bytes <= left;
        left -= if shown { bytes } else { AROUND.min(left) };
        Attached { address, name, file: file.clone(), shown }
    });
    attached.collect()
}

/// The files of one step, with their addresses and names.
fn files<'r>(id: &str, run: &'r Run, number: usize) -> Vec<(String, String, &'r ToolFile)> {
    let (Some(step), Some(output)) = (run.plan().step(number), run.output_of(number)) else { return Vec::new() };
    let place = step_address(id, &step.id);
    let named = output.files.iter().enumerate().map(|(number, file)| {
        let name = file.name.clone().unwrap_or_else(|| step.label.clone());
        (format!("{place}/files/{}", number + 1), name, file)
    });
    named.collect()
}
