"""Parts of views: what square brackets, permutations and reshapes make of a view."""

from __future__ import annotations

from typing import Any

from kiln.frontend.arithmetic.casts import index_of
from kiln.frontend.errors import Misuse
from kiln.frontend.types import shape_text
from kiln.frontend.values import Value, describe
from kiln.frontend.views import (
    Part,
    as_index,
    least,
    minus,
    most,
    plus,
    times,
    whole_of,
)  # fmt: skip


def all_keys(view: Value, key: Any) -> list[Any]:
    """The keys in the brackets, one for each dimension and each None."""
    keys = list(key) if isinstance(key, tuple) else [key]
    for one in keys:
        if isinstance(one, Value) and one.is_tensor:
            raise Misuse(
                f"expected scalars and slices in the brackets of a view, got {describe(one)}",
                "view.gather((i, j)) reads at computed indices, view.scatter((i, j), x) writes",
            )
    given = sum(one is not None and one is not Ellipsis for one in keys)
    rank = view.type.rank
    dots = [i for i, one in enumerate(keys) if one is Ellipsis]
    if len(dots) > 1:
        raise Misuse("expected one `...`, got several")
    if given > rank:
        raise Misuse(f"expected at most {rank} indices for {describe(view)}, got {given}")
    at = dots[0] if dots else len(keys)
    keys[at : at + 1] = [slice(None)] * (rank - given)
    return keys


def is_element(keys: list[Any]) -> bool:
    """Whether the keys of all dimensions name one element."""
    return not any(one is None or isinstance(one, slice) for one in keys)


def part_of(e: Any, view: Value, keys: list[Any]) -> Value:
    """What is left of a view under keys that do not name one element."""
    old = whole_of(e, view)
    offset, inside = old.offset, old.inside
    extents: list[Any] = []
    strides: list[Any] = []
    limits: list[int | None] = []
    moved: list[tuple[str, Any]] = []
    exact = True
    dims = iter(zip(old.extents, old.strides, strict=True))
    for one in keys:
        if one is None:
            extents.append(1)
            strides.append(0)
            limits.append(1)
            exact = False
            continue
        extent, stride = next(dims)
        if isinstance(one, slice):
            start, size, step = _bounds(e, one, extent)
            whole = start == 0 and step == 1 and size is extent
            exact = exact and whole
            moved.append(("own", len(extents)))
            offset = plus(e, offset, times(e, start, stride))
            extents.append(size)
            strides.append(times(e, stride, step))
            limits.append(_limit(one, size))
            continue
        at, within = _position(e, one, extent)
        moved.append(("at", at))
        offset = plus(e, offset, times(e, at, stride))
        if within is not None:
            inside = within if inside is None else e.binary("arith.andi", inside, within)
    places = None
    if exact and old.places is not None:
        places = tuple(moved[x] if kind == "own" else (kind, x) for kind, x in old.places)
    return Part(e, old.whole, offset, tuple(extents), tuple(strides), inside, places,
                tuple(limits))  # fmt: skip


def _limit(key: slice, size: Any) -> int | None:
    """The most elements that a slice can have."""
    if isinstance(size, int):
        return size
    parts = (key.start or 0, key.stop, key.step or 1)
    if all(isinstance(part, int) and part >= 0 for part in parts):
        return len(range(*parts))
    return None


def _position(e: Any, key: Any, extent: Any) -> tuple[Any, Value | None]:
    """An index along a dimension, and whether it is in bounds; None where that is known."""
    if isinstance(key, int) and not isinstance(key, bool):
        if key < 0 or (isinstance(extent, int) and key >= extent):
            last = extent - 1 if isinstance(extent, int) else "the last one"
            raise Misuse(
                f"expected an index from 0 to {last}, got {key}",
                "x.shape[0] - 1 for the last" if key < 0 else None,
            )
        if isinstance(extent, int):
            return key, None
    else:
        key = index_of(e, key, "index")
    return key, e.compare("arith.cmpi", "ult", as_index(e, key), as_index(e, extent))


def _bounds(e: Any, key: slice, extent: Any) -> tuple[Any, Any, int]:
    """Where a slice starts, how many elements it has, and its step."""
    step = 1 if key.step is None else key.step
    if isinstance(step, bool) or not isinstance(step, int) or step == 0:
        raise Misuse(f"expected a constant step that is not zero, got {describe(step)}")
    if step < 0:
        last = minus(e, extent, 1)
        start = last if key.start is None else least(e, _bound(e, key.start, extent, -1), last)
        stop = -1 if key.stop is None else _bound(e, key.stop, extent, -1)
        return start, _rounds(e, minus(e, start, stop), -step), step
    start = 0 if key.start is None else _bound(e, key.start, extent, 0)
    stop = extent if key.stop is None else least(e, _bound(e, key.stop, extent, 0), extent)
    if step == 1 and start == 0 and stop is extent:
        return 0, extent, 1
    if isinstance(start, int) and isinstance(extent, int):
        start = min(start, extent)
    return start, _rounds(e, minus(e, stop, start), step), step


def _bound(e: Any, key: Any, extent: Any, low: int) -> Any:
    """A bound of a slice, at least `low`. A negative constant counts from the end."""
    if isinstance(key, int) and not isinstance(key, bool):
        return key if key >= 0 else most(e, plus(e, extent, key), low)
    return most(e, index_of(e, key, "index"), low)


def _rounds(e: Any, distance: Any, step: int) -> Any:
    """How many steps a distance has; none if it is negative."""
    distance = most(e, distance, 0)
    if isinstance(distance, int):
        return -(-distance // step)
    if step == 1:
        return distance
    return e.binary("arith.divui", plus(e, distance, step - 1), e.index(step))


def permuted(e: Any, view: Value, axes: tuple[int, ...]) -> Value:
    """The view whose dimension i is dimension `axes[i]`."""
    if axes == tuple(range(view.type.rank)):
        return view
    old = whole_of(e, view)
    return Part(
        e,
        old.whole,
        old.offset,
        tuple(old.extents[axis] for axis in axes),
        tuple(old.strides[axis] for axis in axes),
        old.inside,
    )


# Reshapes: dimensions are merged where one's stride is the next one's times its extent, and split
# anywhere. What only the run knows is asserted.


def reshaped(c: Any, view: Value, shape: tuple[Any, ...]) -> Value:
    """The same elements, in row-major order, under other extents."""
    e = c.e
    old = whole_of(e, view)
    if not shape:
        raise Misuse("expected at least one extent, got none", "x[0] reads an element", "shape")
    wanted = [_extent(e, extent) for extent in shape]
    if wanted.count(-1) > 1:
        raise Misuse("expected one extent of -1, got several", argument="shape")
    dims = [(n, s) for n, s in zip(old.extents, old.strides, strict=True) if n != 1]
    groups = _groups([n for n, _ in dims], [n for n in wanted if n != 1])
    made: list[tuple[Any, Any]] = []
    for first, last, sizes in groups:
        extent, stride = _merged(c, dims[first:last])
        made += _split(c, extent, stride, sizes, view, shape)
    out = iter(made)
    pairs = [(1, 0) if n == 1 else next(out) for n in wanted]
    extents, strides = tuple(n for n, _ in pairs), tuple(s for _, s in pairs)
    return Part(e, old.whole, old.offset, extents, strides, old.inside)


def _extent(e: Any, extent: Any) -> Any:
    if isinstance(extent, int) and not isinstance(extent, bool):
        if extent < -1:
            raise Misuse(
                f"expected extents of at least 0 and one of -1, got {extent}", argument="shape"
            )
        return extent
    return index_of(e, extent, "shape")


def _groups(old: list[Any], new: list[Any]) -> list[tuple[int, int, list[Any]]]:
    """Runs of old dimensions, [first, last), and the new ones of as many elements. Dimensions that
    stay are runs of their own; constant ones are matched; all others are one run."""

    def matched(a: list[Any], b: list[Any]) -> list[tuple[int, int]]:
        """How many dimensions of each list the runs at its front have."""
        runs, i, j = [], 0, 0
        while i < len(a) and j < len(b):
            at, to = i + 1, j + 1
            m, n = a[i], b[j]
            while m is not n and m != n:
                if not (isinstance(m, int) and isinstance(n, int)) or -1 in (m, n):
                    return runs
                if m < n and at < len(a) and isinstance(a[at], int):
                    m, at = m * a[at], at + 1
                elif n < m and to < len(b) and isinstance(b[to], int) and b[to] != -1:
                    n, to = n * b[to], to + 1
                else:
                    return runs
            runs.append((at - i, to - j))
            i, j = at, to
        return runs

    front = matched(old, new)
    i, j = sum(a for a, _ in front), sum(b for _, b in front)
    back = matched(old[:i:-1] + old[i : i + 1], new[:j:-1] + new[j : j + 1]) if i < len(old) else []
    out: list[tuple[int, int, list[Any]]] = []
    first = at = 0
    for a, b in front:
        out.append((first, first + a, new[at : at + b]))
        first, at = first + a, at + b
    end, to = len(old) - sum(a for a, _ in back), len(new) - sum(b for _, b in back)
    if first < end or at < to:
        out.append((first, end, new[at:to]))
    first, at = end, to
    for a, b in reversed(back):
        out.append((first, first + a, new[at : at + b]))
        first, at = first + a, at + b
    return out


def _merged(c: Any, dims: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """The extent and the stride of dimensions that are one in memory."""
    e = c.e
    if not dims:
        return 1, 0
    extent, stride = dims[-1]
    for outer, step in reversed(dims[:-1]):
        _require(
            c,
            step,
            times(e, extent, stride),
            "the view's strides do not allow the reshape",
            "reshape dimensions that are dense in memory, or load a tile and reshape that",
            unless_one=outer,
        )
        extent = times(e, outer, extent)
    return extent, stride


def _split(
    c: Any, extent: Any, stride: Any, sizes: list[Any], view: Value, shape: tuple[Any, ...]
) -> list[tuple[Any, Any]]:
    """Extents and strides of the dimensions that one becomes."""
    e = c.e
    rest: Any = 1
    for size in sizes:
        rest = rest if size == -1 else times(e, rest, size)
    text = shape_text(tuple("?" if isinstance(n, Value) else n for n in shape))
    problem = f"the extents {text} do not hold the elements of the view"
    if -1 in sizes:
        if isinstance(extent, int) and isinstance(rest, int):
            if rest == 0 or extent % rest:
                raise Misuse(
                    f"expected extents that fit {describe(view)}, got {text}", None, "shape"
                )
            missing: Any = extent // rest
        else:
            missing = e.binary("arith.divui", as_index(e, extent), as_index(e, most(e, rest, 1)))
            if rest != 1:
                _require(c, times(e, missing, rest), extent, problem, None)
            else:
                missing = extent
        sizes = [missing if size == -1 else size for size in sizes]
    elif not (len(sizes) == 1 and sizes[0] is extent):
        _require(c, rest, extent, problem, None)
    out: list[tuple[Any, Any]] = []
    for size in reversed(sizes):
        out.append((size, stride))
        stride = times(e, stride, size)
    return out[::-1]


def _require(
    c: Any, a: Any, b: Any, problem: str, legal: str | None, unless_one: Any = None
) -> None:
    """That two numbers are the same: checked here, or when the kernel runs."""
    if a is b:
        return
    if isinstance(a, int) and isinstance(b, int):
        if a != b:
            raise Misuse(
                f"expected a reshape that moves nothing, but {problem}: {a} and {b}", legal
            )
        return
    e = c.e
    if e.host:
        return
    same = e.compare("arith.cmpi", "eq", as_index(e, a), as_index(e, b))
    if isinstance(unless_one, Value):
        one = e.compare("arith.cmpi", "ule", unless_one, e.index(1))
        same = e.binary("arith.ori", same, one)
    e.effect(f'tile.assert {same.ref}, "{problem}" : i1')
