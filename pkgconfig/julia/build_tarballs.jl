# apsis for Julia's package manager, for the CPU: apsis_jll, made by BinaryBuilder out of the last commit of the clone that this
# file is in:
#
#   julia pkgconfig/julia/build_tarballs.jl --verbose
#
# BinaryBuilder has not run it yet: it needs the network, for its compilers and for Highway, of which there is no package.  Julia
# 1.5 has read it with a stand-in for BinaryBuilder; with the compiler, oneTBB and Highway of Debian 12 in place of its own the
# script has configured apsis and begun to build it.  Apsis.jl does not ask for apsis_jll yet: APSIS_LIBRARY names the library.
using BinaryBuilder, Pkg

const CLONE = normpath(joinpath(@__DIR__, "..", ".."))

name = "apsis"
version = v"0.5.0"

sources = [
    GitSource(CLONE, readchomp(`git -C $CLONE rev-parse HEAD`); unpack_target="apsis"),
    GitSource("https://github.com/google/highway.git", "457c891775a7397bdb0376bb1031e6e027af1c48"),  # 1.2.0
]

# Highway becomes a part of the library.
script = raw"""
common="-DCMAKE_TOOLCHAIN_FILE=${CMAKE_TARGET_TOOLCHAIN} -DCMAKE_BUILD_TYPE=Release"
cd ${WORKSPACE}/srcdir
cmake -S highway -B highway-build ${common} -DCMAKE_INSTALL_PREFIX=${PWD}/highway-root -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
    -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF -DHWY_ENABLE_CONTRIB=OFF -DHWY_ENABLE_EXAMPLES=OFF -DHWY_ENABLE_TESTS=OFF
cmake --build highway-build --parallel ${nproc} --target install
clone=$(echo apsis/*)
cmake -S ${clone} -B apsis-build ${common} -DCMAKE_INSTALL_PREFIX=${prefix} -DHWY_DIR=${PWD}/highway-root/lib/cmake/hwy \
    -DAPSIS_CUDA=OFF -DAPSIS_TOOL=OFF -DAPSIS_TESTS=OFF -DAPSIS_HOSTS= -DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON
cmake --build apsis-build --parallel ${nproc} --target install
install_license ${clone}/LICENSE
"""

platforms = expand_cxxstring_abis([Platform("x86_64", "linux"; libc="glibc")])

products = [LibraryProduct("libapsis", :libapsis)]

dependencies = [Dependency("oneTBB_jll"), Dependency("CompilerSupportLibraries_jll")]

build_tarballs(ARGS, name, version, sources, script, platforms, products, dependencies;
               julia_compat="1.6", preferred_gcc_version=v"12")
