//! A file of numbered records: each is read, and checked, when somebody asks for it.
//!
//! An index of thousands of flows is megabytes, of which a page needs a few dozen kilobytes. The file begins with
//! the length and check sum of every record; opening it reads only that.

use std::fmt;
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::Mutex;

use crate::lock::lock;

/// What such a file begins with; its last byte is raised with every change of the form.
const MARK: &[u8; 8] = b"flowy\x00\x01\x02";
/// The mark, the directory's check sum, the number of records.
const HEAD: usize = 16;
/// A record's length and check sum.
const ENTRY: usize = 8;

/// An open file of records. It may be removed or replaced meanwhile: what is open stays as it was.
pub struct RecordFile {
    file: Mutex<fs::File>,
    place: PathBuf,
    records: Vec<RecordPlace>,
}

/// Where a record lies in its file, in bytes, and the check sum it should have.
struct RecordPlace {
    start: usize,
    length: usize,
    sum: u32,
}

impl RecordFile {
    /// Opens a file; `None` when it is absent, not of this kind, cut, or its directory is damaged.
    pub(super) fn open(place: PathBuf) -> Option<Self> {
        let mut file = fs::File::open(&place).ok()?;
        let length = usize::try_from(file.metadata().ok()?.len()).ok()?;
        let mut head = [0; HEAD];
        file.read_exact(&mut head).ok()?;
        let (mark, numbers) = head.split_at(MARK.len());
        let (sum, count) = numbers.split_at(4);
        let mut start = length_of(count)?.checked_mul(ENTRY)?.checked_add(HEAD)?;
        if mark != MARK || start > length {
            return None;
        }
        let mut directory = vec![0; start - HEAD];
        file.read_exact(&mut directory).ok()?;
        if number(sum)? != check_sum(&directory) {
            return None;
        }
        let mut records = Vec::with_capacity(directory.len() / ENTRY);
        for entry in directory.chunks_exact(ENTRY) {
            let (length, sum) = entry.split_at(4);
            let place = RecordPlace { start, length: length_of(length)?, sum: number(sum)? };
            start = start.checked_add(place.length)?;
            records.push(place);
        }
        (start == length).then_some(Self { file: Mutex::new(file), place, records })
    }

    /// Reads a record. One that is damaged or can't be read is `None`; then the file is removed, so that
    /// whoever looks for it next makes it anew.
    pub fn read(&self, number: usize) -> Option<Vec<u8>> {
        let RecordPlace { start, length, sum } = *self.records.get(number)?;
        let mut bytes = vec![0; length];
        let read = {
            let mut file = lock(&self.file);
            let start = u64::try_from(start).unwrap_or(u64::MAX);
            file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(&mut bytes))
        };
        let whole = read.is_ok() && check_sum(&bytes) == sum;
        if !whole {
            tracing::warn!(file = %self.place.display(), "a cache file is damaged and is removed");
            let _ = fs::remove_file(&self.place);
        }
        whole.then_some(bytes)
    }
}

impl fmt::Debug for RecordFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordFile")
            .field("place", &self.place)
            .field("records", &self.records.len())
            .finish_non_exhaustive()
    }
}

/// What stands before the records; `None` when there is too much for one file.
pub(super) fn directory(records: &[Vec<u8>]) -> Option<Vec<u8>> {
    let mut entries = Vec::with_capacity(records.len() * ENTRY);
    for record in records {
        entries.extend(u32::try_from(record.len()).ok()?.to_le_bytes());
        entries.extend(check_sum(record).to_le_bytes());
    }
    let count = u32::try_from(records.len()).ok()?;
    let sum = check_sum(&entries);
    Some([MARK.as_slice(), &sum.to_le_bytes(), &count.to_le_bytes(), &entries].concat())
}

/// The sum by which damage is told (CRC-32).
pub(super) fn check_sum(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

fn length_of(four: &[u8]) -> Option<usize> {
    usize::try_from(number(four)?).ok()
}

fn number(four: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(four.try_into().ok()?))
}
