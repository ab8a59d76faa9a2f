//! The fields a completed experiment must have, by agent profile and contract version.

use serde_json::{Map, Value};

use super::ProjectFolder;
use crate::python::{self, Dict};
use crate::system::mira::rules::{Guardrail, MiraRules};
use crate::transcript::named;

named! {
    /// The agent's role.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum AgentProfile {
        /// No profile.
        #[default]
        Default = "default",
        /// A researcher.
        Research = "research",
        /// An engineer.
        Engineer = "engineer",
        /// A team, from 0.3.3 on; the researcher's contract applies.
        Team = "team",
    }
}

impl AgentProfile {
    /// Reads a profile; `None` if it is not one of the four.
    pub fn from_value(value: &Value) -> Option<Self> {
        python::lower(python::strip(value.as_str()?)).parse().ok()
    }
}

/// Substrings of a conclusion that mean a rejected hypothesis.
const REJECTION_WORDS: [&str; 7] = ["falsif", "reject", "fail", "not supported", "不支持", "否定", "拒绝"];

/// The requirements for a completed experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contract {
    /// The profile that determines the required fields.
    pub profile: AgentProfile,
    /// Contract version 2: requires more, and rejects placeholder values.
    pub strict: bool,
    /// The release's guardrail.
    pub guardrail: Guardrail,
}

impl Contract {
    /// The contract in force: that of the loop's profile, else of the project's.
    pub fn from_agent_profile(agent_profile: Option<AgentProfile>, project: &ProjectFolder, rules: MiraRules) -> Self {
        let guardrail = rules.guardrail;
        let profile = match agent_profile.unwrap_or_else(|| project.profile()) {
            // Releases before 0.3.3 have no team profile.
            AgentProfile::Team if guardrail != Guardrail::Severe => AgentProfile::Default,
            known => known,
        };
        Self { profile, strict: project.is_strict(), guardrail }
    }

    /// From 0.3.1 on, contract version 1 requires nothing.
    fn asks(self) -> bool {
        self.strict || self.guardrail == Guardrail::All
    }

    /// Fields every completed experiment must have, as dotted paths.
    pub fn completed_fields(self) -> &'static [&'static str] {
        match (self.profile, self.strict) {
            _ if !self.asks() => &[],
            (AgentProfile::Research | AgentProfile::Team, _) => &[
                "theoretical_proof",
                "isolation_test.control",
                "isolation_test.treatment",
                "isolation_test.isolated_variable",
                "post_mortem.residual_analysis",
                "post_mortem.implementation_fidelity",
                "post_mortem.five_whys",
                "evidence_refs",
            ],
            (AgentProfile::Engineer, _) => &["commit", "repro.script_path", "repro.seed", "repro.env", "tests.summary"],
            (AgentProfile::Default, true) => &["question", "hypothesis", "method", "results", "conclusion"],
            (AgentProfile::Default, false) => &[],
        }
    }

    fn rejection_fields(self) -> &'static [&'static str] {
        match self.profile {
            _ if !self.asks() => &[],
            AgentProfile::Research | AgentProfile::Team => {
                &["theoretical_proof", "isolation_test.control", "isolation_test.treatment", "evidence_refs"]
            }
            AgentProfile::Engineer => &["evidence_refs", "tests.summary"],
            AgentProfile::Default => &["evidence_refs"],
        }
    }

    /// What a completed experiment lacks, in the original's messages.
    pub(super) fn breaches(self, id: &str, experiment: &Map<String, Value>) -> Vec<String> {
        let mut breaches = Vec::new();
        let missing = self.missing(experiment, self.completed_fields());
        if !missing.is_empty() {
            let profile = self.profile.name();
            breaches.push(format!("{id}: {profile} profile missing required fields: {}", missing.join(", ")));
        }
        if experiment.text("conclusion").is_some_and(reads_as_rejection) {
            let missing = self.missing(experiment, self.rejection_fields());
            if !missing.is_empty() {
                breaches.push(format!("{id}: hypothesis rejection requires fields: {}", missing.join(", ")));
            }
        }
        breaches
    }

    fn missing(self, experiment: &Map<String, Value>, fields: &[&'static str]) -> Vec<&'static str> {
        let is_there = |value: &Value| is_filled(value) && !(self.strict && is_placeholder(value));
        fields.iter().copied().filter(|field| !nested(experiment, field).is_some_and(is_there)).collect()
    }
}

fn reads_as_rejection(conclusion: &str) -> bool {
    let lowered = python::lower(conclusion);
    REJECTION_WORDS.iter().any(|word| lowered.contains(word))
}

fn nested<'v>(experiment: &'v Map<String, Value>, path: &str) -> Option<&'v Value> {
    let mut parts = path.split('.');
    let first = experiment.get(parts.next()?)?;
    parts.try_fold(first, |value, part| python::dict(value)?.get(part))
}

/// Whether a value has any content. Numbers and booleans always do; lists and objects if a part does.
fn is_filled(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !python::strip(text).is_empty(),
        Value::Array(items) => items.iter().any(is_filled),
        Value::Object(map) => python::dict(value).is_none() || map.values().any(is_filled),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

fn is_placeholder(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default();
    python::lower(python::strip(text)).starts_with("guardrail auto-fill:")
}
