//! What is fuzzed (`fuzz/`) on mutated fixtures: the same targets, a seeded generator, a bounded number of executions. This
//! profile checks for arithmetic that wraps. `readers::broken` holds whole reports of damaged files against what they say;
//! here it is only that nothing panics, and that what is written reads back, for everything that is read.

#[expect(unreachable_pub, reason = "public in the crate of the fuzzer")]
#[path = "../../fuzz/src/seeds.rs"]
mod seeds;
#[expect(unreachable_pub, reason = "public in the crate of the fuzzer")]
#[path = "../../fuzz/src/targets.rs"]
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::readers::broken::{BITS, Damage, damaged};

/// SplitMix64: the same numbers on every machine.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).unwrap()
    }

    fn damage(&mut self) -> Damage {
        match self.below(6) {
            0 => Damage::Cut,
            1 => Damage::Flip(u8::try_from(1 + self.below(255)).unwrap()),
            2 | 3 => Damage::Insert(BITS[self.below(BITS.len())]),
            4 => Damage::Repeat(1 + self.below(200)),
            _ => Damage::Remove(1 + self.below(200)),
        }
    }
}

/// Runs one target on so many mutations of its seeds.
fn check(name: &str, executions: usize) {
    let (_, target) = targets::ALL.into_iter().find(|(known, _)| *known == name).unwrap();
    let seeds = seeds::seeds(name, Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
    assert!(!seeds.is_empty(), "{name} has no seeds");
    let mut dice = Dice(name.bytes().fold(14, |sum, byte| sum * 31 + u64::from(byte)));
    for nth in 0..executions {
        let (from, seed) = &seeds[if nth < seeds.len() { nth } else { dice.below(seeds.len()) }];
        let mut bytes = seed.clone();
        // Every seed as it is, then mutated.
        let changes = if nth < seeds.len() { 0 } else { 1 + dice.below(4) };
        for _ in 0..changes {
            bytes = damaged(bytes, usize::try_from(dice.next() >> 1).unwrap(), &dice.damage());
        }
        if catch_unwind(AssertUnwindSafe(|| target(&bytes))).is_err() {
            let folder = std::env::temp_dir().join(format!("whenstop-{name}-{nth}"));
            std::fs::write(&folder, &bytes).unwrap();
            panic!("{name} panics on mutation {nth} of {from}, kept as {}", folder.display());
        }
    }
}

/// `fuzz/seeds.sh` asks for them.
#[test]
fn every_target_has_seeds() {
    let asked = std::env::var_os("WHENSTOP_FUZZ_SEEDS").map(std::path::PathBuf::from);
    for (name, target) in targets::ALL {
        let seeds = seeds::seeds(name, Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        assert!(!seeds.is_empty(), "{name}");
        target(&seeds[0].1);
        let Some(folder) = asked.as_ref().map(|asked| asked.join(name)) else { continue };
        std::fs::create_dir_all(&folder).unwrap();
        for (seed, bytes) in seeds {
            std::fs::write(folder.join(seed), bytes).unwrap();
        }
    }
}

#[test]
fn readers_take_any_record() {
    check("reader", 12_000);
}

#[test]
fn corpora_take_any_file() {
    check("corpus", 3_000);
}

#[test]
fn archives_take_any_bytes() {
    check("archive", 1_500);
}

#[test]
fn stack_files_labels_and_prices_take_any_text() {
    check("stack", 3_000);
    check("labels", 500);
    check("prices", 5_000);
}

#[test]
fn snapshots_and_rows_take_any_text() {
    check("snapshot", 4_000);
    check("rows", 600);
}

#[test]
fn copies_read_back_whatever_the_run() {
    check("redact", 3_000);
    check("convert", 3_000);
}

#[test]
fn rules_take_any_run() {
    check("replay", 800);
}

#[test]
fn effects_take_any_call_and_any_text_that_repeats() {
    check("effects", 3_000);
    check("repeated", 24);
}
