//! Limits that the agent was told of, found in texts that the model saw: a total before its first reply, a count that
//! falls with its steps, a last notice. Replies are not looked at, and no sign proves nothing: the text may not be
//! recorded.

use serde::Serialize;

use crate::transcript::{Lane, Message, Role, Run, messages};

/// Bytes of a text that are looked at, at its beginning and at its end; a prompt is looked at further.
const MARGIN: usize = 600;
const PROMPT_MARGIN: usize = 16_384;
/// Characters of a sentence that are quoted.
const QUOTED: usize = 100;

/// What the model was told of a limit on its steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToldSign {
    /// The first sentence that tells.
    pub quote: String,
    /// The step, from 1, before which a text asks to finish; `None` if none does. A bare count does not ask.
    pub notice_step: Option<u64>,
}

/// How many runs tell of a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ToldCounts {
    /// Runs in whose texts the model is told.
    pub told: u64,
    /// The first of them, and its sentence.
    pub first: Option<(String, String)>,
    /// Other runs whose settings have a limit on steps.
    pub declared: u64,
}

impl ToldCounts {
    /// Adds a run.
    pub(crate) fn add(&mut self, run: &str, limit: &LimitSigns) {
        match &limit.told {
            Some(sign) => {
                self.told += 1;
                self.first.get_or_insert_with(|| (run.to_owned(), sign.quote.clone()));
            }
            None => self.declared += u64::from(limit.declared_cap.is_some()),
        }
    }
}

/// What a run shows of a limit on its steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct LimitSigns {
    /// What its texts tell the model.
    pub(crate) told: Option<ToldSign>,
    /// The cap on steps in its settings.
    pub(crate) declared_cap: Option<f64>,
}

impl LimitSigns {
    pub(crate) fn from_run(run: &Run) -> Self {
        Self { told: told_sign(run), declared_cap: recorded_cap(run) }
    }
}

/// The names under which recorders keep a cap that no run's number of model calls can exceed: some count other messages,
/// too, but none counts fewer.
const CAPS: [&str; 6] = ["max_steps", "max_turns", "max_iterations", "step_limit", "turns_max", "message_limit"];

/// The cap on steps in the run's own settings; `None` if there is none. 0 stands for no cap.
pub(crate) fn recorded_cap(run: &Run) -> Option<f64> {
    let meta: serde_json::Value = serde_json::from_str(run.header.meta.as_ref()?.get()).ok()?;
    let caps = CAPS.iter().filter_map(|name| meta.get(name)?.as_f64()).filter(|cap| *cap > 0.0);
    caps.min_by(f64::total_cmp)
}

/// What a sentence says of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LimitSign {
    /// So many steps in all.
    Total(u64),
    /// So many are left.
    Left(u64),
    /// This is the step of that number, of so many.
    Place(u64, u64),
    /// This is the last one.
    Last,
}

/// A sign, where it stands and how it reads.
struct FoundSign {
    sign: LimitSign,
    /// Replies before it.
    after: u64,
    is_of_host: bool,
    quote: String,
}

/// What the model was told in a run; `None` if its texts show no sign.
fn told_sign(run: &Run) -> Option<ToldSign> {
    let steps = run.steps().len() as u64;
    let found = signs(run);
    let total = found.iter().find(|found| found.after == 0 && is_total_of(found.sign, steps));
    let counted = counted(&found);
    let notice =
        found.iter().find(|found| found.sign == LimitSign::Last && found.after > 0 && found.after + 1 >= steps);
    let notice = notice.filter(|notice| notice.is_of_host || total.is_some() || counted.is_some());
    let first = total.or(counted).or(notice)?;
    Some(ToldSign { quote: first.quote.clone(), notice_step: notice.map(|notice| notice.after + 1) })
}

/// True for a total that a run of so many steps kept.
fn is_total_of(sign: LimitSign, steps: u64) -> bool {
    match sign {
        LimitSign::Total(total) | LimitSign::Left(total) => total >= 2 && total >= steps,
        LimitSign::Place(..) | LimitSign::Last => false,
    }
}

/// The first count that changes by one with each step, and is never contradicted.
fn counted(found: &[FoundSign]) -> Option<&FoundSign> {
    let left = counts(found, |sign| if let LimitSign::Left(left) = sign { Some((left, 0)) } else { None });
    let place =
        counts(
            found,
            |sign| if let LimitSign::Place(at, of) = sign { Some((of.saturating_sub(at), of)) } else { None },
        );
    left.or(place)
}

/// The first of the counts of one kind: what is left, and a total that stays.
fn counts(found: &[FoundSign], count: impl Fn(LimitSign) -> Option<(u64, u64)>) -> Option<&FoundSign> {
    let mut first: Option<&FoundSign> = None;
    let mut last: Option<(u64, u64, u64)> = None;
    let mut is_confirmed = false;
    for sign in found.iter().filter(|sign| sign.after > 0) {
        let Some((left, total)) = count(sign.sign) else { continue };
        if let Some((was_left, was_total, was_after)) = last {
            if sign.after == was_after {
                continue;
            }
            if total != was_total || was_left.checked_sub(left) != Some(sign.after - was_after) {
                return None;
            }
            is_confirmed = true;
        }
        last = Some((left, total, sign.after));
        first = first.or(Some(sign));
    }
    first.filter(|_| is_confirmed)
}

/// The signs in all texts that the model saw, in order.
fn signs(run: &Run) -> Vec<FoundSign> {
    let (mut found, mut after) = (Vec::new(), 0);
    for message in messages(run.events()) {
        if message.is_step() {
            after += 1;
        }
        if message.lane != Lane::Main || message.role == Role::Assistant {
            continue;
        }
        look_at(message, after, &mut found);
    }
    found
}

fn look_at(message: &Message, after: u64, found: &mut Vec<FoundSign>) {
    let Some(text) = &message.content else { return };
    let margin = if after == 0 { PROMPT_MARGIN } else { MARGIN };
    if !may_name_step_near_ends(text.stored(), margin) {
        return;
    }
    let text = text.as_str();
    let is_candidate = |part: &&str| may_name_step(part.as_bytes());
    for part in ends(&text, margin).into_iter().filter(is_candidate) {
        for sentence in part.split_inclusive(['\n', '.', '!', '?', ';']).filter(is_candidate) {
            let words = words(sentence);
            if let Some(sign) = sign(&words) {
                let quote = sentence.trim().chars().take(QUOTED).collect();
                found.push(FoundSign { sign, after, is_of_host: message.role != Role::Tool, quote });
            }
        }
    }
}

/// Whether one of the names of a step may stand near the ends of a text as it is stored, with JSON's escapes or without.
/// Most texts are never decoded: this says that it is not worth it.
fn may_name_step_near_ends(stored: &[u8], margin: usize) -> bool {
    let has_codes = memchr::memmem::find(stored, b"\\u").is_some();
    if has_codes && spells_letters(stored) {
        return true;
    }
    // A character takes at most twice its bytes in an escape such as \n, and six times in one such as \u000a.
    let margin = margin * if has_codes { 6 } else { 2 };
    if stored.len() <= 2 * margin {
        return may_name_step(stored);
    }
    may_name_step(&stored[..margin]) || may_name_step(&stored[stored.len() - margin..])
}

/// Whether a letter of the alphabet is spelled as an escape such as \u0073, by which a name may be hidden.
fn spells_letters(stored: &[u8]) -> bool {
    memchr::memmem::find_iter(stored, b"\\u").any(|at| {
        let Some(Ok(digits)) = stored.get(at + 2..at + 6).map(std::str::from_utf8) else { return false };
        matches!(u8::from_str_radix(digits, 16), Ok(code) if code.is_ascii_alphabetic())
    })
}

/// Whether one of the names of a step may stand in a text, with JSON's escapes or without: without one there is no sign in
/// it. Cheaper than to take the text apart into words.
fn may_name_step(text: &[u8]) -> bool {
    const NAMES: [&[u8]; 7] = [b"step", b"turn", b"iteration", b"interaction", b"round", b"chance", b"call"];
    let begins =
        |at: usize, name: &[u8]| text[at..].get(..name.len()).is_some_and(|part| part.eq_ignore_ascii_case(name));
    text.iter().enumerate().any(|(at, byte)| {
        matches!(byte | 0x20, b's' | b't' | b'i' | b'r' | b'c')
            && may_begin_word(text, at)
            && NAMES.iter().any(|name| begins(at, name))
    })
}

/// Whether a word may begin here: after anything but a letter or digit, or after an escape.
fn may_begin_word(text: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return true };
    let is_backslash = |places: usize| at >= places && text[at - places] == b'\\';
    !text[before].is_ascii_alphanumeric() || is_backslash(2) || (is_backslash(6) && text[at - 5] == b'u')
}

/// The beginning and the end of a text, each at most so many bytes; the whole of a short one.
fn ends(text: &str, margin: usize) -> Vec<&str> {
    if text.len() <= 2 * margin {
        return vec![text];
    }
    let (begin, end) = (text.floor_char_boundary(margin), text.ceil_char_boundary(text.len() - margin));
    vec![&text[..begin], &text[end..]]
}

/// The words of a sentence in small letters; a slash between numbers is the word `of`.
fn words(sentence: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in sentence.chars().chain([' ']) {
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
            continue;
        }
        let is_number = word.chars().all(|c| c.is_ascii_digit()) && !word.is_empty();
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c == '/' && is_number {
            words.push("of".to_owned());
        }
    }
    words
}

/// A number in digits or, up to ten, in words.
fn number(word: Option<&String>) -> Option<u64> {
    const NAMES: [&str; 10] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let word = word?;
    if word.len() <= 4
        && let Ok(number) = word.parse()
    {
        return Some(number);
    }
    let named = NAMES.iter().position(|name| name == word)?;
    Some(named as u64 + 1)
}

/// The length in words of the name of a step that ends at `at`.
fn step_name(words: &[String], at: usize) -> Option<usize> {
    let word = words[at].strip_suffix('s').unwrap_or(&words[at]);
    match word {
        "step" | "turn" | "iteration" | "interaction" | "round" => Some(1),
        "chance" if words.iter().any(|word| word.starts_with("interact")) => Some(1),
        "call" if at > 0 && matches!(words[at - 1].as_str(), "tool" | "function") => Some(2),
        _ => None,
    }
}

fn sign(words: &[String]) -> Option<LimitSign> {
    for at in 0..words.len() {
        let Some(length) = step_name(words, at) else { continue };
        let begin = at + 1 - length;
        let signs = [left(words, begin, at), place(words, at), last(words, begin), total(words, begin, at)];
        if let Some(sign) = signs.into_iter().flatten().next() {
            return Some(sign);
        }
    }
    None
}

fn is_one_of(word: Option<&String>, known: &[&str]) -> bool {
    matches!(word, Some(word) if known.contains(&word.as_str()))
}

/// The word so many places before `at`.
fn before(words: &[String], at: usize, places: usize) -> Option<&String> {
    words.get(at.checked_sub(places)?)
}

/// `4 steps left`, `4 remaining steps`, `remaining steps: 4`, `steps left: 4`.
fn left(words: &[String], begin: usize, at: usize) -> Option<LimitSign> {
    let (before, next) = (|places: usize| before(words, begin, places), |places: usize| words.get(at + places));
    let count = if is_one_of(before(1), &["remaining"]) {
        number(next(1)).or(number(before(2)))
    } else if is_one_of(next(1), &["left", "remaining"]) {
        let is_more = is_one_of(before(1), &["more"]);
        number(before(if is_more { 2 } else { 1 })).or(number(next(2)))
    } else {
        None
    };
    count.map(LimitSign::Left)
}

/// `step 3 of 50`.
fn place(words: &[String], at: usize) -> Option<LimitSign> {
    let (place, of) = (number(words.get(at + 1))?, number(words.get(at + 3))?);
    if is_one_of(words.get(at + 2), &["of"]) && place <= of { Some(LimitSign::Place(place, of)) } else { None }
}

/// `this is your last step`, `take the final turn`.
fn last(words: &[String], begin: usize) -> Option<LimitSign> {
    let is_last = is_one_of(before(words, begin, 1), &["last", "final"])
        && is_one_of(before(words, begin, 2), &["your", "the"])
        && (is_addressed(words) || words.starts_with(&["this".to_owned(), "is".to_owned()]));
    if is_last { Some(LimitSign::Last) } else { None }
}

fn is_addressed(words: &[String]) -> bool {
    words.iter().any(|word| matches!(word.as_str(), "you" | "your"))
}

/// `you have at most 30 steps`, `your budget is 30 turns`, `maximum steps: 30`.
fn total(words: &[String], begin: usize, at: usize) -> Option<LimitSign> {
    const CUES: [&str; 9] = ["most", "maximum", "max", "limit", "limited", "within", "only", "have", "budget"];
    const REACH: usize = 5;
    if !is_addressed(words) {
        return None;
    }
    let total = number(before(words, begin, 1));
    let reach = &words[begin.saturating_sub(REACH + 1)..begin];
    if let Some(total) = total.filter(|_| reach.iter().any(|word| CUES.contains(&word.as_str()))) {
        return Some(LimitSign::Total(total));
    }
    let is_maximum = is_one_of(before(words, begin, 1), &["max", "maximum"]);
    let after = number(words.get(at + 1)).or(number(words.get(at + 2)));
    if is_maximum { after.map(LimitSign::Total) } else { None }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::transcript::{Draft, Event, Message, Text};

    fn sign_in(sentence: &str) -> Option<LimitSign> {
        sign(&words(sentence))
    }

    #[test]
    fn sentences_that_tell_are_told_from_those_that_do_not() {
        for (sentence, expected) in [
            ("You have 5 chances to interact with the environment or propose a solution.", Some(LimitSign::Total(5))),
            ("You may use at most 30 steps for this.", Some(LimitSign::Total(30))),
            ("Your budget is 12 tool calls", Some(LimitSign::Total(12))),
            ("You have 4 steps left and 2 chances to propose solution left.", Some(LimitSign::Left(4))),
            ("(Current Step: 2, Remaining Steps: 48)", Some(LimitSign::Left(48))),
            ("Steps remaining: 7", Some(LimitSign::Left(7))),
            ("Current step: 3/100", Some(LimitSign::Place(3, 100))),
            ("This is turn 3 of 10", Some(LimitSign::Place(3, 10))),
            ("You should take the last step to propose a solution.", Some(LimitSign::Last)),
            ("This is your last turn: answer now.", Some(LimitSign::Last)),
            ("Sort the list in at most 5 steps", None),
            ("You have 3 attempts to log in", None),
            ("The last step of the recipe is to bake", None),
            ("Do it step by step, in 3 parts", None),
            ("", None),
        ] {
            assert_eq!(sign_in(sentence), expected, "{sentence}");
        }
    }

    #[test]
    fn a_text_is_looked_at_as_it_is_stored() {
        for (stored, expected) in [
            ("You have 5 steps", true),
            (r"Go.\nSteps left: 4", true),
            (r"Go.\u003cstep 3 of 9>", true),
            (r"Go.\u2019turn 3 of 9", true),
            (r"You have 5 \u0053teps", true),
            (r"You have 5 s\u0074eps", true),
            // A text that is stored without escapes may hold a backslash.
            (r"C:\step", true),
            (r"Go.\\nsteps", true),
            (r"a\\step", true),
            (r"The return value, typically\nfootsteps", false),
            (r"caf\u00e9, \u201cno\u201d", false),
            (r"ends in half an escape \u00", false),
            ("ends in a backslash \\", false),
            ("", false),
        ] {
            assert_eq!(may_name_step_near_ends(stored.as_bytes(), MARGIN), expected, "{stored}");
        }
    }

    #[test]
    fn no_spelling_of_a_text_hides_what_it_tells() {
        let told = "Go.\nYou have 9 steps. \u{201c}Good luck\u{201d}";
        let escaped = |text: &str| {
            let mut escaped = String::new();
            for unit in text.encode_utf16() {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
            escaped
        };
        let lines = "\u{1}".repeat(MARGIN - 30);
        let controls = escaped(&lines);
        let middle = "x".repeat(20 * MARGIN);
        for (stored, plain) in [
            (told.replace('\n', r"\n"), told.to_owned()),
            (escaped(told), told.to_owned()),
            // Escapes take more room than what they stand for.
            (format!("{controls}2 steps left. {middle}"), format!("{lines}2 steps left. {middle}")),
            (format!("{middle} 2 steps left{controls}"), format!("{middle} 2 steps left{lines}")),
        ] {
            for text in [Text::from_json_body(&stored), Text::plain(plain.as_str())] {
                assert_eq!(text.as_str(), plain);
                let mut found = Vec::new();
                look_at(&Message::saying(Role::User, text), 1, &mut found);
                assert_eq!(found.len(), 1, "{stored}");
            }
        }
    }

    /// A run of so many replies; `texts` are what the model sees before each, the first of them its prompt.
    fn run(texts: &[&str]) -> Run {
        let mut events = Vec::new();
        for text in texts {
            events.push(Event::Message(Message::saying(Role::User, *text)));
            events.push(Event::Message(Message::saying(
                Role::Assistant,
                "You have 9 steps left. This is your last step.",
            )));
        }
        Run::new(Draft { events, ..Draft::default() })
    }

    fn told(texts: &[&str]) -> Option<(String, Option<u64>)> {
        told_sign(&run(texts)).map(|sign| (sign.quote, sign.notice_step))
    }

    #[test]
    fn a_run_tells_by_a_total_a_falling_count_or_a_last_notice() {
        let told_by = |quote: &str, at| Some((quote.to_owned(), at));
        assert_eq!(
            told(&["You have 3 steps.", "Go on.", "This is your last step."]),
            told_by("You have 3 steps.", Some(3))
        );
        assert_eq!(told(&["Go.", "2 steps left", "1 step left"]), told_by("2 steps left", None));
        assert_eq!(told(&["Go.", "Step 2/9", "Step 3/9"]), told_by("Step 2/9", None));
        assert_eq!(told(&["Go.", "Go on.", "This is your final turn."]), told_by("This is your final turn.", Some(3)));
    }

    #[test]
    fn what_a_run_did_not_keep_or_what_does_not_count_is_no_sign() {
        assert_eq!(told(&["Go.", "Go on."]), None);
        // More steps than the total: it was about something else.
        assert_eq!(told(&["You have 2 steps.", "a", "b"]), None);
        // A count that stands still, rises or jumps.
        assert_eq!(told(&["Go.", "2 steps left", "2 steps left"]), None);
        assert_eq!(told(&["Go.", "2 steps left", "3 steps left"]), None);
        assert_eq!(told(&["Go.", "9 steps left", "2 steps left"]), None);
        // A single count, and a last step with others to come.
        assert_eq!(told(&["Go.", "Step 2/9", "a"]), None);
        assert_eq!(told(&["Go.", "This is your last step.", "a", "b"]), None);
    }
}
