//! A flow: what a file says of one graph.

use std::collections::HashMap;

use crate::document::Pointer;
use crate::model::{Edge, ModelWish, Node, Refinement};
use crate::names::{CatalogPath, ItemName};

/// Which of the two file shapes a flow was written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `{metadata, flows: [{meta, nodes, edges}]}`, which the FlowyPrompt web app exports.
    Export,
    /// `{metadata: {name, version}, nodes, edges}`.
    Flat,
    /// A file in Markdown: read as the flat shape, but its edges are what its texts read.
    Markdown,
}

/// One flow of a catalog.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// The name it is listed under: the file's stem where the file holds one flow, else `meta.name`.
    pub name: ItemName,
    /// Whether `name` had to be made up because what the file says is missing or not a name.
    pub name_made_up: bool,
    /// The file it stands in.
    pub file: CatalogPath,
    /// Where it begins in the file: the root, or `/flows/0`.
    pub base: Pointer,
    /// Its number among the file's flows, from 0.
    pub place_in_file: usize,
    /// How many flows the file holds.
    pub flows_in_file: usize,
    /// The file's shape.
    pub shape: Shape,
    /// `meta.id`.
    pub id: Option<String>,
    /// `meta.name` or the flat shape's `metadata.name`, as written.
    pub given_name: Option<String>,
    /// The version as written; numbers as their digits.
    pub version: Option<String>,
    /// What the flow is for.
    pub description: Option<String>,
    /// When it was made, as written.
    pub created: Option<String>,
    /// When it was last changed, as written.
    pub updated: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// `category`, else the folders below `flows/`.
    pub category: Option<String>,
    /// `simple`, `moderate` or `high`.
    pub complexity: Option<String>,
    /// How long a person should expect it to take, as written.
    pub estimated_duration: Option<String>,
    /// Tags, in file order.
    pub tags: Vec<String>,
    /// Requests that this flow should be found by.
    pub examples: Vec<String>,
    /// `expose`: whether the flow asks to be a tool of its own.
    pub expose: bool,
    /// `model`: who answers steps that don't say so themselves.
    pub model: Option<ModelWish>,
    /// What `inputs` says of variables, in file order.
    pub inputs: Vec<Refinement>,
    /// What `outputs` says of results: label and description, in file order.
    pub outputs: Vec<(String, String)>,
    /// Nodes, in file order.
    pub nodes: Vec<Node>,
    /// Edges, in file order.
    pub edges: Vec<Edge>,
}

impl Flow {
    /// The pointer to `meta` (export shape) or `metadata` (flat shape).
    pub fn meta(&self) -> Pointer {
        match self.shape {
            Shape::Export => self.base.key("meta"),
            Shape::Flat | Shape::Markdown => self.base.key("metadata"),
        }
    }

    /// The pointer to a node, by its place in `nodes`.
    pub fn node_pointer(&self, node: usize) -> Pointer {
        let index = self.nodes.get(node).map_or(node, |n| n.index);
        self.base.key("nodes").item(index)
    }

    /// The pointer to an edge, by its place in `edges`.
    pub fn edge_pointer(&self, edge: usize) -> Pointer {
        let index = self.edges.get(edge).map_or(edge, |e| e.index);
        self.base.key("edges").item(index)
    }

    /// The node of an id, by its place in `nodes`; of several, the first.
    pub fn place_of(&self, id: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.id == id)
    }

    /// The nodes that each edge leads from and to; none where one of them isn't there. Of nodes of one id, the first.
    pub fn ends(&self) -> Vec<Option<(usize, usize)>> {
        let numbers: HashMap<&str, usize> =
            self.nodes.iter().enumerate().rev().map(|(number, node)| (node.id.as_str(), number)).collect();
        let ends = |edge: &Edge| Some((*numbers.get(edge.from.as_str())?, *numbers.get(edge.to.as_str())?));
        self.edges.iter().map(ends).collect()
    }
}
