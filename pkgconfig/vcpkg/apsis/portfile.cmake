# apsis for vcpkg, for the CPU, as an overlay port, out of the clone that this file is in:
#
#   vcpkg install apsis --overlay-ports=pkgconfig/vcpkg
#
# vcpkg itself has not run it yet, which needs its repository.  `./run test packages` runs it with stand-ins for vcpkg's
# functions, with the system's oneTBB and Highway: it configures, builds and installs, and a program finds the package.
set(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../..")

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DAPSIS_CUDA=OFF -DAPSIS_TOOL=OFF -DAPSIS_TESTS=OFF -DAPSIS_HOSTS= -DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/apsis)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
