//! `--outcome-from`: marks in the recordings that stand in for grades.

use std::fmt;
use std::str::FromStr;

use super::UnitOfRun;
use crate::effects::{EffectTable, RoundMark, RoundMarks};
use crate::transcript::{Outcome, OutcomeSource, Run};

/// Which mark counts as which outcome; if a run has two marks, the one named first counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::cli) struct OutcomeFrom(Vec<(RoundMark, Outcome)>);

impl FromStr for OutcomeFrom {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut marks: Vec<(RoundMark, Outcome)> = Vec::new();
        for part in text.split(',').map(str::trim) {
            let Some((mark, outcome)) = part.split_once('=') else {
                return Err(format!("`{part}` is no `MARK=OUTCOME`, such as `interrupted=failure`"));
            };
            let (mark, outcome) = (mark.trim(), outcome.trim());
            let Ok(mark) = mark.parse::<RoundMark>() else {
                return Err(format!("`{mark}` is no mark: there are interrupted, undone and handover"));
            };
            let outcome = match outcome {
                "success" => Outcome::Success,
                "failure" => Outcome::Failure,
                _ => return Err(format!("`{outcome}` is neither success nor failure")),
            };
            if marks.iter().any(|(other, _)| *other == mark) {
                return Err(format!("`{}` is named twice", mark.name()));
            }
            marks.push((mark, outcome));
        }
        Ok(Self(marks))
    }
}

impl fmt::Display for OutcomeFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, (mark, outcome)) in self.0.iter().enumerate() {
            let comma = if nth == 0 { "" } else { ", " };
            write!(f, "{comma}{}={}", mark.name(), if *outcome == Outcome::Success { "success" } else { "failure" })?;
        }
        Ok(())
    }
}

impl OutcomeFrom {
    /// Splits the run by `unit` and sets proxy outcomes on ungraded runs or rounds that have a mark. By round, each
    /// mark belongs to its round; whether the next round undid its work is checked before the rounds are split.
    pub(in crate::cli) fn grade(&self, run: Run, unit: UnitOfRun, effects: &EffectTable) -> Vec<Run> {
        let (marks, mut runs) = match unit {
            UnitOfRun::Run => (vec![RoundMarks::from_run(&run, effects)], vec![run]),
            UnitOfRun::Round => (RoundMarks::from_rounds(&run, effects), run.into_rounds()),
        };
        for (run, marks) in runs.iter_mut().zip(marks) {
            let found = self.0.iter().find(|(mark, _)| marks.has(*mark));
            if let Some((mark, outcome)) = found.filter(|_| run.grade.outcome == Outcome::Unknown) {
                run.grade.outcome = *outcome;
                run.grade.source = OutcomeSource::Proxy(mark.name());
            }
        }
        runs
    }

    /// The sentence required wherever such outcomes are counted.
    pub(in crate::cli) fn sentence(&self, noun: &str) -> String {
        format!(
            "outcomes are proxies, {self}: marks of the recordings, which nobody graded. `whenstop labels --template FILE \
             --outcome-from …` lists the {noun} to check by hand"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_read_and_written_alike() {
        let asked: OutcomeFrom = "interrupted=failure,handover = success".parse().unwrap();
        assert_eq!(asked.to_string(), "interrupted=failure, handover=success");
        for (wrong, what) in [
            ("angry=failure", "no mark"),
            ("undone", "no `MARK=OUTCOME`"),
            ("undone=bad", "neither success nor failure"),
            ("undone=failure,undone=success", "twice"),
        ] {
            let error = wrong.parse::<OutcomeFrom>().unwrap_err();
            assert!(error.contains(what), "{wrong}: {error}");
        }
    }
}
