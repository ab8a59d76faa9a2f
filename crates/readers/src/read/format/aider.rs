//! aider's chat history, a Markdown file: `####` lines are the user's, `>` lines the tool's, all others the model's.
//!
//! Each session (`# aider chat started at`) is a run, unless the file is an attempt at a graded task: then its
//! sessions are retries within one run. A step is a line of token counts, which comes before the reply in older
//! versions and after it in newer ones.

use super::Format;
use crate::open::probe::Probe;
use crate::read::texts;
use crate::read::turns::Turns;
use crate::record::reading::{Reading, Record};
use crate::transcript::{EndCause, Grade, Header, Instant, Message, PromptedBy, Role, Text, ToolCall, Usage, Usd};
use crate::value::json::plausible;
use crate::value::time;

/// aider's chat history.
pub(super) static FORMAT: Format =
    Format { id: "aider", summary: "aider's chat history: .aider.chat.history.md", recognise, ..Format::reading(read) };

/// The first line of a session.
const BEGINS: &str = "# aider chat started at ";

fn recognise(probe: &Probe) -> Option<String> {
    // Replies may quote lines that look like JSON, so the shape says nothing.
    let head = probe.head.trim_start_matches('\u{feff}').trim_start();
    let begins = BEGINS.trim_end();
    if head.starts_with(begins) { Some(format!("begins with `{begins}`")) } else { None }
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let text = record.text.trim_start_matches('\u{feff}');
    let stem = &record.file.stem;
    let graded = record.grades.grade(stem);
    if let Some(graded) = graded {
        let mut session = AiderSession::default();
        text.lines().for_each(|line| session.line(line));
        let header = Header {
            run_id: stem.clone(),
            prompted_by: PromptedBy::Program,
            task_id: Some(stem.clone()),
            suite: Some("swe-bench".to_owned()),
            model: graded.model.clone(),
            ..Header::default()
        };
        return session.hand_over(header, graded.grade(), out);
    }
    let mut sessions: Vec<AiderSession> = Vec::new();
    for line in text.lines() {
        if line.starts_with(BEGINS) || sessions.is_empty() {
            sessions.push(AiderSession::default());
        }
        if let Some(session) = sessions.last_mut() {
            session.line(line);
        }
    }
    sessions.iter_mut().for_each(AiderSession::close);
    if sessions.iter().all(|session| session.turns.len() == 0) {
        out.error_at(record.text, "no session in which anything was said", "it is left out");
    }
    let several = sessions.len() > 1;
    for (index, session) in sessions.into_iter().enumerate() {
        let run_id = if several { format!("{stem}/{}", index + 1) } else { stem.clone() };
        session.hand_over(Header { run_id, ..Header::default() }, Grade::default(), out);
    }
}

/// The author of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineAuthor {
    User,
    Tool,
    Model,
}

/// A session being read.
#[derive(Default)]
struct AiderSession {
    turns: Turns,
    version: Option<String>,
    model: Option<String>,
    started_at: Option<Instant>,
    /// The lines of the current speaker so far.
    block: Vec<String>,
    speaker: Option<LineAuthor>,
    /// Counts recorded before the reply they belong to.
    ahead: Option<(Usage, Option<Usd>)>,
    interrupted: bool,
    /// Calls so far.
    n_done: usize,
}

impl AiderSession {
    /// Adds what aider did with the current reply as a call: the reply asked for it by its edit blocks.
    fn did(&mut self, name: &str, argument: Option<(&str, &str)>, told: &str, is_error: bool) {
        if self.turns.current().is_none() {
            return;
        }
        self.n_done += 1;
        let id = format!("aider-{}", self.n_done);
        let arguments = match argument {
            Some((key, value)) => serde_json::json!({ key: value }).to_string(),
            None => String::new(),
        };
        self.turns.call(ToolCall::new(Some(&id), name, Text::plain(arguments)), None);
        let mut result = Message::saying(Role::Tool, Text::plain(told));
        (result.tool_call_id, result.is_error) = (Some(id.into()), Some(is_error));
        self.turns.push(result);
    }

    /// Ends the current reply. If it proposes an edit, and nothing says what became of it, that is not known.
    fn settle(&mut self) {
        let Some(reply) = self.turns.current() else { return };
        let proposes = reply.text().lines().any(|line| line.starts_with("<<<<<<< SEARCH") || line == "```diff");
        if reply.tool_calls.is_empty() && proposes {
            self.turns.call(ToolCall::new(None, "aider.proposal", Text::plain("")), None);
        }
    }

    fn line(&mut self, line: &str) {
        if let Some(time) = line.strip_prefix(BEGINS) {
            self.close_block();
            self.reply_without_words();
            let time = format!("\"{}\"", time.trim().replace(' ', "T"));
            if self.started_at.is_none() {
                self.started_at = time::instant(time.as_str());
            }
            return;
        }
        let (speaker, said) = match line {
            // Lines of the user and of the tool end with a Markdown line break; headings and quotations in a reply do
            // not.
            _ if line.starts_with("#### ") && line.ends_with("  ") => (LineAuthor::User, line[5..].trim_start()),
            _ if line.starts_with("> ") && line.ends_with("  ") => (LineAuthor::Tool, &line[2..]),
            _ => (LineAuthor::Model, line),
        };
        if self.speaker != Some(speaker) && (speaker != LineAuthor::Model || !line.trim().is_empty()) {
            self.close_block();
            self.speaker = Some(speaker);
        }
        match speaker {
            LineAuthor::Tool => self.tool_line(said.trim_end()),
            LineAuthor::User => self.block.push(said.trim_end().to_owned()),
            LineAuthor::Model if self.speaker == Some(LineAuthor::Model) => self.block.push(line.to_owned()),
            LineAuthor::Model => {}
        }
    }

    /// Ends the current speaker's block.
    fn close_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        let text = block.join("\n").trim().to_owned();
        match self.speaker.take() {
            Some(LineAuthor::User) => {
                self.reply_without_words();
                self.settle();
                // A command for the program itself is not a message to the model.
                if !text.starts_with('/') || text.starts_with("/ask") || text.starts_with("/architect") {
                    self.turns.say(Role::User, Text::plain(text), None);
                }
            }
            Some(LineAuthor::Model) if !text.is_empty() => {
                self.settle();
                let mut reply = Message::saying(Role::Assistant, Text::plain(text));
                if let Some((usage, cost)) = self.ahead.take() {
                    reply.set_usage(Some(usage));
                    reply.set_cost(cost);
                }
                self.turns.push(reply);
            }
            _ => {}
        }
    }

    /// Adds an empty reply for a call that was counted but has no recorded text.
    fn reply_without_words(&mut self) {
        if let Some((usage, cost)) = self.ahead.take() {
            self.settle();
            let mut reply = Message::new(Role::Assistant);
            reply.set_usage(Some(usage));
            reply.set_cost(cost);
            self.turns.push(reply);
        }
    }

    fn tool_line(&mut self, line: &str) {
        if let Some(version) = line.strip_prefix("Aider v") {
            self.version.get_or_insert_with(|| version.trim().to_owned());
        } else if let Some(rest) =
            ["Model: ", "Models: ", "Main model: "].iter().find_map(|before| line.strip_prefix(before))
        {
            let name = rest.split(" with ").next().unwrap_or(rest).split(',').next().unwrap_or(rest).trim();
            self.model.get_or_insert_with(|| name.to_owned());
        } else if line.starts_with("^C") || line.contains("KeyboardInterrupt") {
            self.interrupted = true;
        } else if let Some(file) = line.strip_prefix("Applied edit to ") {
            self.did("aider.edit", Some(("path", file.trim())), line, false);
        } else if let Some(commit) = line.strip_prefix("Commit ") {
            self.did("aider.commit", Some(("message", commit.trim())), line, false);
        } else if let Some(command) =
            line.strip_prefix("Running ").filter(|command| !command.ends_with("...") && !command.ends_with(':'))
        {
            self.did("aider.run", Some(("command", command.trim())), line, false);
        } else if line.starts_with("The LLM did not conform to the") {
            self.did("aider.edit", None, line, true);
        } else if line.starts_with("Attempt to fix lint errors?") {
            self.did("aider.lint", None, line, true);
        } else if line.starts_with("Attempt to fix test errors?") {
            self.did("aider.test", None, line, true);
        } else if let Some(counted) = counted_before(line) {
            self.reply_without_words();
            self.ahead = Some(counted);
        } else if let Some(counted) = counted_behind(line) {
            let (usage, cost) = counted;
            if let Some(reply) = self.turns.current().filter(|reply| reply.usage().is_none()) {
                reply.set_usage(Some(usage));
                reply.set_cost(cost);
            } else {
                self.ahead = Some((usage, cost));
                self.reply_without_words();
            }
        }
    }

    /// Ends the current block, and adds a reply for a call without text.
    fn close(&mut self) {
        self.close_block();
        self.reply_without_words();
        self.settle();
    }

    fn hand_over(mut self, header: Header, grade: Grade, out: &mut Reading<'_>) {
        self.close();
        // The program was started and quit again.
        if self.turns.len() == 0 {
            return;
        }
        let agent = texts::agent_name("aider", self.version);
        let prompted_by = header.prompted_by.max(PromptedBy::Person);
        let header = Header {
            prompted_by,
            agent: Some(agent),
            model: header.model.or(self.model),
            started_at: self.started_at,
            ..header
        };
        let end = if self.interrupted { EndCause::Killed } else { grade.end };
        out.run(self.turns.into_draft(header, Grade { end, ..grade }));
    }
}

/// Parses `33732 prompt tokens, 69 completion tokens, $0.169695 cost`, which counts the following reply.
fn counted_before(line: &str) -> Option<(Usage, Option<Usd>)> {
    let mut parts = line.split(", ");
    let input = tokens(parts.next()?.strip_suffix(" prompt tokens")?)?;
    let output = tokens(parts.next()?.strip_suffix(" completion tokens")?)?;
    let cost = parts.next().and_then(|part| dollars(part.strip_suffix(" cost")?));
    Some((Usage::new(input, output), cost))
}

/// Parses `Tokens: 2.4k sent, 1.1k cache hit, 104 received. Cost: $0.0042 message, $0.01 session.`, which counts the
/// previous reply.
fn counted_behind(line: &str) -> Option<(Usage, Option<Usd>)> {
    let rest = line.strip_prefix("Tokens: ")?;
    let (counts, cost) = rest.split_once(" Cost: ").unwrap_or((rest, ""));
    let mut usage = Usage::default();
    for part in counts.trim_end_matches('.').split(", ") {
        let (number, what) = part.split_once(' ')?;
        let number = Some(tokens(number)?);
        match what {
            "sent" => usage.input = number,
            "received" => usage.output = number,
            "cache write" => usage.cache_write = number,
            "cache hit" => usage.cache_read = number,
            _ => {}
        }
    }
    let cost = cost.split(", ").find_map(|part| dollars(part.strip_suffix(" message")?));
    if usage.is_empty() { None } else { Some((usage, cost)) }
}

/// Parses `1,234`, `2.4k` or `1.2M`. Rounded counts are used as they are.
fn tokens(text: &str) -> Option<u64> {
    let text = text.trim().replace(',', "");
    let (digits, times) = if let Some(thousands) = text.strip_suffix(['k', 'K']) {
        (thousands, 1e3)
    } else if let Some(millions) = text.strip_suffix('M') {
        (millions, 1e6)
    } else {
        (text.as_str(), 1.0)
    };
    let number = digits.parse::<f64>().ok().filter(|number| (0.0..1e9).contains(number))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 or more, and below 1e15")]
    Some((number * times).round() as u64)
}

fn dollars(text: &str) -> Option<Usd> {
    let dollars = text.trim().strip_prefix('$')?.parse::<f64>().ok()?;
    plausible(dollars).map(Usd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_both_ages_are_read() {
        let (usage, cost) = counted_before("33732 prompt tokens, 69 completion tokens, $0.169695 cost").unwrap();
        assert_eq!((usage, cost), (Usage::new(33_732, 69), Some(Usd(0.169_695))));
        let line = "Tokens: 2.4k sent, 1.1k cache hit, 104 received. Cost: $0.00042 message, $0.01 session.";
        let (usage, cost) = counted_behind(line).unwrap();
        assert_eq!((usage.input, usage.cache_read, usage.output), (Some(2400), Some(1100), Some(104)));
        assert_eq!(cost, Some(Usd(0.000_42)));
        assert_eq!(counted_behind("Tokens: none"), None);
        assert_eq!(counted_before("Repo-map: using 2048 tokens"), None);
    }
}
