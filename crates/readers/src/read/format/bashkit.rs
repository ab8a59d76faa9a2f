//! bashkit evaluations: one file per model and date, one run per task, with messages as Anthropic blocks. Tokens are
//! known only for the whole run.

use super::{Format, RecordLayout};
use crate::open::probe::{Probe, Sketch};
use crate::read::dialect;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{EndCause, Grade, Header, Outcome, OutcomeSource, PromptedBy, Role, Totals, Usage};
use crate::value::json;

/// bashkit evaluations.
pub(super) struct Bashkit;

impl Format for Bashkit {
    fn id(&self) -> &'static str {
        "bashkit"
    }

    fn summary(&self) -> &'static str {
        "bashkit evaluations: `results` of `task`, `trace` and `score`"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let is_result = |value: &Sketch| {
            value.has(&["task", "trace", "score"]) && value.get("trace").is_some_and(|trace| trace.has(&["messages"]))
        };
        let results = probe.document()?.get("results")?.elements();
        results.first().is_some_and(is_result).then(|| "`results` of `task`, `trace` and `score`".to_owned())
    }

    fn layout(&self, _probe: &Probe) -> RecordLayout {
        RecordLayout::Elements { at: Some("results"), envelope: &["provider", "model", "timestamp", "max_turns"] }
    }

    fn prompted_by(&self) -> PromptedBy {
        PromptedBy::Program
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        let Some(run) = Node::whole(record, out) else { return };
        let around = Node::from_written(record.envelope);
        let task = run.object("task", out).unwrap_or_else(|| Node::from_written("{}"));
        let trace = run.object("trace", out).unwrap_or_else(|| Node::from_written("{}"));
        let mut turns = Turns::default();
        for message in trace.list("messages", out) {
            let Some(message) = Node::row(message.written(), out) else { continue };
            for message in dialect::messages(&message, Role::User, out) {
                turns.push(message);
            }
        }
        let task_id = task.word("id", out);
        let score = run.at(&["score"]).and_then(|score| score.number("score", out));
        let full = run.at(&["score"]).and_then(|score| score.number("max_score", out));
        let success = score.zip(full).map(|(score, full)| score >= full);
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
            started_at: None,
            meta: around.some_count("max_turns").and_then(|cap| json::kept(&*format!("{{\"max_turns\":{cap}}}"))),
            totals: (!usage.is_empty()).then_some(Totals { usage, cost: None }),
            ..Header::default()
        };
        let grade = Grade {
            outcome: Outcome::from_grade(success),
            // The share of the task's full score, so that 1 means the same in every task.
            score: score.zip(full).filter(|(_, full)| *full > 0.0).map(|(score, full)| score / full),
            source: success.map_or(OutcomeSource::None, |_| OutcomeSource::Native("score")),
            end: match trace.flag("natural_stop", out) {
                Some(true) => EndCause::SelfFinish,
                Some(false) => EndCause::Cap,
                None => EndCause::Unknown,
            },
            ..Grade::default()
        };
        out.run(turns.into_draft(header, grade));
    }
}
