//! Qwen Code's detection of repeated text, in replies and in thoughts.

use std::collections::VecDeque;
use std::sync::LazyLock;

use foldhash::HashMap;
use regex::Regex;

/// Length of the sliding window, in UTF-16 units, as the original counts characters.
const WINDOW: usize = 50;
/// How many occurrences of a window are considered, and their largest mean distance.
const TIMES: usize = 10;
const DISTANCE: f64 = 1.5 * WINDOW as f64;
/// How many characters the rules see, and how many more the buffer may hold.
const SEEN: usize = 4000;
const SLACK: usize = 1000;
/// How many equally spaced occurrences are enough in general, and when the history is full.
const SPACED: usize = 5;
const SPACED_WHEN_FULL: usize = 3;
/// The shortest length of a periodic region.
const REGION: usize = 1000;
/// How many equal thoughts in a row are a repetition.
const THOUGHTS: usize = 3;
/// How many characters of a thought's description are compared.
const DESCRIPTION: usize = 200;

/// The kind of repetition found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RepetitionKind {
    Chant,
    Thoughts,
}

/// The text and the thoughts of the current prompt.
#[derive(Clone, Debug, Default)]
pub(super) struct PromptTexts {
    history: Vec<u16>,
    /// Where each window was seen, by its hash.
    places: HashMap<u64, Vec<usize>>,
    next: usize,
    in_fence: bool,
    thoughts: VecDeque<(String, String)>,
}

impl PromptTexts {
    /// Clears everything except whether a code fence is open.
    pub(super) fn clear(&mut self) {
        self.forget_text();
        self.thoughts.clear();
    }

    fn forget_text(&mut self) {
        self.history.clear();
        self.places.clear();
        self.next = 0;
    }

    /// Takes in a piece of the reply's text; true if it is repetitive.
    pub(super) fn said(&mut self, piece: &[u16]) -> bool {
        let marks = MarkdownFeatures::from_piece(&String::from_utf16_lossy(piece));
        if marks.clear {
            self.forget_text();
        }
        let was_in_fence = self.in_fence;
        self.in_fence ^= marks.fences % 2 == 1;
        if was_in_fence || self.in_fence || marks.is_divider {
            return false;
        }
        self.add(piece)
    }

    /// Takes in a piece of a thought; returns the repetition found, if any.
    pub(super) fn thought(&mut self, piece: &[u16]) -> Option<RepetitionKind> {
        let text = String::from_utf16_lossy(piece);
        let (subject, description) = summary(&text);
        let shown: String = String::from_utf16_lossy(
            &description.trim().to_lowercase().encode_utf16().take(DESCRIPTION).collect::<Vec<_>>(),
        );
        self.thoughts.push_back((subject.trim().to_lowercase(), shown));
        if self.thoughts.len() > THOUGHTS {
            self.thoughts.pop_front();
        }
        if self.thoughts.len() == THOUGHTS && self.thoughts.iter().all(|thought| *thought == self.thoughts[0]) {
            return Some(RepetitionKind::Thoughts);
        }
        let joined: Vec<&str> =
            [subject.as_str(), description.as_str()].into_iter().filter(|part| !part.is_empty()).collect();
        let joined: Vec<u16> = joined.join(" ").encode_utf16().collect();
        if !joined.is_empty() && self.add(&joined) { Some(RepetitionKind::Chant) } else { None }
    }

    fn add(&mut self, piece: &[u16]) -> bool {
        self.history.extend_from_slice(piece);
        self.cut();
        while self.next + WINDOW <= self.history.len() {
            if self.is_repeated(self.next) {
                return true;
            }
            self.next += 1;
        }
        false
    }

    fn cut(&mut self) {
        if self.history.len() <= SEEN + SLACK {
            return;
        }
        let gone = self.history.len() - SEEN;
        self.history.drain(..gone);
        self.next = self.next.saturating_sub(gone);
        self.places.retain(|_, places| {
            places.retain(|place| *place >= gone);
            for place in places.iter_mut() {
                *place -= gone;
            }
            !places.is_empty()
        });
    }

    fn window_start(&self) -> usize {
        self.history.len().saturating_sub(SEEN)
    }

    fn is_repeated(&mut self, at: usize) -> bool {
        let start = self.window_start();
        let window = &self.history[at..at + WINDOW];
        let places = self.places.entry(number_of(window)).or_default();
        places.retain(|place| *place >= start);
        if places.first().is_some_and(|first| &self.history[*first..*first + WINDOW] != window) {
            return false;
        }
        places.push(at);
        if places.len() < 2 {
            return false;
        }
        let places = std::mem::take(places);
        let repeated = is_clustered(&places) || self.is_periodic(&places);
        self.places.insert(number_of(&self.history[at..at + WINDOW]), places);
        repeated
    }

    /// Whether a long unit is repeated: its occurrences are equally spaced, with nothing else in between.
    fn is_periodic(&self, places: &[usize]) -> bool {
        if places.len() < SPACED_WHEN_FULL {
            return false;
        }
        let last = places.len() - 1;
        let stride = places[last] - places[last - 1];
        let spaced = places.windows(2).rev().take_while(|pair| pair[1] - pair[0] == stride).count() + 1;
        let end = places[last] + WINDOW;
        if spaced >= SPACED {
            return self.repeats_itself(places[places.len() - spaced], end, stride);
        }
        spaced >= SPACED_WHEN_FULL
            && self.history.len() >= SEEN
            && self.repeats_itself(self.window_start(), end, stride)
    }

    fn repeats_itself(&self, start: usize, end: usize, stride: usize) -> bool {
        let region = &self.history[start..end];
        region.len() >= REGION && region.iter().zip(region.iter().skip(stride)).all(|(unit, later)| unit == later)
    }
}

/// Whether the last occurrences are close together.
fn is_clustered(places: &[usize]) -> bool {
    let Some(first) = places.len().checked_sub(TIMES) else { return false };
    let distance = places[places.len() - 1] - places[first];
    distance as f64 / (TIMES - 1) as f64 <= DISTANCE
}

/// A hash of a window; windows with the same hash are compared by their text.
fn number_of(window: &[u16]) -> u64 {
    window.iter().fold(0xcbf2_9ce4_8422_2325, |number, unit| (number ^ u64::from(*unit)).wrapping_mul(0x0100_0000_01b3))
}

/// The subject between the first `**` and the next one, and the rest.
fn summary(text: &str) -> (String, String) {
    if let Some((before, rest)) = text.split_once("**")
        && let Some((subject, after)) = rest.split_once("**")
    {
        return (subject.trim().to_owned(), format!("{before}{after}").trim().to_owned());
    }
    (String::new(), text.to_owned())
}

/// The Markdown features of a piece that restart the history.
struct MarkdownFeatures {
    fences: usize,
    is_divider: bool,
    clear: bool,
}

impl MarkdownFeatures {
    fn from_piece(piece: &str) -> Self {
        static STRUCTURE: LazyLock<Vec<Regex>> = LazyLock::new(|| {
            let blank = r"[\s\u{FEFF}&&[^\u{85}]]";
            let patterns = [
                format!(r"(^|\n){blank}*(\|[^\n\r\u{{2028}}\u{{2029}}]*\||[|+-]{{3,}})"),
                format!(r"(^|\n){blank}*[-*+]{blank}"),
                format!(r"(^|\n){blank}*[0-9]+\.{blank}"),
                format!(r"(^|\n)#+{blank}"),
                format!(r"(^|\n)>{blank}"),
            ];
            patterns.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect()
        });
        let fences = piece.matches("```").count();
        let is_line = |c: char| matches!(c, '-' | '+' | '_' | '=' | '*' | '\u{2500}'..='\u{257F}');
        let is_divider = !piece.is_empty() && piece.chars().all(is_line);
        let clear = fences > 0 || is_divider || STRUCTURE.iter().any(|pattern| pattern.is_match(piece));
        Self { fences, is_divider, clear }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    #[test]
    fn short_and_long_units_are_found_where_nothing_else_stands_between_them() {
        let check =
            |text: String, wanted: bool| assert_eq!(PromptTexts::default().said(&units(&text)), wanted, "{text:.60}");
        let sentence = "I will look at the parser again because it fails. ";
        check(sentence.repeat(11), true);
        check(sentence.repeat(9), false);
        let long = (0..40).map(|word| format!("word{word} ")).collect::<Vec<_>>().concat();
        check(long.repeat(8), true);
        check((0..8).map(|nth| format!("{long}{nth}{nth}{nth}")).collect::<Vec<_>>().concat(), false);
    }

    #[test]
    fn three_equal_thoughts_are_one_too_many() {
        let mut texts = PromptTexts::default();
        let thought = units("**Plan** look at it");
        assert_eq!(texts.thought(&thought), None);
        assert_eq!(texts.thought(&thought), None);
        assert_eq!(texts.thought(&units("**plan**  LOOK at it")), Some(RepetitionKind::Thoughts));
    }
}
