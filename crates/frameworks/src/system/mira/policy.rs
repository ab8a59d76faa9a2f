//! The automation policy. Its JSON is read leniently: unusable parts are silently ignored.

use serde_json::{Map, Value, json};

use crate::python::{self, Dict, Int, Raised};
use crate::transcript::named;

named! {
    /// How a metric is compared with its target, by the sign exactly as a policy must write it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Operator {
        /// Greater.
        Above = ">",
        /// Greater or equal.
        AtLeast = ">=",
        /// Less.
        Below = "<",
        /// Less or equal.
        AtMost = "<=",
        /// Equal, within [`EQUAL_WITHIN`].
        Equal = "==",
    }
}

/// How far apart two numbers may be and still be `==`. The other operators have no tolerance.
pub const EQUAL_WITHIN: f64 = 1e-9;

impl Operator {
    /// Whether `value` passes `target`. NaN on either side never does.
    pub fn passes(self, value: f64, target: f64) -> bool {
        match self {
            Self::Above => value > target,
            Self::AtLeast => value >= target,
            Self::Below => value < target,
            Self::AtMost => value <= target,
            Self::Equal => (value - target).abs() <= EQUAL_WITHIN,
        }
    }
}

/// One metric goal.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricGoal {
    /// The metric's name.
    pub metric: String,
    /// The comparison. `None`, which is never met, occurs only in policies that bypassed the parser.
    pub operator: Option<Operator>,
    /// The number it is compared with.
    pub target: f64,
}

/// A normalised policy.
#[derive(Clone, Debug, PartialEq)]
pub struct AutomationPolicy {
    /// True if every goal must be met, false if one is enough.
    pub all_goals: bool,
    /// The goals that can be evaluated.
    pub goals: Vec<MetricGoal>,
    /// Whether goals are given, evaluable or not; if so, the plan's metrics are read.
    pub names_goals: bool,
    /// Whether the text heuristics are on.
    pub strict: bool,
    /// Stop once this many experiments are completed.
    pub max_experiments: Option<Int>,
    /// Stop once this many tokens are used.
    pub max_tokens: Option<Int>,
}

impl AutomationPolicy {
    /// Reads a raw policy. `None` if there is no policy: not an object, or nothing usable in it and `strictHeuristics`
    /// not set. Unusable parts are silently dropped, as in the original.
    ///
    /// `strict_switch` says whether the release has `strictHeuristics`.
    ///
    /// # Errors
    /// `OverflowError` for a goal's value that is an integer too large for a double.
    pub fn parse(raw: &Value, strict_switch: bool) -> Result<Option<Self>, Raised> {
        let Some(raw) = python::dict(raw) else { return Ok(None) };
        let logic = raw.text("logic").map(|logic| python::upper(python::strip(logic)));
        let mut goals = Vec::new();
        for goal in raw.items("goals").iter().filter_map(python::dict) {
            goals.extend(MetricGoal::parse(goal)?);
        }
        let strict = raw.flag("strictHeuristics").filter(|_| strict_switch);
        let policy = Self {
            all_goals: logic.as_deref() != Some("OR"),
            names_goals: !goals.is_empty(),
            goals,
            strict: strict.unwrap_or(true),
            max_experiments: budget(raw, "maxExperiments"),
            max_tokens: budget(raw, "maxTokens"),
        };
        let is_empty = policy.goals.is_empty() && policy.max_experiments.is_none() && policy.max_tokens.is_none();
        Ok(if is_empty && strict.is_none() { None } else { Some(policy) })
    }

    /// Reads a policy that bypassed the parser: any logic but AND acts as OR, and a goal with an unknown operator is
    /// kept and never met.
    ///
    /// # Errors
    /// As for [`Self::parse`]; also `AttributeError` for a policy that is neither an object nor empty.
    pub fn unparsed(raw: &Value) -> Result<Option<Self>, Raised> {
        if !python::is_true(raw) {
            return Ok(None);
        }
        let Some(raw) = python::dict(raw) else { return Err(Raised("AttributeError")) };
        let logic = match raw.get("logic") {
            Some(logic) => python::upper(&python::text(logic)),
            None => "AND".to_owned(),
        };
        let mut goals = Vec::new();
        for goal in raw.items("goals").iter().filter_map(python::dict) {
            // The value is converted, which may raise, before the rest of the goal is read.
            if let Some(target) = raw_number(goal.get("value"))? {
                goals.extend(MetricGoal::aimed(goal, target));
            }
        }
        Ok(Some(Self {
            all_goals: logic == "AND",
            names_goals: !raw.items("goals").is_empty(),
            goals,
            strict: raw.flag("strictHeuristics").unwrap_or(true),
            max_experiments: budget(raw, "maxExperiments"),
            max_tokens: budget(raw, "maxTokens"),
        }))
    }

    /// The normalised policy as JSON; a non-finite target is written as a string.
    pub fn json(&self) -> Value {
        let goal = |goal: &MetricGoal| {
            let operator = goal.operator.map(Operator::name);
            json!({"metric": goal.metric, "operator": operator, "value": float_json(goal.target)})
        };
        let mut out = Map::new();
        out.insert("logic".to_owned(), Value::from(if self.all_goals { "AND" } else { "OR" }));
        out.insert("goals".to_owned(), self.goals.iter().map(goal).collect());
        out.insert("strictHeuristics".to_owned(), Value::Bool(self.strict));
        for (key, max) in [("maxExperiments", &self.max_experiments), ("maxTokens", &self.max_tokens)] {
            if let Some(max) = max {
                out.insert(key.to_owned(), max.json());
            }
        }
        Value::Object(out)
    }
}

impl MetricGoal {
    fn parse(raw: &Map<String, Value>) -> Result<Option<Self>, Raised> {
        let (Some(goal), Some(value)) = (Self::aimed(raw, 0.0), raw.get("value")) else { return Ok(None) };
        if goal.operator.is_none() {
            return Ok(None);
        }
        Ok(python::float(value)?.map(|target| Self { target, ..goal }))
    }

    /// The goal with its target; `None` if its metric or operator is not a string, or the metric is blank.
    fn aimed(raw: &Map<String, Value>, target: f64) -> Option<Self> {
        let metric = python::strip(raw.text("metric")?);
        let operator = raw.text("operator")?.parse().ok();
        if metric.is_empty() {
            return None;
        }
        Some(Self { metric: metric.to_owned(), operator, target })
    }
}

/// A number as MIRA reads metrics and unparsed targets; strings are stripped first.
///
/// # Errors
/// `OverflowError` for an integer too large for a double.
pub fn raw_number(value: Option<&Value>) -> Result<Option<f64>, Raised> {
    match value {
        Some(Value::String(text)) => Ok(python::float_of_text(python::strip(text))),
        Some(value) => python::float(value),
        None => Ok(None),
    }
}

/// A positive integer; `true` counts as 1.
fn budget(raw: &Map<String, Value>, key: &str) -> Option<Int> {
    Int::from_value(raw.get(key)?).filter(|max| max.value() > 0)
}

/// A float as JSON; non-finite values become `"NaN"`, `"Infinity"` or `"-Infinity"`.
pub fn float_json(value: f64) -> Value {
    if value.is_finite() {
        return Value::from(value);
    }
    Value::from(if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    })
}
