#!/bin/sh
# pages.sh BUILD [APSIS]: the man pages have no fault that mandoc or groff knows, and tell of every function and, if there is
# the command, of every option.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
pages=$1/pkgconfig/man
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v mandoc >/dev/null || command -v groff >/dev/null || exit 77

complaints() {
    if command -v mandoc >/dev/null; then mandoc -T lint -W warning "$1"; fi
    if command -v groff >/dev/null; then groff -ww -man -Tutf8 -z "$1"; fi
}

# page NAME SECTION: it is there, without a complaint; and as text.
page() {
    gzip -dc "$pages/man$2/$1.$2.gz" >"$work/$1.$2"
    complaints "$work/$1.$2" >"$work/complaints" 2>&1 || true
    if [ -s "$work/complaints" ]; then
        cat "$work/complaints"
        exit 1
    fi
    sed -e 's/\\f[BIRP]//g' -e 's/\\[:&]//g' -e 's/\\-/-/g' "$work/$1.$2" >"$work/$1.$2.txt"
}

# tells PAGE FUNCTION ...
tells() {
    local page=$1 name
    shift
    for name; do
        grep -qx "\.SS .*\b$name\b.*" "$work/$page.3.txt" || { echo "$page(3) does not tell of $name"; exit 1; }
        [ "$name" = "$page" ] || test "$(readlink "$pages/man3/$name.3.gz")" = "$page.3.gz"
    done
}

page apsis 3
tells apsis $(sed -n 's/@@.*//p' "$here/../abi/symbols.txt" | grep -vxE "apsis_(measures|morphology|surface_distance|thickness|medial_axis|cost_distance|paths|longest_paths|slab_(sums|merge_sums|measures))")
page apsis_measures 3
tells apsis_measures apsis_measures apsis_morphology apsis_surface_distance apsis_thickness apsis_medial_axis apsis_cost_distance apsis_paths apsis_longest_paths \
    apsis_slab_sums apsis_slab_merge_sums apsis_slab_measures
page apsis_mpi 3
tells apsis_mpi apsis_mpi_message apsis_mpi_extent apsis_mpi_distance apsis_mpi_voronoi apsis_mpi_components apsis_mpi_geodesic \
    apsis_mpi_eccentricity

[ $# -eq 2 ] || exit 0
page apsis 1
for verb in $("$2" --help | sed -nE 's/^  ([a-z][a-z-]*)  .*/\1/p' | grep -vx help); do
    sed -n "/^\.SS apsis $verb /,/^\.S[SH] [^a]*$/p" "$work/apsis.1.txt" >"$work/verb"
    for option in $("$2" help "$verb" | grep -oE '^  (-[a-z], )?--[a-z-]+' | grep -oE -- '--.*'); do
        grep -qE -- "^(-., )?$option( |$)" "$work/verb" || { echo "apsis(1) does not tell of $verb $option"; exit 1; }
    done
done
