//! `whenstop ci review`: changes settled at a terminal and by scripts.

use std::fmt::Write as _;

use crate::scratch::Scratch;

/// 140 runs of 3 to 11 steps; every third fails.
fn runs() -> String {
    let mut text = String::new();
    for run in 0..140 {
        let _ = writeln!(text, r#"{{"type":"run","run_id":"run-{run:03}","task_id":"{run}"}}"#);
        for step in 0..3 + run % 9 {
            let _ = writeln!(
                text,
                r#"{{"type":"message","role":"assistant","content":"step {step}","tool_calls":[{{"id":"{step}","name":"look","arguments":{{"at":{step}}}}}]}}
{{"type":"message","role":"tool","tool_call_id":"{step}","content":"seen {step}"}}"#
            );
        }
        let _ = writeln!(text, "{{\"type\":\"outcome\",\"success\":{}}}", run % 3 != 0);
    }
    text
}

fn stack(limit: u32) -> String {
    format!("[[stack]]\nname = \"mine\"\nany = [{{ signal = \"steps\", at_least = {limit} }}]\n")
}

const INPUTS: &str = "runs.jsonl --stacks mine.toml --snapshot stops.snap";

/// A folder in which a limit of 8 steps was accepted, and is 4 now.
fn changed() -> Scratch {
    let scratch = Scratch::with(&[("runs.jsonl", &runs()), ("mine.toml", &stack(8))]);
    let (code, _, stderr) = scratch.run(&format!("ci accept {INPUTS}"));
    assert_eq!(code, 0, "{stderr}");
    scratch.put("mine.toml", &stack(4));
    scratch
}

#[test]
fn a_changed_snapshot_is_accepted_at_once_only_if_that_is_asked_for() {
    let scratch = changed();
    let (before, n) = (scratch.read("stops.snap"), n_changed(&scratch));
    let (code, stdout, stderr) = scratch.run(&format!("ci accept {INPUTS}"));
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains(&format!("{n} stop points changed, and nothing is accepted unseen")), "{stderr}");
    assert!(stderr.contains("`whenstop ci review`") && stderr.contains("`--all` accepts them all"), "{stderr}");
    assert!(stdout.lines().all(|line| line.chars().count() <= 80), "{stdout}");
    assert_eq!(scratch.read("stops.snap"), before);
    assert_eq!(scratch.run(&format!("ci accept {INPUTS} --all")).0, 0);
    assert_eq!(n_changed(&scratch), 0);
    // Runs that are new change no stop point.
    let more = runs() + &runs().replace("run-", "more-").replace("\"task_id\":\"", "\"task_id\":\"more-");
    scratch.put("runs.jsonl", &more);
    let (code, _, stderr) = scratch.run(&format!("ci accept {INPUTS}"));
    assert_eq!(code, 0, "{stderr}");
}

/// How many stop points `ci check` finds changed.
fn n_changed(scratch: &Scratch) -> usize {
    let (_, stdout, stderr) = scratch.run(&format!("ci check {INPUTS} --format json"));
    let document: serde_json::Value = serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{stdout}{stderr}"));
    document["review"]["changes"].as_array().unwrap().len()
}

/// Runs it at a terminal of its own, in which these keys are pressed; gives its exit code and what it shows.
#[cfg(target_os = "linux")]
fn at_terminal(scratch: &Scratch, keys: &str) -> (i32, String) {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let program = format!("{} ci review {INPUTS}", env!("CARGO_BIN_EXE_whenstop"));
    let mut command = Command::new("script");
    command.args(["-qec", &program, "/dev/null"]).current_dir(scratch.path(".")).env("TERM", "dumb").env_remove("CI");
    let mut child = command.env_remove("COLUMNS").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(keys.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stdout).unwrap().replace('\r', ""))
}

#[cfg(target_os = "linux")]
#[test]
fn many_changes_are_settled_by_kind_and_none_is_accepted_unseen() {
    let scratch = changed();
    let n = n_changed(&scratch);
    assert!(n > 100, "{n}");
    let keys = "AAAA";
    let (code, shown) = at_terminal(&scratch, keys);
    assert_eq!(code, 0, "{shown}");
    let seen = shown.lines().filter(|line| line.starts_with("run-") && line.contains(" under mine: was ")).count();
    assert!(seen >= n, "{seen} of {n} were seen\n{shown}");
    assert!(shown.contains(&format!("{n} accepted, 0 rejected, 0 left")), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert_eq!(n_changed(&scratch), 0);
    assert_eq!(scratch.run(&format!("ci check {INPUTS}")).0, 0);
    assert!(!scratch.path("stops.snap.pending").exists());
    let reviewed = scratch.read("stops.snap");
    assert_eq!(scratch.run(&format!("ci accept {INPUTS}")).0, 0);
    assert_eq!(scratch.read("stops.snap"), reviewed, "as if it had been accepted at once");
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_rejected_stays_as_it_was_and_is_not_asked_for_again() {
    let scratch = changed();
    let n = n_changed(&scratch);
    let (code, shown) = at_terminal(&scratch, "arsq");
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains(&format!("1 accepted, 1 rejected, {} left", n - 2)), "{shown}");
    assert!(shown.contains("step 4") && shown.contains(" stop   stopped after_tools"), "the texts around it: {shown}");
    assert_eq!(n_changed(&scratch), n - 1, "one is accepted");
    let pending = scratch.read("stops.snap.pending");
    assert_eq!(pending.lines().filter(|line| line.contains("\"rejected\":true")).count(), 1, "{pending}");
    let (_, shown) = at_terminal(&scratch, "AAAA");
    assert!(shown.contains(&format!("{} accepted, 1 rejected, 0 left", n - 2)), "{shown}");
    assert_eq!(n_changed(&scratch), 1);
}

#[test]
fn scripts_accept_what_they_name() {
    let scratch = changed();
    let n = n_changed(&scratch);
    let review = |more: &str| scratch.run(&format!("ci review {INPUTS} {more}"));
    let (code, _, stderr) = review("");
    assert!(code == 2 && stderr.contains("nobody is at a terminal"), "{code} {stderr}");
    let (code, _, stderr) = review("--kind kil");
    assert!(code == 2 && stderr.contains("did you mean `kill`?"), "{code} {stderr}");
    let (code, _, stderr) = review("--run nobody");
    assert!(code == 2 && stderr.contains("no stop point of a run `nobody` changed"), "{code} {stderr}");
    assert_eq!(n_changed(&scratch), n, "nothing was written");
    assert_eq!(review("--run run-008").0, 0);
    assert_eq!(n_changed(&scratch), n - 1);
    assert_eq!(review("--kind kill").0, 0);
    let left = n_changed(&scratch);
    assert!(0 < left && left < n - 1, "{left}");
    let refused = scratch.command(&format!("ci review {INPUTS} --all")).env("CI", "true").output().unwrap();
    assert_eq!((refused.status.code(), n_changed(&scratch)), (Some(2), left));
    assert_eq!(review("--all").0, 0);
    assert_eq!(n_changed(&scratch), 0);
}
