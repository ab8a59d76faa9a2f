//! Reads the clauses of a stack file: their conditions, options and actions.

use super::super::{Clause, Scope};
use super::fields::{Fields, Read, Reported, all};
use super::hints::{self, Level};
use super::limit;
use crate::decision::{Action, RuleName};
use crate::diagnostic::{did_you_mean, nearest};
use crate::rule::{Comparator, Condition, Rule};
use crate::signal::{self, Options, SignalInfo, TextOf, TextPart};
use crate::transcript::{Identity, Moment};

/// The actions a clause may name.
const THEN: [Action; 6] = [Action::Stop, Action::Warn, Action::Inject, Action::Deny, Action::Ask, Action::ForceFinal];
/// How to write a rule, for error messages.
pub(super) const EXAMPLE: &str = "{ signal = \"steps\", at_least = 50 }";

/// Reads one clause.
pub(super) fn read(fields: &Fields<'_>, scope: Scope) -> Read<Clause> {
    let name = fields.string("name");
    let at = choice(fields, "at", &Moment::ALL.map(|moment| (moment.name(), moment)));
    let then = choice(fields, "then", &THEN.map(|action| (action.name(), action)));
    let own_scope = self::scope(fields);
    let strikes = fields.count("strikes");
    let cooldown = fields.count("cooldown");
    let condition = condition(fields);
    let finished = fields.finish(Level::Clause(signal_named(fields)));
    let (name, condition, strikes) = (name?, condition?, strikes?.unwrap_or(1));
    finished?;
    let scope = own_scope?.unwrap_or(scope);
    let by_round = if scope == Scope::Round { " by round" } else { "" };
    let name = name.unwrap_or_else(|| match strikes {
        1 => format!("{condition}{by_round}"),
        n => format!("{condition}{by_round} ({n} strikes)"),
    });
    Ok(Clause {
        name: RuleName::new(name),
        at: at?.unwrap_or_else(|| condition.consulted_at()),
        condition,
        strikes,
        cooldown: cooldown?.unwrap_or(0),
        then: then?.unwrap_or(Action::Stop),
        scope,
    })
}

/// Reads the `scope` of a clause, a stack or the whole file.
pub(super) fn scope(fields: &Fields<'_>) -> Read<Option<Scope>> {
    choice(fields, "scope", &Scope::ALL.map(|scope| (scope.name(), scope)))
}

/// The signal a table names, whether it exists or not.
fn signal_named<'t>(fields: &Fields<'t>) -> Option<&'t str> {
    fields.value("signal")?.0.as_str()
}

/// Reads a condition that is not a clause; any key left over is an error.
pub(super) fn read_condition(fields: &Fields<'_>) -> Read<Condition> {
    let condition = condition(fields);
    let finished = fields.finish(Level::Part(signal_named(fields)));
    let condition = condition?;
    finished.map(|()| condition)
}

/// Reads a table that is a condition.
pub(super) fn read_table_of_condition(fields: &Fields<'_>, key: &'static str, example: &str) -> Read<Condition> {
    read_condition(&fields.table(key, example)?)
}

/// Reads a condition; the caller reports unknown keys.
fn condition(fields: &Fields<'_>) -> Read<Condition> {
    let kinds: Vec<&str> =
        ["signal", "all", "any", "some", "not", "lately"].into_iter().filter(|kind| fields.has(kind)).collect();
    match kinds[..] {
        [kind] => read_kind(fields, kind),
        [] if fields.unknown().is_empty() => {
            let help = "name a `signal`, or combine with `all`, `any`, `some`, `not` or `lately`";
            Err(fields.error_here("a clause without a condition", help))
        }
        [first, second, ..] => {
            // Reads each of them, so that their own errors are reported too.
            for kind in &kinds {
                let _ = read_kind(fields, kind);
            }
            let what = format!("a clause with both `{first}` and `{second}`");
            Err(fields.error_at_key(second, what, "one condition a clause: nest the other inside it"))
        }
        // A misspelled key here is reported as unknown.
        [] => Err(Reported),
    }
}

/// Reads the condition under the key `kind`.
fn read_kind(fields: &Fields<'_>, kind: &str) -> Read<Condition> {
    match kind {
        "signal" => Ok(Condition::Rule(Box::new(read_rule(fields)?))),
        "all" => read_all(fields),
        "any" => Ok(Condition::Any(read_parts(fields, "any")?)),
        "some" => read_some(fields),
        "lately" => read_lately(fields),
        _ => Ok(Condition::Not(Box::new(read_table_of_condition(fields, "not", EXAMPLE)?))),
    }
}

/// Reads `all = […]`, with or without `latched`.
pub(super) fn read_all(fields: &Fields<'_>) -> Read<Condition> {
    let latched = fields.boolean("latched");
    let parts = read_parts(fields, "all");
    Ok(Condition::All { latched: latched?.unwrap_or(false), parts: parts? })
}

/// Reads `some = […], least = k`.
fn read_some(fields: &Fields<'_>) -> Read<Condition> {
    let least = fields.count("least");
    let parts = read_parts(fields, "some");
    let (least, parts) = (least?, parts?);
    let least = least.and_then(|least| usize::try_from(least).ok());
    if let Some(least) = least.filter(|least| (1..=parts.len()).contains(least)) {
        return Ok(Condition::Some { least, parts });
    }
    let (key, what) = match least {
        None => ("some", "`some` without `least`".to_owned()),
        Some(least) => ("least", format!("`least = {least}` of {} conditions", parts.len())),
    };
    let help = format!("say how many must hold at once: `least = 1` to `least = {}`", parts.len());
    Err(fields.error_at_key(key, what, help))
}

/// Reads `lately = { … }, within = w`.
fn read_lately(fields: &Fields<'_>) -> Read<Condition> {
    let within = fields.count("within");
    let part = read_table_of_condition(fields, "lately", EXAMPLE);
    let (within, part) = (within?, Box::new(part?));
    if let Some(within) = within.filter(|within| *within > 0) {
        return Ok(Condition::Lately { within, part });
    }
    let (key, what) = match within {
        None => ("lately", "`lately` without `within`"),
        Some(_) => ("within", "`within = 0` looks at no step"),
    };
    Err(fields.error_at_key(key, what.to_owned(), "say for how many steps it counts: `within = 5`"))
}

fn read_parts(fields: &Fields<'_>, key: &'static str) -> Read<Vec<Condition>> {
    let list = fields.list(key)?.unwrap_or_default();
    if list.is_empty() {
        let what = format!("`{key}` without conditions");
        return Err(fields.error_at_key(key, what, format!("list at least one: `{key} = [{EXAMPLE}]`")));
    }
    all(list.into_iter().map(|placed| read_condition(&fields.nested(placed, "a condition", EXAMPLE)?)))
}

fn read_rule(fields: &Fields<'_>) -> Read<Rule> {
    let id = fields.string("signal")?.unwrap_or_default();
    let Some(info) = fields.signal(&id) else {
        let (what, help) = unknown_signal(&id);
        let told = fields.error_at_value("signal", what, help);
        // Which options the unknown signal takes cannot be known: check only the limit, and accept the options of every
        // signal.
        for comparator in Comparator::ALL {
            let _ = limit::read(fields, comparator, None);
        }
        for option in signal::REGISTRY.iter().flat_map(|info| info.options) {
            fields.has(option);
        }
        return Err(told);
    };
    let mut limits: Vec<(Comparator, Read<f64>)> = Vec::new();
    for comparator in Comparator::ALL {
        if let Some(limit) = limit::read(fields, comparator, Some(info)).transpose() {
            limits.push((comparator, limit));
        }
    }
    let (options, options_label) = read_options(fields, info)?;
    match &limits[..] {
        [(comparator, limit)] => {
            fields.put_limit(comparator.name());
            Ok(Rule { signal: info, options, comparator: *comparator, limit: (*limit)?, options_label })
        }
        // A 0/1 signal needs no limit: it fires when it reads 1.
        [] if info.unit == "0/1" => {
            fields.put_limit("signal");
            Ok(Rule { signal: info, options, comparator: Comparator::AtLeast, limit: 1.0, options_label })
        }
        [] if fields.unknown().iter().any(|(key, ..)| is_like_a_limit(key)) => Err(Reported),
        [] => {
            let unit = if info.unit == "s" { "seconds" } else { info.unit };
            let help = format!("add a limit in {unit}: `at_least = …`");
            Err(fields.error_at_value("signal", format!("`{id}` without a limit"), help))
        }
        [_, (second, _), ..] => {
            let help = "one limit a rule: for a range, put two rules into `all = […]`";
            Err(fields.error_at_key(second.name(), format!("`{id}` with two limits"), help))
        }
    }
}

/// The error for an unknown signal, and a suggestion of what was probably meant.
fn unknown_signal(id: &str) -> (String, String) {
    let known = signal::REGISTRY.iter().map(|signal| signal.id);
    let help = did_you_mean(hints::signal(id).or_else(|| nearest(id, known)), "`whenstop rules` lists the signals");
    (format!("unknown signal `{id}`"), help)
}

/// Builds a rule from its parts; see [`parse_rule`](super::parse_rule). `options` holds only the signal's options.
pub(super) fn rule_of(id: &str, comparator: Comparator, limit: f64, options: &Fields<'_>) -> Read<Rule> {
    let Some(info) = options.signal(id) else {
        let (what, help) = unknown_signal(id);
        return Err(options.error_here(what, help));
    };
    let read = read_options(options, info);
    options.finish(Level::Options(id))?;
    let (options, options_label) = read?;
    Ok(Rule { signal: info, options, comparator, limit, options_label })
}

/// True if the unknown key is probably a misspelled limit, so that the rule is not also reported as lacking one.
fn is_like_a_limit(key: &str) -> bool {
    hints::comparator(key).is_some() || nearest(key, Comparator::ALL.map(Comparator::name)).is_some()
}

/// Reads the options the signal accepts; the label lists those given.
fn read_options(fields: &Fields<'_>, info: &SignalInfo) -> Read<(Options, String)> {
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
            "only_tools" => {
                if let Some(tools) = fields.strings("only_tools")? {
                    label.push(format!("only {}", tools.join(" ")));
                    options.only_tools = tools;
                }
            }
            "any_order" => {
                options.any_order = fields.boolean("any_order")?.unwrap_or(false);
                if options.any_order {
                    label.push("any order".to_owned());
                }
            }
            "seconds" => {
                options.seconds = fields.count("seconds")?.map(u64::from);
                label.extend(options.seconds.map(|seconds| format!("{seconds} s")));
            }
            "window" => {
                if let Some(window) = fields.count("window")? {
                    label.push(format!("window {window}"));
                    options.window = usize::try_from(window).ok();
                }
            }
            "between_rounds" => {
                options.between_rounds = fields.boolean("between_rounds")?.unwrap_or(false);
                if options.between_rounds {
                    label.push("between rounds".to_owned());
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
                if let Some(of) = choice(fields, "of", &TextOf::ALL.map(|of| (of.name(), of)))? {
                    options.of = of;
                    label.push(format!("of {of}"));
                }
            }
            "part" => {
                if let Some(part) = choice(fields, "part", &TextPart::ALL.map(|part| (part.name(), part)))? {
                    options.part = part;
                    label.push(part.to_string());
                }
            }
            // `phrases` is read together with `regex`.
            _ => {}
        }
    }
    Ok((options, label.join(", ")))
}

fn required(fields: &Fields<'_>, info: &SignalInfo, key: &'static str) -> Read<String> {
    let value = fields.string(key)?;
    value.ok_or_else(|| {
        fields.error_at_value("signal", format!("`{}` without `{key}`", info.id), format!("add `{key} = \"…\"`"))
    })
}

fn read_patterns(fields: &Fields<'_>, info: &SignalInfo, options: &mut Options, label: &mut Vec<String>) -> Read<()> {
    if let Some(pattern) = fields.string("regex")? {
        let regex = regex::Regex::new(&pattern).map_err(|error| {
            let error = error.to_string();
            let why = error.lines().last().unwrap_or_default().trim().trim_start_matches("error: ");
            let what = format!("`{pattern}` is not a regular expression: {why}");
            let help = "escape a bracket, as in '\\('; no look-around, no back-references";
            fields.error_at_value("regex", what, help)
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
        let help = "add `regex = \"…\"` or `phrases = [\"…\"]`";
        return Err(fields.error_at_value("signal", format!("`{}` without a pattern", info.id), help));
    }
    Ok(())
}

fn read_identity(fields: &Fields<'_>) -> Read<Option<Identity>> {
    if fields.is_table("identity") {
        let table = fields.table("identity", "{ fields = [\"path\"] }")?;
        let named = table.strings("fields");
        table.finish(Level::Other)?;
        let named = named?.unwrap_or_default();
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

/// Reads a string that must be one of a few words.
fn choice<T: Clone, const N: usize>(
    fields: &Fields<'_>,
    key: &'static str,
    choices: &[(&str, T); N],
) -> Read<Option<T>> {
    let Some(word) = fields.string(key)? else { return Ok(None) };
    if let Some((_, value)) = choices.iter().find(|(name, _)| *name == word) {
        return Ok(Some(value.clone()));
    }
    let other = hints::action(&word).filter(|_| key == "then");
    let near = other.or_else(|| nearest(&word, choices.iter().map(|(name, _)| *name)));
    let known: Vec<String> = choices.iter().map(|(name, _)| format!("`{name}`")).collect();
    let help = did_you_mean(near, &format!("known: {}", known.join(", ")));
    Err(fields.error_at_value(key, format!("`{key}` cannot be `{word}`"), help))
}
