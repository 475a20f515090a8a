#!/bin/sh
# What the binary interface promises: check.sh symbols|needed|types LIBRARY, or check.sh header, or check.sh store LIBRARY.
# A change that is meant is made in symbols.txt by hand, and in apsis.abi with `store`, in the commit that makes it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
include=$here/../../include
library=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

# The library exports what symbols.txt lists, and that is what the header declares.
symbols() {
    nm -D --defined-only "$library" | awk '{print $3}' | sort >"$work/exported"
    diff -u "$here/symbols.txt" "$work/exported"
    cat "$include/apsis.h" "$include/apsis_measures.h" | tr '\n' ' ' | grep -oE 'APSIS_API [^;]*;' | grep -oE 'apsis_[a-z_]+\(' | tr -d '(' |
        sort -u >"$work/declared"
    sed -n 's/@@.*//p' "$here/symbols.txt" | sort >"$work/listed"
    diff -u "$work/listed" "$work/declared"
}

# The library needs the C and C++ runtimes, oneTBB and Highway; no driver, no CUDA; and is called by its major version.
needed() {
    readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$work/needed"
    test -s "$work/needed"
    if grep -vxE '(libtbb\.so\.12|libhwy\.so\.1|libstdc\+\+\.so\.6|libgcc_s\.so\.1|lib(c|m|dl|rt|pthread)\.so\.[0-9]+|ld-linux.*)' \
        "$work/needed"; then
        echo "the library needs the above, which it should not"
        return 1
    fi
    major=$(sed -n 's/#define APSIS_VERSION_MAJOR //p' "$include/apsis.h")
    readelf -d "$library" | grep -F "Library soname: [libapsis.so.$major]"
}

describe() {
    abidw --headers-dir "$include" --drop-private-types --exported-interfaces-only --no-elf-needed --no-corpus-path \
        --no-comp-dir-path --no-show-locs --type-id-style hash "$1" | sed "s,path='[^']*/,path=',"
}

# Functions, their arguments, structures and enumerators are those of apsis.abi.
types() {
    describe "$library" >"$work/now.abi"
    sed -nE "s/.*<function-decl name='(apsis_[a-z_]+)'.*/\1/p" "$work/now.abi" | sort -u >"$work/described"
    sed -n 's/@@.*//p' "$here/symbols.txt" | sort >"$work/listed"
    if ! diff "$work/described" "$work/listed"; then
        echo "there is no debug information of the above in $library to compare"
        return 1
    fi
    abidiff --harmless "$here/apsis.abi" "$work/now.abi"
}

# The headers alone, twice, without a warning, in every language that it promises.
header() {
    printf '#include <apsis_measures.h>\n#include <apsis.h>\n#include <apsis_measures.h>\napsis_options options = APSIS_OPTIONS_INIT;\n' >"$work/twice.c"
    cp "$work/twice.c" "$work/twice.cpp"
    for compiler in "gcc c99 c11" "clang c99 c11" "g++ c++11 c++20" "clang++ c++11 c++20"; do
        set -- $compiler
        for standard in "$2" "$3"; do
            case $1 in *++) source=twice.cpp ;; *) source=twice.c ;; esac
            echo "$1 -std=$standard"
            "$1" -std="$standard" -Wall -Wextra -pedantic -Werror -I"$include" -c "$work/$source" -o "$work/twice.o"
        done
    done
}

case $1 in
symbols | needed | types | header) "$1" ;;
store) describe "$library" >"$here/apsis.abi" ;;
*) exit 2 ;;
esac
