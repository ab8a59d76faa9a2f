//! Commands of `git` and of the command-line tools of its hosting sites.

use super::Effect;
use super::command::{has, operands, spelled};
use super::parts::CallEffect;
use super::shell::Word;

const READ: &str = "status log diff show blame annotate ls-files ls-tree ls-remote rev-parse rev-list cat-file grep \
     describe shortlog name-rev merge-base for-each-ref show-ref show-branch diff-index diff-tree diff-files whatchanged \
     count-objects verify-pack fsck help version var check-ignore check-attr check-ref-format cherry range-diff \
     patch-id diagnose merge-tree rev-list column stripspace verify-commit verify-tag get-tar-commit-id archive";

const EDIT: &str = "add mv rm restore checkout switch reset merge rebase cherry-pick revert pull clone init clean am apply \
     gc prune repack update-index update-ref read-tree write-tree hash-object mktree filter-branch filter-repo replace \
     format-patch fast-import mergetool difftool unpack-objects pack-refs checkout-index sparse-checkout rerere \
     backfill mailinfo stage prune-packed annex flow absorb";

const HANDOVER: &str = "commit push commit-tree send-email request-pull svn p4 sync-branch send-pack";

/// The effect of a `git` command.
#[expect(clippy::too_many_lines, reason = "one arm a command: a table")]
pub(super) fn effect(words: &[Word]) -> CallEffect {
    let with_value = ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"];
    let rest = super::command::after_options(&words[1..], &with_value);
    let Some(first) = rest.first() else { return CallEffect::new(Effect::Read, "`git`") };
    let arguments = &rest[1..];
    let why = format!("`git {}`", spelled(rest, 2));
    let says = |effect| CallEffect::new(effect, why.clone());
    let sub = operands(arguments).next().map(|word| word.text.as_str());
    let list = |text: &str, name: &str| text.split_ascii_whitespace().any(|word| word == name);
    let effect = match first.text.as_str() {
        "commit" | "push" if has(arguments, &["--dry-run"]) || (first.text == "push" && has(arguments, &["-n"])) => {
            Effect::Check
        }
        "diff" if has(arguments, &["--check"]) => Effect::Check,
        "diff" | "log" | "show" | "archive" | "format-patch" if has(arguments, &["--output", "-o"]) => Effect::Edit,
        "format-patch" if has(arguments, &["--stdout"]) => Effect::Read,
        "add" | "clean" | "rm" if has(arguments, &["-n", "--dry-run"]) => Effect::Read,
        "apply" if has(arguments, &["--check", "--stat", "--numstat", "--summary"]) => Effect::Check,
        "hash-object" if !has(arguments, &["-w"]) => Effect::Read,
        "merge" | "rebase" | "cherry-pick" | "am" if has(arguments, &["--show-current-patch"]) => Effect::Read,
        // Fetches others' work; of the local state only git's own records change.
        "fetch" | "remote-update" => Effect::Unknown,
        "branch" => {
            let changes = [
                "-d",
                "-D",
                "-m",
                "-M",
                "-c",
                "-C",
                "-f",
                "-u",
                "--delete",
                "--move",
                "--copy",
                "--force",
                "--set-upstream-to",
                "--unset-upstream",
                "--edit-description",
            ];
            let lists = [
                "-l",
                "--list",
                "--contains",
                "--no-contains",
                "--merged",
                "--no-merged",
                "--points-at",
                "-a",
                "-r",
                "--all",
                "--remotes",
                "--show-current",
                "--format",
                "--sort",
                "-v",
            ];
            if has(arguments, &changes) || (sub.is_some() && !has(arguments, &lists)) {
                Effect::Edit
            } else {
                Effect::Read
            }
        }
        "tag" => {
            let lists = ["-l", "--list", "--contains", "--merged", "--points-at", "-n", "--sort", "-v", "--verify"];
            if has(arguments, &["-d", "--delete", "-a", "-f"]) || (sub.is_some() && !has(arguments, &lists)) {
                Effect::Edit
            } else {
                Effect::Read
            }
        }
        "stash" => {
            if matches!(sub, Some("list" | "show")) {
                Effect::Read
            } else {
                // Stashing removes the changes from the files; popping does not.
                let puts_away = matches!(sub, None | Some("push" | "save"));
                let discards = if puts_away { vec![".".to_owned()] } else { Vec::new() };
                return CallEffect { discards, ..says(Effect::Edit) };
            }
        }
        "remote" => match sub {
            None | Some("show" | "get-url") => Effect::Read,
            Some("update") => Effect::Unknown,
            _ => Effect::Edit,
        },
        "config" => {
            let asks = [
                "--get",
                "--get-all",
                "--get-regexp",
                "--list",
                "-l",
                "--get-urlmatch",
                "--show-origin",
                "--get-color",
            ];
            let changes = [
                "--unset",
                "--unset-all",
                "--add",
                "--replace-all",
                "--rename-section",
                "--remove-section",
                "-e",
                "--edit",
            ];
            if has(arguments, &changes)
                || matches!(sub, Some("set" | "unset" | "edit" | "rename-section" | "remove-section"))
            {
                Effect::Edit
            } else if has(arguments, &asks) || matches!(sub, Some("list" | "get")) {
                Effect::Read
            } else if operands(arguments).count() > 1 {
                Effect::Edit
            } else {
                Effect::Read
            }
        }
        "worktree" | "lfs" | "notes" | "bisect" | "submodule" | "reflog" | "bundle" | "maintenance" | "subtree"
        | "multi-pack-index" | "commit-graph" | "credential" | "bugreport" | "symbolic-ref" | "rerere"
        | "sparse-checkout" => {
            let second = sub.unwrap_or_default();
            let looks = list(
                "list show log view visualize status summary ls-files env version exists verify list-heads locks \
                 verify-pack diff get-merge-ref",
                second,
            );
            let bare = second.is_empty()
                && matches!(first.text.as_str(), "submodule" | "reflog" | "lfs" | "notes" | "credential");
            match first.text.as_str() {
                "symbolic-ref" => {
                    if operands(arguments).count() > 1 || has(arguments, &["-d"]) {
                        Effect::Edit
                    } else {
                        Effect::Read
                    }
                }
                "submodule" if second == "foreach" => Effect::Unknown,
                "reflog" if !matches!(second, "expire" | "delete" | "drop" | "write") => Effect::Read,
                "reflog" | "worktree" | "lfs" | "notes" if has(arguments, &["-n", "--dry-run"]) => Effect::Read,
                _ if looks || bare => Effect::Read,
                _ => Effect::Edit,
            }
        }
        name if list(READ, name) => Effect::Read,
        name if list(HANDOVER, name) => Effect::Handover,
        name if list(EDIT, name) => {
            let files: Vec<String> = match arguments.iter().position(|word| word.text == "--") {
                Some(at) => arguments[at + 1..].iter().map(|word| word.text.clone()).collect(),
                None if matches!(name, "rm" | "mv" | "restore") => {
                    operands(arguments).map(|word| word.text.clone()).collect()
                }
                None => Vec::new(),
            };
            // `git add` changes the index, not a file.
            let told = CallEffect { discards: discarded(name, arguments), ..says(Effect::Edit).touching(files) };
            return if matches!(name, "add" | "stage" | "init" | "gc" | "prune" | "repack" | "pack-refs") {
                CallEffect { blind: false, ..told }
            } else {
                told
            };
        }
        // An alias or an extension.
        _ => Effect::Unknown,
    };
    says(effect)
}

/// The files and directories whose changes a command discards; `.` for all of them. An operand of `checkout` can be a
/// branch; it is a file if a file of that name was changed.
fn discarded(name: &str, arguments: &[Word]) -> Vec<String> {
    let all = || vec![".".to_owned()];
    let named = |words: &[Word]| operands(words).map(|word| word.text.clone()).collect::<Vec<String>>();
    match name {
        "checkout" if has(arguments, &["-f", "--force"]) => all(),
        "checkout" if has(arguments, &["-b", "-B", "--orphan"]) => Vec::new(),
        "checkout" => match arguments.iter().position(|word| word.text == "--") {
            Some(at) => named(&arguments[at + 1..]),
            None => named(arguments),
        },
        "restore" if has(arguments, &["--staged", "-S"]) && !has(arguments, &["--worktree", "-W"]) => Vec::new(),
        "restore" => named(arguments),
        "reset" if has(arguments, &["--hard"]) => all(),
        "revert" => all(),
        _ => Vec::new(),
    }
}

/// The effect of `gh` and similar tools. Sending anything to the site hands the work over.
#[expect(clippy::match_same_arms, reason = "one arm a kind of command: a table")]
pub(super) fn hosting(words: &[Word]) -> CallEffect {
    let rest = super::command::after_options(&words[1..], &["-R", "--repo", "--hostname"]);
    let names: Vec<&str> = operands(rest).map(|word| word.text.as_str()).take(2).collect();
    let why = format!("`{}`", spelled(words, 3));
    let effect = match (names.first().copied().unwrap_or_default(), names.get(1).copied().unwrap_or_default()) {
        ("api", _) => return CallEffect::new(of_api(rest), why),
        ("search" | "status" | "browse" | "help" | "version" | "completion" | "", _) => Effect::Read,
        (
            _,
            "view" | "list" | "ls" | "status" | "diff" | "checks" | "show" | "watch" | "token" | "logs" | "trace"
            | "get" | "verify" | "ports" | "search" | "",
        ) => Effect::Read,
        ("pr" | "mr", "checkout")
        | ("repo" | "gist", "clone")
        | ("run" | "release" | "ci", "download")
        | (
            "auth" | "config" | "alias" | "extension" | "ssh-key" | "gpg-key" | "codespace" | "secret" | "variable"
            | "cache" | "attestation",
            _,
        )
        | ("repo", "sync" | "set-default") => Effect::Edit,
        ("pr" | "mr", "test") => Effect::Check,
        _ => Effect::Handover,
    };
    CallEffect::new(effect, why)
}

fn of_api(rest: &[Word]) -> Effect {
    let method = rest
        .windows(2)
        .find(|pair| matches!(pair[0].text.as_str(), "-X" | "--method"))
        .map(|pair| pair[1].text.to_ascii_uppercase())
        .or_else(|| rest.iter().find_map(|w| w.text.strip_prefix("--method=").map(str::to_ascii_uppercase)));
    let graphql = rest.iter().any(|word| word.text == "graphql");
    if graphql {
        let mutates =
            rest.iter().any(|word| word.text.trim_start_matches("query=").trim_start().starts_with("mutation"));
        let shown = rest.iter().any(|word| word.text.starts_with("query=") && !word.varies);
        return if mutates {
            Effect::Handover
        } else if shown {
            Effect::Read
        } else {
            Effect::Unknown
        };
    }
    let sends = has(rest, &["-f", "-F", "--field", "--raw-field", "--input"]);
    match method.as_deref() {
        Some("GET" | "HEAD") => Effect::Read,
        Some(_) => Effect::Handover,
        None if sends => Effect::Handover,
        None => Effect::Read,
    }
}
