//! `whenstop hook`: sets up the hook in an agent, takes it out again, and says what it sees and did.

mod doctor;
mod edit;
mod install;
mod log;

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use whenstop_hook::host::HostAgent;
use whenstop_hook::settings::{Folders, HookMode};

use super::ProgramExit;
use super::failure::CommandFailure;
use super::inputs::read_text;
use super::output::Output;
use super::values::one_of;
use crate::diagnostic::{Diagnostic, Location};

/// Arguments of `hook`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: HookCommand,
}

#[derive(Debug, clap::Subcommand)]
enum HookCommand {
    /// Set up the hook: show what changes in the agent's configuration, ask, keep a copy.
    Install(install::Args),
    /// Take the hook out of the agent's configuration again.
    Uninstall(install::UninstallArgs),
    /// Send events to the hook, with a state of their own, and print its answers.
    Test(TestArgs),
    /// Say what the hook sees: for each rule exact, late or blind; what is missing or has changed.
    Doctor(doctor::Args),
    /// Print what the hook decided, or write its sessions as recordings.
    Log(log::Args),
}

/// The argument that names an agent.
fn agent() -> impl TypedValueParser<Value = HostAgent> {
    one_of(HostAgent::ALL, |host| (host.id(), host.name()))
}

/// The argument that says what a decision leads to.
fn mode() -> impl TypedValueParser<Value = HookMode> {
    one_of(HookMode::ALL, |mode| {
        let about = match mode {
            HookMode::Observe => "A line in the log, in the background",
            HookMode::Nudge => "A sentence to the model, once a round",
            HookMode::Ask => "A question to you; going on doubles the limit for this round",
            HookMode::Stop => "The agent ends its turn",
        };
        (mode.name(), about)
    })
}

/// Arguments of `hook test`.
#[derive(Debug, clap::Args)]
struct TestArgs {
    /// The agent.
    #[arg(value_parser = agent())]
    agent: HostAgent,
    /// Files with one event each, in order; by default one event of each kind that comes with whenstop.
    #[arg(value_name = "FILE")]
    events: Vec<PathBuf>,
    /// The stack file; by default the one that is installed.
    #[arg(long, value_name = "FILE")]
    stacks: Option<PathBuf>,
    /// What a decision leads to.
    #[arg(long, default_value_t, value_parser = mode())]
    mode: HookMode,
}

pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    match &args.command {
        HookCommand::Install(args) => install::install(args, output),
        HookCommand::Uninstall(args) => install::uninstall(args, output),
        HookCommand::Test(args) => test(args, output),
        HookCommand::Doctor(args) => doctor::run(args, output),
        HookCommand::Log(args) => log::run(args, output),
    }
}

/// The agent that was named, or all of them.
fn hosts(named: Option<HostAgent>) -> Vec<HostAgent> {
    match named {
        Some(agent) => vec![agent],
        None => HostAgent::ALL.to_vec(),
    }
}

/// The hook's folders of one agent.
fn folders(host: HostAgent) -> Result<Folders, CommandFailure> {
    Folders::from_host(host).ok_or_else(|| CommandFailure::nothing("no home folder is known", "set `HOME`"))
}

fn failed(path: &std::path::Path, what: impl std::fmt::Display, help: &str) -> CommandFailure {
    CommandFailure::input(Diagnostic::new(Location::file(path.display().to_string()), what.to_string(), help))
}

/// Runs events through the hook in a folder of their own.
fn test(args: &TestArgs, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let host = args.agent;
    let stacks = match &args.stacks {
        Some(path) => path.clone(),
        None => folders(host)?.stacks(),
    };
    let help = "name a stack file with `--stacks`";
    let text = read_text(&stacks, help).map_err(CommandFailure::usage)?;
    let home = tempfile::tempdir().map_err(|error| CommandFailure::internal(&error))?;
    let folders = Folders { config: home.path().join("config"), state: home.path().join("state") };
    let mode = args.mode.name();
    install::write_setup(&folders, mode, "round", &text)?;
    let events: Vec<(String, String)> = if args.events.is_empty() {
        let of =
            |expected: &whenstop_hook::host::Expected| (expected.event.name().to_owned(), expected.fixture.to_owned());
        host.expected().iter().map(of).collect()
    } else {
        let read = |path: &PathBuf| Ok((path.display().to_string(), read_text(path, "give a file with one event")?));
        args.events.iter().map(read).collect::<Result<_, Diagnostic>>().map_err(CommandFailure::usage)?
    };
    let mut exit = ProgramExit::Done;
    for (name, event) in events {
        match whenstop_hook::call::answer(host, &folders, &event, super::local::now()) {
            Ok(answer) => output.data(&format!("{name}: {answer}\n")),
            Err(error) => {
                exit = ProgramExit::BadInput;
                output.error(&Diagnostic::new(Location::file(name), error, "the hook would have answered `{}`"));
            }
        }
    }
    for line in whenstop_hook::log::read(&folders.log()) {
        output.data(&format!("log: {}\n", serde_json::to_string(&line).unwrap_or_default()));
    }
    Ok(exit)
}
