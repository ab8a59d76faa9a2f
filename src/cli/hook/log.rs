//! `whenstop hook log`: what the hook decided, and its sessions as recordings.

use std::path::Path;

use whenstop_hook::host::HostAgent;
use whenstop_hook::settings::Folders;
use whenstop_hook::{log, recording, state};

use super::super::ProgramExit;
use super::super::destination::Destination;
use super::super::failure::CommandFailure;
use super::super::output::{Output, TableFormat};
use super::{agent, folders, hosts};
use crate::answers::tables::{DataTable, TableCell};
use crate::diagnostic::{Diagnostic, Location, count};
use crate::reader::trace;
use crate::report::{CsvStyle, write_atomically, write_folder};
use crate::transcript::Run;

/// Arguments of `hook log`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The agent; by default both.
    #[arg(value_parser = agent())]
    agent: Option<HostAgent>,
    /// Write each session as a recording into this folder, with fingerprints in the place of texts: `compare` reads them.
    #[arg(long, value_name = "DIR")]
    recordings: Option<Destination>,
    /// How to print the decisions.
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
}

pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let hosts = hosts(args.agent);
    if let Some(folder) = &args.recordings {
        return recordings(&hosts, folder, output);
    }
    let text = |text: &str| if text.is_empty() { TableCell::Missing } else { TableCell::Text(text.to_owned()) };
    let number = |number: Option<f64>| TableCell::some_text(number.map(|number| number.to_string()));
    let mut rows = Vec::new();
    for host in hosts {
        for line in log::read(&folders(host)?.log()) {
            rows.push(vec![
                text(&line.time),
                text(host.id()),
                text(&line.session),
                if line.round > 0 { TableCell::Count(line.round) } else { TableCell::Missing },
                text(&line.stack),
                text(&line.rule),
                text(&line.point),
                number(line.observed),
                number(line.limit),
                text(&line.did),
                text(if line.late { "yes" } else { "" }),
            ]);
        }
    }
    let columns = ["time", "agent", "session", "round", "stack", "rule", "point", "observed", "limit", "did", "late"];
    output.table(&DataTable::new(columns, rows), args.format)?;
    Ok(ProgramExit::Done)
}

fn recordings(hosts: &[HostAgent], folder: &Path, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let n = write_folder(folder, CsvStyle::Plain, |to| write_sessions(hosts, to)).map_err(CommandFailure::input)?;
    if n == 0 {
        return Err(CommandFailure::nothing("the hook has no session with a step", "use the agent, then ask again"));
    }
    output.note(&format!("{} written to {}", count(n, "session"), folder.display()));
    Ok(ProgramExit::Done)
}

/// Writes a file for each session; returns their number.
fn write_sessions(hosts: &[HostAgent], to: &Path) -> Result<u64, Diagnostic> {
    let unread = |path: &Path, error: std::io::Error| {
        let at = Location::file(path.display().to_string());
        Diagnostic::new(at, error.to_string(), "check that you may read it")
    };
    let mut n = 0;
    for host in hosts {
        let Some(folders) = Folders::from_host(*host) else { continue };
        for path in state::sessions(&folders.state) {
            let Some(draft) = recording::read(&path).map_err(|error| unread(&path, error))? else { continue };
            let to = to.join(format!("{}-{n:04}.jsonl", host.id()));
            write_atomically(&to, |out| trace::write(&Run::new(draft), out))?;
            n += 1;
        }
    }
    Ok(n)
}
