//! Ten tasks worked out by hand, and what must not change a digit.

use super::{Attempt, CheckVerdict, NotComparable, ShareOfSuccesses, Side, measure};

/// One run of a task: `b` success before the notice, `x` success from the notice on, `k` success that the limit cuts,
/// `f` failure that reached the notice, `c` failure that the limit cuts, `-` failure before the notice.
fn attempt(task: &str, kind: char) -> Attempt<'_> {
    Attempt {
        task,
        model: "m",
        suite: "",
        is_success: matches!(kind, 'b' | 'x' | 'k'),
        is_reached: !matches!(kind, 'b' | '-'),
        is_cut: matches!(kind, 'k' | 'c'),
        steps: match kind {
            'b' | '-' => 3,
            'k' | 'c' => 6,
            _ => 4,
        },
        spent: Some(if matches!(kind, 'k' | 'c') { 6.0 } else { 4.0 }),
        spent_under_limit: Some(4.0),
    }
}

const TASKS: [&str; 20] =
    ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"];

/// A run of each task, a letter each.
fn side(kinds: &str) -> Vec<Attempt<'static>> {
    kinds.chars().zip(TASKS).map(|(kind, task)| attempt(task, kind)).collect()
}

fn is_near(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 1e-12
}

fn near(share: ShareOfSuccesses, value: f64, half_width: f64) {
    assert!(is_near(share.value, value), "{share:?}");
    let interval = share.interval.unwrap();
    assert!((interval.width() / 2.0 - half_width).abs() < 1e-6, "{share:?}");
}

#[test]
fn ten_tasks_by_hand() {
    // S = 9 successes before, two of them cut; 9 runs reach the notice on both sides; from there on 6 succeed within the
    // limit before and 7 after, so the error is 9 (6/9 - 7/9) / 9.
    let (before, after) = (side("xxxxxxkkcb"), side("xxxxxfxxfb"));
    let measured = measure(&before, &after, 0.03).unwrap();
    assert_eq!((measured.tasks, measured.cells, measured.runs, measured.successes), (10, 10, [10, 10], [9, 8]));
    let found = &measured.estimates;
    assert!(is_near(found.killed.value, 2.0 / 9.0));
    assert!(is_near(found.at_risk.value, 8.0 / 9.0));
    assert!(is_near(found.lost.value, 1.0 / 9.0));
    assert!(found.reached.iter().all(|share| is_near(*share, 0.9)), "{:?}", found.reached);
    near(found.control, 0.0, 0.0);
    // The influences of the tasks are 1 (six of them), 10, -8, -8 and 0, in units of 1/81.
    near(found.error, -1.0 / 9.0, 2.262_157_162_8 * (10.0 / 9.0 * 234.0_f64).sqrt() / 81.0);
    assert_eq!(found.cost.recorded, Some(46.0 / 9.0));
    assert_eq!(found.cost.predicted, Some(40.0 / 7.0));
    assert_eq!(found.cost.real, Some(40.0 / 8.0));
    let CheckVerdict::CannotBeTold { needed, .. } = measured.verdict else { panic!("{:?}", measured.verdict) };
    assert_eq!((needed.tasks > 1000, needed.trials), (true, None));
}

#[test]
fn successes_are_counted_by_step() {
    let measured = measure(&side("xxxxxxkkcb"), &side("xxxxxfxxfb"), 0.03).unwrap();
    let near = |a: [f64; 2], b: [f64; 2]| a.iter().zip(b).all(|(a, b)| is_near(*a, b));
    let by_step = &measured.by_step;
    assert_eq!(by_step.iter().map(|line| line.step).collect::<Vec<_>>(), [3, 4, 6]);
    assert!(near(by_step[0].solved, [0.1, 0.1]) && near(by_step[0].running, [1.0, 1.0]), "{by_step:?}");
    assert!(near(by_step[1].solved, [0.7, 0.8]) && near(by_step[1].running, [0.9, 0.9]), "{by_step:?}");
    assert!(near(by_step[2].solved, [0.9, 0.8]) && near(by_step[2].running, [0.3, 0.0]), "{by_step:?}");
}

#[test]
fn a_limit_that_cuts_what_it_says_has_no_error() {
    let measured = measure(&side("xxxxxxkkcb"), &side("xxxxxxfffb"), 0.03).unwrap();
    assert!(is_near(measured.estimates.error.value, 0.0), "{measured:?}");
    assert!(is_near(measured.estimates.lost.value, measured.estimates.killed.value), "{measured:?}");
    assert!(is_near(measured.in_force, 1.0));
}

#[test]
fn a_limit_that_is_not_kept_is_not_in_force() {
    let measured = measure(&side("xxxxxxkkcb"), &side("xxxxxxkxfb"), 0.03).unwrap();
    assert!(is_near(measured.in_force, 0.9));
    assert_eq!(measured.verdict, CheckVerdict::NotInForce);
}

#[test]
fn a_change_before_the_notice_is_something_else() {
    let before = side("bbbbbbbbbbbbbbxxxxxk");
    let after = side("--------bbbbbbxxxxxf");
    let measured = measure(&before, &after, 0.03).unwrap();
    assert!(is_near(measured.estimates.control.value, -0.4), "{measured:?}");
    assert_eq!(measured.verdict, CheckVerdict::SomethingElseChanged);
}

#[test]
fn order_and_copies_of_both_sides_change_no_digit() {
    let (before, after) = (side("xxxxxxkkcb"), side("xxxxxfxxfb"));
    let once = measure(&before, &after, 0.03).unwrap();
    let reversed: Vec<_> = before.iter().rev().copied().collect();
    assert_eq!(measure(&reversed, &after, 0.03).unwrap(), once);
    let twice = |side: &[Attempt<'static>]| [side, side].concat();
    let doubled = measure(&twice(&before), &twice(&after), 0.03).unwrap().estimates;
    assert_eq!(
        (doubled.error, doubled.control, doubled.lost),
        (once.estimates.error, once.estimates.control, once.estimates.lost)
    );
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let before = side("xxxxxxkkcb");
    let refused = |after: &[Attempt<'_>]| measure(&before, after, 0.03).unwrap_err();
    assert_eq!(refused(&side("xxxx")), NotComparable::FewShared { shared: 4, before: 10, after: 4 });
    assert_eq!(refused(&[attempt("elsewhere", 'x')]), NotComparable::NoSharedTask { before: 10, after: 1 });
    let mut other_model = side("xxxxxxfffb");
    other_model[3].model = "another";
    let one_sided = NotComparable::OneSided { what: "model", side: Side::After, names: vec!["another".to_owned()] };
    assert_eq!(refused(&other_model), one_sided);
    let few = measure(&side("xxxbbbbbbb"), &side("xxxbbbbbbb"), 0.03).unwrap_err();
    assert_eq!(few, NotComparable::FewEvents { events: 6, least: 10 });
    assert_eq!(measure(&side("ffffffffff"), &side("xxxxxxxxxx"), 0.03).unwrap_err(), NotComparable::NoSuccessBefore);
    let seven = (side("xxxxxxx"), side("xxxxxxx"));
    assert_eq!(measure(&seven.0, &seven.1, 0.03).unwrap_err(), NotComparable::FewTasks { shared: 7, least: 8 });
}

/// Numbers in [0, 1), the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) as f64 / 2.0_f64.powi(64)
    }
}

/// A made-up world: tasks of unequal difficulty, a limit of four steps with its notice before the fourth.
struct World {
    tasks: usize,
    trials: usize,
    /// How unequal the tasks are, in [0, 1].
    spread: f64,
}

impl World {
    /// One recording. Each step solves the task with a probability that depends on the task; a run ends unsolved after
    /// eight steps, or after four under the limit.
    fn recorded<'a>(&self, names: &'a [String], random: &mut Random, is_limited: bool) -> Vec<Attempt<'a>> {
        let mut runs = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let place = (at as f64 + 0.5) / self.tasks as f64;
            let chance = 0.2 + self.spread * 0.35 * (place - 0.5);
            for _ in 0..self.trials {
                let most = if is_limited { 4 } else { 8 };
                let solved = (1..=most).find(|_| random.next() < chance);
                let steps = solved.unwrap_or(most);
                runs.push(Attempt {
                    task: name,
                    model: "m",
                    suite: "",
                    is_success: solved.is_some(),
                    is_reached: steps >= 4,
                    is_cut: steps > 4,
                    steps,
                    spent: None,
                    spent_under_limit: None,
                });
            }
        }
        runs
    }

    /// The share of pairs in which an error was found though the limit did what was predicted, and of those in which
    /// something else seemed to have changed.
    fn false_alarms(&self, seed: u64) -> [f64; 2] {
        const PAIRS: usize = 1500;
        let names: Vec<String> = (0..self.tasks).map(|task| format!("t{task:03}")).collect();
        let mut random = Random(seed);
        let mut alarms = [0.0; 2];
        for _ in 0..PAIRS {
            let before = self.recorded(&names, &mut random, false);
            let after = self.recorded(&names, &mut random, true);
            let found = measure(&before, &after, 0.03).unwrap().estimates;
            alarms[0] += f64::from(u8::from(found.error.is_beyond_chance()));
            alarms[1] += f64::from(u8::from(found.control.is_beyond_chance()));
        }
        alarms.map(|alarms| alarms / PAIRS as f64)
    }
}

#[test]
fn a_limit_that_did_what_was_predicted_is_seldom_called_wrong() {
    for (world, seed) in [
        (World { tasks: 60, trials: 1, spread: 0.0 }, 1),
        (World { tasks: 60, trials: 2, spread: 1.0 }, 2),
        (World { tasks: 120, trials: 1, spread: 1.0 }, 3),
    ] {
        let alarms = world.false_alarms(seed);
        assert!(alarms.iter().all(|share| (0.02..=0.065).contains(share)), "{} tasks: {alarms:?}", world.tasks);
    }
}
