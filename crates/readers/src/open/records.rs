//! Splits a file's stream into records by its layout, in file order, without loading the whole file.

use std::io::Read;

use crate::diagnostic::{Diagnostic, Location};
use crate::json_text::is_blank;
use crate::open::finding::Finding;
use crate::open::input_errors;
use crate::open::layout::RecordLayout;
use crate::open::scan::{ScanError, Scanner};

/// Longest top-level field kept as context for a file's records, in bytes.
const ENVELOPE_FIELD: u64 = 1 << 20;

/// Most bytes allocated before a record is read, so that one long record does not enlarge the buffers of the others.
const USUAL: usize = 1 << 16;

/// One record as bytes.
#[derive(Debug)]
pub(crate) struct Cut {
    pub(crate) bytes: Vec<u8>,
    /// The element's key or index, or the line number.
    pub(crate) key: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
    /// The member that this record is, if the file has members (an `.eval` log).
    pub(crate) member: Option<String>,
}

/// The next thing read from a file.
#[derive(Debug)]
pub(crate) enum Item {
    Record(Cut),
    Finding(Finding),
    /// The stream broke off here; what would have followed is lost.
    Broken(Diagnostic),
}

/// The records of one file.
pub(crate) struct Records<R> {
    scanner: Scanner<R>,
    layout: RecordLayout,
    path: String,
    limit: u64,
    state: ReadingPosition,
    /// The first line of the next group, or what was read of a group before a line that was too long.
    pending: Vec<u8>,
    /// A length in bytes that few of the latest records exceeded, as an estimate for the next one.
    usual: usize,
    /// Why the stream broke off; reported after everything before it was delivered.
    broken: Option<ScanError>,
}

/// The reading position in a file.
enum ReadingPosition {
    /// Nothing was read yet.
    Fresh,
    /// Between lines; the number of the first line in `pending`, if the next group begins with what is there.
    Lines(Option<usize>),
    /// Between elements of an array or an object.
    Elements { object: bool, index: usize },
    /// Everything was read.
    Done,
}

impl<R: Read> Records<R> {
    /// The records of `input`; a line or a record longer than `limit` bytes is refused.
    pub(crate) fn new(input: R, layout: RecordLayout, path: &str, limit: u64) -> Self {
        Self {
            scanner: Scanner::new(input),
            layout,
            path: path.to_owned(),
            limit,
            state: ReadingPosition::Fresh,
            pending: Vec::new(),
            usual: 0,
            broken: None,
        }
    }

    /// The next record or finding; `None` at the end of the file.
    pub(crate) fn next(&mut self) -> Option<Item> {
        if let Some(error) = self.broken.take() {
            return Some(self.scan_error(&error));
        }
        if matches!(self.state, ReadingPosition::Done) {
            return None;
        }
        let next = match self.layout {
            RecordLayout::Whole => self.whole(),
            RecordLayout::Lines => self.line(),
            RecordLayout::Values => self.value(),
            RecordLayout::Groups(begins) => self.group(begins),
            RecordLayout::Elements { at, .. } => self.element(at),
        };
        next.unwrap_or_else(|error| {
            self.state = ReadingPosition::Done;
            Some(self.scan_error(&error))
        })
    }

    fn whole(&mut self) -> Result<Option<Item>, ScanError> {
        self.state = ReadingPosition::Done;
        let mut bytes = Vec::new();
        loop {
            let n = self.scanner.at_hand()?.len();
            if n == 0 {
                return Ok(Some(Item::Record(Cut { bytes, key: String::new(), line: 1, column: 1, member: None })));
            }
            if (bytes.len() + n) as u64 > self.limit {
                return Ok(Some(self.too_long(1, "file")));
            }
            self.scanner.pass(n, Some(&mut bytes));
        }
    }

    fn line(&mut self) -> Result<Option<Item>, ScanError> {
        loop {
            let mut bytes = Vec::new();
            let Some(read) = self.scanner.line(&mut bytes, self.limit)? else {
                self.state = ReadingPosition::Done;
                return Ok(None);
            };
            if !read.kept {
                return Ok(Some(self.too_long(read.number, "line")));
            }
            if !is_blank(&bytes) {
                let key = read.number.to_string();
                return Ok(Some(Item::Record(Cut { bytes, key, line: read.number, column: 1, member: None })));
            }
        }
    }

    fn value(&mut self) -> Result<Option<Item>, ScanError> {
        let index = match self.state {
            ReadingPosition::Elements { index, .. } => index,
            _ => 0,
        };
        self.scanner.skip_byte(b',')?;
        if self.scanner.skip_space()?.is_none() {
            self.state = ReadingPosition::Done;
            return Ok(None);
        }
        self.one(false, index, index.to_string())
    }

    /// The value that begins here, which is element number `index`.
    fn one(&mut self, object: bool, index: usize, key: String) -> Result<Option<Item>, ScanError> {
        let (line, column) = (self.scanner.line_number(), self.scanner.column());
        let mut bytes = Vec::new();
        let len = self.scanner.value(Some(&mut bytes), self.limit)?;
        self.state = ReadingPosition::Elements { object, index: index + 1 };
        if len > self.limit {
            return Ok(Some(self.too_long(line, "run")));
        }
        Ok(Some(Item::Record(Cut { bytes, key, line, column, member: None })))
    }

    /// The lines up to the next one that begins a group. A line that is too long is replaced by an empty one, so that
    /// the line numbers stay right.
    fn group(&mut self, begins: fn(&[u8]) -> bool) -> Result<Option<Item>, ScanError> {
        let mut first = match self.state {
            ReadingPosition::Lines(Some(first)) => first,
            _ => 0,
        };
        // The thread that reads a record allocates it, because the allocator makes threads wait that free each other's memory.
        let mut text = Vec::with_capacity(self.usual);
        text.append(&mut self.pending);
        self.pending.shrink_to(USUAL);
        let mut too_long = false;
        loop {
            let end = text.len();
            if first > 0 {
                text.push(b'\n');
            }
            let start = text.len();
            let read = match self.scanner.line(&mut text, self.limit) {
                Ok(Some(read)) => read,
                end_of_stream => {
                    text.truncate(end);
                    self.state = ReadingPosition::Done;
                    self.broken = end_of_stream.err().map(ScanError::Io);
                    break;
                }
            };
            let is_first = begins(&text[start..]);
            if is_first && !is_blank(&text[..end]) {
                self.pending.extend_from_slice(&text[start..]);
                self.state = ReadingPosition::Lines(Some(read.number));
                text.truncate(end);
                break;
            }
            if first == 0 {
                first = read.number;
            }
            if !read.kept {
                self.pending = text;
                self.state = ReadingPosition::Lines(Some(first));
                return Ok(Some(self.too_long(read.number, "line")));
            }
            if text.len() as u64 > self.limit {
                too_long = true;
                text.truncate(end);
            }
        }
        self.usual = text.len().max(self.usual - self.usual / 16).min(USUAL);
        if too_long {
            return Ok(Some(self.too_long(first, "run")));
        }
        if is_blank(&text) {
            return match self.broken.take() {
                Some(error) => Err(error),
                None => Ok(None),
            };
        }
        Ok(Some(Item::Record(Cut { bytes: text, key: first.to_string(), line: first, column: 1, member: None })))
    }

    fn element(&mut self, at: Option<&str>) -> Result<Option<Item>, ScanError> {
        let scanner = &mut self.scanner;
        let (object, index) = match self.state {
            ReadingPosition::Elements { object, index } => {
                let end = if object { b'}' } else { b']' };
                if scanner.skip_byte(end)? {
                    self.state = ReadingPosition::Done;
                    return Ok(None);
                }
                scanner.expect_byte(b',')?;
                (object, index)
            }
            _ => {
                if let Some(object) = enter(scanner, at)? {
                    (object, 0)
                } else {
                    self.state = ReadingPosition::Done;
                    return self.no_container(at);
                }
            }
        };
        if scanner.skip_byte(if object { b'}' } else { b']' })? {
            self.state = ReadingPosition::Done;
            return Ok(None);
        }
        let key = if object { scanner.key()?.into() } else { index.to_string() };
        scanner.skip_space()?;
        self.one(object, index, key)
    }

    /// The finding that a scalar stands where the elements should be.
    fn no_container(&mut self, at: Option<&str>) -> Result<Option<Item>, ScanError> {
        let (Some(key), Some(b'"' | b't' | b'f' | b'-' | b'0'..=b'9')) = (at, self.scanner.skip_space()?) else {
            return Ok(None);
        };
        let at = Location { path: self.path.clone(), line: self.scanner.line_number(), column: self.scanner.column() };
        let what = format!("`{key}` should be an array or an object");
        let diagnostic = Diagnostic::new(at, what, "the runs of this file stand there; none is read");
        Ok(Some(Item::Finding(Finding::error(diagnostic))))
    }

    fn too_long(&self, line: usize, what: &str) -> Item {
        Item::Finding(Finding::error(Diagnostic::new(
            Location::line(self.path.as_str(), line),
            format!("this {what} is longer than {} bytes and is left out", self.limit),
            "raise the limit, if it is a recording",
        )))
    }

    fn scan_error(&self, error: &ScanError) -> Item {
        let at = Location { path: self.path.clone(), line: self.scanner.line_number(), column: self.scanner.column() };
        let (what, help) = match error {
            ScanError::Io(error) => {
                let what = format!("cannot read on: {error}; the runs before it are read");
                return Item::Broken(Diagnostic::new(at, what, input_errors::CUT));
            }
            ScanError::Ended => (
                "the file ends within a value; the runs before it are read".to_owned(),
                "the recording was probably cut off, or is still being written",
            ),
            ScanError::Unexpected(byte) => (
                format!("`{}` cannot stand here; the runs before it are read", byte.escape_ascii()),
                "write the file as valid JSON",
            ),
        };
        Item::Finding(Finding::error(Diagnostic::new(at, what, help)))
    }
}

/// Enters the container of the elements: true for an object, false for an array, `None` if there is no container.
fn enter(scanner: &mut Scanner<impl Read>, at: Option<&str>) -> Result<Option<bool>, ScanError> {
    if let Some(wanted) = at {
        if !scanner.skip_byte(b'{')? || scanner.skip_byte(b'}')? {
            return Ok(None);
        }
        while scanner.key()? != wanted {
            scanner.value(None, 0)?;
            if !scanner.skip_byte(b',')? {
                return Ok(None);
            }
        }
    }
    let found = match scanner.skip_space()? {
        Some(b'{') => true,
        Some(b'[') => false,
        _ => return Ok(None),
    };
    scanner.pass(1, None);
    Ok(Some(found))
}

/// The top-level fields `keys` of a document as a JSON object, as far as they can be read. A broken stream is reported
/// when its records are read.
pub(crate) fn envelope(input: impl Read, keys: &[&str]) -> String {
    let mut scanner = Scanner::new(input);
    let mut fields = Vec::new();
    let _as_far_as_it_went = collect_envelope(&mut scanner, keys, &mut fields);
    format!("{{{}}}", fields.join(","))
}

fn collect_envelope(
    scanner: &mut Scanner<impl Read>,
    keys: &[&str],
    fields: &mut Vec<String>,
) -> Result<(), ScanError> {
    if !scanner.skip_byte(b'{')? || scanner.skip_byte(b'}')? {
        return Ok(());
    }
    loop {
        let key = scanner.key()?;
        if keys.contains(&key.as_str()) {
            let mut bytes = Vec::new();
            if scanner.value(Some(&mut bytes), ENVELOPE_FIELD)? <= ENVELOPE_FIELD
                && let Ok(text) = String::from_utf8(bytes)
            {
                fields.push(format!("{}:{text}", serde_json::Value::String(key.into())));
            }
        } else {
            scanner.value(None, 0)?;
        }
        if !scanner.skip_byte(b',')? {
            return Ok(());
        }
    }
}
