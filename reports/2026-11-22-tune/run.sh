#!/bin/sh
# Writes what this report's tables are made of. From the project's folder:
#   reports/2026-11-22-tune/run.sh CORPORA OUT
set -eu
corpora=$1
out=$2
mkdir -p "$out"
cargo build --release
cargo bench --bench tune -- "$corpora" 100 >"$out/draws.md"
for corpus in tau2 intercode mini-swe-agent; do
    for share in 0.02 0.05 0.10; do
        # 100 is the answer that there is nothing to ship.
        target/release/whenstop tune "$corpora/$corpus" --max-fes $share --out "$out/$corpus-$share" \
            >"$out/$corpus-$share.txt" 2>"$out/$corpus-$share.err" || test $? -eq 100
    done
done
target/release/whenstop tune "$corpora/intercode" --max-fes 0.10 --learn --out "$out/intercode-learn" \
    >"$out/intercode-learn.txt" 2>"$out/intercode-learn.err" || test $? -eq 100
for share in 0.05 0.10; do
    target/release/whenstop tune "$corpora/intercode" --max-fes $share --grid reports/2026-11-22-tune/grid.toml \
        >"$out/intercode-grid-$share.txt" 2>"$out/intercode-grid-$share.err" || test $? -eq 100
done
