//! awaken's hooks after a model reply: the ordered policies on one set of counters, and the trap in
//! which a second hook counts on the same ones.

use super::Profile;
use super::counters::{Boundary, Counters, Snapshot};
use super::policy::{Policy, Stop};

/// The hooks of one agent.
#[derive(Debug)]
pub struct Hooks {
    profile: Profile,
    policies: Vec<Policy>,
    /// A round guard attached as a hook of its own: then every step counts twice.
    second: Option<Policy>,
}

impl Hooks {
    /// The ordered policies, and the separately attached guard, if there is one.
    pub fn new(profile: Profile, policies: Vec<Policy>, second: Option<Policy>) -> Self {
        Self { profile, policies, second }
    }

    /// All policies, in the order they are asked.
    pub fn policies(&self) -> impl Iterator<Item = &Policy> {
        self.policies.iter().chain(&self.second)
    }

    /// Takes a step in and asks the policies; the first one that stops wins. Returns its place and
    /// its reason.
    pub fn run(
        &self,
        counters: &mut Counters,
        boundary: &Boundary<'_>,
        elapsed_ms: Option<u64>,
    ) -> Option<(usize, Stop)> {
        counters.take_in(boundary);
        let seen = counters.snapshot(boundary, elapsed_ms);
        let first = self.first_stop(&seen);
        let Some(guard) = &self.second else {
            return first;
        };
        counters.take_in(boundary);
        let seen = counters.snapshot(boundary, elapsed_ms);
        // The second hook runs even after the first has stopped the run, and its reason overwrites.
        guard.evaluate(self.profile, &seen).map(|stop| (self.policies.len(), stop)).or(first)
    }

    /// What each policy says on its own after this step, in order.
    pub fn each(&self, counters: &mut Counters, boundary: &Boundary<'_>, elapsed_ms: Option<u64>) -> Vec<Option<Stop>> {
        counters.take_in(boundary);
        let seen = counters.snapshot(boundary, elapsed_ms);
        let mut said: Vec<Option<Stop>> =
            self.policies.iter().map(|policy| policy.evaluate(self.profile, &seen)).collect();
        if let Some(guard) = &self.second {
            counters.take_in(boundary);
            said.push(guard.evaluate(self.profile, &counters.snapshot(boundary, elapsed_ms)));
        }
        said
    }

    fn first_stop(&self, seen: &Snapshot<'_>) -> Option<(usize, Stop)> {
        self.policies.iter().enumerate().find_map(|(index, policy)| Some((index, policy.evaluate(self.profile, seen)?)))
    }
}
