//! Checks runs that were read without errors for suspicious content that could mislead a stop rule, and counts the
//! runs affected.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::Serialize;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::read::format;
use crate::survey::call_counts::CallCounts;
use crate::survey::told_limits::recorded_cap;
use crate::transcript::{EndCause, Event, Grade, Lane, Message, Outcome, PromptedBy, Role, Run, messages, named};

/// Runs listed by id for each check.
const NAMED: usize = 5;
/// Fewest steps for a trend in numbers to be meaningful.
const STEPS: usize = 6;
/// Fewest graded runs for comparing outcomes with end causes.
const GRADED: u64 = 20;

named! {
    /// A suspicious property of a run, in the order of reports.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Check {
        /// Two calls have the same id.
        DuplicateCallIds = "duplicate_call_ids" => "what joins results to calls by id may join the wrong ones",
        /// A call before the last step has no result.
        CallsWithoutResults = "calls_without_results" => "rules on results see nothing there",
        /// A result answers no call.
        ResultsWithoutCalls = "results_without_calls" => "rules on calls see nothing there",
        /// Replies look like calls, and none was read.
        CallsInTexts = "calls_in_texts" =>
            "their replies look like calls in a notation that is not known: rules on calls see nothing",
        /// No run of this format has a call.
        NoCalls = "no_calls" =>
            "no run of this format records a call: rules on calls, results and errors are not evaluable",
        /// The usage of the calls only ever grows: it may be cumulative.
        CumulativeUsage = "cumulative_usage" =>
            "if the counts are totals, token rules fire far too early: convert to counts per call",
        /// More tokens are counted as cached than as input.
        CacheBeyondInput = "cache_beyond_input" =>
            "the input probably leaves cached tokens out: token rules fire too late",
        /// The prompt shrank to less than half, with no compaction recorded.
        FallingPrompt = "falling_prompt" => "the producer may count uncached input only: token sums are too low",
        /// Some calls have tokens and some have none.
        PartialUsage = "partial_usage" => "token rules see a part of the spending only",
        /// The clock stepped back.
        TimeStepsBack = "time_steps_back" => "time rules use the recorded times as they are",
        /// Steps are only milliseconds apart: seconds may have been read as milliseconds.
        StepsTooFast = "steps_too_fast" => "if the times are seconds, time rules fire a thousand times too late",
        /// Times before 1990 or after 2100.
        OddDates = "odd_dates" => "the unit of the times was probably guessed wrong; only differences matter",
        /// Sub-agents' messages are mixed with the agent's.
        SubAgents = "sub_agents" => "their tokens count in the run, their messages are no steps",
        /// The context was compacted during the run.
        Compaction = "compaction" => "context sizes fall there for a reason",
        /// Messages in the agent's name that no model produced.
        CannedMessages = "canned_messages" => "they are neither steps nor calls",
        /// Replies that are already in another file.
        CopiedReplies = "copied_replies" =>
            "they are context here: steps and tokens count in the file that has them first",
        /// The same steps as another run with the same id.
        DuplicateRun = "duplicate_run" => "it counts twice: leave one of the files out",
        /// The same messages and calls as a run of another id and another task.
        RenamedRun = "renamed_run" =>
            "word for word a run of another task: leave one out if it is a copy, or every interval is too narrow",
        /// The outcome is determined by the end cause, so it adds no information.
        OutcomeIsEndCause = "outcome_is_end_cause" =>
            "the outcome may be how the run ended, not whether it did its task: check the field",
        /// More steps than the recording's own cap allows.
        CapExceeded = "cap_exceeded" =>
            "the cap in their settings did not hold: a limit set there will not hold either",
        /// The run succeeded, and a cap ended it.
        CapEndsSuccess = "cap_ends_success" =>
            "the cap is close to what a success takes: a tighter one loses more of them",
        /// The recording does not say why the run ended, and others of its format do.
        EndUnsaid = "end_unsaid" => "a cap may have ended them, and then a looser limit cannot be judged on them",
    }

    /// How it affects the numbers.
    pub fn advice() -> &'static str;
}

/// How many runs a check flagged, and which came first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Oddity {
    /// The check's name.
    pub check: &'static str,
    /// Number of runs flagged.
    pub runs: u64,
    /// Ids of the first runs flagged.
    pub first: Vec<String>,
    /// How it affects the numbers.
    pub advice: &'static str,
}

impl Oddity {
    fn new(check: Check) -> Self {
        Self { check: check.name(), runs: 0, first: Vec::new(), advice: check.advice() }
    }

    /// Counts a run, and keeps its id if it is one of the first.
    fn add(&mut self, run: &str) {
        self.runs += 1;
        if self.first.len() < NAMED {
            self.first.push(run.to_owned());
        }
    }
}

/// The checks' results for a corpus so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hygiene {
    found: BTreeMap<Check, Oddity>,
    /// Hashes of the runs' ids and steps. Only membership is tested, so order has no effect.
    seen: HashSet<u64>,
    /// By the hash of a run's steps, that of the task of the first run that has them; 0 without a task.
    tasks: HashMap<u64, u64>,
    formats: BTreeMap<&'static str, FormatHygiene>,
}

/// What is known of the runs of a format.
#[derive(Clone, Debug, Default)]
struct FormatHygiene {
    /// Counts of graded runs: finished by themselves and succeeded, finished and failed, ended otherwise and succeeded,
    /// ended otherwise and failed.
    ends: [u64; 4],
    has_calls: bool,
    /// Runs that take steps. They are odd if none has a call.
    with_steps: Option<Oddity>,
    /// Whether some run says why it ended.
    says_ends: bool,
    /// Runs that do not say it.
    without_end: Option<Oddity>,
}

impl FormatHygiene {
    fn add(&mut self, run: &Run, ends_on_success: bool) {
        if !ends_on_success && !run.events().iter().any(|event| matches!(event, Event::Checkpoint(_))) {
            self.compare_end(&run.grade);
        }
        let has_steps = !run.steps().is_empty();
        // That the agent had the last word in a person's session is no sign that its format records why runs end.
        let is_last_word = run.grade.end == EndCause::SelfFinish && run.header.prompted_by == PromptedBy::Person;
        if run.grade.end != EndCause::Unknown {
            self.says_ends |= !is_last_word;
        } else if has_steps {
            self.without_end.get_or_insert_with(|| Oddity::new(Check::EndUnsaid)).add(&run.header.run_id);
        }
        if has_steps {
            self.has_calls |= run.has_calls();
            self.with_steps.get_or_insert_with(|| Oddity::new(Check::NoCalls)).add(&run.header.run_id);
        }
    }

    fn compare_end(&mut self, grade: &Grade) {
        let place = match (grade.end, grade.outcome) {
            (EndCause::Unknown, _) | (_, Outcome::Unknown) => return,
            (EndCause::SelfFinish, Outcome::Success) => 0,
            (EndCause::SelfFinish, Outcome::Failure) => 1,
            (_, Outcome::Success) => 2,
            (_, Outcome::Failure) => 3,
        };
        self.ends[place] += 1;
    }
}

impl Hygiene {
    /// Adds a run, in corpus order, and returns the names of the checks that flag it. `native` is the id as recorded,
    /// which several runs may share.
    pub(crate) fn enter(
        &mut self,
        format: &'static str,
        run: &Run,
        native: &str,
        mut checked: RunChecks,
    ) -> Vec<&'static str> {
        checked.odd.extend(self.copy(run, native, checked.print));
        for check in &checked.odd {
            self.found(*check).add(&run.header.run_id);
        }
        // A run graded at every turn ends because it succeeded, so the outcome matches the end cause by design.
        let ends_on_success = matches!(format::by_id(format), Some(format) if format.ends_on_success);
        self.formats.entry(format).or_default().add(run, ends_on_success);
        checked.odd.into_iter().map(Check::name).collect()
    }

    /// What it is if another run has the same steps. Equal runs of one task are trials that happened to match, as at
    /// temperature 0.
    fn copy(&mut self, run: &Run, native: &str, print: u64) -> Option<Check> {
        if run.steps().len() <= 2 {
            return None;
        }
        let task = match &run.header.task_id {
            Some(task) => xxh3_64(task.as_bytes()),
            None => 0,
        };
        let first = *self.tasks.entry(print).or_insert(task);
        if !self.seen.insert(print ^ xxh3_64(native.as_bytes())) {
            return Some(Check::DuplicateRun);
        }
        if first != task && first != 0 && task != 0 { Some(Check::RenamedRun) } else { None }
    }

    fn found(&mut self, check: Check) -> &mut Oddity {
        self.found.entry(check).or_insert_with(|| Oddity::new(check))
    }

    /// All checks that flagged a run, in the order of [`Check::ALL`].
    pub(crate) fn oddities(mut self) -> Vec<Oddity> {
        for (format, of_format) in std::mem::take(&mut self.formats) {
            let [done_well, done_badly, cut_well, cut_badly] = of_format.ends;
            let told_apart = done_badly > 0 || cut_well > 0;
            if !told_apart && done_well + cut_badly >= GRADED && done_well > 0 && cut_badly > 0 {
                let found = self.found(Check::OutcomeIsEndCause);
                (found.runs, found.first) = (done_well + cut_badly, vec![format!("all of {format}")]);
            }
            if let Some(odd) = of_format.with_steps.filter(|_| !of_format.has_calls) {
                let found = self.found(Check::NoCalls);
                found.runs += odd.runs;
                found.first.extend(odd.first.into_iter().take(1));
            }
            if let Some(odd) = of_format.without_end.filter(|_| of_format.says_ends) {
                let found = self.found(Check::EndUnsaid);
                found.runs += odd.runs;
                found.first.extend(odd.first);
            }
        }
        self.found.into_values().collect()
    }
}

/// The results of the checks on one run.
#[derive(Clone, Debug)]
pub(crate) struct RunChecks {
    odd: BTreeSet<Check>,
    /// A hash of what the agent said and did, computed from the undecoded text.
    print: u64,
    /// How its calls and results belong together.
    pub(crate) calls: CallCounts,
}

impl RunChecks {
    /// Checks a run. `unread_calls` is how many of its replies look like calls that were not read.
    pub(crate) fn from_run(run: &Run, unread_calls: u64) -> Self {
        let mut odd = check(run);
        if unread_calls > 0 && 2 * unread_calls >= run.steps().len() as u64 {
            odd.insert(Check::CallsInTexts);
        }
        Self { odd, print: print(run), calls: CallCounts::from_run(run) }
    }

    /// Adds a check that needs the whole corpus.
    pub(crate) fn add(&mut self, check: Check) {
        self.odd.insert(check);
    }
}

fn print(run: &Run) -> u64 {
    let mut hasher = Xxh3::new();
    if run.header.redacted {
        // Redacted texts have the same placeholders in different runs.
        hasher.update(run.header.run_id.as_bytes());
    }
    for message in messages(run.events()).filter(|message| message.lane == Lane::Main) {
        match &message.content {
            Some(content) => hasher.update(content.stored()),
            None => hasher.update(b"-"),
        }
        for call in &message.tool_calls {
            hasher.update(call.name.as_bytes());
            hasher.update(call.arguments.stored());
        }
        hasher.update(b"\0");
    }
    hasher.digest()
}

fn check(run: &Run) -> BTreeSet<Check> {
    let messages: Vec<&Message> = messages(run.events()).collect();
    let is_capped = matches!(run.grade.end, EndCause::Cap | EndCause::Timeout);
    let of_run = [
        (Check::SubAgents, messages.iter().any(|message| matches!(message.lane, Lane::Side(_)))),
        (Check::CannedMessages, messages.iter().any(|message| message.lane == Lane::Canned)),
        (Check::Compaction, is_compacted(run)),
        (Check::CapExceeded, recorded_cap(run).is_some_and(|cap| run.steps().len() as f64 > cap)),
        (Check::CapEndsSuccess, is_capped && run.grade.outcome == Outcome::Success),
    ];
    let (of_calls, of_times) = (check_calls(run, &messages), check_times(&messages));
    let all = of_run.into_iter().chain(of_calls).chain(check_usage(run, &messages)).chain(of_times);
    all.filter(|(_, is_odd)| *is_odd).map(|(check, _)| check).collect()
}

fn is_compacted(run: &Run) -> bool {
    run.events().iter().any(|event| matches!(event, Event::Note(note) if note.is_compaction()))
}

/// Checks, and whether the run is odd by each.
type Checked<const N: usize> = [(Check, bool); N];

fn check_calls(run: &Run, messages: &[&Message]) -> Checked<3> {
    let own = || messages.iter().filter(|message| message.lane == Lane::Main);
    let calls = own().flat_map(|message| &message.tool_calls);
    let ids: Vec<&str> = calls.filter_map(|call| call.id.as_deref()).collect();
    let asked: HashSet<&str> = ids.iter().copied().collect();
    let results = own().filter(|message| message.role == Role::Tool);
    let answered: HashSet<&str> = results.filter_map(|result| result.tool_call_id.as_deref()).collect();
    // The last step's calls often have no result, because the recording ends there.
    let settled = run.steps().len().saturating_sub(1);
    let mut settled = (0..settled).flat_map(|step| run.calls(step)).filter_map(|call| call.id.as_deref());
    [
        (Check::DuplicateCallIds, asked.len() < ids.len()),
        (Check::ResultsWithoutCalls, !answered.is_subset(&asked)),
        (Check::CallsWithoutResults, settled.any(|id| !answered.contains(id))),
    ]
}

fn check_usage(run: &Run, messages: &[&Message]) -> Checked<4> {
    let replies: Vec<&&Message> = messages.iter().filter(|message| message.is_step()).collect();
    let counted: Vec<_> = replies.iter().filter_map(|reply| reply.usage()).collect();
    let outputs: Vec<u64> = counted.iter().filter_map(|usage| usage.output).collect();
    let inputs: Vec<u64> = counted.iter().filter_map(|usage| usage.input).collect();
    let is_falling = inputs.windows(2).any(|pair| pair[1] < pair[0] / 2);
    [
        (Check::PartialUsage, !counted.is_empty() && counted.len() < replies.len()),
        (Check::CacheBeyondInput, counted.iter().any(|usage| usage.cache_read > usage.input)),
        // Prompts grow in any conversation, but replies that only ever get longer are cumulative.
        (Check::CumulativeUsage, outputs.len() >= STEPS && outputs.windows(2).all(|pair| pair[0] < pair[1])),
        (Check::FallingPrompt, is_falling && !is_compacted(run)),
    ]
}

fn check_times(messages: &[&Message]) -> Checked<3> {
    const IN_1990: i64 = 631_152_000_000;
    const IN_2100: i64 = 4_102_444_800_000;
    let own = messages.iter().filter(|message| message.lane == Lane::Main);
    let times: Vec<i64> = own.clone().filter_map(|message| Some(message.ts?.0)).collect();
    let steps: Vec<i64> = own.filter(|message| message.is_step()).filter_map(|message| Some(message.ts?.0)).collect();
    let mut gaps: Vec<i64> = steps.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_unstable();
    let is_fast = matches!(gaps.get(gaps.len() / 2), Some(1..100));
    [
        (Check::TimeStepsBack, times.windows(2).any(|pair| pair[1] < pair[0])),
        (Check::OddDates, times.iter().any(|time| !(IN_1990..IN_2100).contains(time))),
        (Check::StepsTooFast, is_fast && steps.len() >= STEPS),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::trace::read_text;

    /// The checks that flag a run of these lines.
    fn oddities(lines: &str) -> Vec<&'static str> {
        let text = format!("{{\"type\":\"run\",\"run_id\":\"r\"}}\n{lines}");
        let read = read_text(&text);
        assert!(read.findings.is_empty(), "{:?}", read.findings);
        check(&read.runs[0]).into_iter().map(Check::name).collect()
    }

    #[test]
    fn a_cap_that_did_not_hold_and_one_that_ends_a_success() {
        let of = |header: &str, steps: u64, end: &str| {
            let run =
                format!("{{\"type\":\"run\",\"run_id\":\"r\"{header}}}\n{}{end}", replies(steps, |_| String::new()));
            let read = read_text(&run);
            assert!(read.findings.is_empty(), "{:?}", read.findings);
            check(&read.runs[0]).into_iter().map(Check::name).collect::<Vec<_>>()
        };
        let capped = ",\"meta\":{\"max_turns\":60}";
        assert_eq!(of(capped, 73, ""), ["cap_exceeded"]);
        assert_eq!(of(capped, 60, ""), [""; 0]);
        assert_eq!(of(",\"meta\":{\"max_turns\":0}", 73, ""), [""; 0], "no cap");
        let end = "{\"type\":\"outcome\",\"success\":true,\"end\":\"cap\"}\n";
        assert_eq!(of(capped, 60, end), ["cap_ends_success"]);
    }

    #[test]
    fn a_run_under_another_id_and_task_is_a_copy_and_a_trial_of_one_task_is_none() {
        let run = |id: &str, task: &str, content: &str| {
            let task = if task.is_empty() { String::new() } else { format!(",\"task_id\":\"{task}\"") };
            let reply = format!("{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"{content}\"}}\n");
            format!("{{\"type\":\"run\",\"run_id\":\"{id}\"{task}}}\n{}", reply.repeat(3))
        };
        let runs = [
            run("a", "t", "x"),
            run("b", "t", "x"),
            run("c", "u", "x"),
            run("d", "u", "y"),
            run("a", "t", "x"),
            run("e", "", "x"),
        ];
        let read = read_text(&runs.concat());
        let mut hygiene = Hygiene::default();
        let found: Vec<String> = read
            .runs
            .iter()
            .map(|run| hygiene.enter("trace", run, &run.header.run_id, RunChecks::from_run(run, 0)).join(" "))
            .collect();
        assert_eq!(found, ["", "", "renamed_run", "", "duplicate_run", ""]);
    }

    fn reply(rest: &str) -> String {
        format!("{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"x\"{rest}}}\n")
    }

    fn replies(n: u64, rest: impl Fn(u64) -> String) -> String {
        (0..n).map(|step| reply(&rest(step))).collect()
    }

    #[test]
    fn each_check_finds_its_oddity_and_a_healthy_run_has_none() {
        let call = |id: &str| format!(",\"tool_calls\":[{{\"id\":\"{id}\",\"name\":\"t\",\"arguments\":{{}}}}]");
        let result = |id: &str| {
            format!("{{\"type\":\"message\",\"role\":\"tool\",\"tool_call_id\":\"{id}\",\"content\":\"y\"}}\n")
        };
        let usage = |input: u64, output: u64| format!(",\"usage\":{{\"input\":{input},\"output\":{output}}}");
        let at = |ms: u64| format!(",\"ts\":{}", 1_767_607_200_000 + ms);
        let healthy = [reply(&call("a")), result("a"), reply(&call("b")), result("b"), reply("")].concat();
        let cases: Vec<(String, &[&str])> = vec![
            (healthy, &[]),
            ([reply(&call("a")), result("a"), reply(&call("a")), result("a")].concat(), &["duplicate_call_ids"]),
            ([reply(&call("a")), reply("")].concat(), &["calls_without_results"]),
            (reply(&call("a")), &[]),
            ([reply(""), result("z")].concat(), &["results_without_calls"]),
            (replies(6, |step| usage(1000 * (step + 1), 10 * (step + 1))), &["cumulative_usage"]),
            (replies(6, |step| usage(1000 * (step + 1), 10 + step % 2)), &[]),
            (replies(2, |step| usage(1000 / (1 + 9 * step), 10)), &["falling_prompt"]),
            (replies(2, |step| if step == 0 { usage(9, 9) } else { String::new() }), &["partial_usage"]),
            (reply(",\"usage\":{\"input\":5,\"cache_read\":90,\"output\":1}"), &["cache_beyond_input"]),
            (replies(2, |step| at(5000 - step)), &["time_steps_back"]),
            (replies(6, |step| at(step * 8)), &["steps_too_fast"]),
            (replies(6, |step| at(step * 8000)), &[]),
            (reply(",\"ts\":\"1970-01-21T10:00:00Z\""), &["odd_dates"]),
            (reply(",\"lane\":\"side:a\""), &["sub_agents"]),
            (reply(",\"lane\":\"canned\""), &["canned_messages"]),
            ("{\"type\":\"note\",\"kind\":\"x.compact_boundary\",\"body\":{}}\n".to_owned(), &["compaction"]),
        ];
        for (lines, expected) in cases {
            assert_eq!(oddities(&lines), expected, "{lines}");
        }
    }
}
