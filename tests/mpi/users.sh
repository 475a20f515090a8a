#!/bin/sh
# users.sh source|library|cmake|fortran|python|interface BUILD: installs a build with Open MPI into a folder of its own, and
# does what users of MPI do: compiles the source with MPICH, links the library, by pkg-config or CMake, and calls it from other
# languages.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
cmake --install "$build" --prefix "$prefix" >/dev/null
library=$(dirname "$(find "$prefix" -name libapsis.so)")
export PKG_CONFIG_PATH="$library/pkgconfig" LD_LIBRARY_PATH="$library"
strict="-std=c11 -Wall -Wextra -pedantic -Werror"

# The tests, with the source that is installed, and an MPI that the library was not built for.
source() {
    wrapped=$(sed -n 's/^set(wrapped //p; s/^    \(apsis_slab_join.*\))$/\1/p' "$here/CMakeLists.txt")
    flags=$(for name in $wrapped; do printf ' -Wl,--wrap=%s' "$name"; done)
    # shellcheck disable=SC2046,SC2086 # lists of words
    mpicc.mpich $strict -DAPSIS_MPI_LARGEST_MESSAGE=104 "$here"/*.c $(pkg-config --variable=mpi_source apsis) \
        $(pkg-config --cflags --libs apsis) $flags -o "$work/test_mpi"
    for ranks in 1 2 3 5 8; do timeout 120 "$here/ranks.sh" mpirun.mpich "$ranks" "$work/test_mpi"; done
}

# map PROGRAM: the example maps a file; the map of 3 ranks, one of them with fewer rows, is that of one.
map() {
    head -c 60000 "$root/tests/data/page.tif" | tr '\000-\367' '\000' >"$work/in"
    for ranks in 1 3; do "$here/ranks.sh" mpirun.openmpi "$ranks" "$1" 600 100 "$work/in" "$work/out.$ranks"; done
    test "$(wc -c <"$work/out.1")" = 240000
    cmp "$work/out.1" "$work/out.3"
}

library() {
    # shellcheck disable=SC2046,SC2086
    mpicc.openmpi $strict "$root/docs/examples/distance_by_ranks.c" $(pkg-config --cflags --libs apsis_mpi) -o "$work/program"
    map "$work/program"
}

cmake_consumer() {
    cat >"$work/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C)
find_package(apsis REQUIRED COMPONENTS mpi)
add_executable(program $root/docs/examples/distance_by_ranks.c)
target_link_libraries(program PRIVATE apsis::mpi)
END
    cmake -S "$work" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" -DMPI_C_COMPILER=mpicc.openmpi >"$work/log" 2>&1 ||
        { cat "$work/log"; return 1; }
    cmake --build "$work/build"
    map "$work/build/program"
}

# says WHAT PROGRAM ...: what 3 ranks print.
says() {
    what=$1
    shift
    said=$("$here/ranks.sh" mpirun.openmpi 3 "$@")
    echo "$said"
    test "$said" = "$what"
}

fortran() {
    # shellcheck disable=SC2046,SC2086
    mpicc.openmpi $strict -c "$root/docs/examples/fortran/far_from.c" $(pkg-config --cflags apsis_mpi) -o "$work/far_from.o"
    # shellcheck disable=SC2046
    mpif90.openmpi -Wall -J "$work" "$root/docs/examples/fortran/main.f90" "$work/far_from.o" $(pkg-config --libs apsis_mpi) \
        -o "$work/program"
    says 6.403 "$work/program"
}

# With Debian's mpi4py, which is for its own Python and its Open MPI.
python() { says 6.403 /usr/bin/python3 "$root/docs/examples/distance_by_ranks.py"; }

# The library exports what the header declares; the header stands alone, in C and C++; and libapsis knows nothing of MPI.
interface() {
    nm -D --defined-only "$library/libapsis_mpi.so" | awk '{print $3}' | sort >"$work/exported"
    tr '\n' ' ' <"$prefix/include/apsis_mpi.h" | grep -oE 'APSIS_API [^;]*;' | grep -oE 'apsis_mpi_[a-z_]+\(' | tr -d '(' |
        sort >"$work/declared"
    diff -u "$work/declared" "$work/exported"
    test -s "$work/declared"
    printf '#include <apsis_mpi.h>\n#include <apsis_mpi.h>\nint main(void) { return *apsis_mpi_message(); }\n' >"$work/twice.c"
    cp "$work/twice.c" "$work/twice.cpp"
    for kind in openmpi mpich; do
        "mpicc.$kind" -std=c99 -Wall -Wextra -Werror -I"$prefix/include" -c "$work/twice.c" -o "$work/twice.o"
        "mpicxx.$kind" -std=c++17 -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -Wall -Wextra -Werror -I"$prefix/include" \
            -c "$work/twice.cpp" -o "$work/twice.o"
    done
    if readelf -d "$library/libapsis.so" | grep -F libmpi; then
        echo "libapsis needs MPI"
        return 1
    fi
}

case $1 in
cmake) cmake_consumer ;;
source | library | fortran | python | interface) "$1" ;;
*) exit 2 ;;
esac
