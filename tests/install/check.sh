#!/bin/sh
# check.sh cmake|pkgconfig|readme BUILD: installs the build into a folder of its own, and builds and runs against that.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix="$work/a prefix" # with a space, as users have
cmake --install "$build" --prefix "$prefix" >/dev/null
library=$(find "$prefix" -name 'libapsis.so.*' -type l -exec dirname {} \; | head -n 1)

cmake_consumer() {
    cmake -S "$here" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" || { cat "$work/log"; return 1; }
    cmake --build "$work/consumer"
    "$work/consumer/consumer"
}

# pkg-config cannot tell of a path with a space, so it gets a link without one.
compile() {
    ln -s "$prefix" "$work/prefix"
    plain=$work/prefix${library#"$prefix"}
    flags=$(PKG_CONFIG_PATH=$plain/pkgconfig pkg-config --cflags --libs apsis)
    # shellcheck disable=SC2086 # a list of flags
    cc -std=c11 -Wall -Wextra -pedantic -Werror "$1" $flags -o "$work/program"
    LD_LIBRARY_PATH=$plain "$work/program"
}

# The first program of the README, and what the README says that it prints.
readme() {
    awk '/^```c$/ {inside = 1; next} /^```$/ && inside {exit} inside' "$here/../../README.md" >"$work/readme.c"
    grep -q 'int main' "$work/readme.c"
    printed=$(compile "$work/readme.c")
    echo "$printed"
    grep -qF "# $printed" "$here/../../README.md"
}

case $1 in
cmake) cmake_consumer ;;
pkgconfig) compile "$here/program.c" ;;
readme) readme ;;
*) exit 2 ;;
esac
