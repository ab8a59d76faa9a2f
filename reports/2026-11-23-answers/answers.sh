#!/usr/bin/env bash
# Prints the first sentences of every answer as a Markdown table: one line for each collection and question.
# usage: answers.sh WHENSTOP FOLDER-OF-COLLECTIONS... > after.md      (from the root of the repository, for fixtures/)
set -u
program=$1; shift
echo "| recordings | command | exit | first answer |"
echo "| --- | --- | --- | --- |"
ask() {
  local name=$1; shift
  local told code
  told=$(timeout 300 "$program" "$@" 2>/dev/null); code=$?
  told=$(printf '%s\n' "$told" | awk 'NF == 0 { exit } { printf "%s ", $0 }' | tr '|' '/')
  local arguments=" ${*} "
  arguments=${arguments//"$folder"/PATH}
  echo "| $name |${arguments}| $code | ${told:-"(none)"} |"
}
for folder in "$@"; do
  name=$(basename "$(dirname "$folder")")/$(basename "$folder")
  ask "$name" compare "$folder" --stacks fixtures/stacks/example.toml
  ask "$name" compare "$folder" --stacks preset:all
  ask "$name" compare "$folder" --stacks system:all
  for rate in 0.02 0.05 0.1; do
    ask "$name" tune "$folder" --max-killed $rate --no-presets
    ask "$name" tune "$folder" --max-killed $rate --lost-success-costs 4 --no-presets
  done
done
