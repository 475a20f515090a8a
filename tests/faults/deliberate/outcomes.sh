#!/bin/sh
# outcomes.sh OUTCOMES.PY: a case that no run has executed, or that failed, is reported with its name, be it that it was
# skipped, that its program was never run, or that it was left to a GPU; and so is a kind of run that is missing.
set -eu
script=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo 'TEST(one, ON_CPU) TEST(two, EVERYWHERE) TEST(four, ON_TWO_GPUS)' >"$work/test_it.c"
cat >"$work/whole" <<'END'
test_it|one|cpu|passed
test_it|one|cpu, asan|passed
test_it|one|cpu, tsan|passed
test_it|one|cpu, windows|passed
test_it|two|cpu|passed
test_it|two|fake, host images|passed
test_it|two|fake, device images|passed
test_it|two|emulated, host images|passed
test_it|two|emulated, device images|skipped
test_on_gpu|three|gpu, device images|skipped
test_it|four|gpu, device images|skipped
ctest|script|test|passed
END

# changed CODE TEXT EXPRESSION: what is said of those lines, changed by sed.
changed() {
    sed "$3" "$work/whole" >"$work/lines.txt"
    "$here/reported.sh" "$1" "$2" python3 "$script" --tests "$work" "$work/lines.txt"
}

changed 0 'left to a GPU, of which there is no file: test_on_gpu three device images' ''
changed 1 'EXECUTED BY NO RUN: test_it two device images' 's/fake, device images|passed/fake, device images|skipped/'
changed 1 'EXECUTED BY NO RUN: test_it one cpu' '/|one|/d
    s/test_it|two|cpu/&, asan, tsan, windows/'
changed 1 'EXECUTED BY NO RUN: ctest script cpu' 's/|test|passed/|test|skipped/'
changed 1 'EXECUTED BY NO RUN: test_on_gpu three device images' 's/emulated, device images|skipped/gpu 0, device images|passed/'
changed 0 'left to two GPUs: test_it four device images' 's/three|gpu, device images|skipped/three|gpu 0, device images|passed/'
changed 1 'EXECUTED BY NO RUN: test_it four device images' '/|four|/d'
changed 0 'not seen on a GPU: test_it two host images' 's/three|gpu, device images|skipped/three|gpu 0, device images|passed/'
changed 1 'failed: test_it two device images (fake' 's/fake, device images|passed/fake, device images|failed/'
changed 1 'no run of this kind: tsan' '/tsan/d'
changed 1 'is not program|case|where' 's/passed$/fine/'
