//! A stack exported to every host that can hold all of it, read back: the rows of both on the bundled recordings, and on those
//! of others where they are there.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use whenstop::compare::Comparison;
use whenstop::decision::Strategy;
use whenstop::export::{DifferenceGrade, ExportedStack, hosts};
use whenstop::reader::{Corpus, ReadOptions};
use whenstop::stack::StackFile;
use whenstop::transcript::{Message, Run};
use whenstop::verdict::Assumptions;

/// The columns that name the stack and its rule, and how its host words what it does.
const NAMES: [&str; 8] = ["stack", "rule", "observed", "limit", "not_evaluable", "profile", "action", "interventions"];
/// What changes when a host acts at the next request rather than after the tools.
const MOMENT: [&str; 2] = ["stop_point", "ms_at_stop"];

const STACKS: &str = r#"
    [[stack]]
    name = "cap"
    cap = { steps = 12 }

    [[stack]]
    name = "budget"
    any = [{ signal = "tokens.total", at_least = 100_000 }]
    cap = { steps = 16 }

    [[stack]]
    name = "before tools"
    any = [{ signal = "tokens.total", at_least = 100_000, at = "after_response" }]

    [[stack]]
    name = "money"
    any = [{ signal = "cost", at_least = 0.25 }]
    cap = { steps = 16 }

    [[stack]]
    name = "mistakes"
    any = [{ signal = "errors.streak", at_least = 3 }]
"#;

/// Is it a run as an agent's loop makes it: a reply without a call ends a prompt's run?
fn is_loop(run: &Run) -> bool {
    let messages: Vec<&Message> = run.events().iter().filter_map(|event| event.message()).collect();
    let answers = messages.iter().enumerate().filter(|(_, message)| message.is_step() && message.tool_calls.is_empty());
    let mut answers = answers.map(|(at, _)| at);
    answers.all(|at| {
        messages[at + 1..].iter().find(|next| next.is_step() || next.is_prompt()).is_none_or(|next| next.is_prompt())
    }) && run.steps().iter().all(|step| !step.has_calls || step.n_results > 0)
}

fn prompts(run: &Run) -> usize {
    run.events().iter().filter_map(|event| event.message()).filter(|message| message.is_prompt()).count()
}

fn row(strategy: &Arc<dyn Strategy>, run: &Run, moved: bool) -> (Value, bool) {
    let comparison = Comparison::new(std::slice::from_ref(strategy), Assumptions::default());
    let (rows, _) = comparison.rows_of(run);
    let is_read = rows[0].not_evaluable.is_empty();
    let mut row = serde_json::to_value(&rows[0]).unwrap();
    for name in NAMES.iter().chain(MOMENT.iter().filter(|_| moved)) {
        row.as_object_mut().unwrap().remove(*name);
    }
    (row, is_read)
}

/// Holds every stack against its exports on every run that the export's own words do not leave out. How many rows stopped.
fn hold(corpus: PathBuf) -> usize {
    let mut runs: Vec<Run> = Vec::new();
    Corpus::open(&[corpus], ReadOptions::default()).unwrap().process(|run| run, |run| runs.push(run)).unwrap();
    let file = StackFile::parse("tuned.toml", STACKS).unwrap();
    let mut stopped = 0;
    for entry in &file.entries {
        let own = file.stack(entry.name()).unwrap();
        for to in hosts() {
            let export = ExportedStack::new(&own, to, false).only_this();
            // What nothing switches off would have to be looked for in each run.
            if !export.holds_all() || !to.host.also.is_empty() {
                continue;
            }
            let host = export.strategy().unwrap();
            let moved = export.differences().iter().any(|difference| difference.grade == DifferenceGrade::Moment);
            let one_prompt =
                export.differences().iter().any(|difference| difference.grade == DifferenceGrade::Condition);
            let own: Arc<dyn Strategy> = own.clone();
            for run in runs.iter().filter(|run| is_loop(run) && (!one_prompt || prompts(run) == 1)) {
                let ((wanted, read), (got, read_too)) = (row(&own, run, moved), row(&host, run, moved));
                if read && read_too {
                    stopped += usize::from(wanted["steps_at_stop"] != wanted["steps_recorded"]);
                    assert_eq!(wanted, got, "{}, {}, {}", entry.name(), to.id, run.header.run_id);
                }
            }
        }
    }
    stopped
}

#[test]
fn exports_read_back_give_the_same_rows_on_the_bundled_recordings() {
    assert!(hold("traces".into()) > 500, "too few rows to tell");
}

#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
#[test]
fn exports_read_back_give_the_same_rows_on_the_recordings_of_others() {
    assert!(hold("../shared/corpora/tau2".into()) + hold("../shared/corpora/mini-swe-agent".into()) > 500);
}

#[test]
fn coding_agents_get_what_they_have_a_setting_for() {
    let stack = "[[stack]]\nname = \"candidate\"\nany = [{ signal = \"steps\", at_least = 40 }, { signal = \"cost\", at_least = 2.5 }]\n";
    let scratch = crate::scratch::Scratch::with(&[("s.toml", stack)]);
    let (code, told, stderr) = scratch.run("export s.toml --to claude-code --nearest");
    assert_eq!(code, 0, "{stderr}");
    assert!(told.contains("--max-turns 40") && told.contains("--max-budget-usd 2.5"), "{told}");
    let (code, told, _) = scratch.run("export s.toml --to claude-agent-sdk --nearest");
    assert!(code == 0 && told.contains("max_turns=40") && told.contains("max_budget_usd=2.5"), "{told}");
    for agent in ["codex", "copilot-cli"] {
        let (code, _, stderr) = scratch.run(&format!("export s.toml --to {agent}"));
        assert!(code == 4 && stderr.contains("no setting, and `whenstop hook`"), "{agent}: {code} {stderr}");
    }
    let steps = "[[stack]]\nname = \"candidate\"\ncap = { steps = 40 }\n";
    scratch.put("steps.toml", steps);
    let (_, one, _) = scratch.run("export steps.toml --to langgraph --nearest");
    let (_, other, _) = scratch.run("export steps.toml --to langchain --nearest");
    assert!(!one.is_empty() && one == other, "{one}{other}");
    let (code, _, stderr) = scratch.run("export s.toml --to claude-code --nearest --format stack");
    assert!(code == 2 && stderr.contains("not replayed here"), "{code} {stderr}");
}

#[test]
fn what_a_host_does_by_default_is_said_to_be_the_same_setting() {
    let stack = "[[stack]]\nname = \"ten\"\ncap = { steps = 10 }\n";
    let scratch = crate::scratch::Scratch::with(&[("s.toml", stack)]);
    let (code, told, stderr) = scratch.run("export s.toml traces --to openai-agents --format pr");
    assert_eq!(code, 0, "{stderr}");
    assert!(told.starts_with("openai-agents does this by default already: the same setting"), "{told}");
    let (_, told, _) = scratch.run("export s.toml --to openai-agents");
    assert!(told.contains("by max_turns at 10, which is its default"), "{told}");
}
