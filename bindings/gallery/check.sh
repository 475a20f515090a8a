#!/bin/sh
# check.sh FOLDER NAME COMMAND ...: an example draws up the gallery of make.py, on the CPU, with `COMMAND ... SETS MAPS cpu`;
# its maps are those of the apsis command, byte for byte, and what it says last is why a wrong call has failed.
set -eu
folder=$1
name=$2
shift 2
drawn=$folder/$name
rm -rf "$drawn"
mkdir -p "$drawn"
"$@" "$folder/sets" "$drawn" cpu >"$folder/$name.txt" || { cat "$folder/$name.txt"; exit 1; }
cat "$folder/$name.txt"
for map in "$folder"/maps/*; do cmp "$map" "$drawn/${map##*/}"; done
tail -n 1 "$folder/$name.txt" | grep -qiE "max_?distance is -1, but must be positive"
