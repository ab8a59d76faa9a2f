//! `whenstop man`: manual pages, generated from the same texts as `--help`.

use std::io;
use std::path::Path;

use clap::CommandFactory;

use super::destination::Destination;
use super::failure::CommandFailure;
use super::help::unknown;
use super::output::Output;
use super::{Cli, ProgramExit};
use crate::diagnostic::Diagnostic;
use crate::report::{CsvStyle, write_atomically, write_folder};

/// Arguments of `man`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The command, such as `compare` or `ci check`; without one, the page of whenstop itself.
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Write the pages of all commands to this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<Destination>,
}

/// `whenstop man`.
pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let mut whole = Cli::command();
    whole.build();
    if let Some(folder) = &args.out {
        let n = write_folder(folder, CsvStyle::Plain, |folder| write_pages(&whole, folder))
            .map_err(CommandFailure::input)?;
        output.note(&format!("{n} pages written to {}; read one with `man -l FILE`", folder.display()));
        return Ok(ProgramExit::Done);
    }
    let mut command = &whole;
    for name in &args.command {
        command = command.find_subcommand(name).ok_or_else(|| unknown(command, name))?;
    }
    let page = page(command).map_err(|error| CommandFailure::internal(&error))?;
    output.bytes(&page);
    Ok(ProgramExit::Done)
}

/// Writes the page of every command; returns their number.
fn write_pages(whole: &clap::Command, folder: &Path) -> Result<usize, Diagnostic> {
    let mut pages = vec![whole];
    let mut n = 0;
    while let Some(command) = pages.pop() {
        pages
            .extend(command.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help"));
        let path = folder.join(format!("{}.1", page_name(command)));
        write_atomically(&path, |out| out.write_all(&page(command)?))?;
        n += 1;
    }
    Ok(n)
}

/// The name of a page, such as `whenstop-check`.
fn page_name(command: &clap::Command) -> String {
    command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned()
}

fn page(command: &clap::Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let named = command.clone().name(page_name(command)).mut_args(|arg| arg.hide_short_help(false));
    clap_mangen::Man::new(named).render(&mut page)?;
    Ok(page)
}
