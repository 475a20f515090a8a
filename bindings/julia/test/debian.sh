#!/bin/sh
# debian.sh FOLDER: unpacks the Julia of Debian 11 (1.5) into a folder, for a system of this kind that has none, and prints
# how to call it.  It takes root, debootstrap, and 600 MB.
#
# It runs with this system's C library, so Debian 11's must go, and with its C++ library, which libapsis is built with.
# libgcc comes first of all: Julia brings another unwinder there, which C++ exceptions do not get through.
set -eu
folder=$1
if [ ! -x "$folder/julia" ]; then
    rm -rf "$folder"
    debootstrap --variant=minbase --include=julia bullseye "$folder/root" >&2
    for libraries in "$folder/root/usr/lib/x86_64-linux-gnu" "$folder/root/lib/x86_64-linux-gnu"; do
        (cd "$libraries" && rm -f libc.so* libc-* libm.so* libm-* libdl* libpthread* librt* ld-* libresolv* libnss_* \
            libnsl* libutil* libanl* libthread_db* libmvec* libBrokenLocale* libgcc_s.so* libstdc++.so*)
    done
    cat >"$folder/julia" <<END
#!/bin/sh
libraries=$folder/root/usr/lib/x86_64-linux-gnu
LD_LIBRARY_PATH=\$libraries:\$libraries/openblas-pthread:\$libraries/julia LD_PRELOAD=libgcc_s.so.1 exec $folder/root/usr/bin/julia "\$@"
END
    chmod +x "$folder/julia"
fi
echo "$folder/julia"
