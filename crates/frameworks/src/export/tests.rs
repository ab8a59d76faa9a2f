//! Exported stacks, read back from the host's settings, give the same rows except where the export states a difference.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;
use whenstop_core::verdict::{Assumptions, Course, Ledger, judge};

use super::agents::agents;
use super::{DifferenceGrade, ExportedStack, HostInfo, hosts};
use crate::decision::Strategy;
use crate::framework::Parameter;
use crate::host::{ClauseSlot, Does, Fires};
use crate::replay::replay;
use crate::stack::{Stack, StackFile, Use};
use crate::transcript::{
    Draft, EndCause, Event, Header, Instant, Message, Name, Outcome, Role, Run, ToolCall, Usage, Usd,
};

/// A seeded pseudo-random generator; a multiplier with a long period is good enough here.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// The kind of runs a host is tested on.
#[derive(Clone, Copy)]
struct Kind {
    /// Exactly one prompt per run.
    one_prompt: bool,
    /// No repeated call and no failed step, so that rules that cannot be switched off do not fire.
    calm: bool,
}

/// A run as an agent's loop makes it: each prompt is followed by calls until a reply has none.
fn run(seed: u64, kind: Kind) -> Run {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    dice.below(2);
    let mut events = Vec::new();
    let mut clock = 1_700_000_000_000_i64;
    let mut tick = |dice: &mut Dice| {
        clock += i64::try_from(dice.below(20)).unwrap() * 1000;
        Some(Instant(clock))
    };
    let (mut n_calls, mut n_steps) = (0_u64, 0_usize);
    let prompts = if kind.one_prompt { 1 } else { 1 + dice.below(3) };
    // Only a run with work left can have been ended by a cap.
    let cut_off = dice.below(3) == 0;
    for prompt in 0..prompts {
        let mut message = Message::saying(Role::User, "go on");
        message.ts = tick(&mut dice);
        events.push(Event::Message(message));
        let steps = 1 + dice.below(9);
        for step in 0..steps {
            n_steps += 1;
            let mut reply = Message::saying(Role::Assistant, format!("step {n_steps}").as_str());
            reply.ts = tick(&mut dice);
            reply.set_usage(Some(Usage::new(50 + dice.below(100), 1 + dice.below(40))));
            #[expect(clippy::cast_precision_loss, reason = "small")]
            let cost = dice.below(64) as f64 / 64.0;
            reply.set_cost(Some(Usd(cost)));
            reply.set_finish_reason(Some(Name::from("stop")));
            let is_answer = step + 1 == steps && !(prompt + 1 == prompts && cut_off);
            let calls = if is_answer { 0 } else { 1 + dice.below(3) };
            let mut results = Vec::new();
            for _ in 0..calls {
                n_calls += 1;
                let what = if kind.calm { n_calls } else { dice.below(2) };
                let id = format!("call-{n_calls}");
                reply.tool_calls.push(ToolCall::new(Some(&id), "look", format!("{{\"at\": {what}}}").as_str()));
                let mut result = Message::saying(Role::Tool, format!("seen {}", dice.below(2)).as_str());
                (result.tool_call_id, result.name) = (Some(id.as_str().into()), Some("look".into()));
                result.is_error = Some(!kind.calm && dice.below(2) == 0);
                results.push(result);
            }
            if calls > 0 {
                reply.set_finish_reason(Some(Name::from("tool_calls")));
            }
            events.push(Event::Message(reply));
            for mut result in results {
                result.ts = tick(&mut dice);
                events.push(Event::Message(result));
            }
        }
    }
    let mut draft = Draft { events, ..Draft::default() };
    draft.header =
        Header { run_id: format!("run-{seed}"), task_id: Some(format!("task-{}", seed % 7)), ..Header::default() };
    draft.grade.outcome =
        [Outcome::Success, Outcome::Failure, Outcome::Unknown][usize::try_from(dice.below(3)).unwrap()];
    draft.grade.end = if cut_off && !kind.calm && dice.below(2) == 0 { EndCause::Cap } else { EndCause::SelfFinish };
    if draft.grade.outcome == Outcome::Success && dice.below(2) == 0 {
        draft.grade.secured_step = Some(usize::try_from(dice.below(n_steps as u64)).unwrap());
    }
    Run::new(draft)
}

fn stack(text: &str) -> Arc<Stack> {
    let file = StackFile::parse("tuned.toml", text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    file.stack("tuned").unwrap()
}

/// A column name and its value; empty if the two are not compared.
type Field = (&'static str, String);

/// The row of a strategy on a run, without names; if the host acts at a later point, also without the moment.
fn row(strategy: &Arc<dyn Strategy>, run: &Run, moved: bool) -> Vec<Field> {
    let replay = replay(run, strategy);
    let mut judged = judge(&Course::from_run(run), &Ledger::from_run(run), &replay, Assumptions::default());
    let stop = replay.stop.as_ref();
    let point = if moved {
        judged.at_stop.ms = None;
        judged.known.spent.low.ms = None;
        judged.known.spent.high =
            judged.known.spent.high.map(|high| whenstop_core::verdict::Amounts { ms: None, ..high });
        format!("{:?}", stop.map(|stop| stop.point.steps_paid()))
    } else {
        format!("{:?}", stop.map(|stop: &crate::replay::Stop| stop.point))
    };
    let exactness = replay.exactness.name().to_owned();
    // What an unevaluable rule might have done can widen the bounds, and the two strategies have different rules.
    let is_read = replay.not_evaluable.is_empty();
    let of = |known: String| if is_read { known } else { String::new() };
    vec![
        ("stop", point),
        ("drops_reply", format!("{:?}", stop.map(|stop| stop.drops_reply))),
        ("exactness", exactness),
        ("verdict", judged.verdict.to_string()),
        ("outcome", of(format!("{:?}", judged.outcome))),
        ("known", of(format!("{:?}", judged.known))),
        ("at_stop", format!("{:?}", judged.at_stop)),
    ]
}

/// Clauses for a slot, checked when the host checks, with limits near the sizes of the runs here.
fn clauses(slot: &ClauseSlot) -> Vec<String> {
    if slot.fires == Fires::Named {
        return vec![format!("signal = \"{}\", tool = \"look\"", slot.signal)];
    }
    let limits: &[f64] = match slot.signal.as_str() {
        "tokens.total" | "tokens.input" => &[1.0, 300.0, 600.0, 1100.0],
        "tokens.output" => &[1.0, 40.0, 90.0, 160.0],
        "tokens.context" => &[60.0, 120.0, 145.0],
        "cost" => &[0.5, 1.25, 3.0],
        "elapsed" => &[20.0, 90.0, 200.0],
        "messages" => &[4.0, 9.0, 15.0],
        _ => &[1.0, 2.0, 3.0, 5.0, 8.0],
    };
    let words: &[&str] = match (slot.amount, slot.fires) {
        (false, _) if slot.signal != "elapsed" => &["at_least", "more_than"],
        (_, Fires::MoreThan) => &["more_than"],
        _ => &["at_least"],
    };
    let all = limits.iter().flat_map(|limit| words.iter().map(move |word| (limit, word)));
    all.map(|(limit, word)| format!("signal = \"{}\", {word} = {limit:?}", slot.signal)).collect()
}

/// Compares a stack with its export, read back. Returns how many rows contain a stop.
fn compare(info: HostInfo, text: &str, failures: &mut String) -> usize {
    let own = stack(text);
    let export = ExportedStack::new(&own, info, false).only_this();
    if !export.holds_all() {
        return 0;
    }
    let grades: Vec<DifferenceGrade> = export.differences().iter().map(|difference| difference.grade).collect();
    let (moved, bound) = (grades.contains(&DifferenceGrade::Moment), grades.contains(&DifferenceGrade::Condition));
    let one_prompt = export.differences().iter().any(|difference| difference.what.contains("one prompt"));
    let host = export.strategy().unwrap_or_else(|error| panic!("{}\n{error}", export.stack_file("x")));
    let own: Arc<dyn Strategy> = own;
    let mut stopped = 0;
    let calm = bound && !info.host.also.is_empty();
    for seed in 0..40 {
        let run = run(seed, Kind { one_prompt, calm });
        let (wanted, got) = (row(&own, &run, moved), row(&host, &run, moved));
        stopped += usize::from(wanted[0].1 != "None");
        let differ = |(wanted, got): &(&Field, &Field)| wanted != got && !wanted.1.is_empty() && !got.1.is_empty();
        if wanted.iter().zip(&got).any(|pair| differ(&pair)) {
            let differ = wanted.iter().zip(&got).filter(differ);
            let list: Vec<String> = differ.map(|((name, was), (_, is))| format!("{name} {was} → {is}")).collect();
            let _ = writeln!(
                failures,
                "{} seed {seed}: {text}\n   {}\n   {}",
                info.id,
                export.stack_file("x").replace('\n', " "),
                list.join("\n   ")
            );
            break;
        }
    }
    stopped
}

#[test]
fn an_export_read_back_gives_the_same_rows() {
    let mut failures = String::new();
    for info in hosts() {
        let mut stopped = 0;
        for slot in &info.host.slots {
            for clause in clauses(slot) {
                let moments = ["before_request", "after_response", "after_tools", "end_of_round"];
                for at in moments {
                    for scope in ["run", "round"] {
                        let then = match slot.action {
                            Does::LastAnswer => ", then = \"force_final\"",
                            _ => "",
                        };
                        let text = format!(
                            "[[stack]]\nname = \"tuned\"\nany = [{{ {clause}, at = \"{at}\", scope = \"{scope}\"{then} }}]"
                        );
                        stopped += compare(info, &text, &mut failures);
                    }
                }
            }
        }
        let exact = info.host.slots.iter().any(|slot| slot.differs.is_none());
        assert!(!exact || stopped > 0, "{}: nothing was tried", info.id);
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn the_values_that_stand_in_the_sources_are_json_and_every_template_names_known_parameters() {
    for info in hosts().into_iter().chain(agents()) {
        let host = info.host;
        let pairs = host.quiet.iter().chain(&host.options).chain(host.slots.iter().flat_map(|slot| &slot.with));
        for (name, value) in pairs {
            let read: Result<serde_json::Value, _> = serde_json::from_str(value);
            assert!(read.is_ok(), "{}: {name} = {value}", info.id);
        }
        let known = |name: &str| {
            let quiet = host.quiet.iter().any(|(quiet, _)| *quiet == name);
            quiet
                || host
                    .slots
                    .iter()
                    .any(|slot| slot.parameter == name || slot.with.iter().any(|(with, _)| *with == name))
        };
        for hole in host.template.split("<<").skip(1) {
            let (name, _) = hole.split_once(">>").unwrap();
            let name = name.trim_start_matches(['*', '?']).split('*').next().unwrap();
            assert!(known(name), "{}: nothing sets <<{name}>>", info.id);
        }
        for slot in &host.slots {
            assert!(
                crate::stack::parse_rule("", &slot.signal, crate::rule::Comparator::AtLeast, 1.0, "tool = \"t\"")
                    .is_ok()
                    || crate::stack::parse_rule("", &slot.signal, crate::rule::Comparator::AtLeast, 1.0, "").is_ok(),
                "{}: {}",
                info.id,
                slot.signal
            );
            let in_template = host.template.is_empty() || host.template.contains(&slot.parameter);
            assert!(in_template || slot.parameter == "condition.or", "{}: {}", info.id, slot.parameter);
        }
        assert!(!host.slots.is_empty() || host.cannot.iter().any(|(name, _)| name.is_empty()), "{}", info.id);
    }
}

#[test]
fn the_nearest_that_a_host_can_do_is_settings_it_takes() {
    for info in hosts() {
        for slot in &info.host.slots {
            for clause in clauses(slot) {
                let text = format!("[[stack]]\nname = \"tuned\"\nany = [{{ {clause} }}]\ncap = {{ steps = 30 }}");
                let export = ExportedStack::new(&stack(&text), info, true);
                for export in [export.clone(), export.only_this()] {
                    if let Err(error) = export.strategy() {
                        panic!("{}: {text}\n{}\n{error}", info.id, export.stack_file("native.json"));
                    }
                }
            }
        }
    }
}

/// The dotted names of all settings that are no tables.
fn leaves(prefix: &str, set: &serde_json::Map<String, serde_json::Value>, names: &mut Vec<String>) {
    for (name, value) in set {
        match value {
            serde_json::Value::Object(inner) => leaves(&format!("{prefix}{name}."), inner, names),
            _ => names.push(format!("{prefix}{name}")),
        }
    }
}

#[test]
fn no_export_turns_off_a_rule_of_the_hosts_own_unless_asked() {
    let mut n_turned_off = 0;
    for info in hosts().into_iter().chain(agents()) {
        let host = info.host;
        // What a snippet says of a parameter is its value, not a text of the template.
        let literals = host.template.lines().filter(|line| !line.contains("<<"));
        for parameter in info.parameters {
            let last = parameter.name.rsplit('.').next().unwrap();
            let sets =
                |line: &&str| [format!("{last}="), format!("{last}:")].iter().any(|it| line.trim().starts_with(it));
            // A name of the user's own stands for itself.
            let is_open = |line: &&str| {
                let line = line.trim().trim_end_matches(',');
                line.ends_with([':', '{', '[', '(']) || line == format!("{last}={last}")
            };
            let line = literals.clone().find(|line| sets(line) && !is_open(line));
            assert!(line.is_none(), "{}: {line:?} is written whatever the stack", info.id);
        }
        for slot in &host.slots {
            for (name, value) in &slot.with {
                let declared = info.parameters.iter().find(|parameter| parameter.name == *name);
                let off = declared.map_or("", |parameter| parameter.off);
                assert!(*value != off && *value != "1000000", "{}: {name} = {value}", info.id);
            }
            for clause in clauses(slot) {
                let text = format!("[[stack]]\nname = \"tuned\"\nany = [{{ {clause} }}]");
                let export = ExportedStack::new(&stack(&text), info, true);
                let mut names = Vec::new();
                leaves("", &export.set, &mut names);
                names.retain(|name| {
                    let is_slot =
                        |slot: &ClauseSlot| slot.parameter == *name || slot.with.iter().any(|(with, _)| with == name);
                    !host.slots.iter().any(is_slot)
                });
                assert!(names.is_empty(), "{}: {text} also sets {names:?}", info.id);
                let stays = export.untouched.clone();
                assert!(export.turned_off.is_empty());
                // Asked for, every rule that is turned off is named.
                let export = export.only_this();
                if export.n_held() == 0 {
                    continue;
                }
                let told = export.snippet() + &export.lines().join("\n");
                for name in stays {
                    n_turned_off += 1;
                    assert!(told.contains(&format!("turns off: {name}: ")), "{}: {name}\n{told}", info.id);
                    let line = export.body().lines().find(|line| line.contains("turns off: ")).map(str::to_owned);
                    let bare = matches!(host.syntax, crate::host::Syntax::Json | crate::host::Syntax::Shell);
                    assert!(line.is_some() || bare, "{}: {name}\n{}", info.id, export.body());
                }
            }
        }
    }
    assert!(n_turned_off > 100, "{n_turned_off}");
}

/// The texts shown to the user when a tuned stack is exported to each host.
fn told(text: &str, to: &str, nearest: bool) -> String {
    let info = super::find(to).unwrap();
    let export = ExportedStack::new(&stack(text), info, nearest);
    format!("{}\n{}", export.verdict(), export.snippet())
}

#[test]
fn a_snippet_says_what_it_holds_and_what_not() {
    let text = r#"
        [[stack]]
        name = "tuned"
        any = [
          { signal = "tokens.total", at_least = 200_000, at = "after_response", scope = "round" },
          { signal = "call_result.count", at_least = 4 },
        ]
        cap = { steps = 50 }
    "#;
    let told = told(text, "pydantic-ai", false);
    assert_eq!(
        told,
        "holds 2 of 3 clauses, on runs of its own kind\n\
         # `tuned` for pydantic-ai-slim 2.68.0 (where the agent is run)\n\
         # held: `tokens.total >= 200000 by round` by usage_limits.total_tokens_limit at 199999 (raises UsageLimitExceeded)\n\
         # NOT held: `call_result.count >= 4`: it has no repetition rule\n\
         # held: `cap 50 steps` by usage_limits.request_limit at 50, which is its default (raises UsageLimitExceeded)\n\
         # but: a prompt that is answered at the limit is no stop: the same on runs of one prompt\n\
         # but: it counts anew with each prompt (`scope = \"round\"`): the same on runs of one prompt\n\
         # tells its agent of a limit on steps: never (pydantic_ai_slim/pydantic_ai/usage.py)\n\
         from pydantic_ai.usage import UsageLimits\n\n\
         usage_limits = UsageLimits(\n    request_limit=50,\n    total_tokens_limit=199999,\n)\n\
         # agent.run_sync(prompt, usage_limits=usage_limits)\n"
    );
}

#[test]
fn a_stack_in_the_words_of_a_stack_file_is_the_same_stack() {
    let text = r#"
        [[stack]]
        name = "all \"of\" it"
        any = [
          { signal = "tokens.total", more_than = 200_000, at = "after_response", scope = "round" },
          { signal = "cost", at_least = 0.25 },
          { signal = "call_result.count", at_least = 4, exempt_tools = ["wait"], identity = { fields = ["path"] } },
          { signal = "errors.share", at_least = 0.6, window = 5, strikes = 2, cooldown = 3, then = "warn" },
          { all = [{ signal = "errors.streak", at_least = 3 }, { not = { signal = "steps", less_than = 10 } }], latched = true },
          { signal = "text.match", regex = '\bDONE "now"\b', of = "results", part = "closing", name = "done" },
          { signal = "tool.named", tool = "submit" },
          { signal = "call.streak", at_least = 3, only_tools = ["bash"], any_order = true },
          { signal = "tool_calls.recent", at_least = 30, seconds = 10 },
          { some = [{ signal = "errors.count", at_least = 3 }, { signal = "steps", at_least = 9 }], least = 1 },
          { lately = { signal = "idle", at_least = 60, between_rounds = true }, within = 3 },
        ]
        cap = { steps = 50 }
    "#;
    let read = |text: &str| StackFile::parse("x", text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let all = read(text).stack("all \"of\" it").unwrap();
    let written = super::stack_file(&all).unwrap();
    let again = read(&written).stack("all \"of\" it").unwrap();
    assert_eq!(format!("{all:?}"), format!("{again:?}"));
}

/// Every number that a framework takes, at another value than its default: its own file has it, and what is read back from
/// there is built from it.
#[test]
fn settings_of_a_host_stand_in_its_own_file() {
    let (mut held, mut left) = (0, 0);
    for to in hosts() {
        let profile = to.host.profile.as_deref().unwrap_or_default();
        for parameter in to.parameters {
            let Some(default) = Parameter::value_of(parameter.default_in(profile)).as_i64() else { continue };
            let set = [(parameter.name.to_owned(), Value::from(default + 7))].into_iter().collect();
            let used = Use { name: "tuned".to_owned(), system: to.id.to_owned(), set, ..Use::default() };
            let export = ExportedStack::from_settings(&used, to);
            if export.n_held() == 0 {
                left += 1;
                assert!(export.lines().iter().any(|line| line.starts_with("NOT held:")), "{}", parameter.name);
                continue;
            }
            held += 1;
            let wanted = (default + 7).to_string();
            assert!(export.body().contains(&wanted), "{} {}: {}", to.id, parameter.name, export.body());
            let last = parameter.name.rsplit('.').next().unwrap();
            assert!(export.native_file().unwrap_or_else(|| export.stack_file("")).contains(last), "{}", parameter.name);
        }
    }
    assert!(held > 60 && left < held, "{held} held, {left} left");
}
