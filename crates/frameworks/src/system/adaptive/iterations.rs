//! The loop of model calls and experiments, step by step, in both profiles.

use super::review::ReviewerVerdict;
use crate::python;
use crate::text::completion_words::completion_word;
use crate::text::conclusion_tag::has_conclusion;
use crate::transcript::named;

/// `max_iterations` when nothing is configured.
pub const DEFAULT_MAX: i64 = super::param::MAX_ITERATIONS.whole();

named! {
    /// Which checks are made, and so which source is followed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum AdaptiveProfile {
        /// The design document: the conclusion tag and the completion words.
        Documented = "documented",
        /// The released workflow: a reviewer.
        Published = "published",
    }
}

/// Which of the design document's four numbered strategies are on; by default, the first and the third.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strategies {
    /// 1: an early `<Conclusion>`.
    pub conclusion_tag: bool,
    /// 2, planned for later: `<TaskStatus>complete</TaskStatus>` in the reply. Causes one more call, for the
    /// conclusion.
    pub task_status: bool,
    /// 3: completion words in the observation.
    pub completion_words: bool,
    /// 4, advised against: this many experiments in a row ran without failing. Also causes one more call.
    pub successes: Option<u32>,
}

/// Whether the reply's last `<TaskStatus>` says `complete`, ignoring case and surrounding white space.
fn says_complete(reply: &str) -> bool {
    let Some((_, after)) = reply.rsplit_once("<TaskStatus>") else { return false };
    let Some((status, _)) = after.split_once("</TaskStatus>") else { return false };
    python::strip(status).eq_ignore_ascii_case("complete")
}

/// Why the iterations end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IterationsEnd {
    /// The conclusion tag was found before the last iteration.
    ConclusionTag,
    /// The observation contains completion words; one more call was made.
    TaskCompleted(&'static str),
    /// The reply's task status is complete (strategy 2); one more call was made.
    TaskStatus,
    /// This many experiments in a row succeeded (strategy 4); one more call was made.
    Successes(u32),
    /// The reviewer's verdict is final; one more call was made.
    Reviewed,
    /// A reply without an experiment.
    NoExperiment,
    /// The last iteration.
    MaxIterations,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextAction {
    /// Run the reply's experiment.
    Experiment,
    /// Call the model for another cycle.
    Call,
    /// Call the model for the conclusion, because of this: the last call.
    FinalCall(IterationsEnd),
    /// Nothing: the workflow is over.
    Stop(IterationsEnd),
}

/// The state of the loop.
#[derive(Clone, Debug)]
pub struct Iterations {
    profile: AdaptiveProfile,
    max: i64,
    strategies: Strategies,
    /// Experiments in a row that ran without failing.
    successes: u32,
    /// The latest iteration begun, from 1.
    pub current: i64,
    /// The check that asked for the last call, once one has.
    finalising: Option<IterationsEnd>,
    /// The lines that the workflow logs.
    pub log: Vec<String>,
}

impl Iterations {
    /// The state before the first call. `max` is not validated: below 2 there is a single call.
    pub fn new(profile: AdaptiveProfile, max: i64, strategies: Strategies) -> Self {
        Self { profile, max, strategies, successes: 0, current: 0, finalising: None, log: Vec::new() }
    }

    /// Takes in a reply; `has_experiment` says whether it contains an experiment.
    pub fn reply(&mut self, reply: &str, has_experiment: bool) -> NextAction {
        if let Some(end) = self.finalising {
            return self.stop(end);
        }
        self.current += 1;
        let (current, max) = (self.current, self.max);
        if current == 1 {
            if has_experiment {
                return NextAction::Experiment;
            }
            self.log.push("No <Experiment> tag found in response".to_owned());
            return NextAction::Stop(IterationsEnd::NoExperiment);
        }
        if self.profile == AdaptiveProfile::Documented && current < max {
            if self.strategies.conclusion_tag && has_conclusion(reply) {
                self.log.push(format!("Early completion detected: <Conclusion> found at iteration {current}/{max}"));
                return self.stop(IterationsEnd::ConclusionTag);
            }
            if self.strategies.task_status && says_complete(reply) {
                self.log.push(format!("Task status complete at iteration {current}/{max}"));
                return self.finalise(IterationsEnd::TaskStatus);
            }
        }
        if current >= max {
            return self.stop(IterationsEnd::MaxIterations);
        }
        if !has_experiment {
            self.log.push(format!("No experiment in iteration {current}, stopping"));
            return self.stop(IterationsEnd::NoExperiment);
        }
        NextAction::Experiment
    }

    /// Records whether the experiment failed. Call this before [`Self::observe`]; unknown (`None`) breaks a streak of
    /// successes.
    pub fn ran(&mut self, failed: Option<bool>) {
        self.successes = if failed == Some(false) { self.successes + 1 } else { 0 };
    }

    /// Takes in the experiment's observation, with the reviewer's verdict if there is one.
    pub fn observe(&mut self, observation: &str, review: Option<&ReviewerVerdict>) -> NextAction {
        let (current, max) = (self.current, self.max);
        let end = match self.profile {
            AdaptiveProfile::Documented if current > 1 => {
                let word = completion_word(observation).filter(|_| self.strategies.completion_words);
                let streak = self.strategies.successes.filter(|wanted| self.successes >= *wanted);
                word.map(IterationsEnd::TaskCompleted).or(streak.map(IterationsEnd::Successes))
            }
            AdaptiveProfile::Documented => None,
            AdaptiveProfile::Published => match review {
                Some(review) if !observation.is_empty() => {
                    let (is_final, log) = review.verdict();
                    self.log.push(log);
                    if is_final { Some(IterationsEnd::Reviewed) } else { None }
                }
                _ => None,
            },
        };
        if let Some(end) = end {
            if matches!(end, IterationsEnd::TaskCompleted(_)) {
                self.log.push(format!("Task completion detected in observation at iteration {current}/{max}"));
            } else if let IterationsEnd::Successes(n) = end {
                self.log.push(format!("{n} experiments in a row succeeded at iteration {current}/{max}"));
            }
            return self.finalise(end);
        }
        if current >= max {
            return self.stop(IterationsEnd::MaxIterations);
        }
        if current + 1 == max { NextAction::FinalCall(IterationsEnd::MaxIterations) } else { NextAction::Call }
    }

    /// Asks for one more call, for the conclusion.
    fn finalise(&mut self, end: IterationsEnd) -> NextAction {
        if end != IterationsEnd::Reviewed {
            self.log.push("Triggering final round to generate <Conclusion>".to_owned());
        }
        self.finalising = Some(end);
        NextAction::FinalCall(end)
    }

    fn stop(&mut self, end: IterationsEnd) -> NextAction {
        self.log.push("Scientific discovery workflow completed".to_owned());
        NextAction::Stop(end)
    }
}
