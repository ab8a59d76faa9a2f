//! The loop over model calls and experiments, step by step, as both profiles have it.

use super::review::{Review, Verdict};
use crate::text::completion_words::completion_word;
use crate::text::conclusion_tag::has_conclusion;

/// `max_iterations` when nothing is configured.
pub const DEFAULT_MAX: i64 = 5;

/// Which checks are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// The design document: the conclusion tag and the completion words.
    Documented,
    /// The released workflow: a reviewer.
    Published,
}

/// Why the iterations end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The conclusion tag came early.
    ConclusionTag,
    /// The observation has completion words; one more call was made.
    TaskCompleted(&'static str),
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
    /// Highest iteration begun, from 1.
    pub current: i64,
    /// Set when the last call is one that a check asked for.
    finalising: Option<End>,
    /// What the workflow logs.
    pub log: Vec<String>,
}

impl Iterations {
    /// A loop before its first call. `max` is not validated: below 2 there is a single call.
    pub fn new(profile: Profile, max: i64) -> Self {
        Self { profile, max, current: 0, finalising: None, log: Vec::new() }
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
        if self.profile == Profile::Documented && current < max && has_conclusion(reply) {
            self.log.push(format!("Early completion detected: <Conclusion> found at iteration {current}/{max}"));
            return self.stop(End::ConclusionTag);
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

    /// The experiment's observation came in, with the reviewer's verdict where there is one.
    pub fn observe(&mut self, observation: &str, review: Option<&Review>) -> Next {
        let (current, max) = (self.current, self.max);
        let end = match self.profile {
            Profile::Documented if current > 1 => completion_word(observation).map(End::TaskCompleted),
            Profile::Documented => None,
            Profile::Published => review.filter(|_| !observation.is_empty()).and_then(|review| {
                let (verdict, log) = review.verdict();
                self.log.push(log);
                (verdict == Verdict::Finalise).then_some(End::Reviewed)
            }),
        };
        if let Some(end) = end {
            if matches!(end, End::TaskCompleted(_)) {
                self.log.push(format!("Task completion detected in observation at iteration {current}/{max}"));
                self.log.push("Triggering final round to generate <Conclusion>".to_owned());
            }
            self.finalising = Some(end);
            return Next::FinalCall;
        }
        if current >= max {
            return self.stop(End::MaxIterations);
        }
        if current + 1 == max { Next::FinalCall } else { Next::Call }
    }

    fn stop(&mut self, end: End) -> Next {
        self.log.push("Scientific discovery workflow completed".to_owned());
        Next::Stop(end)
    }
}
