//! Room that is kept for the day when the disk is full: forgetting takes some at first.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::opening::own_file;

/// The file's name in the state folder.
const FILE: &str = "flowy.reserve";
/// How large it is, in bytes: more than SQLite writes for a thousand executions before it can give back.
const SIZE: usize = 1 << 20;

fn place(store: &Path) -> PathBuf {
    store.with_file_name(FILE)
}

/// Sets room aside beside a store. Where there is none left, there is nothing to keep.
pub(super) fn keep(store: &Path) {
    let place = place(store);
    if place.exists() {
        return;
    }
    // Written and not only made that long, or it takes no room.
    let kept = own_file(&place).and_then(|mut file| file.write_all(&vec![0; SIZE]));
    if kept.is_err() {
        drop(give_up(store));
    }
}

/// Gives the room back to the disk.
///
/// # Errors
/// When there is none.
pub(super) fn give_up(store: &Path) -> io::Result<()> {
    std::fs::remove_file(place(store))
}
