use proptest::prelude::*;

use super::*;
use crate::review::{ChangeReview, Changed};

/// Text made of the characters with a meaning in a line, and any others.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[ |a/\\\\\"#<=>?.\n\r\t-]{0,9}", any::<String>()]
}

fn any_span() -> impl Strategy<Value = BoundedNumber> {
    let end = || prop::option::of(any::<f64>().prop_filter("finite", |value| value.is_finite()));
    (end(), end()).prop_map(|(low, high)| BoundedNumber { low, high })
}

fn any_numbers() -> impl Strategy<Value = StackNumbers> {
    let counts = (any::<u64>(), any::<u64>(), any::<u64>(), prop::option::of(any::<u64>()));
    (counts, any_span(), any_span(), any_span(), any_span(), "[a-z]{1,6}").prop_map(
        |((runs, successes, failures, unknown), stops, kills, true_stops, saved, unit)| StackNumbers {
            runs,
            stops,
            kills,
            successes,
            true_stops,
            failures,
            unit,
            saved,
            cost_per_success: saved.low,
            unknown,
        },
    )
}

fn any_stack() -> impl Strategy<Value = StackStops> {
    let line = (prop::option::of(any_text()), any_text(), any_text());
    let line = line.prop_map(|(rule, stop, verdict)| StopLine { rule, stop, verdict });
    let rules = (any_text(), any_text()).prop_map(|(source, print)| RuleSet { source, print });
    // A stack without runs is not written, so generate at least one.
    let stops = prop::collection::btree_map(any_text(), line, 1..5);
    (prop::option::of(rules), prop::option::of(any_numbers()), stops).prop_map(|(rules, numbers, stops)| StackStops {
        rules,
        numbers,
        stops,
    })
}

fn any_snapshot() -> impl Strategy<Value = StopSnapshot> {
    let formats = prop::collection::btree_map("[a-z0-9-]{1,8}", any::<u64>(), 0..4);
    let corpus =
        (any::<u64>(), formats, any_text()).prop_map(|(runs, formats, print)| CorpusPrint { runs, formats, print });
    let stacks = prop::collection::btree_map(any_text(), any_stack(), 0..4);
    (prop::option::of(any_text()), prop::option::of(corpus), stacks)
        .prop_map(|(whenstop, corpus, stacks)| whole(StopSnapshot { whenstop, corpus, stacks }))
}

/// The snapshot with as many runs under each stack, and everywhere their number.
fn whole(mut snapshot: StopSnapshot) -> StopSnapshot {
    let n = snapshot.stacks.values().map(|stack| stack.stops.len()).min().unwrap_or_default();
    for stack in snapshot.stacks.values_mut() {
        while stack.stops.len() > n {
            stack.stops.pop_last();
        }
        stack.numbers.iter_mut().for_each(|numbers| numbers.runs = n as u64);
    }
    snapshot.corpus.iter_mut().for_each(|corpus| corpus.runs = n as u64);
    snapshot
}

proptest! {
    /// If two snapshots had the same text, they would be the same snapshot: so this also tests injectivity.
    #[test]
    fn any_snapshot_reads_back(snapshot in any_snapshot()) {
        let text = snapshot.to_text();
        prop_assert!(!text.chars().any(|c| c != '\n' && is_hostile(c)), "{:?}", &text);
        let stops = text.lines().filter(|line| !line.is_empty() && !line.starts_with(ABOUT)).count();
        prop_assert_eq!(stops, snapshot.len(), "a line each: {}", &text);
        prop_assert_eq!(StopSnapshot::parse("s", &text).unwrap(), snapshot);
    }

    #[test]
    fn two_that_differ_have_texts_that_differ(one in any_snapshot(), other in any_snapshot()) {
        prop_assert_eq!(one == other, one.to_text() == other.to_text());
    }
}

/// A snapshot of one stack `s`, in which each run is stopped by a rule with its own name.
fn snapshot_of_ids(ids: &[&str]) -> StopSnapshot {
    let line = |rule: &str| StopLine {
        rule: Some(rule.into()),
        stop: "2:after_tools".into(),
        verdict: "killed_verified".into(),
    };
    let stops = ids.iter().map(|id| ((*id).to_owned(), line(id))).collect();
    let stack = StackStops { stops, ..StackStops::default() };
    StopSnapshot { stacks: [("s".to_owned(), stack)].into(), ..StopSnapshot::default() }
}

#[test]
fn ids_alike_have_lines_of_their_own_and_ordinary_ones_no_quotes() {
    let ids = [
        "a | b",
        "a / b",
        "a\nb",
        "a b",
        "a | | b",
        "x |",
        "x",
        "a|b",
        "-",
        "",
        "\"a\"",
        "C:\\runs\\1",
        "# stack",
        "=======",
        "|||||||",
    ];
    let snapshot = snapshot_of_ids(&ids);
    assert_eq!(snapshot.len(), ids.len());
    let text = snapshot.to_text();
    assert_eq!(StopSnapshot::parse("s", &text).unwrap(), snapshot);
    for line in [
        "s | \"a | b\" | \"a | b\" |",
        "s | a / b | a / b |",
        "s | \"a\\nb\" |",
        "s | a|b |",
        "s | \"x |\" |",
        "s | \"-\" | \"-\" |",
        "s | C:\\runs\\1 |",
        "s | \"# stack\" |",
    ] {
        assert!(text.lines().any(|found| found.starts_with(line)), "{line} in {text}");
    }
}

const NEW: &str = "# whenstop stop points v2: stack | run | rule | stop | verdict\n\
    # whenstop | 0.1.0\n# corpus | 2 runs | trace 2 | 00000000000000aa\n\n# stack | s | own rules | 00000000000000bb\n\
    # numbers | s | stops 1 | kills 1 of 1 | true stops 0 of 1 | saved 0..0.25 of cost | cost per success ? | unknown 0 of 2\n\
    s | a | steps >= 3 | 2:after_tools | killed_verified\ns | b | - | end | missed\n";

#[test]
fn text_round_trips_and_differences_are_told() {
    let new = StopSnapshot::parse("s", NEW).unwrap();
    assert_eq!(new.to_text(), NEW);
    let numbers = new.stacks["s"].numbers();
    assert_eq!((numbers.saved.high, numbers.cost_per_success, numbers.unknown), (Some(0.25), None, Some(0)));
    let other =
        StopSnapshot::parse("s", &NEW.replace("2:after_tools | killed_verified", "4:after_tools | good_trim")).unwrap();
    let changes = |now: &StopSnapshot| ChangeReview::between(&new, now, BTreeMap::new()).changes;
    let told = |change: &Changed| {
        format!("{} under {}: was {}; now {}", change.run, change.stack, change.before.told(), change.now.told())
    };
    let lines: Vec<String> = changes(&other).iter().map(told).collect();
    assert_eq!(
        lines,
        ["a under s: was 2:after_tools by steps >= 3 (killed_verified); now 4:after_tools by steps >= 3 (good_trim)"]
    );
    assert!(changes(&new).is_empty());
}

#[test]
fn a_snapshot_that_lacks_a_run_of_a_stack_is_refused() {
    let line = "s | b | - | end | missed\n";
    for text in [NEW.replace(line, ""), format!("{NEW}s | c | - | end | missed\n")] {
        assert!(
            StopSnapshot::parse("s", &text).unwrap_err().what.contains("not of the 2 that were accepted"),
            "{text}"
        );
    }
    assert!(
        StopSnapshot::parse(
            "s",
            &NEW.replace("# corpus | 2 runs | trace 2 | 00000000000000aa\n", "").replace(line, "")
        )
        .is_err()
    );
}

#[test]
fn a_broken_snapshot_is_refused_with_its_line() {
    let (cut, twice) = (format!("{NEW}x | y\n"), format!("{NEW}s | b | - | end | x\n"));
    let (odd, again) = (format!("{NEW}# nothing\n"), format!("{NEW}# stack | s | own rules | 0\n"));
    let conflict = format!("{NEW}<<<<<<< ours\n");
    for (text, line) in [("", 1), ("hello\n", 1), (&cut, 9), (&twice, 9), (&odd, 9), (&again, 9), (&conflict, 9)] {
        assert_eq!(StopSnapshot::parse("s", text).unwrap_err().at.line, line, "{text}");
    }
    assert!(StopSnapshot::parse("s", &conflict).unwrap_err().what.contains("merge"));
}
