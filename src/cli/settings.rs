//! The flags that are settings: made from the table of settings, and kept as they were written.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use crate::config::{Concern, Flags, SETTINGS, SettingRow};

/// Under what the flags of settings stand that only few people need.
pub(super) const RARE: &str = "Settings";

/// What the flags that are settings were given.
#[derive(Debug, Clone, Default)]
pub(super) struct SettingFlags(pub(super) Flags);

/// The name by which clap knows a setting's flag; also the flag without its dashes.
fn id_of(row: &SettingRow) -> Option<&'static str> {
    row.flag.map(|flag| flag.trim_start_matches('-'))
}

/// What a flag is about; `None` where it is no setting.
pub(super) fn concern_of(id: &str) -> Option<Concern> {
    SETTINGS.iter().find(|row| id_of(row) == Some(id)).map(|row| row.concern)
}

/// A setting's flag.
fn flag_of(row: &'static SettingRow) -> Option<Arg> {
    let id = id_of(row)?;
    let rare = !matches!(row.concern, Concern::Source | Concern::Catalog);
    let flag = Arg::new(id)
        .long(id)
        .global(true)
        .help(sentence(row.meaning))
        .help_heading(if rare { RARE } else { "Catalog" })
        .hide_short_help(rare);
    Some(match row.value {
        Some(value) => flag.value_name(value),
        None => flag.action(ArgAction::SetTrue),
    })
}

/// A text with a capital first.
fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().into_iter().flat_map(char::to_uppercase).chain(rest).collect()
}

impl Args for SettingFlags {
    fn augment_args(command: Command) -> Command {
        command.args(SETTINGS.iter().filter_map(flag_of))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Flags::default();
        for (row, id) in SETTINGS.iter().filter_map(|row| Some((row, id_of(row)?))) {
            let given = match row.value {
                Some(_) => matches.get_one::<String>(id).cloned(),
                None => matches.get_flag(id).then(|| true.to_string()),
            };
            if let (Some(flag), Some(text)) = (row.flag, given) {
                flags = flags.with(flag, text);
            }
        }
        Ok(Self(flags))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
