//! Lists of tools on disk: what a server offers is known before it is started again.
//!
//! The folder's name holds the version of this format. What is kept are names, descriptions and
//! schemas, nothing that the operator's file holds.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha1::{Digest as _, Sha1};

use crate::cache::Folder;
use crate::config::ServerSpec;
use crate::names::hex;

/// The folder below the cache folder, with the version of the format.
pub(super) const FOLDER: &str = "tools/v1";

/// A list as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    pub(super) read_at: DateTime<Utc>,
    pub(super) tools: Vec<KeptTool>,
    /// What is listed and is no tool that could be called: why, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) unusable: BTreeMap<String, String>,
    /// Why more may be listed than is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cut: Option<String>,
}

/// A tool as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct KeptTool {
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    pub(super) input_schema: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) output_schema: Option<Value>,
    #[serde(default)]
    pub(super) read_only: bool,
    #[serde(default)]
    pub(super) idempotent: bool,
}

/// The name of a server's file: another program or address under the same alias is another server.
pub(super) fn name_of(alias: &str, spec: &ServerSpec) -> String {
    let mut hash = Sha1::new();
    hash.update(alias);
    hash.update([0]);
    hash.update(&spec.identity);
    hex(&hash.finalize())
}

/// What is kept of a server, if anything is and can be read.
pub(super) fn read(folder: &Folder, alias: &str, spec: &ServerSpec) -> Option<Record> {
    let bytes = folder.read_checked(&name_of(alias, spec))?;
    serde_json::from_slice(&bytes).ok()
}

/// Keeps a list.
pub(super) fn write(folder: &Folder, alias: &str, spec: &ServerSpec, record: &Record) {
    if let Ok(bytes) = serde_json::to_vec(record) {
        folder.write_checked(&name_of(alias, spec), &bytes);
    }
}
