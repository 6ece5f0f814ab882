//! What was done to a client's configuration, and what to do next.

use std::fmt::Write as _;

use super::{GOOD, Look};
use crate::app::clients::{Change, ClientSetup};

/// What happened to the client's file, and the next steps.
pub fn client_setup(setup: &ClientSetup, look: Look) -> String {
    let file = setup.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
    let mut text = match &setup.change {
        Change::Shown if file.is_empty() => "\n".to_owned(),
        Change::Shown => format!("\n{}'s configuration: {file}\n", setup.client.name()),
        Change::Created => format!("{} {file}, which was not there before.\n", look.paint(GOOD, "Wrote")),
        Change::Merged { backup } => {
            let before = backup.as_ref().map(|file| format!("The file as it was: {}\n", file.display()));
            let put = look.paint(GOOD, "Put");
            format!("{put} the entry into {file}; everything else in it stays.\n{}", before.unwrap_or_default())
        }
        Change::Unchanged => format!("{} {file} has the entry already.\n", look.paint(GOOD, "Unchanged:")),
    };
    for step in &setup.next {
        let _ = writeln!(text, "- {step}");
    }
    text
}
