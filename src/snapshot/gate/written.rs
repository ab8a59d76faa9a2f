//! The syntax of a gate: `stack:metric>=number`, for any metric.

use crate::diagnostic::{Diagnostic, Location, did_you_mean, nearest};

/// How a value is compared with the limit: the gate fails if the comparison is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::snapshot) enum GateComparator {
    AtLeast,
    AtMost,
    More,
    Less,
}

impl GateComparator {
    const ALL: [(&'static str, Self); 4] =
        [(">=", Self::AtLeast), ("<=", Self::AtMost), (">", Self::More), ("<", Self::Less)];

    pub(in crate::snapshot) fn fails(self, value: f64, limit: f64) -> bool {
        match self {
            Self::AtLeast => value >= limit,
            Self::AtMost => value <= limit,
            Self::More => value > limit,
            Self::Less => value < limit,
        }
    }

    /// The condition for passing, as text.
    pub(super) fn passing(self) -> &'static str {
        match self {
            Self::AtLeast => "below",
            Self::AtMost => "above",
            Self::More => "at most",
            Self::Less => "at least",
        }
    }

    /// The sign as written.
    pub(super) fn text(self) -> &'static str {
        Self::ALL.iter().find(|(_, sign)| *sign == self).map_or("", |(text, _)| text)
    }
}

/// The parts of a gate.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::snapshot) struct GateParts<'t> {
    text: &'t str,
    pub(in crate::snapshot) stack: Option<String>,
    pub(in crate::snapshot) metric: &'t str,
    pub(in crate::snapshot) sign: GateComparator,
    pub(in crate::snapshot) limit: f64,
}

impl<'t> GateParts<'t> {
    /// Parses `text`. Names may contain signs and colons, so the last ones are used.
    pub(in crate::snapshot) fn read(text: &'t str) -> Result<Self, Diagnostic> {
        let usage = "write `metric>number`, `stack:metric>=number`, with one of > >= < <=";
        let error = |what: String| Diagnostic::new(Location::default(), what, usage);
        let found = GateComparator::ALL
            .iter()
            .filter_map(|(sign, kind)| Some((text.rfind(sign)?, *sign, *kind)))
            .min_by_key(|(at, sign, _)| (*at, 2 - sign.len()));
        let Some((at, written, sign)) = found else { return Err(error(format!("gate `{text}` has no comparison"))) };
        let limit = text[at + written.len()..].trim();
        let Some(limit) = limit.parse::<f64>().ok().filter(|limit| limit.is_finite()) else {
            return Err(error(format!("gate `{text}`: `{limit}` is not a number")));
        };
        let name = text[..at].trim();
        let (stack, metric) = match name.rsplit_once(':') {
            Some((stack, metric)) => (Some(stack.trim().to_owned()), metric.trim()),
            None => (None, name),
        };
        Ok(Self { text, stack, metric, sign, limit })
    }

    /// Refuses a gate on a stack that is not among `stacks`: it would pass without checking anything.
    pub(in crate::snapshot) fn refuse_unknown_stack(&self, stacks: &[String]) -> Result<(), Diagnostic> {
        let Some(stack) = self.stack.as_ref().filter(|stack| !stacks.contains(*stack)) else { return Ok(()) };
        let near = nearest(stack, stacks.iter().map(String::as_str));
        let help = did_you_mean(near, &format!("the stacks are {}", stacks.join(", ")));
        Err(Diagnostic::new(Location::default(), format!("gate `{}`: no stack `{stack}`", self.text), help))
    }
}
