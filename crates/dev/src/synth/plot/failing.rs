//! Courses that end in a failure.

use super::super::scene::{Scene, failure};
use super::super::script::{Beat, RunEnding};
use crate::transcript::EndCause;

/// The time limit of the recording's own harness.
const TIMEOUT_MS: u64 = 1_800_000;

/// Repeats the same `length` calls with the same results until something ends it.
pub(super) fn repeats(scene: &mut Scene, length: usize) -> RunEnding {
    scene.explore(2);
    let mut cycle: Vec<Beat> = Vec::new();
    for nth in 0..length {
        let kind = &scene.stage.explore[nth % scene.stage.explore.len()];
        let mut beat = scene.beat(kind, false);
        beat.result_tokens = beat.result_tokens.min(400);
        cycle.push(beat);
    }
    let mut beats = cycle.iter().cycle();
    let (limit, end) = ended_from_outside(scene);
    while scene.script.n_steps() < limit {
        if let Some(beat) = beats.next() {
            scene.play(beat);
        }
    }
    failure(end)
}

/// For a run that does not end by itself: the step at which it is ended, and how.
fn ended_from_outside(scene: &mut Scene) -> (usize, EndCause) {
    let cap = scene.stage.cap;
    match scene.dice.between(1, 10) {
        1..=2 => (cap / 2, EndCause::Killed),
        3..=4 => (cap * 2 / 3, EndCause::Timeout),
        _ => (cap, EndCause::Cap),
    }
}

/// Polls something that never becomes ready; each answer contains a different number.
pub(super) fn repeats_with_new_results(scene: &mut Scene) -> RunEnding {
    scene.explore_some(1, 3);
    let kind = &scene.stage.explore[0];
    let fixed = scene.beat(kind, false);
    let (limit, end) = ended_from_outside(scene);
    while scene.script.n_steps() < limit {
        let other = scene.dice.between(1000, 9999);
        let beat = Beat { result: format!("{} ({other} ms)", fixed.result), result_tokens: 90, ..fixed.clone() };
        scene.play(&beat);
    }
    failure(end)
}

/// The same words with ever new calls, until it gives up.
pub(super) fn repeats_words(scene: &mut Scene) -> RunEnding {
    let words = scene.words(&scene.stage.explore[0].say);
    let words = if words.is_empty() {
        scene.in_language(["One moment, please.".to_owned(), "请稍等。".to_owned()])
    } else {
        words
    };
    for _ in 0..scene.count(9, 15) {
        let mut beat = scene.look();
        beat.say.clone_from(&words);
        scene.play(&beat);
    }
    gives_up(scene)
}

fn gives_up(scene: &mut Scene) -> RunEnding {
    scene.reply(&scene.stage.giving_up);
    failure(EndCause::SelfFinish)
}

/// Six to twelve failed steps in a row, then it gives up or crashes.
pub(super) fn errs(scene: &mut Scene) -> RunEnding {
    scene.explore_some(1, 2);
    let same = if scene.dice.chance(30) { Some(scene.beat_of(&scene.stage.change, true)) } else { None };
    for _ in 0..scene.count(6, 12) {
        if let Some(beat) = &same {
            scene.play(beat);
        } else {
            let kinds = if scene.dice.chance(50) { &scene.stage.explore } else { &scene.stage.change };
            scene.step_of(kinds, true);
        }
    }
    if scene.dice.chance(50) { gives_up(scene) } else { failure(EndCause::Error) }
}

/// A success that the checkpoints record, and that further changes then break.
pub(super) fn breaks(scene: &mut Scene) -> RunEnding {
    scene.explore_some(2, 3);
    scene.script.grade(false);
    scene.change();
    scene.script.grade(true);
    scene.check(true);
    for _ in 0..scene.count(1, 3) {
        scene.step_of(&scene.stage.polish, false);
    }
    scene.change();
    scene.script.grade(false);
    for _ in 0..scene.count(2, 5) {
        scene.check(false);
        scene.change();
    }
    gives_up(scene)
}

/// Ever new calls with long results, until the recording's own cap.
pub(super) fn runs_away(scene: &mut Scene) -> RunEnding {
    while scene.script.n_steps() < scene.stage.cap {
        let mut beat = scene.look();
        beat.result_tokens *= 2;
        scene.play(&beat);
    }
    failure(EndCause::Cap)
}

/// Quick and wrong.
pub(super) fn is_wrong(scene: &mut Scene) -> RunEnding {
    scene.explore_some(1, 3);
    scene.change();
    gives_up(scene)
}

/// Still making progress when the cap ends it.
pub(super) fn is_capped(scene: &mut Scene) -> RunEnding {
    while scene.script.n_steps() + 3 <= scene.stage.cap {
        scene.explore(1);
        scene.change();
        scene.check(false);
    }
    let left = scene.stage.cap.saturating_sub(scene.script.n_steps());
    scene.explore(left);
    failure(EndCause::Cap)
}

/// Every step takes minutes, until the time limit ends it.
pub(super) fn times_out(scene: &mut Scene) -> RunEnding {
    let mut passed = 0;
    while passed < TIMEOUT_MS {
        let pause = scene.dice.between(90_000, 240_000);
        scene.script.wait(pause);
        passed += pause;
        scene.explore(1);
    }
    failure(EndCause::Timeout)
}

/// Stopped by a person after a few steps.
pub(super) fn is_killed(scene: &mut Scene) -> RunEnding {
    scene.explore_some(3, 6);
    scene.change();
    scene.check(false);
    failure(EndCause::Killed)
}
