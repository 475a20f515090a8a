"""Maps of an image that is cut into slabs, so that it need not fit in one memory.

    from apsis import slabs
    told = [slabs.summary(part, start) for start, part in pieces]             # the first and last of the set in each column
    for k, (start, part) in enumerate(pieces):
        above = slabs.merge(*told[:k])[1] if k else None                      # the last before the slab
        below = slabs.merge(*told[k + 1:])[0] if k + 1 < len(told) else None  # the first behind it
        distance = slabs.distance(part, start, rows, above, below)

A slab is some rows of an image of 2 axes, or some planes of one of 3, along the first axis; it may have none.  The results are
the rows of what apsis.distance, apsis.voronoi, apsis.components and apsis.geodesic give for the whole image, with the same
options; indices are those in the whole image.

What slabs tell each other are arrays of int64 with an element for each column: of the shape of the image without its first
axis, of distances and cells of label images with an axis of three numbers before it.  They and the objects here are plain data,
to be pickled, written to files or sent.  `device` may be an apsis.Context.

Around an image that closes on itself along its first axis, see `periodic`, the last slab is the one before the first: distances
and cells are told so by `close`.
"""

from ._columns import Columns
from ._slab_labels import PART, Labels, components, join, measure, parts, renumber
from ._slab_maps import Paths, close, distance, geodesic, merge, relax, summary, voronoi
from ._slab_measures import SUMS, measures, merge_sums, sums
from ._slab_values import contacts, merge_contacts, merge_parts, statistics

__all__ = ["Columns", "Labels", "PART", "Paths", "SUMS", "close", "components", "contacts", "distance", "geodesic", "join",
           "measure", "measures", "merge", "merge_contacts", "merge_parts", "merge_sums", "parts", "relax", "renumber",
           "statistics", "summary", "sums", "voronoi"]
