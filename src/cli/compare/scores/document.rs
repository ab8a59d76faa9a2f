//! The answer as one JSON document.

use serde_json::{Value, json};

use super::{ScoresAnswer, StackBenchmarks};
use crate::bench::{Audit, ModelPair, ModelScore};
use crate::stats::Estimate;

fn estimate(of: &Estimate) -> Value {
    json!({"value": of.value, "low": of.low(), "high": of.high(), "n": of.n, "method": of.method.name()})
}

fn amounts(of: [Option<f64>; 3]) -> Value {
    json!({"steps": of[0], "tokens": of[1], "cost_usd": of[2]})
}

impl ScoresAnswer<'_> {
    pub(super) fn json(&self) -> Value {
        json!({
            "schema_version": 1,
            "whenstop": env!("CARGO_PKG_VERSION"),
            "verdict": self.verdict(),
            "delta": 1.0 - self.args.appetite.confidence,
            "audit": self.args.scores.audit,
            "max_killed": self.args.appetite.max_killed,
            "by": self.args.by.as_ref().map(crate::cli::inputs::ByArg::noun),
            "saved_unit": self.unit.name(),
            "runs": self.trials.len(),
            "not_judged": self.not_judged.iter().map(|(stack, runs)| json!({"stack": stack, "runs": runs})).collect::<Vec<_>>(),
            "lines": self.lines.iter().map(|line| self.line(line)).collect::<Vec<_>>(),
        })
    }

    fn line(&self, line: &StackBenchmarks) -> Value {
        let totals = line.totals(self.unit_place());
        let benchmarks = line.benchmarks.iter().map(|of| {
            let pair = |pair: &ModelPair| {
                json!({
                    "above": &*of.models[pair.above].model, "below": &*of.models[pair.below].model,
                    "gap": pair.gap, "gap_with_stops": pair.gap_with_stops, "flipped": pair.is_flipped(),
                    "beyond": pair.is_beyond, "certain": pair.is_certified, "p": pair.p,
                })
            };
            json!({
                "class": &*of.class,
                "models": of.models.iter().map(|model| self.model(model)).collect::<Vec<_>>(),
                "pairs": of.pairs.pairs.iter().map(pair).collect::<Vec<_>>(),
                "tied": of.pairs.tied, "apart": of.pairs.apart, "tau": of.pairs.tau,
            })
        });
        json!({
            "stack": line.stack,
            "saved": totals.saved, "mean_change": totals.mean_change, "largest_change": totals.largest_change,
            "at_most": totals.at_most, "pairs": totals.pairs, "tied": totals.tied, "flipped": totals.flipped,
            "beyond": totals.beyond, "certain": totals.certified, "tau": totals.tau,
            "audit": totals.audited.as_ref().map(|of| json!({
                "saved": of.saved, "added_error": of.added_error, "sampling_error": of.sampling_error,
            })),
            "benchmarks": benchmarks.collect::<Vec<_>>(),
        })
    }

    fn model(&self, of: &ModelScore) -> Value {
        let audit = |audit: &Audit| {
            json!({
                "score": estimate(&audit.score), "added_error": audit.added_error,
                "added_error_seen": audit.added_error_seen, "saved": amounts(audit.saved),
            })
        };
        json!({
            "model": &*of.model,
            "stack": of.stack.map(|stack| &self.stacks[stack]),
            "tasks": of.n_tasks(), "runs": of.runs, "ungraded": of.ungraded, "stopped": of.stopped,
            "killed": of.killed, "doubtful": of.doubtful,
            "score": of.score, "with_stops": of.with_stops, "change": of.change(), "at_most": of.at_most,
            "sampling_error": of.sampling_error, "saved": amounts(of.saved),
            "audit": of.audit.as_ref().map(audit),
        })
    }
}
