//! Edges: who comes before whom, and which values go along.

use crate::names::words;

/// The most edges a flow may have.
pub const MAX_EDGES: usize = 5_000;

words! {
    /// What an edge was drawn for. Order doesn't depend on it: every edge orders.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum EdgeKind {
        /// Carries input values.
        Data = "data",
        /// One step after another.
        Chain = "chain",
        /// Into a result node.
        Result = "result",
    }
}

/// One edge.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// Its id, where it has one.
    pub id: Option<String>,
    /// Its place in the file's `edges` list, from 0.
    pub index: usize,
    /// `source`: the id of the node it leaves, as written.
    pub from: String,
    /// `target`: the id of the node it enters, as written.
    pub to: String,
    /// `data.connectionType`, else `type`, where one of them is one of the three.
    pub kind: Option<EdgeKind>,
    /// `targetHandle`.
    pub target_handle: Option<String>,
    /// `data.mapping`: target variable and where it comes from, in file order.
    pub mapping: Vec<(String, String)>,
}

impl Edge {
    /// The edge as a reader knows it: its id, or its ends.
    pub fn caption(&self) -> String {
        match &self.id {
            Some(id) => id.clone(),
            None => format!("{} → {}", self.from, self.to),
        }
    }
}
