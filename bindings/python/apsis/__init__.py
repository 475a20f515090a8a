"""apsis: exact maps of binary images, on the CPU or on an NVIDIA GPU.

    import apsis
    distance = apsis.distance(mask)                        # to the nearest non-zero element
    distance, which = apsis.distance(mask, nearest=True)
    cells = apsis.voronoi(mask, connected=True)
    labels, count = apsis.components(mask, connectivity=2)
    lengths = apsis.geodesic(mask, seeds)
    reach, extents = apsis.eccentricity(mask, extents=True)

and of label images, such as segmentations, every value of which but 0 is a set of its own:

    inside = apsis.distance(cells, labels=True)            # to the nearest element of another value
    grown = apsis.voronoi(cells, labels=True, max_distance=5)
    parts, count = apsis.components(cells, labels=True)
    known, touching = apsis.statistics(cells), apsis.contacts(cells)

Arrays have 1 to 3 axes.  They are NumPy's, PyTorch's or xarray's, or lie on a GPU and have __cuda_array_interface__ (CuPy,
PyTorch): then the work is queued on their device and stream, and the results lie there too.  Nothing is copied unless its type
is not one that the library takes.  `device` is "cpu", "best", the number of a CUDA device or those of several; by default the
work is done where the array is.

apsis.morphology dilates, erodes, opens and closes by a ball of any radius, and has local thickness and the medial axis;
apsis.metrics compares surfaces, and apsis.measure has scikit-image's regionprops_table.  apsis.paths has paths of least cost
and the longest of the shortest ones.  apsis.ndimage has functions with SciPy's and scikit-image's names and arguments,
apsis.edt and apsis.cc3d those of the packages edt and connected-components-3d; apsis.slabs is for images that are cut, and
apsis.dask for arrays of dask.
"""

from ._context import COMPONENT, CONTACT, EXTENT, Context, device_count
from ._errors import ArgumentError, BudgetWarning, Cancelled, Error, OutOfMemory, UnsupportedError
from ._functions import components, contacts, distance, eccentricity, geodesic, statistics, table, voronoi
from ._library import VERSION

__version__ = ".".join(map(str, VERSION))
__all__ = ["ArgumentError", "BudgetWarning", "COMPONENT", "CONTACT", "Cancelled", "Context", "EXTENT", "Error", "OutOfMemory",
           "UnsupportedError", "components", "contacts", "device_count", "distance", "eccentricity", "geodesic", "statistics",
           "table", "voronoi"]
