//! Courses that end in a success.

use super::super::scene::Scene;
use super::super::script::{Beat, RunEnding};

/// A few varied steps, at most one failed check, a summary.
pub(super) fn healthy(scene: &mut Scene) -> RunEnding {
    let (explore, failing) = (scene.count(2, 4), scene.count(0, 1));
    let secured = scene.work(explore, failing);
    close(scene, secured)
}

/// Ends with a summary.
fn close(scene: &mut Scene, secured: usize) -> RunEnding {
    scene.reply(&scene.stage.closing);
    scene.success(secured)
}

/// A long search: four to six changes that fail the check, with looking around between them.
pub(super) fn late(scene: &mut Scene) -> RunEnding {
    let (first, attempts) = (scene.count(2, 4), scene.count(4, 6));
    scene.explore(first);
    for _ in 0..attempts {
        scene.change();
        scene.check(false);
        scene.explore_some(0, 2);
    }
    let secured = scene.work(1, 0);
    close(scene, secured)
}

/// Finished early, followed by eight to sixteen steps of polishing.
pub(super) fn overlong(scene: &mut Scene) -> RunEnding {
    let explore = scene.count(2, 3);
    let secured = scene.work(explore, 0);
    for _ in 0..scene.count(8, 16) {
        scene.step_of(&scene.stage.polish, false);
    }
    close(scene, secured)
}

/// Three to five failed steps in a row, then a solution.
pub(super) fn recovers(scene: &mut Scene) -> RunEnding {
    scene.explore_some(1, 2);
    for _ in 0..scene.count(3, 5) {
        let kinds = if scene.dice.chance(50) { &scene.stage.explore } else { &scene.stage.change };
        scene.step_of(kinds, true);
    }
    let after = scene.count(1, 2);
    let secured = scene.work(after, 0);
    close(scene, secured)
}

/// A slow job: polled three to seven times until it has finished. Every third job shows no progress between polls.
pub(super) fn polls(scene: &mut Scene) -> RunEnding {
    scene.explore_some(1, 3);
    scene.change();
    let still = scene.dice.chance(33);
    let mut beat = scene.beat(&scene.stage.poll, false);
    for _ in 0..scene.count(3, 7) {
        scene.play(&beat);
        if !still {
            beat = scene.beat(&scene.stage.poll, false);
        }
    }
    beat.result = scene.stage.poll_over.clone();
    scene.play(&beat);
    let secured = scene.script.last_step();
    scene.check(true);
    close(scene, secured)
}

/// Repeats the same check without a change in between, because it is flaky. The change that helps comes afterwards.
pub(super) fn checks_again(scene: &mut Scene) -> RunEnding {
    scene.explore_some(1, 3);
    scene.change();
    for _ in 0..scene.count(3, 4) {
        scene.check(false);
    }
    let secured = scene.work(1, 0);
    close(scene, secured)
}

/// Asks once or twice at the end of a reply and gets an answer.
pub(super) fn asks(scene: &mut Scene) -> RunEnding {
    for _ in 0..scene.count(1, 2) {
        scene.explore_some(1, 2);
        scene.ask();
    }
    let explore = scene.count(0, 1);
    let secured = scene.work(explore, 0);
    close(scene, secured)
}

/// Says DONE about something else, or says that it is not done.
pub(super) fn quotes_done(scene: &mut Scene) -> RunEnding {
    scene.explore(1);
    let mut beat = scene.look();
    beat.say = scene.words(&scene.stage.not_done);
    scene.play(&beat);
    let explore = scene.count(1, 2);
    let secured = scene.work(explore, 0);
    close(scene, secured)
}

/// One or two sub-agents look around on its behalf.
pub(super) fn delegates(scene: &mut Scene) -> RunEnding {
    scene.explore(1);
    for helper in 1..=scene.count(1, 2) {
        let read = scene.look();
        let beat = Beat {
            say: String::new(),
            tool: "delegate".to_owned(),
            arguments: format!(r#"{{"to":"helper-{helper}","ask":"{}"}}"#, read.tool),
            result: format!("helper-{helper} started"),
            ..read.clone()
        };
        scene.play(&beat);
        for _ in 0..scene.count(1, 3) {
            let seen = scene.look();
            let told = format!("{}: {}", seen.tool, seen.result);
            scene.script.side(&format!("helper-{helper}"), &told, &mut scene.dice);
        }
    }
    let secured = scene.work(1, 0);
    close(scene, secured)
}

/// Two to five experiments; the last one reaches the goal of 0.90.
pub(super) fn experiments(scene: &mut Scene) -> RunEnding {
    let (before, planned) = (scene.count(1, 2), scene.count(2, 5));
    scene.explore(before);
    let mut accuracy = scene.dice.between(640, 760);
    for number in 1..=planned {
        scene.change();
        train(scene, number);
        if number == planned {
            accuracy = scene.dice.between(902, 931);
        } else {
            accuracy = (accuracy + scene.dice.between(10, 60)).min(895);
        }
        let values = [("accuracy", accuracy as f64 / 1e3), ("loss", (1_200 - accuracy) as f64 / 1e3)];
        scene.script.metrics(&format!("exp-{number}"), "completed", &values);
    }
    let secured = scene.script.last_step();
    for _ in 0..scene.count(0, 3) {
        scene.step_of(&scene.stage.polish, false);
    }
    close(scene, secured)
}

fn train(scene: &mut Scene, number: usize) {
    let poll = scene.beat(&scene.stage.poll, false);
    let arguments = format!(r#"{{"experiment":"exp-{number}"}}"#);
    let result = scene.stage.poll_over.clone();
    scene.play(&Beat { say: String::new(), tool: "train".to_owned(), arguments, result, ..poll });
}

/// Two to four rounds, each followed by a judge's reply. In one of seven rounds before the last, the judge errs: it
/// says done too early, or its reply cannot be parsed.
pub(super) fn judged(scene: &mut Scene) -> RunEnding {
    let rounds = scene.count(2, 4);
    for round in 1..rounds {
        scene.explore_some(1, 2);
        let text = scene.in_language([
            format!("I have looked at part {round} of {rounds}; nothing is changed yet."),
            format!("第 {round} 部分（共 {rounds} 部分）已看过，还没有改动。"),
        ]);
        scene.script.reply(&text, &mut scene.dice);
        let reply = match scene.dice.between(1, 7) {
            1 => r#"{"done": true, "reason": "the summary sounds finished"}"#,
            2 if round > 1 => "Looks fine so far, I think.",
            _ => r#"{"done": false, "reason": "nothing is changed yet"}"#,
        };
        scene.script.judge(reply, &mut scene.dice);
        let next = round + 1;
        let text = scene.in_language([format!("Go on with part {next}."), format!("请继续第 {next} 部分。")]);
        scene.user(&text);
    }
    let secured = scene.work(1, 0);
    scene.reply(&scene.stage.closing);
    scene.script.judge(r#"{"done": true, "reason": "the check passes"}"#, &mut scene.dice);
    scene.success(secured)
}
