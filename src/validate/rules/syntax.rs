//! `syntax`: the file can't be read as JSON; found while reading.

use crate::code::Code;
use crate::validate::{Check, Reach, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "syntax",
    code: Code::ParseError,
    summary: "The file is strict JSON in UTF-8, nested no deeper than 64 levels.",
    ..Rule::error(Reach::Flow, Check::Reading)
};
