//! The promises of the product, over HTTP (wiremock) and MCP.
