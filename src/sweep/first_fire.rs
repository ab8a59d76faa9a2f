//! The second path to the same answer: one pass of a signal over a run tells where every limit first fires.
//!
//! The running maximum of a signal is sorted, so the first firing of a limit is a binary search. That holds for
//! counters that reset too: the first time such a counter reaches k, its running maximum does.

use crate::decision::{Action, Decision, Evidence, RuleName, Strategy};
use crate::replay::{Replay, Said, Terms};
use crate::rule::{Comparator, Rule};
use crate::transcript::{Moment, Point, Run};

use super::Setting;

/// One reading beyond all before it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Record {
    reading: f64,
    point: Point,
    event: Option<usize>,
}

/// The records a signal set over a run: strictly rising for `>=` and `>`, strictly falling for `<=` and `<`.
#[derive(Clone, Debug, PartialEq)]
pub struct Climb {
    records: Vec<Record>,
    comparator: Comparator,
}

impl Climb {
    /// Runs the signal of `rule` over `run`, reading it after the tools of each step, as a stack does. The rule's limit
    /// plays no part; its comparator says which way is up.
    pub fn of(rule: &Rule, run: &Run) -> Self {
        let mut signal = rule.start();
        let mut records: Vec<Record> = Vec::new();
        for view in run.views() {
            let reading = signal.observe(&view);
            if view.moment() != Moment::AfterTools {
                continue;
            }
            let Some(reading) = reading.filter(|reading| !reading.is_nan()) else { continue };
            let beats = |last: &Record| match rule.comparator {
                Comparator::AtMost | Comparator::LessThan => reading < last.reading,
                Comparator::AtLeast | Comparator::MoreThan | Comparator::Equals => reading > last.reading,
            };
            if records.last().is_none_or(beats) {
                records.push(Record { reading, point: view.point(), event: view.events().len().checked_sub(1) });
            }
        }
        Self { records, comparator: rule.comparator }
    }

    /// Where `limit` first fires, and what the signal reads there.
    pub fn first(&self, limit: f64) -> Option<(Point, f64)> {
        self.record(limit).map(|record| (record.point, record.reading))
    }

    fn record(&self, limit: f64) -> Option<Record> {
        let at = self.records.partition_point(|record| !self.comparator.passes(record.reading, limit));
        self.records.get(at).copied()
    }

    /// The replay of the one-rule stack of `setting`, of whose rule this is the climb over `run`.
    pub fn replay(&self, run: &Run, setting: &Setting) -> Replay {
        let decision = self.record(setting.limit).map(|record| Decision {
            point: record.point,
            event: record.event,
            action: Action::Stop,
            rule: RuleName::new(setting.name()),
            evidence: Evidence::new(record.reading, setting.limit),
            code: None,
            detail: None,
            call_id: None,
            delivered: true,
            drops_reply: false,
        });
        let requirements = setting.stack.requirements();
        // A replay is started without a rule that would read placeholders.
        let terms = Terms::of(run, &requirements);
        let decision = decision.filter(|decision| !terms.drops(&decision.rule));
        let said = Said {
            first_firings: Some(vec![decision.as_ref().map(|decision| (decision.point, decision.evidence))]),
            trail: decision.into_iter().collect(),
            // Such a stack is consulted after the tools of a step, and never before a request.
            ends_next: false,
            extra_calls: 0,
        };
        Replay::new(run, said, &requirements, setting.stack.may_leave_path())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, ProptestConfig, any, prop, prop_assert_eq, prop_oneof, proptest};
    use proptest::strategy::Strategy as _;

    use super::*;
    use crate::replay::replay;
    use crate::signal::REGISTRY;
    use crate::sweep::{Axis, Grid};
    use crate::transcript::EndCause;
    use crate::transcript::sketch::draft;

    /// Every registered signal, with the options it cannot do without, in both directions.
    fn axes() -> Vec<Axis> {
        let limits = vec![-1.0, 0.0, 0.2, 0.5, 1.0, 2.0, 3.0, 4.0, 7.0, 50.0, 150.0, 400.0];
        let mut axes = Vec::new();
        for info in REGISTRY {
            let needed = match info.id {
                "tool.named" => ", tool = \"a\"",
                "metric" => ", metric = \"loss\"",
                "text.match" => ", phrases = [\"done\"]",
                _ => "",
            };
            for sign in ["", " >", " <=", " <"] {
                let text = format!("{}{sign}{needed}", info.id);
                axes.push(Axis::parse(&text, limits.clone()).unwrap_or_else(|error| panic!("{text}: {error:?}")));
            }
            if info.options.contains(&"window") {
                axes.push(Axis::parse(&format!("{}{needed}, window = 3", info.id), limits.clone()).unwrap());
            }
        }
        axes
    }

    /// A step in the shorthand of sketches, with usage on most.
    fn step() -> impl proptest::strategy::Strategy<Value = String> {
        let call = prop_oneof![Just("a(1)=x"), Just("a(1)=y"), Just("b=x"), Just("b=x!"), Just("c!"), Just("c?")];
        let calls = prop::collection::vec(call, 1..3).prop_map(|calls| calls.join("+"));
        let words = prop_oneof![4 => calls, 1 => Just("-done".to_owned()), 1 => Just("#more".to_owned())];
        (words, prop::option::weighted(0.8, 1..90_u32)).prop_map(|(word, tokens)| match tokens {
            Some(tokens) if !word.starts_with('#') => format!("{word} @{tokens}"),
            _ => word,
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn every_limit_of_every_signal_fires_where_the_fold_does(
            steps in prop::collection::vec(step(), 0..14),
            capped in any::<bool>(),
        ) {
            let mut draft = draft(&steps.join(" "));
            draft.grade.end = if capped { EndCause::Cap } else { EndCause::SelfFinish };
            let run = Run::new(draft);
            let grid = Grid::new(axes(), None).unwrap();
            let climbs: Vec<Climb> = grid.axes.iter().map(|axis| Climb::of(axis.first_rule(), &run)).collect();
            for setting in &grid.settings {
                prop_assert_eq!(climbs[setting.axis].replay(&run, setting), replay(&run, &setting.stack), "{}", setting.name());
            }
        }
    }
}
