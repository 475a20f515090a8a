"""What a worker does for apsis.dask: tasks on slabs, each a pure function of what it is given.

Between tasks go the slabs as one bit an element, and what they tell each other: small arrays in the memory of the CPU.  No task
writes to its arguments: they may be another task's, too, or read-only.  Contexts are made where they are needed, one for each
thread of a worker and device: see context_for.
"""

from __future__ import annotations

import copy
import dataclasses
import math
from typing import Any, NamedTuple, Optional, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _arrays as arrays
from . import slabs
from ._arrays import Array
from ._columns import NONE
from .slabs import Labels, Paths

#: What is known of the columns of a slab, or outside of it: the first row of the set, the last, and if the map is signed the
#: same of its complement.  Rows are below 2^30, so that half of the slab functions' int64 is enough.
Ends = NDArray[np.int32]
#: The same of a label image: the first run of a label, and the last, three numbers each.
Runs = NDArray[np.int64]
_NONE = np.iinfo(np.int32).max


class Slab(NamedTuple):
    """Where a slab is."""

    start: int
    shape: tuple[int, ...]


def pack(block: Array) -> Array:
    """The elements of a set, one bit each.  What NumPy and CuPy both have packs all axes as one."""
    return np.packbits(arrays.as_set("set", block).ravel())


def keep(block: Array) -> Array:
    """The elements of a label image."""
    return arrays.as_labels("set", block)


def unpack(bits: Array, slab: Slab) -> Array:
    return np.unpackbits(bits)[:math.prod(slab.shape)].reshape(slab.shape)


# ---- Distance ----

def summary(bits: Array, slab: Slab, sides: Sequence[bool], device: Any) -> Ends:
    """What a slab tells of each side: of the set, of its complement."""
    part = unpack(bits, slab)
    told = [row for side in sides for row in slabs.summary(part, slab.start, complement=side, device=device)]
    return np.minimum(told, _NONE, dtype=np.int64).astype(np.int32)


def merge(told: Sequence[Ends]) -> Ends:
    """The summaries of several slabs as that of one."""
    merged = told[0].copy()
    for ends in told[1:]:
        np.minimum(merged[::2], ends[::2], out=merged[::2])
        np.maximum(merged[1::2], ends[1::2], out=merged[1::2])
    return merged


def outside(around: Optional[Ends], before: Sequence[Ends], behind: Sequence[Ends]) -> Optional[Ends]:
    """What a slab is told: the first rows behind it, and the last ones before it.  None: it is the whole image.

    Parameters
    ----------
    around : array or None
        The same for the group that it is of.
    before, behind : sequence of array
        The summaries of the others of this group.
    """
    known = [ends for ends in (around, *before, *behind) if ends is not None]
    if not known:
        return None
    told = np.empty_like(known[0])
    told[::2], told[1::2] = _NONE, -1
    for ends in (*behind, *([] if around is None else [around])):
        np.minimum(told[::2], ends[::2], out=told[::2])
    for ends in (*before, *([] if around is None else [around])):
        np.maximum(told[1::2], ends[1::2], out=told[1::2])
    return told


def closed(told: Optional[Ends], all_told: Ends) -> Optional[Ends]:
    """What a slab is told of an image that closes on itself along its first axis."""
    if told is None:
        return None
    return np.where((told == _NONE) | (told < 0), all_told, told)


def closed_runs(told: Optional[Runs], all_told: Runs, extent: int) -> Optional[Runs]:
    """As `closed`, of a label image."""
    return None if told is None else np.stack(slabs.close((told[0], told[1]), (all_told[0], all_told[1]), extent, labels=True))


def runs(kept: Array, slab: Slab, device: Any) -> Runs:
    """What a slab of a label image tells."""
    return np.stack(slabs.summary(kept, slab.start, labels=True, device=device))


def merge_runs(told: Sequence[Runs]) -> Runs:
    """What several slabs of a label image tell as that of one."""
    return np.stack(slabs.merge(*map(tuple, told), labels=True))


def outside_runs(around: Optional[Runs], before: Sequence[Runs], behind: Sequence[Runs]) -> Optional[Runs]:
    """As `outside`, of a label image."""
    about = [] if around is None else [around]
    known = [*before, *behind, *about]
    if not known:
        return None
    told = np.empty_like(known[0])
    told[0], told[1] = NONE, -1
    if behind or about:
        told[0] = merge_runs([*behind, *about])[0]
    if before or about:
        told[1] = merge_runs([*before[::-1], *about])[1]
    return told


def distance_of_labels(kept: Array, slab: Slab, extent: int, told: Optional[Runs], how: dict[str, Any]) -> Any:
    return slabs.distance(kept, slab.start, extent, *_beside(told), labels=True, **how)


def voronoi_of_labels(kept: Array, slab: Slab, extent: int, told: Optional[Runs], how: dict[str, Any]) -> Any:
    return slabs.voronoi(kept, slab.start, extent, *_beside(told), labels=True, **how)


def _beside(told: Optional[Runs]) -> list[Any]:
    return [] if told is None else [told[1], told[0]]


def distance(bits: Array, slab: Slab, extent: int, told: Optional[Ends], how: dict[str, Any]) -> Any:
    sides: list[Any] = []
    for first, last in [] if told is None else zip(told[::2], told[1::2]):
        sides += [last.astype(np.int64), np.where(first == _NONE, NONE, first.astype(np.int64))]
    return slabs.distance(unpack(bits, slab), slab.start, extent, *sides, **how)


# ---- Components ----

def _part(kept: Array, slab: Slab, how: dict[str, Any]) -> Array:
    return kept if how.get("by_value") else unpack(kept, slab)


def parts(kept: Array, slab: Slab, how: dict[str, Any]) -> Labels:
    return slabs.parts(_part(kept, slab, how), slab.start, **how)


def join(told: Sequence[Labels], shape: tuple[int, ...], how: dict[str, Any]) -> tuple[Labels, list[Labels]]:
    """Slabs, joined, as one, and what each is told; the parts are with the one alone."""
    mine = [_writable(labels) for labels in told]
    one = slabs.join(mine, shape, **how)
    return one, [dataclasses.replace(labels, parts=None) for labels in mine]


def renumber(told: Labels, those: tuple[Labels, list[Labels]]) -> list[Labels]:
    """What slabs that `join` gave are told when the one that they became has been told its numbers."""
    mine = [_writable(labels) for labels in those[1]]
    slabs.renumber(_writable(told), mine)
    return mine


def components(kept: Array, slab: Slab, told: Labels, how: dict[str, Any]) -> Array:
    return slabs.components(_part(kept, slab, how), _writable(told), **how)


def count(whole: Labels) -> Any:
    return np.asarray(whole.count)


def statistics(whole: Labels) -> NDArray[Any]:
    assert whole.parts is not None
    return slabs.measure(whole.parts)


def _writable(labels: Labels) -> Labels:
    return dataclasses.replace(labels, first=labels.first.copy(), last=labels.last.copy(),
                               numbers=None if labels.numbers is None else labels.numbers.copy())


# ---- Values ----

def values(kept: Array, slab: Slab, device: Any) -> NDArray[Any]:
    """What is known of each value of a slab."""
    return slabs.statistics(kept, slab.start, device=device)


def statistics_of_parts(parts: NDArray[Any]) -> NDArray[Any]:
    return slabs.measure(parts)


def merge_values(told: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return slabs.merge_parts(*told)


def last_row(kept: Array) -> NDArray[Any]:
    row = kept[-1]
    return np.asarray(row.get() if hasattr(row, "get") else row)


def contacts(kept: Array, before: Optional[NDArray[Any]], how: dict[str, Any], device: Any) -> NDArray[Any]:
    """Which values touch in a slab, and across the cut before it."""
    return slabs.contacts(kept, before, device=device, **how)


def merge_contacts(told: Sequence[NDArray[Any]], axes: int, spacing: Any) -> NDArray[Any]:
    return slabs.merge_contacts(*told, axes=axes, spacing=spacing)


# ---- Geodesic ----

def relax(bits: Array, seeds: Array, slab: Slab, extent: int, nearest: bool, how: dict[str, Any]) -> Paths:
    """What a slab tells of paths from its own seeds."""
    paths = Paths(slab.shape[1:], nearest)
    slabs.relax(unpack(bits, slab), unpack(seeds, slab), slab.start, extent, paths, **how)
    return paths


def settle(bits: Sequence[Array], seeds: Sequence[Array], places: Sequence[Slab], extent: int, told: Sequence[Paths],
           is_ring: bool, how: dict[str, Any]) -> list[Paths]:
    """What slabs tell of paths when nothing changes any more.

    The slabs that have been told something new are relaxed from the first to the last, then back, and so on, so that a wave
    crosses all of them in one turn.
    """
    paths, count = copy.deepcopy(list(told)), len(told)
    neighbours = [_neighbours(k, count, is_ring) for k in range(count)]
    waiting = {k for k, (above, below) in enumerate(neighbours)
               if above is not None and _leads(paths[above].last) or below is not None and _leads(paths[below].first)}
    while waiting:
        for k in (*range(count), *reversed(range(count))):
            if k not in waiting:
                continue
            waiting.remove(k)
            before = copy.deepcopy(paths[k])
            _, above, below = beside([before if i == k else one for i, one in enumerate(paths)], k, is_ring)
            set, starts = unpack(bits[k], places[k]), unpack(seeds[k], places[k])
            slabs.relax(set, starts, places[k].start, extent, paths[k], above, below, **how)
            upper, lower = neighbours[k]
            if upper is not None and _differ(before.first, before.first_seeds, paths[k].first, paths[k].first_seeds):
                waiting.add(upper)
            if lower is not None and _differ(before.last, before.last_seeds, paths[k].last, paths[k].last_seeds):
                waiting.add(lower)
    return paths


def _neighbours(place: int, count: int, is_ring: bool) -> list[Optional[int]]:
    """The slabs before one and behind it."""
    return [k % count if is_ring or 0 <= k < count else None for k in (place - 1, place + 1)]


def beside(paths: Sequence[Paths], place: int, is_ring: bool) -> list[Optional[Paths]]:
    """What a slab tells, and those before it and behind it."""
    return [paths[place], *[None if k is None else paths[k] for k in _neighbours(place, len(paths), is_ring)]]


def geodesic(bits: Array, seeds: Array, slab: Slab, extent: int, told: Sequence[Paths], how: dict[str, Any]) -> Any:
    own, above, below = told
    return slabs.geodesic(unpack(bits, slab), unpack(seeds, slab), slab.start, extent, copy.deepcopy(own), above, below, **how)


def _leads(lengths: NDArray[np.int64]) -> bool:
    return bool((lengths != NONE).any())


def _differ(lengths: Any, seeds: Any, new_lengths: Any, new_seeds: Any) -> bool:
    return not (np.array_equal(lengths, new_lengths) and (seeds is None or np.array_equal(seeds, new_seeds)))
