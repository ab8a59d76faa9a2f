//! Rounds, effects and what followed a stop: on sessions made here, and against tables counted by hand where they are.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::Value;
use whenstop::aggregate::FollowedRow;
use whenstop::compare::{EvaluationOptions, Evaluator};
use whenstop::decision::{Decision, Strategy};
use whenstop::effects::{Effect, EffectReader, EffectTable, RoundMark, RoundMarks, Work};
use whenstop::reader::{Corpus, ReadOptions, trace};
use whenstop::replay::replay;
use whenstop::stack::{Entry, StackFile};
use whenstop::transcript::{
    Draft, EndCause, Event, Header, Instant, Message, Origin, PromptedBy, Role, RoundEnd, Run, ToolCall, Usage,
};
use whenstop::verdict::Ledger;

use crate::scratch::Scratch;

fn shared(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/sessions").join(name)
}

fn lines(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(shared(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn runs(path: &Path) -> Vec<Run> {
    Corpus::open(&[path.to_owned()], ReadOptions::default()).unwrap().runs().unwrap().0
}

/// A session written as words: `p` a prompt, `h` the host's words, `s` steering, `x` an interruption, `a` a reply, and any other
/// word a call of bash with that command and a result that is fine (`!` in front: that failed).
fn session(words: &[&str]) -> Run {
    let mut events = Vec::new();
    for (nth, word) in words.iter().enumerate() {
        let ts = Some(Instant(i64::try_from(nth).unwrap() * 1000));
        let mut say = |role, origin| {
            let mut message = Message::saying(role, "words");
            (message.ts, message.origin) = (ts, origin);
            if role == Role::Assistant {
                message.set_usage(Some(Usage { input: Some(100), output: Some(10), ..Usage::default() }));
            }
            events.push(Event::Message(message));
        };
        match *word {
            "p" => say(Role::User, Origin::Prompt),
            "h" => say(Role::User, Origin::Host),
            "s" => say(Role::User, Origin::Steering),
            "x" => say(Role::User, Origin::Interruption),
            "a" => say(Role::Assistant, Origin::Prompt),
            command => {
                let (failed, command) = command.strip_prefix('!').map_or((false, command), |rest| (true, rest));
                say(Role::Assistant, Origin::Prompt);
                let id = format!("c{nth}");
                let Some(Event::Message(reply)) = events.last_mut() else { unreachable!() };
                reply.tool_calls.push(ToolCall::new(Some(&id), "bash", command));
                let mut result = Message::saying(Role::Tool, "done");
                (result.tool_call_id, result.is_error, result.ts) = (Some(id.into()), Some(failed), ts);
                events.push(Event::Message(result));
            }
        }
    }
    let header = Header { run_id: "s".to_owned(), prompted_by: PromptedBy::Person, ..Header::default() };
    Run::new(Draft { header, events, ..Draft::default() })
}

fn stack(text: &str) -> Arc<dyn Strategy> {
    let mut entries = StackFile::parse("test", text).unwrap().entries;
    let Some(Entry::Own(stack)) = entries.pop() else { panic!() };
    stack
}

#[test]
fn a_round_begins_with_a_prompt_that_is_answered() {
    use RoundEnd::{Cut, Interrupted, Reply};
    let told = |words: &[&str]| -> Vec<(usize, RoundEnd, Option<i64>)> {
        let rounds = session(words).rounds();
        rounds.iter().map(|round| (round.n_steps(), round.end, round.active.map(|time| time.0))).collect()
    };
    assert_eq!(told(&["p", "ls", "a", "p", "a"]), [(2, Reply, Some(2000)), (1, Reply, Some(1000))]);
    assert_eq!(told(&["p", "ls", "h", "ls", "s", "a"]), [(3, Reply, Some(5000))], "the host and steering begin none");
    assert_eq!(told(&["p", "p", "a"]), [(1, Reply, Some(1000))], "nobody answered the first");
    assert_eq!(told(&["p", "a", "p", "x", "p", "a"]), [(1, Reply, Some(1000)), (1, Reply, Some(1000))], "taken back");
    assert_eq!(told(&["p", "ls", "x", "p", "ls"]), [(1, Interrupted, Some(1000)), (1, Cut, Some(1000))]);
    assert_eq!(told(&["ls", "a"]), [(2, Reply, Some(1000))], "the prompt is not in the file");
    assert_eq!(told(&["p", "h"]), []);
}

#[test]
fn a_session_of_a_persons_ended_by_itself_if_the_agent_had_the_last_word() {
    use EndCause::{SelfFinish, Unknown};
    let end = |words: &[&str]| session(words).grade.end;
    assert_eq!(end(&["p", "ls", "a"]), SelfFinish);
    assert_eq!(end(&["p", "ls", "x", "p", "a"]), SelfFinish, "only the latest round counts");
    assert_eq!(end(&["p", "ls"]), Unknown, "it was at work");
    assert_eq!(end(&["p", "a", "p"]), Unknown, "the prompt is not answered");
    assert_eq!(end(&["p", "a", "x"]), Unknown, "broken off");
    assert_eq!(end(&["h"]), Unknown);
    let changed = |change: &dyn Fn(&mut Draft)| {
        let mut draft = session(&["p", "a"]).to_draft();
        draft.grade.end = Unknown;
        change(&mut draft);
        Run::new(draft).grade.end
    };
    assert_eq!(changed(&|_| {}), SelfFinish);
    assert_eq!(changed(&|draft| draft.header.prompted_by = PromptedBy::Program), Unknown, "a limit may have ended it");
    assert_eq!(changed(&|draft| draft.header.parent = Some("p".to_owned())), Unknown, "its parent has the round");
    assert_eq!(changed(&|draft| draft.grade.end = EndCause::Cap), EndCause::Cap, "what is recorded stays");
}

#[test]
fn a_round_is_over_when_the_agent_hands_back_and_is_prompted_again() {
    let stops = |words: &[&str], limit: u32| -> Option<String> {
        let strategy =
            stack(&format!("[[stack]]\nname = \"t\"\nany = [{{ signal = \"rounds\", at_least = {limit} }}]"));
        replay(&session(words), &strategy).stop.map(|stop| stop.point.to_string())
    };
    let before = |step: u32| Some(format!("{step}:before_request"));
    assert_eq!(stops(&["p", "a", "p", "a"], 1), before(1), "known before the next call is paid for");
    assert_eq!(stops(&["p", "ls", "a", "p", "ls", "a", "p", "a"], 2), before(4));
    assert_eq!(stops(&["p", "a", "h", "a"], 1), None, "what the host answers itself ends nothing");
    assert_eq!(stops(&["p", "a", "x", "p", "a"], 1), None, "broken off");
    assert_eq!(stops(&["p", "ls", "p", "a"], 1), None, "the call was pending");
    assert_eq!(stops(&["p", "a", "s", "a"], 1), None, "steering begins none");
}

#[test]
fn lint_names_the_rules_that_count_over_all_rounds_of_a_session() {
    let mut recording = Vec::new();
    trace::write(&session(&["p", "ls", "a", "p", "pwd", "a"]), &mut recording).unwrap();
    let rules = [
        ("total", "signal = \"tokens.uncached\", at_least = 200_000", true),
        ("counted", "signal = \"result.count\", at_least = 3", true),
        ("latest", "signal = \"result.count\", at_least = 3, window = 9", false),
        ("streak", "signal = \"call.streak\", at_least = 3", false),
    ];
    for (name, rule, is_told) in rules {
        let stack = format!("[[stack]]\nname = \"{name}\"\nany = [{{ {rule} }}]\n");
        let scratch = Scratch::with(&[("s.toml", &stack), ("runs.jsonl", std::str::from_utf8(&recording).unwrap())]);
        let (code, stdout, stderr) = scratch.run("rules lint s.toml runs.jsonl");
        assert_eq!((code, stdout.contains("counts over whole sessions")), (0, is_told), "{name}: {stdout}{stderr}");
    }
}

#[test]
fn marks_say_what_happened_to_the_work_of_a_round() {
    let marks = |words: &[&str]| -> Vec<String> {
        let marks = RoundMarks::from_rounds(&session(words), &EffectTable::default());
        let names = |marks: RoundMarks| {
            RoundMark::ALL.into_iter().filter(|mark| marks.has(*mark)).map(RoundMark::name).collect()
        };
        marks.into_iter().map(names).map(|names: Vec<&str>| names.join(" ")).collect()
    };
    assert_eq!(marks(&["p", "sed -i s/a/b/ f", "x", "p", "a"]), ["interrupted", ""]);
    assert_eq!(marks(&["p", "sed -i s/a/b/ src/f", "a", "p", "git checkout -- src/f", "a"]), ["undone", ""]);
    assert_eq!(marks(&["p", "sed -i s/a/b/ src/f", "a", "p", "git checkout main", "a"]), ["", ""], "a branch");
    assert_eq!(marks(&["p", "sed -i s/a/b/ src/f", "a", "p", "git restore other", "a"]), ["", ""]);
    assert_eq!(marks(&["p", "sed -i s/a/b/ src/f", "a", "p", "git reset --hard", "a"]), ["undone", ""]);
    assert_eq!(marks(&["p", "sed -i s/a/b/ src/f", "a", "p", "git stash", "a"]), ["undone", ""]);
    assert_eq!(marks(&["p", "ls", "a", "p", "git checkout .", "a"]), ["", ""], "nothing to undo");
    assert_eq!(marks(&["p", "sed -i s/a/b/ f", "git commit -am x", "a"]), ["handover"]);
    assert_eq!(marks(&["p", "sed -i s/a/b/ f", "a", "p", "git status", "git commit -am x"]), ["handover", "handover"]);
    assert_eq!(
        marks(&["p", "sed -i s/a/b/ f", "a", "p", "make", "git commit -am x"]),
        ["", "handover"],
        "no first act"
    );
    assert_eq!(marks(&["p", "ls", "a", "p", "git commit -am x"]), ["", "handover"], "nothing to hand over");
}

#[test]
fn what_followed_a_stop_is_counted_from_the_calls_after_it() {
    let cases: &[(&[&str], &str, &str)] = &[
        (&["p", "ls", "rm x", "a"], "steps >= 1", "edits 1-1 hand-overs 0-0 greens 0-0 cut 1-1"),
        (&["p", "rm x", "ls", "a"], "steps >= 1", "edits 0-0 hand-overs 0-0 greens 0-0 cut 0-0"),
        (&["p", "ls", "frobnicate", "a"], "steps >= 1", "edits 0-1 hand-overs 0-0 greens 0-0 cut 0-1"),
        (&["p", "ls", "git commit -m x", "a"], "steps >= 1", "edits 0-0 hand-overs 1-1 greens 0-0 cut 1-1"),
        (&["p", "!make", "make", "a"], "steps >= 1", "edits 0-0 hand-overs 0-0 greens 1-1 cut 1-1"),
        (&["p", "make", "make", "a"], "steps >= 1", "edits 0-0 hand-overs 0-0 greens 0-0 cut 0-0"),
        (&["p", "ls", "echo 1 > t.py", "rm t.py", "a"], "steps >= 1", "edits 0-2 hand-overs 0-0 greens 0-0 cut 0-1"),
    ];
    for (words, limit, expected) in cases {
        let (signal, limit) = limit.split_once(" >= ").unwrap();
        let strategies =
            [stack(&format!("[[stack]]\nname = \"t\"\nany = [{{ signal = \"{signal}\", at_least = {limit} }}]"))];
        let run = session(words);
        let evaluator = Evaluator::new(&strategies, EvaluationOptions::default());
        let FollowedRow {
            edits_low,
            edits_high,
            handovers_low,
            handovers_high,
            greens_low,
            greens_high,
            cut_short_low,
            cut_short_high,
            ..
        } = evaluator.evaluate(&run).followed.remove(0);
        let told = format!(
            "edits {edits_low}-{edits_high} hand-overs {handovers_low}-{handovers_high} greens {greens_low}-{greens_high} cut {cut_short_low}-{cut_short_high}"
        );
        assert_eq!(told, *expected, "{words:?}");
    }
}

#[test]
fn tasks_of_one_name_in_two_suites_are_two_clusters() {
    let strategies = [stack("[[stack]]\nname = \"t\"\nany = [{ signal = \"steps\", at_least = 1 }]")];
    let cluster = |suite: Option<&str>, task: Option<&str>| {
        let mut draft = session(&["p", "ls", "a"]).to_draft();
        draft.header.suite = suite.map(str::to_owned);
        draft.header.task_id = task.map(str::to_owned);
        draft.header.run_id = "run".to_owned();
        let evaluator = Evaluator::new(&strategies, EvaluationOptions::default());
        evaluator.evaluate(&Run::new(draft)).followed.remove(0).cluster.to_string()
    };
    assert_ne!(cluster(Some("a"), Some("1")), cluster(Some("b"), Some("1")));
    let named =
        [cluster(Some("a"), Some("1")), cluster(None, Some("1")), cluster(Some("a"), None), cluster(None, None)];
    assert_eq!(named, ["a/1", "1", "a/run", "run"]);
}

#[test]
fn stack_files_extend_the_table_of_effects_and_say_what_counts_begin_with() {
    let file = StackFile::parse("t", "[effects]\n\"mcp__x__*\" = \"handover\"\n").unwrap();
    let told = EffectReader::new(&file.effects).tell(&ToolCall::new(None, "mcp__x__y", "{}"));
    assert_eq!(told.effect, Effect::Handover);
    let wrong = StackFile::parse("t", "[effects]\n\"a\" = \"edits\"\n").unwrap_err();
    assert!(wrong.iter().any(|error| error.to_string().contains("has no effect of the table")), "{wrong:?}");
    let wrong =
        StackFile::parse("t", "scope = \"rounds\"\n[[stack]]\nname = \"a\"\ncap = { steps = 3 }\n").unwrap_err();
    assert_eq!(wrong.iter().count(), 1, "{wrong:?}");
}

/// Every stack that counts by round.
fn by_round() -> Vec<Arc<dyn Strategy>> {
    let limits = [
        "{ signal = \"steps\", at_least = 2 }",
        "{ signal = \"steps\", at_least = 3, at = \"before_request\" }",
        "{ signal = \"tokens.total\", at_least = 250 }",
        "{ signal = \"tool_calls\", at_least = 2 }",
        "{ signal = \"call.streak\", at_least = 2 }",
        "{ signal = \"call.count\", at_least = 3 }",
        "{ signal = \"call_result.streak\", at_least = 2 }",
        "{ signal = \"errors.streak\", at_least = 2 }",
        "{ signal = \"elapsed\", at_least = 3 }",
        "{ signal = \"active\", at_least = 3 }",
        "{ signal = \"idle\", at_least = 1 }",
        "{ signal = \"messages\", at_least = 5 }",
        "{ all = [{ signal = \"steps\", at_least = 2 }, { signal = \"errors.count\", at_least = 1 }], latched = true }",
        "{ signal = \"errors.count\", at_least = 1, strikes = 2 }",
    ];
    let stacks =
        limits.iter().map(|limit| stack(&format!("scope = \"round\"\n[[stack]]\nname = \"t\"\nany = [{limit}]")));
    stacks.chain([stack("[[stack]]\nscope = \"round\"\nname = \"t\"\ncap = { steps = 2 }")]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    /// A session under a rule that counts by round stops where the first of its rounds does that stops as a file of its own.
    #[test]
    fn counting_by_round_is_replaying_each_round_alone(
        words in prop::collection::vec(prop::sample::select(vec!["p", "p", "h", "s", "x", "a", "ls", "ls", "!make", "rm x"]), 1..40)
    ) {
        let mut words = words;
        words.insert(0, "p");
        let run = session(&words);
        let rounds = run.rounds();
        let alone = run.clone().into_rounds();
        for strategy in by_round() {
            let whole = replay(&run, &strategy);
            let first = rounds.iter().zip(&alone).find_map(|(round, alone)| {
                // What would have been said before one more request, after the end of the session, is not compared.
                let step = |decision: &Decision| decision.point.step as usize + round.first_step;
                let ends = |decision: &Decision| decision.action.is_terminal() && step(decision) < run.steps().len();
                let decision = replay(alone, &strategy).trail.into_iter().find(ends)?;
                Some((decision.point.step as usize + round.first_step, decision.point.moment, decision.evidence))
            });
            let within = |decision: &&Decision| (decision.point.step as usize) < run.steps().len();
            let told = whole.trail.iter().find(|decision| decision.action.is_terminal()).filter(within);
            let told = told.map(|decision| (decision.point.step as usize, decision.point.moment, decision.evidence));
            prop_assert_eq!(told, first, "{:?} under {:?}", words, strategy.rules());
        }
    }
}

#[test]
fn local_opens_nothing_but_the_places_it_names() {
    let home = tempfile::tempdir().unwrap();
    let local_by = |home: &Path, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whenstop"));
        for variable in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
            command.env_remove(variable);
        }
        let output = command.arg("local").args(more).env("HOME", home).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let local = |home: &Path| local_by(home, &[]);
    let (code, _, told) = local(home.path());
    assert!(code != Some(0) && told.contains("no agent of those known"), "{told}");
    let folder = home.path().join(".claude/projects/p");
    std::fs::create_dir_all(&folder).unwrap();
    let line = |kind: &str, message: &str, nth: u32| {
        format!(
            "{{\"type\":\"{kind}\",\"uuid\":\"u{nth}\",\"sessionId\":\"s\",\"timestamp\":\"2026-01-05T10:00:0{nth}Z\",\"message\":{message}}}\n"
        )
    };
    let reply = r#"{"role":"assistant","id":"m1","model":"claude-opus-4-5","content":[{"type":"text","text":"Done."}],"usage":{"input_tokens":1000,"output_tokens":100}}"#;
    let text = line("user", r#"{"role":"user","content":"Go."}"#, 1) + &line("assistant", reply, 2);
    std::fs::write(folder.join("s.jsonl"), text).unwrap();
    // Outcomes that lie above it are not looked for, as they would be elsewhere.
    std::fs::write(folder.join("labels.csv"), "run_id,success\ns,true\n").unwrap();
    std::fs::write(home.path().join(".claude/projects/results.json"), r#"{"resolved_ids":["s"]}"#).unwrap();
    let (code, told, errors) = local(home.path());
    assert_eq!(code, Some(0), "{errors}");
    for part in
        ["Claude Code", "1 session, 1 round", "$0.01 by list prices of", "Nothing leaves this machine", "1 ungraded"]
    {
        assert!(told.replace('\n', " ").contains(part), "{part}: {told}");
    }
    for (by, group) in [("project", "p"), ("agent", "Claude Code")] {
        let (_, told, _) = local_by(home.path(), &["--by", by]);
        let line = told
            .lines()
            .skip_while(|line| !(line.starts_with(by) && line.contains("rounds")))
            .nth(1)
            .unwrap_or_default();
        assert_eq!(line.split_whitespace().collect::<Vec<_>>().join(" "), format!("{group} 1 1 0.0 0.01"), "{told}");
    }
}

#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn rounds_are_those_that_were_counted_by_hand() {
    for session in lines("entire-rounds.jsonl") {
        let file = session["file"].as_str().unwrap();
        let run = runs(&shared("entire").join(file)).remove(0);
        let found = run.rounds();
        let expected = session["rounds"].as_array().unwrap();
        assert_eq!(found.len(), expected.len(), "{file}");
        for (round, expected) in found.iter().zip(expected) {
            assert_eq!(round.n_steps() as u64, expected["steps"].as_u64().unwrap(), "{file}");
            assert_eq!(round.end == RoundEnd::Interrupted, expected["interrupted"].as_bool().unwrap(), "{file}");
            let seconds = round.active.map(|time| time.0 as f64 / 1000.0).unwrap();
            assert!((seconds - expected["active_s"].as_f64().unwrap()).abs() <= 1.0, "{file}: {seconds}");
        }
    }
}

/// Of a dozen other formats. What a call is in Who&When is in doubt: every message but the terminal's, or every message.
#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn rounds_of_other_formats_are_those_that_were_counted_by_hand() {
    let mut differing = Vec::new();
    for line in lines("rounds-shared.jsonl") {
        let (file, format) = (line["file"].as_str().unwrap(), line["format"].as_str().unwrap());
        if format == "who-and-when" {
            continue;
        }
        let all = runs(&shared("..").join(file));
        let named = line["run"].as_str().unwrap_or_default();
        let run = all.iter().find(|run| run.header.run_id.contains(named)).filter(|_| !named.is_empty());
        let Some(run) = run.or_else(|| all.first().filter(|_| all.len() == 1)) else {
            if line["rounds"].as_array().is_some_and(|rounds| !rounds.is_empty()) {
                differing.push(format!("{file}: no run {named}"));
            }
            continue;
        };
        let told: Vec<(u64, bool)> =
            run.rounds().iter().map(|round| (round.n_steps() as u64, round.end == RoundEnd::Interrupted)).collect();
        let rounds = line["rounds"].as_array().unwrap().iter();
        let wanted: Vec<(u64, bool)> =
            rounds.map(|round| (round["steps"].as_u64().unwrap(), round["interrupted"].as_bool().unwrap())).collect();
        if told != wanted {
            differing.push(format!("{file} {named}: {told:?}, and should be {wanted:?}"));
        }
    }
    assert_eq!(differing, Vec::<String>::new());
}

#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn effects_are_those_a_person_saw() {
    let (table, calls) = (EffectTable::default(), lines("effects-shared.jsonl"));
    let mut unknown = 0;
    for call in &calls {
        let arguments = call["arguments"].as_str().map_or_else(|| call["arguments"].to_string(), str::to_owned);
        let told = EffectReader::new(&table).tell(&ToolCall::new(None, call["tool"].as_str().unwrap(), arguments));
        let class: Effect = call["class"].as_str().unwrap().parse().unwrap();
        let also = call["also"].as_array().is_some_and(|also| also.iter().any(|also| also == told.effect.name()));
        assert!(!class.is_work() || told.effect > Effect::Plan || also, "{}: {told:?}", call["id"]);
        unknown += usize::from(told.effect == Effect::Unknown);
    }
    assert!(unknown * 10 <= calls.len(), "{unknown} of {} unknown", calls.len());
}

#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn the_step_from_which_a_patch_stood_is_within_the_interval() {
    for line in lines("standing-shared.jsonl") {
        let file = line["file"].as_str().unwrap();
        let run = runs(&shared("..").join(file)).remove(0);
        let (low, high) = Work::from_run(&run, &EffectTable::default(), &Ledger::from_run(&run)).standing();
        let truth = line["last_patch_edit"].as_u64().map(|step| usize::try_from(step).unwrap());
        assert!(low <= truth && truth <= high, "{file}: {truth:?} is not within {low:?} to {high:?}");
    }
}

/// A graded run of an edit, `reads` looks, and a last word.
fn graded(id: &str, prompted_by: &str, command: &str, reads: usize) -> String {
    let mut lines = vec![
        serde_json::json!({"type": "run", "run_id": id, "prompted_by": prompted_by}),
        serde_json::json!({"type": "message", "role": "user", "content": "Go."}),
    ];
    for nth in 0..=reads {
        let command = if nth == 0 { command } else { "ls" };
        let call = serde_json::json!([{"id": nth.to_string(), "name": "bash", "arguments": {"command": command}}]);
        lines.push(serde_json::json!({"type": "message", "role": "assistant", "tool_calls": call}));
        lines.push(
            serde_json::json!({"type": "message", "role": "tool", "tool_call_id": nth.to_string(), "content": ""}),
        );
    }
    lines.push(serde_json::json!({"type": "message", "role": "assistant", "content": "Done."}));
    lines.push(serde_json::json!({"type": "outcome", "success": true, "end": "self_finish"}));
    lines.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect()
}

#[test]
fn a_host_that_keeps_the_work_loses_no_success_whose_last_edit_was_made() {
    let runs = graded("edited", "program", "sed -i s/a/b/ f", 3)
        + &graded("awaited", "simulated_user", "sed -i s/a/b/ f", 3)
        + &graded("untouched", "program", "cat f", 3);
    let stacks = "[[stack]]\nname = \"two\"\nany = [{ signal = \"steps\", at_least = 2 }]\n";
    let scratch = Scratch::with(&[("runs.jsonl", &runs), ("s.toml", stacks)]);
    let killed = |keeps: &str| -> Vec<String> {
        let (code, _, stderr) =
            scratch.run(&format!("compare runs.jsonl --stacks s.toml --keeps {keeps} --out {keeps}"));
        assert_eq!(code, 0, "{stderr}");
        let rows = scratch.read(&format!("{keeps}/rows.csv"));
        let mut rows = csv::Reader::from_reader(rows.as_bytes());
        let at = |name: &str, headers: &csv::StringRecord| headers.iter().position(|header| header == name).unwrap();
        let headers = rows.headers().unwrap().clone();
        let told = rows.records().map(|row| {
            let row = row.unwrap();
            let of = |name: &str| row[at(name, &headers)].to_owned();
            format!("{} {}-{}", of("run_id"), of("killed_low"), of("killed_high"))
        });
        told.collect()
    };
    assert_eq!(killed("nothing"), ["edited 1-1", "awaited 1-1", "untouched 1-1"]);
    assert_eq!(killed("work"), ["edited 0-0", "awaited 1-1", "untouched 1-1"], "the customer would have got no answer");
    assert_eq!(killed("unknown"), ["edited 0-1", "awaited 1-1", "untouched 1-1"]);
}

#[test]
fn marks_stand_in_for_grades_only_where_that_is_asked_for_and_said() {
    let session = |id: &str, command: &str| {
        graded(id, "person", command, 1).replace("\"success\":true", "\"success\":\"unknown\"")
    };
    let runs = session("handed", "git commit -am x") + &session("looked", "cat f");
    let stacks = "[[stack]]\nname = \"one\"\nany = [{ signal = \"steps\", at_least = 1 }]\n";
    let scratch = Scratch::with(&[("runs.jsonl", &runs), ("s.toml", stacks)]);
    let (_, told, _) = scratch.run("compare runs.jsonl --unit round --stacks s.toml");
    assert!(told.contains("0 successes, 0 failures, 2 ungraded"), "{told}");
    let (_, json, _) = scratch.run("compare runs.jsonl --unit round --stacks s.toml --format json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["followed"][0]["stack"], "one", "{json}");
    // None of two sessions: 1 - sqrt(0.025).
    assert_eq!(json["followed"][0]["cut_short_high"], 0.841_886, "{json}");
    let marks = "--outcome-from handover=success,interrupted=failure";
    let (_, told, errors) = scratch.run(&format!("compare runs.jsonl --unit round --stacks s.toml {marks}"));
    assert!(told.contains("1 proxy success, 0 proxy failures, 1 ungraded"), "{told}");
    assert!(told.contains("outcomes are proxies") && errors.contains("outcomes are proxies"), "{told}{errors}");
    let (code, told, _) = scratch.run(&format!("tune runs.jsonl --unit round --signal steps --limits 1,2 {marks}"));
    assert!(code == 100 && told.contains("outcomes are proxies"), "{code} {told}");
    let (code, labels, errors) = scratch.run(&format!("labels runs.jsonl --unit round --template - {marks}"));
    assert_eq!(code, 0, "{errors}");
    let handed = labels.lines().find(|line| line.starts_with("handed#1,")).unwrap_or_default();
    assert!(handed.ends_with(",success (handover)"), "{labels}");
    // What a person says of a round goes before its mark.
    scratch.put("labels.csv", "run_id,success\nhanded#1,false\n");
    let (_, told, errors) =
        scratch.run(&format!("compare runs.jsonl --unit round --stacks s.toml --labels labels.csv {marks}"));
    assert!(told.contains("0 proxy successes, 1 proxy failure"), "{told}{errors}");
}
