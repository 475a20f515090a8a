#!/bin/sh
# fuzz.sh TESTS/FUZZ/FUZZ.SH: compiles overrun.cpp with clang, whatever the compiler of the build, and fuzzes it.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
clang++ -O1 -g -fsanitize=fuzzer,address "$(dirname "$0")/overrun.cpp" -o "$work/overrun"
"$1" "$work/overrun" overrun 60 "$work"
