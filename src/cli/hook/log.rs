//! `whenstop hook log`: what the hook decided, and its sessions as recordings.

use std::path::{Path, PathBuf};

use whenstop_hook::host::Host;
use whenstop_hook::{log, recording, state};

use super::super::Exit;
use super::super::failure::Failure;
use super::super::output::{Format, Output};
use super::{Agent, failed, folders};
use crate::answers::tables::{Cell, Table};
use crate::diagnostic::count;
use crate::transcript::Run;

/// Arguments of `hook log`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The agent; by default both.
    agent: Option<Agent>,
    /// Write each session as a recording into this folder, with fingerprints in the place of texts: `compare` reads them.
    #[arg(long, value_name = "FOLDER")]
    recordings: Option<PathBuf>,
    /// How to print the decisions.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    let hosts: Vec<Host> = args.agent.map_or(Host::ALL.to_vec(), |agent| vec![agent.host()]);
    if let Some(folder) = &args.recordings {
        return recordings(&hosts, folder, output);
    }
    let text = |text: &str| if text.is_empty() { Cell::Missing } else { Cell::Text(text.to_owned()) };
    let number = |number: Option<f64>| number.map_or(Cell::Missing, |number| Cell::Text(number.to_string()));
    let mut rows = Vec::new();
    for host in hosts {
        for line in log::read(&folders(host)?.log()) {
            rows.push(vec![
                text(&line.time),
                text(host.id()),
                text(&line.session),
                if line.round > 0 { Cell::Count(line.round) } else { Cell::Missing },
                text(&line.stack),
                text(&line.rule),
                text(&line.point),
                number(line.observed),
                number(line.limit),
                text(&line.did),
                text(if line.late { "late" } else { "" }),
            ]);
        }
    }
    let columns = ["time", "agent", "session", "round", "stack", "rule", "point", "observed", "limit", "did", "tokens"]
        .map(str::to_owned);
    output.table(&Table { columns: columns.to_vec(), rows }, args.format)?;
    Ok(Exit::Done)
}

fn recordings(hosts: &[Host], folder: &Path, output: &Output) -> Result<Exit, Failure> {
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error, "name a folder that can be written to"))?;
    let mut n = 0;
    for host in hosts {
        for path in state::sessions(&folders(*host)?.state) {
            let draft = recording::of(&path).map_err(|error| failed(&path, error, "check that you may read it"))?;
            let Some(draft) = draft else { continue };
            let to = folder.join(format!("{}-{n:04}.jsonl", host.id()));
            crate::report::write_atomically(&to, |out| crate::reader::trace::write(&Run::new(draft), out))
                .map_err(Failure::input)?;
            n += 1;
        }
    }
    if n == 0 {
        return Err(Failure::nothing("the hook has no session with a step", "use the agent, then ask again"));
    }
    output.note(&format!("{} written to {}", count(n, "session"), folder.display()));
    Ok(Exit::Done)
}
