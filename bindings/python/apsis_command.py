"""Runs the apsis command that lies in the package.  It is a module of its own, as the package imports NumPy, which would take
most of the time that a short command does.
"""

import importlib.util
import os
import sys


def main():
    folder = importlib.util.find_spec("apsis").submodule_search_locations[0]
    command = os.path.join(folder, "bin", "apsis")
    if not os.path.exists(command):
        sys.exit("apsis: this package was built without the command, as libtiff and zlib were not there")
    os.execv(command, ["apsis", *sys.argv[1:]])
