//! A file that is read in parts: each when somebody first needs it, and checked then.
//!
//! An index of thousands of flows is megabytes, of which a page needs a few dozen kilobytes. The file
//! begins with where its parts lie and what their check sums are; opening it reads only that.

use std::fmt;
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::Mutex;

use super::lock;

/// What such a file begins with.
const MARK: &[u8; 8] = b"flowy\x00\x01\x01";
/// The mark, the directory's check sum, the number of parts.
const HEAD: usize = 16;
/// A part's length and check sum.
const ENTRY: usize = 8;

/// An open file in parts. It may be removed or replaced meanwhile: what is open stays as it was.
pub struct Parted {
    file: Mutex<fs::File>,
    place: PathBuf,
    /// Where parts begin in the content, and where the last one ends.
    starts: Vec<usize>,
    sums: Vec<u32>,
    /// Where the content begins in the file.
    content: usize,
}

impl Parted {
    /// Opens a file; `None` when it is absent, not of this kind, cut, or its directory is damaged.
    pub(super) fn open(place: PathBuf) -> Option<Self> {
        let mut file = fs::File::open(&place).ok()?;
        let length = usize::try_from(file.metadata().ok()?.len()).ok()?;
        let mut head = [0; HEAD];
        file.read_exact(&mut head).ok()?;
        let (mark, numbers) = head.split_at(MARK.len());
        let (sum, count) = numbers.split_at(4);
        let count = number(count)?;
        let content = count.checked_mul(ENTRY)?.checked_add(HEAD)?;
        if mark != MARK || content > length {
            return None;
        }
        let mut directory = vec![0; content - HEAD];
        file.read_exact(&mut directory).ok()?;
        if number(sum)? != check_sum(&directory) as usize {
            return None;
        }
        let (mut end, mut starts, mut sums) = (0usize, vec![0], Vec::with_capacity(count));
        for entry in directory.chunks_exact(ENTRY) {
            let (length, sum) = entry.split_at(4);
            end = end.checked_add(number(length)?)?;
            starts.push(end);
            sums.push(u32::try_from(number(sum)?).ok()?);
        }
        let file = Mutex::new(file);
        (end.checked_add(content)? == length).then_some(Self { file, place, starts, sums, content })
    }

    /// Where each part begins in the content, and where the last one ends, in bytes.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// Reads a part. One that is damaged or can't be read is `None`; then the file is removed, so that
    /// whoever looks for it next makes it anew.
    pub fn part(&self, part: usize) -> Option<Box<[u8]>> {
        let (start, end, sum) = (*self.starts.get(part)?, *self.starts.get(part + 1)?, *self.sums.get(part)?);
        let mut bytes = vec![0; end.checked_sub(start)?].into_boxed_slice();
        let read = {
            let mut file = lock(&self.file);
            let place = u64::try_from(self.content + start).unwrap_or(u64::MAX);
            file.seek(SeekFrom::Start(place)).and_then(|_| file.read_exact(&mut bytes))
        };
        let whole = read.is_ok() && check_sum(&bytes) == sum;
        if !whole {
            tracing::warn!(file = %self.place.display(), "a cache file is damaged and is removed");
            let _ = fs::remove_file(&self.place);
        }
        whole.then_some(bytes)
    }
}

impl fmt::Debug for Parted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parted").field("place", &self.place).field("parts", &self.sums.len()).finish_non_exhaustive()
    }
}

/// What stands before the content: `cuts` are where its parts begin, apart from the first. `None` when
/// they aren't in order and within it.
pub(super) fn directory(content: &[u8], cuts: &[usize]) -> Option<Vec<u8>> {
    let mut entries = Vec::with_capacity((cuts.len() + 1) * ENTRY);
    let ends = cuts.iter().copied().chain([content.len()]);
    let mut start = 0;
    for end in ends {
        let part = content.get(start..end)?;
        entries.extend(u32::try_from(part.len()).ok()?.to_le_bytes());
        entries.extend(check_sum(part).to_le_bytes());
        start = end;
    }
    let count = u32::try_from(cuts.len() + 1).ok()?;
    let sum = check_sum(&entries);
    Some([MARK.as_slice(), &sum.to_le_bytes(), &count.to_le_bytes(), &entries].concat())
}

/// The sum by which damage is told (CRC-32).
pub(super) fn check_sum(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

fn number(four: &[u8]) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(four.try_into().ok()?)).ok()
}
