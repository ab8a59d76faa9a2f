//! Rules and stacks on runs in shorthand. The expected results were worked out by hand.

use super::{Entry, StackFile};
use crate::replay::replay;
use crate::transcript::sketch;

/// Replays `run` under `[[stack]] any = [clauses]` and describes where it stopped.
fn stopped(clauses: &str, run: &str) -> String {
    let text = format!("[[stack]]\nname = \"s\"\nany = [{clauses}]\n");
    let file = StackFile::parse("test.toml", &text).unwrap();
    let [Entry::Own(stack)] = &file.entries[..] else { panic!("one stack of one's own") };
    match replay(&sketch::run(run), stack).stop {
        None => "ran to the end".into(),
        Some(stop) => format!("{} by {}", stop.point, stop.rule),
    }
}

/// Checks one rule on one run: `signal >= limit`, with options after a bar.
fn check(rule: &str, run: &str, expected: &str) {
    let (rule, options) = rule.split_once(" | ").unwrap_or((rule, ""));
    let (signal, limit) = rule.split_once(" >= ").unwrap();
    let comma = if options.is_empty() { "" } else { ", " };
    let got = stopped(&format!("{{ signal = \"{signal}\", at_least = {limit}{comma}{options} }}"), run);
    let got = got.split_once(":after_tools by ").map_or(got.clone(), |(step, _)| format!("stops after step {step}"));
    assert_eq!(got, expected, "{rule} on {run}");
}

#[test]
fn errors_streak_counts_only_consecutive_failures() {
    check("errors.streak >= 3", "a b! b! b! a", "stops after step 3");
    check("errors.streak >= 3", "b! b! a b! b! a", "ran to the end");
    // A step without a flagged result leaves the streak unchanged.
    check("errors.streak >= 2", "b! -hm c? b! a", "stops after step 3");
    // A success among the step's parallel calls ends the streak.
    check("errors.streak >= 2", "b! b!+a b! a", "ran to the end");
}

#[test]
fn a_limit_reached_on_the_last_step_is_no_early_stop() {
    check("steps >= 3", "a a a a", "stops after step 2");
    check("steps >= 4", "a a a a", "ran to the end");
    check("steps >= 4", "a a a -done", "ran to the end");
}

#[test]
fn call_streak_and_count_differ_in_what_comes_between() {
    check("call.streak >= 3", "a(1) a(1) a(1) a", "stops after step 2");
    check("call.streak >= 3", "a(1) a(1) b a(1) a", "ran to the end");
    check("call.count >= 3", "a(1) a(1) b a(1) a", "stops after step 3");
    check("call.streak >= 3", "a(1) a(1) -thinking a(1) a", "ran to the end");
    check("call.streak >= 3 | exempt_tools = [\"wait\"]", "a(1) a(1) wait a(1) b", "stops after step 3");
    check("call.streak >= 3 | identity = \"name\"", "a(1) a(2) a(3) b", "stops after step 2");
    // Parallel calls are one ordered list.
    check("call.streak >= 2", "a+b b+a a+b c", "ran to the end");
    check("call.streak >= 3 | any_order = true", "a+b b+a a+b c", "stops after step 2");
    check("call_result.streak >= 2 | any_order = true", "a=x+b=y b=y+a=x c", "stops after step 1");
    check("call_result.streak >= 2 | any_order = true", "a=x+b=y b=z+a=x c", "ran to the end");
}

#[test]
fn only_tools_is_a_limit_for_some_tools() {
    check("call.streak >= 3 | only_tools = [\"a\"]", "a(1) b a(1) c a(1) d", "stops after step 4");
    check("call.streak >= 3 | only_tools = [\"a\"]", "b b b b a", "ran to the end");
    check("tool_calls >= 3 | only_tools = [\"a\"]", "a b+b a c b a b", "stops after step 5");
    check(
        "call.count >= 2 | only_tools = [\"a\", \"b\"], exempt_tools = [\"b\"]",
        "b b a(1) c a(1) d",
        "stops after step 4",
    );
}

#[test]
fn the_result_tells_a_loop_from_a_poll() {
    check("call_result.streak >= 3", "a=x a=x a=x b", "stops after step 2");
    check("call_result.streak >= 3", "a=x a=y a=z b", "ran to the end");
    check("call_result.count >= 2", "a=x b=q a=y a=x b", "stops after step 3");
}

#[test]
fn cycles_are_counted_in_repeats() {
    check("call.cycle >= 3", "a b a b a b c", "stops after step 5");
    check("call.cycle >= 3", "a a a c", "stops after step 2");
    check("call.cycle >= 2", "a b c a b c d", "stops after step 5");
    check("call.cycle >= 3", "a b a b c a b", "ran to the end");
}

#[test]
fn tokens_fire_at_the_step_that_passes_the_limit() {
    check("tokens.total >= 100", "a @60 a @40 a @10 a", "stops after step 1");
    check("tokens.total >= 100", "a a a a", "ran to the end");
}

#[test]
fn text_rules_read_the_reply_or_its_closing_paragraph() {
    check("text.match >= 1 | phrases = [\"please confirm\"]", "-Please_confirm. a", "stops after step 0");
    check("text.match >= 1 | regex = \"DONE\"", "-done a", "ran to the end");
    check("reply.streak >= 3", "-ok a -ok -ok a", "stops after step 3");
    check("no_text.streak >= 2", "a b -x", "stops after step 1");
    check("tool.named >= 1 | tool = \"submit\"", "a submit a", "stops after step 1");
}

#[test]
fn order_gives_the_credit() {
    let (steps, streak) = ("{ signal = \"steps\", at_least = 2 }", "{ signal = \"call.streak\", at_least = 2 }");
    assert_eq!(stopped(&format!("{steps}, {streak}"), "a a a"), "1:after_tools by steps >= 2");
    assert_eq!(stopped(&format!("{streak}, {steps}"), "a a a"), "1:after_tools by call.streak >= 2");
}

#[test]
fn instant_all_needs_one_point_latched_all_does_not() {
    let parts = "{ signal = \"errors.streak\", at_least = 2 }, { signal = \"steps\", at_least = 4 }";
    let run = "b! b! a a a a";
    assert_eq!(stopped(&format!("{{ all = [{parts}] }}"), run), "ran to the end");
    let latched = stopped(&format!("{{ all = [{parts}], latched = true }}"), run);
    assert_eq!(latched, "3:after_tools by all latched(errors.streak >= 2, steps >= 4)");
}

#[test]
fn some_counts_the_parts_that_hold_and_needs_to_know_them() {
    let (streak, steps, tokens) = (
        "{ signal = \"errors.streak\", at_least = 2 }",
        "{ signal = \"steps\", at_least = 3 }",
        "{ signal = \"tokens.total\", at_least = 10 }",
    );
    let clause = |least: u32| format!("{{ some = [{streak}, {steps}, {tokens}], least = {least}, name = \"s\" }}");
    assert_eq!(stopped(&clause(2), "b! b! a b! b! a"), "4:after_tools by s");
    assert_eq!(stopped(&clause(1), "b! b! a b! b! a"), "1:after_tools by s");
    assert_eq!(stopped(&clause(3), "b! b! a b! b! a"), "ran to the end", "no usage: not known");
    assert_eq!(
        stopped(&format!("{{ not = {}, name = \"n\" }}", clause(2).replace(", name = \"s\"", "")), "a b! a a a"),
        "0:after_tools by n"
    );
}

#[test]
fn lately_remembers_for_so_many_steps() {
    let error = "{ signal = \"errors.streak\", at_least = 2 }";
    let clause = |within: u32| {
        format!(
            "{{ all = [{{ lately = {error}, within = {within} }}, {{ signal = \"steps\", at_least = 5 }}], name = \"l\" }}"
        )
    };
    // The streak is 2 after step 1; the fifth step is step 4.
    assert_eq!(stopped(&clause(4), "b! b! a a a a a"), "4:after_tools by l");
    assert_eq!(stopped(&clause(3), "b! b! a a a a a"), "ran to the end");
}

#[test]
fn not_needs_to_know_that_the_part_does_not_hold() {
    let clause = "{ all = [{ signal = \"steps\", at_least = 2 }, { not = { signal = \"tokens.total\", at_least = 10 } }], name = \"cheap\" }";
    assert_eq!(stopped(clause, "a @3 a @3 a"), "1:after_tools by cheap");
    assert_eq!(stopped(clause, "a a a"), "ran to the end", "no usage: not known, so not fired");
}

#[test]
fn strikes_wait_for_the_nth_time() {
    let clause = "{ signal = \"call.streak\", at_least = 2, strikes = 2 }";
    assert_eq!(stopped(clause, "a a b c c d"), "4:after_tools by call.streak >= 2 (2 strikes)");
}

#[test]
fn a_cap_is_looked_at_before_the_request() {
    let file = StackFile::parse("t", "[[stack]]\nname = \"s\"\ncap = { steps = 2 }").unwrap();
    let [Entry::Own(stack)] = &file.entries[..] else { panic!() };
    let stop = |run: &str| replay(&sketch::run(run), stack).stop.map(|stop| stop.point.to_string());
    assert_eq!(stop("a a a"), Some("2:before_request".into()));
    assert_eq!(stop("a a"), None, "a run of exactly two steps is not cut");
}

#[test]
fn first_firings_agree_with_the_fold() {
    let text = "[[stack]]\nname = \"s\"\nany = [{ signal = \"steps\", at_least = 3 }, { signal = \"errors.streak\", at_least = 1 }]\ncap = { steps = 4 }";
    let file = StackFile::parse("t", text).unwrap();
    let [Entry::Own(stack)] = &file.entries[..] else { panic!() };
    let replay = replay(&sketch::run("a b! a a a a"), stack);
    let firings = replay.first_firings.unwrap();
    let points: Vec<_> =
        firings.iter().map(|firing| firing.map(|(point, _)| point.to_string()).unwrap_or_default()).collect();
    assert_eq!(points, ["2:after_tools", "1:after_tools", "4:before_request"]);
    assert_eq!(replay.stop.unwrap().point.to_string(), "1:after_tools");
}

#[test]
fn errors_say_what_where_and_how_to_fix() {
    let cases = [
        (
            "[[stack]]\nname = \"s\"\nany = [{ signal = \"steps\", at_leest = 3 }]",
            "3:28",
            "unknown key `at_leest`",
            "did you mean `at_least`?",
        ),
        (
            "[[stack]]\nname = \"s\"\nany = [{ signal = \"step\", at_least = 3 }]",
            "3:19",
            "unknown signal `step`",
            "did you mean `steps`?",
        ),
        (
            "[[stack]]\nname = \"s\"\nany = [{ signal = \"steps\" }]",
            "3:19",
            "`steps` without a limit",
            "add a limit in steps: `at_least = …`",
        ),
        ("[[stack]]\nany = []", "1:1", "a stack without a `name`", "add `name = \"…\"`: tables are keyed by it"),
        ("", "1:1", "no `[[stack]]`", "a stack file is a list of `[[stack]]` tables"),
        ("[[stak]]\nname = \"s\"", "1:3", "unknown key `stak`", "did you mean `stack`?"),
        (
            "[[stack]]\nname = \"s\"\nany = [{ signal = \"steps\", at_least = \"3\" }]",
            "3:39",
            "`at_least` is the text `3`, and `steps` is a number (steps)",
            "write `at_least = 3`",
        ),
        ("[[stack]\nname = 1", "1:9", "", ""),
    ];
    for (text, place, what, help) in cases {
        let errors = StackFile::parse("s.toml", text).unwrap_err();
        let error = errors.first();
        if !what.is_empty() {
            assert_eq!((error.what.as_str(), error.help.as_str()), (what, help), "{text}");
        }
        assert_eq!(error.at.to_string(), format!("s.toml:{place}"), "{text}");
    }
}

/// The actions of a capped stack on seven steps, as `step:action`.
fn capped(cap: &str) -> Vec<String> {
    let file = StackFile::parse("t", &format!("[[stack]]\nname = \"s\"\ncap = {cap}")).unwrap();
    let [Entry::Own(stack)] = &file.entries[..] else { panic!() };
    let replay = replay(&sketch::run("a=x b=x c=x a! a! a! a!"), stack);
    replay.trail.iter().map(|decision| format!("{}:{}", decision.point.step, decision.action)).collect()
}

#[test]
fn at_the_cap_a_bailout_is_asked() {
    assert_eq!(capped("{ steps = 2, on_hit = { bailout = \"stop\" } }"), ["2:stop"]);
    let answers = "{ steps = 2, on_hit = { bailout = \"ask_user\", answers = [\"c\", \"s\"] } }";
    assert_eq!(capped(answers), ["2:extend", "4:stop"], "a grant is a full cap again");
    let own = "{ steps = 2, on_hit = [{ when = { signal = \"errors.streak\", at_least = 1 }, then = \"stop\" }, \
               { then = \"continue\" }] }";
    assert_eq!(capped(own), ["2:extend", "4:stop"]);
    let told = "{ steps = 3, on_hit = [{ then = \"new_instruction\", text = \"wrap up\" }] }";
    assert_eq!(capped(told), ["3:inject", "6:inject"], "the recorded path is followed on");
}

#[test]
fn a_bailout_that_is_not_there_is_named() {
    let error = |on_hit: &str| {
        let text = format!("[[stack]]\nname = \"s\"\ncap = {{ steps = 2, on_hit = {on_hit} }}");
        let errors = StackFile::parse("t", &text).unwrap_err();
        format!("{}: {}", errors.first().what, errors.first().help)
    };
    assert_eq!(error("{ bailout = \"smrt\" }"), "unknown bailout `smrt`: did you mean `smart`?");
    assert_eq!(
        error("{ bailout = \"stop\", budget = 1 }"),
        "bailout `stop` takes no parameter `budget`: it takes none"
    );
    assert_eq!(error("[{ then = \"go\" }]"), "`then` cannot be `go`: known: `continue`, `stop`, `new_instruction`");
    assert!(error("[{ }]").starts_with("a row of `on_hit` that says nothing"));
}

#[test]
fn a_told_limit_warns_before_the_step_of_its_notice() {
    let notice_of = |lines: &str| {
        let file = StackFile::parse("t", &format!("[[stack]]\nname = \"s\"\n{lines}")).unwrap();
        let [Entry::Own(stack)] = &file.entries[..] else { panic!() };
        let notices: Vec<String> = stack
            .clauses
            .iter()
            .filter(|clause| clause.is_notice())
            .map(|clause| clause.condition.to_string())
            .collect();
        (file.told("s").map(|told| (told.steps, told.notice)), notices.join(", "))
    };
    let of_step = |steps, notice, rule: &str| (Some((steps, notice)), rule.to_owned());
    assert_eq!(notice_of("cap = { steps = 4 }"), (None, String::new()));
    assert_eq!(notice_of("told = true\nnotice = 1\ncap = { steps = 4 }"), of_step(4, Some(4), "steps >= 3"));
    assert_eq!(notice_of("told = true\nnotice = 4\ncap = { steps = 4 }"), of_step(4, Some(1), "steps >= 0"));
    assert_eq!(notice_of("told = true\nnotice = \"75 %\"\ncap = { steps = 4 }"), of_step(4, Some(3), "steps >= 2"));
    let rule = "any = [{ signal = \"steps\", at_least = 10 }]";
    assert_eq!(notice_of(&format!("told = true\nnotice = \"75%\"\n{rule}")), of_step(10, Some(8), "steps >= 7"));
    assert_eq!(notice_of(&format!("told = true\n{rule}")), of_step(10, None, "steps >= 0"));
}

#[test]
fn a_told_limit_that_makes_no_sense_is_refused() {
    let error = |lines: &str| {
        let errors = StackFile::parse("t", &format!("[[stack]]\nname = \"s\"\n{lines}")).unwrap_err();
        errors.to_string()
    };
    for (lines, expected) in [
        ("notice = 1\ncap = { steps = 4 }", "a `notice` of a limit that is not told"),
        ("told = true\nany = [{ signal = \"cost\", at_least = 4 }]", "`told` without a limit on steps"),
        ("told = true\nnotice = 5\ncap = { steps = 4 }", "earlier than the first of 4 steps"),
        ("told = true\nnotice = 0\ncap = { steps = 4 }", "should be a whole number from 1"),
        ("told = true\nnotice = \"three\"\ncap = { steps = 4 }", "`notice` is `three`"),
        ("told = true\nnotice = \"175 %\"\ncap = { steps = 4 }", "`notice` is `175 %`"),
        ("told = 1\ncap = { steps = 4 }", "`told` is the number 1 and should be true or false"),
    ] {
        assert!(error(lines).contains(expected), "{lines}: {}", error(lines));
    }
}
