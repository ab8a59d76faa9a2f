#!/usr/bin/env bash
# Writes the fixtures as seeds to fuzz/corpus/<target>/, through the tests' build: no second one is needed.
set -euo pipefail
cd "$(dirname "$0")"
WHENSTOP_FUZZ_SEEDS="$PWD/corpus" cargo test --manifest-path ../Cargo.toml --test it -- mutated::every_target_has_seeds
