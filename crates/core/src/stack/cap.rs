//! A stack's step cap, and what happens when it is hit.

use std::fmt;

use crate::bailout::{self, AfterCap, AtCap, Bailout, Reply, RunHistory, rough_tokens};
use crate::decision::{Action, Decision, Evidence, RuleName, RuleReading};
use crate::rule::{Condition, Watching};
use crate::transcript::{Header, Moment, PointView};

/// A cap on the number of steps, checked before each request.
#[derive(Clone, Debug)]
pub struct Cap {
    /// Steps allowed before the cap is hit. A grant allows the same number again.
    pub steps: u32,
    /// What happens when the cap is hit.
    pub on_hit: OnHit,
    /// Whether steps are counted from the start of the run or of each round.
    pub scope: super::Scope,
}

/// What happens when the cap is hit.
#[derive(Clone)]
pub enum OnHit {
    /// The run stops.
    Stop,
    /// A named bailout decides.
    Bailout {
        /// The bailout's name.
        name: String,
        /// Starts the bailout for a run.
        recipe: bailout::Recipe,
    },
    /// A table in the stack file decides: the first row whose condition holds gives the reply. If none holds, the run
    /// stops.
    Table(Vec<CapRow>),
}

/// One row of a cap's table.
#[derive(Clone, Debug)]
pub struct CapRow {
    /// When the row applies; `None` means always.
    pub when: Option<Condition>,
    /// The reply it gives.
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

    /// The conditions of its table.
    pub(super) fn conditions(&self) -> impl Iterator<Item = &Condition> {
        let rows = if let OnHit::Table(rows) = &self.on_hit { &rows[..] } else { &[] };
        rows.iter().filter_map(|row| row.when.as_ref())
    }
}

impl bailout::CapCondition for Watching {
    fn holds(&mut self, view: &PointView<'_>) -> bool {
        self.observe(view);
        self.read().holds == Some(true)
    }
}

/// The state of a cap for one run.
pub(super) struct WatchedCap {
    bailout: Option<Box<dyn Bailout>>,
    session: String,
    /// The current step, and the number of model calls made so far.
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

    /// Model calls since the cap was last granted, compared with the cap.
    pub(super) fn reading(&self, cap: &Cap) -> RuleReading {
        let calls = self.calls.saturating_sub(self.granted_at);
        let reading = RuleReading::new(cap.name(), "cap", Some(f64::from(calls)));
        reading.against(f64::from(cap.steps), calls >= cap.steps)
    }

    /// Takes the next point. Returns the decision if the cap is hit there; `cap` must be the one it was started with.
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
        let reply = match &mut self.bailout {
            None => Reply::STOP,
            Some(bailout) => bailout.on_cap(&AtCap {
                history: &RunHistory::at(view),
                hit: self.hits,
                cap: i64::from(cap.steps),
                session: &self.session,
                tokens: rough_tokens(view),
            }),
        };
        let action = match &reply.verdict {
            AfterCap::Continue => Action::Extend,
            AfterCap::Stop => Action::Stop,
            AfterCap::NewInstruction(_) => Action::Inject,
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
    let rows = rows.iter().map(|row| bailout::TableRow {
        when: row.when.as_ref().map(|when| Box::new(Watching::start(when)) as Box<dyn bailout::CapCondition>),
        then: row.then.clone(),
    });
    bailout::Table::new(rows.collect())
}
