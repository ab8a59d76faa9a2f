//! Writes and reads the text of a snapshot.
//!
//! A line is five fields separated by ` | `. Ids and names come from recordings and stack files, so any text must be
//! read back unchanged, and different texts must give different lines: a field for which this would fail is written as
//! a JSON string, in quotes. Ordinary ids are written as they are. Lines that begin with `# ` are about the corpus, a
//! stack, or its numbers.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{BoundedNumber, CorpusPrint, RuleSet, StackNumbers, StackStops, StopLine, StopSnapshot, known_or};
use crate::diagnostic::{self, Diagnostic, Location, is_hostile, one_line};

/// The first line; the number is the version of the format.
const HEADER: &str = "# whenstop stop points v2: stack | run | rule | stop | verdict";

/// The separator of fields.
const SEPARATOR: &str = " | ";

/// Written if there is no rule.
const NO_RULE: &str = "-";

/// The prefix of lines that are not stops.
const ABOUT: &str = "# ";

impl StopSnapshot {
    /// Whether this is the text of a snapshot, intact or damaged.
    pub fn is_one(text: &str) -> bool {
        text.starts_with("# whenstop stop points ")
    }

    /// Writes the snapshot: a section for each stack, sorted by name, with its runs sorted by id.
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEADER}\n");
        if let Some(version) = &self.whenstop {
            about(&mut text, &["whenstop", version]);
        }
        if let Some(corpus) = &self.corpus {
            about(&mut text, &["corpus", &format!("{} runs", corpus.runs), &corpus.formats_told(), &corpus.print]);
        }
        for (name, StackStops { rules, numbers, stops }) in &self.stacks {
            text.push('\n');
            if let Some(RuleSet { source, print }) = rules {
                about(&mut text, &["stack", name, source, print]);
            }
            if let Some(numbers) = numbers {
                let fields = numbers.fields();
                let fields: Vec<&str> =
                    ["numbers", name].into_iter().chain(fields.iter().map(String::as_str)).collect();
                about(&mut text, &fields);
            }
            for (run, StopLine { rule, stop, verdict }) in stops {
                let rule = match rule {
                    Some(rule) => field(rule),
                    None => Cow::Borrowed(NO_RULE),
                };
                let fields = [field(name), field(run), rule, field(stop), field(verdict)];
                let _ = writeln!(text, "{}", fields.join(SEPARATOR));
            }
        }
        text
    }

    /// Reads a snapshot. `path` is used in messages.
    pub fn parse(path: &str, text: &str) -> Result<Self, Diagnostic> {
        let wrong = |line: usize, what: &str| {
            Diagnostic::new(Location::line(path, line), what, "write it anew with `whenstop ci accept`")
        };
        if text.lines().next().unwrap_or_default().trim_end() != HEADER {
            return Err(wrong(1, "not a stop-point snapshot of this version"));
        }
        let mut snapshot = Self::default();
        for (line, number) in text.lines().zip(1..).skip(1).filter(|(line, _)| !line.trim().is_empty()) {
            let line = line.trim_end();
            if [">>>>>>> ", "<<<<<<< ", "=======", "||||||| "].iter().any(|mark| line.starts_with(mark)) {
                let help =
                    "two branches changed the same stack: merge the stack files first, then `whenstop ci accept`";
                return Err(Diagnostic::new(Location::line(path, number), "a merge that is not resolved", help));
            }
            if let Some(about) = line.strip_prefix(ABOUT) {
                snapshot.read_about(about).map_err(|what| wrong(number, what))?;
                continue;
            }
            let Some([stack, run, rule, stop, verdict]) = five(line) else {
                return Err(wrong(number, "a line without its five fields"));
            };
            let rule = if rule == SnapshotField::Bare(NO_RULE) { None } else { Some(rule.into_text()) };
            let stop = StopLine { rule, stop: stop.into_text(), verdict: verdict.into_text() };
            let stops = &mut snapshot.stacks.entry(stack.into_text()).or_default().stops;
            if stops.insert(run.into_text(), stop).is_some() {
                return Err(wrong(number, "a run and stack that stand here twice"));
            }
        }
        match snapshot.incomplete() {
            Some(what) => Err(Diagnostic::new(Location::file(path), what, "write it anew with `whenstop ci accept`")),
            None => Ok(snapshot),
        }
    }

    /// What is missing or superfluous: a snapshot has a stop of each run under each stack.
    fn incomplete(&self) -> Option<String> {
        for (name, stack) in &self.stacks {
            let found = stack.stops.len() as u64;
            let stated =
                [self.corpus.as_ref().map(|corpus| corpus.runs), stack.numbers.as_ref().map(|numbers| numbers.runs)];
            if let Some(runs) = stated.into_iter().flatten().find(|runs| *runs != found) {
                let name = one_line(name);
                return Some(format!("stops of {found} runs under `{name}`, not of the {runs} that were accepted"));
            }
        }
        None
    }

    /// Reads a line about the corpus, a stack, or its numbers.
    fn read_about(&mut self, line: &str) -> Result<(), &'static str> {
        let fields: Vec<String> = fields(line).into_iter().map(SnapshotField::into_text).collect();
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        match fields[..] {
            ["whenstop", version] if self.whenstop.is_none() => self.whenstop = Some(version.to_owned()),
            ["corpus", runs, formats, print] if self.corpus.is_none() => {
                let read = || {
                    let runs = runs.strip_suffix(" runs")?.parse().ok()?;
                    Some(CorpusPrint { runs, formats: read_formats(formats)?, print: print.to_owned() })
                };
                self.corpus = Some(read().ok_or("a line about the corpus that is none of ours")?);
            }
            ["stack", name, source, print] => {
                let rules = &mut self.stacks.entry(name.to_owned()).or_default().rules;
                let new = RuleSet { source: source.to_owned(), print: print.to_owned() };
                if rules.replace(new).is_some() {
                    return Err("a stack that stands here twice");
                }
            }
            ["numbers", name, ref fields @ ..] => {
                let new = StackNumbers::read(fields).ok_or("a line of numbers that is none of ours")?;
                if self.stacks.entry(name.to_owned()).or_default().numbers.replace(new).is_some() {
                    return Err("a stack's numbers that stand here twice");
                }
            }
            _ => return Err("a line that is neither a stop nor about the corpus or a stack"),
        }
        Ok(())
    }
}

fn about(text: &mut String, fields: &[&str]) {
    let fields: Vec<Cow<'_, str>> = fields.iter().map(|text| field(text)).collect();
    let _ = writeln!(text, "{ABOUT}{}", fields.join(SEPARATOR));
}

fn read_formats(text: &str) -> Option<BTreeMap<String, u64>> {
    let formats = text.split(", ").filter(|part| !part.is_empty()).map(|part| {
        let (format, runs) = part.rsplit_once(' ')?;
        Some((format.to_owned(), runs.parse().ok()?))
    });
    formats.collect()
}

impl StackNumbers {
    /// The numbers as written, one field each.
    fn fields(&self) -> [String; 6] {
        let Self { runs, stops, kills, successes, true_stops, failures, unit, saved, cost_per_success, unknown } = self;
        let unknown = known_or("?", *unknown);
        [
            format!("stops {}", stops.to_text()),
            format!("kills {} of {successes}", kills.to_text()),
            format!("true stops {} of {failures}", true_stops.to_text()),
            format!("saved {} of {unit}", saved.to_text()),
            format!("cost per success {}", known_or("?", *cost_per_success)),
            format!("unknown {unknown} of {runs}"),
        ]
    }

    fn read(fields: &[&str]) -> Option<Self> {
        let [stops, kills, true_stops, saved, per_success, unknown] = *<&[&str; 6]>::try_from(fields).ok()?;
        let (kills, successes) = kills.strip_prefix("kills ")?.split_once(" of ")?;
        let (true_stops, failures) = true_stops.strip_prefix("true stops ")?.split_once(" of ")?;
        let (saved, unit) = saved.strip_prefix("saved ")?.split_once(" of ")?;
        let (unknown, runs) = unknown.strip_prefix("unknown ")?.split_once(" of ")?;
        Some(Self {
            runs: runs.parse().ok()?,
            stops: BoundedNumber::read(stops.strip_prefix("stops ")?)?,
            kills: BoundedNumber::read(kills)?,
            successes: successes.parse().ok()?,
            true_stops: BoundedNumber::read(true_stops)?,
            failures: failures.parse().ok()?,
            unit: unit.to_owned(),
            saved: BoundedNumber::read(saved)?,
            cost_per_success: end(per_success.strip_prefix("cost per success ")?)?.low,
            unknown: if unknown == "?" { None } else { Some(unknown.parse().ok()?) },
        })
    }
}

/// A number, or an unlimited end for `?`; `None` if the text is neither.
fn end(text: &str) -> Option<BoundedNumber> {
    if text == "?" {
        return Some(BoundedNumber::default());
    }
    text.parse().ok().filter(|value: &f64| value.is_finite()).map(BoundedNumber::exactly)
}

impl BoundedNumber {
    /// Formats `12`, `12..15`, `?..15`; `?` if nothing is known.
    fn to_text(self) -> String {
        let end = |value: Option<f64>| known_or("?", value);
        if self.low == self.high { end(self.low) } else { format!("{}..{}", end(self.low), end(self.high)) }
    }

    fn read(text: &str) -> Option<Self> {
        let (low, high) = text.split_once("..").unwrap_or((text, text));
        Some(Self { low: end(low)?.low, high: end(high)?.low })
    }
}

/// A field as written: unchanged, or a JSON string if it would not be read back unchanged or contains invisible
/// characters.
fn field(text: &str) -> Cow<'_, str> {
    let ends_in_blank = text.starts_with(char::is_whitespace) || text.ends_with(char::is_whitespace);
    // A line may begin with a field, so a field must not begin with `#` or a merge conflict marker.
    let begins_alike = text.starts_with(['"', '#', '<', '>', '=']);
    let is_plain = !text.is_empty()
        && !ends_in_blank
        && text != NO_RULE
        && !begins_alike
        && !has_lone_bar(text)
        && !text.contains(is_hostile);
    if is_plain { Cow::Borrowed(text) } else { Cow::Owned(quoted(text)) }
}

/// Whether the text would be read as two fields, alone or next to others.
fn has_lone_bar(text: &str) -> bool {
    text.split(char::is_whitespace).any(|word| word.starts_with('|') && word.trim_matches('|').is_empty())
}

fn quoted(text: &str) -> String {
    diagnostic::json(&serde_json::Value::from(text).to_string()).into_owned()
}

/// A parsed field.
#[derive(Debug, PartialEq)]
enum SnapshotField<'a> {
    /// Unquoted text.
    Bare(&'a str),
    /// From a JSON string.
    Quoted(String),
}

impl SnapshotField<'_> {
    fn into_text(self) -> String {
        match self {
            Self::Bare(text) => text.to_owned(),
            Self::Quoted(text) => text,
        }
    }
}

/// The five fields of a stop. A lone bar inside an unquoted field means that the line was damaged by an insertion.
fn five(line: &str) -> Option<[SnapshotField<'_>; 5]> {
    let fields = fields(line);
    let is_broken = fields.iter().any(
        |field| matches!(field, SnapshotField::Bare(text) if text.split(char::is_whitespace).any(|word| word == "|")),
    );
    <[SnapshotField<'_>; 5]>::try_from(fields).ok().filter(|_| !is_broken)
}

/// The fields of a line. Text that begins with a quote but is not a JSON string is taken literally.
fn fields(line: &str) -> Vec<SnapshotField<'_>> {
    let mut fields = Vec::new();
    let mut rest = Some(line);
    while let Some(text) = rest {
        let (field, after) = match quoted_field(text) {
            Some((field, after)) => (SnapshotField::Quoted(field), after),
            None => match text.split_once(SEPARATOR) {
                Some((field, after)) => (SnapshotField::Bare(field), Some(after)),
                None => (SnapshotField::Bare(text), None),
            },
        };
        fields.push(field);
        rest = after;
    }
    fields
}

/// Parses the JSON string at the start of `text`, if it is a whole field; returns it with the text after its
/// separator.
fn quoted_field(text: &str) -> Option<(String, Option<&str>)> {
    if !text.starts_with('"') {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<String>();
    let field = values.next()?.ok()?;
    let after = text.get(values.byte_offset()..)?;
    if after.is_empty() { Some((field, None)) } else { after.strip_prefix(SEPARATOR).map(|after| (field, Some(after))) }
}

#[cfg(test)]
mod tests;
