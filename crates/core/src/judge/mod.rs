//! Judges: the recorded reply of an LLM judge, or the verdict of a simulated one.
//!
//! A verdict that is neither recorded nor simulated is missing. Missing does not mean "continue": the caller gets
//! `None` and must report it.

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::transcript::{Event, JudgeReply, PointView, Truth};

/// Where a judge's verdicts come from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Judge {
    /// From the recording.
    #[default]
    Recorded,
    /// Simulated: the truth, with errors at stated rates.
    Simulated(Simulated),
    /// No judge at all. This is not a missing verdict: systems have a rule for it.
    Absent,
}

/// A simulated judge that errs at stated rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simulated {
    /// The probability of saying done when the run holds a success, in [0, 1].
    pub sensitivity: f64,
    /// The probability of saying not done when it does not, in [0, 1].
    pub specificity: f64,
    /// The seed. The same seed gives the same verdicts on every machine.
    pub seed: u64,
}

impl Judge {
    /// Parses `"recorded"`, `"none"` or `{ sensitivity, specificity, seed }`; `None` for anything else.
    pub fn from_json(value: &Value) -> Option<Self> {
        match value {
            Value::String(word) if word == "recorded" => Some(Self::Recorded),
            Value::String(word) if word == "none" => Some(Self::Absent),
            Value::Object(fields) if fields.len() == 3 => {
                let rate = |name: &str| fields.get(name)?.as_f64().filter(|rate| (0.0..=1.0).contains(rate));
                Some(Self::Simulated(Simulated {
                    sensitivity: rate("sensitivity")?,
                    specificity: rate("specificity")?,
                    seed: fields.get("seed")?.as_u64()?,
                }))
            }
            _ => None,
        }
    }

    /// What [`Self::from_json`] accepts, for the help line of an error.
    pub const HELP: &'static str =
        "`judge` is \"recorded\", \"none\" or { sensitivity = 0.9, specificity = 0.95, seed = 1 }";
}

impl Simulated {
    /// Whether it says done at this point of a run with this truth; `None` if the truth is unknown.
    pub fn says_done(&self, view: &PointView<'_>, truth: Truth) -> Option<bool> {
        let truth = truth.holds_at(view)?;
        let draw = self.draw(view, truth);
        Some(if truth { draw < self.sensitivity } else { draw >= self.specificity })
    }

    /// A number in [0, 1) that depends only on the seed, the run, the point and the truth.
    fn draw(&self, view: &PointView<'_>, truth: bool) -> f64 {
        let key = format!("{}\u{0}{}\u{0}{truth}", view.header().run_id, view.point());
        // A double holds exactly 53 bits, so use the upper 53.
        (xxh3_64_with_seed(key.as_bytes(), self.seed) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The latest recorded reply among `events`.
pub fn recorded(events: &[Event]) -> Option<&JudgeReply> {
    events.iter().rev().find_map(|event| match event {
        Event::Judge(reply) => Some(reply),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::transcript::{Draft, Grade, Header, Message, Outcome, Role, Run};

    fn run(run_id: String, outcome: Outcome) -> Run {
        let header = Header { run_id, ..Header::default() };
        let events = vec![Event::Message(Message::saying(Role::Assistant, "done"))];
        Run::new(Draft { header, events, grade: Grade { outcome, ..Grade::default() }, ..Draft::default() })
    }

    #[test]
    fn error_rates_are_met_and_an_unknown_truth_gives_no_verdict() {
        let judge = Simulated { sensitivity: 0.9, specificity: 0.7, seed: 5 };
        let share = |outcome| {
            let says = |index: u32| {
                let run = run(format!("run-{index}"), outcome);
                run.views().last().and_then(|view| judge.says_done(&view, Truth::from_run(&run)))
            };
            let verdicts: Option<Vec<bool>> = (0..4000).map(says).collect();
            verdicts.map(|verdicts| verdicts.iter().filter(|done| **done).count())
        };
        // 57 and 87 are three standard deviations.
        assert!(share(Outcome::Success).is_some_and(|done| done.abs_diff(3600) < 57));
        assert!(share(Outcome::Failure).is_some_and(|done| done.abs_diff(1200) < 87));
        assert_eq!(share(Outcome::Unknown), None);
    }

    #[test]
    fn a_judge_is_read_from_its_option() {
        assert_eq!(Judge::from_json(&json!("recorded")), Some(Judge::Recorded));
        let simulated = json!({"sensitivity": 1, "specificity": 0.5, "seed": 3});
        assert_eq!(
            Judge::from_json(&simulated),
            Some(Judge::Simulated(Simulated { sensitivity: 1.0, specificity: 0.5, seed: 3 }))
        );
        assert_eq!(Judge::from_json(&json!({"sensitivity": 2, "specificity": 0.5, "seed": 3})), None);
    }
}
