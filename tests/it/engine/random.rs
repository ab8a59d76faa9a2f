//! Random rules, conditions, stacks and runs: seeded, the same on every machine.

use whenstop::decision::{Action, RuleName};
use whenstop::rule::{Comparator, Condition, Rule};
use whenstop::signal::REGISTRY;
use whenstop::stack::{Cap, Clause, OnHit, Scope, Stack, parse_rule};
use whenstop::transcript::sketch::draft;
use whenstop::transcript::{Checkpoint, EndCause, Event, Instant, Moment, Outcome, Run, Usd};

/// Random numbers by splitmix64: the same on every machine.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).unwrap()
    }

    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(super) fn pick<'t, T>(&mut self, list: &'t [T]) -> &'t T {
        &list[self.below(list.len())]
    }
}

/// A rule over any signal, with options where it takes some.
pub(super) fn rule(dice: &mut Dice) -> Rule {
    let info = dice.pick(REGISTRY);
    let needed = match info.id {
        "tool.named" => "tool = \"a\"",
        "metric" => "metric = \"loss\"",
        "text.match" => *dice.pick(&["phrases = [\"done\"]", "phrases = [\"error\", \"sorry\"]", "regex = \"[0-9]+\""]),
        _ if info.options.contains(&"window") && dice.one_in(3) => "window = 4",
        _ if info.options.contains(&"identity") && dice.one_in(3) => "identity = \"name\"",
        _ => "",
    };
    let limits: &[f64] = match info.unit {
        "tokens" => &[0.0, 40.0, 150.0, 400.0, 5_000.0, 60_000.0],
        "share" => &[0.0, 0.1, 0.25, 0.5, 0.75, 1.0],
        "usd" => &[0.0, 0.01, 0.1, 0.5],
        "s" => &[0.0, 3.0, 20.0, 90.0, 600.0],
        _ => &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 16.0],
    };
    let comparator = match dice.below(8) {
        0 => Comparator::AtMost,
        1 => Comparator::LessThan,
        2 => Comparator::Equals,
        3 => Comparator::MoreThan,
        _ => Comparator::AtLeast,
    };
    parse_rule("random", info.id, comparator, *dice.pick(limits), needed).unwrap()
}

/// A condition of any kind, nested at most three deep.
pub(super) fn condition(dice: &mut Dice, depth: usize) -> Condition {
    let kind = if depth == 0 { 0 } else { dice.below(10) };
    let parts = |dice: &mut Dice| (0..=dice.below(3)).map(|_| condition(dice, depth - 1)).collect::<Vec<_>>();
    match kind {
        1 => Condition::Any(parts(dice)),
        2 => Condition::All { parts: parts(dice), latched: false },
        3 => Condition::All { parts: parts(dice), latched: true },
        4 => Condition::Not(Box::new(condition(dice, depth - 1))),
        5 => {
            let parts = parts(dice);
            Condition::Some { least: 1 + dice.below(parts.len()), parts }
        }
        6 => Condition::Lately {
            within: 1 + u32::try_from(dice.below(4)).unwrap(),
            part: Box::new(condition(dice, depth - 1)),
        },
        _ => Condition::Rule(Box::new(rule(dice))),
    }
}

/// A stack of clauses that stop, sometimes with a cap.
pub(super) fn stack(dice: &mut Dice, nth: usize) -> Stack {
    let clauses: Vec<Clause> = (0..dice.below(5))
        .map(|at| {
            let condition = condition(dice, 3);
            // Now and then two clauses share a name.
            let name = if dice.one_in(10) { "same".to_owned() } else { format!("{at}: {condition}") };
            Clause {
                name: RuleName::new(name),
                at: if dice.one_in(3) { *dice.pick(&Moment::ALL) } else { Moment::AfterTools },
                strikes: if dice.one_in(5) { 2 } else { 1 },
                cooldown: u32::from(dice.one_in(8)),
                then: if dice.one_in(9) { Action::Fail } else { Action::Stop },
                scope: Scope::Run,
                condition,
            }
        })
        .collect();
    let steps = u32::try_from(1 + dice.below(20)).unwrap();
    let cap = (clauses.is_empty() || dice.one_in(3)).then_some(Cap { steps, on_hit: OnHit::Stop, scope: Scope::Run });
    Stack { name: format!("stack {nth}"), clauses, cap }
}

/// A run of up to two hundred steps, with whatever a recording may have or lack.
pub(super) fn random_run(dice: &mut Dice, nth: usize) -> Run {
    let usage = dice.below(3);
    let n = if dice.one_in(12) { 60 + dice.below(140) } else { dice.below(24) };
    let steps: Vec<String> = (0..n)
        .map(|_| {
            let call = *dice.pick(&[
                "a(1)=x",
                "a(1)=x",
                "a(2)=y",
                "b=x",
                "b=error!",
                "c!",
                "c?",
                "a(1)=x+b!",
                "-done",
                "-sorry,_12",
                "d~",
            ]);
            let tokens = if usage == 2 || (usage == 1 && dice.one_in(2)) {
                format!(" @{}", 1 + dice.below(90))
            } else {
                String::new()
            };
            let asks = if dice.one_in(9) { "#more " } else { "" };
            format!("{asks}{call}{tokens}")
        })
        .collect();
    let mut draft = draft(&steps.join(" "));
    draft.header.run_id = format!("run-{nth}");
    draft.header.task_id = (!dice.one_in(6)).then(|| format!("task-{}", nth / 3));
    draft.header.redacted = dice.one_in(8);
    draft.grade.end = *dice.pick(&EndCause::ALL);
    draft.grade.outcome = *dice.pick(&[Outcome::Success, Outcome::Success, Outcome::Failure, Outcome::Unknown]);
    draft.grade.secured_step = (n > 0 && dice.one_in(5)).then(|| dice.below(n));
    let (costs, times, checkpoints) = (dice.below(3), dice.one_in(2), dice.one_in(4));
    let mut events = Vec::new();
    for (at, mut event) in draft.events.drain(..).enumerate() {
        if let Event::Message(message) = &mut event {
            if costs == 2 || (costs == 1 && dice.one_in(2)) {
                message.set_cost(message.is_step().then(|| Usd(dice.below(90) as f64 / 1000.0)));
            }
            message.ts = times.then(|| Instant(i64::try_from(at * 4_000 + dice.below(5_000)).unwrap()));
        }
        events.push(event);
        if checkpoints && dice.one_in(5) {
            events.push(Event::Checkpoint(Checkpoint { success: dice.one_in(2), score: None }));
        }
    }
    draft.events = events;
    Run::new(draft)
}
