//! tau-bench historical trajectories: one array of trials, each a chat with its reward.

use super::{Format, RecordLayout, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::openai;
use crate::record::node::Node;
use crate::record::outcomes::native_grade;
use crate::record::reading::{Reading, Record};
use crate::transcript::{Draft, Event, Header, PromptedBy, Role};

/// tau-bench historical trajectories.
pub(super) static FORMAT: Format = Format {
    id: "tau-bench",
    summary: "tau-bench historical trajectories: an array of trials",
    recognise,
    layout: |_| RecordLayout::Elements { at: None, envelope: &[] },
    prompted_by: PromptedBy::SimulatedUser,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_trial = |value: &Sketch| value.has(&["traj", "reward"]);
    let elements = probe.document()?.elements();
    reason_if(is_trial(elements.first()?), "an array of objects with `traj` and `reward`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(trial) = Node::line(record.text, out) else { return };
    let task_id = trial.word("task_id", out);
    let number = trial.word("trial", out);
    let score = trial.number("reward", out);
    let key = match (&task_id, &number) {
        (Some(task), Some(trial)) => format!("{task}-{trial}"),
        _ => record.key.to_owned(),
    };
    let mut events = Vec::new();
    for message in trial.list("traj", out) {
        let Some(mut message) = openai::message(&message, out) else { continue };
        if message.role == Role::Tool {
            // The environment reports failures only in the text.
            message.is_error = Some(message.text().starts_with("Error"));
        }
        events.push(Event::Message(message));
    }
    let (suite, model) = suite_and_model(&record.file.stem);
    let header = Header {
        run_id: format!("{}/{key}", record.file.stem),
        task_id,
        trial: number,
        suite: Some(suite),
        model,
        ..Header::default()
    };
    let grade = native_grade("reward", score.map(|score| score >= 1.0), score);
    out.run(Draft { header, events, grade, warnings: Vec::new() });
}

/// The domain and model, which only the file name gives: `gpt-4o-airline.json`.
fn suite_and_model(stem: &str) -> (String, Option<String>) {
    for domain in ["airline", "retail"] {
        if let Some(rest) = stem.strip_suffix(domain)
            && let Some(model) = rest.strip_suffix('-')
        {
            return (format!("tau-bench-{domain}"), Some(model.to_owned()));
        }
    }
    ("tau-bench".to_owned(), None)
}
