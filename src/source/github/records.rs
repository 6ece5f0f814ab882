//! What is remembered on disk about a repository: which commit a ref was at, and a commit's listing.
//!
//! A start within a snapshot's life opens one ref record; the listing is read only when somebody
//! needs it. Records carry a check sum, so a damaged one counts as absent. What a ref means is
//! remembered for the credential that was told: a record's name is a salted hash of both.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha1::{Digest as _, Sha1};

use super::tree::ListedTree;
use crate::cache::{Folder, Locking, RecordFile};
use crate::clock::Clock;
use crate::config::Secret;
use crate::names::hex;
use crate::names::{ObjectId, RefName};

/// A day in milliseconds.
const DAY: i64 = 24 * 60 * 60 * 1000;
/// How long a ref is remembered that nobody asks for, in milliseconds.
const UNUSED: i64 = 30 * DAY;
/// The random bytes that make the names of records unguessable.
const SALT: &str = "salt";
/// Where the locks of those are who ask.
const LOCKS: &str = "locks";
/// After what time a file that was being written is nobody's any more.
const LEFT_OVER: Duration = Duration::from_hours(24);

/// Which commit a ref was at, and when that was last known.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RefRecord {
    /// What was asked for; `HEAD` for the default branch.
    asked: String,
    /// The branch's own name, where it is known.
    name: Option<String>,
    commit: String,
    /// Milliseconds since 1970.
    checked_at: i64,
    /// When it was last used, to the day; a commit is asked about once and used for years. Milliseconds
    /// since 1970.
    #[serde(default)]
    used_at: i64,
    /// Whether it is known to belong to the default branch, or need not.
    trusted: bool,
}

impl RefRecord {
    /// How long ago it was last used, in milliseconds. One from the future was written by a clock that
    /// was wrong, and is as old as it is early.
    fn unused_for(&self, now: DateTime<Utc>) -> i64 {
        let now = now.timestamp_millis();
        (now - self.used_at).abs().min((now - self.checked_at).abs())
    }
}

/// A ref record, read and checked.
#[derive(Debug, Clone)]
pub(super) struct Remembered {
    pub(super) name: Option<RefName>,
    pub(super) commit: ObjectId,
    pub(super) checked_at: DateTime<Utc>,
    pub(super) trusted: bool,
}

/// The records of one repository.
pub(super) struct Records {
    folder: Arc<Folder>,
    clock: Arc<dyn Clock>,
}

impl Records {
    pub(super) fn within(folder: Arc<Folder>, clock: Arc<dyn Clock>) -> Self {
        Self { folder, clock }
    }

    /// What a ref was when this credential asked.
    pub(super) fn of_ref(&self, asked: &str, token: Option<&Secret>, now: DateTime<Utc>) -> Option<Remembered> {
        let place = self.ref_place(asked, token)?;
        let bytes = self.folder.read_checked(&place)?;
        let mut record: RefRecord = serde_json::from_slice(&bytes).ok()?;
        if record.asked != asked {
            return None;
        }
        if record.unused_for(now) > DAY {
            record.used_at = now.timestamp_millis();
            self.keep(&place, &record);
        }
        Some(Remembered {
            name: record.name.and_then(|name| RefName::new(&name).ok()),
            commit: ObjectId::new(&record.commit).ok()?,
            checked_at: DateTime::from_timestamp_millis(record.checked_at)?,
            trusted: record.trusted,
        })
    }

    pub(super) fn keep_ref(&self, asked: &str, token: Option<&Secret>, remembered: &Remembered) {
        self.make_salt();
        let Some(place) = self.ref_place(asked, token) else { return };
        let record = RefRecord {
            asked: asked.to_owned(),
            name: remembered.name.as_ref().map(ToString::to_string),
            commit: remembered.commit.to_string(),
            checked_at: remembered.checked_at.timestamp_millis(),
            used_at: remembered.checked_at.timestamp_millis(),
            trusted: remembered.trusted,
        };
        self.keep(&place, &record);
    }

    /// Forgets what a ref was.
    pub(super) fn forget_ref(&self, asked: &str, token: Option<&Secret>) {
        if let Some(place) = self.ref_place(asked, token) {
            self.folder.remove(&place);
        }
    }

    fn keep(&self, place: &str, record: &RefRecord) {
        if let Ok(bytes) = serde_json::to_vec(record) {
            self.folder.write_checked(place, &bytes);
        }
    }

    /// Takes the lock of those who ask for a ref. There are 256 of them, which are never removed; that two
    /// refs may share one does no harm.
    pub(super) fn queue(&self, asked: &str) -> Locking {
        let hash = Sha1::digest(asked.as_bytes());
        self.folder.try_lock(&format!("{LOCKS}/{}", hex(hash.get(..1).unwrap_or_default())))
    }

    /// The name of a record: nobody can tell from it which token was used, nor try one without the salt.
    fn ref_place(&self, asked: &str, token: Option<&Secret>) -> Option<String> {
        let salt = self.folder.read_checked(SALT)?;
        let mut hash = Sha1::new();
        hash.update(&salt);
        hash.update(token.map_or("", Secret::expose));
        hash.update([0]);
        hash.update(asked);
        Some(format!("refs/{}", hex(&hash.finalize())))
    }

    fn make_salt(&self) {
        if self.folder.read_checked(SALT).is_some() {
            return;
        }
        // A damaged one is of no use to anybody.
        self.folder.remove(SALT);
        let salt: Vec<u8> = (0..3).flat_map(|_| self.clock.fresh().to_le_bytes()).collect();
        self.folder.write_first(SALT, &salt);
    }

    pub(super) fn listed(&self, commit: &ObjectId) -> Option<ListedTree> {
        serde_json::from_slice(&self.folder.read_checked(&format!("listings/{commit}"))?).ok()
    }

    pub(super) fn keep_listed(&self, commit: &ObjectId, listed: &ListedTree) {
        if let Ok(bytes) = serde_json::to_vec(listed) {
            self.folder.write_checked(&format!("listings/{commit}"), &bytes);
        }
    }

    pub(super) fn derived(&self, commit: &ObjectId, largest: u64, name: &str) -> Option<RecordFile> {
        self.folder.open_records(&derived_place(commit, largest, name))
    }

    pub(super) fn keep_derived(
        &self,
        commit: &ObjectId,
        largest: u64,
        name: &str,
        records: &[Vec<u8>],
    ) -> Option<RecordFile> {
        let place = derived_place(commit, largest, name);
        if !self.folder.write_records(&place, records) {
            return None;
        }
        self.folder.open_records(&place)
    }

    /// Removes what is no longer needed: refs that nobody asked for in [`UNUSED`], the listings and
    /// derived files of commits that no ref is at any more, and what writers left that were killed.
    pub(super) fn forget_others(&self, current: &ObjectId, now: DateTime<Utc>) {
        let mut commits = vec![current.to_string()];
        for name in self.folder.names("refs") {
            let record = self.folder.read_checked(&format!("refs/{name}"));
            let Some(record) = record.and_then(|bytes| serde_json::from_slice::<RefRecord>(&bytes).ok()) else {
                continue;
            };
            if record.commit != current.as_str() && record.unused_for(now) > UNUSED {
                self.folder.remove(&format!("refs/{name}"));
            } else {
                commits.push(record.commit);
            }
        }
        for below in ["listings", "derived"] {
            for name in self.folder.names(below) {
                let commit = name.get(..40).unwrap_or(&name);
                if !name.starts_with('.') && !commits.iter().any(|known| known == commit) {
                    self.folder.remove(&format!("{below}/{name}"));
                }
            }
        }
        for below in ["refs", "listings", "derived"] {
            for name in self.folder.old_names(below, LEFT_OVER).iter().filter(|name| name.starts_with('.')) {
                self.folder.remove(&format!("{below}/{name}"));
            }
        }
    }

    /// The blobs of all listings; `None` where a listing can't be read, so that some may be missing.
    pub(super) fn blobs(&self) -> Option<HashSet<String>> {
        let mut blobs = HashSet::new();
        for name in self.folder.names("listings").iter().filter(|name| !name.starts_with('.')) {
            let listed: ListedTree =
                serde_json::from_slice(&self.folder.read_checked(&format!("listings/{name}"))?).ok()?;
            blobs.extend(listed.files.into_iter().map(|(_, id, _)| id));
        }
        Some(blobs)
    }
}

/// The size limit is part of the name: it decides which files there are.
fn derived_place(commit: &ObjectId, largest: u64, name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    format!("derived/{commit}.{largest}.{name}")
}
