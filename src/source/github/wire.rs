//! The shapes of GitHub's answers, as far as they are read.

use std::collections::HashMap;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use crate::names::{ObjectId, RepoSlug};

/// An answer to `git/trees`.
#[derive(Debug, Deserialize)]
pub(super) struct Tree {
    pub(super) tree: Vec<TreeEntry>,
    #[serde(default)]
    pub(super) truncated: bool,
}

/// One entry of a tree.
#[derive(Debug, Deserialize)]
pub(super) struct TreeEntry {
    pub(super) path: String,
    pub(super) mode: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) sha: String,
    #[serde(default)]
    pub(super) size: Option<u64>,
}

/// An answer to `repos/{owner}/{repo}`.
#[derive(Debug, Deserialize)]
pub(super) struct RepositoryAnswer {
    pub(super) default_branch: String,
}

/// An answer to `compare/{base}...{head}`.
#[derive(Debug, Deserialize)]
pub(super) struct Comparison {
    pub(super) status: Compared,
}

/// How the head of a comparison lies to its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Compared {
    Ahead,
    Behind,
    Diverged,
    Identical,
}

/// One entry of an answer to `git/matching-refs`.
#[derive(Debug, Deserialize)]
pub(super) struct RefAnswer {
    /// With `refs/heads/` or `refs/tags/` in front.
    #[serde(rename = "ref")]
    pub(super) name: String,
}

/// An error's body.
#[derive(Debug, Deserialize)]
struct Message {
    message: String,
}

/// What an error answer of GitHub's API says; `None` where it is none.
pub(super) fn api_message(body: &[u8]) -> Option<String> {
    serde_json::from_slice(body).ok().map(|Message { message }| message)
}

/// What an error answer says, unless it is a web page.
pub(super) fn message(body: &[u8]) -> String {
    if let Some(message) = api_message(body) {
        return message;
    }
    let text = String::from_utf8_lossy(body.get(..body.len().min(500)).unwrap_or(body)).trim().to_owned();
    if text.starts_with(['<', '{', '[']) { String::new() } else { text }
}

/// An answer to a GraphQL post: data, errors, or some of both.
#[derive(Debug, Deserialize)]
pub(super) struct GraphQl {
    #[serde(default)]
    pub(super) data: Option<QueryAnswer>,
    #[serde(default, deserialize_with = "listed")]
    pub(super) errors: Vec<GraphQlError>,
    /// What stands alone where the post as a whole was refused.
    #[serde(default)]
    message: String,
}

impl GraphQl {
    /// The errors of its parts, and that of the whole.
    pub(super) fn refusals(&mut self) -> Vec<GraphQlError> {
        let mut errors = std::mem::take(&mut self.errors);
        if !self.message.is_empty() {
            errors.push(GraphQlError { message: std::mem::take(&mut self.message), ..GraphQlError::default() });
        }
        errors
    }
}

/// Errors in a list; whatever else stands there, as the null of some servers, tells of none.
fn listed<'de, D: Deserializer<'de>>(written: D) -> Result<Vec<GraphQlError>, D::Error> {
    let items = match Value::deserialize(written)? {
        Value::Array(items) => items,
        _ => Vec::new(),
    };
    Ok(items.into_iter().filter_map(|item| serde_json::from_value(item).ok()).collect())
}

#[derive(Debug, Deserialize)]
pub(super) struct QueryAnswer {
    #[serde(default)]
    pub(super) repository: Option<GraphObjects>,
}

#[derive(Debug, Deserialize)]
pub(super) struct GraphObjects {
    #[serde(rename = "defaultBranchRef", default)]
    pub(super) branch: Option<NamedRef>,
    #[serde(flatten)]
    pub(super) blobs: HashMap<String, Option<BlobAnswer>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct NamedRef {
    pub(super) name: String,
}

/// A blob, as far as GraphQL shows it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BlobAnswer {
    #[serde(default)]
    pub(super) is_binary: Option<bool>,
    #[serde(default)]
    pub(super) is_truncated: bool,
    #[serde(default)]
    pub(super) text: Option<String>,
}

/// One error of a GraphQL post.
#[derive(Debug, Default, Deserialize)]
pub(super) struct GraphQlError {
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) code: String,
    #[serde(default)]
    pub(super) message: String,
    #[serde(default)]
    extensions: Value,
    #[serde(default)]
    pub(super) path: Vec<Value>,
}

impl GraphQlError {
    /// The words that say what kind of error it is.
    pub(super) fn marks(&self) -> [&str; 3] {
        let extension = self.extensions.get("code").and_then(Value::as_str).unwrap_or_default();
        [&self.kind, &self.code, extension]
    }

    /// Whether it is about the repository as a whole rather than one object.
    pub(super) fn is_about_repository(&self) -> bool {
        matches!(self.path.as_slice(), [only] if only.as_str() == Some("repository"))
    }
}

/// The alias of the blob with this number in a query.
pub(super) fn alias(number: usize) -> String {
    format!("b{number}")
}

/// A post that asks for blobs by id, and for the default branch's name where that is wanted.
pub(super) fn blob_query(slug: &RepoSlug, ids: &[&ObjectId], with_branch: bool) -> Value {
    use std::fmt::Write as _;
    let mut heads = String::new();
    let mut fields = String::new();
    let mut variables = Map::new();
    variables.insert("owner".to_owned(), slug.owner.clone().into());
    variables.insert("name".to_owned(), slug.repo.clone().into());
    if with_branch {
        fields.push_str("defaultBranchRef{name} ");
    }
    for (number, id) in ids.iter().enumerate() {
        let _ = write!(heads, ",$o{number}:GitObjectID!");
        let _ = write!(fields, "{}:object(oid:$o{number}){{...file}} ", alias(number));
        variables.insert(format!("o{number}"), id.as_str().into());
    }
    let query = format!(
        "query($owner:String!,$name:String!{heads}){{repository(owner:$owner,name:$name){{{fields}}}}} \
         fragment file on Blob{{oid byteSize isBinary isTruncated text}}"
    );
    json!({ "query": query, "variables": variables })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_page_is_not_repeated() {
        assert_eq!(message(br#"{"message":"Bad credentials"}"#), "Bad credentials");
        assert_eq!(message(b"<!DOCTYPE html><title>Unicorn!"), "");
        assert_eq!(message(b"404: Not Found"), "404: Not Found");
    }

    #[test]
    fn partial_data_is_read_beside_its_errors() {
        let body = br#"{"data":{"repository":{"defaultBranchRef":{"name":"trunk"},"b0":null,"b1":{"oid":"x","byteSize":1,"isBinary":false,"isTruncated":false,"text":"a"}}},
            "errors":[{"message":"m","path":["repository","b0"]}]}"#;
        let answer: GraphQl = serde_json::from_slice(body).expect("readable");
        let objects = answer.data.and_then(|data| data.repository).expect("there");
        assert_eq!(objects.branch.expect("there").name, "trunk");
        assert!(objects.blobs["b0"].is_none() && objects.blobs["b1"].is_some());
        assert!(!answer.errors[0].is_about_repository());
    }
}
