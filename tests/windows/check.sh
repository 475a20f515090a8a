#!/bin/sh
# check.sh DLL IMPORTS: the library for Windows exports what abi/symbols.txt lists, as does what programs are linked with,
# needs nothing but what Windows has, and is called by its major version.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dump=x86_64-w64-mingw32-objdump
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

sed -n 's/@@.*//p' "$here/../abi/symbols.txt" | sort >"$work/promised"
$dump -p "$1" >"$work/dll"
awk '/^\[Ordinal\/Name Pointer\] Table/ {inside = 1; next} !NF {inside = 0} inside {print $NF}' "$work/dll" |
    sort >"$work/exported"
diff -u "$work/promised" "$work/exported"
x86_64-w64-mingw32-nm "$2" | awk '$2 == "T" {print $3}' | sort >"$work/linked"
diff -u "$work/promised" "$work/linked"

sed -n 's/.*DLL Name: //p' "$work/dll" >"$work/needed"
test -s "$work/needed"
if grep -vixE '(kernel32|msvcrt|ucrtbase|api-ms-win-.*)\.dll' "$work/needed"; then
    echo "the library needs the above, which it should not"
    exit 1
fi
major=$(sed -n 's/#define APSIS_VERSION_MAJOR //p' "$here/../../include/apsis.h")
test "$(basename "$1")" = "apsis-$major.dll"
