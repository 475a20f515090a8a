# The tests of the languages, which ./run reads: each with a library that is installed, as a user's is.  Beside what a language
# tests by itself, its example draws up the gallery, as the apsis command does, and the README's calls in it are run.

languages=(c python rust go julia)

# bindings [LANGUAGE ...]: by default all of them.
bindings() {
    local language
    (($#)) || set -- "${languages[@]}"
    prepare_bindings
    for language; do
        echo "== $language"
        "test_$language"
    done
}

# Installs the library as it is shipped, and draws up the gallery with its command.
prepare_bindings() {
    local prefix=$PWD/build/prefix
    configure_and_build test -DAPSIS_WERROR=ON -DCMAKE_CUDA_ARCHITECTURES="$(tested_gpu)" >/dev/null
    cmake --install build/test --prefix "$prefix" >/dev/null
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib APSIS_LIBRARY=$prefix/lib/libapsis.so
    python3 bindings/gallery/make.py "$prefix/bin/apsis" tests/data/page.tif build/gallery
}

# Counts a command by whether it succeeds.
count() { if "$@"; then passed=$((passed + 1)); else fail "$*"; fi; }

# gallery LANGUAGE COMMAND ...: the example, run in the language's folder.
gallery() { count env --chdir="bindings/$1" ../gallery/check.sh "$PWD/build/gallery" "$@"; }

# verbs LANGUAGE COMMAND ...: the README's calls, run beside the program that they have been put into.
verbs() { count bindings/verbs/check.sh "$PWD/build/verbs" "$@"; }

test_c() {
    # shellcheck disable=SC2016 # for the shell that it starts
    verbs c sh -c 'cc -Wall -Wextra -Werror verbs.c $(pkg-config --cflags --libs apsis) -o verbs && ./verbs'
}

test_python() {
    local python=$PWD/build/python/bin/python results=$PWD/build/python/results.xml
    [[ -x $python ]] || python3 -m venv build/python
    "$python" -c 'import mypy, pytest, scipy, skimage' 2>/dev/null ||
        "$python" -m pip install -q numpy scipy scikit-image pytest mypy
    # Beside these apsis.edt and apsis.cc3d are tested, where they are to be had.
    "$python" -c 'import cc3d, edt' 2>/dev/null || "$python" -m pip install -q connected-components-3d edt || true
    rm -f "$results"
    (cd bindings/python && "$python" -m pytest -q -p no:cacheprovider --junit-xml="$results") || true
    count_results "$results"
    count env --chdir=bindings/python APSIS_LIBRARY="$PWD/build/test/tests/fake_device/libapsis-fake.so" \
        "$python" -m pytest -q -p no:cacheprovider -k plain tests/test_gpu.py
    local -x PYTHONPATH=$PWD/bindings/python PYTHONDONTWRITEBYTECODE=1
    gallery python "$python" examples/gallery.py
    verbs python "$python" verbs.py
}

# Its crates, without a registry; what rustfmt says, where it is.
test_rust() {
    local log=$PWD/build/rust.txt built=0 counts
    local -x CARGO_TARGET_DIR=$PWD/build/rust
    if cargo fmt --version >/dev/null 2>&1; then count env --chdir=bindings/rust cargo fmt --check; fi
    (cd bindings/rust && cargo test --offline --locked --no-fail-fast 2>&1) | tee "$log" && built=1
    counts=$(sed -nE 's/^test result: .* ([0-9]+) passed; ([0-9]+) failed; ([0-9]+) ignored.*/\1 \2 \3/p' "$log" |
        awk -v built=$built '{p += $1; f += $2; s += $3} END {print p + 0, (!built && !f) ? 1 : f + 0, s + 0}')
    set -- $counts
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
    (($2 == 0)) || broken+=("Rust's tests")
    gallery rust cargo run -q --offline --locked --example gallery --
    verbs rust cargo run -q --offline
}

# Its crate with the library in it: no other is found.
test_vendored() {
    local -x CARGO_TARGET_DIR=$PWD/build/rust
    if command -v ccache >/dev/null; then local -x CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
    gallery rust env -u PKG_CONFIG_PATH -u LD_LIBRARY_PATH \
        cargo run -q --offline --locked -p apsis --features vendored --example gallery --
}

test_go() {
    local log=$PWD/build/go.txt built=0
    (cd bindings/go && ! gofmt -l . | grep . && go vet ./... && go test -race -v -count=1 ./... 2>&1) | tee "$log" && built=1
    told() { grep -cE "^ *--- $1" "$log" || true; }
    passed=$((passed + $(told PASS))) skipped=$((skipped + $(told SKIP)))
    failed=$((failed + $(told FAIL)))
    ((built)) || broken+=("Go's tests")
    ((built || $(told FAIL))) || failed=$((failed + 1))
    gallery go go run ./examples/gallery
    verbs go go run .
}

# With the Julia that is here, or else Debian 11's.
test_julia() {
    local program=julia log=$PWD/build/julia.txt
    if ! command -v julia >/dev/null && ! program=$(bindings/julia/test/debian.sh "$PWD/build/julia"); then
        fail "Julia is not to be had"
        return
    fi
    local -x JULIA_LOAD_PATH=$PWD/bindings/julia:@stdlib JULIA_DEPOT_PATH=$PWD/build/julia-depot
    if "$program" --startup-file=no bindings/julia/test/runtests.jl 2>&1 | tee "$log"; then
        passed=$((passed + $(awk '/^Apsis/ {print $NF}' "$log")))
    else
        fail "Julia's tests"
    fi
    gallery julia "$program" --startup-file=no examples/gallery.jl
    verbs julia "$program" --startup-file=no verbs.jl
}
