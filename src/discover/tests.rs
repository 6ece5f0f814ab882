//! What a listing promises, held against typical flows and against anything a generator thinks of.

mod pages;
mod storage;
mod texts;
mod tiers;
