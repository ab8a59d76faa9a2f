//! bashkit evaluations: one file per model and date, one run per task, with messages as Anthropic blocks. Tokens are
//! known only for the whole run.

use super::{Format, RecordLayout, object_of, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::dialect;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::outcomes::native_grade;
use crate::record::reading::{Reading, Record};
use crate::record::tokens;
use crate::transcript::{EndCause, Grade, Header, PromptedBy, Role, Usage};

/// bashkit evaluations.
pub(super) static FORMAT: Format = Format {
    id: "bashkit",
    summary: "bashkit evaluations: `results` of `task`, `trace` and `score`",
    recognise,
    layout: |_| RecordLayout::Elements {
        at: Some("results"),
        envelope: &["provider", "model", "timestamp", "max_turns"],
    },
    prompted_by: PromptedBy::Program,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_result = |value: &Sketch| value.has(&["task", "trace", "score"]) && value.has_within("trace", &["messages"]);
    let results = probe.document()?.get("results")?.elements();
    reason_if(is_result(results.first()?), "`results` of `task`, `trace` and `score`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(run) = Node::whole(record, out) else { return };
    let around = Node::from_written(record.envelope);
    let task = run.under("task", out);
    let trace = run.under("trace", out);
    let mut turns = Turns::default();
    for message in trace.list("messages", out) {
        let Some(message) = Node::row(message.written(), out) else { continue };
        turns.push_all(dialect::messages(&message, Role::User, out));
    }
    let task_id = task.word("id", out);
    let reached = run.within("score");
    let score = reached.number("score", out);
    let full = reached.number("max_score", out);
    let (mut success, mut share) = (None, None);
    if let (Some(score), Some(full)) = (score, full) {
        success = Some(score >= full);
        // The share of the task's full score, so that 1 means the same in every task.
        share = if full > 0.0 { Some(score / full) } else { None };
    }
    let usage = Usage {
        input: trace.tokens("total_input_tokens", out),
        output: trace.tokens("total_output_tokens", out),
        ..Usage::default()
    };
    let header = Header {
        run_id: format!("{}/{}", record.file.stem, task_id.as_deref().unwrap_or(record.key)),
        task_id,
        suite: task.word("category", out),
        model: around.some_word("model"),
        agent: Some("bashkit".to_owned()),
        meta: object_of([("max_turns", around.some_count("max_turns"))]),
        totals: tokens::totals(usage),
        ..Header::default()
    };
    let grade = Grade {
        end: match trace.flag("natural_stop", out) {
            Some(true) => EndCause::SelfFinish,
            Some(false) => EndCause::Cap,
            None => EndCause::Unknown,
        },
        ..native_grade("score", success, share)
    };
    out.run(turns.into_draft(header, grade));
}
