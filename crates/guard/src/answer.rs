//! An answer: what a guard does at a point.

use serde::Deserialize;
use whenstop_core::decision::{Action, Decision, Evidence, RuleName};
use whenstop_core::transcript::{PointView, named};

use super::{GuardFailure, Hello};

named! {
    /// The word of an answer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum AnswerKind {
        /// The run goes on.
        Continue = "continue" => None,
        /// The run ends here.
        Stop = "stop" => Some(Action::Stop),
        /// The model is shown a warning.
        Warn = "warn" => Some(Action::Warn),
        /// One call is refused.
        Refuse = "refuse" => Some(Action::Deny),
        /// A person is asked.
        Ask = "ask" => Some(Action::Ask),
        /// The model is given an instruction.
        Inject = "inject" => Some(Action::Inject),
        /// A number, which rules read: the guard decides nothing.
        Reading = "reading" => None,
    }

    /// What it does to the run; `None` if it is no decision.
    fn action() -> Option<Action>;
}

impl AnswerKind {
    /// Every answer that a decision is.
    pub const ACTS: [Self; 5] = [Self::Stop, Self::Warn, Self::Refuse, Self::Ask, Self::Inject];
}

/// An answer, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerLine {
    id: String,
    answer: AnswerKind,
    rule: Option<String>,
    reading: Option<f64>,
    limit: Option<f64>,
    call: Option<String>,
    message: Option<String>,
}

impl AnswerLine {
    /// Reads the answer to the question `id`.
    pub(super) fn parse(line: &[u8], id: &str, hello: &Hello) -> Result<Self, GuardFailure> {
        GuardFailure::unless_object(line)?;
        let answer: Self = serde_json::from_slice(line).map_err(|error| GuardFailure::foreign(line, error))?;
        if answer.id != id {
            return Err(GuardFailure::stray(line));
        }
        if answer.answer != AnswerKind::Continue && !hello.answers.contains(&answer.answer) {
            let why = format!("its handshake does not list `{}` among its `answers`", answer.answer.name());
            return Err(GuardFailure::foreign(line, why));
        }
        if answer.answer == AnswerKind::Reading && !answer.reading.is_some_and(f64::is_finite) {
            return Err(GuardFailure::foreign(line, "it has no `reading`, which is a number"));
        }
        match &answer.rule {
            Some(rule) if !hello.rules.iter().any(|known| known.name == *rule) => {
                Err(GuardFailure::foreign(line, format!("its handshake does not list the rule `{rule}`")))
            }
            None if answer.answer != AnswerKind::Continue && hello.rules.len() > 1 => {
                Err(GuardFailure::foreign(line, "it has several rules and does not say which one acts"))
            }
            _ => Ok(answer),
        }
    }

    /// The rule that the answer names, or the only one there is; `None` if there are several and it names none.
    pub(super) fn rule(&self, hello: &Hello) -> Option<RuleName> {
        let only = hello.rules.first().filter(|_| hello.rules.len() == 1).map(|rule| rule.name.as_str());
        self.rule.as_deref().or(only).map(RuleName::new)
    }

    /// Reading and limit.
    pub(super) fn evidence(&self) -> Evidence {
        Evidence { observed: self.reading, limit: self.limit }
    }

    /// The decision at this point; `None` if the run goes on.
    pub(super) fn decision(self, view: &PointView<'_>, hello: &Hello) -> Option<Decision> {
        let decision = Decision::at(view, self.answer.action()?, self.rule(hello)?, self.evidence());
        let decision = decision.about_call(self.call.as_deref());
        Some(match self.message {
            Some(message) => decision.detail(message),
            None => decision,
        })
    }
}
