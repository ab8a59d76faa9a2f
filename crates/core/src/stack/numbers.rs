//! Which guards' numbers the rules of a stack read.

use std::sync::Arc;

use super::{Cap, Entry, OnHit, Stack, StackFile};
use crate::decision::{Number, NumberOf, Strategy};
use crate::diagnostic::{Diagnostic, did_you_mean, nearest};
use crate::rule::{Condition, Rule};
use crate::signal::number::{guard_of, number_of};
use crate::transcript::Moment;

/// Guards, by the names that rules call them, each with the number that it answers with: none if it decides, and that of
/// no program if it was not started.
#[derive(Clone, Debug, Default)]
pub struct Guards(Vec<(String, Option<NumberOf>)>);

/// What is wrong with a rule, and how to mend it.
type Wrong = (String, String);

impl Guards {
    /// Adds a guard.
    pub fn add(&mut self, guard: &Arc<dyn Strategy>) {
        self.0.push((guard.name().to_owned(), number_of(guard)));
    }

    /// Adds a guard that is not started here: what rules call its number is not checked, and they are never evaluated.
    pub fn add_unstarted(&mut self, name: &str) {
        self.0.push((name.to_owned(), Some(NumberOf::default())));
    }

    /// The numbers of the guards.
    pub fn numbers(&self) -> impl Iterator<Item = &NumberOf> {
        self.0.iter().filter_map(|(_, number)| number.as_ref()).filter(|number| number.strategy().is_some())
    }

    /// The number that rules call `id`; of the last guard, if two have that name.
    fn number(&self, id: &str, at: Moment) -> Result<NumberOf, Wrong> {
        let Some((guard, number)) = guard_of(id) else { return Ok(NumberOf::default()) };
        let Some((_, of)) = self.0.iter().rev().find(|(name, _)| name == guard) else {
            let near = nearest(guard, self.0.iter().map(|(name, _)| name.as_str()));
            let start = format!("start it: `--guard {guard}=COMMAND`, or a `[[stack]]` of that name with a `command`");
            return Err((format!("no guard is called `{guard}`"), did_you_mean(near, &start)));
        };
        let Some(of) = of else {
            let help = "let its handshake say `\"answers\": [\"reading\"]`; its rule is then made here";
            return Err((format!("the guard `{guard}` decides, and answers with no number"), help.to_owned()));
        };
        let known = of.strategy().and_then(|strategy| strategy.number());
        let Some(Number { name, points }) = known else { return Ok(NumberOf::default()) };
        if name != number {
            let what = format!("the guard `{guard}` has no number `{number}`");
            return Err((what, format!("write `guard:{guard}.{name}`")));
        }
        if !points.contains(&at) {
            let asked: Vec<&str> = points.iter().map(|point| point.name()).collect();
            let what = format!("the guard `{guard}` is asked at {}, and this rule at {at}", asked.join(", "));
            let first = asked.first().copied().unwrap_or_default();
            return Err((what, format!("add `at = \"{first}\"`, or list `{at}` among the `points` of its handshake")));
        }
        Ok(of.clone())
    }

    /// Gives a rule that is checked at `at` the guard whose number it reads; else returns what is wrong, and how to mend
    /// it.
    pub fn seat_rule(&self, rule: &mut Rule, at: Moment) -> Result<(), (String, String)> {
        rule.options.number = self.number(rule.signal.id, at)?;
        Ok(())
    }

    fn seat_all(&self, condition: &mut Condition, at: Moment) -> Result<(), Wrong> {
        condition.rules_mut().into_iter().try_for_each(|rule| self.seat_rule(rule, at))
    }
}

impl StackFile {
    /// Gives the rules that read numbers of guards these guards; returns what is wrong with the others.
    #[doc(hidden)]
    pub fn seat(&mut self, guards: &Guards) -> Vec<Diagnostic> {
        let mut wrong = Vec::new();
        for (index, entry) in self.entries.iter_mut().enumerate() {
            let Entry::Own(stack) = entry else { continue };
            if !stack.names_numbers() {
                continue;
            }
            let places = self.places.get(index).cloned().unwrap_or_default();
            let stack = Arc::make_mut(stack);
            for (nth, clause) in stack.clauses.iter_mut().enumerate() {
                if let Err((what, help)) = guards.seat_all(&mut clause.condition, clause.at) {
                    wrong.push(places.at_name(&format!("any.{nth}"), what, help));
                }
            }
            let Some(Cap { on_hit: OnHit::Table(rows), .. }) = &mut stack.cap else { continue };
            for condition in rows.iter_mut().filter_map(|row| row.when.as_mut()) {
                if let Err((what, help)) = guards.seat_all(condition, Moment::BeforeRequest) {
                    wrong.push(places.at_name("cap", what, help));
                }
            }
        }
        wrong
    }
}

impl Stack {
    /// Calls `each` with all its rules, those of the cap's table last.
    pub(super) fn each_rule<'s>(&'s self, each: &mut dyn FnMut(&'s Rule)) {
        let of_clauses = self.clauses.iter().map(|clause| &clause.condition);
        for condition in of_clauses.chain(self.cap.iter().flat_map(Cap::conditions)) {
            condition.each_rule(each);
        }
    }

    fn names_numbers(&self) -> bool {
        let mut any = false;
        self.each_rule(&mut |rule| any |= guard_of(rule.signal.id).is_some());
        any
    }
}
