//! Addresses of resources: read and written.
//!
//! A name stands percent-encoded in an address and is decoded once: `%2541` is the name `%41`.
//! A name that somebody forgot to encode is understood where nothing else can be meant.

use percent_encoding::percent_decode_str;

use crate::app::Error;
use crate::names::{quoted, segment, step_address};

/// One address, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::mcp) enum ResourceAddress {
    /// How flows are written.
    Format,
    /// The flows' names.
    List {
        /// Only flows that have all of these.
        tags: Vec<String>,
    },
    /// A flow's listing entry.
    Metadata(String),
    /// A flow's inputs.
    Schema(String),
    /// A flow's graph.
    Graph(String),
    /// A template.
    Template(String),
    /// An execution.
    Execution(String),
    /// One step of an execution.
    Step {
        /// The execution.
        id: String,
        /// The step.
        node: String,
    },
    /// A file that a tool gave in a step.
    File {
        /// The execution.
        id: String,
        /// The step.
        node: String,
        /// Which, from 1.
        number: usize,
    },
}

impl ResourceAddress {
    /// Reads an address.
    ///
    /// # Errors
    /// An unknown scheme or shape, or a name that is not UTF-8.
    pub(in crate::mcp) fn read(uri: &str) -> Result<Self, Error> {
        let unknown = || {
            Error::invalid(format!("there is no resource at {}", quoted(uri)))
                .next("resources/list and resources/templates/list show the addresses")
        };
        let (scheme, rest) = uri.split_once("://").ok_or_else(unknown)?;
        if rest.is_empty() {
            return Err(unknown());
        }
        if scheme.eq_ignore_ascii_case("template") {
            return Ok(Self::Template(decoded(rest)?));
        }
        if scheme.eq_ignore_ascii_case("execution") {
            // The rest belongs to the step: an id has no slash, and an artifact's place has some.
            return Ok(match rest.split_once('/') {
                None | Some((_, "")) => Self::Execution(decoded(rest.trim_end_matches('/'))?),
                Some((id, rest)) => match file_in(rest) {
                    Some((node, number)) => Self::File { id: decoded(id)?, node: decoded(node)?, number },
                    None => Self::Step { id: decoded(id)?, node: decoded(rest)? },
                },
            });
        }
        if !scheme.eq_ignore_ascii_case("flow") {
            return Err(unknown());
        }
        if let Some((kind, name)) = rest.split_once('/').filter(|(_, name)| !name.is_empty()) {
            return match kind {
                "metadata" => Ok(Self::Metadata(decoded(name)?)),
                "schema" => Ok(Self::Schema(decoded(name)?)),
                "graph" => Ok(Self::Graph(decoded(name)?)),
                _ => Err(unknown()),
            };
        }
        if rest.trim_end_matches('/') == "format" {
            return Ok(Self::Format);
        }
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        if path.trim_end_matches('/') == "list" { Ok(Self::List { tags: tags(query)? }) } else { Err(unknown()) }
    }

    /// The address as it is written.
    pub(in crate::mcp) fn write(&self) -> String {
        match self {
            Self::Format => "flow://format".to_owned(),
            Self::List { tags } if tags.is_empty() => "flow://list".to_owned(),
            Self::List { tags } => {
                let tags: Vec<String> = tags.iter().map(|tag| segment(tag)).collect();
                format!("flow://list?tags={}", tags.join(","))
            }
            Self::Metadata(name) => format!("flow://metadata/{}", segment(name)),
            Self::Schema(name) => format!("flow://schema/{}", segment(name)),
            Self::Graph(name) => format!("flow://graph/{}", segment(name)),
            Self::Template(name) => format!("template://{}", segment(name)),
            Self::Execution(id) => format!("execution://{}", segment(id)),
            Self::Step { id, node } => step_address(id, node),
            Self::File { id, node, number } => format!("{}/files/{number}", step_address(id, node)),
        }
    }
}

/// The step and the number of a file: `<step>/files/<number>`.
fn file_in(rest: &str) -> Option<(&str, usize)> {
    let (before, number) = rest.rsplit_once('/')?;
    Some((before.strip_suffix("/files").filter(|node| !node.is_empty())?, number.parse().ok()?))
}

/// Commas part tags before they are decoded: `%2C` is part of a tag.
fn tags(query: &str) -> Result<Vec<String>, Error> {
    let mut tags = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("tags", listed)) => {
                for tag in listed.split(',').filter(|tag| !tag.is_empty()) {
                    tags.push(decoded(tag)?);
                }
            }
            _ => {
                let message = format!("flow://list takes `tags`, and {} is something else", quoted(pair));
                return Err(Error::invalid(message).next("read flow://list?tags=first,second"));
            }
        }
    }
    Ok(tags)
}

fn decoded(text: &str) -> Result<String, Error> {
    let text = percent_decode_str(text).decode_utf8();
    text.map(std::borrow::Cow::into_owned).map_err(|_| {
        Error::invalid("the address holds percent-encoded bytes that are not UTF-8")
            .next("encode names as UTF-8, then percent-encode them")
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_address_is_read_and_decoded_once() {
        let tags = |tags: &[&str]| ResourceAddress::List { tags: tags.iter().map(|tag| (*tag).to_owned()).collect() };
        for (uri, meant) in [
            ("flow://format", ResourceAddress::Format),
            ("flow://list", tags(&[])),
            ("flow://list/", tags(&[])),
            ("flow://list?tags=a,b%2Cc,R%26D", tags(&["a", "b,c", "R&D"])),
            ("flow://metadata/%2541", ResourceAddress::Metadata("%41".to_owned())),
            ("flow://schema/C%23%20%26%20F%2B%20(v2)", ResourceAddress::Schema("C# & F+ (v2)".to_owned())),
            ("flow://graph/C# & F+ (v2)", ResourceAddress::Graph("C# & F+ (v2)".to_owned())),
            ("FLOW://metadata/100%", ResourceAddress::Metadata("100%".to_owned())),
            ("template://%E6%B8%AF", ResourceAddress::Template("港".to_owned())),
            ("execution://x_1/", ResourceAddress::Execution("x_1".to_owned())),
            (
                "execution://x_1/a%2Fartifacts/0",
                ResourceAddress::Step { id: "x_1".to_owned(), node: "a/artifacts/0".to_owned() },
            ),
        ] {
            assert_eq!(ResourceAddress::read(uri), Ok(meant), "{uri}");
        }
        for wrong in [
            "",
            "flow",
            "flow://",
            "flow://x",
            "flow://metadata",
            "flow://metadata/",
            "flow://list?x=1",
            "file:///etc/passwd",
            "flow://schema/%FF",
            "template://",
        ] {
            assert!(ResourceAddress::read(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(name in "\\PC{1,20}", other in "[ -~]{1,20}") {
            for address in [
                ResourceAddress::Metadata(name.clone()),
                ResourceAddress::Template(name.clone()),
                ResourceAddress::List { tags: vec![name.clone(), other.clone()] },
                ResourceAddress::Step { id: name.clone(), node: other.clone() },
            ] {
                prop_assert_eq!(ResourceAddress::read(&address.write()), Ok(address));
            }
        }
    }
}
