# The tests on Windows, which ./run reads.

# The library for Windows, built here and run by wine: with few random cases, and without the laws of eccentricity, which take
# most of the time; or the whole suite.
windows() {
    local -x APSIS_TEST_SHARE=50
    windows_tests '^([^e]|exclaves|eccentricity\.)'
}

# One server for all, and no test is the first to start it: CTest would wait for what that leaves behind.
windows_tests() {
    local -x WINEPREFIX=$PWD/build/windows/wine WINEDEBUG=-all PATH=$PATH:/usr/lib/wine
    local -x PKG_CONFIG_LIBDIR=$PWD/build/windows/root/lib/pkgconfig
    deps g++-mingw-w64-x86-64-posix wine64 dpkg-dev
    mkdir -p "$WINEPREFIX"
    tests/windows/root.sh build/windows >build/windows/root.log 2>&1 || cat build/windows/root.log
    { wineserver -p && wine64 wineboot -i; } >/dev/null 2>&1 || true
    run_tests windows "$1" -DCMAKE_TOOLCHAIN_FILE="$PWD/tests/windows/mingw.cmake" -DAPSIS_ALONE=ON -DAPSIS_CUDA=OFF \
        -DAPSIS_TOOL=OFF -DCMAKE_RUNTIME_OUTPUT_DIRECTORY="$PWD/build/windows/root/bin"
    wineserver -k || true
}
