//! Where the bytes of a packed index come from: all at once, or in parts as they are needed.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Reads a part by its number; `None` where it can't be had.
type Read = dyn Fn(usize) -> Option<Box<[u8]>> + Send + Sync;

/// Bytes in parts; what was read stays.
pub struct Parts {
    /// Where each part begins, and where the last one ends.
    starts: Vec<usize>,
    held: Vec<OnceLock<Option<Box<[u8]>>>>,
    read: Box<Read>,
    lost: AtomicBool,
}

impl Parts {
    /// Parts that begin at `starts`, whose last number is where the last one ends, in bytes and in order;
    /// `read` gets one by its number, at most once.
    pub fn new(starts: Vec<usize>, read: impl Fn(usize) -> Option<Box<[u8]>> + Send + Sync + 'static) -> Self {
        let held = starts.windows(2).map(|_| OnceLock::new()).collect();
        Self { starts, held, read: Box::new(read), lost: AtomicBool::new(false) }
    }

    /// Bytes that are all there.
    pub(super) fn whole(bytes: Vec<u8>) -> Self {
        let whole = Self::new(vec![0, bytes.len()], |_| None);
        whole.held.first().map(|part| part.set(Some(bytes.into_boxed_slice())));
        whole
    }

    pub(super) fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Whether a part could not be read: then what was found may be less than there is.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Bytes that lie in one part; `None` where they don't, or where that part can't be read.
    pub(super) fn slice(&self, start: usize, length: usize) -> Option<&[u8]> {
        if length == 0 && start <= self.len() {
            // Nothing is read for a section without anything in it.
            return Some(&[]);
        }
        let part =
            self.starts.partition_point(|other| *other <= start).saturating_sub(1).min(self.held.len().checked_sub(1)?);
        let begin = start.checked_sub(*self.starts.get(part)?)?;
        let bytes = self.held.get(part)?.get_or_init(|| (self.read)(part)).as_deref();
        if bytes.is_none() {
            self.lost.store(true, Ordering::Relaxed);
        }
        bytes?.get(begin..begin.checked_add(length)?)
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let read = self.held.iter().filter(|part| part.get().is_some()).count();
        f.debug_struct("Parts").field("parts", &self.held.len()).field("read", &read).finish_non_exhaustive()
    }
}
