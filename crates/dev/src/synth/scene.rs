//! One run being generated: its task, its language, its dice, and the steps that plots are made of.

use serde_json::value::RawValue;

use super::Suite;
use super::behaviour::Behaviour;
use super::dice::Dice;
use super::script::{Beat, Gaps, KnownBy, RunEnding, RunRecorder, TokenPrice};
use super::stage::{Move, SuiteContent, Words};
use crate::transcript::{EndCause, Header, Lane, Outcome, Role, Run};

/// Which run of which task to play, and by which model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Casting<'c> {
    pub(super) task: &'c str,
    pub(super) trial: usize,
    pub(super) model: &'static str,
    pub(super) price: TokenPrice,
    pub(super) seed: u64,
    /// The run's number, which determines when it starts.
    pub(super) number: usize,
    pub(super) behaviour: Behaviour,
}

/// Out of a hundred tasks, how many are in Chinese.
const CHINESE: u64 = 20;

/// A run being played.
pub(super) struct Scene {
    pub(super) stage: &'static SuiteContent,
    pub(super) dice: Dice,
    pub(super) script: RunRecorder,
    header: Header,
    /// 0 for English, 1 for Chinese.
    language: usize,
    nouns: (&'static str, &'static str),
    /// The number the user's request is about.
    case: u64,
}

/// Numbers for one text: `<n>`, `<id>`, and two more that differ from them.
#[derive(Clone, Copy)]
struct TextNumbers {
    small: u64,
    large: u64,
    other_small: u64,
    other_large: u64,
}

impl TextNumbers {
    fn draw(dice: &mut Dice) -> Self {
        let (small, large) = (dice.between(2, 39), dice.between(1000, 9999));
        Self { small, large, other_small: dice.between(2, 39), other_large: dice.between(1000, 9999) }
    }
}

impl Scene {
    /// Prepares the run: its header, and the task in the user's words.
    pub(super) fn set(stage: &'static SuiteContent, suite: Suite, casting: Casting<'_>, dice: Dice) -> Self {
        let Casting { task, trial, model, price, seed, number, behaviour } = casting;
        // A stream of the task's own, so that every trial gets the same words.
        let mut of_task = Dice::named(seed, task);
        let language = usize::from(of_task.chance(CHINESE));
        let nouns = (of_task.pick(&stage.first_nouns), of_task.pick(&stage.second_nouns));
        let gaps = Gaps {
            usage: behaviour == Behaviour::NoUsage,
            times: behaviour == Behaviour::NoTimes,
            words: behaviour == Behaviour::Quiet,
        };
        let minute = u64::try_from(number).unwrap_or(0) * 7;
        let script = RunRecorder::new(price, gaps, minute, stage.context);
        let meta = format!(
            r#"{{"behaviour":"{behaviour}","language":"{}","seed":{seed}}}"#,
            if language == 0 { "en" } else { "zh" }
        );
        let header = Header {
            run_id: format!("{task}-{trial}"),
            task_id: Some(task.to_owned()),
            trial: Some(trial.to_string()),
            suite: Some(suite.name().to_owned()),
            model: Some(model.to_owned()),
            agent: Some(stage.agent.clone()),
            started_at: script.now(),
            ended_at: None,
            meta: RawValue::from_string(meta).ok(),
            ..Header::default()
        };
        let case = of_task.between(1000, 9999);
        let mut scene = Self { stage, dice, script, header, language, nouns, case };
        scene.script.say(Role::System, Lane::Main, &stage.instructions);
        if behaviour == Behaviour::Greeting {
            scene.script.say(Role::Assistant, Lane::Canned, scene.greeting());
        }
        let request = of_task.pick(&stage.tasks[language]);
        let request = scene.fill(request, scene.nouns, TextNumbers::draw(&mut of_task));
        scene.user(&request);
        scene
    }

    fn greeting(&self) -> &'static str {
        if self.language == 0 { "Hello! How can I help you today?" } else { "您好！请问有什么可以帮您？" }
    }

    /// Adds a user message.
    pub(super) fn user(&mut self, text: &str) {
        let pause = self.dice.between(4_000, 40_000);
        self.script.wait(pause);
        self.script.say(Role::User, Lane::Main, text);
    }

    /// A text with its placeholders filled in.
    fn fill(&self, text: &str, nouns: (&str, &str), numbers: TextNumbers) -> String {
        text.replace("<a>", nouns.0)
            .replace("<b>", nouns.1)
            .replace("<case>", &self.case.to_string())
            .replace("<n>", &numbers.small.to_string())
            .replace("<id>", &numbers.large.to_string())
            .replace("<m>", &numbers.other_small.to_string())
            .replace("<k>", &numbers.other_large.to_string())
    }

    /// One of the texts in the run's language, filled in with the task's nouns.
    pub(super) fn words(&mut self, words: &Words) -> String {
        let text = self.dice.pick(&words[self.language]);
        let numbers = TextNumbers::draw(&mut self.dice);
        self.fill(text, self.nouns, numbers)
    }

    /// Adds a reply that ends with a question, and the user's answer.
    pub(super) fn ask(&mut self) {
        let exchanges = &self.stage.asking[self.language];
        let (question, answer) = &exchanges[self.dice.place(exchanges.len())];
        let numbers = TextNumbers::draw(&mut self.dice);
        let question = self.fill(question, self.nouns, numbers);
        let answer = self.fill(answer, self.nouns, numbers);
        self.script.reply(&question, &mut self.dice);
        self.user(&answer);
    }

    /// The one of two texts that is in the run's language.
    pub(super) fn in_language(&self, texts: [String; 2]) -> String {
        let [english, chinese] = texts;
        if self.language == 0 { english } else { chinese }
    }

    /// A random count between two bounds, both included.
    pub(super) fn count(&mut self, low: u64, high: u64) -> usize {
        usize::try_from(self.dice.between(low, high)).unwrap_or(0)
    }

    /// A call about the task's nouns, with new arguments and a result.
    pub(super) fn beat(&mut self, kind: &Move, failed: bool) -> Beat {
        self.beat_about(self.nouns, kind, failed)
    }

    fn beat_about(&mut self, nouns: (&str, &str), kind: &Move, failed: bool) -> Beat {
        let numbers = TextNumbers::draw(&mut self.dice);
        let say = self.dice.pick(&kind.say[self.language]);
        let result = self.dice.pick(if failed { &kind.errors } else { &kind.results });
        Beat {
            say: self.fill(say, nouns, numbers),
            tool: kind.tool.clone(),
            arguments: self.fill(&kind.arguments, nouns, numbers),
            result: self.fill(result, nouns, numbers),
            failed,
            result_tokens: self.dice.between(kind.tokens.0, kind.tokens.1),
            tool_ms: self.dice.between(kind.ms.0, kind.ms.1),
        }
    }

    /// Plays one beat as a step.
    pub(super) fn play(&mut self, beat: &Beat) {
        self.script.step(std::slice::from_ref(beat), &mut self.dice);
    }

    /// A beat of one of `kinds`.
    pub(super) fn beat_of(&mut self, kinds: &'static [Move], failed: bool) -> Beat {
        let kind = &kinds[self.dice.place(kinds.len())];
        self.beat(kind, failed)
    }

    /// A call that looks around, mostly at the task's subject.
    pub(super) fn look(&mut self) -> Beat {
        let other = (self.dice.pick(&self.stage.first_nouns), self.dice.pick(&self.stage.second_nouns));
        let nouns = if self.dice.chance(60) { self.nouns } else { other };
        let kind = &self.stage.explore[self.dice.place(self.stage.explore.len())];
        self.beat_about(nouns, kind, false)
    }

    /// Plays a step of one of `kinds`.
    pub(super) fn step_of(&mut self, kinds: &'static [Move], failed: bool) {
        let beat = self.beat_of(kinds, failed);
        self.play(&beat);
    }

    /// Plays `n` steps of looking around; some have two calls in one reply.
    pub(super) fn explore(&mut self, n: usize) {
        for _ in 0..n {
            let mut beats = vec![self.look()];
            if self.dice.chance(12) {
                beats.push(self.look());
            }
            self.script.step(&beats, &mut self.dice);
        }
    }

    /// Looks around for some steps, from `low` to `high` of them.
    pub(super) fn explore_some(&mut self, low: u64, high: u64) {
        let n = self.count(low, high);
        self.explore(n);
    }

    /// Plays a step that advances the task.
    pub(super) fn change(&mut self) {
        self.step_of(&self.stage.change, false);
    }

    /// Plays a check of the work.
    pub(super) fn check(&mut self, passes: bool) {
        let beat = self.beat(&self.stage.check, !passes);
        self.play(&beat);
    }

    /// Replies without calls, which hands back.
    pub(super) fn reply(&mut self, words: &Words) {
        let text = self.words(words);
        self.script.reply(&text, &mut self.dice);
    }

    /// Looks around, then changes and checks until the check passes. Returns the step that secured the success: the
    /// last change, which the check only confirms.
    pub(super) fn work(&mut self, explore: usize, failing: usize) -> usize {
        self.explore(explore);
        for _ in 0..failing {
            self.change();
            self.check(false);
        }
        self.change();
        let secured = self.script.last_step();
        self.check(true);
        secured
    }

    /// A success held since step `secured`. It is known from a label, from checkpoints, or not at all.
    pub(super) fn success(&mut self, secured: usize) -> RunEnding {
        let told = match self.dice.between(1, 100) {
            1..=60 => KnownBy::Label,
            61..=80 => KnownBy::Checkpoints,
            _ => KnownBy::Nothing,
        };
        RunEnding { outcome: Outcome::Success, end: EndCause::SelfFinish, secured: Some((secured, told)) }
    }

    /// Ends the run.
    pub(super) fn finish(self, ending: RunEnding) -> Run {
        self.script.finish(self.header, ending)
    }
}

/// A failure whose recording ended for the reason `end`.
pub(super) fn failure(end: EndCause) -> RunEnding {
    RunEnding { outcome: Outcome::Failure, end, secured: None }
}
