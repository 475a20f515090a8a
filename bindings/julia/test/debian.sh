#!/bin/sh
# debian.sh FOLDER: unpacks the Julia of Debian 11 (1.5), and what it needs, into a folder, for a system of this kind that has
# none, and prints how to call it.  Nothing is installed, and root is not needed: 80 MB are loaded, and 360 MB stay there.
#
# Its C and C++ libraries are left out: it runs with this system's, which libapsis is built with.
set -eu
folder=$1
if [ ! -x "$folder/julia" ]; then
    rm -rf "$folder"
    mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial" "$folder/root"
    cd "$folder/apt"
    : >status # of a system on which nothing is installed, whatever there is on this one
    keys=/usr/share/keyrings/debian-archive-keyring.gpg
    echo "deb [signed-by=$keys] http://deb.debian.org/debian bullseye main" >sources.list
    set -- -qq -o Dir::Etc::SourceList="$PWD/sources.list" -o Dir::Etc::SourceParts=- -o Dir::State::Lists="$PWD/lists" \
        -o Dir::State::status="$PWD/status" -o Dir::Cache="$PWD" -o Dir::Cache::archives="$PWD/archives" \
        -o APT::Sandbox::User=root -o Debug::NoLocking=true
    apt-get "$@" update >&2
    apt-get "$@" install -y --download-only --no-install-recommends julia >&2
    for package in archives/*.deb; do
        case ${package#archives/} in
        libc6_* | libgcc-s1_* | libstdc++6_* | gcc-*-base_* | dpkg_* | tar_* | perl-base_* | debconf_*) ;;
        *) dpkg-deb -x "$package" "$folder/root" ;;
        esac
    done
    rm -rf "$folder/apt"
    libraries=$(echo "$folder"/root/usr/lib/*-linux-gnu*)
    cat >"$folder/julia" <<SCRIPT
#!/bin/sh
LD_LIBRARY_PATH="$libraries:$libraries/julia" exec "$folder/root/usr/bin/julia" "\$@"
SCRIPT
    chmod +x "$folder/julia"
fi
echo "$folder/julia"
