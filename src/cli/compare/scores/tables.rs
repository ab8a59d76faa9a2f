//! The tables of the answer.

use super::{ScoresAnswer, StackBenchmarks};
use crate::answers::tables::{DataTable, TableCell};
use crate::bench::{Audit, ModelScore};
use crate::words::{cut, digits as points};

fn text(text: impl Into<String>) -> TableCell {
    TableCell::Text(text.into())
}

fn shown(value: Option<f64>) -> TableCell {
    TableCell::some_text(value.map(points))
}

fn table(columns: &[&str], rows: Vec<Vec<TableCell>>) -> DataTable {
    DataTable { columns: columns.iter().map(|name| (*name).to_owned()).collect(), rows }
}

impl ScoresAnswer<'_> {
    fn name(line: &StackBenchmarks) -> String {
        line.stack.clone().unwrap_or_else(|| "(chosen)".to_owned())
    }

    /// One line per stack.
    pub(super) fn stack_table(&self) -> DataTable {
        let unit = self.unit_place();
        let saved = format!("{} saved, %", self.unit.noun());
        let columns = ["stack", &saved, "change", "largest", "at most", "flipped", "beyond", "certain", "pairs", "tau"];
        let row = |line: &StackBenchmarks| {
            let totals = line.totals(unit);
            vec![
                text(Self::name(line)),
                shown(totals.saved),
                text(points(totals.mean_change)),
                text(points(totals.largest_change)),
                text(points(totals.at_most)),
                TableCell::Count(totals.flipped as u64),
                TableCell::Count(totals.beyond as u64),
                TableCell::Count(totals.certified as u64),
                TableCell::Count(totals.pairs as u64),
                TableCell::some_text(totals.tau.map(|tau| format!("{tau:.2}"))),
            ]
        };
        table(&columns, self.lines.iter().map(row).collect())
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
        table(&columns, line.models().map(|(of, model)| row((&of.class, model))).collect())
    }

    /// One line per model for programs: as shares from 0 to 1.
    pub(super) fn all_models(&self) -> DataTable {
        let columns = [
            "class",
            "model",
            "stack",
            "tasks",
            "runs",
            "ungraded",
            "stopped",
            "killed",
            "doubtful",
            "score",
            "sampling_error",
            "with_stops",
            "at_most",
            "steps_saved",
            "tokens_saved",
            "cost_saved",
            "audited",
            "audited_low",
            "audited_high",
            "audit_error",
        ];
        let row = |(class, model): (&str, &ModelScore)| {
            let mut row = vec![text(class), text(&*model.model)];
            row.push(TableCell::text(model.stack.map(|stack| &*self.stacks[stack])));
            let counts =
                [model.n_tasks() as u64, model.runs, model.ungraded, model.stopped, model.killed, model.doubtful];
            row.extend(counts.map(TableCell::Count));
            row.extend(
                [Some(model.score), model.sampling_error, Some(model.with_stops), Some(model.at_most)]
                    .map(TableCell::number),
            );
            row.extend(model.saved.map(TableCell::number));
            let audited = match &model.audit {
                Some(Audit { score, added_error, .. }) => [score.value, score.low(), score.high(), Some(*added_error)],
                None => [None; 4],
            };
            row.extend(audited.map(TableCell::number));
            row
        };
        table(&columns, self.lines[0].models().map(|(of, model)| row((&of.class, model))).collect())
    }
}
