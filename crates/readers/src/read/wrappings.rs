//! Known formats in other wrappings: lines as an array, an array of files, a file per line, or any of these under a
//! key. Formats need not know about this: a file that no format recognises is probed again part by part.

use std::cell::LazyCell;
use std::sync::LazyLock;

use serde_json::value::RawValue;

use crate::json_text::{SPACES, trimmed};
use crate::open::finding::Finding;
use crate::open::layout::RecordLayout;
use crate::open::probe::{Probe, Shape, Sketch};
use crate::open::records::{self, Cut, Item, Records};
use crate::read::format::{self, FORMATS, Format};
use crate::record::field_map::FieldMap;
use crate::text::word_list;
use crate::value::json;

/// Keys that commonly wrap recordings.
pub(crate) const KEYS: &[&str] = word_list!(
    "runs results data items trajectories trajectory sessions session samples records rows conversations conversation",
    "traces trace episodes rollouts examples entries events log logs lines messages history transcript transcripts",
    "chats run output value payload body",
);
/// Keys under which a log that `--map` describes may have its runs, besides those.
pub(crate) const MAPPED_KEYS: &[&str] = word_list!(
    "experiments episodes evaluations jobs tasks traces logs entries events chats threads interactions dialogues",
);
/// How many values of a file of many are tried: the first may be a header.
const TRIED: usize = 3;

/// How the text must be transformed before its format can read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reshape {
    /// Not at all.
    #[default]
    None,
    /// The elements of the array under the key (or of the document itself), or concatenated values, become lines.
    Lines(Option<&'static str>),
    /// The value under the key becomes the document.
    Inner(&'static str),
    /// The document is decoded from the JSON string that holds it.
    Decoded,
}

/// How a file is read.
pub(crate) struct Form {
    /// The format.
    pub(crate) format: &'static Format,
    /// The reason, in words that a person can check.
    pub(crate) why: String,
    /// What one record is.
    pub(crate) layout: RecordLayout,
    /// How its text is transformed first.
    pub(crate) reshape: Reshape,
    /// Whether each record is like a separate file elsewhere. It is then named like one.
    pub(crate) as_files: bool,
    /// What one record is within such a record.
    pub(crate) within: Option<RecordLayout>,
}

impl Form {
    /// A file whose records are already in the shape their format expects.
    fn plain(format: &'static Format, why: String, layout: RecordLayout) -> Self {
        Self { format, why, layout, reshape: Reshape::None, as_files: false, within: None }
    }
}

/// The formats for messages of any kind …
static ANY_MESSAGES: LazyLock<Vec<&Format>> = LazyLock::new(|| formats(true));
/// … and the others.
static SPECIFIC: LazyLock<Vec<&Format>> = LazyLock::new(|| formats(false));

fn formats(any_messages: bool) -> Vec<&'static Format> {
    FORMATS.iter().copied().filter(|format| format.takes_any_messages == any_messages).collect()
}

/// The first format that recognises the file, directly or in another wrapping. Formats for messages of any kind come
/// last: their messages might be a wrapping of a more specific format.
pub(crate) fn detect(probe: &Probe) -> Option<Form> {
    let views = LazyCell::new(|| views(probe));
    for formats in [&*SPECIFIC, &*ANY_MESSAGES] {
        if let Some(plain) = formats.iter().find_map(|format| form(format, probe)) {
            return Some(plain);
        }
        for view in &*views {
            if let Some(wrapped) = formats.iter().find_map(|format| view.read_as(format)) {
                return Some(wrapped);
            }
        }
    }
    None
}

/// The file as this format, if the format recognises it directly.
fn form(format: &'static Format, probe: &Probe) -> Option<Form> {
    // Values that span lines are neither a document nor lines; they are recognised through views.
    if probe.shape == Shape::Concatenated {
        return None;
    }
    let why = (format.recognise)(probe)?;
    let layout = (format.layout)(probe);
    if probe.encoded {
        let why = format!("{why}, in a document written as a JSON string");
        let within = Some(layout).filter(|layout| !matches!(layout, RecordLayout::Whole));
        return Some(Form { reshape: Reshape::Decoded, within, ..Form::plain(format, why, RecordLayout::Whole) });
    }
    Some(Form::plain(format, why, layout))
}

/// The file as the format that the user named: directly, or else in the wrapping in which the format recognises it.
pub(crate) fn forced(format: &'static Format, probe: &Probe) -> Form {
    let known = (format.recognise)(probe).is_some();
    let other = if known { None } else { views(probe).iter().find_map(|view| view.read_as(format)) };
    let plain = || Form::plain(format, String::new(), (format.layout)(probe));
    Form { why: "named by the user".to_owned(), ..other.unwrap_or_else(plain) }
}

/// The file as a log that the user describes, if the description fits it or a list in it.
pub(crate) fn mapped(format: &'static Format, map: &FieldMap, probe: &Probe) -> Option<Form> {
    let fits = |value: &Sketch| format::map_fits(map, value);
    let joins = format::map_joins_lines(map);
    let list = |values: &[Sketch]| values.iter().any(fits);
    let first = probe.first()?;
    let whole_or = |layout| if joins { RecordLayout::Whole } else { layout };
    let (layout, reshape) = match probe.shape {
        Shape::Lines if list(&probe.values) => (whole_or(RecordLayout::Lines), Reshape::None),
        Shape::Concatenated if list(&probe.values) => (whole_or(RecordLayout::Values), Reshape::None),
        Shape::Document if fits(first) => (RecordLayout::Whole, Reshape::None),
        Shape::Document if list(first.elements()) => {
            (whole_or(RecordLayout::Elements { at: None, envelope: &[] }), Reshape::None)
        }
        Shape::Document => {
            let key = MAPPED_KEYS.iter().chain(KEYS).find(|key| list(first.elements_of(key)))?;
            if joins {
                (RecordLayout::Whole, Reshape::Lines(Some(key)))
            } else {
                (RecordLayout::Elements { at: Some(key), envelope: &[] }, Reshape::None)
            }
        }
        _ => return None,
    };
    let fields: Vec<String> = map.fields().map(|(_, field)| format!("`{field}`")).collect();
    let why = format!("as `--map` says: {}", fields.join(", "));
    Some(Form { reshape, ..Form::plain(format, why, layout) })
}

/// A part of a file, probed like a separate file.
struct View {
    probe: Probe,
    how: How,
    /// Where the part is, in words for a person.
    stands: String,
}

/// How the parts are extracted.
#[derive(Clone, Copy)]
enum How {
    /// Each record is such a part.
    Records(RecordLayout),
    /// Each record is one element of what the format expects as a list.
    Elements(RecordLayout),
    /// The text is reshaped into a single part.
    Text(Reshape),
    /// Like `Text`, for lines; each line can be a record by itself if the format wants that.
    Lines(Reshape, RecordLayout),
}

impl View {
    fn read_as(&self, format: &'static Format) -> Option<Form> {
        // Few formats are lists of runs, and the others need not look.
        let is_list = || matches!((format.layout)(&self.probe), RecordLayout::Elements { at: None, envelope: [] });
        if matches!(self.how, How::Elements(_)) && !is_list() {
            return None;
        }
        let why = (format.recognise)(&self.probe)?;
        let native = (format.layout)(&self.probe);
        let plain = Form::plain(format, format!("{why}, {}", self.stands), RecordLayout::Whole);
        let joins = matches!(self.probe.first(), Some(first) if (format.joins_lines)(first));
        match (self.how, native) {
            (How::Records(_), _) if joins => None,
            (How::Records(layout), RecordLayout::Whole) => Some(Form { layout, as_files: true, ..plain }),
            (How::Records(layout), native) => Some(Form { layout, as_files: true, within: Some(native), ..plain }),
            (How::Elements(layout), _) => Some(Form { layout, ..plain }),
            (How::Lines(_, each), RecordLayout::Lines) => Some(Form { layout: each, ..plain }),
            (How::Lines(..), _) if !joins => None,
            (How::Lines(reshape, _) | How::Text(reshape), RecordLayout::Whole | RecordLayout::Groups(_)) => {
                Some(Form { reshape, ..plain })
            }
            (How::Lines(..), _) => None,
            (How::Text(reshape), native) => Some(Form { reshape, within: Some(native), ..plain }),
        }
    }
}

/// Every part that may be a recording, most likely first.
fn views(probe: &Probe) -> Vec<View> {
    let mut views = Vec::new();
    if probe.encoded {
        return views;
    }
    match (probe.shape, probe.first()) {
        (Shape::Lines, _) => {
            for value in probe.values.iter().take(TRIED) {
                views.push(document(probe, value, How::Records(RecordLayout::Lines), "one a line"));
                views.push(element(probe, value, RecordLayout::Lines, "one a line"));
            }
        }
        (Shape::Concatenated, _) => {
            let how = How::Lines(Reshape::Lines(None), RecordLayout::Values);
            views.push(lines(probe, &probe.values, how, "one after the other"));
            for value in probe.values.iter().take(TRIED) {
                views.push(document(probe, value, How::Records(RecordLayout::Values), "one after the other"));
                views.push(element(probe, value, RecordLayout::Values, "one after the other"));
            }
        }
        (Shape::Document, Some(whole)) => in_document(probe, whole, &mut views),
        _ => {}
    }
    views
}

fn in_document(probe: &Probe, whole: &Sketch, views: &mut Vec<View>) {
    views.push(element(probe, whole, RecordLayout::Values, "one by itself"));
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
        let many = RecordLayout::Elements { at: Some(key), envelope: &[] };
        views.push(document(probe, inner, How::Elements(many), &stands));
    }
    if let Sketch::Object(fields) = whole {
        let all_objects = fields.iter().all(|(_, value)| value.is_object() || value.is_array());
        if let Some((_, value)) = fields.first().filter(|_| all_objects) {
            let many = RecordLayout::Elements { at: None, envelope: &[] };
            views.push(document(probe, value, How::Records(many), "one under each key"));
        }
    }
}

/// The elements of an array, viewed as documents and as lines.
fn in_list(probe: &Probe, list: &Sketch, at: Option<&'static str>, stands: &str, views: &mut Vec<View>) {
    for value in list.elements().iter().take(TRIED).filter(|value| !is_plain_message(value)) {
        views.push(document(probe, value, How::Records(RecordLayout::Elements { at, envelope: &[] }), stands));
    }
    let how = How::Lines(Reshape::Lines(at), RecordLayout::Elements { at, envelope: &[] });
    views.push(lines(probe, list.elements(), how, stands));
}

/// Whether it is a message that says nothing but its text: no format takes that alone for a recording.
fn is_plain_message(value: &Sketch) -> bool {
    let Sketch::Object(fields) = value else { return false };
    let is_text = |value: &Sketch| matches!(value, Sketch::Scalar(_) | Sketch::Head(_));
    fields.iter().all(|(key, value)| matches!(key.as_str(), "role" | "content") && is_text(value))
}

fn document(probe: &Probe, value: &Sketch, how: How, stands: &str) -> View {
    View { probe: part(probe, Shape::Document, vec![value.clone()]), how, stands: stands.to_owned() }
}

/// A value that is usually one of a list.
fn element(probe: &Probe, value: &Sketch, layout: RecordLayout, stands: &str) -> View {
    let list = Sketch::Array([value.clone()].into());
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
        head: String::new(),
        broken: probe.broken.clone(),
        encoded: false,
        begins_with_value: probe.begins_with_value,
        examples: probe.examples,
        text: None,
    }
}

/// A record in the shape its format expects.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reshaped {
    /// The text, with each byte at its original position so that locations are those of the file …
    pub(crate) text: String,
    /// … except for these bytes, which are not in the file: line feeds between values with no space between them.
    /// Ascending offsets.
    pub(crate) inserted: Vec<usize>,
}

/// The text in the shape its format expects; `None` if it needs no change or cannot be reshaped.
pub(crate) fn reshaped(text: &str, reshape: Reshape) -> Option<Reshaped> {
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
            // An invalid value is kept for the format to report; the end of the list is not a line.
            Some(Err(_)) if text[at..].starts_with(['{', '[', '"']) => trimmed(&text[at..]),
            // So is text that is not a value at all, up to where a value may begin.
            Some(Err(_)) if !text[at..].starts_with(']') => {
                let junk = &text[at..];
                trimmed(&junk[..junk.find(['{', '[', ']']).unwrap_or(junk.len())])
            }
            _ => return Some(Reshaped { text: out, inserted }),
        };
        // Nothing was consumed, so continuing would loop forever.
        if value.is_empty() {
            return Some(Reshaped { text: out, inserted });
        }
        // The line feed after the previous value replaces the space between the values, if there was any.
        if out.len() > at + inserted.len() {
            inserted.push(out.len() - 1);
        }
        out.extend(std::iter::repeat_n(' ', (at + inserted.len()).saturating_sub(out.len())));
        out.extend(value.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }));
        out.push('\n');
        at += value.len();
    }
}

/// The records inside a record that holds a file of many, their envelope, and findings about the rest.
pub(crate) fn cut(text: &str, layout: RecordLayout, path: &str) -> (Vec<Cut>, String, Vec<Finding>) {
    let envelope = match layout {
        RecordLayout::Elements { envelope: keys, .. } if !keys.is_empty() => records::envelope(text.as_bytes(), keys),
        _ => String::new(),
    };
    let mut records = Records::new(text.as_bytes(), layout, path, u64::MAX);
    let (mut cuts, mut findings) = (Vec::new(), Vec::new());
    while let Some(item) = records.next() {
        match item {
            Item::Record(cut) => cuts.push(cut),
            Item::Finding(finding) => findings.push(finding),
            Item::Broken(diagnostic) => findings.push(Finding::error(diagnostic)),
        }
    }
    (cuts, envelope, findings)
}

/// The offset at which the value of a top-level key begins.
fn place_of(text: &str, key: &str) -> Option<usize> {
    let whole: &RawValue = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    let (_, inner) = json::fields_of(whole)?.into_iter().find(|(name, _)| name == key)?;
    (inner.get().as_ptr() as usize).checked_sub(text.as_ptr() as usize)
}

/// The first format that recognises the file, directly or in another wrapping, with its reason.
pub fn detect_format(probe: &Probe) -> Option<(&'static Format, String)> {
    detect(probe).map(|form| (form.format, form.why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_format_takes_a_plain_message_for_a_recording() {
        for role in ["system", "user", "assistant", "tool", "gemini", "human", "ai"] {
            for text in ["Fix it", "Imagine you are a robot browsing the web", &"long ".repeat(100)] {
                let message = format!("{{\"role\":\"{role}\",\"content\":\"{text}\"}}");
                let probe = Probe::from_name("x.json", message.as_bytes()).unwrap();
                assert!(is_plain_message(probe.first().unwrap()));
                for format in FORMATS {
                    assert_eq!((format.recognise)(&probe), None, "{} takes {message}", format.id());
                }
            }
        }
    }

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
