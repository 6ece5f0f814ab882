//! Steps that a model answers: who answers what, the call and its tries, waits for limits, the shape of
//! an answer, budgets.
//!
//! How a provider is spoken to is behind the port [`Generator`]; HTTP, files and the store are not known
//! here. An answer is a value like any other: it is inserted once and never expanded.
//!
//! | file | what is in it |
//! |---|---|
//! | `port` | one call to a model, its answer and its troubles; the port |
//! | `choosing` | who answers a step, as files, callers and the operator say |
//! | `models` | the operator's models with what is remembered of them, and which steps they answer |
//! | `answering` | one step: the contract's ladder, one turn of repair, what its failure says |
//! | `trying` | one call: tries, waits for limits, models that stand in |
//! | `gate` | how many calls of a model are made at once |
//! | `reading` | the JSON in what a model wrote |
//! | `budget` | tokens reserved before a call and settled after it |

#![warn(clippy::wildcard_enum_match_arm)]

mod answering;
mod budget;
mod choosing;
mod gate;
mod models;
mod port;
mod reading;
mod trying;

pub use answering::{ended, of_trouble};
pub use budget::DayBook;
pub use choosing::{Answerer, ModelChoice, who};
pub use models::{ModelWorker, Models, OnPiece, Priced, PricedTotal, StreamPiece};
pub use port::{Generating, Generator, OnText, Prompt, Reply, Shape, Speaker, Trouble, TroubleKind, Turn};
pub use trying::AnswerBook;
