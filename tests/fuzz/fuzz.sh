#!/usr/bin/env bash
# fuzz.sh PROGRAM TARGET SECONDS FOLDER [SEEDS]: runs a fuzz target, says what it has done, and fails if it has found something.
# FOLDER keeps what is found, what is learnt, and the log.
set -euo pipefail
program=$1 target=$2 seconds=$3 folder=$4 seeds=${5:-}
here=$(cd "$(dirname "$0")" && pwd)
log=$folder/$target.log found=$folder/found/$target-
mkdir -p "$folder/corpus/$target" "$folder/found"
options=(-max_total_time="$seconds" -timeout=30 -rss_limit_mb=3000 -print_final_stats=1 -artifact_prefix="$found")
[[ ! -e $here/$target.dict ]] || options+=(-dict="$here/$target.dict")

work=$(mktemp -d -p "$([[ -w /dev/shm ]] && echo /dev/shm || echo /tmp)") # in memory, if it can be: many files are written
trap 'rm -rf "$work"' EXIT
code=0
TMPDIR=$work "$program" "${options[@]}" "$folder/corpus/$target" ${seeds:+"$seeds"} >"$log" 2>&1 || code=$?

executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
edges=$(grep -oE ' cov: [0-9]+' "$log" | tail -1 | tr -dc 0-9) || true
echo "$target: ${executions:-0} executions, ${edges:-0} edges, $SECONDS seconds"
((code != 0 || ${executions:-0} == 0)) || exit 0
sed -n '/ERROR: /,/SUMMARY: /p' "$log" | head -60
tail -8 "$log"
echo "$log tells all of it; once more: ./run fuzz --repeat $target $(grep -oE "${found}[a-z]+-[0-9a-f]+" "$log" | tail -1)"
exit 1
