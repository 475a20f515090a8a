"""apsis.dask on worker processes: less memory than the maps take, a worker that is killed, Zarr in and out."""

import os
import signal
import time

import numpy as np
import pytest

da = pytest.importorskip("dask.array", reason="dask is not installed, so apsis.dask is not tested")
distributed = pytest.importorskip("distributed", reason="distributed is not installed: no tests on processes")
dask = pytest.importorskip("dask")

import apsis  # noqa: E402
import apsis.dask  # noqa: E402

SHAPE = (12000, 7000)
ROWS = 300
MEMORY = 660_000_000  # of a worker, of which it takes a quarter for itself
FEWER = 3000  # rows, where memory is not what is tested


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workers")
    # A worker that takes more than its memory is killed, and neither spills nor waits before.
    quiet = {f"distributed.worker.memory.{name}": False for name in ("target", "spill", "pause")}
    quiet.update({"temporary-directory": str(folder), "array.chunk-size": 8 * ROWS * SHAPE[1]})
    with dask.config.set(quiet), distributed.LocalCluster(
            n_workers=4, threads_per_worker=1, memory_limit=MEMORY, dashboard_address=None, silence_logs=50) as cluster, \
            distributed.Client(cluster) as client:
        yield client


def blobs(shape):
    """A set of some structure, which does not take long to make."""
    y, x = np.ogrid[:shape[0], :shape[1]]
    return np.sin(x / 23 + np.cos(y / 91)) * np.cos(y / 31 + np.sin(x / 57)) > 0.83


@pytest.fixture(scope="module")
def image():
    return blobs(SHAPE)


@pytest.fixture(scope="module")
def stored(image, tmp_path_factory):
    """A Zarr of the image, in chunks of both axes."""
    pytest.importorskip("zarr", reason="zarr is not installed")
    path = str(tmp_path_factory.mktemp("images") / "set.zarr")
    with dask.config.set(scheduler="threads"):
        da.to_zarr(da.from_array(image, chunks=(900, 1100)), path)
    return path


def test_from_zarr_to_zarr_in_less_memory_than_the_map_takes(client, image, stored, tmp_path):
    """Distances are 672 MB, the nearest elements 336 MB."""
    assert MEMORY < 8 * image.size
    pids = client.run(os.getpid)
    made = apsis.dask.distance(da.from_zarr(stored), nearest=True, dtype=np.float64)
    paths = [str(tmp_path / "distance.zarr"), str(tmp_path / "nearest.zarr")]
    dask.compute(*[da.to_zarr(each, path, compute=False) for each, path in zip(made, paths)])
    assert client.run(os.getpid) == pids  # none has been killed
    for path, expected in zip(paths, apsis.distance(image, nearest=True, dtype=np.float64)):
        np.testing.assert_array_equal(da.from_zarr(path).compute(scheduler="threads"), expected)


def test_all_maps_on_four_processes(client, image, stored):
    set, image = da.from_zarr(stored)[:FEWER], image[:FEWER]
    seeds = da.zeros(set.shape, bool, chunks=1000)
    seeds[5, 7] = seeds[-9, -300] = True
    labels, count, known = apsis.dask.label(set, statistics=True, connectivity=2, min_area=50)
    lengths = apsis.dask.geodesic(set, seeds, complement=True)
    got = client.compute([labels, count, known, lengths], sync=True)
    expected = apsis.components(image, statistics=True, connectivity=2, min_area=50)
    np.testing.assert_array_equal(got[0], expected[0])
    assert got[1] == expected[1] and got[2].tobytes() == expected[2].tobytes()
    np.testing.assert_array_equal(got[3], apsis.geodesic(image, seeds.compute(scheduler="threads"), complement=True))


@pytest.mark.parametrize("how", ["distance", "label"])
def test_a_worker_is_killed_in_the_middle(client, image, stored, how):
    set, image = da.from_zarr(stored)[:FEWER], image[:FEWER]
    lazy = apsis.dask.distance(set, signed=True) if how == "distance" else apsis.dask.label(set, largest=100)[0]
    slow = lazy.map_blocks(lambda block: (time.sleep(0.2), block)[1], dtype=lazy.dtype, meta=lazy._meta).persist()
    pids = client.run(os.getpid)
    while not sum(future.status == "finished" for future in distributed.futures_of(slow)):
        time.sleep(0.02)
    holders = [place for places in client.who_has(slow).values() for place in places]
    victim = next(place for place in holders if place in pids)
    os.kill(pids[victim], signal.SIGKILL)
    expected = apsis.distance(image, signed=True) if how == "distance" else apsis.components(image, largest=100)[0]
    np.testing.assert_array_equal(slow.compute(), expected)
    assert pids[victim] not in client.run(os.getpid).values()
    client.wait_for_workers(4)
