//! What tests share: folders of their own, a stand-in GitHub, a fixed clock.

pub(crate) mod github;
pub(crate) mod mcp;
