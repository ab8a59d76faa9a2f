//! What the values of a field look like.

use std::collections::BTreeSet;
use std::fmt;

use crate::label::words::grade_word;
use crate::value::{json, time};

/// Different values kept of one field.
const KEPT: usize = 1000;
/// The longest text that is a name, in bytes.
const NAME: usize = 120;

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FieldValue {
    /// True or false, or a word for one of them.
    Flag(bool),
    Number(f64),
    Time,
    /// A short text.
    Name(String),
    Text,
    Messages,
    List,
}

impl FieldValue {
    /// `None` for null and for what is empty.
    pub(crate) fn from_written(written: &str) -> Option<Self> {
        if let Some(flag) = json::flag(written) {
            return Some(Self::Flag(flag));
        }
        if let Some(inner) = written.strip_prefix('[') {
            let first = inner.trim_start();
            let is_message = first.starts_with('{') && (first.contains("\"role\"") || first.contains("\"content\""));
            if first.starts_with(']') {
                return None;
            }
            return Some(if is_message { Self::Messages } else { Self::List });
        }
        if !written.starts_with('"') {
            return written.parse().ok().map(Self::Number);
        }
        if written.len() > NAME {
            return Some(Self::Text);
        }
        let text = json::string(written).filter(|text| !text.is_empty())?;
        let is_time = text.len() >= 10 && text.as_bytes()[4] == b'-' && time::instant(written).is_some();
        Some(match grade_word(&text) {
            Some(flag) if !matches!(&*text, "0" | "1" | "y" | "n") => Self::Flag(flag),
            _ if is_time => Self::Time,
            _ => Self::Name(text.into_owned()),
        })
    }
}

/// The values of a field.
#[derive(Clone, Debug, Default)]
pub(super) struct Looks {
    /// The runs that have it.
    pub(super) runs: u64,
    flags: [u64; 2],
    numbers: u64,
    range: Option<(f64, f64)>,
    /// Numbers other than 0 and 1.
    beyond: u64,
    ones: u64,
    times: u64,
    names: u64,
    values: BTreeSet<String>,
    texts: u64,
    messages: u64,
    lists: u64,
    /// Its values and the numbers of steps, for whether one grows with the other.
    growth: Vec<(f64, f64)>,
}

impl Looks {
    #[expect(clippy::cast_precision_loss, reason = "counts of steps")]
    pub(super) fn add(&mut self, look: &FieldValue, steps: usize) {
        self.runs += 1;
        match look {
            FieldValue::Flag(flag) => self.flags[usize::from(*flag)] += 1,
            FieldValue::Number(number) => {
                self.numbers += 1;
                let (low, high) = self.range.unwrap_or((*number, *number));
                self.range = Some((low.min(*number), high.max(*number)));
                let is = |value: f64| number.total_cmp(&value).is_eq();
                self.ones += u64::from(is(1.0));
                self.beyond += u64::from(!is(1.0) && !is(0.0));
                if self.growth.len() < KEPT {
                    self.growth.push((steps as f64, *number));
                }
            }
            FieldValue::Time => self.times += 1,
            FieldValue::Name(name) => {
                self.names += 1;
                if self.values.len() < KEPT {
                    self.values.insert(name.clone());
                }
            }
            FieldValue::Text => self.texts += 1,
            FieldValue::Messages => self.messages += 1,
            FieldValue::List => self.lists += 1,
        }
    }

    /// How many runs have true, and how many false, if all values are that, or 0 and 1.
    pub(super) fn as_flag(&self) -> Option<(u64, u64)> {
        let [no, yes] = self.flags;
        let bits = if self.beyond == 0 { self.numbers } else { 0 };
        if no + yes + bits != self.runs {
            return None;
        }
        Some((yes + self.ones, no + self.numbers - self.ones))
    }

    /// The least and the greatest value, if all values are numbers.
    pub(super) fn range(&self) -> Option<(f64, f64)> {
        self.range.filter(|_| self.numbers == self.runs)
    }

    /// Whether the values are short words, and no two runs have the same.
    pub(super) fn are_ids(&self) -> bool {
        let kept = u64::try_from(self.values.len()).unwrap_or(u64::MAX);
        let all_differ = kept == self.runs || self.values.len() == KEPT;
        self.runs > 1 && self.names == self.runs && all_differ && self.values.iter().all(|value| !value.contains(' '))
    }

    /// Whether all values are short texts or whole numbers.
    pub(super) fn is_name(&self) -> bool {
        self.names + self.texts + self.numbers == self.runs && self.runs > 0
    }

    pub(super) fn is_list(&self) -> bool {
        self.lists + self.messages == self.runs
    }

    /// The number of different values, where it is known.
    pub(super) fn values(&self) -> String {
        match self.values.len() {
            KEPT => format!("{KEPT} or more"),
            n if self.names == self.runs => n.to_string(),
            _ => "many".to_owned(),
        }
    }

    /// The only value, or how many there are.
    pub(super) fn values_in_words(&self) -> String {
        match self.values.first().filter(|_| self.values.len() == 1) {
            Some(only) => format!("`{only}`"),
            None => format!("{} values", self.values()),
        }
    }

    /// Whether the number is larger the longer the run is: Kendall's count of pairs in order, on the values kept.
    fn grows(&self) -> bool {
        let pairs = self.growth.windows(2).filter(|pair| pair[0].0.total_cmp(&pair[1].0).is_ne());
        let (mut along, mut all) = (0_u32, 0_u32);
        for pair in pairs {
            all += 1;
            along += u32::from((pair[0].0 < pair[1].0) == (pair[0].1 < pair[1].1));
        }
        all >= 5 && along * 10 >= all * 9
    }
}

impl fmt::Display for Looks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((yes, _)) = self.as_flag() {
            return write!(f, "true or false ({yes} true)");
        }
        if let Some((low, high)) = self.range() {
            return write!(f, "number from {low} to {high}{}", if self.grows() { ", grows with the run" } else { "" });
        }
        let kinds = [
            (self.times, "time"),
            (self.messages, "list of messages"),
            (self.lists, "list"),
            (self.texts, "text"),
            (self.numbers, "number"),
        ];
        match kinds.iter().max_by_key(|(n, _)| *n) {
            Some((n, kind)) if *n > self.names => f.write_str(kind),
            _ => write!(f, "name, {} values", self.values()),
        }
    }
}
