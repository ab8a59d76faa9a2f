//! AgentDojo runs: one run per document, graded for the user's task and for the attacker's.
//!
//! The run id is the path from the pipeline's folder on: `model/suite/user_task/attack/injection`.

use serde_json::Value;

use super::{Format, object_of, reason_if};
use crate::open::probe::Probe;
use crate::read::openai;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::outcomes::native_grade;
use crate::record::reading::{Reading, Record};
use crate::transcript::{EndCause, Grade, Header, Json, PromptedBy};

/// AgentDojo runs.
pub(super) static FORMAT: Format = Format {
    id: "agentdojo",
    summary: "AgentDojo runs: a document with `pipeline_name`, `user_task_id` and `messages`",
    recognise,
    prompted_by: PromptedBy::Program,
    later_prompts: Some(&[]),
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_run = probe.document()?.has(&["pipeline_name", "user_task_id", "messages"]);
    reason_if(is_run, "`messages` with `pipeline_name` and `user_task_id`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(run) = Node::whole(record, out) else { return };
    let suite = run.word("suite_name", out);
    let task = run.word("user_task_id", out);
    let pipeline = run.word("pipeline_name", out);
    let mut turns = Turns::default();
    for message in run.list("messages", out) {
        if let Some(message) = openai::message(&message, out) {
            turns.push(message);
        }
    }
    let success = run.flag("utility", out);
    let (folders, run_id) = place(&record.file.path, suite.as_deref(), task.as_deref());
    let broke_off = run.has("error");
    let header = Header {
        run_id: run_id.unwrap_or_else(|| {
            let words = [&pipeline, &suite, &task, &run.some_word("attack_type"), &run.some_word("injection_task_id")];
            let words: Vec<&str> = words.into_iter().flatten().map(String::as_str).collect();
            if words.is_empty() { record.file.stem.clone() } else { words.join("/") }
        }),
        task_id: task,
        suite,
        // Pipelines that ran locally are all called `local`; their folder is named after the model.
        model: folders.or(pipeline),
        agent: Some("agentdojo".to_owned()),
        meta: attack(&run),
        ..Header::default()
    };
    let grade = Grade {
        end: if broke_off { EndCause::Error } else { EndCause::Unknown },
        ..native_grade("utility", success, success.map(f64::from))
    };
    out.run(turns.into_draft(header, grade));
}

/// The attack that the run was under: runs under different ones are no trials of the same thing.
fn attack(run: &Node<'_>) -> Option<Json> {
    object_of(["attack_type", "injection_task_id"].map(|name| (name, run.some_word(name).map(Value::String))))
}

/// The pipeline's folder, and the path from there on, if the path has the benchmark's layout.
fn place(path: &str, suite: Option<&str>, task: Option<&str>) -> (Option<String>, Option<String>) {
    let parts: Vec<&str> = path.trim_end_matches(".json").split(['/', '\\', '!']).collect();
    let at = parts.windows(3).rposition(|three| Some(three[1]) == suite && Some(three[2]) == task);
    match at.filter(|at| !parts[*at].is_empty()) {
        Some(at) => (Some(parts[at].to_owned()), Some(parts[at..].join("/"))),
        None => (None, None),
    }
}
