//! `whenstop corpus --rounds`: what each prompt led to.

use crate::answers::tables::{DataTable, TableCell};
use crate::effects::{EffectReader, EffectTable};
use crate::transcript::{Event, Millis, Run, Spend};

/// The columns of [`rows`].
const COLUMNS: [&str; 9] =
    ["file", "run_id", "round", "prompted_by", "steps", "end", "active_s", "tokens", "last_effect_step"];

/// The rounds as a table.
pub(super) fn table(rows: Vec<Vec<TableCell>>) -> DataTable {
    DataTable { columns: COLUMNS.map(str::to_owned).to_vec(), rows }
}

/// One row per round; rounds are counted from 1, steps from 0.
pub(super) fn rows(run: &Run, effects: &EffectTable) -> Vec<Vec<TableCell>> {
    let mut reader = EffectReader::new(effects);
    let rounds = run.rounds();
    let mut rows = Vec::with_capacity(rounds.len());
    for (nth, round) in rounds.iter().enumerate() {
        let mut last_effect = None;
        for (step, reply) in (round.first_step..round.end_step).filter_map(|step| Some((step, run.reply(step)?))) {
            for call in &reply.tool_calls {
                if reader.tell(call).effect.is_work() {
                    last_effect = Some(step - round.first_step);
                }
            }
        }
        let events: &[Event] = &run.events()[round.begins..round.ends];
        let seconds = |Millis(ms): Millis| TableCell::Text(format!("{}.{:03}", ms / 1000, ms % 1000));
        let spend = Spend::from_events(events);
        rows.push(vec![
            run.header.file.clone().map_or(TableCell::Missing, TableCell::Text),
            TableCell::Text(run.header.run_id.clone()),
            TableCell::Count(nth as u64 + 1),
            Some(round.prompted_by(run.header.prompted_by).name())
                .filter(|name| !name.is_empty())
                .map_or(TableCell::Missing, |name| TableCell::Text(name.to_owned())),
            TableCell::Count(round.n_steps() as u64),
            TableCell::Text(round.end.name().to_owned()),
            round.active.map_or(TableCell::Missing, seconds),
            spend.total.map_or(TableCell::Missing, |tokens| TableCell::Count(tokens.0)),
            last_effect.map_or(TableCell::Missing, |step| TableCell::Count(step as u64)),
        ]);
    }
    rows
}
