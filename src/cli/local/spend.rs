//! What sessions and rounds were spent on: in all, by project or by agent.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Args, PLACES, PRICED_ON};
use crate::answers::tables::{DataTable, TableCell, TableColumns};
use crate::diagnostic::count;
use crate::transcript::Spend;

/// What the spend is listed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum SpendGrouping {
    Project,
    Agent,
}

/// Totals over a set of rounds.
#[derive(Default)]
pub(super) struct SpendTotals {
    sessions: u64,
    pub(super) rounds: u64,
    tokens: Option<u64>,
    cost: Option<f64>,
    unpriced: u64,
}

impl SpendTotals {
    /// A session of so many rounds; a sub-agent has none.
    pub(super) fn from_session(spend: &Spend, rounds: u64) -> Self {
        let sessions = u64::from(rounds > 0);
        let tokens = spend.total.map(|tokens| tokens.0);
        let cost = spend.cost.map(|cost| cost.0);
        Self { sessions, rounds, tokens, cost, unpriced: if cost.is_none() { sessions } else { 0 } }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.sessions += other.sessions;
        self.rounds += other.rounds;
        self.unpriced += other.unpriced;
        if let Some(tokens) = other.tokens {
            self.tokens = Some(self.tokens.unwrap_or(0) + tokens);
        }
        if let Some(cost) = other.cost {
            self.cost = Some(self.cost.unwrap_or(0.0) + cost);
        }
    }
}

/// The agent or the project that a session file belongs to: agents that keep a folder a project name it after that.
pub(super) fn group_of(file: Option<&str>, home: &Path, by: SpendGrouping) -> String {
    let file = file.map(Path::new);
    let place = PLACES.iter().find_map(|place| {
        let folder = place.path(home, super::variable)?;
        Some((place.agent, file?.strip_prefix(&folder).ok()?))
    });
    match (by, place) {
        (_, None) => "not known".to_owned(),
        (SpendGrouping::Agent, Some((agent, _))) => agent.to_owned(),
        (SpendGrouping::Project, Some((agent, below))) if PROJECTS.contains(&agent) => {
            let project = below.iter().next().unwrap_or_default();
            project.to_string_lossy().into_owned()
        }
        (SpendGrouping::Project, Some((agent, _))) => format!("{agent}, without a project"),
    }
}

/// Agents whose sessions lie in a folder for each project.
const PROJECTS: [&str; 4] = ["Claude Code", "Gemini CLI", "Qwen Code", "pi"];

/// Sessions, rounds and spend by group, the most tokens first.
pub(super) fn by_group(groups: &BTreeMap<String, SpendTotals>, by: SpendGrouping) -> DataTable {
    const SHOWN: usize = 12;
    let name = match by {
        SpendGrouping::Project => "project",
        SpendGrouping::Agent => "agent",
    };
    let mut lines: Vec<(String, &SpendTotals)> = groups.iter().map(|(name, sum)| (name.clone(), sum)).collect();
    lines.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.tokens));
    let mut others = SpendTotals::default();
    if lines.len() > SHOWN {
        let more = lines.split_off(SHOWN);
        for (_, sum) in &more {
            others.add(sum);
        }
        lines.push((format!("{} more", more.len()), &others));
    }
    let columns: TableColumns<'_, (String, &SpendTotals)> = &[
        (name, &|(name, _)| TableCell::Text(name.clone())),
        ("sessions", &|(_, sum)| TableCell::Count(sum.sessions)),
        ("rounds", &|(_, sum)| TableCell::Count(sum.rounds)),
        ("million tokens", &|(_, sum)| {
            TableCell::some_text(sum.tokens.map(|tokens| format!("{:.1}", tokens as f64 / 1e6)))
        }),
        ("dollars", &|(_, sum)| TableCell::some_text(sum.cost.map(|cost| format!("{cost:.2}")))),
    ];
    DataTable::by_column(&lines, columns)
}

/// Formats sessions, rounds, tokens and dollars as a sentence.
pub(super) fn in_words(sum: &SpendTotals, args: &Args) -> String {
    let tokens = match sum.tokens {
        Some(tokens) => format!("{:.1} million tokens", tokens as f64 / 1e6),
        None => "no tokens recorded".to_owned(),
    };
    let by = match &args.price {
        Some(path) => format!("prices of {}", path.display()),
        None => format!("list prices of {PRICED_ON}"),
    };
    let cost = match sum.cost {
        Some(cost) if sum.unpriced > 0 => {
            format!("${cost:.2} by {by}; not priced: {}", count(sum.unpriced, "session"))
        }
        Some(cost) => format!("${cost:.2} by {by}"),
        None => "the price of their models is not known".to_owned(),
    };
    format!(
        "The last {}: {}, {}, {tokens}, {cost}. Nothing leaves this machine.",
        count(args.days, "day"),
        count(sum.sessions, "session"),
        count(sum.rounds, "round")
    )
}
