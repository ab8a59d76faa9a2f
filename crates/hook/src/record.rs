//! The records of a session: a fixed head of 48 bytes, then a name and a text, where there are any.
//!
//! Texts of tools are kept as fingerprints mixed with a number of the session's own, so that records of two sessions
//! cannot be compared. Only a stack with a rule that reads texts makes the records hold the texts themselves.

use xxhash_rust::xxh3::xxh3_64;

use crate::transcript::Name;

/// The size of a record without its name and text.
const HEAD: usize = 48;
/// The longest name or text that is kept.
const LONGEST: usize = 4 << 20;

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RecordKind {
    /// The session begins; the text is a [`SessionHeader`](super::state::SessionHeader).
    Header = 1,
    /// A prompt: `a` is the fingerprint of its text, `id` that of the host's prompt id (0 if it has none).
    Prompt = 2,
    /// A reply with calls begins; the calls and their results follow.
    Reply = 3,
    /// A call of the reply: `id` is its id, `a` the fingerprint of its arguments, the name the tool's.
    Call = 4,
    /// The result of a call: `id` is the call's, `a` the fingerprint of the text, the flags [`Flag`]s.
    Result = 5,
    /// The batch is complete: the next request is about to be made.
    Batch = 6,
    /// A reply without calls.
    Close = 7,
    /// A call failed: `id` is the call's.
    Failure = 8,
    /// Tokens of a model call: `id` is its message, `b` one of its calls (0 for none), the text five counts.
    Usage = 9,
    /// How far the transcript has been read: `a` bytes of the file `b`; `id` is that of its path. For a sub-agent's the
    /// text is the path.
    Transcript = 10,
    /// A decision was acted upon: `id` is that of the decision.
    Acted = 11,
    /// The question of a decision was put at a call: `id` is the call's.
    Asked = 12,
    /// The person let the agent go on after a question.
    WentOn = 13,
    /// Something was said to the person that is said once: `id` says what.
    Said = 14,
    /// The agent shortened its context, resumed, or failed to reply; the name says which.
    Note = 15,
    /// Text typed while the agent works.
    Steering = 16,
    /// The session is closed.
    End = 17,
    /// The prompt was interrupted or cleared: what follows is another session.
    Reset = 18,
    /// The host's own text about something that happened meanwhile: a background task ended.
    Notification = 19,
}

impl RecordKind {
    const ALL: [Self; 19] = [
        Self::Header,
        Self::Prompt,
        Self::Reply,
        Self::Call,
        Self::Result,
        Self::Batch,
        Self::Close,
        Self::Failure,
        Self::Usage,
        Self::Transcript,
        Self::Acted,
        Self::Asked,
        Self::WentOn,
        Self::Said,
        Self::Note,
        Self::Steering,
        Self::End,
        Self::Reset,
        Self::Notification,
    ];

    fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// The flags of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flag(pub u8);

impl Flag {
    /// The result is known to have failed or to have succeeded.
    pub const FLAGGED: Self = Self(1);
    /// The result failed.
    pub const FAILED: Self = Self(2);
    /// The record holds the text itself, not only its fingerprint.
    pub const TEXT: Self = Self(4);
    /// The tokens are those of a sub-agent.
    pub const SIDE: Self = Self(8);
    /// The decision rested on tokens that came late.
    pub const LATE: Self = Self(16);
    /// A question is to be put to the person.
    pub const ASK: Self = Self(32);
    /// The agent was told to end the round.
    pub const STOP: Self = Self(64);

    /// True if all flags of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These flags and those of `other`.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRecord {
    /// What it says.
    pub kind: RecordKind,
    /// Its flags.
    pub flags: Flag,
    /// Milliseconds since the epoch; never before the record before it.
    pub time: i64,
    /// See [`RecordKind`].
    pub id: u64,
    /// See [`RecordKind`].
    pub a: u64,
    /// See [`RecordKind`].
    pub b: u64,
    /// A tool's name, or another short word.
    pub name: Name,
    /// A text, or other bytes.
    pub text: Vec<u8>,
}

impl SessionRecord {
    /// An empty record.
    pub fn new(kind: RecordKind, time: i64) -> Self {
        Self { kind, flags: Flag::default(), time, id: 0, a: 0, b: 0, name: Name::default(), text: Vec::new() }
    }

    /// Sets the id.
    #[must_use]
    pub fn id(mut self, id: u64) -> Self {
        self.id = id;
        self
    }

    /// Sets the name.
    #[must_use]
    pub fn named(mut self, name: impl Into<Name>) -> Self {
        self.name = name.into();
        self
    }

    /// Its text, where that is one.
    pub fn words(&self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }

    /// Appends its bytes to `out`. A name or text that is longer than what a record holds is cut.
    pub fn write(&self, out: &mut Vec<u8>) {
        let name = &self.name.as_bytes()[..self.name.floor_char_boundary(usize::from(u16::MAX))];
        let text = &self.text[..self.text.len().min(LONGEST)];
        let length = HEAD + name.len() + text.len();
        let start = out.len();
        out.extend(u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
        out.extend([0; 4]);
        out.extend([self.kind as u8, self.flags.0]);
        out.extend(u16::try_from(name.len()).unwrap_or(u16::MAX).to_le_bytes());
        out.extend([0; 4]);
        out.extend(self.time.to_le_bytes());
        for number in [self.id, self.a, self.b] {
            out.extend(number.to_le_bytes());
        }
        out.extend(name);
        out.extend(text);
        let check = check(&out[start + 8..]);
        out[start + 4..start + 8].copy_from_slice(&check);
    }

    /// Looks for a record where `bytes` begin.
    pub fn find(bytes: &[u8]) -> FoundRecord {
        let Some(length) = bytes.first_chunk().map(|length| u32::from_le_bytes(*length) as usize) else {
            return FoundRecord::Start;
        };
        if !(HEAD..=HEAD + usize::from(u16::MAX) + LONGEST).contains(&length) {
            return FoundRecord::Nothing;
        }
        let Some(whole) = bytes.get(..length) else { return FoundRecord::Start };
        let Some(record) = Self::read(whole) else { return FoundRecord::Nothing };
        FoundRecord::Record(record, length)
    }

    /// Reads the bytes of one record; `None` if they are damaged.
    fn read(whole: &[u8]) -> Option<Self> {
        let number = |at: usize| Some(u64::from_le_bytes(whole.get(at..at + 8)?.try_into().ok()?));
        if whole[4..8] != check(&whole[8..]) {
            return None;
        }
        let n_name = usize::from(u16::from_le_bytes(whole[10..12].try_into().ok()?));
        let (name, text) = whole[HEAD..].split_at_checked(n_name)?;
        Some(Self {
            kind: RecordKind::from_byte(whole[8])?,
            flags: Flag(whole[9]),
            time: number(16)?.cast_signed(),
            id: number(24)?,
            a: number(32)?,
            b: number(40)?,
            name: std::str::from_utf8(name).ok()?.into(),
            text: text.to_vec(),
        })
    }
}

/// What stands where a record is looked for.
#[derive(Debug, PartialEq, Eq)]
pub enum FoundRecord {
    /// A record, and how many bytes it takes.
    Record(SessionRecord, usize),
    /// Perhaps the start of a record whose other bytes are missing.
    Start,
    /// No record.
    Nothing,
}

fn check(bytes: &[u8]) -> [u8; 4] {
    let [a, b, c, d, ..] = xxh3_64(bytes).to_le_bytes();
    [a, b, c, d]
}

/// The number that stands for a host's id; 0 for no id.
pub fn id_of(id: &str) -> u64 {
    if id.is_empty() { 0 } else { xxh3_64(id.as_bytes()).max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written_and_a_damaged_one_not_at_all() {
        let mut record = SessionRecord::new(RecordKind::Call, -5).id(7).named("mcp__server__tool");
        (record.flags, record.a, record.b, record.text) = (Flag::TEXT, u64::MAX, 3, b"{}".to_vec());
        let mut bytes = Vec::new();
        record.write(&mut bytes);
        assert_eq!(SessionRecord::find(&bytes), FoundRecord::Record(record.clone(), bytes.len()));
        for end in 0..bytes.len() {
            assert_eq!(SessionRecord::find(&bytes[..end]), FoundRecord::Start, "{end}");
        }
        for at in 0..bytes.len() {
            let mut broken = bytes.clone();
            broken[at] ^= 0x41;
            assert!(!matches!(SessionRecord::find(&broken), FoundRecord::Record(..)), "{at}");
        }
    }

    #[test]
    fn a_name_too_long_for_a_record_is_cut_between_characters() {
        let mut bytes = Vec::new();
        SessionRecord::new(RecordKind::Call, 0).named("é".repeat(40_000)).write(&mut bytes);
        let FoundRecord::Record(read, _) = SessionRecord::find(&bytes) else { panic!("a record") };
        assert!(read.name.len() <= 65_535 && read.name.chars().all(|c| c == 'é'));
    }
}
