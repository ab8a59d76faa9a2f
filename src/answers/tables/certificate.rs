//! The settings of a certificate, in the order tested.

use super::{Cell, Line, Table};
use crate::sweep::{CertifiedSetting, CorpusCertificate};

/// Every setting with its risk and p-value.
pub fn certificate(certificate: &CorpusCertificate) -> Table {
    let chosen = certificate.chosen().map(|setting| setting.name.as_str());
    let lines = certificate.settings.iter().map(|setting| {
        let mut line = Line::default();
        line.push("setting", Cell::Text(setting.name.clone()));
        line.push("killed", Cell::Count(setting.killed));
        line.push("successes", Cell::Count(certificate.successes));
        line.push("tasks", Cell::Count(certificate.certificate.tasks));
        line.push_estimate("killed_rate_by_task", "tasks with a success", &setting.task_rate);
        line.push("killed_rate_pooled", Cell::number(finite(setting.pooled)));
        line.push("certified_rate", Cell::Text(certificate.certificate.promise.rate.name().to_owned()));
        line.push("risk", Cell::number(finite(setting.risk)));
        line.push("p", Cell::number(Some(setting.p)));
        if let Some(p_adjusted) = setting.p_adjusted {
            line.push("p_adjusted", Cell::number(Some(p_adjusted)));
        }
        line.push("bound", Cell::Text(certificate.certificate.promise.bound.name().to_owned()));
        line.push("result", Cell::Text(result(setting, chosen).to_owned()));
        line.push("saved_unit", Cell::Text(certificate.unit.name().to_owned()));
        line.push_estimate("useful_saved_ratio", &format!("{} recorded", certificate.unit.name()), &setting.useful);
        line
    });
    Table::of(lines.collect())
}

/// A shorter version for a terminal.
pub fn certificate_overview(certificate: &CorpusCertificate) -> Table {
    let chosen = certificate.chosen().map(|setting| setting.name.as_str());
    let lines = certificate.settings.iter().map(|setting| {
        let mut line = Line::default();
        line.push("setting", Cell::Text(setting.name.clone()));
        line.push("killed", Cell::Text(format!("{} of {}", setting.killed, certificate.successes)));
        line.push("of all", Cell::percent(finite(setting.pooled)));
        line.push("mean over tasks", Cell::percent(setting.task_rate.value));
        if certificate.doubt.is_some() {
            line.push("corrected", Cell::percent(finite(setting.risk)));
        }
        line.push("p", Cell::Text(format!("{:.4}", setting.p)));
        if let Some(p_adjusted) = setting.p_adjusted {
            line.push("p adjusted", Cell::Text(format!("{p_adjusted:.4}")));
        }
        line.push("result", Cell::Text(result(setting, chosen).to_owned()));
        line.push(format!("{} saved", certificate.unit.name()), Cell::percent(setting.useful.value));
        line
    });
    Table::of(lines.collect())
}

/// The number, or `None` if it is not finite.
fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

fn result(setting: &CertifiedSetting, chosen: Option<&str>) -> &'static str {
    match (setting.passed, setting.reached) {
        (true, _) if chosen == Some(setting.name.as_str()) => "certified",
        (true, _) => "passed",
        (false, true) => "failed",
        (false, false) => "not reached",
    }
}
