"""python -m apsis --version: the versions of the package and the library, and the devices that there are."""

import argparse

import apsis
from apsis import _library


def main() -> None:
    number = _library.lib.apsis_version()
    library = f"{number // 10000}.{number // 100 % 100}.{number % 100}"
    devices = apsis.device_count()
    version = f"apsis {apsis.__version__}, library {library}, CUDA devices: {devices}"
    parser = argparse.ArgumentParser(prog="python -m apsis", description=apsis.__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="version", version=version)
    parser.parse_args()
    parser.print_help()


if __name__ == "__main__":
    main()
