#!/bin/sh
# check.sh cmake|pkgconfig|static|cplusplus|readme|uninstall BUILD: installs the build into a folder of its own, and builds
# and runs against that; or takes all of it away again.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix="$work/a prefix" # with a space, as users have
cmake --install "$build" --prefix "$prefix" >/dev/null
library=$(find "$prefix" -name 'libapsis.so.*' -type l -exec dirname {} \; | head -n 1)
number() { sed -n "s/#define APSIS_VERSION_$1 //p" "$here/../../include/apsis.h"; }

# The shared library and the static one; and a version that is not this one is refused.
cmake_consumer() {
    configure() { cmake -S "$here" -B "$work/$1" -DAPSIS_WANTED="$2" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1; }
    configure consumer "$(number MAJOR).$(number MINOR)" || { cat "$work/log"; return 1; }
    cmake --build "$work/consumer"
    "$work/consumer/shared"
    "$work/consumer/static"
    "$work/consumer/cplusplus"
    needs_no_library "$work/consumer/static"
    if configure other "$(number MAJOR).$(($(number MINOR) + 1))"; then
        echo "a later version was asked for, and found"
        return 1
    fi
}

needs_no_library() {
    if readelf -d "$1" | grep -F libapsis; then
        echo "$1 is linked with the shared library"
        return 1
    fi
}

# compile SOURCE FLAG ...  pkg-config cannot tell of a path with a space, so it gets a link without one.
compiler="cc -std=c11"
compile() {
    source=$1
    shift
    ln -sfn "$prefix" "$work/prefix"
    plain=$work/prefix${library#"$prefix"}
    flags=$(PKG_CONFIG_PATH=$plain/pkgconfig pkg-config "$@" --cflags --libs apsis)
    # shellcheck disable=SC2086 # lists of words
    $compiler -Wall -Wextra -pedantic -Werror "$source" $flags -o "$work/program"
    LD_LIBRARY_PATH=$plain "$work/program"
}

static() {
    rm "$library"/libapsis.so*
    compile "$here/program.c" --static
    needs_no_library "$work/program"
}

# The C++ header, by the compilers and in the standards that it promises.
cplusplus() {
    for name in g++ clang++; do
        for standard in c++17 c++20; do
            echo "$name -std=$standard"
            compiler="$name -std=$standard -Wshadow -Wconversion -Wold-style-cast"
            compile "$here/program.cpp"
        done
    done
}

# The first program of the README, and what the README says that it prints.
readme() {
    awk '/^```c$/ {inside = 1; next} /^```$/ && inside {exit} inside' "$here/../../README.md" >"$work/readme.c"
    grep -q 'int main' "$work/readme.c"
    printed=$(compile "$work/readme.c")
    echo "$printed"
    grep -qF "# $printed" "$here/../../README.md"
}

# Everything below DESTDIR, and nothing is left but the file of another.
uninstall() {
    export DESTDIR="$work/destination"
    cmake --install "$build" --prefix /opt/apsis >/dev/null
    root=$DESTDIR/opt/apsis
    for file in include/apsis.h include/apsis.hpp lib*/libapsis.a lib*/pkgconfig/apsis.pc share/man/man3/apsis_distance.3.gz; do
        test -e "$root"/$file || { echo "$file was not installed"; return 1; }
    done
    echo "of another" >"$root/share/man/man3/other.3"
    cmake --build "$build" --target uninstall >/dev/null
    (cd "$DESTDIR" && find . ! -type d) >"$work/left"
    echo ./opt/apsis/share/man/man3/other.3 | diff - "$work/left"
    (cd "$root" && find . -type d | sort) >"$work/left"
    printf '.\n./share\n./share/man\n./share/man/man3\n' | diff - "$work/left"
}

case $1 in
cmake) cmake_consumer ;;
pkgconfig) compile "$here/program.c" ;;
static | cplusplus | readme | uninstall) "$1" ;;
*) exit 2 ;;
esac
