//! The loop over model calls and experiments, step by step, as both profiles have it.

use super::review::{Review, ReviewAction};
use crate::python;
use crate::text::completion_words::completion_word;
use crate::text::conclusion_tag::has_conclusion;

/// `max_iterations` when nothing is configured.
pub const DEFAULT_MAX: i64 = super::param::MAX_ITERATIONS.whole();

/// Which checks are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// The design document: the conclusion tag and the completion words.
    Documented,
    /// The released workflow: a reviewer.
    Published,
}

/// The checks of the design document: it numbers four strategies, and has the first and the third.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strategies {
    /// 1: an early `<Conclusion>`.
    pub conclusion_tag: bool,
    /// 2, for later: `<TaskStatus>complete</TaskStatus>` in the reply. One more call for the conclusion.
    pub task_status: bool,
    /// 3: completion words in the observation.
    pub completion_words: bool,
    /// 4, advised against: so many experiments in a row ran without failing. One more call, too.
    pub successes: Option<u32>,
}

/// Does the reply's last `<TaskStatus>` say `complete`? In any case, with blanks around.
fn says_complete(reply: &str) -> bool {
    let last = reply.rsplit_once("<TaskStatus>").and_then(|(_, after)| after.split_once("</TaskStatus>"));
    last.is_some_and(|(status, _)| python::strip(status).eq_ignore_ascii_case("complete"))
}

/// Why the iterations end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The conclusion tag came early.
    ConclusionTag,
    /// The observation has completion words; one more call was made.
    TaskCompleted(&'static str),
    /// The reply's task status is complete (strategy 2); one more call was made.
    TaskStatus,
    /// So many experiments in a row succeeded (strategy 4); one more call was made.
    Successes(u32),
    /// The reviewer finalises; one more call was made.
    Reviewed,
    /// A reply without an experiment.
    NoExperiment,
    /// The last iteration.
    MaxIterations,
}

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Run the reply's experiment.
    Experiment,
    /// Call the model for another cycle.
    Call,
    /// Call the model for the conclusion: the last call.
    FinalCall,
    /// Nothing: the workflow is over.
    Stop(End),
}

/// The state of the loop.
#[derive(Clone, Debug)]
pub struct Iterations {
    profile: Profile,
    max: i64,
    strategies: Strategies,
    /// Experiments in a row that did not fail.
    successes: u32,
    /// Highest iteration begun, from 1.
    pub current: i64,
    /// Set when the last call is one that a check asked for.
    finalising: Option<End>,
    /// What the workflow logs.
    pub log: Vec<String>,
}

impl Iterations {
    /// A loop before its first call. `max` is not validated: below 2 there is a single call.
    pub fn new(profile: Profile, max: i64, strategies: Strategies) -> Self {
        Self { profile, max, strategies, successes: 0, current: 0, finalising: None, log: Vec::new() }
    }

    /// A reply came in; `has_experiment` tells whether there is an experiment in it.
    pub fn reply(&mut self, reply: &str, has_experiment: bool) -> Next {
        if let Some(end) = self.finalising {
            return self.stop(end);
        }
        self.current += 1;
        let (current, max) = (self.current, self.max);
        if current == 1 {
            if has_experiment {
                return Next::Experiment;
            }
            self.log.push("No <Experiment> tag found in response".to_owned());
            return Next::Stop(End::NoExperiment);
        }
        if self.profile == Profile::Documented && current < max {
            if self.strategies.conclusion_tag && has_conclusion(reply) {
                self.log.push(format!("Early completion detected: <Conclusion> found at iteration {current}/{max}"));
                return self.stop(End::ConclusionTag);
            }
            if self.strategies.task_status && says_complete(reply) {
                self.log.push(format!("Task status complete at iteration {current}/{max}"));
                return self.finalise(End::TaskStatus);
            }
        }
        if current >= max {
            return self.stop(End::MaxIterations);
        }
        if !has_experiment {
            self.log.push(format!("No experiment in iteration {current}, stopping"));
            return self.stop(End::NoExperiment);
        }
        Next::Experiment
    }

    /// Did the experiment that was run fail? To be said before its observation; what is not known breaks a
    /// streak of successes.
    pub fn ran(&mut self, failed: Option<bool>) {
        self.successes = if failed == Some(false) { self.successes + 1 } else { 0 };
    }

    /// The experiment's observation came in, with the reviewer's verdict where there is one.
    pub fn observe(&mut self, observation: &str, review: Option<&Review>) -> Next {
        let (current, max) = (self.current, self.max);
        let end = match self.profile {
            Profile::Documented if current > 1 => {
                let word = completion_word(observation).filter(|_| self.strategies.completion_words);
                let streak = self.strategies.successes.filter(|wanted| self.successes >= *wanted);
                word.map(End::TaskCompleted).or(streak.map(End::Successes))
            }
            Profile::Documented => None,
            Profile::Published => review.filter(|_| !observation.is_empty()).and_then(|review| {
                let (verdict, log) = review.verdict();
                self.log.push(log);
                (verdict == ReviewAction::Finalise).then_some(End::Reviewed)
            }),
        };
        if let Some(end) = end {
            if matches!(end, End::TaskCompleted(_)) {
                self.log.push(format!("Task completion detected in observation at iteration {current}/{max}"));
            } else if let End::Successes(n) = end {
                self.log.push(format!("{n} experiments in a row succeeded at iteration {current}/{max}"));
            }
            return self.finalise(end);
        }
        if current >= max {
            return self.stop(End::MaxIterations);
        }
        if current + 1 == max { Next::FinalCall } else { Next::Call }
    }

    /// One more call, for the conclusion.
    fn finalise(&mut self, end: End) -> Next {
        if end != End::Reviewed {
            self.log.push("Triggering final round to generate <Conclusion>".to_owned());
        }
        self.finalising = Some(end);
        Next::FinalCall
    }

    fn stop(&mut self, end: End) -> Next {
        self.log.push("Scientific discovery workflow completed".to_owned());
        Next::Stop(end)
    }
}
