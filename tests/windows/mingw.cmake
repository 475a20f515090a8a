# A CMake toolchain: Debian's mingw-w64, for programs that wine64 runs.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)  # the runtimes of the compiler are in what it makes
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static)
find_program(WINE wine64 PATHS /usr/lib/wine)
set(CMAKE_CROSSCOMPILING_EMULATOR ${WINE})

# What every machine has had since 2011, SSE4 among it; without -march there would be no vectors at all.
set(CMAKE_CXX_FLAGS_INIT "-march=x86-64-v2 -DHWY_DISABLE_PCLMUL_AES")

# Nothing of this machine is for that one, but what root.sh puts into the build.
set(CMAKE_FIND_ROOT_PATH ${CMAKE_BINARY_DIR}/root /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
