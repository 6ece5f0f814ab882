//! Whether a process that said it would do something is still there.
//!
//! A process holds a lock on a file of its own as long as it lives; when it ends, however it ends, the
//! system lets go of the lock. Nothing is written into the file.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::StoreError;
use crate::lock::lock;

/// How often a file is made anew that others sweep away.
const TRIES: usize = 1_000;
/// The folder of these files, in the state folder.
const FOLDER: &str = "processes";

/// This process, as others see it.
#[derive(Debug)]
pub struct Presence {
    folder: PathBuf,
    name: String,
    held: Mutex<Option<File>>,
}

impl Presence {
    /// Under a name that no other process has; nothing is made yet.
    pub fn new(state: &Path, name: String) -> Self {
        Self { folder: state.join(FOLDER), name, held: Mutex::new(None) }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// From now on others see that this process is there. Files of processes that are gone are swept
    /// away with it.
    ///
    /// # Errors
    /// When the file can't be made or locked.
    pub fn claim(&self) -> Result<(), StoreError> {
        let mut held = lock(&self.held);
        if held.is_some() {
            return Ok(());
        }
        let path = self.path(&self.name);
        let closed = |why: String| StoreError::Closed { file: path.clone(), why };
        std::fs::create_dir_all(&self.folder).map_err(|error| closed(error.to_string()))?;
        let mut tries = TRIES;
        let file = loop {
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
            let file = file.map_err(|error| closed(error.to_string()))?;
            // Who sweeps may have held the file, or taken it away, before it was locked.
            match file.try_lock() {
                Ok(()) if path.exists() => break file,
                Ok(()) | Err(TryLockError::WouldBlock) if tries > 0 => tries -= 1,
                Ok(()) => return Err(closed("it is taken away again and again".to_owned())),
                Err(error) => return Err(closed(error.to_string())),
            }
            std::thread::yield_now();
        };
        *held = Some(file);
        self.sweep();
        Ok(())
    }

    /// Takes away the files that nobody holds.
    fn sweep(&self) {
        let Ok(files) = std::fs::read_dir(&self.folder) else { return };
        for path in files.flatten().map(|file| file.path()).filter(|path| *path != self.path(&self.name)) {
            if let Ok(file) = OpenOptions::new().write(true).open(&path)
                && file.try_lock().is_ok()
            {
                drop(std::fs::remove_file(&path));
            }
        }
    }

    /// Whether the process of that name is there. One of which that can't be told counts as there: what
    /// it does must not be done twice.
    pub fn is_there(&self, name: &str) -> bool {
        name == self.name || there(&self.path(name))
    }

    fn path(&self, name: &str) -> PathBuf {
        place(&self.folder, name)
    }
}

/// Whether the process of that name is there, as [`Presence::is_there`] says it, seen by somebody who may
/// have no name himself.
pub(super) fn is_there(state: &Path, name: &str) -> bool {
    there(&place(&state.join(FOLDER), name))
}

fn place(folder: &Path, name: &str) -> PathBuf {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    folder.join(format!("{plain}.lock"))
}

fn there(path: &Path) -> bool {
    let file = match OpenOptions::new().write(true).open(path) {
        Ok(file) => file,
        Err(error) => return error.kind() != std::io::ErrorKind::NotFound,
    };
    match file.try_lock() {
        Ok(()) => {
            // Nobody will ask for it again but for those who find it gone.
            drop(std::fs::remove_file(path));
            false
        }
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let held = self.held.get_mut().unwrap_or_else(PoisonError::into_inner);
        if held.take().is_some() {
            drop(std::fs::remove_file(self.path(&self.name)));
        }
    }
}
