//! Recorded costs of 0: correct for a free model, unknown for any other.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Costs, calls, name};
use crate::diagnostic::{Diagnostic, Location};
use crate::transcript::{Draft, Message, Run, Spend, Tokens, Usd};

/// Runs whose recorded cost of 0 counts as unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ZeroCosts {
    /// The number of runs.
    pub runs: u64,
    /// Their input and output tokens.
    pub tokens: u64,
    /// The id of the first of them.
    pub first: String,
    /// Their models, with the number of runs. A run without a model is not included.
    pub models: BTreeMap<String, u64>,
}

impl ZeroCosts {
    /// Adds a run; must be called in corpus order.
    pub(crate) fn enter(&mut self, run: &Run, spend: &Spend) {
        self.runs += 1;
        self.tokens = self.tokens.saturating_add(spend.total.unwrap_or_default().0);
        if self.first.is_empty() {
            self.first.clone_from(&run.header.run_id);
        }
        if let Some(model) = &run.header.model {
            *self.models.entry(model.clone()).or_default() += 1;
        }
    }

    /// The message to the user about them.
    pub fn notice(&self) -> Diagnostic {
        let millions = self.tokens as f64 / 1e6;
        let tokens = if millions >= 0.1 { format!("{millions:.1} M") } else { self.tokens.to_string() };
        let runs = if self.runs == 1 { "1 run records".to_owned() } else { format!("{} runs record", self.runs) };
        let what = format!("{runs} a cost of 0 for {tokens} tokens: taken as unknown");
        let first = self.models.keys().next().map(String::as_str);
        let model = first.filter(|model| model.len() <= 24).unwrap_or("NAME");
        let help = format!("`--free-model {model}` if it is free, `--price FILE` to compute it");
        Diagnostic::new(Location::default(), what, help)
    }
}

/// True if the recording states a cost of 0 for calls with tokens, by models that are not known to be free.
pub(super) fn is_unknown(draft: &Draft, costs: &Costs<'_>) -> bool {
    let cost = calls(&draft.events).filter_map(Message::cost).reduce(|sum, more| sum + more);
    if cost != Some(Usd(0.0)) {
        return false;
    }
    let is_spent = |call: &&Message| matches!(call.usage(), Some(usage) if usage.total() > Some(Tokens(0)));
    calls(&draft.events).filter(is_spent).any(|call| match call.model().or(draft.header.model.as_deref()) {
        Some(model) => !is_free(model, costs),
        None => true,
    })
}

/// True if the options name the model as free or all its prices in the price file are 0.
fn is_free(model: &str, costs: &Costs<'_>) -> bool {
    let plain = name::plain(model);
    if costs.free_models.iter().any(|free| free == model || name::plain(free) == plain) {
        return true;
    }
    let Some(prices) = costs.prices else { return false };
    matches!(prices.price_for(model), Ok((_, price)) if price.is_free())
}
