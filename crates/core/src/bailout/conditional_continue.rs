//! Strategy 4 of the agentao page.

use std::collections::BTreeMap;

use super::{AtCap, Bailout, BailoutError, Params, RegisteredBailout, Reply, Window};
use crate::bailout::{AfterCap, Speaker};

/// Grants the cap again twice per session, unless the same tool was used five times or more.
///
/// Hits are counted first, so a stop also uses up a grant. The third and later hits ask for a final answer without
/// checking the tools. The check reads the last 20 messages: at least five tool results and at most one distinct tool
/// name.
#[derive(Clone, Debug)]
pub struct ConditionalContinue {
    hits: BTreeMap<String, u64>,
    grants: u64,
    window: i64,
    repeats: u64,
    message: String,
}

impl Bailout for ConditionalContinue {
    fn on_cap(&mut self, at: &AtCap<'_>) -> Reply {
        let hits = self.hits.entry(at.session.to_owned()).or_default();
        *hits += 1;
        if *hits > self.grants {
            return Reply::instruct(&self.message).because("grants_used_up");
        }
        let mut names: Vec<_> = Vec::new();
        for entry in Window(self.window).within(at.history).filter(|entry| entry.speaker == Speaker::Tool) {
            names.push(entry.name);
        }
        let same = names.windows(2).all(|pair| pair.first() == pair.last());
        if same && names.len() as u64 >= self.repeats {
            return Reply { verdict: AfterCap::Stop, why: Some("same_tool") };
        }
        Reply::CONTINUE
    }
}

impl RegisteredBailout for ConditionalContinue {
    const ID: &'static str = "conditional_continue";
    const SUMMARY: &'static str = "grants the cap again twice, unless one tool is repeated";
    const SOURCE: &'static str = "agentao, max-iterations page, strategy 4";
    const PARAMS: &'static [&'static str] = &["grants", "window", "repeats", "message"];

    fn from_params(params: &Params<'_>) -> Result<Self, BailoutError> {
        let default = "The limit was extended more than once; give the final answer now, without tools.";
        Ok(Self {
            hits: BTreeMap::new(),
            grants: params.count("grants", Some(2))?,
            window: i64::try_from(params.count("window", Some(20))?).unwrap_or(i64::MAX),
            repeats: params.count("repeats", Some(5))?,
            message: params.text("message", default)?,
        })
    }
}
