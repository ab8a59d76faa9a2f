//! Compiles a stack into a formula, which computes from readings what the stack does on an extract.

use super::extract::Extract;
use super::plan::Plan;
use super::truth::TruthByPoint;
use crate::decision::{Action, Decision, Evidence, FirstFiring, Requirement, RuleName, Strategy};
use crate::replay::{Decisions, Holding, Replay, unread};
use crate::rule::{Comparator, Condition};
use crate::stack::{Clause, OnHit, Scope, Stack};
use crate::transcript::{Moment, Point};

/// A condition over readings of a plan.
#[derive(Clone, Debug)]
pub(super) enum FormulaNode {
    Rule { feature: usize, comparator: Comparator, limit: f64 },
    Any(Vec<FormulaNode>),
    All(Vec<FormulaNode>),
    Latched(Vec<FormulaNode>),
    Some { least: usize, parts: Vec<FormulaNode> },
    Not(Box<FormulaNode>),
    Lately { within: u32, part: Box<FormulaNode> },
}

impl FormulaNode {
    /// Compiles a condition that is consulted at `at`, and adds what it reads to `plan`.
    pub(super) fn from_condition(condition: &Condition, at: Moment, plan: &mut Plan) -> Self {
        let mut all = |parts: &[Condition]| parts.iter().map(|part| Self::from_condition(part, at, plan)).collect();
        match condition {
            Condition::Rule(rule) => {
                Self::Rule { feature: plan.feature(rule, at), comparator: rule.comparator, limit: rule.limit }
            }
            Condition::Any(parts) => Self::Any(all(parts)),
            Condition::All { parts, latched: false } => Self::All(all(parts)),
            Condition::All { parts, latched: true } => Self::Latched(all(parts)),
            Condition::Some { least, parts } => Self::Some { least: *least, parts: all(parts) },
            Condition::Not(part) => Self::Not(Box::new(Self::from_condition(part, at, plan))),
            Condition::Lately { within, part } => {
                Self::Lately { within: *within, part: Box::new(Self::from_condition(part, at, plan)) }
            }
        }
    }

    /// Where it holds among the first `n` points of its moment.
    pub(super) fn truth(&self, on: &Extract, at: Moment, n: usize) -> TruthByPoint {
        let truth = |part: &Self| part.truth(on, at, n);
        match self {
            Self::Rule { feature, comparator, limit } => {
                let readings = on.series(*feature).into_iter().flat_map(super::extract::FeatureSeries::iter);
                TruthByPoint::from_n(n, readings.map(|reading| Some(comparator.passes(reading?, *limit))))
            }
            Self::Any(parts) => TruthByPoint::any(n, parts.iter().map(truth)),
            Self::All(parts) => TruthByPoint::all(n, parts.iter().map(truth)),
            Self::Latched(parts) => TruthByPoint::latched(n, parts.iter().map(truth)),
            Self::Some { least, parts } => TruthByPoint::some(n, *least, &parts.iter().map(truth).collect::<Vec<_>>()),
            Self::Not(part) => truth(part).not(),
            Self::Lately { within, part } => truth(part).lately(*within, |nth| step(on, at, nth)),
        }
    }

    /// Reading and limit of the rule that decided at the `nth` point: equal to what `Watching::read` of `whenstop-core` gives.
    fn evidence(&self, on: &Extract, at: Moment, nth: usize) -> Evidence {
        let holds = |part: &Self| {
            let truth = part.truth(on, at, nth + 1);
            (truth.yes.has(nth), truth.no.has(nth))
        };
        let first = |parts: &[Self], decides: &dyn Fn((bool, bool)) -> bool, skip: usize| {
            let part = parts.iter().filter(|part| decides(holds(part))).nth(skip)?;
            Some(part.evidence(on, at, nth))
        };
        match self {
            Self::Rule { feature, limit, .. } => match on.series(*feature).and_then(|series| series.get(nth)) {
                Some(reading) => Evidence::new(reading, *limit),
                None => Evidence::NONE,
            },
            Self::Any(parts) => first(parts, &|(yes, _)| yes, 0).unwrap_or_else(|| undecided(parts, on, at, nth)),
            Self::All(parts) => first(parts, &|(_, no)| no, 0).unwrap_or_else(|| undecided(parts, on, at, nth)),
            // The part that was the last to hold for the first time, with its values at that point.
            Self::Latched(parts) => {
                let mut latched =
                    parts.iter().filter_map(|part| Some((part, part.truth(on, at, nth + 1).yes.ones().next()?)));
                match latched.next_back() {
                    Some((part, first)) => part.evidence(on, at, first),
                    None => Evidence::NONE,
                }
            }
            Self::Some { least, parts } => {
                let enough = least.checked_sub(1).and_then(|before| first(parts, &|(yes, _)| yes, before));
                let spare = parts.len().saturating_sub(*least);
                enough.or_else(|| first(parts, &|(_, no)| no, spare)).unwrap_or(Evidence::NONE)
            }
            Self::Not(part) => part.evidence(on, at, nth),
            Self::Lately { within, part } => {
                let held = part.truth(on, at, nth + 1).yes.last_until(nth);
                let is_recent = |held: &usize| step(on, at, nth).saturating_sub(step(on, at, *held)) < *within;
                part.evidence(on, at, held.filter(is_recent).unwrap_or(nth))
            }
        }
    }
}

/// The evidence if no part decides alone: that of the first part, if all can be read.
fn undecided(parts: &[FormulaNode], on: &Extract, at: Moment, nth: usize) -> Evidence {
    let is_read = |part: &FormulaNode| {
        let truth = part.truth(on, at, nth + 1);
        truth.yes.has(nth) || truth.no.has(nth)
    };
    match parts.first() {
        Some(part) if parts.iter().all(is_read) => part.evidence(on, at, nth),
        _ => Evidence::NONE,
    }
}

/// The step of the `nth` point of that moment, which may be the point before one more request.
fn step(on: &Extract, at: Moment, nth: usize) -> u32 {
    let point = on.point(at, nth).map(|(point, _)| point).or_else(|| on.one_more_request(at));
    point.expect("no more points are evaluated than the run has, with the one before one more request").step
}

/// A clause that stops, or a cap at which nobody is asked.
#[derive(Clone, Debug)]
pub(super) enum FormulaPart {
    Clause(ClausePart),
    Cap(CapPart),
}

impl FormulaPart {
    fn name(&self) -> &RuleName {
        match self {
            Self::Clause(part) => &part.name,
            Self::Cap(part) => &part.name,
        }
    }

    fn action(&self) -> Action {
        match self {
            Self::Clause(part) => part.action,
            Self::Cap(_) => Action::Stop,
        }
    }

    fn acts(&self, on: &Extract) -> PartActions {
        match self {
            Self::Clause(part) => part.acts(on),
            Self::Cap(part) => part.acts(on),
        }
    }

    /// Where it first acts on the recording.
    pub(super) fn first(&self, on: &Extract) -> Option<Point> {
        match self {
            Self::Clause(part) => on.point(part.at, part.nth(on)?).map(|(point, _)| point),
            Self::Cap(part) => part.acts(on).first.map(|(point, ..)| point),
        }
    }
}

/// A clause that stops.
#[derive(Clone, Debug)]
pub(super) struct ClausePart {
    name: RuleName,
    pub(super) node: FormulaNode,
    pub(super) at: Moment,
    strikes: usize,
    action: Action,
}

/// What a part does on a run.
struct PartActions {
    /// Where it first acts, with the number of events by then and the evidence.
    first: Option<(Point, usize, Evidence)>,
    /// True if it would act before one more request, and not earlier.
    next: bool,
}

impl ClausePart {
    fn from_clause(clause: &Clause, plan: &mut Plan) -> Self {
        Self {
            name: clause.name.clone(),
            node: FormulaNode::from_condition(&clause.condition, clause.at, plan),
            at: clause.at,
            strikes: clause.strikes.max(1) as usize,
            action: clause.then,
        }
    }

    /// The index of the point at which it first acts; the index beyond the recorded points means before one more
    /// request.
    fn nth(&self, on: &Extract) -> Option<usize> {
        match &self.node {
            FormulaNode::Rule { feature, comparator, limit } if self.strikes == 1 => {
                let mut readings = on.series(*feature)?.iter();
                readings.position(|reading| reading.is_some_and(|reading| comparator.passes(reading, *limit)))
            }
            node => {
                let n = on.n_points(self.at) + usize::from(on.one_more_request(self.at).is_some());
                node.truth(on, self.at, n).yes.ones().nth(self.strikes - 1)
            }
        }
    }

    fn acts(&self, on: &Extract) -> PartActions {
        let Some(nth) = self.nth(on) else { return PartActions { first: None, next: false } };
        match on.point(self.at, nth) {
            None => PartActions { first: None, next: nth == on.n_points(self.at) },
            Some((point, events)) => {
                let evidence = self.node.evidence(on, self.at, nth);
                PartActions { first: Some((point, events, evidence)), next: false }
            }
        }
    }
}

/// A cap at which nobody is asked.
#[derive(Clone, Debug)]
pub(super) struct CapPart {
    name: RuleName,
    steps: u32,
}

impl CapPart {
    fn acts(&self, on: &Extract) -> PartActions {
        let at = Moment::BeforeRequest;
        let evidence = |step: u32| Evidence::new(f64::from(step), f64::from(self.steps));
        let mut points = (0..on.n_points(at)).filter_map(|nth| on.point(at, nth));
        let first = points.find(|(point, _)| point.step >= self.steps);
        let next = first.is_none() && on.one_more_request(at).is_some_and(|point| point.step >= self.steps);
        PartActions { first: first.map(|(point, events)| (point, events, evidence(point.step))), next }
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
        let cap = match &stack.cap {
            None => None,
            Some(cap) if matches!(cap.on_hit, OnHit::Stop) && cap.scope == Scope::Run => {
                Some(CapPart { name: stack.rules().pop()?, steps: cap.steps })
            }
            Some(_) => return None,
        };
        if !stack.clauses.iter().all(stops) {
            return None;
        }
        let requirements = stack.requirements();
        for requirement in &requirements {
            plan.need(requirement.need);
        }
        let clauses = stack.clauses.iter().map(|clause| FormulaPart::Clause(ClausePart::from_clause(clause, plan)));
        let parts = clauses.chain(cap.map(FormulaPart::Cap)).collect();
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
            let name = part.name();
            if dropped.contains(&name) {
                first_firings.push(None);
                continue;
            }
            let acts = part.acts(on);
            ends_next |= acts.next;
            first_firings.push(acts.first.map(|(point, _, evidence)| (point, evidence)));
            // If several clauses act at one point, the first gets the credit.
            let Some((point, events, evidence)) = acts.first else { continue };
            if stop.as_ref().is_none_or(|stop| point < stop.point) {
                stop = Some(Decision {
                    point,
                    event: events.checked_sub(1),
                    action: part.action(),
                    rule: name.clone(),
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
