//! `whenstop corpus --effects`: lists what each call in the recordings does to the world.

use std::path::PathBuf;

use super::ProgramExit;
use super::failure::CommandFailure;
use super::inputs::{CorpusArgs, StackArgs};
use super::output::{Output, TableFormat};
use crate::answers::tables::{DataTable, TableCell};
use crate::effects::EffectReader;
use crate::transcript::{Lane, Run, messages};

/// Prints one line per call. The `[effects]` of the stack files take precedence over the built-in table.
pub(super) fn list(
    corpus: &CorpusArgs,
    stacks: &[PathBuf],
    format: TableFormat,
    output: &Output,
) -> Result<ProgramExit, CommandFailure> {
    let table = StackArgs::effects_of(stacks)?;
    let mut rows = Vec::new();
    corpus.runs().with_undrawn().each(output, |run| calls(&run, &table), |calls| rows.extend(calls))?;
    let columns = ["file", "run_id", "step", "call_id", "tool", "effect", "why"];
    output.table(&DataTable::new(columns, rows), format)?;
    Ok(ProgramExit::Done)
}

/// One row per call of the agent under test.
fn calls(run: &Run, table: &crate::effects::EffectTable) -> Vec<Vec<TableCell>> {
    let mut reader = EffectReader::new(table);
    let mut rows = Vec::new();
    let mut step = 0;
    for message in messages(run.events()) {
        let is_step = message.is_step();
        if is_step || message.lane == Lane::Canned {
            for call in &message.tool_calls {
                let told = reader.tell(call);
                if is_step {
                    rows.push(vec![
                        TableCell::Text(run.header.file.clone().unwrap_or_default()),
                        TableCell::Text(run.header.run_id.clone()),
                        TableCell::Count(step),
                        TableCell::text(call.id.as_deref()),
                        TableCell::Text(call.name.to_string()),
                        TableCell::Text(told.effect.name().to_owned()),
                        TableCell::Text(told.why),
                    ]);
                }
            }
        }
        step += u64::from(is_step);
    }
    rows
}
