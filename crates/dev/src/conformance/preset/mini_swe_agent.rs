//! mini-swe-agent reports how a run ended and what it cost.

use serde_json::{Value, json};

use super::played::Played;
use super::{PresetDriver, caps_are_running};
use crate::decision::Action;
use crate::framework::machine::cost_in_dollars;
use crate::preset::frame::caps::CapMachine;

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "mini-swe-agent",
    read: |case| case.set_aside(&["seconds_per_model_call"]),
    is_running: caps_are_running,
    report: |played| Some(report(played)),
    ..PresetDriver::PLAIN
};

fn report(played: &Played<'_>) -> Value {
    let last_end = played.acts.iter().rev().find(|act| act.is_end());
    let ended_by = last_end.and_then(|act| act.decision.code.as_deref());
    let is_submitted = matches!(played.watch.machine::<CapMachine>(), Some(caps) if caps.over);
    let status = ended_by.unwrap_or(if is_submitted { "Submitted" } else { "script end" });
    let mut cost = 0.0;
    for reply in played.replies {
        // An error inside the model call loses the reply, and its cost is not charged to the agent.
        let is_lost = |act: &crate::framework::machine::MachineAction| {
            act.decision.action == Action::Fail && act.decision.event == Some(*reply)
        };
        if !played.acts.iter().any(is_lost) {
            cost += played.message(*reply).map(cost_in_dollars).unwrap_or_default();
        }
    }
    json!({ "exit_status": status, "cost": (cost * 1e6).round() / 1e6 })
}
