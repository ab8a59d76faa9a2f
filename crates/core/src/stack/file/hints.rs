//! Suggestions for likely mistakes: keys and words of other tools, limits written as text, keys at the wrong level.

use toml::de::DeValue;

use crate::rule::Comparator;
use crate::signal;

/// The level of the file at which a key was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level<'s> {
    /// The file itself.
    File,
    /// A stack with rules.
    Stack,
    /// A stack that names a system or preset.
    Use(&'s str),
    /// A clause, with the signal it names, if any.
    Clause(Option<&'s str>),
    /// A condition inside another, with the signal it names, if any.
    Part(Option<&'s str>),
    /// The options of one signal on their own.
    Options(&'s str),
    /// A stack that names a program.
    Guard,
    /// A cap.
    Cap,
    /// Anything else.
    Other,
}

/// Comparators as written in other tools: the sign first, and of two signs that begin alike, the longer one.
const COMPARATORS: [(Comparator, &str); 5] = [
    // In other tools a limit is the most that is allowed; here it is the value at which the rule fires.
    (Comparator::AtLeast, ">= gte ge max limit threshold value"),
    (Comparator::MoreThan, "> gt above over"),
    (Comparator::Equals, "== = eq is"),
    (Comparator::AtMost, "<= lte le"),
    (Comparator::LessThan, "< lt below under"),
];

/// Actions as named in other tools.
const ACTIONS: [(&str, &str); 6] = [
    ("stop", "abort kill halt end exit fail break terminate cancel"),
    ("inject", "nudge instruct message prompt"),
    ("warn", "log alert"),
    ("deny", "block refuse reject"),
    ("ask", "escalate pause"),
    ("force_final", "finish answer summarise summarize"),
];

/// Signals as named in other tools.
const SIGNALS: [(&str, &str); 8] = [
    ("tokens.total", "tokens total_tokens token_budget"),
    ("elapsed", "time timeout duration seconds wall_clock"),
    ("steps", "turns iterations max_turns"),
    ("cost", "usd price budget"),
    ("errors.streak", "errors failures"),
    ("call_result.streak", "loop loops repeats repetition"),
    ("tool_calls", "tools calls"),
    ("text.match", "regex"),
];

/// What a word stands for in a list of meanings, each with its words.
fn looked_up<T: Copy>(list: &[(T, &str)], word: &str) -> Option<T> {
    let word = word.to_lowercase();
    list.iter().find(|(_, words)| words.split(' ').any(|known| known == word)).map(|(meant, _)| *meant)
}

/// The action meant by another tool's word.
pub(super) fn action(word: &str) -> Option<&'static str> {
    looked_up(&ACTIONS, word)
}

/// The signal meant by another tool's word.
pub(super) fn signal(word: &str) -> Option<&'static str> {
    looked_up(&SIGNALS, word)
}

/// The comparator meant by another tool's key.
pub(super) fn comparator(key: &str) -> Option<Comparator> {
    looked_up(&COMPARATORS, key)
}

/// The comparator whose sign begins a text where TOML expects a key.
pub(super) fn sign_at(text: &str) -> Option<Comparator> {
    if !text.starts_with(['<', '>']) {
        return None;
    }
    let begins = |(_, words): &&(Comparator, &str)| words.split(' ').next().is_some_and(|sign| text.starts_with(sign));
    COMPARATORS.iter().find(begins).map(|(comparator, _)| *comparator)
}

/// The error for an unknown key and what to write instead, if it is more than a near miss.
pub(super) fn unknown_key(level: Level<'_>, key: &str, value: &DeValue<'_>) -> Option<(String, String)> {
    let plain = format!("unknown key `{key}`");
    match level {
        Level::File if key == "stack" => None,
        Level::File if matches!(key, "name" | "any" | "all" | "cap" | "use") => {
            Some((format!("`{key}` stands outside of a stack"), "begin the stack with a line `[[stack]]`".to_owned()))
        }
        Level::Stack => stack_key(key, value).map(|help| (plain, help)),
        Level::Use(system) if matches!(key, "any" | "all" | "cap") => Some((
            format!("`{key}` beside `use`: `{system}` has its own rules"),
            "write a second `[[stack]]` for rules of your own".to_owned(),
        )),
        Level::Use(_) => {
            let meant = match key {
                "settings" | "params" | "parameters" | "options" | "with" | "args" => "set",
                "variant" | "version" => "profile",
                "path" | "file" | "config_file" => "config",
                _ => return None,
            };
            Some((plain, format!("did you mean `{meant}`?")))
        }
        Level::Guard => match key {
            "any" | "all" | "cap" | "use" => Some((
                format!("`{key}` beside `command`: a guard has its own rules"),
                "write a second `[[stack]]` for it".to_owned(),
            )),
            "timeout" | "limit" | "seconds" => Some((plain, "did you mean `time_limit`, in seconds?".to_owned())),
            _ => None,
        },
        Level::Clause(signal) | Level::Part(signal) => rule_key(level, signal, key, value),
        Level::Options(_) if is_of_stack_file(key) => {
            let help = "give options of the signal only".to_owned();
            Some((format!("`{key}` beside one signal held against one limit"), help))
        }
        Level::Options(signal) => rule_key(level, Some(signal), key, value),
        Level::Cap => {
            let id = signal::find(key).map(|info| info.id).or_else(|| self::signal(key)).filter(|id| *id != "steps");
            let help = |id| format!("write a clause instead: `{{ signal = \"{id}\", at_least = … }}`");
            id.map(|id| (format!("`{key}` in a `cap`, which counts steps only"), help(id)))
        }
        Level::File | Level::Other => None,
    }
}

/// True for keys of a clause or condition that are not options of a signal.
fn is_of_stack_file(key: &str) -> bool {
    let of_clause = ["name", "at", "then", "strikes", "cooldown", "signal", "all", "any", "not", "latched"];
    of_clause.contains(&key) || Comparator::ALL.iter().any(|known| known.name() == key)
}

fn stack_key(key: &str, value: &DeValue<'_>) -> Option<String> {
    let rule = |id: &str| format!("a rule stands in a list: `any = [{{ signal = \"{id}\", at_least = … }}]`");
    Some(match key {
        "signal" => rule(value.as_str().unwrap_or("steps")),
        "rules" | "rule" | "clauses" | "clause" | "or" | "stop" | "stop_when" => "did you mean `any`?".to_owned(),
        "and" => "did you mean `all`?".to_owned(),
        "max_steps" | "max_turns" | "max_iterations" => "write `cap = { steps = … }`".to_owned(),
        "system" | "preset" => "did you mean `use`?".to_owned(),
        "set" | "profile" | "config" => format!("`{key}` belongs to a system or preset: add `use = \"…\"`"),
        "then" | "at" | "strikes" | "cooldown" => {
            format!("`{key}` belongs to a clause: put it inside `any = [{{ … }}]`")
        }
        _ if comparator(key).is_some() || Comparator::ALL.iter().any(|known| known.name() == key) => rule("…"),
        _ => rule(signal::find(key)?.id),
    })
}

fn rule_key(level: Level<'_>, named: Option<&str>, key: &str, value: &DeValue<'_>) -> Option<(String, String)> {
    let plain = format!("unknown key `{key}`");
    if let Some(comparator) = comparator(key) {
        let unit = named.and_then(signal::find).map_or("", |info| info.unit);
        let limit = number_in(value, unit).unwrap_or_else(|| "…".to_owned());
        return Some((plain, format!("write `{} = {limit}`", comparator.name())));
    }
    // `tokens.total = 5` is parsed as a table `tokens` with a key `total`.
    let (id, written) = match value.as_table().and_then(|table| table.iter().next()) {
        Some((inner, written)) => (Some(format!("{key}.{}", inner.get_ref())), written.get_ref()),
        None => (None, value),
    };
    if let Some(info) = id.as_deref().and_then(signal::find).or_else(|| signal::find(key)) {
        let limit = number_in(written, info.unit).unwrap_or_else(|| "…".to_owned());
        let unit = if info.unit == "s" { ", in seconds" } else { "" };
        let help = format!("write `signal = \"{}\", at_least = {limit}`{unit}", info.id);
        return Some((format!("`{}` is a signal, not a key", info.id), help));
    }
    if matches!(level, Level::Part(_)) && matches!(key, "then" | "at" | "strikes" | "cooldown" | "name") {
        let what = format!("`{key}` inside a condition");
        return Some((what, "it is of the clause: put it beside the outer `all`, `any` or `not`".to_owned()));
    }
    if key == "latched" {
        return Some(("`latched` without `all`".to_owned(), "only `all = […]` can remember its parts".to_owned()));
    }
    let info = signal::find(named?)?;
    let is_option = signal::REGISTRY.iter().any(|other| other.options.contains(&key));
    if !is_option {
        return None;
    }
    let help = match info.options {
        [] => "it takes no options".to_owned(),
        options => format!("it takes: {}", options.iter().map(|o| format!("`{o}`")).collect::<Vec<_>>().join(", ")),
    };
    Some((format!("`{}` takes no `{key}`", info.id), help))
}

/// How to rewrite a value of the wrong type, if that can be inferred from it.
pub(super) fn rewritten(key: &str, value: &DeValue<'_>, wanted: &str) -> Option<String> {
    match value {
        DeValue::String(text) if wanted.starts_with("a list") => Some(format!("write `{key} = [\"{text}\"]`")),
        DeValue::String(text) if wanted.contains("number") => {
            plain_number(text).map(|number| format!("write it without quotes: `{key} = {number}`"))
        }
        DeValue::String(text) if wanted == "true or false" && matches!(text.as_ref(), "true" | "false") => {
            Some(format!("write it without quotes: `{key} = {text}`"))
        }
        DeValue::Integer(number) if wanted == "a string" => {
            Some(format!("write it in quotes: `{key} = \"{}\"`", number.as_str()))
        }
        DeValue::Table(_) if wanted == "a list" => Some(format!("write `{key} = [{{ … }}]`")),
        _ => None,
    }
}

/// A limit in `unit`, written out from a number or a text such as `5m` or `200k`.
fn number_in(value: &DeValue<'_>, unit: &str) -> Option<String> {
    match value {
        DeValue::Integer(number) => Some(number.as_str().to_owned()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::String(text) if unit == "s" => duration(text).or_else(|| plain_number(text)),
        DeValue::String(text) => plain_number(text),
        _ => None,
    }
}

/// A text that is a number, possibly with thousands separators or a suffix `k` or `M`.
pub(super) fn plain_number(text: &str) -> Option<String> {
    let text = text.trim().replace([',', '_', ' '], "");
    let (digits, factor) = if let Some(digits) = text.strip_suffix(['k', 'K']) {
        (digits, 1e3)
    } else if let Some(digits) = text.strip_suffix(['m', 'M']) {
        (digits, 1e6)
    } else {
        (text.as_str(), 1.0)
    };
    let number: f64 = digits.parse().ok()?;
    if number.is_finite() { Some(format!("{}", number * factor)) } else { None }
}

/// A text that is a duration, converted to seconds: `5m`, `300s`, `1.5h`, `500 ms`.
pub(super) fn duration(text: &str) -> Option<String> {
    let text = text.trim().to_lowercase();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (digits, unit) = text.split_at(split);
    let factor = match unit.trim() {
        "ms" | "msec" | "milliseconds" => 1e-3,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    };
    digits.parse::<f64>().ok().map(|number| format!("{}", number * factor))
}
