# The tests on engines that spread the work, which ./run reads.

# Dask: on threads, and on four processes of a local cluster.
test_dask() {
    local python=$PWD/build/dask/bin/python results=$PWD/build/dask/results.xml
    echo "== dask"
    prepare_bindings
    [[ -x $python ]] || python3 -m venv build/dask
    "$python" -c 'import distributed, mypy, pytest, xarray, zarr' 2>/dev/null ||
        "$python" -m pip install -q 'dask[array]' distributed zarr xarray pytest mypy
    rm -f "$results"
    (cd bindings/python &&
        timeout 600 "$python" -m pytest -q -p no:cacheprovider --junit-xml="$results" tests/test_dask*.py) || true
    count_results "$results"
    count env --chdir=bindings/python "$python" -m mypy --strict --ignore-missing-imports --no-incremental -p apsis
    count env --chdir=bindings/python PYTHONPATH=. "$python" examples/dask_picture.py "$PWD/build/dask" 6000
    dask_readme "$PWD/build/dask/readme"
}

# The README's calls on dask arrays, with a mask and seeds for them.
dask_readme() {
    rm -rf "$1"
    mkdir -p "$1"
    {
        echo 'import dask.array, numpy as np'
        echo 'seeds = dask.array.from_array(np.random.default_rng(1).random((300, 400)) < 0.1, chunks=100)'
        echo 'seeds.to_zarr("mask.zarr")'
        awk '/^```python$/ {block = ""} /^```$/ && block ~ /apsis\.dask/ {print block; exit} {block = block "\n" $0}' \
            bindings/python/README.md | grep -v '```'
    } >"$1/calls.py"
    count env --chdir="$1" PYTHONPATH="$PWD/bindings/python" "$python" calls.py
}
