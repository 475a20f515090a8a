# The Debian packages libapsis0, libapsis-dev and apsis-tools, and libapsis-mpi0, libapsis-mpi-dev and apsis-mpi if there is an
# MPI, by CPack, of a build with APSIS_DEBIAN and the prefix /usr.
set(APSIS_MAINTAINER "The apsis maintainers <apsis@example.org>" CACHE STRING "Who makes the Debian packages")
set(revision 1)
set(this_one "(= ${PROJECT_VERSION}-${revision})")

# ---- What each is, and needs ------------------------------------------------
if(APSIS_HAS_CUDA)
  string(REPLACE ";" ", " architectures "${CMAKE_CUDA_ARCHITECTURES}")
  set(holds "This build runs on the CPU and on NVIDIA GPUs (${architectures}), and has\n\
the runtime library of CUDA in it; the driver is looked for when it runs.")
else()
  set(holds "This build runs on the CPU only.")
endif()
set(about "apsis computes, for binary images in 2-D and 3-D, the distance of every\n\
pixel to a set, Voronoi cells, connected components, geodesic distance and\n\
eccentricity, exactly.\n${holds}")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libapsis${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_SOURCE_DIR}/triggers)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "exact maps of binary images - shared library\n${about}")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libapsis-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libapsis${PROJECT_VERSION_MAJOR} ${this_one}, libtbb-dev, libhwy-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "exact maps of binary images - headers, static library, manual\n${about}")

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME apsis-tools)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "libapsis${PROJECT_VERSION_MAJOR} ${this_one}")
set(CPACK_DEBIAN_COMMAND_DESCRIPTION "exact maps of binary images - command for TIFF files\n${about}")

set(components RUNTIME DEVELOPMENT COMMAND)
if(TARGET apsis-mpi)
  list(APPEND components MPI MPI_DEVELOPMENT MPI_COMMAND)
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME libapsis-mpi${PROJECT_VERSION_MAJOR})
  set(CPACK_DEBIAN_MPI_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_MPI_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_SOURCE_DIR}/triggers)
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "libapsis${PROJECT_VERSION_MAJOR} ${this_one}")
  set(CPACK_DEBIAN_MPI_DESCRIPTION "exact maps of binary images - shared library for MPI\n${about}")
  set(CPACK_DEBIAN_MPI_DEVELOPMENT_PACKAGE_NAME libapsis-mpi-dev)
  set(CPACK_DEBIAN_MPI_DEVELOPMENT_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_MPI_DEVELOPMENT_PACKAGE_DEPENDS
      "libapsis-mpi${PROJECT_VERSION_MAJOR} ${this_one}, libapsis-dev ${this_one}, mpi-default-dev")
  set(CPACK_DEBIAN_MPI_DEVELOPMENT_DESCRIPTION "exact maps of binary images - development with MPI\n${about}")
  set(CPACK_DEBIAN_MPI_COMMAND_PACKAGE_NAME apsis-mpi)
  set(CPACK_DEBIAN_MPI_COMMAND_PACKAGE_SECTION graphics)
  set(CPACK_DEBIAN_MPI_COMMAND_PACKAGE_DEPENDS "libapsis-mpi${PROJECT_VERSION_MAJOR} ${this_one}, mpi-default-bin")
  set(CPACK_DEBIAN_MPI_COMMAND_DESCRIPTION "exact maps of binary images - command for MPI\n${about}")
endif()

# ---- What Debian wants to know of each --------------------------------------
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/changelog.Debian
  "apsis (${PROJECT_VERSION}-${revision}) unstable; urgency=medium\n\n\
  * Packaged; changelog.gz tells what is new.\n\n -- ${APSIS_MAINTAINER}  ${now}\n")
configure_file(${PROJECT_SOURCE_DIR}/CHANGELOG.md changelog COPYONLY)
foreach(log changelog changelog.Debian)
  execute_process(COMMAND gzip -9nf ${log} WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
foreach(component IN LISTS components)
  string(TOLOWER ${component} name)
  install(FILES copyright ${CMAKE_CURRENT_BINARY_DIR}/changelog.gz ${CMAKE_CURRENT_BINARY_DIR}/changelog.Debian.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${component}_PACKAGE_NAME} COMPONENT ${name})
endforeach()

# ---- CPack ------------------------------------------------------------------
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME apsis)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each has its own
set(CPACK_PACKAGE_CONTACT "${APSIS_MAINTAINER}")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR})
string(TOLOWER "${components}" CPACK_COMPONENTS_ALL)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${revision})
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/src/mpi)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
include(CPack)
