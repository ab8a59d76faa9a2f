//! A stack: an ordered list of clauses and a cap. The first clause that stops wins, and the order
//! decides which one gets the credit.

mod cap;
mod file;
mod lint;
mod scope;
#[cfg(test)]
mod tests;
mod watch;

use std::sync::Arc;

use crate::decision::{Action, Requirement, RuleName, Strategy, Watch};
use crate::rule::{Condition, Rule, Watching};
use crate::transcript::{Header, Moment};

pub use cap::{Cap, CapRow, OnHit};
pub use file::{Entry, StackFile, Use};
pub use lint::lint;
pub use scope::Scope;

#[doc(hidden)]
pub use file::{Grounds, Places, parse_rule};

/// One clause: a condition, when it is consulted, and what it does.
#[derive(Clone, Debug)]
pub struct Clause {
    /// The name used in tables.
    pub name: RuleName,
    /// The condition.
    pub condition: Condition,
    /// The moment it is consulted at. By default after the tools: everything the step did is known,
    /// the next call is not paid for; where it counts rounds, before the next request: by then it is known that one is over.
    pub at: Moment,
    /// At how many consultations the condition must have held before the clause acts (1: at once).
    pub strikes: u32,
    /// How many steps the clause rests after it acted without stopping.
    pub cooldown: u32,
    /// What it does.
    pub then: Action,
    /// With what its counts begin.
    pub scope: Scope,
}

impl Clause {
    /// A clause that stops as soon as `condition` holds when it is consulted by default.
    pub fn stop_on(condition: Condition) -> Self {
        let name = RuleName::new(condition.to_string());
        Self {
            name,
            at: condition.consulted_at(),
            condition,
            strikes: 1,
            cooldown: 0,
            then: Action::Stop,
            scope: Scope::Run,
        }
    }
}

/// An ordered list of clauses, any of which stops, and a cap.
#[derive(Clone, Debug)]
pub struct Stack {
    /// The stack's name.
    pub name: String,
    /// The clauses, in the order they are consulted.
    pub clauses: Vec<Clause>,
    /// The cap.
    pub cap: Option<Cap>,
}

impl Strategy for Stack {
    fn name(&self) -> &str {
        &self.name
    }

    fn rules(&self) -> Vec<RuleName> {
        self.clauses.iter().map(|clause| clause.name.clone()).chain(self.cap.iter().map(Cap::name)).collect()
    }

    fn requirements(&self) -> Vec<Requirement> {
        let mut requirements: Vec<Requirement> = self
            .clauses
            .iter()
            .flat_map(|clause| {
                let needs = clause.condition.rules().into_iter().flat_map(Rule::needs);
                needs.map(|need| Requirement { rule: clause.name.clone(), need })
            })
            .chain(self.cap.iter().flat_map(Cap::requirements))
            .collect();
        requirements.sort();
        requirements.dedup();
        requirements
    }

    fn may_leave_path(&self) -> bool {
        !self.stands_alone()
    }

    fn start(self: Arc<Self>, header: &Header) -> Box<dyn Watch> {
        Box::new(watch::WatchedStack::start(self, header))
    }
}

impl Stack {
    /// Does a clause or the cap count by round?
    fn counts_by_round(&self) -> bool {
        let clauses = self.clauses.iter().any(|clause| clause.scope == Scope::Round);
        clauses || self.cap.as_ref().is_some_and(|cap| cap.scope == Scope::Round)
    }

    /// Does each rule act as it would by itself?
    fn stands_alone(&self) -> bool {
        let stops = self.clauses.iter().all(|clause| clause.then.is_terminal());
        stops && self.cap.iter().all(|cap| matches!(cap.on_hit, OnHit::Stop))
    }
}
