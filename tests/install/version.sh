#!/bin/sh
# version.sh BUILD LIBRARY [APSIS]: the version is that of the header wherever it is written down, and in what was built.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1 library=$2 apsis=${3:-}
number() { sed -n "s/#define APSIS_VERSION_$1 //p" "$root/include/apsis.h"; }
version=$(number MAJOR).$(number MINOR).$(number PATCH)
wrong=0

# is PLACE NUMBERS: there are some, and each is the version.
is() {
    if [ -z "$2" ] || echo "$2" | grep -vqxF "$version"; then
        echo "$1 says '$2', but include/apsis.h $version"
        wrong=1
    fi
}

# says FILE EXPRESSION: what the expression has in parentheses.
says() { is "$1" "$(sed -nE "s|.*$2.*|\\1|p" "$root/$1")"; }

is CHANGELOG.md "$(sed -n 's/^## //p' "$root/CHANGELOG.md" | head -n 1)"
says bindings/rust/Cargo.lock '^version = "([^"]*)"'
says bindings/rust/apsis-sys/Cargo.toml '^version = "([^"]*)"'
says bindings/rust/apsis/Cargo.toml '^version = "([^"]*)"'
says bindings/rust/apsis/Cargo.toml '^apsis-sys = .*version = "([^"]*)"'
says bindings/julia/Project.toml '^version = "([^"]*)"'
says bindings/julia/src/library.jl '^const VERSION_NUMBER = v"([^"]*)"'
says pkgconfig/vcpkg/apsis/vcpkg.json '"version": "([^"]*)"'
says pkgconfig/julia/build_tarballs.jl '^version = v"([^"]*)"'
python=bindings/python/apsis/_library.py
is $python "$(sed -n 's/, /./g; s/^VERSION = (\(.*\))/\1/p' "$root/$python")"
# A distribution of Python and a module of Go have no number of their own, and take that of the header.
grep -qx 'input = "include/apsis.h"' "$root/bindings/python/pyproject.toml" || { echo "bindings/python has a number"; wrong=1; }
grep -qx 'const HeaderVersion = C.APSIS_VERSION' "$root/bindings/go/apsis.go" || { echo "bindings/go has a number"; wrong=1; }

is "$library" "$(basename "$(realpath "$library")" | sed 's/^libapsis\.so\.//')"
is apsis.pc "$(sed -n 's/^Version: //p' "$build/pkgconfig/apsis.pc")"
is apsisConfigVersion.cmake "$(sed -nE 's/^set\(PACKAGE_VERSION "(.*)"\)/\1/p' "$build/pkgconfig/apsisConfigVersion.cmake")"
[ -z "$apsis" ] || is 'apsis --version' "$("$apsis" --version | sed 's/^apsis //')" # it asks the library
exit $wrong
