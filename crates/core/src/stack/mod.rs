//! A stack: an ordered list of clauses and a cap. The first clause that stops ends the run; if several stop at the same
//! point, the earlier one gets the credit.

mod cap;
mod file;
mod lint;
mod nested;
mod numbers;
mod scope;
#[cfg(test)]
mod tests;
mod told;
mod watch;

use std::sync::Arc;

use crate::decision::{Action, NumberOf, Program, Requirement, RuleName, Strategy, Trouble, Watch};
use crate::rule::{Condition, Watching};
use crate::transcript::{Header, Moment};

pub use cap::{Cap, CapRow, OnHit};
pub use file::{Entry, GuardCommand, StackFile, Use};
pub use lint::lint;
pub use scope::Scope;

#[doc(hidden)]
pub use numbers::Guards;

#[doc(hidden)]
pub use file::{Grounds, Places, parse_rule};
#[doc(hidden)]
pub use nested::StopClauses;
#[doc(hidden)]
pub use told::ToldLimit;

/// A clause: a condition, the moment at which it is checked, and what to do when it holds.
#[derive(Clone, Debug)]
pub struct Clause {
    /// The name used in tables.
    pub name: RuleName,
    /// The condition.
    pub condition: Condition,
    /// The moment at which it is checked. By default after the tools, when everything the step did is known and the
    /// next call is not yet paid for. A condition on rounds is checked before the next request, when it is known that a
    /// round is over.
    pub at: Moment,
    /// The number of checks at which the condition must have held before the clause acts; 1 acts at once.
    pub strikes: u32,
    /// After acting without stopping, the clause pauses for this many steps.
    pub cooldown: u32,
    /// What it does.
    pub then: Action,
    /// Whether its signals count from the start of the run or of each round.
    pub scope: Scope,
}

impl Clause {
    /// A clause that stops the run as soon as `condition` holds at its default moment.
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

/// An ordered list of clauses, and a cap.
#[derive(Clone, Debug)]
pub struct Stack {
    /// The stack's name.
    pub name: String,
    /// The clauses, in the order they are checked.
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
        let mut requirements = Vec::with_capacity(8);
        let mut add = |name: &RuleName, condition: &Condition| {
            condition.each_rule(&mut |rule| {
                rule.each_need(&mut |need| requirements.push(Requirement { rule: name.clone(), need }));
            });
        };
        self.clauses.iter().for_each(|clause| add(&clause.name, &clause.condition));
        if let Some(cap) = &self.cap {
            cap.conditions().for_each(|condition| add(&cap.name(), condition));
        }
        requirements.sort();
        requirements.dedup();
        requirements
    }

    fn may_leave_path(&self) -> bool {
        !self.stands_alone()
    }

    fn step_limit(&self) -> Option<u32> {
        let limit = told::step_limit(&self.clauses, self.cap.as_ref());
        limit.filter(|(_, scope)| *scope == Scope::Run).map(|(steps, _)| steps)
    }

    fn numbers(&self) -> Vec<NumberOf> {
        let mut numbers = Vec::new();
        self.each_rule(&mut |rule| {
            let number = &rule.options.number;
            if number.strategy().is_some() {
                numbers.push(number.clone());
            }
        });
        numbers
    }

    fn program(&self) -> Option<&Program> {
        let mut first = None;
        self.each_rule(&mut |rule| first = first.or_else(|| rule.options.number.strategy()?.program()));
        first
    }

    fn troubles(&self) -> Vec<Trouble> {
        self.numbers().iter().filter_map(NumberOf::strategy).flat_map(|guard| guard.troubles()).collect()
    }

    fn start(self: Arc<Self>, header: &Header) -> Box<dyn Watch> {
        Box::new(watch::WatchedStack::start(self, header))
    }
}

impl Stack {
    /// True if a clause or the cap counts per round.
    #[doc(hidden)]
    pub fn counts_by_round(&self) -> bool {
        let clauses = self.clauses.iter().any(|clause| clause.scope == Scope::Round);
        clauses || self.cap.as_ref().is_some_and(|cap| cap.scope == Scope::Round)
    }

    /// True if the rules are independent: each acts as it would alone.
    fn stands_alone(&self) -> bool {
        let stops = self.clauses.iter().all(|clause| clause.then.is_terminal());
        stops && self.cap.iter().all(|cap| matches!(cap.on_hit, OnHit::Stop))
    }
}
