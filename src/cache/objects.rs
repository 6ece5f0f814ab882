//! Git blobs by their id: on disk, the most recent ones in memory, each checked on every path.
//!
//! A blob's name is the hash of its bytes, so a blob is never old and never wrong: bytes that do not
//! hash to the name are not handed out. Where missing ones come from is not known here.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use cached::ShardedLruCache;
use sha1::{Digest as _, Sha1};

use super::Folder;
use crate::lock::lock;
use crate::names::{ObjectId, hex};

/// How many blobs stay in memory, and how large one of them may be, in bytes: 16 MiB at the most.
const RECENT: usize = 256;
const RECENT_SIZE: usize = 64 * 1024;

/// How long a blob stays that nothing is known to need.
const GRACE: Duration = Duration::from_hours(24);

/// The git id of a blob with these bytes (`sha1("blob " length NUL bytes)`).
pub fn blob_id(bytes: &[u8]) -> ObjectId {
    let mut hash = Sha1::new();
    hash.update(b"blob ");
    hash.update(bytes.len().to_string().as_bytes());
    hash.update([0]);
    hash.update(bytes);
    match ObjectId::new(&hex(&hash.finalize())) {
        Ok(id) => id,
        Err(_) => unreachable!("forty hexadecimal digits are an object id"),
    }
}

/// Where a blob went.
#[derive(Debug, Clone)]
pub enum Kept {
    /// It is on disk and can be read again at any time.
    OnDisk,
    /// The disk does not take it: it lives as long as this is held.
    Held(Arc<[u8]>),
}

/// The blobs of one repository.
pub struct Objects {
    folder: Arc<Folder>,
    recent: ShardedLruCache<ObjectId, Arc<[u8]>>,
    held: Mutex<HashMap<ObjectId, Weak<[u8]>>>,
}

impl Objects {
    /// The blobs kept in this folder.
    pub fn within(folder: Arc<Folder>) -> Self {
        Self { folder, recent: recent(), held: Mutex::new(HashMap::new()) }
    }

    /// Where the blob is, if it can be had without asking anybody; bytes on disk are checked when read.
    pub fn locate(&self, id: &ObjectId) -> Option<Kept> {
        if self.folder.has(&place(id)) { Some(Kept::OnDisk) } else { self.held_bytes(id).map(Kept::Held) }
    }

    /// The blob's bytes, from memory or disk.
    pub fn get(&self, id: &ObjectId) -> Option<Arc<[u8]>> {
        self.in_memory(id).or_else(|| self.on_disk(id, true))
    }

    /// The blob's bytes, if they are in memory.
    pub fn in_memory(&self, id: &ObjectId) -> Option<Arc<[u8]>> {
        self.recent.get(id).or_else(|| self.held_bytes(id))
    }

    /// Like [`Objects::get`], without pushing other blobs out of memory: for reading all of them once.
    pub fn pass(&self, id: &ObjectId) -> Option<Arc<[u8]>> {
        self.in_memory(id).or_else(|| self.on_disk(id, false))
    }

    /// Keeps a blob whose bytes have been checked against its id.
    pub fn keep(&self, id: &ObjectId, bytes: &[u8]) -> Kept {
        if self.folder.write(&place(id), bytes) {
            return Kept::OnDisk;
        }
        let bytes: Arc<[u8]> = Arc::from(bytes);
        let mut held = lock(&self.held);
        if held.len() % 1024 == 1023 {
            held.retain(|_, blob| blob.strong_count() > 0);
        }
        held.insert(id.clone(), Arc::downgrade(&bytes));
        Kept::Held(bytes)
    }

    /// Removes the blobs from disk that are not to be kept, and what writers left that were killed. One
    /// that was written within the last day stays: another process may be about to say what it is for.
    pub fn forget(&self, keep: impl Fn(&str) -> bool) {
        for first in 0..=u8::MAX {
            let below = format!("blobs/{first:02x}");
            for rest in self.folder.old_names(&below, GRACE) {
                if !keep(&format!("{first:02x}{rest}")) {
                    self.folder.remove(&format!("{below}/{rest}"));
                }
            }
        }
    }

    fn held_bytes(&self, id: &ObjectId) -> Option<Arc<[u8]>> {
        lock(&self.held).get(id).and_then(Weak::upgrade)
    }

    fn on_disk(&self, id: &ObjectId, remember: bool) -> Option<Arc<[u8]>> {
        let bytes = self.folder.read(&place(id))?;
        if blob_id(&bytes) != *id {
            tracing::warn!(id = id.as_str(), "a cached blob is damaged and is fetched again");
            self.folder.remove(&place(id));
            return None;
        }
        let bytes: Arc<[u8]> = Arc::from(bytes);
        if remember && bytes.len() <= RECENT_SIZE {
            self.recent.set(id.clone(), bytes.clone());
        }
        Some(bytes)
    }
}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Objects").field("folder", &self.folder).finish_non_exhaustive()
    }
}

fn recent() -> ShardedLruCache<ObjectId, Arc<[u8]>> {
    match ShardedLruCache::builder().shards(1).max_size(RECENT).build() {
        Ok(cache) => cache,
        Err(_) => ShardedLruCache::new(RECENT),
    }
}

fn place(id: &ObjectId) -> String {
    let (first, rest) = id.as_str().split_at_checked(2).unwrap_or(("00", id.as_str()));
    format!("blobs/{first}/{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;

    #[test]
    fn ids_are_gits_own() {
        assert_eq!(blob_id(b"").as_str(), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(blob_id(b"hello\n").as_str(), "ce013625030ba8dba906f756967f9e9ca394464a");
    }

    #[test]
    fn a_damaged_blob_is_dropped_not_handed_out() {
        let place_ = tempfile::tempdir().expect("a folder");
        let folder = Arc::new(Folder::at(place_.path().to_owned(), SystemClock::shared()));
        let objects = Objects::within(folder.clone());
        let id = blob_id(b"one");
        assert!(matches!(objects.keep(&id, b"one"), Kept::OnDisk));
        assert_eq!(objects.pass(&id).as_deref(), Some(&b"one"[..]));
        folder.write(&place(&id), b"two");
        assert_eq!(objects.get(&id), None);
        assert!(objects.locate(&id).is_none());
    }

    #[test]
    fn without_a_disk_a_blob_lives_as_long_as_it_is_held() {
        let place_ = tempfile::tempdir().expect("a folder");
        std::fs::write(place_.path().join("taken"), b"").expect("written");
        let objects = Objects::within(Arc::new(Folder::at(place_.path().join("taken"), SystemClock::shared())));
        let id = blob_id(b"one");
        let kept = objects.keep(&id, b"one");
        assert_eq!(objects.get(&id).as_deref(), Some(&b"one"[..]));
        drop(kept);
        assert_eq!(objects.get(&id), None);
    }
}
