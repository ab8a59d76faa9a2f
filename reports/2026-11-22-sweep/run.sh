#!/bin/sh
# The measurements of this report. Run from the project's root; CORPORA holds tau2, intercode and mini-swe-agent, OUT takes what is made.
#   sh reports/2026-11-22-sweep/run.sh CORPORA OUT
set -eu
corpora=${1:-../shared/corpora}
out=${2:-$(mktemp -d)}
here=reports/2026-11-22-sweep

cargo bench --bench sweep -- 20000 5 "$out/peers"
python3 -m venv "$out/venv"
"$out/venv/bin/pip" -q install numpy polars
"$out/venv/bin/python" benches/peer/sweep.py "$out/peers"

cargo build --release
for corpus in tau2 intercode mini-swe-agent; do
    # InterCode records no tokens.
    grid=$here/grid.toml
    test $corpus != intercode || grid=$here/grid-without-tokens.toml
    sweep="target/release/whenstop --quiet sweep $corpora/$corpus"
    $sweep --grid $grid --out "$out/$corpus" --threads 1
    $sweep --grid $grid --out "$out/$corpus-2" --threads 2 >/dev/null
    for file in sweep.csv stacks.toml sweep.md; do cmp "$out/$corpus/$file" "$out/$corpus-2/$file"; done
    $sweep --grid $grid --split test --out "$out/$corpus-test"
    $sweep --grid $here/heat.toml --out "$out/$corpus-heat"
    target/release/whenstop --quiet compare "$corpora/$corpus" --stacks "$out/$corpus/stacks.toml" --out "$out/$corpus-compared" >/dev/null
    python3 $here/same.py "$out/$corpus/sweep.csv" "$out/$corpus-compared/summary.csv"
done

# Random stacks, the engine against the fold: on random runs and some of the recordings, and fewer on all of them. Hours without --release.
export WHENSTOP_TEST_CORPORA=tau2,intercode,mini-swe-agent
WHENSTOP_TEST_STACKS=10000 cargo test --release --test it -- engine:: --nocapture
WHENSTOP_TEST_STACKS=1000 WHENSTOP_TEST_ALL_RUNS=1 cargo test --release --test it -- engine::corpora --nocapture
