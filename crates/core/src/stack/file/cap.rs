//! Reads the cap of a stack, and what happens when it is hit.

use super::clause::read_table_of_condition;
use super::fields::{Fields, Read, all};
use super::hints::Level;
use crate::bailout::{self, BailoutError, Reply};
use crate::diagnostic::{did_you_mean, nearest};
use crate::stack::{Cap, CapRow, OnHit, Scope};

/// How to write a cap, for error messages.
const EXAMPLE: &str = "{ steps = 50 }";

/// Reads the cap of a stack; `None` if it has none.
pub(super) fn read(stack: &Fields<'_>, scope: Scope) -> Read<Option<Cap>> {
    if !stack.has("cap") {
        return Ok(None);
    }
    let fields = stack.table("cap", EXAMPLE)?;
    let steps = fields.count("steps");
    let on_hit = if fields.is_table("on_hit") {
        fields.table("on_hit", "{ bailout = \"smart\" }").and_then(|on_hit| read_bailout(&on_hit))
    } else if fields.has("on_hit") {
        read_table(&fields)
    } else {
        Ok(OnHit::Stop)
    };
    fields.finish(Level::Cap)?;
    match steps? {
        Some(steps) => Ok(Some(Cap { steps, on_hit: on_hit?, scope })),
        None => Err(fields.error_here("a cap without `steps`", format!("write `cap = {EXAMPLE}`"))),
    }
}

/// Reads a bailout by name. Its other keys are its parameters.
fn read_bailout(fields: &Fields<'_>) -> Read<OnHit> {
    let Some(name) = fields.string("bailout")? else {
        fields.finish(Level::Other)?;
        return Err(fields.error_here("`on_hit` without a `bailout`", "write `on_hit = { bailout = \"smart\" }`"));
    };
    let mut params = fields.json()?;
    params.retain(|key, _| key != "bailout");
    bailout::build(&name, &params).map(|recipe| OnHit::Bailout { name: name.clone(), recipe }).map_err(|error| {
        let what = error.to_string();
        match &error {
            BailoutError::Unknown(unknown) => {
                let known: Vec<&str> = bailout::REGISTRY.iter().map(|info| info.id).collect();
                let near = nearest(unknown, known.iter().copied());
                let help = did_you_mean(near, &format!("known: {}", known.join(", ")));
                fields.error_at_value("bailout", what, help)
            }
            BailoutError::UnknownParam { bailout, param } => {
                let help = match bailout::find(bailout).map_or(&[][..], |info| info.params) {
                    [] => "it takes none".to_owned(),
                    params => format!("it takes: {}", params.join(", ")),
                };
                fields.error_at_key(param, what, help)
            }
            BailoutError::BadParam { param, .. } => {
                fields.error_at_value(param, what, format!("`whenstop rules explain {name}` says what it takes"))
            }
        }
    })
}

/// Reads a table of conditions and replies.
fn read_table(fields: &Fields<'_>) -> Read<OnHit> {
    let rows = fields.list("on_hit")?.unwrap_or_default();
    let row = |placed| read_row(&fields.nested(placed, "a row of `on_hit`", "{ then = \"continue\" }")?);
    all(rows.into_iter().map(row)).map(OnHit::Table)
}

fn read_row(row: &Fields<'_>) -> Read<CapRow> {
    let when = if row.has("when") {
        read_table_of_condition(row, "when", "{ signal = \"steps\", at_least = 50 }").map(Some)
    } else {
        Ok(None)
    };
    let then = read_reply(row);
    row.finish(Level::Other)?;
    Ok(CapRow { when: when?, then: then? })
}

fn read_reply(row: &Fields<'_>) -> Read<Reply> {
    let (then, text) = (row.string("then"), row.string("text"));
    match (then?.as_deref(), text?) {
        (Some("continue"), None) => Ok(Reply::CONTINUE),
        (Some("stop"), None) => Ok(Reply::STOP),
        (Some("new_instruction"), Some(text)) => Ok(Reply::instruct(&text)),
        (Some("new_instruction"), None) => {
            let help = "add `text = \"…\"`: it is put before the model";
            Err(row.error_at_value("then", "`new_instruction` without its `text`", help))
        }
        (Some("continue" | "stop"), Some(_)) => Err(row.error_at_key(
            "text",
            "a `text` nobody would see",
            "only `new_instruction` puts a text before the model",
        )),
        (Some(word), _) => {
            let known = ["continue", "stop", "new_instruction"];
            let all = known.map(|word| format!("`{word}`")).join(", ");
            let help = did_you_mean(nearest(word, known), &format!("known: {all}"));
            Err(row.error_at_value("then", format!("`then` cannot be `{word}`"), help))
        }
        (None, _) => {
            let help = "add `then = \"continue\"`, `\"stop\"`, or `\"new_instruction\"` with a `text`";
            Err(row.error_here("a row of `on_hit` that says nothing", help))
        }
    }
}
