//! Logs of guided executions as they are stored.

use flowy::internals::run::{Entry, Guided};
use flowy::internals::store::{decoded, encoded};

/// The rows of a log, one a line: the time in microseconds, the kind, and the body, with a blank between.
pub fn entries(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut log: Vec<Entry> = Vec::new();
    for line in text.lines().take(40) {
        let mut words = line.splitn(3, ' ');
        let (Some(at), Some(kind), Some(body)) = (words.next(), words.next(), words.next()) else { continue };
        let at = at.parse().unwrap_or_default();
        let read = decoded(at, kind, body);
        assert_eq!(read, decoded(at, kind, body), "equal bytes, equal entries");
        let Ok(entry) = read else { break };
        let (kind, body) = encoded(&entry.moment).unwrap();
        assert_eq!(decoded(at, kind, &body), Ok(entry.clone()), "what is kept is what happened");
        log.push(entry);
    }
    // A log is lived as it is replayed, and what does not follow changes nothing.
    let Some((first, rest)) = log.split_first() else { return };
    let Ok(mut lived) = Guided::begin(first) else { return };
    let mut kept = vec![first.clone()];
    for entry in rest {
        let before = lived.clone();
        match lived.apply(entry) {
            Ok(()) => kept.push(entry.clone()),
            Err(_) => assert_eq!(lived, before, "a refused entry changes nothing"),
        }
        assert_eq!(Guided::replay(&kept).as_ref(), Ok(&lived), "what was lived is what is replayed");
    }
}
