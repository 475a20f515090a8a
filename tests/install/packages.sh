#!/usr/bin/env bash
# packages.sh FOLDER: the Debian packages in it have no fault that lintian calls an error; dpkg installs them, with what they
# depend on as this machine has it; a program is built against them and runs, and so does the command; and when they are
# removed nothing is left.
set -euo pipefail
((EUID == 0)) || exec sudo "$0" "$@"
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

lintian --fail-on error --allow-root "$folder"/*.deb

# Of this machine that root has what is installed, and nothing else.
mkdir -p "$root/var/lib"
cp -a /var/lib/dpkg "$root/var/lib/dpkg"
rm -f "$root"/var/lib/dpkg/lock*
in_root() {
    dpkg --root="$root" --force-script-chrootless --no-triggers --force-unsafe-io --log="$work/log" "$@" >"$work/said" 2>&1 ||
        { cat "$work/said"; return 1; }
}
files() { (cd "$root" && find . ! -type d ! -path './var/*' | sort); }
in_root --install "$folder"/*.deb

usr=$root/usr
libraries=$usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
export LD_LIBRARY_PATH=$libraries
for kind in "" --static; do
    flags=$(PKG_CONFIG_PATH=$libraries/pkgconfig pkg-config $kind --cflags --libs apsis)
    # shellcheck disable=SC2086 # a list of flags
    cc -std=c11 -Wall -Wextra -Werror "$here/program.c" $flags -o "$work/program"
    "$work/program"
    # shellcheck disable=SC2086
    c++ -std=c++17 -Wall -Wextra -Werror "$here/program.cpp" $flags -o "$work/program"
    "$work/program"
done
# shellcheck disable=SC2046
mpicc -std=c11 -Wall -Wextra -Werror "$here/../../docs/examples/distance_by_ranks.c" \
    $(PKG_CONFIG_PATH=$libraries/pkgconfig pkg-config --cflags --libs apsis_mpi) -o "$work/program"
head -c 600 "$here/../data/page.tif" >"$work/pixels"
"$here/../mpi/ranks.sh" mpirun 2 "$work/program" 30 20 "$work/pixels" "$work/map"
test "$(wc -c <"$work/map")" = 2400
"$here/../mpi/ranks.sh" mpirun 2 "$usr/bin/apsis-mpi" distance "$here/../data/page.tif" "$work/far.tif" --sites black
"$usr/bin/apsis" components "$here/../data/page.tif" "$work/letters.tif" --sites black
man -M "$usr/share/man" -w apsis apsis_voronoi >/dev/null
test -x "$usr/bin/apsis" -a -e "$usr/share/bash-completion/completions/apsis" -a -e "$usr/share/zsh/vendor-completions/_apsis"

mpi=$(cd "$folder" && basename -s .deb libapsis-mpi[0-9]*.deb | cut -d_ -f1)
in_root --purge apsis-tools apsis-mpi libapsis-mpi-dev "$mpi" libapsis-dev "$(cd "$folder" && basename -s .deb libapsis[0-9]*.deb | cut -d_ -f1)"
if files | grep .; then
    echo "the above is left"
    exit 1
fi
