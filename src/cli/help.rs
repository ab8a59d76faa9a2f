//! `whenstop help`, and `--help` of every command within two screens: options that many commands share are explained
//! once, under a topic, and commands are listed by what they are for.

use std::fmt::Write as _;

use clap::{Arg, CommandFactory};

use super::failure::CommandFailure;
use super::inputs::{DOUBTS, READING};
use super::output::Output;
use super::{Cli, EVERYWHERE, ProgramExit};
use crate::diagnostic::{did_you_mean, nearest};

/// Heading of the options that split the tasks.
const SPLITTING: &str = "Splitting the tasks";

/// Arguments of `help`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A command, such as `compare` or `ci check`, or a topic: `reading`, `splitting`, `assumptions`, `global`;
    /// `validity` says how often each kind of number held where the truth was known.
    #[arg(value_name = "COMMAND|TOPIC")]
    words: Vec<String>,
    /// Print every option of the command, with everything there is to say about it.
    #[arg(long)]
    full: bool,
}

/// Options that many commands share.
struct Topic {
    name: &'static str,
    /// The heading of the options.
    heading: &'static str,
    /// What they are about, as part of a sentence.
    about: &'static str,
}

const TOPICS: [Topic; 4] = [
    Topic { name: "reading", heading: READING, about: "how recordings are read" },
    Topic { name: "splitting", heading: SPLITTING, about: "splitting the tasks" },
    Topic { name: "assumptions", heading: DOUBTS, about: "label errors and assumptions" },
    Topic { name: "global", heading: EVERYWHERE, about: "every command" },
];

/// The topic without options: how often each kind of number held. `tests/it/validity.rs` makes it from the results in
/// `reports/`.
const VALIDITY: &str = "validity";
const HELD: &str = include_str!("validity.txt");

/// The commands by what they are for.
const GROUPS: [(&str, &[&str]); 3] = [
    ("Look at recordings", &["corpus", "explain", "local", "labels", "convert"]),
    ("Compare and choose", &["compare", "tune", "rules", "report"]),
    ("Put it to use", &["export", "hook", "ci"]),
];
/// What only `whenstop help` lists.
const PLUMBING: (&str, &[&str]) = ("Plumbing", &["schema", "completions", "man", "help"]);

/// The parser, with the help that `--help` prints: of a command's options those that many people need, or `in_full` all of
/// its own. Shared options are always left to their topics.
pub(super) fn helpful(root: clap::Command, in_full: bool) -> clap::Command {
    let listed = list(&root, &GROUPS);
    let names: Vec<String> = root.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let root =
        names.iter().fold(root, |root, name| root.mut_subcommand(name, |command| shortened(command, name, in_full)));
    without_shared(root)
        .before_help(listed)
        .after_help(format!("More options: `whenstop help global`.\n\n{}", ProgramExit::LIST))
        .help_template("{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}")
}

/// The commands, a line each.
fn list(root: &clap::Command, groups: &[(&str, &[&str])]) -> String {
    let mut text = String::new();
    for (title, names) in groups {
        let _ = writeln!(text, "{title}:");
        for name in *names {
            let about = root.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name:<13}{about}");
        }
        text.push('\n');
    }
    text.trim_end().to_owned()
}

/// Hides the options that belong to topics and names the topics instead, in the command and those below it.
fn shortened(command: clap::Command, path: &str, in_full: bool) -> clap::Command {
    let below: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    let command = below.iter().fold(command, |command, name| {
        command.mut_subcommand(name, |below| shortened(below, &format!("{path} {name}"), in_full))
    });
    let has = |topic: &Topic| command.get_arguments().any(|arg| arg.get_help_heading() == Some(topic.heading));
    let mut topics: Vec<String> =
        TOPICS.iter().filter(|topic| has(topic)).map(|topic| format!("`{}` ({})", topic.name, topic.about)).collect();
    topics.push("`global`".to_owned());
    let mut more = format!("More options: `whenstop help TOPIC` for {}.", topics.join(", "));
    if !in_full {
        let _ = write!(more, " In full: `whenstop help {path} --full`.");
    }
    let examples = command.get_after_help().map(|examples| format!("{examples}\n\n")).unwrap_or_default();
    // The first paragraph is for the list of commands; the rest says the same at length.
    let long = command.get_long_about().map(ToString::to_string).unwrap_or_default();
    let command = match long.split_once("\n\n") {
        Some((_, rest)) => command.about(rest.to_owned()),
        None => command,
    };
    without_shared(command).after_help(format!("{examples}{more}"))
}

/// The command with the options hidden that many commands share: a topic explains them.
fn without_shared(command: clap::Command) -> clap::Command {
    let is_shared = |arg: &Arg| TOPICS.iter().any(|topic| arg.get_help_heading() == Some(topic.heading));
    command.mut_args(|arg| if is_shared(&arg) { arg.hide(true) } else { arg })
}

/// `whenstop help`.
pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    if let [word] = args.words.as_slice()
        && let Some(topic) = TOPICS.iter().find(|topic| topic.name == word)
    {
        output.bytes(topic_text(topic).as_bytes());
        return Ok(ProgramExit::Done);
    }
    if args.words == [VALIDITY] {
        output.data(HELD);
        return Ok(ProgramExit::Done);
    }
    if args.words.is_empty() {
        let listed = list(&Cli::command(), &[PLUMBING]);
        let text = format!("{}\n{listed}\n", helpful(Cli::command(), false).render_help());
        output.bytes(text.as_bytes());
        return Ok(ProgramExit::Done);
    }
    let mut command = helpful(Cli::command(), args.full);
    command.build();
    let mut named = &mut command;
    for word in &args.words {
        if named.find_subcommand(word).is_none() {
            return Err(unknown(named, word));
        }
        named = named.find_subcommand_mut(word).expect("it was just found");
    }
    let text = if args.full { named.render_long_help() } else { named.render_help() };
    output.bytes(text.to_string().as_bytes());
    Ok(ProgramExit::Done)
}

fn topic_text(topic: &Topic) -> String {
    let mut full = Cli::command();
    full.build();
    // This command has the options of every topic.
    let command = full.find_subcommand("compare");
    let args = command.into_iter().flat_map(clap::Command::get_arguments);
    let args: Vec<Arg> = args.filter(|arg| arg.get_help_heading() == Some(topic.heading)).cloned().collect();
    let only = clap::Command::new("whenstop").disable_help_flag(true).disable_version_flag(true).args(args);
    only.help_template("{all-args}").render_long_help().to_string()
}

/// The error for a word that is neither a command below `command` nor a topic.
pub(super) fn unknown(command: &clap::Command, word: &str) -> CommandFailure {
    let commands = command.get_subcommands().map(clap::Command::get_name);
    let known: Vec<&str> = commands.chain(TOPICS.iter().map(|topic| topic.name)).chain([VALIDITY]).collect();
    let help = did_you_mean(nearest(word, known.iter().copied()), "`whenstop help` lists the commands");
    CommandFailure::arguments(format!("no command or topic is called `{word}`"), help)
}
