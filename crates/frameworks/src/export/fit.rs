//! Chooses the host slot that can hold a clause, the parameter's value, and how the two differ.

use serde_json::Value;

use super::HostInfo;
use crate::decision::{Action, RuleName};
use crate::host::{ClauseSlot, CountReset, Does, Fires};
use crate::rule::{Comparator, Condition};
use crate::stack::{Cap, Clause, OnHit, Scope, Stack};
use crate::transcript::Moment;

/// How serious a difference is; later variants are more serious.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DifferenceGrade {
    /// The same runs stop with the same steps, tokens, cost and verdict, but at another point.
    Moment,
    /// The rows are the same only on the runs that the sentence names.
    Condition,
    /// The host acts differently.
    Other,
}

/// One way in which a parameter differs from the clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportDifference {
    /// How serious it is.
    pub grade: DifferenceGrade,
    /// What it is, as a sentence without capital letter and full stop.
    pub what: String,
}

impl ExportDifference {
    fn new(grade: DifferenceGrade, what: impl Into<String>) -> Self {
        Self { grade, what: what.into() }
    }
}

/// A clause that consists of one signal and one limit.
pub(super) struct Wish {
    signal: &'static str,
    is_whole: bool,
    comparator: Comparator,
    limit: f64,
    tool: Option<String>,
    at: Moment,
    scope: Scope,
    then: Action,
}

/// A slot that holds a clause, with the parameter's value and the differences.
pub(super) struct FilledSlot {
    pub(super) slot: &'static ClauseSlot,
    pub(super) value: Value,
    pub(super) differences: Vec<ExportDifference>,
}

/// Every clause of a stack, the cap last: what a host must hold, or why no host's settings can express it. The notice of
/// a limit that is told is left out: a host tells by itself, or it does not.
pub(super) fn wishes(stack: &Stack) -> Vec<(RuleName, Result<Wish, String>)> {
    let own = stack.clauses.iter().filter(|clause| !clause.is_notice());
    let clauses = own.map(|clause| (clause.name.clone(), wish(clause)));
    let cap = stack.cap.iter().map(|cap| (RuleName::new(format!("cap {} steps", cap.steps)), cap_wish(cap)));
    clauses.chain(cap).collect()
}

fn cap_wish(cap: &Cap) -> Result<Wish, String> {
    match &cap.on_hit {
        OnHit::Stop => Ok(Wish {
            signal: "steps",
            is_whole: true,
            comparator: Comparator::AtLeast,
            limit: f64::from(cap.steps),
            tool: None,
            at: Moment::BeforeRequest,
            scope: cap.scope,
            then: Action::Stop,
        }),
        OnHit::Bailout { name, .. } => Err(format!("the cap asks the bailout `{name}`, which no setting can say")),
        OnHit::Table(_) => Err("the cap asks a table, which no setting can say".to_owned()),
    }
}

fn wish(clause: &Clause) -> Result<Wish, String> {
    let rule = match &clause.condition {
        Condition::Rule(rule) => rule,
        Condition::Any(_) => return Err("an `any` inside a clause: write its parts as clauses of their own".to_owned()),
        Condition::All { .. } | Condition::Some { .. } => {
            return Err("several rules must hold together, and each setting acts alone".to_owned());
        }
        Condition::Not(_) => return Err("a `not`, which no setting can say".to_owned()),
        Condition::Lately { .. } => return Err("a `lately`, which no setting can say".to_owned()),
    };
    if clause.strikes > 1 {
        return Err(format!("it acts at strike {}, and a setting at the first", clause.strikes));
    }
    let named = rule.options.tool.clone();
    if !rule.options_label.is_empty() && named.is_none() {
        return Err(format!("no setting has the option [{}] of `{}`", rule.options_label, rule.signal.id));
    }
    Ok(Wish {
        signal: rule.signal.id,
        is_whole: !matches!(rule.signal.unit, "usd" | "s" | "share" | "ratio" | "as reported"),
        comparator: rule.comparator,
        limit: rule.limit,
        tool: named,
        at: clause.at,
        scope: clause.scope,
        then: clause.then,
    })
}

/// The slot that holds it with the fewest serious differences; else the reason why none does.
pub(super) fn hold(wish: &Wish, to: HostInfo, nearest: bool) -> Result<FilledSlot, String> {
    let mut best: Option<FilledSlot> = None;
    let mut why = None;
    for slot in to.host.slots.iter().filter(|slot| slot.signal == wish.signal) {
        match value(wish, slot) {
            Ok(value) => {
                let differences = differences(wish, slot, to);
                if best.as_ref().is_none_or(|best| weight(&differences) < weight(&best.differences)) {
                    best = Some(FilledSlot { slot, value, differences });
                }
            }
            Err(reason) => why = why.or(Some(reason)),
        }
    }
    let Some(best) = best else { return Err(why.unwrap_or_else(|| reason(wish, to))) };
    let others: Vec<&str> = with_grade(&best.differences, DifferenceGrade::Other).collect();
    if nearest || others.is_empty() {
        return Ok(best);
    }
    let (parameter, value) = (&best.slot.parameter, &best.value);
    Err(format!("{}; `--nearest` takes `{parameter}` at {value} all the same", others.join("; ")))
}

fn with_grade(differences: &[ExportDifference], grade: DifferenceGrade) -> impl Iterator<Item = &str> {
    differences.iter().filter(move |difference| difference.grade == grade).map(|difference| difference.what.as_str())
}

/// Sort key: fewer serious differences are better.
fn weight(differences: &[ExportDifference]) -> [usize; 3] {
    [DifferenceGrade::Other, DifferenceGrade::Condition, DifferenceGrade::Moment]
        .map(|grade| with_grade(differences, grade).count())
}

fn reason(wish: &Wish, to: HostInfo) -> String {
    let signal = wish.signal;
    if let Some(why) = to.host.why_not(signal) { why.to_owned() } else { format!("it has no rule on `{signal}`") }
}

/// The parameter's value for the clause's limit.
fn value(wish: &Wish, slot: &ClauseSlot) -> Result<Value, String> {
    let parameter = &slot.parameter;
    if slot.fires == Fires::Named {
        return match &wish.tool {
            Some(tool) if wish.comparator == Comparator::AtLeast => Ok(Value::from(tool.as_str())),
            _ => Err(format!("`{parameter}` takes a tool's name")),
        };
    }
    let strictly = match wish.comparator {
        Comparator::AtLeast => false,
        Comparator::MoreThan => true,
        other => return Err(format!("its rules act above a limit, and this one at `{}`", other.sign())),
    };
    let limit = if wish.is_whole {
        let least = if strictly { wish.limit.floor() + 1.0 } else { wish.limit.ceil() };
        let least = least + steps_paid_for(wish.signal, wish.at) - steps_paid_for(wish.signal, slot.at);
        if slot.fires == Fires::MoreThan { least - 1.0 } else { least }
    } else {
        if strictly != (slot.fires == Fires::MoreThan) {
            let (sign, word) = if strictly { (">=", "at_least") } else { (">", "more_than") };
            return Err(format!("`{parameter}` is held with `{sign}`: write `{word}`"));
        }
        wish.limit
    };
    #[expect(clippy::cast_precision_loss, reason = "an offset of a step or two")]
    let limit = limit + slot.plus as f64;
    let (least, most) = slot.range();
    if !(least..=most).contains(&limit) {
        let bounds = if limit < least { format!("begins at {least}") } else { format!("ends at {most}") };
        return Err(format!("`{parameter}` would be {limit}, and {bounds}"));
    }
    if limit.fract() == 0.0 && limit < 1e15 {
        #[expect(clippy::cast_possible_truncation, reason = "whole and small, checked above")]
        return Ok(Value::from(limit as i64));
    }
    if !slot.amount {
        return Err(format!("`{parameter}` takes a whole number"));
    }
    Ok(Value::from(limit))
}

/// After a reply, its step is already paid for but not yet counted in `steps`.
fn steps_paid_for(signal: &str, at: Moment) -> f64 {
    if signal == "steps" && at == Moment::AfterResponse { 1.0 } else { 0.0 }
}

fn differences(wish: &Wish, slot: &ClauseSlot, to: HostInfo) -> Vec<ExportDifference> {
    let mut all: Vec<ExportDifference> = Vec::new();
    all.extend(slot.differs.iter().map(|what| ExportDifference::new(DifferenceGrade::Other, what)));
    all.extend(moment_differences(wish, slot));
    let one_prompt = "the same on runs of one prompt";
    match (slot.counts, wish.scope) {
        (CountReset::Prompt, Scope::Run) => {
            let what = format!("it counts anew with each prompt (`scope = \"round\"`): {one_prompt}");
            all.push(ExportDifference::new(DifferenceGrade::Condition, what));
        }
        (CountReset::Session, Scope::Round) => {
            all.push(ExportDifference::new(
                DifferenceGrade::Condition,
                format!("it counts over the whole session: {one_prompt}"),
            ));
        }
        // A reply without calls ends the prompt's run by itself, whereas the clause would end the session.
        (CountReset::Prompt, Scope::Round) if slot.at != Moment::BeforeRequest || wish.at != slot.at => {
            let what = format!("a prompt that is answered at the limit is no stop: {one_prompt}");
            all.push(ExportDifference::new(DifferenceGrade::Condition, what));
        }
        _ => {}
    }
    all.extend(action_difference(wish, slot).map(|what| ExportDifference::new(DifferenceGrade::Other, what)));
    all.extend(to.host.also.iter().map(|what| ExportDifference::new(DifferenceGrade::Condition, what)));
    all
}

fn moment_differences(wish: &Wish, slot: &ClauseSlot) -> Vec<ExportDifference> {
    // The values of these signals can change between the tools and the next request.
    let waits = matches!(wish.signal, "elapsed" | "messages" | "idle" | "active" | "tool.named");
    match (wish.at, slot.at) {
        (wanted, got) if wanted == got => Vec::new(),
        (Moment::AfterTools, Moment::BeforeRequest) if !waits => {
            let what = "it acts before the next request rather than after the tools: the same steps, tokens and cost";
            vec![ExportDifference::new(DifferenceGrade::Moment, what)]
        }
        (Moment::BeforeRequest, Moment::AfterTools) if !waits => {
            let moved = "it acts after the tools rather than before the next request: the same steps, tokens and cost";
            let one = "a reply that ends a prompt at the limit is no stop: the same on runs of one prompt";
            let mut differences = vec![ExportDifference::new(DifferenceGrade::Moment, moved)];
            // A count per prompt is already restricted to runs of one prompt.
            if slot.counts != CountReset::Prompt {
                differences.push(ExportDifference::new(DifferenceGrade::Condition, one));
            }
            differences
        }
        (_, got) => {
            let what = match got {
                Moment::AfterResponse => "it looks after the reply, before its tools run",
                Moment::AfterTools => "it looks after the tools of a reply",
                Moment::BeforeRequest => "it looks before a request",
                Moment::EndOfRound => "it looks only when a prompt is answered",
            };
            vec![ExportDifference::new(DifferenceGrade::Other, format!("{what} (`at = \"{got}\"`)"))]
        }
    }
}

fn action_difference(wish: &Wish, slot: &ClauseSlot) -> Option<String> {
    match (wish.then, slot.action) {
        // The slot itself says how a refusal differs from a stop.
        (Action::Stop | Action::Fail, Does::Stop | Does::Fail)
        | (Action::ForceFinal, Does::LastAnswer)
        | (_, Does::Refuse) => None,
        (Action::Stop | Action::Fail, Does::LastAnswer) => {
            Some("it asks for one last answer, a request more (`then = \"force_final\"`)".to_owned())
        }
        (then, Does::Stop | Does::Fail) => Some(format!("it ends the run, and the clause says `{then}`")),
        (then, Does::LastAnswer) => Some(format!("it asks for a last answer, and the clause says `{then}`")),
    }
}
