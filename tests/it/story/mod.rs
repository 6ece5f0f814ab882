//! A user's morning, with the real program.

mod clients;
mod examples;
mod executions;
mod outage;
mod proxies;
mod running;
