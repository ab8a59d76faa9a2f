//! Gemini CLI's detection of repeated ("chanted") text.

use foldhash::HashMap;

/// Length of the sliding window, in UTF-16 units, as the original counts characters.
const WINDOW: usize = 50;
/// How many characters are kept.
const HISTORY: usize = 5000;
/// How often a window must be seen.
const TIMES: usize = 10;
/// The largest allowed mean distance between those occurrences.
const DISTANCE: usize = 5 * WINDOW;
/// The most distinct texts allowed between them.
const PERIODS: usize = TIMES / 2;
/// Base of the rolling hash. It is odd so that wrapping multiplication loses no information.
const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

/// The remembered text of the current prompt.
#[derive(Clone, Debug, Default)]
pub(super) struct Chant {
    history: Vec<u16>,
    /// Where each window was seen. A window that fired is checked again with the next piece.
    seen: HashMap<u64, Vec<usize>>,
    next: usize,
    in_fence: bool,
    /// Whether to detect lists and rules as intended, rather than as the shipped patterns do.
    as_meant: bool,
}

impl Chant {
    /// `as_meant` chooses how lists and rules are detected: as intended, or as the shipped patterns match them.
    pub(super) fn new(as_meant: bool) -> Self {
        Self { as_meant, ..Self::default() }
    }

    /// Clears the text, but not whether a code fence is open.
    pub(super) fn clear(&mut self) {
        self.history.clear();
        self.seen.clear();
        self.next = 0;
    }

    /// Takes in a reply's text in pieces of `piece` characters (0 for one piece). True if it is chanting, in which case
    /// the rest of the reply was cut off.
    pub(super) fn is_loop(&mut self, text: &str, piece: usize) -> bool {
        if piece == 0 {
            return self.look(text);
        }
        let characters: Vec<char> = text.chars().collect();
        characters.chunks(piece).any(|piece| self.look(&piece.iter().collect::<String>()))
    }

    fn look(&mut self, piece: &str) -> bool {
        let fences = piece.matches("```").count();
        let is_rule = is_rule(piece, self.as_meant);
        if fences > 0 || is_rule || has_markup(piece, self.as_meant) {
            self.clear();
        }
        let was_in_fence = self.in_fence;
        self.in_fence ^= fences % 2 == 1;
        if was_in_fence || self.in_fence || is_rule {
            return false;
        }
        self.history.extend(piece.encode_utf16());
        self.truncate();
        let mut hash = None;
        while let Some(window) = self.history.get(self.next..self.next + WINDOW) {
            let present = match hash {
                Some(hash) if self.next > 0 => roll(hash, self.history[self.next - 1], window[WINDOW - 1]),
                _ => window.iter().fold(0, |hash, unit| push(hash, *unit)),
            };
            if self.window_fires(present) {
                return true;
            }
            hash = Some(present);
            self.next += 1;
        }
        false
    }

    fn truncate(&mut self) {
        let Some(excess) = self.history.len().checked_sub(HISTORY).filter(|excess| *excess > 0) else { return };
        self.history.drain(..excess);
        self.next = self.next.saturating_sub(excess);
        self.seen.retain(|_, places| {
            *places = places.iter().filter_map(|place| place.checked_sub(excess)).collect();
            !places.is_empty()
        });
    }

    /// Whether the window at `next` occurs often, close together, and with little variety between.
    fn window_fires(&mut self, hash: u64) -> bool {
        let places = self.seen.entry(hash).or_default();
        let window = |at: usize| self.history.get(at..at + WINDOW);
        if places.first().is_some_and(|first| window(*first) != window(self.next)) {
            return false;
        }
        places.push(self.next);
        let Some(from) = places.len().checked_sub(TIMES) else { return false };
        let recent = &places[from..];
        let (Some(first), Some(last)) = (recent.first(), recent.last()) else { return false };
        if last.saturating_sub(*first) > DISTANCE * (TIMES - 1) {
            return false;
        }
        let mut periods: Vec<&[u16]> =
            recent.windows(2).map(|pair| self.history.get(pair[0]..pair[1]).unwrap_or_default()).collect();
        periods.sort_unstable();
        periods.dedup();
        periods.len() <= PERIODS
    }
}

/// Extends the hash of a window by one unit.
fn push(hash: u64, unit: u16) -> u64 {
    hash.wrapping_mul(BASE).wrapping_add(u64::from(unit))
}

/// The hash of the window moved one to the right: `left` leaves, `right` enters.
fn roll(hash: u64, left: u16, right: u16) -> u64 {
    const LEFTMOST: u64 = power(WINDOW - 1);
    push(hash.wrapping_sub(u64::from(left).wrapping_mul(LEFTMOST)), right)
}

const fn power(exponent: usize) -> u64 {
    let (mut power, mut n): (u64, usize) = (1, 0);
    while n < exponent {
        power = power.wrapping_mul(BASE);
        n += 1;
    }
    power
}

/// Whether the piece is a horizontal rule. The shipped pattern matches anything made of characters from `+` to `_`, `*`
/// or box-drawing lines, which includes a piece of capitals and digits; as intended, only `+`, `-`, `_`, `=`, `*` and
/// box-drawing lines count.
fn is_rule(piece: &str, as_meant: bool) -> bool {
    let in_range = |c: char| if as_meant { "+-_=".contains(c) } else { ('+'..='_').contains(&c) };
    let drawn = |c: char| in_range(c) || c == '*' || ('\u{2500}'..='\u{257F}').contains(&c);
    !piece.is_empty() && piece.chars().all(drawn)
}

/// Whether some line starts with a table row, a list item, a heading or a quote.
fn has_markup(piece: &str, as_meant: bool) -> bool {
    let bullets: &[char] = if as_meant { &['*', '+', '-'] } else { &['*', '+'] };
    let lines: Vec<&str> = piece.split('\n').collect();
    lines.iter().enumerate().any(|(index, line)| {
        // For a marker at the end of a line, the line break counts as the white space after it.
        let space_follows = |rest: &str| match rest.chars().next() {
            Some(next) => next.is_whitespace(),
            None => index + 1 < lines.len(),
        };
        let after = |text: &'_ str, marker: fn(char) -> bool| {
            let rest = text.trim_start_matches(marker);
            rest.len() < text.len() && space_follows(rest)
        };
        let row = line.trim_start();
        let number = row.trim_start_matches(|c: char| c.is_ascii_digit());
        is_table_row(row)
            || row.strip_prefix(bullets).is_some_and(space_follows)
            || (number.len() < row.len() && number.strip_prefix('.').is_some_and(space_follows))
            || after(line, |c| c == '#')
            || line.strip_prefix('>').is_some_and(space_follows)
    })
}

fn is_table_row(row: &str) -> bool {
    let ruled = row.chars().take_while(|c| matches!(c, '|' | '+' | '-')).count() >= 3;
    ruled || row.strip_prefix('|').is_some_and(|rest| rest.contains('|'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_seen_at_line_starts_only() {
        for text in ["* x", "a\n  + x", "12. x", "# x", "a\n> x", "| a | b", "a\n---", "*\nx"] {
            assert!(has_markup(text, false), "{text}");
        }
        for text in ["- x", "a * x", "1.x", "#x", " # x", " > x", "| a", "--", "*", ""] {
            assert!(!has_markup(text, false), "{text}");
        }
        assert!(has_markup("- x", true));
        assert!(
            is_rule("RETRY-42", false)
                && !is_rule("RETRY-42", true)
                && !is_rule("retry-42", false)
                && !is_rule("", false)
        );
    }

    #[test]
    fn a_letter_chants_when_ten_windows_are_the_same() {
        assert!(!Chant::default().is_loop(&"a".repeat(58), 0));
        assert!(Chant::default().is_loop(&"a".repeat(59), 0));
        assert!(!Chant::default().is_loop(&format!("```{}", "a".repeat(80)), 0));
    }
}
