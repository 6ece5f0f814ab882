//! The promises of the product, over HTTP (wiremock) and MCP.

mod folder;
mod github;
mod mcp;
