//! Compiles a stack into a formula, which computes from readings what the stack does on an extract.

use std::borrow::Cow;

use super::extract::{Extract, FeatureSeries};
use super::plan::Plan;
use crate::decision::{Action, Decision, Evidence, FirstFiring, Requirement, RuleName, Strategy};
use crate::replay::{Decisions, Holding, Replay, unread};
use crate::rule::{Comparator, ConditionState, ConditionValue};
use crate::stack::{Cap, Clause, OnHit, Scope, Stack};
use crate::transcript::{Moment, Point};

/// A rule of a part: a limit on readings.
#[derive(Clone, Debug)]
struct FormulaRule {
    source: ReadingSource,
    comparator: Comparator,
    limit: f64,
}

/// Where the readings of a rule come from.
#[derive(Clone, Copy, Debug)]
enum ReadingSource {
    /// The feature of the plan with this index.
    Feature(usize),
    /// The steps before each point.
    Steps,
}

impl FormulaRule {
    /// Its readings at the points of a moment, with the one before one more request.
    fn series<'e>(&self, on: &'e Extract, at: Moment) -> Cow<'e, FeatureSeries> {
        match self.source {
            ReadingSource::Feature(feature) => on.series(feature).map(Cow::Borrowed).unwrap_or_default(),
            ReadingSource::Steps => {
                Cow::Owned((0..on.n_readings(at)).map(|nth| Some(f64::from(step(on, at, nth)))).collect())
            }
        }
    }
}

/// The step of the `nth` point of that moment, which may be the point before one more request.
fn step(on: &Extract, at: Moment, nth: usize) -> u32 {
    let point = on.point(at, nth).map(|(point, _)| point).or_else(|| on.one_more_request(at));
    point.expect("no more points are evaluated than the run has, with the one before one more request").step
}

/// A clause that stops; or a cap at which nobody is asked, which is a rule on steps before each request.
#[derive(Clone, Debug)]
pub(super) struct FormulaPart {
    name: RuleName,
    /// In the order of the condition's rules.
    rules: Vec<FormulaRule>,
    /// The condition before the first point.
    condition: ConditionState,
    at: Moment,
    strikes: usize,
    action: Action,
}

impl FormulaPart {
    /// Compiles a clause, and adds what it reads to `plan`.
    fn from_clause(clause: &Clause, plan: &mut Plan) -> Self {
        let mut rules = Vec::new();
        for rule in clause.condition.rules() {
            let source = ReadingSource::Feature(plan.feature(rule, clause.at));
            rules.push(FormulaRule { source, comparator: rule.comparator, limit: rule.limit });
        }
        Self {
            name: clause.name.clone(),
            rules,
            condition: ConditionState::start(&clause.condition),
            at: clause.at,
            strikes: clause.strikes.max(1) as usize,
            action: clause.then,
        }
    }

    fn from_cap(cap: &Cap, name: RuleName) -> Self {
        let (source, comparator) = (ReadingSource::Steps, Comparator::AtLeast);
        Self {
            name,
            rules: vec![FormulaRule { source, comparator, limit: f64::from(cap.steps) }],
            condition: ConditionState::Rule(0),
            at: Moment::BeforeRequest,
            strikes: 1,
            action: Action::Stop,
        }
    }

    /// Its rule if it is one that acts the first time, as most parts are: such a part remembers nothing.
    fn only_rule(&self) -> Option<&FormulaRule> {
        match (&self.condition, self.rules.as_slice()) {
            (ConditionState::Rule(_), [rule]) if self.strikes == 1 => Some(rule),
            _ => None,
        }
    }

    /// The index of the point at which it first acts, and the evidence; the index beyond the recorded points means before
    /// one more request.
    fn first_act(&self, on: &Extract) -> Option<(usize, Evidence)> {
        if let Some(rule) = self.only_rule() {
            for (nth, reading) in rule.series(on, self.at).iter().enumerate() {
                if let Some(reading) = reading
                    && rule.comparator.passes(reading, rule.limit)
                {
                    return Some((nth, Evidence::new(reading, rule.limit)));
                }
            }
            return None;
        }
        let series: Vec<_> = self.rules.iter().map(|rule| rule.series(on, self.at)).collect();
        let (mut condition, mut strikes) = (self.condition.clone(), 0);
        (0..on.n_readings(self.at)).find_map(|nth| {
            let value = |rule: usize| {
                let FormulaRule { comparator, limit, .. } = self.rules[rule];
                ConditionValue::compared(series[rule].get(nth), comparator, limit)
            };
            let value = condition.read(step(on, self.at, nth), &value);
            strikes += usize::from(value.holds == Some(true));
            if strikes == self.strikes { Some((nth, value.evidence)) } else { None }
        })
    }

    /// Where it first acts on the recording.
    pub(super) fn first(&self, on: &Extract) -> Option<Point> {
        let (nth, _) = self.first_act(on)?;
        on.point(self.at, nth).map(|(point, _)| point)
    }
}

/// A compiled stack: clauses that stop, and a cap at which nobody is asked.
#[derive(Clone, Debug)]
pub struct Formula {
    /// In order of precedence, with the cap last.
    parts: Vec<FormulaPart>,
    requirements: Vec<Requirement>,
    step_limit: Option<u32>,
}

impl Formula {
    /// Compiles `stack` and adds what it reads to `plan`. `None` for a stack that does more than stop or counts by
    /// round.
    pub fn from_stack(stack: &Stack, plan: &mut Plan) -> Option<Self> {
        let stops = |clause: &Clause| clause.then.is_terminal() && clause.scope == Scope::Run;
        let asks_nobody = |cap: &Cap| matches!(cap.on_hit, OnHit::Stop) && cap.scope == Scope::Run;
        if !stack.clauses.iter().all(stops) || !stack.cap.iter().all(asks_nobody) {
            return None;
        }
        let requirements = stack.requirements();
        for requirement in &requirements {
            plan.need(requirement.need);
        }
        let mut parts: Vec<FormulaPart> =
            stack.clauses.iter().map(|clause| FormulaPart::from_clause(clause, plan)).collect();
        if let Some(cap) = &stack.cap {
            parts.push(FormulaPart::from_cap(cap, stack.rules().pop()?));
        }
        Some(Self { parts, requirements, step_limit: stack.step_limit() })
    }

    /// The only part of a formula with one part; else `None`.
    pub(super) fn into_part(self) -> Option<FormulaPart> {
        <[FormulaPart; 1]>::try_from(self.parts).ok().map(|[part]| part)
    }

    /// What the stack does on a run: equal to [`replay`](crate::replay::replay()).
    pub fn replay(&self, on: &Extract) -> Replay {
        let dropped: Vec<&RuleName> = self
            .requirements
            .iter()
            .filter(|requirement| on.holding(requirement.need) == Holding::TakenOut)
            .map(|requirement| &requirement.rule)
            .collect();
        let mut first_firings: Vec<FirstFiring> = Vec::with_capacity(self.parts.len());
        let mut stop: Option<Decision> = None;
        let mut ends_next = false;
        for part in &self.parts {
            let act = if dropped.contains(&&part.name) { None } else { part.first_act(on) };
            let recorded = act.and_then(|(nth, evidence)| Some((on.point(part.at, nth)?, evidence)));
            ends_next |= act.is_some() && recorded.is_none();
            first_firings.push(recorded.map(|((point, _), evidence)| (point, evidence)));
            // If several clauses act at one point, the first gets the credit.
            let Some(((point, events), evidence)) = recorded else { continue };
            if stop.as_ref().is_none_or(|stop| point < stop.point) {
                stop = Some(Decision {
                    point,
                    event: events.checked_sub(1),
                    action: part.action,
                    rule: part.name.clone(),
                    evidence,
                    code: None,
                    detail: None,
                    call_id: None,
                    delivered: true,
                    drops_reply: false,
                });
            }
        }
        let said = Decisions {
            ends_next: ends_next && stop.is_none() && on.end().is_cut_off,
            trail: stop.into_iter().collect(),
            first_firings: Some(first_firings),
            ..Decisions::default()
        };
        let missing = unread(&self.requirements, |need| on.holding(need));
        Replay { step_limit: self.step_limit, ..Replay::concluded(on.end(), said, missing, false) }
    }
}
