//! Reads `told` and `notice`: whether the agent is told of the stack's limit, and when.

use toml::de::DeValue;

use super::super::told::{Notice, step_limit};
use super::super::{Cap, Clause, ToldLimit};
use super::fields::{Fields, Read};

/// Reads what a stack says of it. The notice becomes the last of its clauses.
pub(super) fn read(stack: &Fields<'_>, clauses: &mut Vec<Clause>, cap: Option<&Cap>) -> Read<Option<ToldLimit>> {
    let (told, notice) = (stack.boolean("told"), read_notice(stack));
    let (told, notice) = (told?.unwrap_or(false), notice?);
    if !told {
        return match notice {
            None => Ok(None),
            Some(_) => Err(stack.error_at_key("notice", "a `notice` of a limit that is not told", "add `told = true`")),
        };
    }
    let Some((steps, scope)) = step_limit(clauses, cap) else {
        let help = "add `cap = { steps = 30 }`, or a rule `{ signal = \"steps\", at_least = 30 }`";
        return Err(stack.error_at_key("told", "`told` without a limit on steps", help));
    };
    let step = notice.and_then(|notice| notice.step(steps));
    if notice.is_some() && step.is_none() {
        let what = format!("`notice` is earlier than the first of {steps} steps");
        return Err(stack.error_at_value("notice", what, format!("write at most {steps}")));
    }
    // If nobody knows when the agent is told, it may be before its first step.
    clauses.extend(Clause::notice(step.unwrap_or(1), scope));
    Ok(Some(ToldLimit { steps, notice: step }))
}

fn read_notice(stack: &Fields<'_>) -> Read<Option<Notice>> {
    match stack.value("notice") {
        None => Ok(None),
        Some((DeValue::String(text), span)) => Notice::parse_share(text).map(Some).ok_or_else(|| {
            let help = "write `notice = 1`, the steps left when the agent is told, or `notice = \"75 %\"`";
            stack.error_at(span, format!("`notice` is `{text}`"), help)
        }),
        Some(_) => Ok(stack.count("notice")?.map(Notice::StepsBeforeEnd)),
    }
}
