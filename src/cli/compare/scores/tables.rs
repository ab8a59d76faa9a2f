//! The tables of the answer.

use super::words::ScoreTotals;
use super::{ScoresAnswer, StackBenchmarks};
use crate::answers::tables::{DataTable, TableCell, TableColumns};
use crate::bench::{Audit, ModelScore};
use crate::words::{cut, digits as points};

fn text(text: impl Into<String>) -> TableCell {
    TableCell::Text(text.into())
}

fn shown(value: Option<f64>) -> TableCell {
    TableCell::some_text(value.map(points))
}

impl ScoresAnswer<'_> {
    fn name(line: &StackBenchmarks) -> String {
        line.stack.clone().unwrap_or_else(|| "(chosen)".to_owned())
    }

    /// One line per stack.
    pub(super) fn stack_table(&self) -> DataTable {
        let unit = self.unit_place();
        let saved = format!("{} saved, %", self.unit.noun());
        let lines: Vec<(String, ScoreTotals)> =
            self.lines.iter().map(|line| (Self::name(line), line.totals(unit))).collect();
        let columns: TableColumns<'_, (String, ScoreTotals)> = &[
            ("stack", &|(name, _)| text(name)),
            (&saved, &|(_, totals)| shown(totals.saved)),
            ("change", &|(_, totals)| text(points(totals.mean_change))),
            ("largest", &|(_, totals)| text(points(totals.largest_change))),
            ("at most", &|(_, totals)| text(points(totals.at_most))),
            ("flipped", &|(_, totals)| TableCell::Count(totals.flipped as u64)),
            ("beyond", &|(_, totals)| TableCell::Count(totals.beyond as u64)),
            ("certain", &|(_, totals)| TableCell::Count(totals.certified as u64)),
            ("pairs", &|(_, totals)| TableCell::Count(totals.pairs as u64)),
            ("tau", &|(_, totals)| TableCell::some_text(totals.tau.map(|tau| format!("{tau:.2}")))),
        ];
        DataTable::by_column(&lines, columns)
    }

    /// One line per model, for people: in points and percent.
    pub(super) fn models(&self) -> DataTable {
        let line = &self.lines[0];
        let saved = format!("{} saved", self.unit.noun());
        let (has_classes, is_chosen) = (self.args.by.is_some(), line.stack.is_none());
        let mut columns = Vec::new();
        if has_classes {
            columns.push("class");
        }
        columns.push("model");
        if is_chosen {
            columns.push("stack");
        }
        columns.extend(["tasks", "stopped", "killed", "score (error)", "with stops", "at most", &saved]);
        columns.extend(self.args.scores.audit.map(|_| "audited (error)"));
        let with_error = |value: f64, error: Option<f64>| match error {
            Some(error) => text(format!("{} ({})", points(value), points(error))),
            None => text(points(value)),
        };
        let row = |(class, model): (&str, &ModelScore)| {
            let mut row = Vec::new();
            if has_classes {
                row.push(text(cut(class, 12)));
            }
            row.push(text(cut(&model.model, 24)));
            if is_chosen {
                row.push(text(model.stack.map_or("-".into(), |stack| cut(&self.stacks[stack], 14))));
            }
            row.extend([model.n_tasks() as u64, model.stopped, model.killed].map(TableCell::Count));
            row.push(with_error(model.score, model.sampling_error));
            row.extend([
                shown(Some(model.with_stops)),
                shown(Some(model.at_most)),
                shown(model.saved[self.unit_place()]),
            ]);
            let audited = model.audit.as_ref();
            row.extend(audited.map(|audit| with_error(audit.score.value.unwrap_or(f64::NAN), Some(audit.added_error))));
            row
        };
        DataTable {
            columns: columns.into_iter().map(str::to_owned).collect(),
            rows: line.models().map(|(of, model)| row((&of.class, model))).collect(),
        }
    }

    /// One line per model for programs: as shares from 0 to 1.
    pub(super) fn all_models(&self) -> DataTable {
        let saved = |unit: usize| move |of: &(&str, &ModelScore)| TableCell::number(of.1.saved[unit]);
        let audited = |value: fn(&Audit) -> Option<f64>| {
            move |of: &(&str, &ModelScore)| TableCell::number(of.1.audit.as_ref().and_then(value))
        };
        let lines: Vec<(&str, &ModelScore)> = self.lines[0].models().map(|(of, model)| (&*of.class, model)).collect();
        let columns: TableColumns<'_, (&str, &ModelScore)> = &[
            ("class", &|(class, _)| text(*class)),
            ("model", &|(_, model)| text(&*model.model)),
            ("stack", &|(_, model)| TableCell::text(model.stack.map(|stack| &*self.stacks[stack]))),
            ("tasks", &|(_, model)| TableCell::Count(model.n_tasks() as u64)),
            ("runs", &|(_, model)| TableCell::Count(model.runs)),
            ("ungraded", &|(_, model)| TableCell::Count(model.ungraded)),
            ("stopped", &|(_, model)| TableCell::Count(model.stopped)),
            ("killed", &|(_, model)| TableCell::Count(model.killed)),
            ("doubtful", &|(_, model)| TableCell::Count(model.doubtful)),
            ("score", &|(_, model)| TableCell::number(Some(model.score))),
            ("sampling_error", &|(_, model)| TableCell::number(model.sampling_error)),
            ("with_stops", &|(_, model)| TableCell::number(Some(model.with_stops))),
            ("at_most", &|(_, model)| TableCell::number(Some(model.at_most))),
            ("steps_saved", &saved(0)),
            ("tokens_saved", &saved(1)),
            ("cost_saved", &saved(2)),
            ("audited", &audited(|audit| audit.score.value)),
            ("audited_low", &audited(|audit| audit.score.low())),
            ("audited_high", &audited(|audit| audit.score.high())),
            ("audit_error", &audited(|audit| Some(audit.added_error))),
        ];
        DataTable::by_column(&lines, columns)
    }
}
