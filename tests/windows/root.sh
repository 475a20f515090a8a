#!/bin/sh
# root.sh FOLDER: what a build for Windows wants and Debian has not, into FOLDER/root: CMocka, built from Debian's source,
# and the headers of Highway.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
root=$PWD/root
mkdir -p root/include
ln -sfn /usr/include/hwy root/include/hwy
[ ! -e root/bin/cmocka.dll ] || exit 0

# Where this machine's CMocka came from there is its source; apt is told of it for this once.
mkdir -p apt/lists/partial
apt-cache policy libcmocka-dev |
    awk '$2 ~ /^(https?|file):/ {split($3, part, "/"); print "deb-src", $2, part[1], part[2]; exit}' >apt/sources.list
apt() {
    apt-get -qq -o Dir::Etc::SourceList="$PWD/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$PWD/apt/lists" -o Dir::Cache="$PWD/apt" -o APT::Sandbox::User= "$@"
}
rm -rf cmocka-*/
apt update
apt source --only-source cmocka
cmake -S cmocka-*/ -B cmocka -G Ninja -DCMAKE_TOOLCHAIN_FILE="$here/mingw.cmake" -DCMAKE_INSTALL_PREFIX="$root" \
    -DCMAKE_BUILD_TYPE=Release -DWITH_EXAMPLES=OFF
cmake --build cmocka
cmake --install cmocka
