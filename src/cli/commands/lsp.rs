//! `flowy lsp`: flows and templates in an editor.

use super::{Done, Stop, World, runtime};
use crate::app::{Error, Workbench};
use crate::lsp;

/// Serves one editor. From here on stdout belongs to the protocol.
pub(super) fn lsp(world: &World<'_>) -> Done {
    let workbench = Workbench::new(world.settings()?, world.clock.clone());
    if world.printer.err_look().terminal {
        world.printer.note("flowy serves an editor over stdin and stdout; Ctrl-C ends it.");
    }
    let served = runtime()?.block_on(lsp::serve_stdio(workbench));
    served.map(|()| 0).map_err(|error| {
        let told = Error::invalid(error.to_string());
        let next = "an editor starts `flowy lsp`, and speaks the Language Server Protocol over its stdin and stdout";
        Stop::failed(told.next(next), 1)
    })
}
