#!/bin/sh
# The measurements of this report. Run from the project's root; FOLDER holds the corpora (tau2, intercode, mini-swe-agent).
#   sh reports/2026-11-22-sweep/run.sh FOLDER
set -eu
corpora=${1:-../shared/corpora}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cargo bench --bench sweep -- 20000 5 "$work/peers"
python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q install numpy polars
"$work/venv/bin/python" benches/peer/sweep.py "$work/peers"

cargo build --release
for corpus in tau2 intercode mini-swe-agent; do
    target/release/whenstop sweep "$corpora/$corpus" --grid reports/2026-11-22-sweep/grid.toml --out "$work/$corpus" --threads 1
    target/release/whenstop sweep "$corpora/$corpus" --grid reports/2026-11-22-sweep/grid.toml --out "$work/$corpus-2" --threads 2
    cmp "$work/$corpus/sweep.csv" "$work/$corpus-2/sweep.csv"
    target/release/whenstop sweep "$corpora/$corpus" --grid reports/2026-11-22-sweep/grid.toml --split test --out "$work/$corpus-test"
    target/release/whenstop compare "$corpora/$corpus" --stacks "$work/$corpus/stacks.toml" --out "$work/$corpus-compared" >/dev/null
done
WHENSTOP_TEST_STACKS=10000 cargo test --test it -- engine:: --nocapture
