//! The answer as one JSON document: the certificate.

use serde_json::json;

use super::words::TuneSentences;
use crate::aggregate::RecordedRun;
use crate::stats::Estimate;
use crate::tune::{Shipped, grounds, names_in};

impl TuneSentences<'_> {
    /// The answer as JSON: the certificate.
    pub(super) fn json(&self) -> serde_json::Value {
        let (study, answer) = (self.study, self.answer);
        let estimate = |of: &Estimate| json!({"value": of.value, "low": of.low(), "high": of.high(), "n": of.n, "method": of.method.name()});
        let lines: Vec<serde_json::Value> = answer
            .beside
            .iter()
            .map(|line| {
                json!({
                    "what": line.rival.name(),
                    "rule": line.name.as_deref().unwrap_or("none"),
                    "certified": line.certified,
                    "killed": estimate(&line.totals.killed()),
                    "saved": estimate(&line.totals.saved()),
                    "cost_of_success": line.totals.all().cost_of_success(),
                    "parts_refused": line.refused.0,
                })
            })
            .collect();
        let walks: Vec<serde_json::Value> = answer
            .tuned
            .walks
            .iter()
            .map(|walk| {
                let family = &study.families()[walk.family];
                let limit = |at: Option<usize>| family.limits().get(at?).copied();
                json!({
                    "family": family.name(),
                    "delta": walk.delta,
                    "boldest_certified": limit(walk.boldest()),
                    "p": walk.p,
                    "first_refused": if walk.p_next.is_some() { limit(Some(walk.passed)) } else { None },
                    "p_refused": walk.p_next,
                })
            })
            .collect();
        let shipped = answer.shipped.as_ref().ok().map(|(shipped, held_out)| {
            let grounds = grounds(study, shipped, self.promise());
            let ranges: serde_json::Map<String, serde_json::Value> =
                grounds.ranges.iter().map(|(signal, low, high)| (signal.clone(), json!([low, high]))).collect();
            let (p, judged_on) = match shipped {
                Shipped::Limit(choice) => (choice.p, answer.tuned.with_success),
                Shipped::List(list) => (list.p, list.judged_on),
            };
            json!({
                "stop_when": shipped.condition(study),
                "rules": shipped.rules(study),
                "from_step": shipped.from_step(),
                "kind": if answer.is_estimate() { "estimated" } else { "certified" },
                "promise": grounds.promise,
                "p": p,
                "judged_on_tasks": judged_on,
                "stop_rate": grounds.stopped,
                "ranges": ranges,
                "held_out_parts": held_out.parts,
                "held_out_parts_refused": held_out.refused,
                "held_out_parts_with_another_rule": held_out.others(&shipped.name(study)),
                "counted_as_killed": self.unread_successes(shipped),
            })
        });
        json!({
            "schema_version": 1,
            "whenstop": env!("CARGO_PKG_VERSION"),
            "verdict": self.verdict(),
            "ship": shipped,
            "alpha": self.question.max_killed,
            "confidence": self.question.confidence,
            "bound": answer.appetite.bound.name(),
            "theorem": answer.appetite.bound.theorem(),
            "lost_success_costs": self.question.lost_success_costs,
            "budget": self.question.budget,
            "runs": study.runs().len(),
            "tasks": study.tasks().len(),
            "tasks_with_success": answer.tuned.with_success,
            "saved_unit": study.unit().name(),
            "models": names_in(study, RecordedRun::model),
            "agents": names_in(study, RecordedRun::agent),
            "corpus": study.fingerprint(),
            "oracle": study.oracle(),
            "beside": lines,
            "walks": walks,
        })
    }
}
