//! `flowy explain`: what a rule of `flowy validate` looks for, with examples.

use super::{Done, Stop, World};
use crate::app::{Error, RULES};
use crate::cli::args::ExplainArgs;
use crate::names::nearest;
use crate::report::rules::RulePage;
use crate::report::{human, wire};

/// Prints a rule's page, or the list of rules.
pub(super) fn explain(args: &ExplainArgs, world: &World<'_>) -> Done {
    let Some(wanted) = &args.rule else {
        world.answer(wire::rules, human::rules);
        return Ok(0);
    };
    let Some(page) = RulePage::of(wanted) else {
        let near: Vec<String> =
            nearest(wanted, RULES.iter().map(|rule| rule.id), 3).into_iter().map(str::to_owned).collect();
        let error = Error::not_found(crate::app::Code::InvalidRequest, "rule", wanted, &near);
        return Err(Stop::failed(error.next(hint(&near)), 2));
    };
    world.answer(|| wire::rule(&page), |look| human::rule(&page, look));
    Ok(0)
}

fn hint(near: &[String]) -> String {
    const ALL: &str = "`flowy explain` lists the rules";
    if near.is_empty() { ALL.to_owned() } else { format!("did you mean {}? {ALL}", near.join(" or ")) }
}
