//! Coding agents whose settings can hold a limit, but whose own rules are not replayed here: a stack is exported to
//! them, and cannot be read back. What Claude Code has no setting for, the hook does.

use std::sync::LazyLock;

use serde::Deserialize;

use super::HostInfo;
use crate::framework::own_file;
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
    static FILE: LazyLock<AgentsFile> = LazyLock::new(|| own_file(include_str!("agents.toml")));
    let info = |agent: &'static CodingAgent| HostInfo {
        id: &agent.id,
        version: &agent.version,
        host: &agent.host,
        parameters: &[],
    };
    FILE.agent.iter().map(info).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// TOML has no constants, so what holds for several slots or agents is written out for each.
    #[test]
    fn what_holds_for_several_is_said_in_the_same_words() {
        let agents = agents();
        let mut differs = BTreeMap::new();
        for slot in agents.iter().flat_map(|agent| &agent.host.slots) {
            let first = differs.entry(&slot.error).or_insert(&slot.differs);
            assert_eq!(*first, &slot.differs, "{}", slot.error);
        }
        // Both are Claude Code, which has the hook.
        let claude: Vec<_> = agents.iter().filter(|agent| agent.id.starts_with("claude-")).collect();
        assert_eq!(claude.len(), 2);
        assert_eq!(claude[0].host.cannot, claude[1].host.cannot);
    }
}
