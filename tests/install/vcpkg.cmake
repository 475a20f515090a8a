# cmake -D FOLDER=... -P vcpkg.cmake: the port of pkgconfig/vcpkg without vcpkg.  Its functions stand here, as far as the port
# calls them: the packages of the system are found, and there is no debug build.
cmake_minimum_required(VERSION 3.25)
set(PORT apsis)
set(port ${CMAKE_CURRENT_LIST_DIR}/../../pkgconfig/vcpkg/${PORT})
set(build ${FOLDER}/build)
set(CURRENT_PACKAGES_DIR ${FOLDER}/packages)
file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR})

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" SOURCE_PATH OPTIONS)
  run(${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${build} -G Ninja -DCMAKE_BUILD_TYPE=Release
      -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR} -DCMAKE_INSTALL_LIBDIR=lib ${arg_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
  run(${CMAKE_COMMAND} --build ${build} --target install)
endfunction()

# vcpkg moves the configuration from where it is installed into share.
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" CONFIG_PATH "")
  if(NOT EXISTS ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/apsisConfig.cmake)
    message(FATAL_ERROR "the port looks for the configuration in ${arg_CONFIG_PATH}")
  endif()
endfunction()

function(vcpkg_fixup_pkgconfig)
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" FILE_LIST)
  file(INSTALL ${arg_FILE_LIST} DESTINATION ${CURRENT_PACKAGES_DIR}/share/${PORT})
endfunction()

file(READ ${port}/vcpkg.json manifest)
string(JSON name GET "${manifest}" name)
if(NOT name STREQUAL PORT)
  message(FATAL_ERROR "the port is named ${name}")
endif()
set(list_dir ${CMAKE_CURRENT_LIST_DIR})
include(${port}/portfile.cmake)

# Nothing but the package: no page, no command.
file(GLOB_RECURSE installed RELATIVE ${CURRENT_PACKAGES_DIR} ${CURRENT_PACKAGES_DIR}/*)
foreach(file IN LISTS installed)
  if(NOT file MATCHES "^(include/apsis.h|lib/libapsis|lib/cmake/apsis/|lib/pkgconfig/apsis.pc|share/apsis/(LICENSE|usage)$)")
    message(FATAL_ERROR "the port installs ${file}")
  endif()
endforeach()
run(${CMAKE_COMMAND} -S ${list_dir} -B ${FOLDER}/program -G Ninja -DAPSIS_WANTED= -DCMAKE_PREFIX_PATH=${CURRENT_PACKAGES_DIR})
run(${CMAKE_COMMAND} --build ${FOLDER}/program)
run(${FOLDER}/program/shared)
run(${FOLDER}/program/static)
message(STATUS "the port of vcpkg: ${installed}")
