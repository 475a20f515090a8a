"""The graphs of apsis.dask: a set is cut into slabs, each slab has its tasks, and what slabs tell each other goes up and down a
tree, so that of n slabs there are 3 to 7 n tasks, the longest chain of which grows as the logarithm of n.

Tasks are named after what they depend on, so that maps of one set share those that are the same for both.
"""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any, Callable, NamedTuple, Optional, Sequence

import numpy as np

try:
    import dask.array
    from dask import config
    from dask._task_spec import List, Task, TaskRef
    from dask.base import tokenize
    from dask.highlevelgraph import HighLevelGraph
    from dask.utils import parse_bytes
except ImportError as reason:
    raise ImportError("apsis.dask needs dask, 2025.1 or later: pip install 'apsis-maps[dask]'") from reason

from . import _arrays as arrays
from . import _dask_tasks as tasks
from . import slabs
from ._arrays import Array
from ._calls import chosen_device as chosen
from ._context import COMPONENT, CONTACT, Device
from ._dask_tasks import Slab
from ._errors import wrong
from ._options import Periodic, flag, periodic_flags

_DaskArray: Any = dask.array.Array  # of which type checkers know little

_FEWEST_PLANES = 16  # of a slab of a volume: what it tells, 8 bytes a column, is then half of its elements at most
_GROUP = 4  # nodes of the tree that are merged at once: fewer would be more tasks, more are sent more often


# ---- Slabs ----

class Cut(NamedTuple):
    """A set of whole rows, or planes, and where its slabs are."""

    mask: Any
    slabs: list[Slab]

    @property
    def extent(self) -> int:
        return int(self.mask.shape[0])

    def is_ring(self, periodic: Periodic) -> bool:
        """Whether the image closes on itself along the axis that is cut."""
        axes = self.mask.ndim
        return bool(periodic_flags(periodic, axes) & periodic_flags([0], axes))

    def nothing(self, dtype: Any = bool) -> np.ndarray[Any, Any]:
        """A slab without rows: the library checks the other arguments of a call for it as for any."""
        return np.zeros((0, *self.mask.shape[1:]), dtype)


def taken(name: str, array: Array, by_value: bool = False) -> Any:
    """The dask array that a caller gives."""
    bare = array.data if arrays.is_data_array(array) else array
    if not isinstance(bare, _DaskArray):
        raise TypeError(f"{name} is a {type(bare).__name__}, but must be a dask array, such as dask.array.from_array gives")
    if bare.dtype.kind not in "biufc":
        raise TypeError(f"{name} has dtype {bare.dtype}, but must be an array of numbers or bools")
    if by_value and bare.dtype.kind not in "biu":
        raise TypeError(f"{name} has dtype {bare.dtype}, but labels are integers or bools")
    if bare.ndim not in (2, 3):
        raise wrong(f"{name} has {bare.ndim} axes, but 2 or 3 are needed")
    if any(math.isnan(extent) for extent in bare.shape):
        raise wrong(f"{name} has chunks of unknown sizes: {name}.compute_chunk_sizes() finds them")
    return bare


def cut(name: str, array: Array, like: Optional[Cut] = None, by_value: bool = False) -> Cut:
    """Cuts an array into slabs, or into those of another.  If chunks must be changed, then of one byte an element, but where
    values count."""
    mask = taken(name, array, by_value)
    if mask.dtype.itemsize > 1 and not by_value:
        mask = mask != 0
    mask = mask.rechunk(_chunks(mask) if like is None else like.mask.chunks)
    rows = mask.chunks[0]
    starts = itertools.accumulate(rows, initial=0)
    return Cut(mask, [Slab(start, (count, *mask.shape[1:])) for start, count in zip(starts, rows)])


def _chunks(mask: Any) -> Any:
    """Those of slabs: its own, or of as many rows as make a map of the size that dask is told, 8 bytes an element."""
    if all(len(along) == 1 for along in mask.chunks[1:]):
        return mask.chunks
    elements = parse_bytes(config.get("array.chunk-size")) // 8
    rows = max(elements // max(math.prod(mask.shape[1:]), 1), _FEWEST_PLANES if mask.ndim == 3 else 1)
    return (min(rows, mask.shape[0]) or -1, *[-1] * (mask.ndim - 1))


def check_device(device: Optional[Device]) -> None:
    if device is not None:
        chosen(device)


# ---- Layers of a graph ----

class Layer(NamedTuple):
    """Tasks (name, 0), (name, 1), ... and those that they need."""

    name: str
    graph: HighLevelGraph

    def ref(self, *key: int) -> TaskRef:
        return TaskRef((self.name, *key))


class Joined(NamedTuple):
    """Tasks (name, level, node): the slabs of a set, and on higher levels of a tree several as one."""

    layer: Layer
    levels: list[list[range]]

    def all(self) -> TaskRef:
        return self.layer.ref(len(self.levels), 0)


def _layer(name: str, made: Sequence[Task], *below: Any) -> Layer:
    """Tasks upon others: layers, or dask arrays."""
    layers: dict[str, Any] = {}
    needs: dict[str, Any] = {}
    for other in below:
        graph = other.graph if isinstance(other, Layer) else other.__dask_graph__()
        layers.update(graph.layers)
        needs.update(graph.dependencies)
    layers[name] = {task.key: task for task in made}
    needs[name] = {other.name for other in below}
    return Layer(name, HighLevelGraph(layers, needs))


def _tree(count: int) -> list[list[range]]:
    """The groups of slabs, of groups of slabs, and so on; on the highest level there is one."""
    levels: list[list[range]] = []
    while not levels or count > 1:
        levels.append([range(k, min(k + _GROUP, count)) for k in range(0, count, _GROUP)])
        count = len(levels[-1])
    return levels


def bits(image: Cut, by_value: bool = False) -> Layer:
    """The slabs of a set, one bit an element, or of a label image."""
    name = f"apsis-{'values' if by_value else 'bits'}-{tokenize(image.mask.name)}"
    rest, pack = (0,) * (image.mask.ndim - 1), tasks.keep if by_value else tasks.pack
    made = [Task((name, k), pack, TaskRef((image.mask.name, k, *rest))) for k in range(len(image.slabs))]
    return _layer(name, made, image.mask)


def maps(name: str, image: Cut, set: Array, like: Any, how: dict[str, Any], below: list[Layer],
         call: Callable[[int, Slab], Sequence[Any]]) -> Any:
    """The dask arrays of a map, of the types of `like`: one, or a tuple of several that a task makes at once."""
    token = tokenize([layer.name for layer in below], how)
    name, rest = f"apsis-{name}", (0,) * (image.mask.ndim - 1)
    several = isinstance(like, tuple)
    top = f"{name}-{token}"
    made = [Task((top, k) if several else (top, k, *rest), *call(k, slab)) for k, slab in enumerate(image.slabs)]
    layers = [_layer(top, made, *below)]
    if several:
        layers = [_layer(f"{name}-{i}-{token}", [Task((f"{name}-{i}-{token}", k, *rest), operator.getitem, layers[0].ref(k), i)
                                                 for k in range(len(made))], layers[0]) for i in range(len(like))]
    made_of = [_DaskArray(layer.graph, layer.name, image.mask.chunks, dtype=one.dtype, meta=image.mask._meta)
               for layer, one in zip(layers, like if several else [like])]
    results = [arrays._dressed(array, set) for array in made_of]
    return tuple(results) if several else results[0]


# ---- Distance ----

def outside(image: Cut, bits: Layer, sides: list[bool], is_ring: bool, device: Optional[Device]) -> Layer:
    """What slabs are told for a distance map."""
    close = (tasks.closed,) if is_ring else None
    return _outside(image, bits, tokenize(bits.name, sides, is_ring, device),
                    lambda k, slab: (tasks.summary, bits.ref(k), slab, sides, device), tasks.merge, tasks.outside, close)


def outside_runs(image: Cut, values: Layer, is_ring: bool, device: Optional[Device]) -> Layer:
    """The same of a label image."""
    close = (tasks.closed_runs, image.extent) if is_ring else None
    return _outside(image, values, tokenize(values.name, is_ring, device),
                    lambda k, slab: (tasks.runs, values.ref(k), slab, device), tasks.merge_runs, tasks.outside_runs, close)


def _outside(image: Cut, bits: Layer, token: str, tell: Callable[[int, Slab], Sequence[Any]], merge: Callable[..., Any],
             surround: Callable[..., Any], close: Optional[tuple[Any, ...]]) -> Layer:
    """What slabs tell is merged up the tree, and down it goes what is outside of a node.  Around an image that closes on itself
    slabs are told of all others last, by `close`, a function and the rest of its arguments."""
    own, merged, name = f"apsis-summary-{token}", f"apsis-merge-{token}", f"apsis-outside-{token}"
    levels = _tree(len(image.slabs))
    made = [Task((own, 0, k), *tell(k, slab)) for k, slab in enumerate(image.slabs)]
    lowest = f"{name}-open" if close else name
    for level, groups in enumerate(levels):
        is_top = level + 1 == len(levels)
        for j, group in enumerate(groups):
            told = [TaskRef((merged if level else own, level, k)) for k in group]
            if not is_top or close:
                made.append(Task((merged, level + 1, j), merge, List(told)))
            around = None if is_top else TaskRef((f"{name}-group", level + 1, j))
            made += [Task((f"{name}-group", level, k) if level else (lowest, k), surround, around, List(told[:i]),
                          List(told[i + 1:])) for i, k in enumerate(group)]
    if close:
        all_told = TaskRef((merged, len(levels), 0))
        made += [Task((name, k), close[0], TaskRef((lowest, k)), all_told, *close[1:]) for k in range(len(image.slabs))]
    return _layer(name, made, bits)


# ---- Components ----

def joined(set: Array, statistics: bool, device: Optional[Device], **how: Any) -> tuple[Cut, Layer, Joined]:
    """The slabs of a set, one bit an element, or of a label image, and numbered and joined up the tree."""
    by_value = flag("labels", how["by_value"])
    those = cut("set", set, by_value=by_value)
    nothing = slabs.parts(those.nothing(), 0, device="cpu", **how)
    all_of_them = {name: how[name] for name in ("connectivity", "by_value", "periodic")}
    slabs.join([nothing], those.mask.shape, **all_of_them)
    check_device(device)
    how["device"] = device
    packed, levels, shape = bits(those, by_value), _tree(len(those.slabs)), those.mask.shape
    with_parts = {**how, "statistics": statistics}
    name = f"apsis-join-{tokenize(packed.name, with_parts)}"
    made = [Task((name, 0, k), tasks.parts, packed.ref(k), slab, with_parts) for k, slab in enumerate(those.slabs)]
    for level, groups in enumerate(levels, 1):
        # What is left out is known when all slabs are joined, and not before.
        selection = how if level == len(levels) else all_of_them
        for j, group in enumerate(groups):
            refs = [TaskRef((name, level - 1, k)) for k in group]
            both = Task((f"{name}-both", level, j), tasks.join, List(refs), shape, selection)
            made += [both, Task((name, level, j), operator.getitem, TaskRef(both.key), 0)]
    return those, packed, Joined(_layer(name, made, packed), levels)


def numbers(join: Joined) -> Layer:
    """What slabs are told of their numbers: down the tree that joined them."""
    name, made = f"apsis-numbers-{tokenize(join.layer.name)}", []
    for level, groups in enumerate(join.levels, 1):
        for j, group in enumerate(groups):
            both, those = TaskRef((f"{join.layer.name}-both", level, j)), (f"{name}-group", level, j)
            made.append(Task(those, operator.getitem, both, 1) if level == len(join.levels) else
                        Task(those, tasks.renumber, TaskRef((f"{name}-node", level, j)), both))
            made += [Task((f"{name}-node", level - 1, k) if level > 1 else (name, k), operator.getitem, TaskRef(those), i)
                     for i, k in enumerate(group)]
    return _layer(name, made, join.layer)


def count(join: Joined) -> Any:
    name = f"apsis-count-{tokenize(join.layer.name)}"
    layer = _layer(name, [Task((name,), tasks.count, join.all())], join.layer)
    return _DaskArray(layer.graph, name, (), dtype=np.int64)


def measured(join: Joined) -> Any:
    name = f"apsis-statistics-{tokenize(join.layer.name)}"
    layer = _layer(name, [Task((name, 0), tasks.statistics, join.all())], join.layer)
    return _DaskArray(layer.graph, name, ((math.nan,),), dtype=COMPONENT)


# ---- Values ----

def value_statistics(image: Cut, kept: Layer, device: Optional[Device]) -> Any:
    name = f"apsis-values-known-{tokenize(kept.name, device)}"
    made = [Task((name, 0, k), tasks.values, kept.ref(k), slab, device) for k, slab in enumerate(image.slabs)]
    layer = _layer(name, [*made, *_added_up(name, len(made), tasks.merge_values, ())], kept)
    return _table(layer, len(_tree(len(made))), tasks.statistics_of_parts, COMPONENT)


def contacts(image: Cut, kept: Layer, how: dict[str, Any], device: Optional[Device]) -> Any:
    name = f"apsis-contacts-known-{tokenize(kept.name, how, device)}"
    with_rows = [k for k, slab in enumerate(image.slabs) if slab.shape[0]]
    # That of the last slab before one that has rows.
    made, row = [], TaskRef((f"{name}-row", with_rows[-1])) if with_rows and image.is_ring(how["periodic"]) else None
    for k, slab in enumerate(image.slabs):
        made.append(Task((name, 0, k), tasks.contacts, kept.ref(k), row if slab.shape[0] else None, how, device))
        if slab.shape[0]:
            made.append(Task((f"{name}-row", k), tasks.last_row, kept.ref(k)))
            row = TaskRef((f"{name}-row", k))
    layer = _layer(name, [*made, *_added_up(name, len(image.slabs), tasks.merge_contacts, (image.mask.ndim, how["spacing"]))],
                   kept)
    return _table(layer, len(_tree(len(image.slabs))), np.array, CONTACT)


def _added_up(name: str, count: int, merge: Callable[..., Any], more: Sequence[Any]) -> list[Task]:
    """What the slabs tell, up the tree."""
    return [Task((name, level + 1, j), merge, List([TaskRef((name, level, k)) for k in group]), *more)
            for level, groups in enumerate(_tree(count)) for j, group in enumerate(groups)]


def _table(layer: Layer, top: int, finish: Callable[..., Any], dtype: Any) -> Any:
    """The array of what is known of all, of which the length is known when it is computed."""
    name = f"{layer.name}-table"
    table = _layer(name, [Task((name, 0), finish, layer.ref(top, 0))], layer)
    return _DaskArray(table.graph, name, ((math.nan,),), dtype=dtype)


# ---- Geodesic ----

def paths(image: Cut, bits: Layer, seeds: Layer, nearest: bool, how: dict[str, Any]) -> Layer:
    """What slabs tell of paths, and those beside them, when nothing changes any more."""
    is_ring = image.is_ring(how["periodic"])
    token = tokenize(bits.name, seeds.name, nearest, how)
    name, own, settled = (f"apsis-{kind}-{token}" for kind in ("paths", "relax", "settle"))
    places = range(len(image.slabs))
    made = [Task((own, k), tasks.relax, bits.ref(k), seeds.ref(k), slab, image.extent, nearest, how)
            for k, slab in enumerate(image.slabs)]
    made.append(Task((settled, 0), tasks.settle, List([bits.ref(k) for k in places]), List([seeds.ref(k) for k in places]),
                     image.slabs, image.extent, List([TaskRef((own, k)) for k in places]), is_ring, how))
    made += [Task((name, k), tasks.beside, TaskRef((settled, 0)), k, is_ring) for k in places]
    return _layer(name, made, bits, seeds)
