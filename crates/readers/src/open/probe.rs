//! The first look at a file: its kind of text, and a sketch of its first values for the formats to recognise. The
//! whole file is scanned, but only the sketch is kept.

use std::borrow::Cow;
use std::io::{self, Read};
use std::sync::Arc;

use crate::json_text::is_space;
use crate::open::scan::{ScanError, Scanner};
use crate::transcript::{Name, Text};

/// Levels of nesting a sketch keeps.
const DEPTH: usize = 7;
/// Keys of one object a sketch keeps.
const KEYS: usize = 48;
/// Elements of one array a sketch keeps …
const ELEMENTS: usize = 3;
/// … and of an array that may be the recording itself.
const LISTED: usize = 12;
/// Longest scalar a sketch keeps, in bytes.
const SCALAR: u64 = 160;
/// Values sketched in a file of many values.
const VALUES: usize = 40;
/// The same where somebody's own log is to be understood: the messages of many runs may stand between one another.
const MANY: usize = 2000;
/// Bytes examined if the file does not begin with a complete value.
const HEAD: u64 = 1 << 20;
/// Bytes read at first: many files end before.
const USUAL: usize = 1 << 12;
/// The longest text that is kept whole, so that the file need not be opened again.
const KEPT: usize = 1 << 16;

/// The outline of a JSON value: keys and short scalars, a few levels deep. Clones share what they hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Sketch {
    /// An object's first keys, in file order.
    Object(Arc<[(Name, Sketch)]>),
    /// An array's first elements.
    Array(Arc<[Sketch]>),
    /// A number, string or literal, as written in the file.
    Scalar(Name),
    /// The beginning of a longer string, decoded.
    Head(Name),
    /// Something too deep or too long to keep.
    #[default]
    Other,
}

impl Sketch {
    /// The value under `key`, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(fields) => fields.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The value under that name or, if it has dots and no field is called so, at the path of names that it is.
    pub(crate) fn at(&self, path: &str) -> Option<&Self> {
        if let Some(found) = self.get(path) {
            return Some(found);
        }
        let mut value = self;
        for name in path.split('.') {
            value = value.get(name)?;
        }
        Some(value)
    }

    /// Whether it is an object that has all of `keys`.
    pub fn has(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.get(key).is_some())
    }

    /// Whether it is an object that has at least one of `keys`.
    pub(crate) fn has_any(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.get(key).is_some())
    }

    /// Whether the value under `key` is an object that has all of `keys`.
    pub(crate) fn has_within(&self, key: &str, keys: &[&str]) -> bool {
        self.get(key).is_some_and(|inner| inner.has(keys))
    }

    /// Whether the value under `key` is an array.
    pub(crate) fn has_array(&self, key: &str) -> bool {
        self.get(key).is_some_and(Self::is_array)
    }

    /// Whether the value under `key` is an object.
    pub(crate) fn has_object(&self, key: &str) -> bool {
        self.get(key).is_some_and(Self::is_object)
    }

    /// Whether the value under `key` is the string `wanted`.
    pub(crate) fn is(&self, key: &str, wanted: &str) -> bool {
        self.text_of(key).as_deref() == Some(wanted)
    }

    /// The first element of an array, or the first value of an object.
    pub fn first(&self) -> Option<&Self> {
        match self {
            Self::Array(elements) => elements.first(),
            Self::Object(fields) => fields.first().map(|(_, value)| value),
            _ => None,
        }
    }

    /// The sketched elements of an array.
    pub fn elements(&self) -> &[Self] {
        match self {
            Self::Array(elements) => elements,
            _ => &[],
        }
    }

    /// The sketched elements of the array under `key`; none for anything else.
    pub(crate) fn elements_of(&self, key: &str) -> &[Self] {
        self.get(key).map(Self::elements).unwrap_or_default()
    }

    /// The decoded text of a short string.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        let Self::Scalar(raw) = self else { return None };
        let body = raw.strip_prefix('"')?.strip_suffix('"')?;
        if body.bytes().any(|byte| byte == b'\\' || byte < 0x20) {
            return serde_json::from_str(raw).ok().map(Cow::Owned);
        }
        Some(Cow::Borrowed(body))
    }

    /// The beginning of the string under `key`; a short string is complete.
    pub fn beginning_of(&self, key: &str) -> Option<Cow<'_, str>> {
        match self.get(key)? {
            Self::Head(head) => Some(Cow::Borrowed(head)),
            other => other.text(),
        }
    }

    /// The decoded text of the short string under `key`.
    pub fn text_of(&self, key: &str) -> Option<Cow<'_, str>> {
        self.get(key)?.text()
    }

    /// The decoded text of the short string under `name`, in the object under `key`.
    pub(crate) fn text_within(&self, key: &str, name: &str) -> Option<Cow<'_, str>> {
        self.get(key)?.text_of(name)
    }

    /// True for an array.
    pub fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    /// True for an object.
    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }
}

/// What kind of text a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Only white space.
    Empty,
    /// One JSON value.
    Document,
    /// One JSON value per line.
    Lines,
    /// Several JSON values that are not one per line.
    Concatenated,
    /// Text that is not JSON.
    Text,
    /// Not text.
    Binary,
}

/// What the first look at a file found.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The file's name without its folder.
    pub name: String,
    /// What kind of text it is.
    pub shape: Shape,
    /// Sketches of the first values; one for a document.
    pub values: Vec<Sketch>,
    /// False if the only value was cut short or invalid.
    pub whole: bool,
    /// The first bytes, for the message about a file that no format recognises.
    pub head: String,
    /// Why the stream could not be read to its end; `None` if it could.
    pub broken: Option<String>,
    /// Whether the document is written as a JSON string that holds it. The values are then those inside the string.
    pub encoded: bool,
    /// Whether the first thing in it is a whole JSON value.
    pub(crate) begins_with_value: bool,
    /// How many values stand in a document or in program text, as examples; `None` for any other file.
    pub(crate) examples: Option<usize>,
    /// The whole text, if it is short.
    pub(crate) text: Option<Vec<u8>>,
}

impl Probe {
    /// Scans `input`.
    pub fn from_name(name: &str, input: impl Read) -> io::Result<Self> {
        Self::scan(name, input, VALUES)
    }

    /// The same, with more values.
    pub(crate) fn at_length(name: &str, input: impl Read) -> io::Result<Self> {
        Self::scan(name, input, MANY)
    }

    fn scan(name: &str, input: impl Read, most: usize) -> io::Result<Self> {
        let mut head = Vec::with_capacity(USUAL);
        let mut input = input;
        let broken = input.by_ref().take(HEAD).read_to_end(&mut head).err();
        // A stream that failed once is not read again, nor one that has ended.
        let goes_on = broken.is_none() && head.len() as u64 == HEAD;
        let rest = input.take(if goes_on { u64::MAX } else { 0 });
        let mut probe = Self {
            name: name.to_owned(),
            shape: Shape::Text,
            values: Vec::new(),
            whole: true,
            head: String::from_utf8_lossy(&head[..head.len().min(60)]).into_owned(),
            broken: broken.map(|error| error.to_string()),
            encoded: false,
            begins_with_value: false,
            examples: None,
            text: None,
        };
        if is_binary(&head) {
            probe.shape = Shape::Binary;
            return Ok(probe);
        }
        let mut scanner = Scanner::new(io::Cursor::new(&head).chain(rest));
        match scanner.skip_space()? {
            None => probe.shape = Shape::Empty,
            Some(b'{' | b'[') => probe.look_at_values(&mut scanner, &head, most)?,
            Some(b'"') if probe.look_into_string(&head) => {}
            Some(_) => probe.look_at_lines(&head, most),
        }
        if head.len() <= KEPT && probe.broken.is_none() {
            probe.text = Some(head);
        }
        Ok(probe)
    }

    /// Takes the values in a document or in program text for examples, unless it begins with one.
    pub(crate) fn set_examples_apart(&mut self) {
        if !self.begins_with_value && !matches!(self.shape, Shape::Empty | Shape::Binary) {
            // A document that does not begin with a whole value is no JSON.
            self.examples = Some(if self.shape == Shape::Document { 0 } else { self.values.len() });
            self.shape = Shape::Text;
            self.values.clear();
        }
    }

    /// The sketch of the first value.
    pub fn first(&self) -> Option<&Sketch> {
        self.values.first()
    }

    /// The only value of a document.
    pub fn document(&self) -> Option<&Sketch> {
        self.first().filter(|_| self.shape == Shape::Document)
    }

    /// Whether one of the sketched values `fits`.
    pub(crate) fn any(&self, fits: impl Fn(&Sketch) -> bool) -> bool {
        self.values.iter().any(fits)
    }

    /// Whether one of the sketched values has all of `keys`.
    pub fn any_with(&self, keys: &[&str]) -> bool {
        self.any(|value| value.has(keys))
    }

    fn look_at_values(&mut self, scanner: &mut Scanner<impl Read>, head: &[u8], most: usize) -> io::Result<()> {
        let begins = scanner.line_number();
        let mut first = Sketch::Other;
        if let Err(error) = sketch(scanner, &mut first, DEPTH) {
            if let ScanError::Io(error) = error {
                self.broken = Some(error.to_string());
            }
            self.look_at_lines(head, most);
            if self.values.is_empty() {
                (self.shape, self.whole) = (Shape::Document, false);
                self.values.push(first);
            }
            return Ok(());
        }
        self.begins_with_value = true;
        self.values.push(first);
        let ends = scanner.line_number();
        if scanner.skip_space()?.is_none() {
            self.shape = Shape::Document;
        } else if begins == ends && scanner.line_number() > ends {
            self.look_at_lines(head, most);
            self.shape = Shape::Lines;
        } else {
            self.shape = Shape::Concatenated;
            while self.values.len() < most && matches!(scanner.skip_space()?, Some(b'{' | b'[')) {
                let mut value = Sketch::Other;
                match sketch(scanner, &mut value, DEPTH) {
                    Ok(()) => self.values.push(value),
                    Err(ScanError::Io(error)) => return Err(error),
                    Err(_) => break,
                }
            }
        }
        Ok(())
    }

    /// Sketches the document inside a JSON string; false if there is none.
    fn look_into_string(&mut self, head: &[u8]) -> bool {
        let text = String::from_utf8_lossy(head);
        let Some(body) = text.trim_start_matches('\u{feff}').trim_start().strip_prefix('"') else { return false };
        let decoded = Text::from_json_body(body.trim_end().trim_end_matches('"')).as_str().into_owned();
        let mut scanner = Scanner::new(decoded.as_bytes());
        if !matches!(scanner.skip_space(), Ok(Some(b'{' | b'['))) {
            return false;
        }
        let mut value = Sketch::Other;
        self.whole = sketch(&mut scanner, &mut value, DEPTH).is_ok();
        if !matches!(value, Sketch::Object(_) | Sketch::Array(_)) {
            return false;
        }
        (self.shape, self.encoded, self.begins_with_value) = (Shape::Document, true, true);
        self.values.push(value);
        true
    }

    /// Sketches the lines at the beginning of the file that each hold a value.
    fn look_at_lines(&mut self, head: &[u8], most: usize) {
        let mut values = Vec::new();
        for line in head.split(|byte| *byte == b'\n') {
            let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
            let line = &line[line.iter().take_while(|byte| is_space(**byte)).count()..];
            if !line.starts_with(b"{") && !line.starts_with(b"[") {
                continue;
            }
            let mut value = Sketch::Other;
            let mut scanner = Scanner::new(line);
            if sketch(&mut scanner, &mut value, DEPTH).is_ok() && matches!(scanner.skip_space(), Ok(None)) {
                values.push(value);
            }
            if values.len() == most {
                break;
            }
        }
        if !values.is_empty() {
            self.shape = Shape::Lines;
            self.values = values;
        }
    }
}

/// Whether the bytes cannot be the beginning of a text.
fn is_binary(head: &[u8]) -> bool {
    let head = &head[..head.len().min(4096)];
    let controls = head.iter().filter(|byte| matches!(byte, 0..=8 | 14..=26 | 28..=31)).count();
    head.contains(&0) || controls * 20 > head.len()
}

/// Scans one value and keeps its outline, as far as the scan gets.
fn sketch(scanner: &mut Scanner<impl Read>, out: &mut Sketch, depth: usize) -> Result<(), ScanError> {
    match scanner.skip_space()? {
        Some(b'{') if depth > 0 => {
            let mut fields = Vec::new();
            let result = each_part(scanner, b'}', |scanner| {
                let key = scanner.key()?;
                let mut value = Sketch::Other;
                let result = sketch(scanner, &mut value, depth - 1);
                fields.push((key, value));
                result.map(|()| fields.len() < KEYS)
            });
            *out = Sketch::Object(fields.into());
            result
        }
        Some(b'[') if depth > 0 => {
            let mut elements = Vec::new();
            let most = if depth + 2 > DEPTH { LISTED } else { ELEMENTS };
            let result = each_part(scanner, b']', |scanner| {
                let mut value = Sketch::Other;
                let result = sketch(scanner, &mut value, depth - 1);
                elements.push(value);
                result.map(|()| elements.len() < most)
            });
            *out = Sketch::Array(elements.into());
            result
        }
        Some(b'{' | b'[') => scanner.value(None, 0).map(drop),
        _ => {
            let mut raw = Vec::new();
            let length = scanner.value(Some(&mut raw), SCALAR)?;
            let written = String::from_utf8_lossy(&raw);
            if length <= SCALAR {
                *out = Sketch::Scalar(written.into());
            } else if let Some(head) = written.strip_prefix('"') {
                // Do not cut within an escape.
                let whole = &head[..head.rfind('\\').filter(|at| head.len() - at < 6).unwrap_or(head.len())];
                *out = Sketch::Head(Text::from_json_body(whole).as_str().into());
            }
            Ok(())
        }
    }
}

/// Passes the container that begins here. `part` sketches one of its members or elements, and says whether to go on; the
/// rest is passed.
fn each_part<R: Read>(
    scanner: &mut Scanner<R>,
    end: u8,
    mut part: impl FnMut(&mut Scanner<R>) -> Result<bool, ScanError>,
) -> Result<(), ScanError> {
    scanner.pass(1, None);
    if scanner.skip_byte(end)? {
        return Ok(());
    }
    loop {
        let goes_on = part(scanner)?;
        if scanner.skip_byte(end)? {
            return Ok(());
        }
        scanner.expect_byte(b',')?;
        if !goes_on {
            return scanner.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(text: &str) -> Probe {
        Probe::from_name("x.json", text.as_bytes()).unwrap()
    }

    #[test]
    fn shapes_are_told_apart() {
        for (text, shape) in [
            ("", Shape::Empty),
            (" \n\n", Shape::Empty),
            ("{\"a\":1}", Shape::Document),
            ("{\"a\":1}\n", Shape::Document),
            ("{\n\"a\":1}\n", Shape::Document),
            ("{\"a\":1}\n{\"b\":2}\n", Shape::Lines),
            ("oops\n{\"a\":1}\n", Shape::Lines),
            ("{\"a\":1\n{\"b\":2}\n", Shape::Lines),
            ("{\n\"a\":1}\n{\n\"b\":2}", Shape::Concatenated),
            ("{\"a\":1}{\"b\":2}", Shape::Concatenated),
            ("# Title\n", Shape::Text),
            ("a\0b", Shape::Binary),
        ] {
            assert_eq!(probe(text).shape, shape, "{text:?}");
        }
    }

    #[test]
    fn a_sketch_keeps_keys_and_short_scalars_even_of_a_broken_value() {
        let whole = probe(r#"{"messages":[{"role":["a","b","c","d"]},2,3,4,5,6,7,8,9,10,11,12,13],"format":"x-1"}"#);
        let first = whole.first().unwrap();
        assert_eq!(first.text_of("format").as_deref(), Some("x-1"));
        let messages = first.get("messages").unwrap().elements();
        assert_eq!(messages.len(), LISTED);
        assert_eq!(messages[0].get("role").unwrap().elements().len(), ELEMENTS);
        let broken = probe("{\"simulations\":[{\"id\":\"a\",\"mess");
        assert!(!broken.whole);
        assert_eq!(broken.first().unwrap().get("simulations").unwrap().first().unwrap().text_of("id").unwrap(), "a");
    }
}
