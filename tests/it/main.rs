//! All integration tests, in one binary: linking once is most of what a test binary costs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]
#![allow(missing_docs, reason = "tests are named after what they show")]

mod architecture;
mod check;
mod contract;
mod direct;
mod editor;
mod fuzzed;
mod guide;
mod guided;
mod markdown;
mod models;
mod story;
mod support;
mod surface;
mod testing;
mod upstream;
mod usage;
mod validate;
mod verdict;
mod walk;
