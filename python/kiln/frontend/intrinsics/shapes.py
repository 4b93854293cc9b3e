"""Operations that move elements without computing."""

from __future__ import annotations

import math
from typing import Any

from kiln.frontend.arithmetic.casts import cast, coerce, scalar_of
from kiln.frontend.arithmetic.promotion import broadcast_shapes
from kiln.frontend.errors import Misuse
from kiln.frontend.syntax.calls import implements
from kiln.frontend.syntax.parts import permuted, reshaped
from kiln.frontend.syntax.subscripts import reshape as to_shape
from kiln.frontend.syntax.subscripts import strided, take, transposed
from kiln.frontend.types import TensorType, shape_text
from kiln.frontend.values import (
    Struct,
    Value,
    as_axes,
    as_axis,
    as_int,
    as_shape,
    as_tensor,
    describe,
    is_numeric,
)  # fmt: skip
from kiln.language.dtypes import i32


@implements("broadcast_to")
def broadcast_to(c: Any, x: Any, shape: Any) -> Value:
    shape = as_shape(shape)
    if not is_numeric(x):
        raise Misuse(f"expected a tensor or a scalar, got {describe(x)}", argument="x")
    if not isinstance(x, Value):
        x = scalar_of(c.e, x)
    if broadcast_shapes(x.shape, shape) != shape:
        raise Misuse(
            f"expected a shape that {describe(x)} broadcasts to, got {shape_text(shape)}",
            argument="shape",
        )
    return coerce(c.e, x, shape, x.dtype)


@implements("reshape")
def reshape(c: Any, x: Any, shape: Any) -> Value:
    items = shape if isinstance(shape, tuple) else (shape,)
    if isinstance(x, Value) and x.is_view:
        return reshaped(c, x, items)
    x = as_tensor(x, "x")
    size = math.prod(x.shape)
    if items.count(-1) == 1 and all(isinstance(n, int) for n in items):
        rest = math.prod(n for n in items if n != -1)
        if rest < 1 or size % rest:
            raise Misuse(
                f"expected extents that divide {size} elements, got {shape_text(items)}",
                argument="shape",
            )
        items = tuple(size // rest if n == -1 else n for n in items)
    shape = as_shape(items)
    if math.prod(shape) != size:
        raise Misuse(
            f"expected a shape of {size} elements, got {shape_text(shape)} of {math.prod(shape)}",
            argument="shape",
        )
    return to_shape(c.e, x, shape)


@implements("transpose", "permute")
def transpose(c: Any, x: Any, permutation: tuple[Any, ...]) -> Value:
    is_view = isinstance(x, Value) and x.is_view
    rank = x.type.rank if is_view else len(as_tensor(x, "x").shape)
    if len(permutation) == 1 and isinstance(permutation[0], tuple):
        permutation = permutation[0]
    axes = tuple(as_axis(axis, rank, "permutation") for axis in permutation)
    if not axes:
        axes = tuple(range(rank - 1, -1, -1))
    if sorted(axes) != list(range(rank)):
        raise Misuse(
            f"expected each of the {rank} dimensions once, got {permutation}",
            argument="permutation",
        )
    return permuted(c.e, x, axes) if is_view else transposed(c.e, x, axes)


@implements("flip")
def flip(c: Any, x: Any, axis: Any) -> Value:
    x = as_tensor(x, "x")
    for dim in as_axes(axis, len(x.shape)):
        x = strided(c.e, x, dim, x.shape[dim] - 1, x.shape[dim], -1)
    return x


@implements("roll")
def roll(c: Any, x: Any, shift: Any, axis: Any) -> Value:
    e = c.e
    x = as_tensor(x, "x")
    if axis is None:
        flat = to_shape(e, x, (math.prod(x.shape),))
        return to_shape(e, _rolled(c, flat, shift, 0), x.shape)
    axes = axis if isinstance(axis, tuple) else (axis,)
    shifts = shift if isinstance(shift, tuple) else (shift,) * len(axes)
    if len(shifts) != len(axes):
        raise Misuse(f"expected {len(axes)} shifts, got {len(shifts)}", argument="shift")
    for one, dim in zip(shifts, axes, strict=True):
        x = _rolled(c, x, one, as_axis(dim, len(x.shape)))
    return x


def _rolled(c: Any, x: Value, shift: Any, axis: int) -> Value:
    """By a constant two pieces change places; by a scalar positions are computed."""
    e = c.e
    extent = x.shape[axis]
    if isinstance(shift, int) and not isinstance(shift, bool):
        kept = -shift % extent
        if kept == 0:
            return x
        ends = [strided(e, x, axis, kept, extent - kept, 1), strided(e, x, axis, 0, kept, 1)]
        return c.intrinsic("concat", [tuple(ends), axis], {})
    whole = isinstance(shift, Value) and shift.is_scalar and shift.dtype.is_integer
    if not whole:
        raise Misuse(f"expected an integer scalar, got {describe(shift)}", argument="shift")
    start = c.binary("-", extent, cast(e, c.binary("%", shift, extent), i32))
    line = TensorType((extent,), i32)
    at = c.binary("+", e.value(f"tile.iota 0 : {line.ir}", line), start)
    return take(e, x, c.binary("%", at, extent), axis)


@implements("expand_dims")
def expand_dims(c: Any, x: Any, axis: Any) -> Value:
    x = as_tensor(x, "x")
    axis = as_axis(axis, len(x.shape) + 1)
    return to_shape(c.e, x, (*x.shape[:axis], 1, *x.shape[axis:]))


def _pair(x: Any, y: Any) -> tuple[Value, Value]:
    x, y = as_tensor(x, "x"), as_tensor(y, "y")
    if x.type != y.type:
        raise Misuse(
            f"expected tensors of one type, got {describe(x)} and {describe(y)}", None, "y"
        )
    return x, y


@implements("join")
def join(c: Any, x: Any, y: Any) -> Value:
    x, y = _pair(x, y)
    type = TensorType((*x.shape, 2), x.dtype)
    return c.e.value(f"tile.join {x.ref}, {y.ref} : {x.type.ir} -> {type.ir}", type)


@implements("split")
def split(c: Any, x: Any) -> tuple[Value, Value]:
    e = c.e
    x = as_tensor(x, "x")
    if x.shape[-1] != 2 or len(x.shape) < 2:
        raise Misuse(
            f"expected a last dimension of extent 2 after another one, got {describe(x)}",
            argument="x",
        )
    type = TensorType(x.shape[:-1], x.dtype)
    return tuple(e.results(f"tile.split {x.ref} : {x.type.ir} -> {type.ir}", [type, type]))


@implements("concat")
def concat(c: Any, tensors: Any, axis: Any) -> Value:
    if isinstance(tensors, Struct) and tensors.unpacks:
        tensors = tuple(tensors.fields.values())
    if not isinstance(tensors, tuple) or not tensors:
        raise Misuse(f"expected a tuple of tensors, got {describe(tensors)}", argument="tensors")
    values = [as_tensor(x, "tensors") for x in tensors]
    first = values[0]
    axis = as_axis(axis, len(first.shape))
    for x in values:
        same = len(x.shape) == len(first.shape) and all(
            m == n
            for dim, (m, n) in enumerate(zip(x.shape, first.shape, strict=False))
            if dim != axis
        )
        if x.dtype is not first.dtype or not same:
            raise Misuse(
                f"expected tensors of one dtype that differ along axis {axis} alone, got "
                f"{describe(first)} and {describe(x)}",
                argument="tensors",
            )
    extent = sum(x.shape[axis] for x in values)
    type = TensorType((*first.shape[:axis], extent, *first.shape[axis + 1 :]), first.dtype)
    names = ", ".join(x.ref for x in values)
    types = ", ".join(x.type.ir for x in values)
    return c.e.value(f"tile.concat {names} axis = {axis} : {types} -> {type.ir}", type)


@implements("slice")
def slice(c: Any, x: Any, offsets: Any, shape: Any) -> Value:
    x = as_tensor(x, "x")
    shape = as_shape(shape)
    at = offsets if isinstance(offsets, tuple) else (offsets,)
    if len(at) != len(x.shape) or len(shape) != len(x.shape):
        raise Misuse(f"expected {len(x.shape)} offsets and extents, got {len(at)} and {len(shape)}")
    for dim, (offset, extent) in enumerate(zip(at, shape, strict=False)):
        offset = as_int(offset, "offsets")
        if offset < 0 or offset + extent > x.shape[dim]:
            raise Misuse(
                f"expected a slice inside {describe(x)}, got {offset} to {offset + extent} along "
                f"dimension {dim}"
            )
    type = TensorType(shape, x.dtype)
    text = ", ".join(map(str, at))
    return c.e.value(f"tile.slice {x.ref} [{text}] : {x.type.ir} -> {type.ir}", type)
