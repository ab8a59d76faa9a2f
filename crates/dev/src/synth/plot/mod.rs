//! The courses that runs take: one function per behaviour, from a prepared scene to its ending.

mod failing;
mod succeeding;

use super::behaviour::Behaviour;
use super::scene::Scene;
use super::script::{KnownBy, RunEnding};
use crate::transcript::{Outcome, Run};

/// Plays `behaviour` to the end.
pub(super) fn play(mut scene: Scene, behaviour: Behaviour) -> Run {
    let ending = course(&mut scene, behaviour);
    scene.finish(ending)
}

fn course(scene: &mut Scene, behaviour: Behaviour) -> RunEnding {
    match behaviour {
        Behaviour::Healthy | Behaviour::Quiet | Behaviour::Greeting => succeeding::healthy(scene),
        Behaviour::LateSuccess => succeeding::late(scene),
        Behaviour::Overlong => succeeding::overlong(scene),
        Behaviour::ErrorsRecovered => succeeding::recovers(scene),
        Behaviour::Polling => succeeding::polls(scene),
        Behaviour::FlakyCheck => succeeding::checks_again(scene),
        Behaviour::AsksUser => succeeding::asks(scene),
        Behaviour::QuotesDone => succeeding::quotes_done(scene),
        Behaviour::SubAgents => succeeding::delegates(scene),
        Behaviour::Experiments => succeeding::experiments(scene),
        Behaviour::Judged => succeeding::judged(scene),
        Behaviour::LoopSame => failing::repeats(scene, 1),
        Behaviour::LoopChanging => failing::repeats_with_new_results(scene),
        Behaviour::LoopAlternating => failing::repeats(scene, 2),
        Behaviour::LoopThree => failing::repeats(scene, 3),
        Behaviour::LoopWords => failing::repeats_words(scene),
        Behaviour::ErrorsFatal => failing::errs(scene),
        Behaviour::Broken => failing::breaks(scene),
        Behaviour::Runaway => failing::runs_away(scene),
        Behaviour::WrongAnswer => failing::is_wrong(scene),
        Behaviour::Capped => failing::is_capped(scene),
        Behaviour::TimedOut => failing::times_out(scene),
        Behaviour::Killed => failing::is_killed(scene),
        Behaviour::Unlabelled => ungraded(mixed(scene)),
        Behaviour::NoUsage | Behaviour::NoTimes => mixed(scene),
    }
}

/// Mostly healthy, otherwise a loop; for behaviours that concern the recording rather than its course.
fn mixed(scene: &mut Scene) -> RunEnding {
    match scene.dice.between(1, 10) {
        1..=6 => succeeding::healthy(scene),
        7 => succeeding::overlong(scene),
        _ => failing::repeats(scene, 1),
    }
}

/// The same ending without a grade.
fn ungraded(ending: RunEnding) -> RunEnding {
    let secured = ending.secured.map(|(step, _)| (step, KnownBy::Nothing));
    RunEnding { outcome: Outcome::Unknown, secured, ..ending }
}
