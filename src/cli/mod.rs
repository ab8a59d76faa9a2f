//! The command line: arguments, messages, exit codes; only this module writes to stdout and stderr.
//!
//! stdout is data, stderr is progress and messages.

mod bundled;
mod ci;
mod compare;
mod completions;
mod configurations;
mod convert;
mod corpus;
mod destination;
mod effects;
pub mod embedded;
mod examples;
mod exit;
mod explain;
mod export;
mod failure;
mod forecast;
mod gate;
mod help;
mod hook;
mod init;
mod inputs;
mod interrupt;
mod labels;
mod lint;
mod local;
mod man;
mod output;
mod report;
mod rounds;
mod rules;
mod schema;
mod texts;
mod tune;
mod values;

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue};
use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::diagnostic::{Diagnostic, Location};
use crate::report::CsvStyle;
pub use destination::{PathUse, use_of};
pub use exit::ProgramExit;
use failure::CommandFailure;
use output::Output;

/// Heading of the options that every command takes.
const EVERYWHERE: &str = "Global options";

/// When should the agent have stopped?
///
/// whenstop loads recorded agent runs, replays them through stop strategies that never ran on them, and says
/// where each would have stopped, what that would have saved, and which successes it would have killed.
///
/// Without a command it compares the bundled example stacks on the bundled recordings; with a path, the recordings there.
#[derive(Debug, Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(name = "whenstop", version, after_help = ProgramExit::LIST, max_term_width = 100)]
#[command(disable_help_flag = true, disable_help_subcommand = true)]
#[command(override_usage = "whenstop [PATH]... [OPTIONS]\n       whenstop COMMAND [OPTIONS]")]
pub struct Cli {
    #[command(subcommand)]
    command: Option<CliCommand>,
    /// Threads to use; the result is the same for any number.
    #[arg(long, global = true, help_heading = EVERYWHERE, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Print only errors to stderr.
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    quiet: bool,
    /// Print every note below an answer; by default those that fit on a screen of 24 lines. A page has them all.
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    notes: bool,
    /// Open the page `report.html` that was written, in the browser.
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    open: bool,
    /// Write CSV for a spreadsheet: a cell that it would read as a formula (`=1+1`, `@x`) gets a `'` in front. Without
    /// this option, rows hold ids exactly as recorded, for programs that join on them. `report` reads both.
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    spreadsheet: bool,
    /// Print help.
    #[arg(short, long, global = true, help_heading = EVERYWHERE, action = ArgAction::HelpShort)]
    help: Option<bool>,
    #[command(flatten)]
    example: bundled::Args,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// What is in the files: formats, runs, outcomes, tokens, oddities.
    ///
    /// Shows what is in the files: formats, runs, outcomes, tokens, and what looks wrong. It can also list the runs, the
    /// rounds, the calls with what each does to the world, the fields that were not used, and what runs still take.
    #[command(after_help = examples::CORPUS)]
    Corpus(corpus::Args),
    /// One run step by step, and where each stack stops it.
    ///
    /// Shows one run step by step: signals, decisions, and where each stack stops it.
    #[command(after_help = examples::EXPLAIN)]
    Explain(explain::Args),
    /// The sessions that agents keep on this machine, and a fuse for them.
    ///
    /// Reports on the sessions that agents keep on this machine, by round: what they cost, what the starter stacks would
    /// have stopped, and limits that would have disturbed nothing. Or follows the sessions that are growing. Nothing
    /// leaves the machine.
    #[command(after_help = examples::LOCAL)]
    Local(local::Args),
    /// A file of labels to fill in, for runs that nobody graded.
    ///
    /// Writes a file of labels to fill in, for runs without an outcome.
    #[command(after_help = examples::LABELS)]
    Labels(labels::Args),
    /// Recordings in whenstop's own format, with or without their texts.
    ///
    /// Converts recordings of any format to whenstop's own, with or without their texts, to keep or to share.
    #[command(after_help = examples::CONVERT)]
    Convert(convert::Args),
    /// Replay recordings under several stop strategies (the main job).
    ///
    /// Replays recordings under several stop strategies and compares them: the main job. `whenstop PATH` does the same.
    #[command(after_help = examples::COMPARE)]
    Compare(compare::Args),
    /// Find the limit to ship from recordings alone, with a certificate.
    ///
    /// Finds the stack to ship from recordings alone; chooses, certifies, writes it.
    #[command(after_help = examples::TUNE, after_long_help = examples::GRID)]
    Tune(tune::Args),
    /// What a stack file can name; lint one; a rule of your own.
    ///
    /// Lists signals, systems, presets and bailouts, explains one, finds slips in a stack file, or writes and tests a
    /// rule of your own in another program.
    Rules(rules::Args),
    /// A stack as a framework's own configuration.
    ///
    /// Writes a stack as a framework's own configuration, with a reason for each clause that it cannot express.
    #[command(after_help = examples::EXPORT)]
    Export(export::Args),
    /// Hold limits in the agent you use: install, test, doctor, log.
    ///
    /// Holds limits in the agent you use: sets its hook up, takes it out, says what it sees and what it did.
    #[command(after_help = examples::HOOK)]
    Hook(hook::Args),
    /// Gate in CI: init, check, review, accept, diff.
    ///
    /// Gates in CI: sets it up, compares stop points with accepted ones, and checks numbers against limits.
    #[command(after_help = examples::CI)]
    Ci(ci::Args),
    /// Redraw saved tables and figures; merge parts.
    ///
    /// Redraws tables and figures from the rows of a comparison, or merges the parts that `compare --shard` and
    /// `tune --shard` wrote.
    #[command(after_help = examples::REPORT)]
    Report(report::Args),
    /// The schema of one of whenstop's own formats.
    #[command(after_help = examples::SCHEMA)]
    Schema(schema::Args),
    /// Completions for a shell.
    #[command(after_help = examples::COMPLETIONS)]
    Completions(completions::Args),
    /// The manual page of a command, or all of them as files.
    #[command(after_help = examples::MAN)]
    Man(man::Args),
    /// Help on a command, or on options that many commands share.
    Help(help::Args),
}

/// Maximum threads. More would only wait for the thread that reads the files.
const MOST_THREADS: u16 = 256;

/// Removes temporary folders and ends guards when Ctrl-C, `kill` or a closed terminal ends the program, which then ends
/// as usual.
#[cfg(unix)]
fn clean_up_on_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    // If no handler can be set, folders of an interrupted run remain: no reason not to run.
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM]) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if interrupt::is_taken() {
                continue;
            }
            crate::reader::clean_up();
            crate::guard::end_all();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

#[cfg(not(unix))]
fn clean_up_on_signals() {}

/// Parses the arguments (the first is the program's name), runs the command and returns the exit code.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ProgramExit {
    let arguments: Vec<OsString> = arguments.collect();
    match parse(&arguments) {
        Ok((cli, Ok(()))) => run(cli, &arguments),
        Ok((cli, Err(refused))) => {
            let output = Output { quiet: cli.quiet, ..Output::default() };
            output.error(&refused);
            output.close(ProgramExit::Usage)
        }
        Err(error) => {
            let output = Output::default();
            let exit = output.parsing(&error);
            output.close(exit)
        }
    }
}

/// The arguments, and whether they name one file to be both read and written.
type Parsed = (Cli, Result<(), Diagnostic>);

/// Parses the arguments. A path in the place of a command is compared: `whenstop runs` is `whenstop compare runs`.
fn parse(arguments: &[OsString]) -> Result<Parsed, clap::Error> {
    let mut parser = help::helpful(Cli::command(), false);
    let checked = |parser: &clap::Command, matches: &clap::ArgMatches| {
        Ok((Cli::from_arg_matches(matches)?, destination::refuse_inputs(parser, matches)))
    };
    let parsed = parser.try_get_matches_from_mut(arguments);
    if let Err(error) = &parsed
        && names_recordings(error, arguments, &parser)
    {
        let (program, rest) = arguments.split_first().expect("a command was misspelt, so there are arguments");
        let compare = [program.clone(), "compare".into()].into_iter().chain(rest.iter().cloned());
        let matches = parser.try_get_matches_from_mut(compare)?;
        return checked(&parser, &matches);
    }
    checked(&parser, &parsed?)
}

/// Whether no command is named, and a file or folder stands where it would be.
fn names_recordings(error: &clap::Error, arguments: &[OsString], parser: &clap::Command) -> bool {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return false };
    let is_command = |argument: &&OsString| parser.find_subcommand(argument).is_some();
    let is_path = Path::new(word).exists() || word.contains(std::path::is_separator);
    is_path
        && !arguments
            .iter()
            .skip(1)
            .take_while(|argument| *argument != word.as_str())
            .any(|argument| is_command(&argument))
}

/// Runs the program, which was called with these arguments, and returns its exit code.
fn run(cli: Cli, arguments: &[OsString]) -> ProgramExit {
    let csv = if cli.spreadsheet { CsvStyle::Spreadsheet } else { CsvStyle::Plain };
    let command = arguments.iter().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    let (quiet, all_notes, opens) = (cli.quiet, cli.notes, cli.open);
    let output = Output { quiet, csv, all_notes, opens, command: Some(command), ..Output::default() };
    clean_up_on_signals();
    if let Some(asked) = cli.threads {
        let threads = asked.min(MOST_THREADS);
        if threads < asked {
            output.note(&format!("{asked} threads asked for; {threads} are used, the most there can be"));
        }
        if let Err(error) = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads)).build_global() {
            output.error(&Diagnostic::new(
                Location::default(),
                format!("cannot start {threads} threads: {error}"),
                "the system has no room for so many: ask for fewer with `--threads`",
            ));
            return ProgramExit::Usage;
        }
    }
    let result = match cli.command {
        None => bundled::run(&cli.example, &output),
        Some(CliCommand::Compare(args)) => compare::run(args, &output),
        Some(CliCommand::Tune(args)) => tune::run(&args, &output),
        Some(CliCommand::Report(args)) => report::run(&args, &output),
        Some(CliCommand::Corpus(args)) => corpus::run(&args, &output),
        Some(CliCommand::Convert(args)) => convert::run(&args, &output),
        Some(CliCommand::Explain(args)) => explain::run(args, &output),
        Some(CliCommand::Export(args)) => export::run(&args, &output),
        Some(CliCommand::Rules(args)) => rules::run(&args, &output),
        Some(CliCommand::Labels(args)) => labels::run(&args, &output),
        Some(CliCommand::Local(args)) => local::run(&args, &output),
        Some(CliCommand::Hook(args)) => hook::run(&args, &output),
        Some(CliCommand::Ci(args)) => ci::run(&args, &output),
        Some(CliCommand::Help(args)) => help::run(&args, &output),
        Some(CliCommand::Schema(args)) => schema::run(&args, &output),
        Some(CliCommand::Completions(args)) => completions::run(&args, &output),
        Some(CliCommand::Man(args)) => man::run(&args, &output),
    };
    let exit = result.unwrap_or_else(|failure: CommandFailure| {
        output.errors(&failure.diagnostics);
        failure.exit
    });
    output.close(exit)
}
