//! Signs in a recording of how a round turned out. They are not grades.

use foldhash::HashSet;

use crate::parts::CallEffect;
use crate::reader::EffectReader;
use crate::transcript::{Event, Message, Origin, Round, Run, Text, ToolCall};
use crate::{Effect, EffectTable};
use whenstop_core::transcript::named;

named! {
    /// A sign of how a round turned out.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum RoundMark {
        /// The round was interrupted.
        Interrupted = "interrupted",
        /// Its edits were undone in the next round: by a rewind, a restored checkpoint or a `git checkout` of the
        /// files.
        Undone = "undone",
        /// Its work was handed over, in the round itself or as the first action of the next one.
        Handover = "handover",
    }
}

/// The marks of one round or of a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundMarks {
    /// See [`RoundMark::Interrupted`].
    pub interrupted: bool,
    /// See [`RoundMark::Undone`].
    pub undone: bool,
    /// See [`RoundMark::Handover`].
    pub handed_over: bool,
}

impl RoundMarks {
    /// True if it has the given mark.
    pub fn has(self, mark: RoundMark) -> bool {
        match mark {
            RoundMark::Interrupted => self.interrupted,
            RoundMark::Undone => self.undone,
            RoundMark::Handover => self.handed_over,
        }
    }

    /// The marks of each round of a run, in order.
    pub fn from_rounds(run: &Run, table: &EffectTable) -> Vec<Self> {
        let mut reader = EffectReader::new(table);
        let rounds = run.rounds();
        let acts: Vec<RoundActions> =
            rounds.iter().map(|round| RoundActions::from_round(run, round, &mut reader)).collect();
        // Commands that a person typed between two rounds come before the agent's actions in the second.
        let ends = rounds.iter().map(|round| round.end_step);
        let typed: Vec<Vec<CallEffect>> = ends.map(|end| typed_after(run, end, &mut reader)).collect();
        let marks = rounds.iter().zip(&acts).enumerate().map(|(nth, (round, own))| {
            let next = acts.get(nth + 1);
            let later = || typed[nth].iter().chain(next.into_iter().flat_map(|next| &next.calls));
            let taken_back = own.edited_one_of(later().flat_map(|told| &told.discards));
            let is_act = |told: &&CallEffect| !matches!(told.effect, Effect::Read | Effect::Plan);
            let first_act = later().find(is_act).map(|told| told.effect);
            Self {
                interrupted: round.end == crate::transcript::RoundEnd::Interrupted,
                undone: own.has_edits && (taken_back || matches!(next, Some(next) if next.rewinds)),
                handed_over: own.calls.iter().any(|told| told.effect == Effect::Handover)
                    || (own.has_edits && first_act == Some(Effect::Handover)),
            }
        });
        marks.collect()
    }

    /// The marks of a whole run: those of its last round, and whether any round handed work over.
    pub fn from_run(run: &Run, table: &EffectTable) -> Self {
        let rounds = Self::from_rounds(run, table);
        let last = rounds.last().copied().unwrap_or_default();
        Self { handed_over: rounds.iter().any(|marks| marks.handed_over), ..last }
    }
}

/// The actions of a round.
struct RoundActions {
    calls: Vec<CallEffect>,
    has_edits: bool,
    /// It begins with a note that earlier work was rolled back.
    rewinds: bool,
}

impl RoundActions {
    fn from_round(run: &Run, round: &Round, reader: &mut EffectReader<'_>) -> Self {
        let replies = (round.first_step..round.end_step).filter_map(|step| run.reply(step));
        let calls: Vec<CallEffect> =
            replies.flat_map(|reply| &reply.tool_calls).map(|call| reader.tell(call)).collect();
        let has_edits = calls.iter().any(|told| told.effect == Effect::Edit && told.discards.is_empty());
        let first_reply = run.steps()[round.first_step].reply;
        let before_it = run.events()[..first_reply].iter().rev().take_while(|event| !is_step(event));
        Self { has_edits, rewinds: before_it.into_iter().any(Event::is_taking_back), calls }
    }

    /// True if it changed a file that later commands discard, whatever their working directory was.
    fn edited_one_of<'d>(&self, discarded: impl Iterator<Item = &'d String>) -> bool {
        let mut named = HashSet::default();
        for path in discarded {
            if matches!(path.as_str(), "." | ":/" | "*") {
                return true;
            }
            named.insert(path.trim_start_matches("./").trim_end_matches('/'));
        }
        named.remove("");
        let mut files = self.calls.iter().filter(|told| told.discards.is_empty()).flat_map(|told| &told.touched);
        !named.is_empty() && files.any(|file| is_within_one_of(file, &named))
    }
}

fn is_step(event: &Event) -> bool {
    event.message().is_some_and(Message::is_step)
}

/// True if `file` or a folder it is in has one of these paths, or ends with one. Of a path of more than 64 folders, the
/// last ones are compared.
fn is_within_one_of(file: &str, named: &HashSet<&str>) -> bool {
    let file = file.replace('\\', "/");
    let joints: Vec<usize> = file.rmatch_indices('/').map(|(at, _)| at).take(64).collect();
    let starts = || joints.iter().map(|at| at + 1).chain([0]);
    let ends = || joints.iter().copied().chain([file.len()]);
    starts().any(|start| ends().any(|end| start < end && named.contains(&file[start..end])))
}

/// Commands that a person typed at the agent's prompt after step `end - 1` and before the next model call.
fn typed_after(run: &Run, end: usize, reader: &mut EffectReader<'_>) -> Vec<CallEffect> {
    let from = if let Some(step) = run.steps().get(end.wrapping_sub(1)) { step.end } else { 0 };
    let rest = run.events()[from..].iter().take_while(|event| !is_step(event)).filter_map(Event::message);
    let typed =
        rest.filter(|message| matches!(message.origin, Origin::Host | Origin::Notification)).filter_map(|message| {
            let text = message.text();
            let command = text.trim_start().strip_prefix("<bash-input>")?.split("</bash-input>").next()?.trim();
            let arguments = serde_json::json!({ "command": command }).to_string();
            Some(ToolCall::new(None, "bash", Text::plain(arguments)))
        });
    typed.map(|call| reader.tell(&call)).collect()
}
