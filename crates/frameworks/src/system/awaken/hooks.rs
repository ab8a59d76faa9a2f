//! awaken's hooks after a model reply: the ordered policies on one set of counters, and the trap in which a second hook
//! counts on the same counters.

use super::AwakenProfile;
use super::counters::{Boundary, Counters};
use super::policy::{PolicyStop, StopPolicy};

/// The hooks of one agent.
#[derive(Debug)]
pub struct Hooks {
    profile: AwakenProfile,
    policies: Vec<StopPolicy>,
    /// A round guard attached as a separate hook; every step then counts twice.
    second: Option<StopPolicy>,
}

impl Hooks {
    /// The ordered policies, and the separately attached guard if there is one.
    pub fn new(profile: AwakenProfile, policies: Vec<StopPolicy>, second: Option<StopPolicy>) -> Self {
        Self { profile, policies, second }
    }

    /// All policies, in the order they are checked.
    pub fn policies(&self) -> impl Iterator<Item = &StopPolicy> {
        self.policies.iter().chain(&self.second)
    }

    /// The policy whose stop takes effect, and its reason.
    pub fn verdict(&self, said: Vec<Option<PolicyStop>>) -> Option<(usize, PolicyStop)> {
        let mut stops = said.into_iter().enumerate().filter_map(|(place, stop)| Some((place, stop?)));
        let first = stops.next()?;
        // The second hook runs even if the first has stopped the run, and overwrites its reason.
        let overwrites = |(place, _): &(usize, PolicyStop)| self.second.is_some() && *place == self.policies.len();
        Some(stops.next_back().filter(overwrites).unwrap_or(first))
    }

    /// Takes in a step and returns each policy's own answer, in order.
    pub fn each(
        &self,
        counters: &mut Counters,
        boundary: &Boundary<'_>,
        elapsed_ms: Option<u64>,
    ) -> Vec<Option<PolicyStop>> {
        counters.take_in(boundary);
        let seen = counters.snapshot(boundary, elapsed_ms);
        let mut said: Vec<Option<PolicyStop>> =
            self.policies.iter().map(|policy| policy.evaluate(self.profile, &seen)).collect();
        if let Some(guard) = &self.second {
            counters.take_in(boundary);
            said.push(guard.evaluate(self.profile, &counters.snapshot(boundary, elapsed_ms)));
        }
        said
    }
}
