//! Writes a stack in the syntax of a stack file.

use std::fmt::Write as _;

use super::readback::quoted;
use crate::decision::{Action, Strategy};
use crate::rule::{Condition, Rule};
use crate::signal::{Options, TextOf, TextPart};
use crate::stack::{Clause, OnHit, Scope, Stack};
use crate::transcript::Identity;

/// `stack` as a `[[stack]]` of a stack file. `None` if its cap asks a bailout or table, which only the original file
/// defines.
pub fn stack_file(stack: &Stack) -> Option<String> {
    let mut text = format!("[[stack]]\nname = {}\n", quoted(&stack.name));
    let (notices, clauses): (Vec<&Clause>, Vec<&Clause>) = stack.clauses.iter().partition(|clause| clause.is_notice());
    if !clauses.is_empty() {
        text.push_str("any = [\n");
        for clause in clauses {
            let _ = writeln!(text, "  {},", self::clause(clause));
        }
        text.push_str("]\n");
    }
    if let (Some(steps), Some(Condition::Rule(told))) =
        (stack.step_limit(), notices.first().map(|notice| &notice.condition))
    {
        let _ = writeln!(text, "told = true\nnotice = {}", f64::from(steps) - told.limit);
    }
    if let Some(cap) = &stack.cap {
        if !matches!(cap.on_hit, OnHit::Stop) {
            return None;
        }
        let _ = writeln!(text, "cap = {{ steps = {} }}", cap.steps);
        if cap.scope == Scope::Round {
            text.push_str("scope = \"round\"\n");
        }
    }
    Some(text)
}

fn clause(clause: &Clause) -> String {
    let mut fields = condition(&clause.condition);
    if clause.at != clause.condition.consulted_at() {
        fields.push(format!("at = \"{}\"", clause.at));
    }
    if clause.then != Action::Stop {
        fields.push(format!("then = \"{}\"", clause.then));
    }
    if clause.strikes > 1 {
        fields.push(format!("strikes = {}", clause.strikes));
    }
    if clause.cooldown > 0 {
        fields.push(format!("cooldown = {}", clause.cooldown));
    }
    fields.push(format!("scope = \"{}\"", if clause.scope == Scope::Round { "round" } else { "run" }));
    fields.push(format!("name = {}", quoted(clause.name.as_str())));
    format!("{{ {} }}", fields.join(", "))
}

fn condition(condition: &Condition) -> Vec<String> {
    let table = |part: &Condition| format!("{{ {} }}", self::condition(part).join(", "));
    let list = |parts: &[Condition]| parts.iter().map(table).collect::<Vec<_>>().join(", ");
    match condition {
        Condition::Rule(rule) => self::rule(rule),
        Condition::Any(parts) => vec![format!("any = [{}]", list(parts))],
        Condition::All { parts, latched } => {
            let mut fields = vec![format!("all = [{}]", list(parts))];
            if *latched {
                fields.push("latched = true".to_owned());
            }
            fields
        }
        Condition::Some { least, parts } => vec![format!("some = [{}]", list(parts)), format!("least = {least}")],
        Condition::Not(part) => vec![format!("not = {}", table(part))],
        Condition::Lately { within, part } => vec![format!("lately = {}", table(part)), format!("within = {within}")],
    }
}

fn rule(rule: &Rule) -> Vec<String> {
    let Options {
        identity,
        exempt_tools,
        only_tools,
        any_order,
        seconds,
        window,
        tool,
        metric,
        regex,
        phrases,
        of,
        part,
        between_rounds,
        // The signal's name says whose number it is.
        number: _,
    } = &rule.options;
    let texts = |texts: &[String]| format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(","));
    let mut fields = vec![
        format!("signal = \"{}\"", rule.signal.id),
        format!("{} = {}", rule.comparator.name(), number(rule.limit)),
    ];
    let mut add = |name: &str, value: String| fields.push(format!("{name} = {value}"));
    match identity {
        Identity::Canonical => {}
        Identity::Name => add("identity", "\"name\"".to_owned()),
        Identity::Raw => add("identity", "\"raw\"".to_owned()),
        Identity::Fields(fields) => add("identity", format!("{{ fields = {} }}", texts(fields))),
    }
    if !exempt_tools.is_empty() {
        add("exempt_tools", texts(exempt_tools));
    }
    if !only_tools.is_empty() {
        add("only_tools", texts(only_tools));
    }
    if *any_order {
        add("any_order", "true".to_owned());
    }
    if let Some(seconds) = seconds {
        add("seconds", seconds.to_string());
    }
    if let Some(window) = window {
        add("window", window.to_string());
    }
    if let Some(tool) = tool {
        add("tool", quoted(tool));
    }
    if let Some(metric) = metric {
        add("metric", quoted(metric));
    }
    if let Some(regex) = regex {
        add("regex", quoted(regex.as_str()));
    }
    if !phrases.is_empty() {
        add("phrases", texts(phrases));
    }
    if *of == TextOf::Results {
        add("of", "\"results\"".to_owned());
    }
    if *between_rounds {
        add("between_rounds", "true".to_owned());
    }
    if *part == TextPart::Closing {
        add("part", "\"closing\"".to_owned());
    }
    fields
}

/// A limit as a stack file expects it: written as an integer if it is whole.
fn number(limit: f64) -> String {
    if limit.fract() == 0.0 && limit.abs() < 1e15 { format!("{limit:.0}") } else { format!("{limit:?}") }
}
