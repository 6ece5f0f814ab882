//! The validator, rule by rule.
