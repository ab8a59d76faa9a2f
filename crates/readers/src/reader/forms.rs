//! Other wrappings of a known format: lines as an array, an array of files, a file a line, all of that
//! under a key. No format has to know them: a file nobody recognises is looked at again, part by part.

use serde_json::value::RawValue;

use super::format::{FORMATS, Format};
use super::layout::Layout;
use super::probe::{Probe, Shape, Sketch};
use super::records::{self, Cut, Item, Records};
use super::{Finding, json};
use crate::diagnostic::Severity;
use crate::json_text::{SPACES, trimmed};

/// Keys that wrappers put recordings under.
const KEYS: &[&str] = &[
    "runs",
    "results",
    "data",
    "items",
    "trajectories",
    "trajectory",
    "sessions",
    "session",
    "samples",
    "records",
    "rows",
    "conversations",
    "conversation",
    "traces",
    "trace",
    "episodes",
    "rollouts",
    "examples",
    "entries",
    "events",
    "log",
    "logs",
    "lines",
    "messages",
    "history",
    "transcript",
    "transcripts",
    "chats",
    "run",
    "output",
    "value",
    "payload",
    "body",
];
/// Values of a file of many that are tried: the first may be a header.
const TRIED: usize = 3;

/// What has to be done to the whole text before its format can read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reshape {
    /// Nothing.
    #[default]
    None,
    /// The elements of the array under the key, or of the document, or the values one after the other,
    /// become lines.
    Lines(Option<&'static str>),
    /// What stands under the key is the document.
    Inner(&'static str),
    /// The text is a JSON string that holds the document.
    Decoded,
}

/// How a file is read.
pub(super) struct Form {
    /// As which format.
    pub(super) format: &'static dyn Format,
    /// Why, in words a person can check.
    pub(super) why: String,
    /// What one record is.
    pub(super) layout: Layout,
    /// What is done to its text first.
    pub(super) reshape: Reshape,
    /// Is each record what is a file of its own elsewhere? Then it is named like one.
    pub(super) as_files: bool,
    /// What a record is within such a file.
    pub(super) within: Option<Layout>,
}

/// The first format that recognises the file, as it stands or in another wrapping. Formats of any
/// messages come last: what they would take may be a wrapping of a format that knows more.
pub(super) fn detect(probe: &Probe) -> Option<Form> {
    let find = |any_messages: bool| {
        let formats = || FORMATS.iter().copied().filter(move |format| format.takes_any_messages() == any_messages);
        let plain = formats().find_map(|format| of(format, probe));
        plain.or_else(|| views(probe).iter().find_map(|view| formats().find_map(|format| view.read_as(format))))
    };
    find(false).or_else(|| find(true))
}

/// The file as this format, if it recognises it as it stands.
fn of(format: &'static dyn Format, probe: &Probe) -> Option<Form> {
    // Values over many lines are neither a document nor lines; their views are.
    if probe.shape == Shape::Concatenated {
        return None;
    }
    let why = format.recognise(probe)?;
    let layout = format.layout(probe);
    if probe.encoded {
        let why = format!("{why}, in a document written as a JSON string");
        let within = Some(layout).filter(|layout| !matches!(layout, Layout::Whole));
        return Some(Form { format, why, layout: Layout::Whole, reshape: Reshape::Decoded, as_files: false, within });
    }
    Some(Form { format, why, layout, reshape: Reshape::None, as_files: false, within: None })
}

/// The file as a format the user named: as it stands, or else in the wrapping in which the format knows it.
pub(super) fn forced(format: &'static dyn Format, probe: &Probe) -> Form {
    let known = format.recognise(probe).is_some();
    let other = if known { None } else { views(probe).iter().find_map(|view| view.read_as(format)) };
    let plain = || Form {
        format,
        why: String::new(),
        layout: format.layout(probe),
        reshape: Reshape::None,
        as_files: false,
        within: None,
    };
    Form { why: "named by the user".to_owned(), ..other.unwrap_or_else(plain) }
}

/// A part of a file, looked at as a file of its own.
struct View {
    probe: Probe,
    how: How,
    /// Where the part stands, for a person.
    stands: String,
}

/// How such parts are cut out.
#[derive(Clone, Copy)]
enum How {
    /// Each record is such a part.
    Records(Layout),
    /// Each record is an element of what the format expects many of.
    Elements(Layout),
    /// There is one such part, to which the text is reshaped.
    Text(Reshape),
    /// The same, of lines; each can be cut out by itself where a format wants that.
    Lines(Reshape, Layout),
}

impl View {
    fn read_as(&self, format: &'static dyn Format) -> Option<Form> {
        let why = format.recognise(&self.probe)?;
        let native = format.layout(&self.probe);
        let plain = Form {
            format,
            why: format!("{why}, {}", self.stands),
            layout: Layout::Whole,
            reshape: Reshape::None,
            as_files: false,
            within: None,
        };
        let joins = self.probe.first().is_some_and(|first| format.joins_lines(first));
        match (self.how, native) {
            (How::Records(_), _) if joins => None,
            (How::Records(layout), Layout::Whole) => Some(Form { layout, as_files: true, ..plain }),
            (How::Records(layout), native) => Some(Form { layout, as_files: true, within: Some(native), ..plain }),
            (How::Elements(layout), Layout::Elements { at: None, envelope: [] }) => Some(Form { layout, ..plain }),
            (How::Lines(_, each), Layout::Lines) => Some(Form { layout: each, ..plain }),
            (How::Lines(..), _) if !joins => None,
            (How::Lines(reshape, _) | How::Text(reshape), Layout::Whole | Layout::Groups(_)) => {
                Some(Form { reshape, ..plain })
            }
            (How::Elements(_) | How::Lines(..), _) => None,
            (How::Text(reshape), native) => Some(Form { reshape, within: Some(native), ..plain }),
        }
    }
}

/// Every part that may be a recording, the likeliest first.
fn views(probe: &Probe) -> Vec<View> {
    let mut views = Vec::new();
    if probe.encoded {
        return views;
    }
    match (probe.shape, probe.first()) {
        (Shape::Lines, _) => {
            for value in probe.values.iter().take(TRIED) {
                views.push(document(probe, value, How::Records(Layout::Lines), "one a line"));
                views.push(element(probe, value, Layout::Lines, "one a line"));
            }
        }
        (Shape::Concatenated, _) => {
            let how = How::Lines(Reshape::Lines(None), Layout::Values);
            views.push(lines(probe, &probe.values, how, "one after the other"));
            for value in probe.values.iter().take(TRIED) {
                views.push(document(probe, value, How::Records(Layout::Values), "one after the other"));
                views.push(element(probe, value, Layout::Values, "one after the other"));
            }
        }
        (Shape::Document, Some(whole)) => in_document(probe, whole, &mut views),
        _ => {}
    }
    views
}

fn in_document(probe: &Probe, whole: &Sketch, views: &mut Vec<View>) {
    views.push(element(probe, whole, Layout::Values, "one by itself"));
    if whole.is_array() {
        in_list(probe, whole, None, "in an array", views);
    }
    for key in KEYS {
        let Some(inner) = whole.get(key) else { continue };
        let stands = format!("under `{key}`");
        if inner.is_array() {
            in_list(probe, inner, Some(key), &stands, views);
        } else if inner.is_object() {
            views.push(document(probe, inner, How::Text(Reshape::Inner(key)), &stands));
        }
        let many = Layout::Elements { at: Some(key), envelope: &[] };
        views.push(document(probe, inner, How::Elements(many), &stands));
    }
    if let Sketch::Object(fields) = whole {
        let all_objects = fields.iter().all(|(_, value)| value.is_object() || value.is_array());
        if let Some((_, value)) = fields.first().filter(|_| all_objects) {
            let many = Layout::Elements { at: None, envelope: &[] };
            views.push(document(probe, value, How::Records(many), "one under each key"));
        }
    }
}

/// The elements of an array: as documents, and as lines.
fn in_list(probe: &Probe, list: &Sketch, at: Option<&'static str>, stands: &str, views: &mut Vec<View>) {
    for value in list.elements().iter().take(TRIED) {
        views.push(document(probe, value, How::Records(Layout::Elements { at, envelope: &[] }), stands));
    }
    let how = How::Lines(Reshape::Lines(at), Layout::Elements { at, envelope: &[] });
    views.push(lines(probe, list.elements(), how, stands));
}

fn document(probe: &Probe, value: &Sketch, how: How, stands: &str) -> View {
    View { probe: part(probe, Shape::Document, vec![value.clone()]), how, stands: stands.to_owned() }
}

/// A value that is one of many elsewhere.
fn element(probe: &Probe, value: &Sketch, layout: Layout, stands: &str) -> View {
    let list = Sketch::Array(vec![value.clone()]);
    View { probe: part(probe, Shape::Document, vec![list]), how: How::Elements(layout), stands: stands.to_owned() }
}

fn lines(probe: &Probe, values: &[Sketch], how: How, stands: &str) -> View {
    View { probe: part(probe, Shape::Lines, values.to_vec()), how, stands: stands.to_owned() }
}

fn part(probe: &Probe, shape: Shape, values: Vec<Sketch>) -> Probe {
    Probe {
        name: probe.name.clone(),
        shape,
        values,
        whole: probe.whole,
        head: probe.head.clone(),
        broken: probe.broken.clone(),
        encoded: false,
    }
}

/// A record in its format's own shape.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reshaped {
    /// The text, each byte where it was, so that places in it are places in the file …
    pub(super) text: String,
    /// … but for these bytes of it, which the file does not have: line feeds between values that follow each other
    /// without any space. In ascending order.
    pub(super) inserted: Vec<usize>,
}

/// The text in its format's own shape; `None` when there is nothing to do, or no telling how.
pub(super) fn reshaped(text: &str, reshape: Reshape) -> Option<Reshaped> {
    let (begin, list) = match reshape {
        Reshape::None => return None,
        Reshape::Decoded => {
            let text = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
            return Some(Reshaped { text, inserted: Vec::new() });
        }
        Reshape::Lines(None) => (0, true),
        Reshape::Lines(Some(key)) => (place_of(text, key)?, true),
        Reshape::Inner(key) => (place_of(text, key)?, false),
    };
    let mut out = " ".repeat(begin);
    if !list {
        let inner: &RawValue = serde_json::Deserializer::from_str(&text[begin..]).into_iter().next()?.ok()?;
        out.push_str(inner.get());
        return Some(Reshaped { text: out, inserted: Vec::new() });
    }
    let mut inserted = Vec::new();
    let mut at = begin;
    if text[at..].trim_start_matches(SPACES).starts_with('[') {
        at += text[at..].find('[')? + 1;
    }
    loop {
        at += text[at..].len() - text[at..].trim_start_matches([' ', '\t', '\r', '\n', ',']).len();
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<&RawValue>();
        let value = match values.next() {
            Some(Ok(value)) => value.get(),
            // What is broken stays, for the format to report; the end of the list is no line.
            Some(Err(_)) if text[at..].starts_with(['{', '[', '"']) => trimmed(&text[at..]),
            // So does what is no value at all, up to where one may begin.
            Some(Err(_)) if !text[at..].starts_with(']') => {
                let junk = &text[at..];
                trimmed(&junk[..junk.find(['{', '[', ']']).unwrap_or(junk.len())])
            }
            _ => return Some(Reshaped { text: out, inserted }),
        };
        // Nothing can be taken off here, so going on would come to this place again.
        if value.is_empty() {
            return Some(Reshaped { text: out, inserted });
        }
        // The line feed behind the value before stands where the space between them was, if there was any.
        if out.len() > at + inserted.len() {
            inserted.push(out.len() - 1);
        }
        out.extend(std::iter::repeat_n(' ', (at + inserted.len()).saturating_sub(out.len())));
        out.extend(value.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }));
        out.push('\n');
        at += value.len();
    }
}

/// The records within a record that is a file of many elsewhere, their envelope, and what is wrong with
/// the rest.
pub(super) fn cut(text: &str, layout: Layout, path: &str) -> (Vec<Cut>, String, Vec<Finding>) {
    let envelope = match layout {
        Layout::Elements { envelope: keys, .. } if !keys.is_empty() => records::envelope(text.as_bytes(), keys),
        _ => String::new(),
    };
    let mut records = Records::new(text.as_bytes(), layout, path, u64::MAX);
    let (mut cuts, mut findings) = (Vec::new(), Vec::new());
    while let Some(item) = records.next() {
        match item {
            Item::Record(cut) => cuts.push(cut),
            Item::Finding(finding) => findings.push(finding),
            Item::Broken(diagnostic) => findings.push(Finding { severity: Severity::Error, diagnostic }),
        }
    }
    (cuts, envelope, findings)
}

/// The byte at which the value of a top-level key begins.
fn place_of(text: &str, key: &str) -> Option<usize> {
    let whole: &RawValue = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    let (_, inner) = json::fields_of(whole)?.into_iter().find(|(name, _)| name == key)?;
    (inner.get().as_ptr() as usize).checked_sub(text.as_ptr() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_stays_where_it_was() {
        for (text, reshape, expected) in [
            ("[{\"a\":1},\n {\n\"b\":2}]", Reshape::Lines(None), " {\"a\":1}\n  { \"b\":2}\n"),
            ("{\"x\":0,\"log\":[1,2]}", Reshape::Lines(Some("log")), "              1\n2\n"),
            ("{\"run\":{\"a\":1},\"y\":2}", Reshape::Inner("run"), "       {\"a\":1}"),
            ("{\n\"a\":1}\n{\"b\":2}{\"c\":3}", Reshape::Lines(None), "{ \"a\":1}\n{\"b\":2}\n{\"c\":3}\n"),
            ("[{\"a\":1}, {\"b\":", Reshape::Lines(None), " {\"a\":1}\n {\"b\":\n"),
            ("[]", Reshape::Lines(None), ""),
            ("{\"a\":1}\u{c}{\"b\":2}", Reshape::Lines(None), "{\"a\":1}\n\u{c}\n{\"b\":2}\n"),
            ("[{\"a\":1}\u{a0}", Reshape::Lines(None), " {\"a\":1}\n\u{a0}\n"),
            ("[{\"a\":1}, oops ,{\"b\":2}]", Reshape::Lines(None), " {\"a\":1}\n oops ,\n{\"b\":2}\n"),
        ] {
            assert_eq!(reshaped(text, reshape).unwrap().text, expected, "{text}");
        }
        let follow = reshaped("{\"a\":1}{\"b\":2} {}{}", Reshape::Lines(None)).unwrap();
        assert_eq!(follow.text, "{\"a\":1}\n{\"b\":2}\n{}\n{}\n");
        assert_eq!(follow.inserted, [7, 18]);
        assert_eq!(reshaped("{}", Reshape::None), None);
        assert_eq!(reshaped("{}", Reshape::Inner("run")), None);
    }
}
