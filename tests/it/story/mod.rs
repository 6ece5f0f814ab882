//! A user's morning, with the real program.

mod clients;
mod examples;
mod executions;
#[cfg(unix)]
mod named;
mod outage;
mod proxies;
mod running;
