//! Files that external tools gave in an execution.

use crate::app::memory::Finished;
use crate::app::status::step_named;
use crate::app::{App, Error};
use crate::model::ToolFile;
use crate::names::quoted;
use crate::run::Run;

impl App {
    /// One file of a step, by its number from 1.
    ///
    /// # Errors
    /// An unknown execution, step or file, or a store that fails.
    pub async fn file(&self, execution: &str, node: &str, number: usize) -> Result<ToolFile, Error> {
        let found = match self.memory.get(execution) {
            Some(kept) => match &*kept.finished.borrow() {
                Some(Finished::Ran(recorded)) => of_step(&recorded.executed.run, node, number),
                Some(Finished::Broke(_)) | None => None,
            },
            None => of_step(self.story(execution).await?.guided.run(), node, number),
        };
        found.ok_or_else(|| {
            let message = format!("step {} of execution {} gave no file {number}", quoted(node), quoted(execution));
            Error::invalid(message)
                .next("ask for the execution's status with include [\"steps\"]: results list their files")
        })
    }
}

fn of_step(run: &Run, node: &str, number: usize) -> Option<ToolFile> {
    run.output_of(step_named(run, node)?)?.files.get(number.checked_sub(1)?).cloned()
}
