//! A rule is a signal, a comparator and a limit.

mod comparator;
mod condition;

use std::fmt;

use crate::decision::{Need, RuleName, RuleReading};
use crate::signal::{self, Options, Signal, SignalInfo, number};
use crate::transcript::{Identity, PointView, is_public_name};

pub use comparator::Comparator;
#[doc(hidden)]
pub use condition::ConditionState;
pub(crate) use condition::Watching;
pub use condition::{Condition, ConditionValue};

/// Signals that can be read where only sums of a run are known.
const OF_SUMS: [&str; 6] = ["steps", "tokens.total", "tokens.input", "tokens.output", "tokens.uncached", "cost"];

/// A signal compared with a limit.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The signal.
    pub signal: &'static SignalInfo,
    /// Its options.
    pub options: Options,
    /// The comparator.
    pub comparator: Comparator,
    /// The limit, in the signal's unit.
    pub limit: f64,
    /// The options as written, used in the rule's name; empty if there are none.
    pub options_label: String,
}

impl Rule {
    /// A rule without options.
    pub fn new(signal: &'static SignalInfo, comparator: Comparator, limit: f64) -> Self {
        Self { signal, options: Options::default(), comparator, limit, options_label: String::new() }
    }

    /// The condition that so many steps are completed.
    pub(crate) fn steps_at_least(limit: f64) -> Option<Condition> {
        Some(Condition::Rule(Box::new(Self::new(signal::find("steps")?, Comparator::AtLeast, limit))))
    }

    /// The rule's default name: `tokens.total >= 200000`.
    pub fn name(&self) -> RuleName {
        RuleName::new(self.to_string())
    }

    /// Starts the rule's signal for one run.
    pub fn start(&self) -> Box<dyn Signal> {
        (self.signal.start)(&self.options)
    }

    /// Calls `each` with everything the rule needs from a recording. A redacted recording keeps the names of tools, fields and
    /// metrics only if they look like identifiers; a rule that names a tool also needs that no tool's name was redacted.
    pub fn each_need(&self, each: &mut dyn FnMut(Need)) {
        let Options { identity, exempt_tools, only_tools, tool, metric, .. } = &self.options;
        let fields = if let Identity::Fields(fields) = identity { &fields[..] } else { &[] };
        let mut named = fields.iter().chain(exempt_tools).chain(only_tools).chain(tool).chain(metric);
        let names_tool = tool.is_some() || !exempt_tools.is_empty() || !only_tools.is_empty();
        if !OF_SUMS.contains(&self.signal.id) {
            each(Need::Replies);
        }
        if ["call", "result", "tool", "errors"].iter().any(|of| self.signal.id.starts_with(of)) {
            each(Need::Calls);
        }
        if let Some(need) = self.signal.need {
            each(need);
        }
        number::each_need(self.signal, &self.options, each);
        // Calls compared by the names of their tools alone need no arguments.
        let by_name = matches!(identity, Identity::Name);
        for need in self.signal.contents {
            if !(by_name && *need == Need::CallArguments) {
                each(*need);
            }
        }
        if named.any(|name| !is_public_name(name)) {
            each(Need::Texts);
        }
        if matches!(identity, Identity::Raw | Identity::Fields(_)) {
            each(Need::Arguments);
        }
        if names_tool {
            each(Need::ToolNames);
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.signal.id)?;
        if !self.options_label.is_empty() {
            write!(f, "[{}]", self.options_label)?;
        }
        write!(f, " {} {}", self.comparator.sign(), self.limit)
    }
}

/// The state of a rule for one run.
pub(crate) struct WatchedRule {
    id: &'static str,
    comparator: Comparator,
    limit: f64,
    signal: Box<dyn Signal>,
    reading: Option<f64>,
}

impl WatchedRule {
    pub(crate) fn start(rule: &Rule) -> Self {
        let Rule { signal, comparator, limit, .. } = rule;
        Self { id: signal.id, comparator: *comparator, limit: *limit, signal: rule.start(), reading: None }
    }

    pub(crate) fn observe(&mut self, view: &PointView<'_>) {
        self.reading = self.signal.observe(view);
    }

    pub(crate) fn read(&self) -> ConditionValue {
        ConditionValue::compared(self.reading, self.comparator, self.limit)
    }

    /// The reading for display, attributed to the rule or clause called `name`.
    fn told(&self, name: &RuleName) -> RuleReading {
        let passes = self.read().holds == Some(true);
        RuleReading::new(name.clone(), self.id, self.reading).against(self.limit, passes)
    }
}
