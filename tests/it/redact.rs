//! `whenstop convert --redact`: no text is left, and every rule that reads none decides as it did.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use regex::Regex;
use serde_json::Value;
use whenstop::decision::{Decision, Need, Strategy};
use whenstop::reader::{Corpus, ReadOptions, trace, trace_schema};
use whenstop::redact::redact;
use whenstop::replay::{Replay, Unread, replay};
use whenstop::text::marks;
use whenstop::transcript::{Event, Role, Run, is_public_name};

use crate::convert::{is_chosen, strategies, two_chats};
use crate::scratch::Scratch;
use crate::shared;

/// The redacted run as it is read back from its lines, and the lines.
fn shared_copy(run: &Run) -> (Run, String) {
    let mut lines = Vec::new();
    trace::write(&redact(run, "salt"), &mut lines).unwrap();
    let lines = String::from_utf8(lines).unwrap();
    let mut read = trace::read_text(&lines);
    assert!(read.findings.is_empty(), "{:?}", read.findings);
    (read.runs.remove(0), lines)
}

/// Rules that cannot be evaluated on the copy, though they could be on the original.
fn lost<'r>(before: &Replay, after: &'r Replay) -> Vec<&'r Unread> {
    after.not_evaluable.iter().filter(|missing| !before.not_evaluable.contains(missing)).collect()
}

/// What a strategy said, without those rules, up to where one of them ended the run.
fn heard(trail: &[Decision], until: Option<&Decision>, lost: &[&Unread]) -> Vec<String> {
    let kept = trail.iter().take_while(|decision| until.is_none_or(|end| decision.point < end.point));
    kept.filter(|decision| lost.iter().all(|missing| missing.rule != decision.rule))
        .map(|d| format!("{} {:?} {} {} {:?}", d.point, d.event, d.action, d.rule, d.evidence))
        .collect()
}

/// Differences between the original and the copy under one strategy.
fn difference(run: &Run, copy: &Run, strategy: &Arc<dyn Strategy>) -> Option<String> {
    let (before, after) = (replay(run, strategy), replay(copy, strategy));
    let lost = lost(&before, &after);
    let gained = before.not_evaluable.iter().any(|missing| !after.not_evaluable.contains(missing));
    let excused = lost.iter().all(|missing| {
        let Unread { need, .. } = missing;
        matches!(need, Need::Texts | Need::Judge | Need::Plan | Need::Metrics | Need::PlainArguments | Need::ToolNames)
    });
    if gained || !excused {
        return Some(format!("not evaluable: {:?}, then {:?}", before.not_evaluable, after.not_evaluable));
    }
    let is_lost = |decision: &&Decision| lost.iter().any(|missing| missing.rule == decision.rule);
    let until = before.trail.iter().find(|decision| decision.action.is_terminal() && is_lost(decision));
    let (said, says) = (heard(&before.trail, until, &lost), heard(&after.trail, until, &lost));
    if said != says {
        return Some(format!("said {said:?}\n  says {says:?}"));
    }
    if lost.is_empty() && (&before.stop, before.exactness) != (&after.stop, after.exactness) {
        return Some(format!("stop {:?}, then {:?}", before.stop, after.stop));
    }
    let rules = strategy.rules();
    let firings = before.first_firings.iter().flatten().zip(after.first_firings.iter().flatten());
    rules
        .iter()
        .zip(firings)
        .find(|(rule, (was, is))| was != is && lost.iter().all(|missing| missing.rule != **rule))
        .map(|(rule, (was, is))| format!("{rule} fired at {was:?}, then {is:?}"))
}

/// Everything anybody said in the run, and every id.
fn said(run: &Run) -> Vec<String> {
    let mut all: Vec<String> = vec![run.header.run_id.clone()];
    all.extend(run.header.task_id.clone());
    all.extend(run.header.meta.iter().map(|meta| meta.get().to_owned()));
    for event in run.events() {
        match event {
            Event::Message(message) => {
                let texts = message.content.iter().chain(message.reasoning());
                all.extend(texts.chain(message.tool_calls.iter().map(|call| &call.arguments)).map(ToString::to_string));
                all.extend(message.tool_calls.iter().filter_map(|call| call.id.as_deref()).map(str::to_owned));
                all.extend(message.extra().iter().map(|extra| extra.get().to_owned()));
                if matches!(message.role, Role::User | Role::System) {
                    all.extend(message.name.as_deref().map(str::to_owned));
                }
            }
            Event::Judge(judge) => all.extend(judge.reply.iter().map(ToString::to_string)),
            Event::Note(note) => all.push(note.body.get().to_owned()),
            Event::Metrics(metrics) => all.extend(metrics.plan.iter().map(|plan| plan.get().to_owned())),
            Event::Checkpoint(_) => {}
        }
    }
    all
}

/// Names that may stay: of models, suites, tools, their parameters, metrics.
fn names(run: &Run) -> BTreeSet<String> {
    let header = &run.header;
    let mut all: BTreeSet<String> =
        [&header.suite, &header.model, &header.agent].into_iter().flatten().cloned().collect();
    for event in run.events() {
        match event {
            Event::Message(message) => {
                let names = [message.name.as_deref(), message.model(), message.finish_reason()];
                all.extend(names.into_iter().flatten().map(str::to_owned));
                for call in &message.tool_calls {
                    all.insert(call.name.to_string());
                    if let Ok(Value::Object(given)) = serde_json::from_str(&call.arguments.as_str()) {
                        all.extend(given.keys().filter(|key| is_public_name(key)).cloned());
                    }
                }
            }
            Event::Metrics(metrics) => {
                all.extend(metrics.values.iter().map(|(name, _)| name.to_string()));
                all.extend(metrics.status.as_deref().map(str::to_owned));
            }
            _ => {}
        }
    }
    all
}

/// All strings of a JSON value, keys included.
fn strings(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        Value::Object(fields) => {
            out.extend(fields.keys().cloned());
            fields.values().for_each(|value| strings(value, out));
        }
        _ => {}
    }
}

/// Words of status that may stay as the value of a field.
const WORDS: [&str; 17] = [
    "CondensationSummaryEvent",
    "ObservationEvent",
    "UserRejectObservation",
    "active",
    "blocked",
    "budget_limited",
    "complete",
    "completed",
    "continue",
    "done",
    "environment",
    "failed",
    "finished",
    "paused",
    "pending",
    "running",
    "/new",
];

/// What is left in the lines of a redacted run that nobody allowed to stay, or that is part of what was said.
fn leaks(run: &Run, lines: &str) -> Vec<String> {
    let format = "prompted_by person program parent round.interrupted round.taken_back copilot-cli.compaction_complete openclaw.compaction simulated_user delivered origin host notification requests only_runs no_calls steering interruption type run_id task_id trial suite model agent started_at ended_at redacted role lane content reasoning \
        tool_calls id name arguments tool_call_id is_error usage input output cache_read cache_write cost_usd ts \
        finish_reason experiment status values plan reply error success score end secured_step kind body redacted.plan redacted.judge invalid_call native \
        page plan_update target run message metrics judge checkpoint outcome note assistant user system tool self_finish cap \
        timeout killed unknown canned counterpart turns_used tokens_used wall_clock_used_sec last_verdict \
        agentao.context_compressed agentao.error agentica.compact_boundary agentica.goal agentica.tool_audit \
        api-log.failed_call awaken.delegation awaken.handoff awaken.suspension awaken.background_task \
        compaction claude-code.compact_boundary codex.compacted codex.context_compacted codex.error codex.todo_list gemini-cli.error \
        gemini-cli.info gemini-cli.warning opencode.compaction openhands.condensation pi.compaction pi.branch_summary";
    let fixed: BTreeSet<&str> = format.split_whitespace().collect();
    let plain = Regex::new(
        r"^(side:)?([a-z]+-([0-9a-f]{32}|\d+))?$|^\d+$|^\d{4}-\d\d-\d\dT[\d:.]+Z$|^\[text \d+, \d+ bytes\]$|^\s*$|^\[(closing|end)\]$",
    )
    .unwrap();
    let names = names(run);
    let mut found = Vec::new();
    strings_of_lines(lines, &mut found);
    let is_mark = |line: &str| {
        let marks = marks::marks_in(line);
        marks.leading == Some(line) || marks.anywhere.contains(&line) || marks.closing.contains(&line)
    };
    let mut kept: Vec<String> = Vec::new();
    for string in found.into_iter().filter(|string| !fixed.contains(string.as_str()) && !names.contains(string)) {
        // Arguments that are no JSON object are a string of JSON.
        if let Ok(value @ (Value::Array(_) | Value::String(_))) = serde_json::from_str::<Value>(&string) {
            strings(&value, &mut kept);
        } else if let Ok(value @ Value::Object(_)) = serde_json::from_str::<Value>(&string) {
            strings(&value, &mut kept);
        } else {
            kept.push(string);
        }
    }
    kept.retain(|string| !names.contains(string) && !WORDS.contains(&string.as_str()));
    let pieces = kept.iter().flat_map(|string| string.split('\n'));
    let unknown = pieces.filter(|line| !plain.is_match(line) && !is_mark(line));
    let mut leaks: Vec<String> = unknown.map(str::to_owned).collect();
    // And the other way round: no twelve characters of what was said.
    let left = kept.iter().filter(|string| !plain.is_match(string)).flat_map(|string| string.split('\n'));
    let left: Vec<Vec<char>> = left.filter(|line| !is_mark(line)).map(|line| line.chars().collect()).collect();
    let windows: BTreeSet<&[char]> = left.iter().flat_map(|line| line.windows(12)).collect();
    for text in said(run) {
        let text: Vec<char> = text.chars().collect();
        leaks.extend(text.windows(12).filter(|window| windows.contains(window)).map(|window| window.iter().collect()));
    }
    leaks
}

fn strings_of_lines(lines: &str, out: &mut Vec<String>) {
    for line in lines.lines() {
        strings(&serde_json::from_str(line).unwrap(), out);
    }
}

/// Holds one of `one_of` runs under `path` against its redacted copy.
fn check(paths: &[PathBuf], one_of: impl Fn(&Path) -> u64 + Sync) -> usize {
    let strategies = strategies();
    let schema: Value = serde_json::from_str(trace_schema()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let (mut runs, mut found) = (0, Vec::new());
    for path in paths {
        let options = ReadOptions { allow_unmatched_labels: true, ..ReadOptions::default() };
        let work = |run: Run| {
            is_chosen(&run, one_of(path)).then(|| {
                let (copy, lines) = shared_copy(&run);
                let at = format!("{} {}", path.display(), run.header.run_id);
                let differences = strategies.iter().filter_map(|strategy| {
                    Some(format!("{at}: {}: {}", strategy.name(), difference(&run, &copy, strategy)?))
                });
                let mut wrong: Vec<String> = differences.collect();
                wrong.extend(leaks(&run, &lines).into_iter().map(|leak| format!("{at}: leaks {leak:?}")));
                let is_valid = |line: &str| validator.is_valid(&serde_json::from_str(line).unwrap());
                wrong.extend(lines.lines().find(|line| !is_valid(line)).map(|line| format!("{at}: not valid: {line}")));
                wrong
            })
        };
        let mut take = |wrong: Option<Vec<String>>| {
            runs += usize::from(wrong.is_some());
            found.extend(wrong.into_iter().flatten());
        };
        Corpus::open(std::slice::from_ref(path), options).unwrap().process(work, &mut take).unwrap();
    }
    let shown: Vec<String> = found.iter().take(12).map(|wrong| wrong.chars().take(1500).collect()).collect();
    assert!(found.is_empty(), "{} things are wrong, the first:\n{}", found.len(), shown.join("\n"));
    runs
}

#[test]
fn a_redacted_fixture_decides_as_the_original_and_says_nothing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = std::fs::read_dir(root.join("fixtures/readers")).unwrap().map(|entry| entry.unwrap().path());
    let others = ["fixtures/signals", "fixtures/zoo/endless", "traces"].map(|name| root.join(name));
    let mut paths: Vec<PathBuf> = folders.chain(others).collect();
    paths.sort();
    let runs = check(&paths, |path| if path.ends_with("traces") { 5 } else { 1 });
    assert!(runs > 100, "{runs} runs");
}

#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn a_redacted_corpus_decides_as_the_original_and_says_nothing() {
    let paths = shared::corpora();
    let runs = check(&paths, shared::one_of);
    eprintln!("{runs} runs redacted");
    assert!(runs > 60, "{runs} runs");
}

#[test]
fn a_redacted_run_can_be_read_by_a_person() {
    let scratch = two_chats();
    let (code, stdout, stderr) = scratch.run("convert runs/a.json --redact --salt pepper");
    assert_eq!(code, 0, "{stderr}");
    insta::assert_snapshot!("redacted_chat", stdout);
    let (code, _, stderr) = scratch.run("convert runs --salt pepper");
    assert!(code == 2 && stderr.contains("--redact"), "{stderr}");
}

#[test]
fn a_rule_that_reads_texts_is_not_evaluable_on_a_redacted_run() {
    let scratch = two_chats();
    let stacks = "[[stack]]\nname = \"text\"\nany = [{ signal = \"text.match\", phrases = [\"there is one\"] }]\n\
        [[stack]]\nname = \"field\"\nany = [{ signal = \"call.count\", at_least = 1, identity = { fields = [\"a b\"] } }]\n\
        [[stack]]\nname = \"count\"\nany = [{ signal = \"call.count\", at_least = 1 }]\n";
    scratch.put("s.toml", stacks);
    scratch.run("convert runs --redact --out shared.jsonl");
    scratch.run("compare shared.jsonl --stacks s.toml --out out");
    let rows = scratch.read("out/rows.csv");
    for (stack, missing) in [("text", 2), ("field", 2), ("count", 0)] {
        let of_stack = rows.lines().filter(|row| row.contains(&format!(",{stack},")));
        assert_eq!(of_stack.filter(|row| row.contains("no texts")).count(), missing, "{stack}: {rows}");
    }
}

/// Words of a person in every place where a framework's words are expected.
const SAID: &str = r#"{"type":"run","run_id":"hunter2-run","task_id":"hunter2-task","redacted":REDACTED}
{"type":"message","role":"user","content":"my password is hunter2"}
{"type":"note","kind":"hunter2 called","body":{"x":"hunter2"}}
{"type":"note","kind":"agentica.goal","body":{"goal":{"status":"hunter","last_verdict":"hunter","turns_used":3}}}
{"type":"metrics","status":"hunter2","experiment":"hunter2","values":{"score":1}}
{"type":"message","role":"assistant","content":"[text 1, 5 bytes] hunter2","tool_calls":[{"id":"hunter2","name":"hunter2","arguments":"\"hunter2 -la\""}],"finish_reason":"hunter2"}
{"type":"message","role":"tool","tool_call_id":"hunter2","name":"hunter2","content":"hunter2"}
{"type":"message","role":"assistant","content":"done","finish_reason":"stop"}
"#;

#[test]
fn nothing_a_person_said_stays_whatever_the_recording_says_of_itself() {
    for redacted in ["false", "true"] {
        let scratch = Scratch::with(&[("said.jsonl", &SAID.replace("REDACTED", redacted))]);
        let (code, stdout, stderr) = scratch.run("convert said.jsonl --redact --salt pepper");
        assert_eq!(code, 0, "{stderr}");
        assert!(!stdout.contains("hunter"), "redacted: {redacted}: {stdout}");
        assert!(stdout.contains("\"finish_reason\":\"stop\"") && stdout.contains("\"turns_used\":3"), "{stdout}");
    }
}

#[test]
fn the_first_word_of_an_action_is_no_name_of_a_tool() {
    let step = |action: &str| format!(r#"{{"action":"{action}","observation":"ok","response":"r"}}"#);
    let steps = ["ls -la", "hunter2 is the password", "open a.py"].map(step).join(",");
    let scratch = Scratch::with(&[("a.traj", &format!(r#"{{"trajectory":[{steps}],"info":{{}},"history":[]}}"#))]);
    let (code, stdout, stderr) = scratch.run("convert a.traj --redact");
    assert_eq!(code, 0, "{stderr}");
    assert!(!stdout.contains("hunter2") && stdout.contains("\"name\":\"ls\""), "{stdout}");
    assert!(stdout.contains("\"name\":\"command-1\""), "{stdout}");
    // Nobody can say any more whether this tool was called, so a rule that asks is not evaluable.
    scratch.put(
        "s.toml",
        "[[stack]]\nname = \"s\"\nany = [{ signal = \"tool.named\", tool = \"hunter2\", at_least = 1 }, { signal = \"steps\", at_least = 1 }]\n",
    );
    scratch.run("convert a.traj --redact --out shared.jsonl");
    scratch.run("compare shared.jsonl --stacks s.toml --out out");
    let row = &scratch.table("out/rows.csv")[0];
    assert!(row["not_evaluable"].contains("tool.named[hunter2] >= 1: no names of tools"), "{row:?}");
    assert_eq!(row["rule"], "steps >= 1");
}

#[test]
fn unreadable_arguments_are_not_evaluable_on_a_redacted_run() {
    let step = |nth: usize, arguments: &str| {
        let arguments = Value::from(arguments);
        format!(
            "{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{{\"id\":\"{nth}\",\"name\":\"run\",\"arguments\":{arguments}}}]}}\n\
             {{\"type\":\"message\",\"role\":\"tool\",\"tool_call_id\":\"{nth}\",\"content\":\"r{nth}\"}}\n"
        )
    };
    let run = |calls: [&str; 3]| {
        let steps: String = calls.iter().enumerate().map(|(nth, arguments)| step(nth, arguments)).collect();
        let end = "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"x\"}\n";
        format!("{{\"type\":\"run\",\"run_id\":\"u\"}}\n{steps}{end}")
    };
    for (calls, stops, evaluable) in [
        (["{bad1", "{bad2", "{bad3"], true, false),
        (["{'a': 1}", "{'b': 2}", "{'c': 3}"], false, false),
        (["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"], false, true),
    ] {
        let scratch = Scratch::with(&[("run.jsonl", &run(calls))]);
        scratch.run("convert run.jsonl --redact --out copy.jsonl");
        let row = |name: &str| {
            let (code, _, stderr) = scratch.run(&format!("compare {name}.jsonl --stacks system:agentao --out {name}"));
            assert_eq!(code, 0, "{stderr}");
            scratch.table(&format!("{name}/rows.csv")).remove(0)
        };
        let (original, copy) = (row("run"), row("copy"));
        assert_eq!(original["rule"] == "unreadable arguments x3", stops, "{calls:?} {original:?}");
        assert!(!original["not_evaluable"].contains("arguments"), "{original:?}");
        let told = copy["not_evaluable"].contains("unreadable arguments x3: no arguments as written");
        assert_eq!((told, &*copy["rule"]), (!evaluable, ""), "{calls:?} {copy:?}");
    }
}
