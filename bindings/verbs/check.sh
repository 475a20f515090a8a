#!/bin/sh
# check.sh FOLDER LANGUAGE COMMAND ...: takes the five calls in a language out of the README's table, puts them into the
# program in the language's folder here, and runs COMMAND beside that, in FOLDER/LANGUAGE; it prints what is in expected.txt.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$1/$2
language=$2
shift 2
rm -rf "$folder"
mkdir -p "$folder"
for file in "$here/$language"/*.in; do
    name=${file##*/}
    python3 "$here/fill.py" "$here/../../README.md" "$language" "$file" >"$folder/${name%.in}"
done
cd "$folder"
"$@" >printed.txt
diff -u "$here/expected.txt" printed.txt
