//! placeholder
use crate::config::Settings;
/// x
pub fn start_logging(_settings: &Settings) {}
