//! What followed the stops, in words.

use crate::aggregate::{FollowedSummary, Label};
use crate::answers::followed::{Agreeing, FollowedVerdict, Pays};
use crate::words::{digits, grouped, grouped_counts, listed, percents};

/// Maximum stacks named in the verdict.
const NAMED: usize = 4;

/// The verdict in a few sentences: what each stack ends, and which of them pays.
pub fn verdict(verdict: &FollowedVerdict) -> String {
    let FollowedVerdict { noun, runs, stopping, pays } = verdict;
    if stopping.is_empty() {
        return format!("On {} nobody graded, none of these stacks stopped anything.", counted(*runs, noun));
    }
    let mut stacks = Vec::new();
    for FollowedSummary { stack, stops, cut_short, .. } in stopping.iter().take(NAMED) {
        let of = if stacks.is_empty() { format!(" of {}", counted(*runs, noun)) } else { String::new() };
        let cut = if cut_short.1 == 0 {
            "none of them".to_owned()
        } else {
            format!("{} of them", grouped_counts(*cut_short))
        };
        stacks.push(format!("`{stack}` ends {}{of}, {cut} with work still to come", grouped_counts(*stops)));
    }
    let more = match stopping.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; {more} more stacks below"),
    };
    format!("Nobody graded these {noun}: {}{more}. {}", stacks.join("; "), conclusion(pays))
}

fn conclusion(pays: &Pays) -> String {
    match pays {
        Pays::Best { stack, saved, of_several } => format!(
            "`{stack}` saves {} % of the tokens where nothing followed{}.",
            digits(*saved),
            if *of_several { ", most of those that cut less than half of their stops short" } else { "" },
        ),
        Pays::NotRecorded => "What they save is not known: no tokens are recorded.".to_owned(),
        Pays::SavesNothing { stacks, others_cut_short } => {
            let named: Vec<String> = stacks.iter().map(|stack| format!("`{stack}`")).collect();
            let verbs = if stacks.len() == 1 { ("lets", "saves") } else { ("let", "save") };
            let others = if *others_cut_short { ", and the others cut most of their stops short" } else { "" };
            let stacks = listed(&named);
            format!("{stacks} {} most work finish but {} nothing{others}: on this work none pays.", verbs.0, verbs.1)
        }
        Pays::CutsMostShort { stacks: 1 } => {
            "Most of its stops cut work short: on this work it does not pay.".to_owned()
        }
        Pays::CutsMostShort { .. } => "Most stops of each cut work short: on this work none of them pays.".to_owned(),
    }
}

/// The sentence above the table of agreement.
pub fn agreement(agreeing: &Agreeing) -> String {
    let better: Vec<String> = agreeing.better.iter().map(|stack| format!("`{stack}`")).collect();
    let answer = if better.is_empty() {
        "no stack tells them from the others better than chance".to_owned()
    } else {
        format!("told from the others by {}", better.join(", "))
    };
    format!(
        "People stopped {} of these {} themselves: {answer}. How often each stack stops, how much earlier than they did \
         (median), and the difference in percentage points, clustered by session:",
        agreeing.interrupted, agreeing.noun
    )
}

/// How much of the tokens a perfect stop could save, if it is known.
pub(super) fn perfect_stop(tail: Option<(f64, f64)>, idle: u64, runs: u64, noun: &str) -> String {
    let one = noun.trim_end_matches('s');
    let Some(tail) = tail else {
        return format!(
            "what a perfect stop could save is not known: no edit, hand-over or check was recognised in any {one} with tokens"
        );
    };
    let left_out = if idle == 0 {
        String::new()
    } else {
        let verb = if idle == 1 { "is" } else { "are" };
        let (idle, runs) = (grouped(idle), counted(runs, noun));
        format!(" ({idle} of {runs} changed nothing that is recognised, and {verb} left out)")
    };
    format!(
        "{} of the tokens come after the last edit, hand-over or green check of their {one}{left_out}: what a perfect stop could \
         save, in hindsight; a check that stayed green was worth running before anyone knew",
        percents(tail),
    )
}

/// How many of the successes that a stack kills had their final edit.
pub(super) fn killed_standing(stack: &Label, killed: (u64, u64), standing: (u64, u64)) -> String {
    let (sure, most) = killed;
    if standing == (0, sure) && sure > 0 {
        return format!(
            "whether the final edit of the {sure} successes that `{stack}` stops early was already made cannot be told from \
             their calls; `--keeps work` needs that"
        );
    }
    let unknown = if most > sure { format!(" ({} more could not be judged)", most - sure) } else { String::new() };
    format!(
        "in {} of the {sure} successes that `{stack}` stops early{unknown} the final edit was already made; `--keeps work` \
         counts them as kept",
        grouped_counts(standing),
    )
}

/// Formats `1 run` or `1,696 runs`.
fn counted(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {}", noun.trim_end_matches('s')) } else { format!("{} {noun}", grouped(n)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_that_save_nothing_are_named_and_told_from_those_that_cut_short() {
        let told = |stacks: &[&str], others_cut_short| {
            conclusion(&Pays::SavesNothing {
                stacks: stacks.iter().copied().map(Label::from).collect(),
                others_cut_short,
            })
        };
        assert_eq!(told(&["a"], false), "`a` lets most work finish but saves nothing: on this work none pays.");
        assert_eq!(
            told(&["a", "b"], true),
            "`a` and `b` let most work finish but save nothing, and the others cut most of their stops short: on this work \
             none pays."
        );
    }
}
