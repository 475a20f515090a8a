#!/bin/sh
# tool.sh MPIRUN APSIS-MPI APSIS: the maps of ranks have the pixels of the apsis command's; what fails on one rank ends all of
# them with its sentence, and leaves no file.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mpirun=$1 ranks_command=$2 apsis=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
page=$here/../data/page.tif
volume=$work/volume.tif
python3 "$here/tiff.py" make "$volume"

ranks() { n=$1 && shift && "$here/ranks.sh" "$mpirun" "$n" "$ranks_command" "$@"; }

# same VERB IN WORD ...: what ranks write, and the apsis command.
same() {
    verb=$1 in=$2
    shift 2
    "$apsis" "$verb" "$in" "$work/want.tif" --bigtiff --overwrite --quiet "$@"
    ranks 3 "$verb" "$in" "$work/3.tif" --overwrite "$@"
    python3 "$here/tiff.py" same "$work/3.tif" "$work/want.tif"
}

same distance "$page" --sites black
"$apsis" components "$page" "$work/tiled.tif" --sites black --type u8 --tiled --compress deflate --quiet
same distance "$work/tiled.tif" --signed --metric city-block --type i32
same voronoi "$page" --sites black --max-distance 20
same components "$page" --sites black --connectivity 8
"$apsis" components "$page" "$work/numbers.tif" --sites black --connectivity 8 --quiet
same_labels() {
    in=$1
    shift
    "$apsis" components "$in" "$work/want.tif" --labels --bigtiff --overwrite --quiet "$@"
    ranks 3 components "$in" "$work/3.tif" --labels --cpu --overwrite "$@"
    python3 "$here/tiff.py" same "$work/3.tif" "$work/want.tif"
}
same_labels "$work/numbers.tif"
same distance "$work/numbers.tif" --labels --border
same voronoi "$work/numbers.tif" --labels --max-distance 9
same distance "$volume" --volume --signed --border
same_labels "$volume" --volume
same distance "$volume" --volume --spacing 1,1,2
same components "$volume" --volume --connectivity 26 --type i64
"$apsis" info "$work/3.tif" | grep -q BigTIFF

# 13 planes on 16 ranks, some of which have none.
"$apsis" distance "$volume" "$work/want.tif" --volume --bigtiff --overwrite --quiet
ranks 16 distance "$volume" "$work/16.tif" --volume --quiet
python3 "$here/tiff.py" same "$work/16.tif" "$work/want.tif"

# refused CODE WORDS ARGUMENT ...
refused() {
    code=$1 words=$2
    shift 2
    got=0
    ranks 2 "$@" >"$work/said" 2>&1 || got=$?
    grep -F "$words" "$work/said" || { cat "$work/said"; exit 1; }
    test "$got" = "$code"
    test ! -e "$work/new.tif" -a ! -e "$work/new.tif.part"
}
refused 1 "cannot read" distance "$work/none.tif" "$work/new.tif"
refused 1 "13 pages" distance "$volume" "$work/new.tif"
refused 1 "exists" distance "$page" "$work/3.tif"
refused 2 "unknown verb" geodesic "$page" "$work/new.tif"
refused 11 "type is an integer" distance "$page" "$work/new.tif" --type i32 --spacing 2
refused 2 "takes samples as they are, but --threshold is 3" components "$page" "$work/new.tif" --labels --threshold 3
refused 11 "no distance leads to the background" distance "$page" "$work/new.tif" --border
head -c 40000 "$page" >"$work/short.tif"
refused 1 "cannot read" distance "$work/short.tif" "$work/new.tif"
ranks 1 distance --help | grep -q -- --signed
