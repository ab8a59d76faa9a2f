//! Effects suggested by a name: `get_order_details` looks, `updateIssue` changes, `transfer_to_human_agents` hands
//! over.

use super::Effect;

/// Verbs that look.
pub(super) const READ: &[&str] = &[
    "analyze",
    "calculate",
    "can",
    "check",
    "compare",
    "compute",
    "count",
    "describe",
    "detect",
    "diff",
    "examine",
    "explain",
    "explore",
    "extract",
    "fetch",
    "find",
    "get",
    "glob",
    "grep",
    "has",
    "head",
    "help",
    "info",
    "inspect",
    "introspect",
    "is",
    "list",
    "load",
    "lookup",
    "look",
    "ls",
    "navigate",
    "parse",
    "peek",
    "ping",
    "poll",
    "preview",
    "print",
    "read",
    "recall",
    "retrieve",
    "scan",
    "screenshot",
    "scroll",
    "search",
    "show",
    "snapshot",
    "stat",
    "status",
    "summarize",
    "tail",
    "tree",
    "version",
    "view",
    "visit",
    "wait",
    "watch",
    "whoami",
];

/// Verbs that change something.
pub(super) const EDIT: &[&str] = &[
    "add",
    "adjust",
    "append",
    "apply",
    "approve",
    "archive",
    "assign",
    "attach",
    "bulk",
    "cancel",
    "change",
    "claim",
    "clean",
    "clear",
    "clone",
    "close",
    "complete",
    "configure",
    "connect",
    "copy",
    "create",
    "decline",
    "delete",
    "destroy",
    "disable",
    "disconnect",
    "dismiss",
    "download",
    "drop",
    "duplicate",
    "edit",
    "enable",
    "exchange",
    "export",
    "fix",
    "format",
    "generate",
    "grant",
    "import",
    "init",
    "insert",
    "install",
    "invite",
    "kill",
    "link",
    "lock",
    "log",
    "make",
    "mark",
    "migrate",
    "modify",
    "move",
    "mkdir",
    "overwrite",
    "patch",
    "pause",
    "pay",
    "post",
    "provision",
    "prune",
    "purge",
    "put",
    "reboot",
    "refactor",
    "refuel",
    "refund",
    "register",
    "reject",
    "remove",
    "rename",
    "reopen",
    "reorder",
    "replace",
    "reseat",
    "reset",
    "resize",
    "resolve",
    "restart",
    "restore",
    "resume",
    "return",
    "revert",
    "revoke",
    "rewrite",
    "rm",
    "rotate",
    "save",
    "schedule",
    "seed",
    "send",
    "set",
    "start",
    "stop",
    "store",
    "subscribe",
    "suspend",
    "swap",
    "switch",
    "sync",
    "terminate",
    "toggle",
    "touch",
    "transform",
    "trash",
    "turn",
    "unassign",
    "undo",
    "uninstall",
    "unlink",
    "unlock",
    "unsubscribe",
    "update",
    "upgrade",
    "upload",
    "upsert",
    "write",
];

/// Verbs that hand work over.
pub(super) const HANDOVER: &[&str] = &[
    "book", "commit", "deploy", "escalate", "handoff", "merge", "publish", "purchase", "push", "release", "ship",
    "submit", "transfer",
];

/// Verbs that check.
pub(super) const CHECK: &[&str] = &[
    "bench",
    "benchmark",
    "build",
    "compile",
    "diagnostics",
    "diagnose",
    "errors",
    "lint",
    "measure",
    "test",
    "tests",
    "typecheck",
    "validate",
    "verify",
];

/// The words of a name, in lower case: `createIssue`, `create-issue` and `create_issue` all give the same two.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for character in name.chars() {
        let breaks = !character.is_alphanumeric() || (character.is_uppercase() && was_lower);
        if breaks && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
        was_lower = character.is_lowercase() || character.is_ascii_digit();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The effect a single word suggests.
pub(super) fn of_word(word: &str) -> Option<Effect> {
    let groups = [(HANDOVER, Effect::Handover), (EDIT, Effect::Edit), (CHECK, Effect::Check), (READ, Effect::Read)];
    groups.into_iter().find(|(verbs, _)| verbs.contains(&word)).map(|(_, effect)| effect)
}

/// The effect a tool's name suggests. The first word decides if it is a verb in the tables, else the strongest verb.
/// `None` if no word is such a verb.
pub(super) fn of_name(name: &str) -> Option<Effect> {
    let words = words(name);
    let asks_others = |word: &String| matches!(word.as_str(), "pull" | "merge" | "pr" | "review" | "release");
    let first = words.first().and_then(|word| of_word(word));
    if first == Some(Effect::Read) {
        // `get_or_create_cart` creates.
        let joined = words.windows(2).find(|pair| matches!(pair[0].as_str(), "or" | "and"));
        return joined.and_then(|pair| of_word(&pair[1])).filter(|effect| effect.is_work()).or(first);
    }
    if matches!(words.first().map(String::as_str), Some("run" | "execute")) {
        return words.iter().filter_map(|word| of_word(word)).find(|effect| *effect == Effect::Check);
    }
    let strongest = first.or_else(|| words.iter().filter_map(|word| of_word(word)).max());
    match strongest {
        Some(Effect::Edit) if words.iter().any(asks_others) && first.is_some() => Some(Effect::Handover),
        other => other,
    }
}

/// The effect a script's name suggests: `edit_models.py` edits, `test_edit.py` checks.
pub(super) fn of_script(path: &str) -> Option<Effect> {
    let stem = super::path::file_name(path);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let words = words(stem);
    let checks =
        ["test", "tests", "check", "verify", "validate", "repro", "reproduce", "reproduction", "debug", "demo"];
    if words.first().is_some_and(|word| checks.contains(&word.as_str())) {
        return Some(Effect::Check);
    }
    words.iter().filter_map(|word| of_word(word)).filter(|effect| effect.is_work()).max()
}
