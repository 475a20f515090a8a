"""apsis for Conan 2, for the CPU, out of the clone that this file is in:

    conan create pkgconfig/conan

oneTBB and Highway are the system's.  `./run test packages` makes it shared and static: seen on Debian 12, with GCC and Conan
2.34.  It has not been tried with another compiler, on another system, or with oneTBB and Highway out of ConanCenter.
"""

import os
import re
import shutil

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rm, rmdir
from conan.tools.system.package_manager import Apt, Dnf


class Apsis(ConanFile):
    name = "apsis"
    description = "Exact maps of binary images: distance, Voronoi, components, paths"
    license = "Apache-2.0"
    topics = ("image-processing", "distance-transform", "voronoi", "connected-components")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": False}

    @property
    def clone(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self.clone, "include", "apsis.h"))
        self.version = ".".join(re.search(rf"APSIS_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))

    def export_sources(self):
        for file in ("CMakeLists.txt", "LICENSE"):
            shutil.copy2(os.path.join(self.clone, file), self.export_sources_folder)
        for folder in ("include", "src", "cuda", "pkgconfig"):  # one by one: the clone has a large build/ beside them
            copy(self, "*", os.path.join(self.clone, folder), os.path.join(self.export_sources_folder, folder))

    def configure(self):
        self.settings.rm_safe("compiler.cppstd")  # the build knows which it needs, and its users call C

    def layout(self):
        cmake_layout(self)

    def system_requirements(self):
        Apt(self).install(["libhwy-dev", "libtbb-dev"])
        Dnf(self).install(["highway-devel", "tbb-devel"])

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        for part in ("APSIS_CUDA", "APSIS_TOOL", "APSIS_TESTS"):
            toolchain.cache_variables[part] = False
        toolchain.cache_variables["APSIS_HOSTS"] = ""
        toolchain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_Python3"] = True  # man pages are for systems
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        rm(self, "*.a" if self.options.shared else "*.so*", os.path.join(self.package_folder, "lib"))
        for folder in ("cmake", "pkgconfig"):  # Conan writes its own, of what is packaged
            rmdir(self, os.path.join(self.package_folder, "lib", folder))

    def package_info(self):
        self.cpp_info.libs = ["apsis"]
        if not self.options.shared:
            self.cpp_info.defines = ["APSIS_STATIC"]
            self.cpp_info.system_libs = ["tbb", "hwy", "stdc++", "m", "pthread"]
