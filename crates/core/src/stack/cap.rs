//! A stack's cap on steps, and who is asked when it is hit.

use std::fmt;

use crate::bailout::{self, AtCap, Bailout, Reply, RunHistory, Verdict, rough_tokens};
use crate::decision::{Action, Decision, Evidence, Requirement, RuleName, RuleReading};
use crate::rule::{Condition, Rule, Watching};
use crate::transcript::{Header, Moment, PointView};

/// A cap on the number of steps, looked at before each request.
#[derive(Clone, Debug)]
pub struct Cap {
    /// Steps allowed before the cap is hit; a grant allows as many again.
    pub steps: u32,
    /// Who is asked.
    pub on_hit: OnHit,
    /// With what the steps are counted from.
    pub scope: super::Scope,
}

/// Who is asked when the cap is hit.
#[derive(Clone)]
pub enum OnHit {
    /// Nobody: the run stops.
    Stop,
    /// A bailout by name.
    Bailout {
        /// Its name.
        name: String,
        /// How to start it.
        recipe: bailout::Recipe,
    },
    /// A table of one's own: the first row whose condition holds replies; without one, the run stops.
    Table(Vec<CapRow>),
}

/// One row of a table of one's own.
#[derive(Clone, Debug)]
pub struct CapRow {
    /// When it applies; `None` always does.
    pub when: Option<Condition>,
    /// What it replies.
    pub then: Reply,
}

impl fmt::Debug for OnHit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stop => f.write_str("Stop"),
            Self::Bailout { name, .. } => write!(f, "Bailout({name})"),
            Self::Table(rows) => f.debug_tuple("Table").field(rows).finish(),
        }
    }
}

impl Cap {
    /// The cap's name in tables.
    pub(super) fn name(&self) -> RuleName {
        RuleName::new(match &self.on_hit {
            OnHit::Stop => format!("cap {} steps", self.steps),
            OnHit::Bailout { name, .. } => format!("cap {} steps ({name})", self.steps),
            OnHit::Table(_) => format!("cap {} steps (table)", self.steps),
        })
    }
}

impl Cap {
    /// What the conditions of its table need of a recording.
    pub(super) fn requirements(&self) -> Vec<Requirement> {
        let OnHit::Table(rows) = &self.on_hit else { return Vec::new() };
        let conditions = rows.iter().filter_map(|row| row.when.as_ref());
        let needs = conditions.flat_map(Condition::rules).flat_map(Rule::needs);
        needs.map(|need| Requirement { rule: self.name(), need }).collect()
    }
}

/// A condition as a bailout's table takes it.
struct WatchedCondition(Watching);

impl bailout::Condition for WatchedCondition {
    fn holds(&mut self, view: &PointView<'_>) -> bool {
        self.0.observe(view);
        self.0.read().holds == Some(true)
    }
}

/// A cap at work on one run.
pub(super) struct WatchedCap {
    bailout: Option<Box<dyn Bailout>>,
    session: String,
    /// The step the run is at, and how many model calls have been made.
    step: u32,
    calls: u32,
    granted_at: u32,
    hits: u32,
}

impl WatchedCap {
    pub(super) fn start(cap: &Cap, header: &Header) -> Self {
        let bailout: Option<Box<dyn Bailout>> = match &cap.on_hit {
            OnHit::Stop => None,
            OnHit::Bailout { recipe, .. } => Some(recipe()),
            OnHit::Table(rows) => Some(Box::new(table(rows))),
        };
        Self { bailout, session: header.run_id.clone(), step: 0, calls: 0, granted_at: 0, hits: 0 }
    }

    /// Model calls made since the cap was last granted, against the cap.
    pub(super) fn reading(&self, cap: &Cap) -> RuleReading {
        let calls = self.calls.saturating_sub(self.granted_at);
        let reading = RuleReading::new(cap.name(), "cap", Some(f64::from(calls)));
        reading.against(f64::from(cap.steps), calls >= cap.steps)
    }

    /// Takes a point in; the decision when `cap`, the one it was started with, is hit there.
    pub(super) fn at(&mut self, cap: &Cap, view: &PointView<'_>) -> Option<Decision> {
        if let Some(bailout) = &mut self.bailout {
            bailout.observe(view);
        }
        self.step = view.point().step;
        self.calls = u32::try_from(view.point().steps_paid()).unwrap_or(u32::MAX);
        if view.moment() != Moment::BeforeRequest || self.step.saturating_sub(self.granted_at) < cap.steps {
            return None;
        }
        self.hits += 1;
        self.granted_at = self.step;
        let reply = self.bailout.as_mut().map_or(Reply::STOP, |bailout| {
            bailout.on_cap(&AtCap {
                history: &RunHistory::at(view),
                hit: self.hits,
                cap: i64::from(cap.steps),
                session: &self.session,
                tokens: rough_tokens(view),
            })
        });
        let action = match &reply.verdict {
            Verdict::Continue => Action::Extend,
            Verdict::Stop => Action::Stop,
            Verdict::NewInstruction(_) => Action::Inject,
        };
        let evidence = Evidence::new(f64::from(self.step), f64::from(cap.steps * self.hits));
        let decision = Decision::at(view, action, cap.name(), evidence);
        Some(match reply.why {
            Some(why) => decision.detail(why),
            None => decision,
        })
    }
}

fn table(rows: &[CapRow]) -> bailout::Table {
    let rows = rows.iter().map(|row| bailout::Row {
        when: row
            .when
            .as_ref()
            .map(|when| Box::new(WatchedCondition(Watching::start(when))) as Box<dyn bailout::Condition>),
        then: row.then.clone(),
    });
    bailout::Table::new(rows.collect())
}
