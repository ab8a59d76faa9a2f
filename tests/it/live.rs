//! What was measured is what runs: event by event, a strategy decides as in the replay of the finished recording.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use whenstop::catalog::Strategies;
use whenstop::decision::{Decision, Strategy};
use whenstop::reader::{Corpus, ReadOptions};
use whenstop::redact::redact;
use whenstop::replay::{Decisions, Live, Replay, Terms, replay};
use whenstop::transcript::{Event, Message, Moment, PointView, Recorder, Run};

use crate::{bundled, convert, shared};

/// How the events come in.
#[derive(Clone, Copy, Debug)]
enum Feed {
    /// Line by line: nobody says that a request is about to be made.
    Lines,
    /// As an agent loop has them: it says so before each model call.
    Loop,
}

fn is_reply(event: &Event) -> bool {
    event.message().is_some_and(Message::is_step)
}

/// Everything the strategy says to the events of the run, one after the other.
fn live_trail(run: &Run, strategy: &Arc<dyn Strategy>, feed: Feed) -> Vec<Decision> {
    let terms = Terms::from_run(run, &strategy.requirements());
    let mut live = Live::start_on(terms, strategy, run.header.clone());
    let mut trail = Vec::new();
    for event in run.events() {
        let is_told = matches!(feed, Feed::Loop) && is_reply(event);
        if is_told {
            trail.extend(live.request());
        }
        let said = live.push(event.clone());
        // What is decided after the tools, or before a call, is said before the next reply is there.
        assert!(!is_told || said.iter().all(|decision| decision.point.moment >= Moment::AfterResponse));
        trail.extend(said);
        if live.has_ended() {
            return trail;
        }
    }
    trail.extend(live.end());
    trail
}

/// How the live path differs from the replay, if it does: decisions with their evidence, and what they come to.
fn difference(run: &Run, strategy: &Arc<dyn Strategy>, replayed: &Replay, feed: Feed) -> Option<String> {
    let said = Decisions { trail: live_trail(run, strategy, feed), ..Decisions::default() };
    let lived = Replay::new(run, said, &strategy.requirements(), &**strategy);
    ((&lived.trail, &lived.stop) != (&replayed.trail, &replayed.stop)).then(|| {
        let (id, name, profile) = (&run.header.run_id, strategy.name(), strategy.profile());
        format!("{id} under {name} {profile} ({feed:?}):\n live {:?}\n not  {:?}", lived.trail, replayed.trail)
    })
}

/// What a comparison came to.
#[derive(Debug, Default)]
struct Checked {
    runs: usize,
    /// Runs x strategies x ways to feed them, redacted copies included.
    pairs: usize,
    /// How many of those the strategy ended early.
    stops: usize,
    differences: Vec<String>,
}

impl Checked {
    fn from_run(run: &Run, strategies: &Strategies, feeds: &[Feed]) -> Self {
        let mut checked = Self::default();
        for strategy in strategies {
            let replayed = replay(run, strategy);
            checked.stops += usize::from(replayed.stop.is_some());
            checked.pairs += feeds.len();
            checked.differences.extend(feeds.iter().filter_map(|feed| difference(run, strategy, &replayed, *feed)));
        }
        checked
    }

    fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.pairs += other.pairs;
        self.stops += other.stops;
        self.differences.extend(other.differences);
    }
}

/// All runs of this file or folder as an agent loop has them; one in so many of them also line by line, and as a redacted
/// copy.
fn check(path: &Path, strategies: &Strategies, one_of: u64) -> Checked {
    let options = ReadOptions { allow_unmatched_labels: true, ..ReadOptions::default() };
    let mut all = Checked::default();
    let work = |run: Run| {
        let mut checked = Checked { runs: 1, ..Checked::from_run(&run, strategies, &[Feed::Loop]) };
        if convert::is_chosen(&run, one_of) {
            checked.add(Checked::from_run(&run, strategies, &[Feed::Lines]));
            checked.add(Checked::from_run(&redact(&run, "salt"), strategies, &[Feed::Loop]));
        }
        checked
    };
    Corpus::open(&[path.to_path_buf()], options).unwrap().process(work, |checked| all.add(checked)).unwrap();
    all
}

/// Every own stack that is bundled or reads something no other does, every system, every preset.
fn all_strategies() -> Strategies {
    let mut all = convert::strategies();
    all.extend(bundled::example());
    all
}

/// The recordings that come with the project: the traces, the signals' fixtures, and the readable ones of each format.
fn bundled_recordings() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let formats = std::fs::read_dir(root.join("fixtures/readers")).unwrap().map(|folder| folder.unwrap().path());
    let files = formats.flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()));
    let is_readable = |file: &PathBuf| {
        let name = file.file_name().unwrap().to_string_lossy();
        name.starts_with("good") && !name.ends_with(".snap")
    };
    let mut all: Vec<PathBuf> = files.filter(is_readable).collect();
    all.sort();
    all.extend(
        ["traces", "fixtures/signals", "fixtures/systems/agentica/session_log.jsonl"].map(|name| root.join(name)),
    );
    all
}

#[test]
fn every_bundled_run_is_decided_live_as_in_the_replay() {
    let strategies = all_strategies();
    let mut all = Checked::default();
    for path in bundled_recordings() {
        all.add(check(&path, &strategies, 8));
    }
    let Checked { runs, pairs, stops, differences } = &all;
    assert!(differences.is_empty(), "{} of {pairs} differ: {}", differences.len(), differences[0]);
    assert!(*runs > 600 && *pairs > runs * 100 && *stops > 10_000, "{runs} {pairs} {stops}");
}

/// Every run of the corpora, in every way, under every strategy; prints how many there were.
#[test]
#[ignore = "reads all of ../shared/corpora, for minutes: cargo test --test it live -- --ignored --nocapture"]
fn every_run_of_the_corpora_is_decided_live_as_in_the_replay() {
    let strategies = all_strategies();
    let mut all = Checked::default();
    for folder in shared::corpora() {
        let checked = check(&folder, &strategies, 1);
        let Checked { runs, pairs, stops, differences } = &checked;
        let (name, n_strategies, n) = (folder.display(), strategies.len(), differences.len());
        eprintln!("{name}: {runs} runs x {n_strategies} strategies, {pairs} pairs, {stops} stops, {n} differences");
        all.add(checked);
    }
    let Checked { runs, pairs, stops, differences } = &all;
    eprintln!("{runs} runs, {pairs} pairs, {stops} stops, {} differences", differences.len());
    assert!(differences.is_empty(), "{}", differences[0]);
}

/// A view, comparable.
fn told(view: &PointView<'_>) -> impl PartialEq + std::fmt::Debug + use<> {
    let known = (view.events().len(), view.news_from(), view.steps().to_vec(), view.reply_index());
    (view.point(), known, view.now(), view.started_at(), view.is_after_end())
}

#[test]
fn a_recorder_shows_what_the_finished_run_shows() {
    let read = |path| Corpus::open(&[path], ReadOptions::default()).unwrap().runs().unwrap().0;
    for run in &bundled_recordings().into_iter().flat_map(read).collect::<Vec<Run>>() {
        let whole: Vec<_> = run.views().map(|view| told(&view)).collect();
        for feed in [Feed::Lines, Feed::Loop] {
            let mut recorder = Recorder::new(run.header.clone());
            let mut views = Vec::new();
            for event in run.events() {
                if matches!(feed, Feed::Loop) && is_reply(event) {
                    views.extend(recorder.close_step().map(|view| told(&view)));
                    views.extend(recorder.request().map(|view| told(&view)));
                }
                views.extend(recorder.push(event.clone()).map(|view| told(&view)));
            }
            views.extend(recorder.end().map(|view| told(&view)));
            assert_eq!(views, whole, "{} ({feed:?})", run.header.run_id);
            let again = Run::new(recorder.into_draft());
            assert_eq!(again.views().map(|view| told(&view)).collect::<Vec<_>>(), whole);
        }
    }
}

#[test]
fn a_strategy_at_work_can_be_kept_and_moved() {
    fn is_movable<T: Send + 'static>() {}
    is_movable::<Live>();
}
