//! Everything the product can do, one function per use case.
//!
//! Surfaces call this room and print what it returns; it knows neither command lines nor
//! protocols.

pub mod clients;
