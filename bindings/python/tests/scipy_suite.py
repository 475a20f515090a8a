"""A pytest plugin: SciPy's own tests of distance_transform_edt, distance_transform_cdt, label and find_objects, run against
apsis.ndimage.  What is known to differ is listed with the reason, and must go on to differ.
"""

import pytest
import scipy.ndimage

import apsis.ndimage

FUNCTIONS = ("distance_transform_cdt", "distance_transform_edt", "find_objects", "label")

DIFFERENT = {
    "test_distance_transform_cdt01": "of several nearest elements apsis names the lowest",
    "test_distance_transform_cdt02": "of several nearest elements apsis names the lowest",
    "test_distance_transform_cdt05": "a structure of ones stands for the chessboard metric, not for no metric",
    "test_label_structuring_elements": "structures other than those of 4 and 8 neighbours are refused",
}


def pytest_collection_modifyitems(config, items):
    wanted = [item for item in items if any(name in item.name for name in (*FUNCTIONS, "FindObjects")) or
              "TestFindObjects" in item.nodeid]
    wanted = [item for item in wanted if "watershed" not in item.name and "labeled" not in item.name]
    config.hook.pytest_deselected(items=[item for item in items if item not in wanted])
    items[:] = wanted
    for item in items:
        reason = DIFFERENT.get(item.name.partition("[")[0])
        if reason:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


def pytest_collection_finish(session):
    for name in FUNCTIONS:
        setattr(scipy.ndimage, name, getattr(apsis.ndimage, name))
