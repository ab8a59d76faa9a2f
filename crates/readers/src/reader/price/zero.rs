//! Recorded costs of 0: true for a free model, unknown otherwise.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{calls, name};
use crate::diagnostic::{Diagnostic, Location};
use crate::reader::ReadOptions;
use crate::transcript::{Draft, Run, Spend, Tokens, Usd};

/// Runs whose recorded cost of 0 is taken as unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ZeroCosts {
    /// How many runs.
    pub runs: u64,
    /// Their tokens, input and output.
    pub tokens: u64,
    /// The first of them.
    pub first: String,
    /// Their models, with the number of runs; a run without a model is not among them.
    pub models: BTreeMap<String, u64>,
}

impl ZeroCosts {
    /// Enters a run, in corpus order.
    pub(in crate::reader) fn enter(&mut self, run: &Run, spend: &Spend) {
        self.runs += 1;
        self.tokens = self.tokens.saturating_add(spend.total.map_or(0, |tokens| tokens.0));
        if self.first.is_empty() {
            self.first.clone_from(&run.header.run_id);
        }
        if let Some(model) = &run.header.model {
            *self.models.entry(model.clone()).or_default() += 1;
        }
    }

    /// What a person should know of them.
    pub fn notice(&self) -> Diagnostic {
        let millions = self.tokens as f64 / 1e6;
        let tokens = if millions >= 0.1 { format!("{millions:.1} M") } else { self.tokens.to_string() };
        let runs = if self.runs == 1 { "1 run records".to_owned() } else { format!("{} runs record", self.runs) };
        let what = format!("{runs} a cost of 0 for {tokens} tokens: taken as unknown");
        let model = self.models.keys().next().filter(|model| model.len() <= 24).map_or("NAME", String::as_str);
        let help = format!("`--free-model {model}` if it is free, `--price FILE` to compute it");
        Diagnostic::new(Location::default(), what, help)
    }
}

/// Does the recording state a cost of 0 for calls with tokens, of models that are not known to be free?
pub(super) fn is_unknown(draft: &Draft, options: &ReadOptions) -> bool {
    let cost = calls(&draft.events).filter_map(|call| call.cost).reduce(|sum, more| sum + more);
    if cost != Some(Usd(0.0)) {
        return false;
    }
    let spent = |call: &&crate::transcript::Message| {
        call.usage.and_then(|usage| usage.total()).is_some_and(|tokens| tokens > Tokens(0))
    };
    let mut spending = calls(&draft.events).filter(spent).peekable();
    spending.peek().is_some()
        && !spending.all(|call| {
            call.model.as_deref().or(draft.header.model.as_deref()).is_some_and(|model| is_free(model, options))
        })
}

/// Is it named as free, or does the file of prices say so?
fn is_free(model: &str, options: &ReadOptions) -> bool {
    let plain = name::plain(model);
    let named = options.free_models.iter().any(|free| free == model || name::plain(free) == plain);
    named || options.prices.as_ref().is_some_and(|prices| prices.of(model).is_ok_and(|(_, price)| price.is_free()))
}
