//! `whenstop corpus --effects`: lists what each call in the recordings does to the world.

use std::path::PathBuf;

use super::Exit;
use super::failure::Failure;
use super::inputs::{CorpusArgs, StackArgs};
use super::output::{Format, Output};
use crate::answers::tables::{Cell, Table};
use crate::effects::EffectReader;
use crate::transcript::{Event, Lane, Run};

/// Prints one line per call. The `[effects]` of the stack files take precedence over the built-in table.
pub(super) fn list(corpus: &CorpusArgs, stacks: &[PathBuf], format: Format, output: &Output) -> Result<Exit, Failure> {
    let table = StackArgs::effects_of(stacks)?;
    let mut rows = Vec::new();
    corpus.process(output, |run| calls(&run, &table), |calls| rows.extend(calls))?;
    let columns = ["file", "run_id", "step", "call_id", "tool", "effect", "why"];
    output.table(&Table { columns: columns.map(str::to_owned).to_vec(), rows }, format)?;
    Ok(Exit::Done)
}

/// One row per call of the agent under test.
fn calls(run: &Run, table: &crate::effects::EffectTable) -> Vec<Vec<Cell>> {
    let mut reader = EffectReader::new(table);
    let mut rows = Vec::new();
    let mut step = 0;
    for message in run.events().iter().filter_map(Event::message) {
        let is_step = message.is_step();
        if is_step || message.lane == Lane::Canned {
            for call in &message.tool_calls {
                let told = reader.tell(call);
                if is_step {
                    rows.push(vec![
                        Cell::Text(run.header.file.clone().unwrap_or_default()),
                        Cell::Text(run.header.run_id.clone()),
                        Cell::Count(step),
                        call.id.as_ref().map_or(Cell::Missing, |id| Cell::Text(id.to_string())),
                        Cell::Text(call.name.to_string()),
                        Cell::Text(told.effect.name().to_owned()),
                        Cell::Text(told.why),
                    ]);
                }
            }
        }
        step += u64::from(is_step);
    }
    rows
}
