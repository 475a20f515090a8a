#!/usr/bin/env bash
# wheel.sh WHEEL PYTHON: pip installs the wheel into a fresh environment of this Python, on whose paths there is no compiler and
# no apsis.  The library is the wheel's own; the READMEs' calls, SciPy's tests and the command run; uninstalled, it leaves
# nothing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
wheel=$1 python=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
environment=$work/environment
"$python" -m venv "$environment"

# alone COMMAND ...: with the environment, and nothing of this machine.
alone() {
    env -u LD_LIBRARY_PATH -u APSIS_LIBRARY -u PYTHONPATH PATH="$environment/bin" PYTHONDONTWRITEBYTECODE=1 "$@"
}
files() { (cd "$environment" && find . | sort); }

alone pip install -q --disable-pip-version-check scipy pytest hypothesis
files >"$work/before"
alone pip install -q --disable-pip-version-check "$wheel"
cd "$work"

alone python - <<'END_OF_PROGRAM'
import os, sys
import apsis
mapped = {line.split()[-1] for line in open("/proc/self/maps") if "/" in line}
libraries = [file for file in mapped if any(name in os.path.basename(file) for name in ("libapsis", "libtbb", "libhwy"))]
print(sys.version.split()[0], *libraries)
assert len(libraries) == 3 and all(file.startswith(sys.prefix) for file in libraries)
END_OF_PROGRAM

# All but what needs dask, which ./run test dask tests.
awk '/^```python$/ {inside = 1; block = ""; next} /^```$/ {if (block !~ /apsis\.dask/) printf "%s", block; inside = 0; block = ""}
     inside {block = block $0 "\n"}' "$root/bindings/python/README.md" >snippets.py
grep -q 'apsis.distance(mask)' snippets.py
alone python snippets.py
"$root/bindings/verbs/check.sh" "$work/verbs" python \
    env -u LD_LIBRARY_PATH -u APSIS_LIBRARY -u PYTHONPATH "$environment/bin/python" verbs.py

cp "$root/bindings/python/tests/scipy_suite.py" .
alone PYTHONPATH="$work" python -m pytest -q -p no:cacheprovider -p scipy_suite --pyargs \
    scipy.ndimage.tests.test_measurements scipy.ndimage.tests.test_morphology

IFS=- read -r name version _ <<<"${wheel##*/}"
name=${name//_/-}
for command in apsis "$name"; do [[ $(alone "$command" --version) == "apsis $version" ]]; done
alone apsis distance "$root/tests/data/page.tif" distance.tif --picture distance.png
alone apsis info distance.tif
# Of the compressions of TIFF it lacks one.
inside=$(echo "$environment"/lib/python*/site-packages/apsis/bin/apsis)
lacking=
for file in "$root"/tests/fuzz/corpus/tiff/*; do
    "$inside" info "$file" >/dev/null 2>said || true
    if grep -qE 'does not have its compression|decoding is not implemented' said; then lacking+=" ${file##*/}"; fi
done
[[ $lacking == " jbig" ]] || { echo "the command cannot decode$lacking"; exit 1; }

alone pip uninstall -q -y "$name"
files | diff "$work/before" -
