//! Gates: a metric of the summary held against a number. An undefined metric fails.

use std::fmt;

use crate::diagnostic::{Diagnostic, Location, nearest};
use crate::report::table::{Cell, Table};

/// `metric > number` and the like; it fails when it holds. `stack:metric>number` looks at one stack only.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    stack: Option<String>,
    metric: String,
    sign: Sign,
    limit: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    AtLeast,
    AtMost,
    More,
    Less,
}

/// What a gate found on one stack.
#[derive(Clone, Debug, PartialEq)]
pub struct GateResult {
    /// The gate, as given.
    pub gate: String,
    /// The stack.
    pub stack: String,
    /// What the metric is; `None` when it is undefined.
    pub value: Option<f64>,
    /// Did it fail?
    pub failed: bool,
}

impl Gate {
    /// Reads a gate; `columns` are the metrics there are.
    pub fn parse(text: &str, columns: &[String]) -> Result<Self, Diagnostic> {
        let error = |what: String, help: String| Diagnostic::new(Location::default(), what, help);
        let usage = "write `metric>number`, `stack:metric>=number`, with one of > >= < <=";
        let signs = [(">=", Sign::AtLeast), ("<=", Sign::AtMost), (">", Sign::More), ("<", Sign::Less)];
        let found = signs
            .iter()
            .filter_map(|(sign, kind)| Some((text.rfind(sign)?, *sign, *kind)))
            .min_by_key(|(at, sign, _)| (*at, 2 - sign.len()));
        let Some((at, sign, kind)) = found else {
            return Err(error(format!("gate `{text}` has no comparison"), usage.to_owned()));
        };
        let limit = text[at + sign.len()..].trim();
        let Some(limit) = limit.parse::<f64>().ok().filter(|limit| limit.is_finite()) else {
            return Err(error(format!("gate `{text}`: `{limit}` is not a number"), usage.to_owned()));
        };
        let name = text[..at].trim();
        let (stack, metric) = match name.rsplit_once(':') {
            Some((stack, metric)) => (Some(stack.trim().to_owned()), metric.trim()),
            None => (None, name),
        };
        if !columns.iter().any(|column| column == metric) {
            let near = nearest(metric, columns.iter().map(String::as_str));
            let help = near.map_or_else(
                || "the metrics are the columns of summary.csv".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            return Err(error(format!("gate `{text}`: no metric `{metric}`"), help));
        }
        Ok(Self { stack, metric: metric.to_owned(), sign: kind, limit })
    }

    /// Holds the gate against every stack of the summary. A gate for a stack that is not there fails.
    pub fn hold(&self, summary: &Table) -> Vec<GateResult> {
        let column = |name: &str| summary.columns.iter().position(|column| column == name);
        let (Some(stack_at), Some(metric_at)) = (column("stack"), column(&self.metric)) else {
            return vec![self.result(self.stack.clone().unwrap_or_default(), None)];
        };
        let results: Vec<GateResult> = summary
            .rows
            .iter()
            .filter_map(|row| match row.get(stack_at) {
                Some(Cell::Text(stack)) if self.stack.as_ref().is_none_or(|wanted| wanted == stack) => {
                    Some(self.result(stack.clone(), row.get(metric_at).and_then(number)))
                }
                _ => None,
            })
            .collect();
        if results.is_empty() { vec![self.result(self.stack.clone().unwrap_or_default(), None)] } else { results }
    }

    fn result(&self, stack: String, value: Option<f64>) -> GateResult {
        let fails = |value: f64| match self.sign {
            Sign::AtLeast => value >= self.limit,
            Sign::AtMost => value <= self.limit,
            Sign::More => value > self.limit,
            Sign::Less => value < self.limit,
        };
        GateResult { gate: self.to_string(), stack, value, failed: value.is_none_or(fails) }
    }
}

fn number(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Number(number) => Some(*number),
        Cell::Count(count) => Some(*count as f64),
        Cell::Text(_) | Cell::Missing => None,
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.sign {
            Sign::AtLeast => ">=",
            Sign::AtMost => "<=",
            Sign::More => ">",
            Sign::Less => "<",
        };
        if let Some(stack) = &self.stack {
            write!(f, "{stack}:")?;
        }
        write!(f, "{}{sign}{}", self.metric, self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary() -> Table {
        let columns = ["stack", "fes_rate", "stops"].map(str::to_owned).to_vec();
        let row = |stack: &str, rate: Option<f64>, stops| {
            vec![Cell::Text(stack.into()), Cell::number(rate), Cell::Count(stops)]
        };
        Table { columns, rows: vec![row("a", Some(0.02), 3), row("b: 2", None, 0)] }
    }

    fn hold(gate: &str) -> Vec<(String, bool)> {
        let summary = summary();
        let gate = Gate::parse(gate, &summary.columns).unwrap();
        gate.hold(&summary).into_iter().map(|result| (result.stack, result.failed)).collect()
    }

    #[test]
    fn a_gate_fails_when_it_holds_or_cannot_be_told() {
        assert_eq!(hold("fes_rate>0.02"), [("a".into(), false), ("b: 2".into(), true)]);
        assert_eq!(hold("fes_rate>=0.02"), [("a".into(), true), ("b: 2".into(), true)]);
        assert_eq!(hold("b: 2:stops<1"), [("b: 2".into(), true)]);
        assert_eq!(hold("nobody:stops<1"), [("nobody".into(), true)]);
    }

    #[test]
    fn a_gate_that_cannot_be_read_says_why() {
        let columns = summary().columns;
        let what = |gate: &str| Gate::parse(gate, &columns).unwrap_err();
        assert_eq!(what("fes_rat>1").help, "did you mean `fes_rate`?");
        assert_eq!(what("fes_rate=1").what, "gate `fes_rate=1` has no comparison");
        assert_eq!(what("fes_rate>x").what, "gate `fes_rate>x`: `x` is not a number");
    }
}
