//! Clauses of a stack file: conditions, their options, and what they do.

use super::super::Clause;
use super::fields::Fields;
use crate::decision::{Action, RuleName};
use crate::diagnostic::{Diagnostic, nearest};
use crate::rule::{Comparator, Condition, Rule};
use crate::signal::{self, Options, SignalInfo, TextOf, TextPart};
use crate::transcript::{Identity, Moment};

/// Actions a clause may name.
const THEN: [Action; 6] = [Action::Stop, Action::Warn, Action::Inject, Action::Deny, Action::Ask, Action::ForceFinal];

/// Reads one clause.
pub(super) fn read(fields: &Fields<'_>) -> Result<Clause, Diagnostic> {
    let name = fields.string("name")?;
    let at = choice(fields, "at", &Moment::ALL.map(|moment| (moment.name(), moment)))?;
    let then = choice(fields, "then", &THEN.map(|action| (action.name(), action)))?;
    let strikes = fields.count("strikes")?.unwrap_or(1);
    let cooldown = fields.count("cooldown")?.unwrap_or(0);
    let condition = read_condition(fields)?;
    fields.finish()?;
    let name = name.unwrap_or_else(|| match strikes {
        1 => condition.to_string(),
        n => format!("{condition} ({n} strikes)"),
    });
    Ok(Clause {
        name: RuleName::new(name),
        condition,
        at: at.unwrap_or(Moment::AfterTools),
        strikes,
        cooldown,
        then: then.unwrap_or(Action::Stop),
    })
}

/// Reads a condition; unknown keys are the caller's to refuse.
pub(super) fn read_condition(fields: &Fields<'_>) -> Result<Condition, Diagnostic> {
    let kinds: Vec<&str> = ["signal", "all", "any", "not"].into_iter().filter(|kind| fields.has(kind)).collect();
    match kinds[..] {
        ["signal"] => Ok(Condition::Rule(Box::new(read_rule(fields)?))),
        ["all"] => {
            let latched = fields.boolean("latched")?.unwrap_or(false);
            Ok(Condition::All { parts: read_parts(fields, "all")?, latched })
        }
        ["any"] => Ok(Condition::Any(read_parts(fields, "any")?)),
        ["not"] => {
            let part = fields.table("not")?;
            let condition = read_condition(&part)?;
            part.finish()?;
            Ok(Condition::Not(Box::new(condition)))
        }
        [] => {
            fields.finish()?;
            Err(fields
                .error_here("a clause without a condition", "name a `signal`, or combine with `all`, `any` or `not`"))
        }
        _ => Err(fields.error_here(
            format!("a clause with both `{}` and `{}`", kinds[0], kinds[1]),
            "one condition a clause: nest the other inside it",
        )),
    }
}

fn read_parts(fields: &Fields<'_>, key: &'static str) -> Result<Vec<Condition>, Diagnostic> {
    let mut parts = Vec::new();
    for (value, offset) in fields.list(key)?.unwrap_or_default() {
        let part = fields.nested(value, offset, "a condition")?;
        parts.push(read_condition(&part)?);
        part.finish()?;
    }
    if parts.is_empty() {
        return Err(fields.error_here(format!("`{key}` without conditions"), "list at least one condition"));
    }
    Ok(parts)
}

fn read_rule(fields: &Fields<'_>) -> Result<Rule, Diagnostic> {
    let id = fields.string("signal")?.unwrap_or_default();
    let Some(info) = signal::find(&id) else {
        let known = signal::REGISTRY.iter().map(|signal| signal.id);
        let help = match nearest(&id, known) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "`whenstop rules` lists the signals".to_owned(),
        };
        let offset = fields.value("signal").map_or(0, |(_, offset)| offset);
        return Err(fields.error_at(offset, format!("unknown signal `{id}`"), help));
    };
    let mut limits = Vec::new();
    for comparator in Comparator::ALL {
        if let Some(limit) = fields.number(comparator.key())? {
            limits.push((comparator, limit));
        }
    }
    let (options, options_label) = read_options(fields, info)?;
    match limits[..] {
        [(comparator, limit)] => Ok(Rule { signal: info, options, comparator, limit, options_label }),
        // A 0/1 signal needs no limit: it fires when it is 1.
        [] if info.unit == "0/1" => {
            Ok(Rule { signal: info, options, comparator: Comparator::AtLeast, limit: 1.0, options_label })
        }
        [] => {
            fields.finish()?;
            Err(fields
                .error_here(format!("`{id}` without a limit"), format!("add a limit in {}: `at_least = …`", info.unit)))
        }
        _ => Err(fields.error_here(format!("`{id}` with two limits"), "one limit a rule: use `all` for a range")),
    }
}

/// Reads the options the signal takes; the label lists those that were given.
fn read_options(fields: &Fields<'_>, info: &SignalInfo) -> Result<(Options, String), Diagnostic> {
    let mut options = Options::default();
    let mut label = Vec::new();
    for option in info.options {
        match *option {
            "identity" => {
                if let Some(identity) = read_identity(fields)? {
                    label.push(identity_label(&identity));
                    options.identity = identity;
                }
            }
            "exempt_tools" => {
                if let Some(tools) = fields.strings("exempt_tools")? {
                    label.push(format!("exempt {}", tools.join(" ")));
                    options.exempt_tools = tools;
                }
            }
            "window" => {
                if let Some(window) = fields.count("window")? {
                    label.push(format!("window {window}"));
                    options.window = usize::try_from(window).ok();
                }
            }
            "tool" => {
                let tool = required(fields, info, "tool")?;
                label.push(tool.clone());
                options.tool = Some(tool);
            }
            "metric" => {
                let metric = required(fields, info, "metric")?;
                label.push(metric.clone());
                options.metric = Some(metric);
            }
            "regex" => read_patterns(fields, info, &mut options, &mut label)?,
            "of" => {
                let choices = [("reply", TextOf::Reply), ("results", TextOf::Results)];
                if let Some(of) = choice(fields, "of", &choices)? {
                    options.of = of;
                    label.push(if of == TextOf::Reply { "of reply" } else { "of results" }.to_owned());
                }
            }
            "part" => {
                let choices = [("whole", TextPart::Whole), ("closing", TextPart::Closing)];
                if let Some(part) = choice(fields, "part", &choices)? {
                    options.part = part;
                    label.push(if part == TextPart::Whole { "whole" } else { "closing" }.to_owned());
                }
            }
            // `phrases` is read with `regex`.
            _ => {}
        }
    }
    Ok((options, label.join(", ")))
}

fn required(fields: &Fields<'_>, info: &SignalInfo, key: &'static str) -> Result<String, Diagnostic> {
    fields
        .string(key)?
        .ok_or_else(|| fields.error_here(format!("`{}` without `{key}`", info.id), format!("add `{key} = \"…\"`")))
}

fn read_patterns(
    fields: &Fields<'_>,
    info: &SignalInfo,
    options: &mut Options,
    label: &mut Vec<String>,
) -> Result<(), Diagnostic> {
    if let Some(pattern) = fields.string("regex")? {
        let regex = regex::Regex::new(&pattern).map_err(|error| {
            let offset = fields.value("regex").map_or(0, |(_, offset)| offset);
            let why = error.to_string().lines().last().unwrap_or_default().trim().to_owned();
            fields.error_at(
                offset,
                format!("`{pattern}` is not a regular expression: {why}"),
                "the syntax is that of the Rust crate `regex`: no look-around, no back-references",
            )
        })?;
        label.push(format!("/{pattern}/"));
        options.regex = Some(regex);
    }
    if let Some(phrases) = fields.strings("phrases")? {
        label.push(match &phrases[..] {
            [one] => format!("\"{one}\""),
            many => format!("{} phrases", many.len()),
        });
        options.phrases = phrases.iter().map(|phrase| phrase.to_lowercase()).collect();
    }
    if options.regex.is_none() && options.phrases.is_empty() {
        return Err(
            fields.error_here(format!("`{}` without a pattern", info.id), "add `regex = \"…\"` or `phrases = [\"…\"]`")
        );
    }
    Ok(())
}

fn read_identity(fields: &Fields<'_>) -> Result<Option<Identity>, Diagnostic> {
    if fields.is_table("identity") {
        let table = fields.table("identity")?;
        let named = table.strings("fields")?.unwrap_or_default();
        table.finish()?;
        return Ok(Some(Identity::Fields(named)));
    }
    choice(fields, "identity", &[("name", Identity::Name), ("raw", Identity::Raw), ("canonical", Identity::Canonical)])
}

fn identity_label(identity: &Identity) -> String {
    match identity {
        Identity::Name => "name".into(),
        Identity::Raw => "raw".into(),
        Identity::Canonical => "canonical".into(),
        Identity::Fields(fields) => format!("fields {}", fields.join(" ")),
    }
}

/// One of a few words.
fn choice<T: Clone, const N: usize>(
    fields: &Fields<'_>,
    key: &'static str,
    choices: &[(&str, T); N],
) -> Result<Option<T>, Diagnostic> {
    let Some(word) = fields.string(key)? else { return Ok(None) };
    if let Some((_, value)) = choices.iter().find(|(name, _)| *name == word) {
        return Ok(Some(value.clone()));
    }
    let offset = fields.value(key).map_or(0, |(_, offset)| offset);
    let known = choices.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let help = match nearest(&word, choices.iter().map(|(name, _)| *name)) {
        Some(meant) => format!("did you mean `{meant}`? known: {known}"),
        None => format!("known: {known}"),
    };
    Err(fields.error_at(offset, format!("`{key}` is `{word}`"), help))
}
