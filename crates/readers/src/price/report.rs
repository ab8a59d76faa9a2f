//! Reports the results of pricing: which runs got a cost, from which price, and which still have none.

use serde::Serialize;

use super::{PriceTable, Pricing, Unpriced};
use crate::transcript::Usd;

/// Runs whose cost was computed with one price.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PricedModel {
    /// The model, as recorded.
    pub model: String,
    /// The name under which its price was found.
    pub price: String,
    /// Runs with calls of this model.
    pub runs: u64,
    /// The cost of these calls, in US dollars.
    pub cost_usd: f64,
}

/// Runs that were not priced, for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NotPriced {
    /// The reason.
    pub reason: String,
    /// The number of runs.
    pub runs: u64,
    /// The id of the first of them.
    pub first: String,
}

impl NotPriced {
    /// Adds a run to a list that is ordered by reason.
    fn add(all: &mut Vec<Self>, why: &Unpriced, run_id: &str) {
        let reason = why.to_string();
        let at = all.partition_point(|known| known.reason < reason);
        if all.get(at).is_none_or(|known| known.reason != reason) {
            all.insert(at, Self { reason, runs: 0, first: run_id.to_owned() });
        }
        all[at].runs += 1;
    }
}

/// The results of applying a price file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PricingReport {
    /// The path of the file.
    pub file: String,
    /// Runs that keep their recorded cost.
    pub recorded: u64,
    /// Runs whose cost was computed.
    pub computed: u64,
    /// Of the computed ones, runs whose recorded cost was overridden.
    pub overridden: u64,
    /// Of the computed ones, runs with a call that does not record how much of its input was cached; it is charged in
    /// full.
    pub cache_unknown: u64,
    /// The prices used, ordered by model.
    pub models: Vec<PricedModel>,
    /// Runs that keep a recorded cost that was to be overridden.
    pub kept: Vec<NotPriced>,
    /// Runs without a cost.
    pub missing: Vec<NotPriced>,
}

impl PricingReport {
    /// A report with no runs yet.
    pub(crate) fn new(table: &PriceTable) -> Self {
        Self { file: table.path().to_owned(), ..Self::default() }
    }

    /// Adds how a run's cost was determined; must be called in corpus order.
    pub(crate) fn enter(&mut self, run_id: &str, pricing: Pricing) {
        match pricing {
            Pricing::Recorded => self.recorded += 1,
            Pricing::Computed { models, cache_unknown, overrides } => {
                self.computed += 1;
                self.overridden += u64::from(overrides);
                self.cache_unknown += u64::from(cache_unknown);
                for ((model, price), Usd(cost)) in models {
                    let at = self.models.partition_point(|known| (&known.model, &known.price) < (&model, &price));
                    if self.models.get(at).is_none_or(|known| known.model != model || known.price != price) {
                        self.models.insert(at, PricedModel { model, price, ..PricedModel::default() });
                    }
                    self.models[at].runs += 1;
                    self.models[at].cost_usd += cost;
                }
            }
            Pricing::Kept(why) => NotPriced::add(&mut self.kept, &why, run_id),
            Pricing::Missing(why) => NotPriced::add(&mut self.missing, &why, run_id),
        }
    }

    /// One line for each fact worth reporting.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("cost of {} runs computed from {}", self.computed, self.file)];
        for PricedModel { model, price, runs, cost_usd } in &self.models {
            let under = if model == price { String::new() } else { format!(" at the price of `{price}`") };
            lines.push(format!("  `{model}`{under}: {runs} runs, {cost_usd:.4} USD"));
        }
        if self.cache_unknown > 0 {
            lines.push(format!(
                "  {} of them do not say how much input was cached: all of it is charged in full",
                self.cache_unknown
            ));
        }
        if self.overridden > 0 {
            lines.push(format!("  {} of them override a recorded cost", self.overridden));
        }
        if self.recorded > 0 {
            lines.push(format!("cost of {} runs is as recorded", self.recorded));
        }
        for NotPriced { reason, runs, first } in &self.kept {
            lines.push(format!("cost of {runs} runs is kept as recorded: {reason}; the first is `{first}`"));
        }
        for NotPriced { reason, runs, first } in &self.missing {
            lines.push(format!("cost of {runs} runs is missing: {reason}; the first is `{first}`"));
        }
        lines
    }
}
