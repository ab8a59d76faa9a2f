//! Recordings whose lines another program wrapped: after a prefix, as containers and CI systems write it
//! (`[stdout] {…}`, `2026-01-05T10:00:00Z {…}`), or as a member of an object on each line (`{"role": …, "raw": {…}}`,
//! `{"log": "{…}\n"}`). What is around the records becomes spaces, so that findings keep their places.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, BufRead as _, BufReader, Cursor, Read};

use crate::find::source::InputFile;
use crate::open::probe::{Probe, Shape};
use crate::read::wrappings::Form;
use crate::record::node::Node;

/// Bytes in which a wrapping is looked for.
const HEAD: u64 = 256 << 10;
/// Members that are tried.
const MEMBERS: usize = 8;
/// The longest line that is unwrapped.
const LINE: u64 = 64 << 20;

/// What stands around the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wrapping {
    /// A prefix up to a brace or bracket, in one of these outlines; the first one as it is written. Other lines are the
    /// output of something else.
    Prefix { outlines: HashSet<String>, first: String },
    /// The first word of each line, such as its time, before what may be one document over many lines.
    FirstWord(String),
    /// The record is this member of an object, or a string under that name that holds it.
    Member(String),
    /// Each line is a string that holds the record.
    Quoted,
    /// The second inside the first: a container's log in a CI system's.
    Twice(Box<Wrapping>, Box<Wrapping>),
}

impl Wrapping {
    /// Where the records stand, in words for a person.
    pub(crate) fn stands(&self) -> String {
        match self {
            Self::Prefix { first, .. } => format!("each after a prefix such as `{first}`"),
            Self::FirstWord(first) => format!("each line after a word such as `{first}`"),
            Self::Member(name) => format!("each in the `{name}` of a line"),
            Self::Quoted => "each in a string".to_owned(),
            Self::Twice(outer, inner) => format!("{}, {} in it", outer.stands(), inner.stands()),
        }
    }

    /// The wrapping without which the file is JSON, though of no known format, with a look at what is in it.
    pub(crate) fn from_text(source: &InputFile, probe: &Probe) -> Option<(Self, Probe)> {
        if !may_be_wrapped(probe) || probe.shape == Shape::Lines {
            return None;
        }
        for wrapping in candidates(&head(source)?) {
            let inner = Probe::at_length(&probe.name, wrapping.open(source).ok()?).ok()?;
            if inner.whole && matches!(inner.shape, Shape::Lines | Shape::Document) {
                return Some((wrapping, inner));
            }
        }
        None
    }

    /// The records as lines of their own.
    pub(crate) fn open(&self, source: &InputFile) -> io::Result<Box<dyn Read + Send>> {
        let input = BufReader::new(source.open()?);
        Ok(Box::new(Unwrapped { input, wrapping: self.clone(), line: Cursor::default() }))
    }
}

/// The wrapping without which a format is recognised, and that format. `detect` says which one that is.
pub(crate) fn detect(
    source: &InputFile,
    probe: &Probe,
    detect: impl Fn(&Probe) -> Option<Form>,
) -> Option<(Wrapping, Form)> {
    if !may_be_wrapped(probe) {
        return None;
    }
    let once = candidates(&head(source)?);
    let mut all = once.clone();
    for outer in once {
        let mut inside = Vec::new();
        outer.open(source).ok()?.take(HEAD).read_to_end(&mut inside).ok()?;
        let inner = candidates(&inside);
        all.extend(inner.into_iter().map(|inner| Wrapping::Twice(Box::new(outer.clone()), Box::new(inner))));
    }
    for wrapping in all {
        let Ok(inner) = Probe::from_name(&probe.name, wrapping.open(source).ok()?) else { continue };
        // What is in a member or a string is JSON, or wrapped once more.
        if !matches!(wrapping, Wrapping::Prefix { .. } | Wrapping::FirstWord(_)) && inner.shape != Shape::Lines {
            continue;
        }
        let Some(form) = detect(&inner) else { continue };
        // Messages of any kind under a member have their run's id and more around them.
        if wrapping.has_member() && form.format.takes_any_messages {
            continue;
        }
        let why = format!("{}, {}", form.why, wrapping.stands());
        return Some((wrapping, Form { why, ..form }));
    }
    None
}

/// A prefix in brackets looks like the beginning of an array.
fn may_be_wrapped(probe: &Probe) -> bool {
    match probe.shape {
        Shape::Text => probe.examples.is_none(),
        Shape::Lines | Shape::Concatenated => true,
        // Of lines that are strings, the first is a document of its own.
        Shape::Document => !probe.whole || probe.encoded,
        Shape::Empty | Shape::Binary => false,
    }
}

fn head(source: &InputFile) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    source.open().ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    Some(head)
}

/// The wrappings that the first lines may have.
fn candidates(head: &[u8]) -> Vec<Wrapping> {
    let text = String::from_utf8_lossy(head);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut found: Vec<Wrapping> = members(&lines).into_iter().map(Wrapping::Member).collect();
    if lines.len() > 1 && lines.iter().all(|line| is_quoted(line)) {
        found.push(Wrapping::Quoted);
    }
    found.extend(prefix(&lines));
    found.extend(first_word(&lines));
    found
}

/// The prefix of the lines that end in a JSON value.
fn prefix(lines: &[&str]) -> Option<Wrapping> {
    let (mut outlines, mut first) = (HashSet::new(), None);
    for line in lines {
        let is_record = |at: &usize| serde_json::from_str::<serde::de::IgnoredAny>(&line[*at..]).is_ok();
        let Some(at) = beginnings(line).find(is_record).filter(|at| is_of_log(&line[..*at])) else { continue };
        outlines.insert(outline(&line[..at]));
        first.get_or_insert_with(|| line[..at].to_owned());
    }
    Some(Wrapping::Prefix { outlines, first: first? })
}

/// Whether a prefix has a time, a number or a sign of a log: that of a list in prose has none.
fn is_of_log(prefix: &str) -> bool {
    !prefix.contains('"') && prefix.contains(|c: char| matches!(c, '[' | '|' | '0'..='9'))
}

/// The places near the beginning of a line where a record may begin.
fn beginnings(line: &str) -> impl Iterator<Item = usize> {
    const LONGEST: usize = 200;
    line.match_indices(['{', '[']).map(|(at, _)| at).take_while(|at| *at <= LONGEST)
}

/// The first word that all lines have, but for its numbers.
fn first_word(lines: &[&str]) -> Option<Wrapping> {
    let (first, _) = lines.first()?.split_once(' ')?;
    let is_time = first.starts_with('[') || first.contains(':');
    let is_same = |line: &&str| outline(line.split(' ').next().unwrap_or_default()) == outline(first);
    if is_time && lines.iter().rev().skip(1).all(is_same) { Some(Wrapping::FirstWord(first.to_owned())) } else { None }
}

/// Whether it is a string that may hold a record.
fn is_quoted(value: &str) -> bool {
    value.starts_with("\"{") || value.starts_with("\"[")
}

/// The members that hold an object, or a string with one, on most lines.
fn members(lines: &[&str]) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for line in lines {
        for (name, value) in Node::from_written(*line).members() {
            if value.starts_with('{') || is_quoted(value) {
                *counts.entry(name.to_string()).or_default() += 1;
            }
        }
    }
    let often = counts.into_iter().filter(|(_, n)| 2 * n >= lines.len());
    often.map(|(name, _)| name).take(MEMBERS).collect()
}

/// A text with each number as `0` and each word as `a`: times and levels differ from line to line.
fn outline(text: &str) -> String {
    let mut outline = String::new();
    for c in text.chars() {
        let c = match c {
            _ if c.is_ascii_digit() => '0',
            _ if c.is_alphabetic() => 'a',
            _ => c,
        };
        if !(matches!(c, '0' | 'a') && outline.ends_with(c)) {
            outline.push(c);
        }
    }
    outline
}

/// A stream of lines without what is around the records.
struct Unwrapped<R> {
    input: BufReader<R>,
    wrapping: Wrapping,
    /// The line being handed over.
    line: Cursor<Vec<u8>>,
}

impl<R: Read> Read for Unwrapped<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.line.position() == self.line.get_ref().len() as u64 {
            let mut line = Vec::new();
            if self.input.by_ref().take(LINE).read_until(b'\n', &mut line)? == 0 {
                return Ok(0);
            }
            if (line.len() as u64) < LINE
                && let Some(record) = self.wrapping.unwrap(&String::from_utf8_lossy(&line))
            {
                line = record.into_bytes();
            }
            self.line = Cursor::new(line);
        }
        self.line.read(out)
    }
}

impl Wrapping {
    /// The line with spaces for what is around the record; `None` if it is to stay as it is.
    fn unwrap(&self, line: &str) -> Option<String> {
        match self {
            Self::Prefix { outlines, .. } => {
                if line.trim_start().starts_with('{') {
                    return None;
                }
                match beginnings(line).find(|at| outlines.contains(&outline(&line[..*at]))) {
                    Some(at) => Some(indented(at, &line[at..])),
                    None => Some("\n".to_owned()),
                }
            }
            Self::FirstWord(first) => {
                let (word, rest) = line.split_once(' ').unwrap_or((line.trim_end(), "\n"));
                if outline(word) == outline(first) { Some(indented(word.len() + 1, rest)) } else { None }
            }
            Self::Member(name) => {
                let node = Node::from_written(line.trim());
                record_in(&node.get(name.as_str())?, line)
            }
            Self::Quoted => record_in(&Node::from_written(line.trim()), line),
            Self::Twice(outer, inner) => {
                let once = outer.unwrap(line).unwrap_or_else(|| line.to_owned());
                let begins = once.len() - once.trim_start_matches(' ').len();
                match inner.unwrap(&once[begins..]) {
                    Some(twice) => Some(indented(begins, &twice)),
                    None => Some(once),
                }
            }
        }
    }

    fn has_member(&self) -> bool {
        match self {
            Self::Member(_) => true,
            Self::Twice(outer, inner) => outer.has_member() || inner.has_member(),
            Self::Prefix { .. } | Self::FirstWord(_) | Self::Quoted => false,
        }
    }
}

/// The record that a value of the line is or holds, where the value stands.
fn record_in(value: &Node<'_>, line: &str) -> Option<String> {
    let at = (value.written().as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
    let record = match value.as_string() {
        Some(text) => text.trim().replace(['\n', '\r'], " "),
        None => value.written().to_owned(),
    };
    if record.starts_with(['{', '[']) { Some(indented(at, &format!("{record}\n"))) } else { None }
}

fn indented(by: usize, text: &str) -> String {
    format!("{}{text}", " ".repeat(by))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read of a text in its first wrapping.
    fn unwrapped(text: &str) -> String {
        let wrapping = candidates(text.as_bytes()).into_iter().next().unwrap();
        let input = BufReader::new(text.as_bytes());
        let mut out = String::new();
        Unwrapped { input, wrapping, line: Cursor::default() }.read_to_string(&mut out).unwrap();
        out
    }

    #[test]
    fn what_is_around_a_record_becomes_spaces() {
        for (text, expected) in [
            ("[stdout] {\"a\":1}\n[stdout] done\n[stderr] {\"b\n", "         {\"a\":1}\n\n         {\"b\n"),
            ("2026-01-05T10:00:00.1Z {\"a\":1}\n2026-01-05T10:00:00.25Z {\"b\":2}\n", {
                "                       {\"a\":1}\n                        {\"b\":2}\n"
            }),
            ("{\"n\":1,\"raw\":{\"a\":1}}\n{\"n\":2,\"raw\":{\"b\":2}}\n", {
                "             {\"a\":1}\n             {\"b\":2}\n"
            }),
            ("\"{\\\"a\\\":1}\"\n\"{\\\"b\\\":2}\"\n", "{\"a\":1}\n{\"b\":2}\n"),
            ("{\"log\":\"{\\\"a\\\":1}\\n\",\"stream\":\"stdout\"}\n", "       {\"a\":1}\n"),
            ("10:00:01 {\n10:00:02  \"a\": 1\n10:00:03 }\n", "         {\n          \"a\": 1\n         }\n"),
        ] {
            assert_eq!(unwrapped(text), expected, "{text}");
        }
    }

    #[test]
    fn a_wrapping_in_another_is_taken_off_too() {
        for (text, expected) in [
            ("T1 {\"log\":\"{\\\"a\\\":1}\"}\nT2 {\"log\":\"{\\\"b\\\":2}\"}\n", ["{\"a\":1}", "{\"b\":2}"]),
            ("{\"log\":\"[x] {\\\"a\\\":1}\"}\n{\"log\":\"[x] {\\\"b\\\":2}\"}\n", ["{\"a\":1}", "{\"b\":2}"]),
            ("{\"e\":{\"raw\":{\"a\":1}}}\n{\"e\":{\"raw\":{\"b\":2}}}\n", ["{\"a\":1}", "{\"b\":2}"]),
        ] {
            let outer = candidates(text.as_bytes()).into_iter().next().unwrap();
            let once: Vec<String> = text.lines().map(|line| outer.unwrap(line).unwrap()).collect();
            let inner = candidates(once.join("\n").as_bytes()).into_iter().next().unwrap();
            let twice = Wrapping::Twice(Box::new(outer), Box::new(inner));
            let found: Vec<String> = text.lines().map(|line| twice.unwrap(line).unwrap().trim().to_owned()).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn plain_lines_have_no_wrapping() {
        for text in ["{\"a\":1}\n{\"b\":2}\n", "plain words\nand more\n", ""] {
            assert_eq!(candidates(text.as_bytes()), [], "{text}");
        }
    }
}
