#!/bin/bash -eu
# What OSS-Fuzz runs to build the targets: it sets OUT, WORK, CC, CXX, CFLAGS, CXXFLAGS and LIB_FUZZING_ENGINE.  Of Debian it
# needs cmake, ninja-build, pkg-config, zip, libtiff-dev, libpng-dev, libhwy-dev and libcmocka-dev.
here=$(cd "$(dirname "$0")" && pwd)
targets=(tiff args calls)
cmake -S "$here/../.." -B "$WORK/apsis" -G Ninja -DAPSIS_FUZZ=ON -DAPSIS_ALONE=ON -DAPSIS_CUDA=OFF -DAPSIS_HOSTS= \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo '-DCMAKE_BUILD_RPATH=$ORIGIN/lib' \
    -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags  # so that libraries find each other there, too
cmake --build "$WORK/apsis" --target "${targets[@]/#/fuzz_}"
mkdir -p "$OUT/lib"
for target in "${targets[@]}"; do
    cp "$WORK/apsis/tests/fuzz/fuzz_$target" "$OUT"
    zip -jqr "$OUT/fuzz_${target}_seed_corpus.zip" "$here/corpus/$target"
    [[ ! -e $here/$target.dict ]] || cp "$here/$target.dict" "$OUT/fuzz_$target.dict"
    # The machine that fuzzes has none but those of the compiler.
    ldd "$WORK/apsis/tests/fuzz/fuzz_$target" | sed -nE 's/.* => (\/[^ ]*) .*/\1/p' |
        grep -vE '/lib(c|m|gcc_s|stdc\+\+|c\+\+|dl|rt|pthread|resolv)\.so' | xargs -r cp -ft "$OUT/lib"
done
