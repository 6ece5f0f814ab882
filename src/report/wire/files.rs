//! Files that tools gave, as they travel beside a reply.

use crate::app::{Detail, Finished, Outcome};
use crate::model::ToolFile;
use crate::names::step_address;
use crate::run::Run;

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
/// a client can show, as many go along as fit into `room` bytes when they are written in Base64.
pub fn attached(outcome: &Outcome, detail: Detail, room: usize) -> Vec<Attached> {
    let Outcome::Finished { id, finished: Finished::Ran(recorded), .. } = outcome else { return Vec::new() };
    let run = &recorded.executed.run;
    let mut left = room;
    let mut attached: Vec<Attached> = Vec::new();
    for (address, name, file) in files(id, run, detail) {
        let bytes = file.bytes.len().div_ceil(3) * 4 + AROUND;
        let showable = file.media_type.starts_with("image/") || file.media_type.starts_with("audio/");
        let shown = showable && bytes <= left;
        left -= if shown { bytes } else { AROUND.min(left) };
        attached.push(Attached { address, name, file: file.clone(), shown });
    }
    attached
}

/// What a block has around its file, in bytes, with room for long names.
const AROUND: usize = 1_024;

fn files<'r>(id: &'r str, run: &'r Run, detail: Detail) -> impl Iterator<Item = (String, String, &'r ToolFile)> {
    let steps = run.plan().steps().iter().enumerate();
    let last = run.plan().last();
    steps
        // What a flow within the flow gathers was given by a step of its own.
        .filter(move |(number, step)| match detail {
            Detail::Final => Some(*number) == last,
            Detail::Full | Detail::Outputs => !matches!(step.work, crate::plan::Work::Gather(_)),
        })
        .flat_map(move |(number, step)| {
            let files = run.output_of(number).map(|output| output.files.as_slice()).unwrap_or_default();
            files.iter().enumerate().map(move |(place, file)| {
                let address = format!("{}/files/{}", step_address(id, &step.id), place + 1);
                (address, file.name.clone().unwrap_or_else(|| step.label.clone()), file)
            })
        })
}
