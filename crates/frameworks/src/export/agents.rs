//! Coding agents whose settings can hold a limit, but whose own rules are not replayed here: a stack is exported to
//! them, and cannot be read back. What Claude Code has no setting for, the hook does.

use std::sync::LazyLock;

use serde::Deserialize;

use super::HostInfo;
use crate::host::ExportTarget;

/// The file `agents.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentsFile {
    agent: Vec<CodingAgent>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CodingAgent {
    id: String,
    version: String,
    host: ExportTarget,
}

/// The coding agents, by name.
pub fn agents() -> Vec<HostInfo> {
    static FILE: LazyLock<AgentsFile> =
        LazyLock::new(|| toml::from_str(include_str!("agents.toml")).expect("a test reads the file"));
    let info = |agent: &'static CodingAgent| HostInfo {
        id: &agent.id,
        version: &agent.version,
        host: &agent.host,
        parameters: &[],
    };
    FILE.agent.iter().map(info).collect()
}
