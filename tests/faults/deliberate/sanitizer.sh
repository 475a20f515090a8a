#!/bin/sh
# sanitizer.sh TOOL TEXT PROGRAM [ARGUMENT ...]: compute-sanitizer's tool reports the program's fault with that text.
# Without a GPU there is nothing to look at; with one, a sanitizer that is not there is a failure.
set -u
tool=$1 text=$2
shift 2
if ! nvidia-smi -L >/dev/null 2>&1; then
    echo "SKIPPED: no GPU for $tool"
    exit 77
fi
export PATH="$PATH:/usr/local/cuda/bin"
exec "$(dirname "$0")/reported.sh" 99 "$text" compute-sanitizer --tool "$tool" --error-exitcode 99 "$@"
