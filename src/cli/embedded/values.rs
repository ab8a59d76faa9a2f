//! The options of a command by name and value, as a program that embeds whenstop gives them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, CommandFactory, Parser};

use super::super::{Cli, CliCommand};
use super::unexpected;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::reader::forget_inputs;

/// What a command works on, and its options by keyword: the long name on the command line with underscores, for example
/// `max_killed`. What an option means, its default and what it accepts are declared once, for both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeywordArguments {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// The options that are given.
    pub options: BTreeMap<String, OptionValue>,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// Of an option that is either given or not.
    Switch(bool),
    /// One value or, of an option that can be repeated, several.
    Given(Vec<OsString>),
}

/// Keywords with another name than on the command line, where `--format` is that of the output.
const KEYWORDS: [(&str, &str); 2] = [("columns", "map"), ("format", "as")];

impl KeywordArguments {
    /// Reads them as those of `command`.
    pub(super) fn read(self, command: &str) -> Result<CliCommand, Diagnostics> {
        let mut cli = Cli::command();
        cli.build();
        let declared = cli.find_subcommand(command).ok_or_else(unexpected)?;
        let mut arguments = vec![OsString::from("whenstop"), command.into()];
        for (keyword, value) in self.options {
            let long = long_of(&keyword);
            let is_it = |arg: &&Arg| arg.get_long_and_visible_aliases().is_some_and(|names| names.contains(&&*long));
            let Some(arg) = declared.get_arguments().find(is_it) else {
                let what = format!("`{command}` has no option `{keyword}`");
                return Err(Diagnostic::new(Location::default(), what, "see the options of this function").into());
            };
            let name = OsString::from(format!("--{long}"));
            match (value, arg.get_action().takes_values()) {
                (OptionValue::Switch(false), _) => {}
                (OptionValue::Switch(true), false) => arguments.push(name),
                (OptionValue::Given(values), true) => {
                    for value in values {
                        let mut argument = name.clone();
                        argument.push("=");
                        argument.push(value);
                        arguments.push(argument);
                    }
                }
                (OptionValue::Switch(true), true) => return Err(wrong_kind(&keyword, "a value, not true")),
                (OptionValue::Given(_), false) => return Err(wrong_kind(&keyword, "true or false")),
            }
        }
        arguments.push("--".into());
        arguments.extend(self.paths.into_iter().map(OsString::from));
        forget_inputs();
        let read = Cli::try_parse_from(arguments).map_err(|error| misread(&error, declared))?;
        read.command.ok_or_else(unexpected)
    }
}

fn long_of(keyword: &str) -> String {
    match KEYWORDS.iter().find(|(name, _)| *name == keyword) {
        Some((_, long)) => (*long).to_owned(),
        None => keyword.replace('_', "-"),
    }
}

fn keyword_of(long: &str) -> String {
    match KEYWORDS.iter().find(|(_, name)| *name == long) {
        Some((keyword, _)) => (*keyword).to_owned(),
        None => long.replace('-', "_"),
    }
}

fn wrong_kind(keyword: &str, takes: &str) -> Diagnostics {
    Diagnostic::new(Location::default(), format!("`{keyword}` takes {takes}"), "see the options of this function")
        .into()
}

/// The error of the command line in the words of a caller who has none.
fn misread(error: &clap::Error, declared: &clap::Command) -> Diagnostics {
    let mut text = error.render().to_string();
    for arg in declared.get_arguments() {
        if let Some(long) = arg.get_long() {
            let keyword = format!("`{}`", keyword_of(long));
            text = text.replace(&format!("'{arg}'"), &keyword).replace(&format!("'--{long}'"), &keyword);
        }
    }
    let (what, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let what = what.strip_prefix("error: ").unwrap_or(what).trim_end_matches(':');
    // A usage line is of no use without a command line.
    let rest =
        rest.split("\nUsage:").next().unwrap_or_default().split("For more information").next().unwrap_or_default();
    let lines: Vec<&str> = rest.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let help = if lines.is_empty() { "see the options of this function".to_owned() } else { lines.join("; ") };
    Diagnostic::new(Location::default(), what, help).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(value: &str) -> OptionValue {
        OptionValue::Given(vec![value.into()])
    }

    fn refused(options: &[(&str, OptionValue)]) -> (String, String) {
        let options = options.iter().map(|(keyword, value)| ((*keyword).to_owned(), value.clone())).collect();
        let error = KeywordArguments { paths: vec!["runs".into()], options }.read("compare").expect_err("refused");
        (error.first().what.clone(), error.first().help.clone())
    }

    #[test]
    fn options_are_read_by_keyword() {
        let options = [
            ("max_killed", given("0.2")),
            ("columns", given("id=a,text=b")),
            ("format", given("trace")),
            ("strict", OptionValue::Switch(true)),
            ("whole_budget", OptionValue::Switch(false)),
        ];
        let options = options.map(|(keyword, value)| (keyword.to_owned(), value));
        let read = KeywordArguments { paths: vec!["--runs".into()], options: options.into() }.read("compare");
        assert!(matches!(read, Ok(CliCommand::Compare(_))), "{:?}", read.err());
    }

    #[test]
    fn errors_name_the_keyword() {
        assert_eq!(refused(&[("max_killd", given("1"))]).0, "`compare` has no option `max_killd`");
        let (what, help) = refused(&[("max_killed", given("much"))]);
        assert!(what.contains("`max_killed`") && !what.contains("--") && !help.contains("--"), "{what} {help}");
        let (what, help) = refused(&[("unit", given("turn"))]);
        assert_eq!(what, "invalid value 'turn' for `unit`");
        assert!(help.starts_with("[possible values: run, round]"), "{help}");
        assert_eq!(refused(&[("strict", given("yes"))]).0, "`strict` takes true or false");
        assert_eq!(refused(&[("unit", OptionValue::Switch(true))]).0, "`unit` takes a value, not true");
    }
}
