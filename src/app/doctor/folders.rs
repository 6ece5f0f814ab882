//! Folders of this program: how large they are, how old, and whether they can be written.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use chrono::{DateTime, Utc};

use super::{Check, Standing};
use crate::config::system_says;
use crate::names::{counted, grouped};

/// The most files that are counted.
const MOST_FILES: usize = 50_000;

/// How a folder stands; `flag` names another one.
pub(super) fn check(about: &'static str, folder: &Path, flag: &str, now: DateTime<Utc>) -> Check {
    let name = folder.display();
    let fix = format!("make it writable for yourself, or name another folder with {flag}");
    if let Err(error) = fs::symlink_metadata(folder) {
        if error.kind() != std::io::ErrorKind::NotFound {
            return Check::of(about, Standing::Wrong, format!("{name}: {}", system_says(&error))).fix(fix);
        }
        // It is made with what lies above it when it is needed first.
        let above = folder.ancestors().skip(1).find(|above| above.exists());
        return match above.map(written) {
            Some(Ok(())) => Check::of(about, Standing::Good, format!("{name} is made when it is needed")),
            Some(Err(why)) => Check::of(about, Standing::Wrong, format!("{name} can't be made: {why}")).fix(fix),
            None => Check::of(about, Standing::Wrong, format!("{name} can't be made")).fix(fix),
        };
    }
    if let Err(why) = written(folder) {
        return Check::of(about, Standing::Wrong, format!("{name} can't be written: {why}")).fix(fix);
    }
    let (files, bytes, newest) = contents(folder);
    let more = if files >= MOST_FILES { "more than " } else { "" };
    let age = newest.map(|newest| (now - DateTime::<Utc>::from(newest)).num_hours().max(0));
    let age = match age {
        None => String::new(),
        Some(0) => ", changed within the hour".to_owned(),
        Some(hours @ 1..48) => format!(", changed {hours} h ago"),
        Some(hours) => format!(", changed {} days ago", hours / 24),
    };
    let size = format!("{more}{}, {} kB", counted(files, "file", "files"), grouped(bytes.div_ceil(1000)));
    Check::of(about, Standing::Good, format!("{name}: {size}{age}, writable"))
}

/// Writes a file there and takes it away.
fn written(folder: &Path) -> Result<(), String> {
    let file = folder.join(format!(".flowy-doctor-{}", std::process::id()));
    let made = fs::File::create_new(&file);
    let made = made.map_err(|error| system_says(&error));
    if made.is_ok() {
        fs::remove_file(&file).map_err(|error| system_says(&error))?;
    }
    made.map(drop)
}

/// How many files there are, how large they are together, and when the newest was written. Links are not followed.
fn contents(folder: &Path) -> (usize, u64, Option<SystemTime>) {
    let (mut files, mut bytes, mut newest) = (0, 0_u64, None);
    let mut left: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Ok(about) = entry.metadata() else { continue };
            if about.is_dir() {
                left.push(entry.path());
            } else {
                files += 1;
                bytes = bytes.saturating_add(about.len());
                newest = newest.max(about.modified().ok());
            }
            if files >= MOST_FILES {
                return (files, bytes, newest);
            }
        }
    }
    (files, bytes, newest)
}
