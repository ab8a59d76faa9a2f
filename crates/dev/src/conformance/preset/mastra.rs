//! Mastra: the hook after each iteration is scripted.

use super::Driver;
use crate::preset::frame::rounds::Rounds;
use crate::preset::mastra::{Hook, Mastra, with_hook};

pub(super) const DRIVER: Driver = Driver {
    id: "mastra",
    read: |case| {
        case.set_aside(&["on_iteration"]);
        case.rename("default_options", "defaultOptions");
        case.rename("client_tools", "clientTools");
        case.rename("approval_tools", "requireApproval");
    },
    build: Some(|case, settings| {
        let hook = case.scripted("on_iteration");
        with_hook(settings, Hook { stop_at: hook["stop_at"].as_u64(), go_on: hook["go_on"].as_u64().unwrap_or(0) })
    }),
    is_running: |watch| watch.machine::<Rounds<Mastra>>().is_some_and(|agent| !agent.is_over()),
    report: |played, fields| {
        if let Some(agent) = played.watch.machine::<Rounds<Mastra>>() {
            fields.insert("finish_reasons".to_owned(), agent.inner().reasons.clone().into());
        }
    },
    ..Driver::PLAIN
};
