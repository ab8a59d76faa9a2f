//! `whenstop corpus --rounds`: what each prompt led to.

use super::ProgramExit;
use super::failure::CommandFailure;
use super::inputs::process_telling;
use super::output::{Output, TableFormat};
use crate::answers::tables::{DataTable, TableCell};
use crate::effects::{EffectReader, EffectTable};
use crate::reader::Corpus;
use crate::transcript::{Event, Millis, Run, Spend};

/// Prints one line per round.
pub(super) fn list(corpus: &Corpus, format: TableFormat, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let effects = EffectTable::default();
    let mut all = Vec::new();
    process_telling(corpus, output, |run| rows(&run, &effects), |rows| all.extend(rows))?;
    let columns = ["file", "run_id", "round", "prompted_by", "steps", "end", "active_s", "tokens", "last_effect_step"];
    output.table(&DataTable::new(columns, all), format)?;
    Ok(ProgramExit::Done)
}

/// One row per round; rounds are counted from 1, steps from 0.
fn rows(run: &Run, effects: &EffectTable) -> Vec<Vec<TableCell>> {
    let mut reader = EffectReader::new(effects);
    let rounds = run.rounds();
    let mut rows = Vec::with_capacity(rounds.len());
    for (nth, round) in rounds.iter().enumerate() {
        let mut last_effect = None;
        for step in round.first_step..round.end_step {
            let Some(reply) = run.reply(step) else { continue };
            for call in &reply.tool_calls {
                if reader.tell(call).effect.is_work() {
                    last_effect = Some(step - round.first_step);
                }
            }
        }
        let events: &[Event] = &run.events()[round.begins..round.ends];
        let seconds = |Millis(ms): Millis| format!("{}.{:03}", ms / 1000, ms % 1000);
        let spend = Spend::from_events(events);
        rows.push(vec![
            TableCell::some_text(run.header.file.clone()),
            TableCell::Text(run.header.run_id.clone()),
            TableCell::Count(nth as u64 + 1),
            TableCell::text(Some(round.prompted_by(run.header.prompted_by).name()).filter(|name| !name.is_empty())),
            TableCell::Count(round.n_steps() as u64),
            TableCell::Text(round.end.name().to_owned()),
            TableCell::some_text(round.active.map(seconds)),
            TableCell::count(spend.total.map(|tokens| tokens.0)),
            TableCell::count(last_effect.map(|step| step as u64)),
        ]);
    }
    rows
}
