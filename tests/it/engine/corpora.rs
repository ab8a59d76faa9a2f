//! The same over the real corpora beside the project.
//!
//! A few stacks on a few runs by default. `WHENSTOP_TEST_STACKS=10000` tries so many on each corpus, `WHENSTOP_TEST_ALL_RUNS=1`
//! takes every run, `WHENSTOP_TEST_CORPORA=tau2,intercode` only these folders; a release build is in place for all of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use whenstop::reader::{Corpus, ReadOptions};
use whenstop::stack::Stack;
use whenstop::sweep::engine::Join;
use whenstop::transcript::Run;

use super::random::{Dice, stack};
use super::walks::check_walk;
use super::{check, formulas, n_stacks};
use crate::shared;

/// The folders to try.
fn folders() -> Vec<PathBuf> {
    let wanted = std::env::var("WHENSTOP_TEST_CORPORA").ok();
    let is_wanted = |folder: &PathBuf| {
        let name = folder.file_name().and_then(|name| name.to_str());
        wanted.as_ref().is_none_or(|wanted| wanted.split(',').any(|one| Some(one) == name))
    };
    let folders: Vec<PathBuf> = shared::corpora().into_iter().filter(is_wanted).collect();
    assert!(!folders.is_empty(), "no corpus is called {wanted:?}");
    folders
}

/// Does something to some runs of a folder, in order.
fn each_of<T: Send>(folder: &Path, work: impl Fn(Run) -> T + Sync, mut sink: impl FnMut(T)) {
    let few = if n_stacks(0) == 0 { 2 } else { 1 };
    let one_of = if shared::takes_all_runs() { 1 } else { shared::one_of(folder) * few };
    let corpus = Corpus::open(&[folder.to_owned()], ReadOptions::default()).unwrap();
    let taken = |run: Run| hash(&run.header.run_id).is_multiple_of(one_of).then(|| work(run));
    corpus.process(taken, |made| made.into_iter().for_each(&mut sink)).unwrap();
}

/// A hash of a name, to take some runs of many.
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn on_the_real_corpora_the_engine_says_what_the_fold_says() {
    let mut early = 0;
    for folder in folders() {
        let mut dice = Dice::new(11);
        let stacks: Vec<Arc<Stack>> = (0..n_stacks(60)).map(|nth| Arc::new(stack(&mut dice, nth))).collect();
        let (plan, formulas) = formulas(&stacks);
        let (mut runs, mut stops) = (0, 0);
        each_of(
            &folder,
            |run| check(&stacks, &run, &plan, &formulas),
            |of_run| {
                runs += 1;
                stops += of_run;
            },
        );
        let replays = runs * stacks.len();
        eprintln!("{}: {runs} runs, {} stacks, {replays} replays, {stops} early stops", folder.display(), stacks.len());
        early += stops;
    }
    assert!(early > 0, "no stack stops a run: nothing was told");
}

/// Grids whose axes and limits are drawn at random: every stack's counts and sums in steps, tokens and dollars.
#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn on_the_real_corpora_a_walk_adds_up_what_the_rows_of_the_fold_say() {
    for folder in folders() {
        let mut runs: Vec<Run> = Vec::new();
        each_of(&folder, |run| run, |run| runs.push(run));
        let mut dice = Dice::new(29);
        let (mut walked, mut grids) = (0, 0);
        while walked < n_stacks(60) {
            walked += check_walk(&mut dice, &runs, if grids % 3 == 2 { Join::Latched } else { Join::Any });
            grids += 1;
        }
        eprintln!("{}: {} runs, {grids} grids of {walked} stacks in all", folder.display(), runs.len());
    }
}
