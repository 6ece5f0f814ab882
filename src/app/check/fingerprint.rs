//! Fingerprints of findings: the same for the same fault, wherever its lines have moved to.

use std::collections::HashMap;

use sha1::{Digest as _, Sha1};

use crate::names::hex;
use crate::validate::Finding;

/// A fingerprint for each finding of a file, in their order: 40 hexadecimal digits. It is made of rule, file,
/// flow, node and message, none of which tells a line; equal ones are told apart by counting.
pub fn fingerprints<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let one = |finding: &Finding| {
        let about = of(finding, 0);
        let times = seen.entry(about.clone()).or_default();
        *times += 1;
        if *times == 1 { about } else { of(finding, *times) }
    };
    findings.into_iter().map(one).collect()
}

fn of(finding: &Finding, times: usize) -> String {
    let mut hash = Sha1::new();
    let node = finding.node.as_deref().unwrap_or_default();
    let flow = finding.flow.as_deref().unwrap_or_default();
    for part in [finding.rule, finding.file.as_str(), flow, node, &finding.message] {
        hash.update(part);
        hash.update([0]);
    }
    hash.update(times.to_le_bytes());
    hex(&hash.finalize())
}
