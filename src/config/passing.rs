//! Settings as arguments, for a program that is started later by somebody else: it will stand in
//! another folder and see another environment.
//!
//! A token is never among them.

use super::environment::Environment;
use super::setting::Concern;
use super::{SETTINGS, Settings};

/// Who reads what is passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// The user, on this machine.
    User,
    /// A team: nothing that only this machine has.
    Team,
}

/// What can be passed on as arguments, and what cannot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passed {
    /// Flags and their values, for every setting that is not what it would be anyway.
    pub arguments: Vec<String>,
    /// The keys of `flowy.toml` for the settings that are set but can't be passed on.
    pub left: Vec<&'static str>,
}

impl Settings {
    /// What another start of this program needs in order to see these settings.
    ///
    /// The source is left out: only its reader knows whether it is a folder, which would have to
    /// be named by an absolute path.
    pub fn passed_on(&self, environment: &Environment, to: Audience) -> Passed {
        let usual = Self::defaults(environment);
        let mut passed = Passed { arguments: Vec::new(), left: Vec::new() };
        for row in SETTINGS.iter().filter(|row| row.concern != Concern::Source) {
            let (Some(key), Some(value)) = (row.key, (row.written)(self)) else { continue };
            if Some(&value) == (row.written)(&usual).as_ref() {
                continue;
            }
            let of_this_machine = matches!(row.concern, Concern::Servers | Concern::CacheFolder | Concern::StateFolder);
            match row.flag {
                Some(flag) if to == Audience::User || !of_this_machine => {
                    passed.arguments.push(flag.to_owned());
                    passed.arguments.extend(row.value.is_some().then_some(value));
                }
                _ => passed.left.push(key),
            }
        }
        passed
    }
}
