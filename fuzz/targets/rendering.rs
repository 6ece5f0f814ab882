//! Any bytes, held to the law of `rendering`.

#![no_main]

#[path = "../laws/mod.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::rendering(bytes));
