//! `whenstop hook doctor`: what the hook sees, and what is missing.

use std::collections::BTreeSet;

use whenstop_hook::host::{Expected, HostAgent};
use whenstop_hook::log;
use whenstop_hook::payload::Payload;
use whenstop_hook::record::{Flag, RecordKind};
use whenstop_hook::settings::{Folders, Setup};
use whenstop_hook::state::{self, SessionState};

use super::super::ProgramExit;
use super::super::failure::CommandFailure;
use super::super::output::{Output, TableFormat};
use super::{agent, edit, folders, hosts, install};
use crate::answers::tables::{DataTable, TableCell};
use crate::diagnostic::count;

/// Arguments of `hook doctor`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The agent; by default both.
    #[arg(value_parser = agent())]
    agent: Option<HostAgent>,
    /// How to print the table of rules.
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
}

pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let hosts = hosts(args.agent);
    let mut rows = Vec::new();
    for host in hosts {
        let folders = folders(host)?;
        let remark = |text: String| output.note(&format!("{}: {text}", host.name()));
        if let Some(text) = configuration_remark(host) {
            remark(text);
        }
        match Setup::load(&folders) {
            Ok(setup) => {
                let mode = setup.settings.mode.name();
                remark(format!("mode {mode}; payloads were read for version {}", host.version()));
                for rules in &setup.rules {
                    for (rule, reach, why) in host.reach(rules) {
                        rows.push(vec![
                            TableCell::Text(host.id().to_owned()),
                            TableCell::Text(rules.strategy.name().to_owned()),
                            TableCell::Text(rule.to_string()),
                            TableCell::Text(reach.name().to_owned()),
                            TableCell::Text(why.to_owned()),
                        ]);
                    }
                }
            }
            Err(_) => remark("not set up: `whenstop hook install` does it".to_owned()),
        }
        for text in
            field_remarks(host, &folders).into_iter().chain(session_remarks(&folders)).chain(log_remarks(&folders))
        {
            remark(text);
        }
    }
    let columns = ["agent", "stack", "rule", "reads", "because"];
    output.table(&DataTable::new(columns, rows), args.format)?;
    Ok(ProgramExit::Done)
}

/// Where the hook stands in the agent's own configuration.
fn configuration_remark(host: HostAgent) -> Option<String> {
    let path = install::configuration(host)?;
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let installed = edit::installed(&text);
    if installed.is_empty() {
        return None;
    }
    Some(format!("{} names it for {}", path.display(), installed.join(", ")))
}

/// Fields that the agent sends and the fixtures do not have, and the other way round.
fn field_remarks(host: HostAgent, folders: &Folders) -> Vec<String> {
    let of = |expected: &Expected| {
        let name = expected.event.name();
        let seen = std::fs::read_to_string(folders.state.join("fields").join(name)).ok()?;
        let seen: BTreeSet<&str> = seen.split_whitespace().collect();
        let known = Payload::parse(expected.fixture)?.field_names();
        let known: BTreeSet<&str> = known.iter().map(String::as_str).collect();
        let list = |fields: BTreeSet<&str>| fields.into_iter().collect::<Vec<_>>().join(", ");
        let (missing, new) = (list(&known - &seen), list(&seen - &known));
        let mut lines = Vec::new();
        if !missing.is_empty() {
            lines.push(format!("{name} comes without {missing}"));
        }
        if !new.is_empty() {
            lines.push(format!("{name} comes with the unknown {new}"));
        }
        Some(lines)
    };
    host.expected().iter().filter_map(of).flatten().collect()
}

/// What the sessions that are kept say about the agent.
fn session_remarks(folders: &Folders) -> Vec<String> {
    let sessions = state::sessions(&folders.state);
    let (mut blind, mut batchless, mut late, mut sides) = (0_u64, 0_u64, 0_u64, 0_u64);
    for path in &sessions {
        let records = SessionState::read(path).unwrap_or_default();
        let has = |kind: RecordKind| records.iter().any(|record| record.kind == kind);
        blind += u64::from(has(RecordKind::Batch) && !has(RecordKind::Transcript));
        batchless += u64::from(has(RecordKind::Close) && !has(RecordKind::Batch));
        let side = records.iter().filter(|record| record.kind == RecordKind::Usage && record.flags.has(Flag::SIDE));
        sides += side.map(|record| record.id).collect::<BTreeSet<u64>>().len() as u64;
        late += u64::from(records.iter().any(|record| record.flags.has(Flag::LATE)));
    }
    let mut texts = vec![format!("{} seen in the last two weeks", count(sessions.len() as u64, "session"))];
    let mut say = |n: u64, what: &str| {
        if n > 0 {
            texts.push(format!("{} {what}", count(n, "session")));
        }
    };
    say(blind, "without a transcript: rules on tokens were blind");
    say(batchless, "without a batch of calls: nothing was counted (no calls, or a version without `PostToolBatch`)");
    say(late, "in which tokens came a step late");
    if sides > 0 {
        let n = count(sides, "model call");
        texts.push(format!("{n} of sub-agents: their tokens count, their steps and calls do not"));
    }
    texts
}

/// The latest failure, and stops that the agent did not obey.
fn log_remarks(folders: &Folders) -> Vec<String> {
    let lines = log::read(&folders.log());
    let mut texts = Vec::new();
    if let Some(last) = lines.iter().rev().find(|line| line.did.starts_with("failed")) {
        texts.push(format!("the hook last {}", last.did));
    }
    let n_not_obeyed = lines.iter().filter(|line| line.did == log::NOT_OBEYED).count();
    if n_not_obeyed > 0 {
        let n = count(n_not_obeyed as u64, "round");
        texts.push(format!("{n} went on after a stop: this version of the agent did not obey it"));
    }
    texts
}
