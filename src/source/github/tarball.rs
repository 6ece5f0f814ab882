//! All files of a commit in one download, read as it arrives.
//!
//! Nothing is unpacked to disk by its name: only files that are wanted are taken, and only if they
//! hash to the id the tree named. Sizes are bounded, whatever the archive claims.

use std::collections::HashMap;
use std::io::{self, Read};

use flate2::read::GzDecoder;
use http_body_util::BodyExt as _;
use tokio::sync::mpsc::{Receiver, channel};
use tokio_util::bytes::Bytes;

use super::blobs::{Fetch, Haul, WantedBlobs};
use super::client::{ApiCall, Target};
use super::endpoints::segment;
use crate::cache::blob_id;
use crate::names::ObjectId;
use crate::source::SourceError;
use crate::web::WebTrouble;

/// The most that is downloaded, and the most that it may grow to, in bytes.
const DOWNLOAD: u64 = 128 * 1024 * 1024;
const UNPACKED: u64 = 512 * 1024 * 1024;
/// How many files are handed over at a time.
const BATCH: usize = 64;

/// Fetches what is wanted from the commit's tarball; what it does not hold stays missing.
pub(super) async fn fetch(fetch: &Fetch<'_>, wanted: &[WantedBlobs], haul: &Haul) -> Result<(), SourceError> {
    let (owner, repo) = (segment(&fetch.slug.owner), segment(&fetch.slug.repo));
    let call = ApiCall {
        what: format!("the archive of {}", fetch.slug),
        target: Target::Rest(format!("/repos/{owner}/{repo}/tarball/{}", fetch.commit)),
        accept: "application/vnd.github+json",
        unless: None,
        most: 64 * 1024,
        hashed: true,
    };
    let mut body = fetch.client.open(&call).await?.into_body();
    let (chunks, arriving) = channel::<Bytes>(8);
    let (found, mut batches) = channel::<Vec<(ObjectId, Vec<u8>)>>(2);
    let paths: HashMap<String, ObjectId> =
        wanted.iter().map(|one| (one.path.as_str().to_owned(), one.id.clone())).collect();
    let largest = fetch.largest;
    let unpacking = tokio::task::spawn_blocking(move || {
        unpack(Arriving { chunks: arriving, now: Bytes::new() }, &paths, largest, &mut |batch| {
            found.blocking_send(batch).is_ok()
        })
    });
    let download = async move {
        let mut left = DOWNLOAD;
        // The download as a whole may take longer than one request; only silence may not.
        let silence = fetch.client.request_timeout;
        while let Some(frame) = tokio::time::timeout(silence, body.frame()).await? {
            let Ok(bytes) = frame.map_err(|error| io::Error::other(error.to_string()))?.into_data() else { continue };
            left = left
                .checked_sub(u64::try_from(bytes.len()).unwrap_or(u64::MAX))
                .ok_or_else(|| io::Error::other("the archive is too large"))?;
            if chunks.send(bytes).await.is_err() {
                break;
            }
        }
        Ok::<(), io::Error>(())
    };
    let keeping = async {
        while let Some(batch) = batches.recv().await {
            fetch.keep(batch, haul).await;
        }
    };
    let (downloaded, ()) = tokio::join!(download, keeping);
    let unpacked = unpacking.await.unwrap_or_else(|error| Err(io::Error::other(error)));
    downloaded.and(unpacked).map_err(|error| SourceError::Network {
        what: call.what.clone(),
        proxy: None,
        trouble: WebTrouble::Other,
        host: fetch.client.endpoints.rest.host_str().unwrap_or_default().to_owned(),
        reason: fetch.client.clean(&error.to_string()),
        tries: 1,
    })
}

/// Hands over the wanted files of an archive; stops when nobody takes them.
fn unpack(
    archive: impl Read,
    wanted: &HashMap<String, ObjectId>,
    largest: u64,
    give: &mut dyn FnMut(Vec<(ObjectId, Vec<u8>)>) -> bool,
) -> io::Result<()> {
    let mut archive = tar::Archive::new(GzDecoder::new(archive).take(UNPACKED));
    let mut batch = Vec::new();
    for entry in archive.entries()? {
        let entry = entry?;
        if !entry.header().entry_type().is_file() || entry.size() > largest {
            continue;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        // The first folder is the archive's own.
        let Some(id) = name.split_once('/').and_then(|(_, path)| wanted.get(path)).cloned() else { continue };
        let mut bytes = Vec::new();
        entry.take(largest).read_to_end(&mut bytes)?;
        if blob_id(&bytes) != id {
            continue;
        }
        batch.push((id, bytes));
        if batch.len() == BATCH && !give(std::mem::take(&mut batch)) {
            return Ok(());
        }
    }
    give(batch);
    Ok(())
}

/// The chunks of a download as something to read from.
struct Arriving {
    chunks: Receiver<Bytes>,
    now: Bytes,
}

impl Read for Arriving {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.now.is_empty() {
            match self.chunks.blocking_recv() {
                Some(bytes) => self.now = bytes,
                None => return Ok(0),
            }
        }
        let part = self.now.split_to(self.now.len().min(into.len()));
        for (place, byte) in into.iter_mut().zip(part.iter()) {
            *place = *byte;
        }
        Ok(part.len())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (path, bytes) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            // Written by hand: the builder refuses the paths that an attacker would use.
            let name = &mut header.as_old_mut().name;
            name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_cksum();
            archive.append(&header, *bytes).expect("written");
        }
        let mut packed = archive.into_inner().expect("whole");
        packed.flush().expect("whole");
        packed.finish().expect("whole")
    }

    fn unpacked(archive: &[u8], wanted: &[(&str, &[u8])], largest: u64) -> (Vec<Vec<u8>>, io::Result<()>) {
        let wanted = wanted.iter().map(|(path, bytes)| ((*path).to_owned(), blob_id(bytes))).collect();
        let mut found = Vec::new();
        let outcome = unpack(archive, &wanted, largest, &mut |batch| {
            found.extend(batch.into_iter().map(|(_, bytes)| bytes));
            true
        });
        (found, outcome)
    }

    #[test]
    fn only_wanted_files_of_the_right_bytes_and_size_are_taken() {
        let packed = archive(&[
            ("top/flows/a.json", b"a"),
            ("top/flows/altered.json", b"altered"),
            ("top/flows/large.json", b"0123456789"),
            ("top/../../etc/passwd", b"root"),
            ("top/README.md", b"readme"),
        ]);
        let wanted: [(&str, &[u8]); 3] =
            [("flows/a.json", b"a"), ("flows/altered.json", b"as it was"), ("flows/large.json", b"0123456789")];
        let (found, outcome) = unpacked(&packed, &wanted, 9);
        assert!(outcome.is_ok());
        assert_eq!(found, [b"a".to_vec()]);
    }

    #[test]
    fn an_archive_that_breaks_off_is_an_error() {
        let packed = archive(&[("top/flows/a.json", &[7; 4000])]);
        let (_, outcome) = unpacked(&packed[..packed.len() / 2], &[("flows/a.json", &[7; 4000])], 10_000);
        assert!(outcome.is_err());
    }
}
