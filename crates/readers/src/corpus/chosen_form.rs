//! How a file of text is read: its format, and what is done to the text first; or why it is not read.

use std::io::{self, Read};

use crate::find::source::InputFile;
use crate::open::probe::{Probe, Shape};
use crate::read::format::MAPPED;
use crate::read::table_lines;
use crate::read::wrapped_lines::{self, Wrapping};
use crate::read::wrappings::{self, Form};
use crate::record::field_map::FieldMap;
use crate::survey::known_producers;
use crate::survey::map_hint::{self, NamedInputs};
use crate::survey::skip_reasons::{Left, NotRead};

/// How a file is read.
pub(super) struct ChosenForm {
    pub(super) form: Form,
    pub(super) text: TextIn,
}

/// Where the text of the records is.
pub(super) enum TextIn {
    /// In the file as it is.
    File,
    /// This one, which is the file's.
    Known(Vec<u8>),
    /// In the rows of a CSV table.
    Rows,
    /// In lines that another program wrapped.
    Wrapping(Wrapping),
}

impl TextIn {
    /// The text of the records.
    pub(super) fn open(self, source: &InputFile) -> io::Result<Box<dyn Read + Send>> {
        match self {
            Self::Rows => match table_lines::lines(source) {
                Some(lines) => Ok(lines),
                None => source.open(),
            },
            Self::Wrapping(wrapping) => wrapping.open(source),
            Self::Known(text) => Ok(Box::new(io::Cursor::new(text))),
            Self::File => source.open(),
        }
    }
}

/// Chooses a form; `columns` describe a log of no known format.
pub(super) fn choose(
    source: &InputFile,
    probe: &Probe,
    named: &NamedInputs<'_>,
    columns: Option<&FieldMap>,
) -> Result<ChosenForm, NotRead> {
    let mapped = |probe: &Probe| wrappings::mapped(MAPPED, columns?, probe);
    let rows = first_rows(source, probe);
    if let Some(rows) = &rows
        && let Some(form) = mapped(rows)
    {
        return Ok(ChosenForm { form, text: TextIn::Rows });
    }
    if mapped(probe).is_none() && known_producers::is_unread_format(probe) {
        return Err(refusal(source, probe, rows, named));
    }
    let detect = |probe: &Probe| mapped(probe).or_else(|| wrappings::detect(probe));
    // A prefix in brackets would be the first of several values.
    let plain = if probe.shape == Shape::Concatenated { None } else { detect(probe) };
    let is_loose = |form: &Form| form.format.takes_any_messages;
    // Of lines that are strings, only the first would be read.
    if plain.as_ref().is_none_or(|form| is_loose(form) || probe.encoded)
        && let Some((wrapping, form)) = wrapped_lines::detect(source, probe, detect)
        && (plain.is_none() || !is_loose(&form))
    {
        return Ok(ChosenForm { form, text: TextIn::Wrapping(wrapping) });
    }
    match plain.or_else(|| detect(probe)) {
        Some(form) => Ok(ChosenForm { form, text: TextIn::File }),
        None => Err(refusal(source, probe, rows, named)),
    }
}

/// The text in which a mapping is tried: the whole of a small file, the first lines of a large one.
fn beginning(input: Box<dyn Read + Send>) -> String {
    const MOST: u64 = 8 << 20;
    let mut bytes = Vec::new();
    let is_read = input.take(MOST).read_to_end(&mut bytes).is_ok();
    if is_read && bytes.len() as u64 == MOST {
        let end = memchr::memrchr(b'\n', &bytes).unwrap_or(0);
        bytes.truncate(end);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Why no format reads the file, and what to do.
fn refusal(source: &InputFile, probe: &Probe, rows: Option<Probe>, named: &NamedInputs<'_>) -> NotRead {
    // A stream that breaks off would be read up to that point, if that were enough to recognise its format.
    if let Some(error) = &probe.broken {
        return NotRead::unreadable(error);
    }
    let name = source.file_name();
    let not_read = match source.open() {
        Ok(bytes) => NotRead::from_name(&name, probe, bytes),
        Err(_) => NotRead::from_name(&name, probe, io::empty()),
    };
    if let Some((wrapping, inner)) = Wrapping::from_text(source, probe) {
        let reason = format!("JSON of no known format, {}", wrapping.stands());
        let text = wrapping.open(source).map(beginning).unwrap_or_default();
        let advice = map_hint::advice(&inner, &text, named);
        return NotRead { reason, kind: Left::LooksRecorded, advice, ..not_read };
    }
    let advice = match rows {
        Some(rows) => {
            let text = table_lines::lines(source).map(beginning).unwrap_or_default();
            map_hint::for_table(&rows, &text, named)
        }
        // What is known by name needs no mapping.
        None if not_read.is_unknown_json => {
            let longer = source.open().and_then(|bytes| Probe::at_length(&name, bytes));
            let text = source.open().map(beginning).unwrap_or_default();
            map_hint::advice(longer.as_ref().unwrap_or(probe), &text, named)
        }
        None => None,
    };
    NotRead { advice: advice.or(not_read.advice), ..not_read }
}

/// The first look at the rows of a CSV table.
fn first_rows(source: &InputFile, probe: &Probe) -> Option<Probe> {
    if probe.shape != Shape::Text {
        return None;
    }
    let rows = Probe::at_length(&source.file_name(), table_lines::lines(source)?).ok()?;
    if rows.shape == Shape::Lines || rows.document().is_some() { Some(rows) } else { None }
}
