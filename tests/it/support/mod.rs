//! What tests share: folders of their own, a stand-in GitHub, a fixed clock.

pub(crate) mod checking;
pub(crate) mod docs;
pub(crate) mod drawing;
pub(crate) mod editor;
pub(crate) mod github;
pub(crate) mod home;
pub(crate) mod mcp;
pub(crate) mod model;
pub(crate) mod peer;
pub(crate) mod program;
pub(crate) mod tools;
pub(crate) mod walking;

/// How many tokens a text has for a model (o200k).
pub(crate) fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base().unwrap().encode_ordinary(text).len()
}
