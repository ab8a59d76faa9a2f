//! What a run had spent by each of its points.

use serde::{Deserialize, Serialize};

use crate::transcript::{Event, Instant, Message, Point, Run, Spend, Tokens, Usd};

/// Steps, tokens, dollars and time. An amount the recording does not give is `None`, never 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Amounts {
    /// Model calls paid for.
    pub steps: u64,
    /// Input plus output tokens.
    pub tokens: Option<Tokens>,
    /// Dollars.
    pub cost: Option<Usd>,
    /// Milliseconds since the run began.
    pub ms: Option<i64>,
}

impl Amounts {
    /// Zero for each amount that is known in `self`.
    #[must_use]
    pub fn nothing(self) -> Self {
        Self {
            steps: 0,
            tokens: self.tokens.map(|_| Tokens::default()),
            cost: self.cost.map(|_| Usd::default()),
            ms: self.ms.map(|_| 0),
        }
    }

    /// The sum of both; an amount unknown in either is unknown.
    #[must_use]
    pub fn plus(self, part: Self) -> Self {
        Self {
            steps: self.steps.saturating_add(part.steps),
            tokens: self.tokens.zip(part.tokens).map(|(a, b)| a + b),
            cost: self.cost.zip(part.cost).map(|(a, b)| a + b),
            ms: self.ms.zip(part.ms).map(|(a, b)| a.saturating_add(b)),
        }
    }

    /// `n` times each amount.
    #[must_use]
    pub fn times(self, n: u64) -> Self {
        Self {
            steps: self.steps.saturating_mul(n),
            tokens: self.tokens.map(|tokens| Tokens(tokens.0.saturating_mul(n))),
            cost: self.cost.map(|cost| Usd(cost.0 * n as f64)),
            ms: self.ms.map(|ms| ms.saturating_mul(i64::try_from(n).unwrap_or(i64::MAX))),
        }
    }

    /// Each amount minus that of `part`.
    #[must_use]
    pub fn less(self, part: Self) -> Self {
        Self {
            steps: self.steps.saturating_sub(part.steps),
            tokens: self.tokens.map(|tokens| tokens - part.tokens.unwrap_or_default()),
            cost: self.cost.map(|cost| Usd(cost.0 - part.cost.unwrap_or_default().0)),
            ms: self.ms.map(|ms| ms.saturating_sub(part.ms.unwrap_or(0)).max(0)),
        }
    }
}

/// The cumulative cost of one run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ledger {
    /// The points at which more was spent than before.
    by_point: Vec<(Point, Amounts)>,
    whole: Amounts,
    calls: Option<(Amounts, Amounts)>,
    end: Option<Point>,
    tokens_in_part: bool,
}

impl Ledger {
    /// Sums up the run once.
    pub fn from_run(run: &Run) -> Self {
        let mut spend = Spend::default();
        let mut clock = Clock { start: run.header.started_at, elapsed: None };
        let mut added = 0;
        let complete = Complete::from_run(run);
        let mut by_point: Vec<(Point, Amounts)> = Vec::with_capacity(run.steps().len() + 1);
        for view in run.views() {
            take(view.news(), &mut spend, &mut clock);
            added = view.events().len();
            let steps = view.point().steps_paid().min(run.steps().len());
            let amounts = complete.amounts(steps, &spend, &clock);
            if by_point.last().map(|(_, before)| before) != Some(&amounts) {
                by_point.push((view.point(), amounts));
            }
        }
        take(&run.events()[added..], &mut spend, &mut clock);
        clock.tick(run.ended_at);
        let whole = complete.amounts(run.steps().len(), &spend, &clock);
        Self {
            calls: calls(run, whole),
            by_point,
            whole,
            end: run.last_point(),
            tokens_in_part: spend.total.is_some() && !complete.tokens,
        }
    }

    /// True if some steps record tokens and others do not, so that their sum is unknown.
    pub fn tokens_in_part(&self) -> bool {
        self.tokens_in_part
    }

    /// The cheapest and the most expensive model call of the run, for each amount separately and without time: one more
    /// call is taken to cost between the two. `None` for a run without steps.
    pub fn calls(&self) -> Option<(Amounts, Amounts)> {
        self.calls
    }

    /// The amounts of the whole recording.
    pub fn whole(&self) -> Amounts {
        self.whole
    }

    /// The point by which everything recorded had happened; `None` for a run without steps.
    pub fn end(&self) -> Option<Point> {
        self.end
    }

    /// Everything paid for by a stop; for the whole run if nothing stops it.
    #[doc(hidden)]
    pub fn paid_by(&self, stop: Option<Point>) -> Amounts {
        match stop {
            Some(point) => self.until(point),
            None => self.whole,
        }
    }

    /// Everything paid for by `point`. A run that reports tokens has spent none before its first reply.
    pub fn until(&self, point: Point) -> Amounts {
        let index = self.by_point.partition_point(|(at, _)| *at <= point);
        let known = match self.by_point[..index].last() {
            Some((_, amounts)) => *amounts,
            None => Amounts::default(),
        };
        Amounts {
            steps: known.steps,
            tokens: self.whole.tokens.map(|_| known.tokens.unwrap_or_default()),
            cost: self.whole.cost.map(|_| known.cost.unwrap_or_default()),
            ms: self.whole.ms.map(|_| known.ms.unwrap_or(0)),
        }
    }
}

/// Which amounts are known at every step of the run. A sum with gaps is too small and therefore counts as unknown.
struct Complete {
    tokens: bool,
    cost: bool,
}

impl Complete {
    fn from_run(run: &Run) -> Self {
        let (mut tokens, mut cost) = (true, true);
        for reply in run.replies() {
            tokens &= reply.has_usage();
            cost &= reply.cost().is_some();
        }
        Self { tokens, cost }
    }

    fn amounts(&self, steps: usize, spend: &Spend, clock: &Clock) -> Amounts {
        let (tokens, cost) = (spend.total.filter(|_| self.tokens), spend.cost.filter(|_| self.cost));
        Amounts { steps: steps as u64, tokens, cost, ms: clock.elapsed }
    }
}

fn calls(run: &Run, whole: Amounts) -> Option<(Amounts, Amounts)> {
    let tokens = || run.replies().filter_map(Message::total_tokens).filter(|_| whole.tokens.is_some());
    let costs = || run.replies().filter_map(Message::cost).filter(|_| whole.cost.is_some());
    let one = |tokens, cost| Amounts { steps: 1, tokens, cost, ms: None };
    if run.steps().is_empty() {
        return None;
    }
    let cheapest = costs().min_by(|a, b| a.0.total_cmp(&b.0));
    let dearest = costs().max_by(|a, b| a.0.total_cmp(&b.0));
    Some((one(tokens().min(), cheapest), one(tokens().max(), dearest)))
}

struct Clock {
    start: Option<Instant>,
    elapsed: Option<i64>,
}

impl Clock {
    fn tick(&mut self, now: Option<Instant>) {
        if let Some(now) = now {
            let start = *self.start.get_or_insert(now);
            self.elapsed = Some(self.elapsed.unwrap_or(0).max(now.since(start).0));
        }
    }
}

fn take(events: &[Event], spend: &mut Spend, clock: &mut Clock) {
    for event in events {
        spend.add(event);
        clock.tick(event.ts());
    }
}
