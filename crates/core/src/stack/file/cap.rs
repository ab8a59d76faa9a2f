//! The cap of a stack file, and who is asked when it is hit.

use super::clause::read_condition;
use super::fields::{Fields, to_json};
use crate::bailout::{self, BailoutError, Reply};
use crate::diagnostic::{Diagnostic, nearest};
use crate::stack::{Cap, CapRow, OnHit};

/// Reads a cap.
pub(super) fn read(fields: &Fields<'_>) -> Result<Cap, Diagnostic> {
    let Some(steps) = fields.count("steps")? else {
        return Err(fields.error_here("a cap without `steps`", "write `cap = { steps = 50 }`"));
    };
    let on_hit = if fields.is_table("on_hit") {
        read_bailout(&fields.table("on_hit")?)?
    } else if fields.has("on_hit") {
        read_table(fields)?
    } else {
        OnHit::Stop
    };
    fields.finish()?;
    Ok(Cap { steps, on_hit })
}

/// A bailout by name; its other keys are its parameters.
fn read_bailout(fields: &Fields<'_>) -> Result<OnHit, Diagnostic> {
    let Some(name) = fields.string("bailout")? else {
        fields.finish()?;
        return Err(fields.error_here("`on_hit` without a `bailout`", "write `on_hit = { bailout = \"smart\" }`"));
    };
    let params = fields.entries().filter(|(key, _)| *key != "bailout");
    let params = params.map(|(key, value)| (key.to_owned(), to_json(value))).collect();
    match bailout::build(&name, &params) {
        Ok(recipe) => Ok(OnHit::Bailout { name, recipe }),
        Err(error) => {
            let known = bailout::REGISTRY.iter().map(|info| info.id);
            let help = match &error {
                BailoutError::Unknown(name) => nearest(name, known).map(|near| format!("did you mean `{near}`?")),
                BailoutError::UnknownParam { bailout, .. } => bailout::find(bailout).map(|info| match info.params {
                    [] => "it takes none".to_owned(),
                    params => format!("it takes: {}", params.join(", ")),
                }),
                BailoutError::BadParam { .. } => None,
            };
            let help = help.unwrap_or_else(|| format!("`whenstop rules explain {name}` says what it takes"));
            Err(fields.error_here(error.to_string(), help))
        }
    }
}

/// A table of one's own.
fn read_table(fields: &Fields<'_>) -> Result<OnHit, Diagnostic> {
    let mut rows = Vec::new();
    for (value, offset) in fields.list("on_hit")?.unwrap_or_default() {
        let row = fields.nested(value, offset, "a row of `on_hit`")?;
        let when = if row.has("when") {
            let condition = row.table("when")?;
            let read = read_condition(&condition)?;
            condition.finish()?;
            Some(read)
        } else {
            None
        };
        rows.push(CapRow { when, then: read_reply(&row)? });
        row.finish()?;
    }
    Ok(OnHit::Table(rows))
}

fn read_reply(row: &Fields<'_>) -> Result<Reply, Diagnostic> {
    let text = row.string("text")?;
    match (row.string("then")?.as_deref(), text) {
        (Some("continue"), None) => Ok(Reply::CONTINUE),
        (Some("stop"), None) => Ok(Reply::STOP),
        (Some("new_instruction"), Some(text)) => Ok(Reply::instruct(&text)),
        (Some("new_instruction"), None) => {
            Err(row
                .error_here("`new_instruction` without its `text`", "add `text = \"…\"`: it is put before the model"))
        }
        _ => Err(row.error_here(
            "a row of `on_hit` that says nothing",
            "add `then = \"continue\"`, `\"stop\"`, or `\"new_instruction\"` with a `text`",
        )),
    }
}
