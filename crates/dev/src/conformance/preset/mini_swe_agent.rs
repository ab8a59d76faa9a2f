//! mini-swe-agent reports how a run ended and what it cost.

use super::PresetDriver;
use super::played::{Fields, Played};
use crate::decision::Action;
use crate::preset::frame::caps::CapMachine;
use crate::transcript::Message;

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "mini-swe-agent",
    read: |case| case.set_aside(&["seconds_per_model_call"]),
    is_running: |watch| !watch.is_over() && watch.machine::<CapMachine>().is_some_and(|caps| !caps.over),
    report,
    ..PresetDriver::PLAIN
};

fn report(played: &Played<'_>, fields: &mut Fields) {
    let ended_by = played.acts.iter().rev().find(|act| act.is_end()).and_then(|act| act.decision.code.as_deref());
    let is_submitted = played.watch.machine::<CapMachine>().is_some_and(|caps| caps.over);
    let status = ended_by.unwrap_or(if is_submitted { "Submitted" } else { "script end" });
    fields.insert("exit_status".to_owned(), status.into());
    let mut cost = 0.0;
    for reply in played.replies {
        // An error inside the model call loses the reply, and its cost is not charged to the agent.
        let is_lost = |act: &crate::framework::machine::MachineAction| {
            act.decision.action == Action::Fail && act.decision.event == Some(*reply)
        };
        if !played.acts.iter().any(is_lost) {
            cost += played.message(*reply).and_then(Message::cost).map_or(0.0, |cost| cost.0);
        }
    }
    fields.insert("cost".to_owned(), ((cost * 1e6).round() / 1e6).into());
}
