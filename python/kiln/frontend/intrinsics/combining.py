"""Reductions and scans along an axis, with the region that combines two elements."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from kiln.frontend.arithmetic.casts import cast, compute_dtype, truth
from kiln.frontend.arithmetic.operators import minmax_op
from kiln.frontend.errors import Misuse
from kiln.frontend.syntax.calls import implements
from kiln.frontend.syntax.subscripts import reshape, transposed
from kiln.frontend.types import ScalarType, TensorType, shape_text
from kiln.frontend.values import (
    Value,
    as_axes,
    as_axis,
    as_flag,
    as_tensor,
    describe,
    is_const_number,
    type_of,
)  # fmt: skip
from kiln.language.dtypes import DType, f32, i32, u32

Combine = Callable[[list[Value], list[Value]], list[Value]]


def sum_dtype(dtype: DType) -> DType:
    """What sums and products are computed in."""
    if dtype.is_float:
        return f32 if dtype.bits < 32 else dtype
    if dtype.bits < 32:
        return u32 if dtype.kind == "uint" else i32
    return dtype


def _region(e: Any, inputs: list[Value], combine: Combine) -> tuple[list[str], str]:
    """The lines of a combining region, and the line with its arguments."""
    left = [Value(e.fresh(), ScalarType(x.dtype)) for x in inputs]
    right = [Value(e.fresh(), ScalarType(x.dtype)) for x in inputs]
    with e.region() as lines:
        out = combine(left, right)
        types = ", ".join(v.type.ir for v in out)
        e.line(f"tile.yield {', '.join(v.ref for v in out)} : {types}")
    arguments = ", ".join(f"{v.ref}: {v.type.ir}" for v in (*left, *right))
    return lines, f"^bb0({arguments}):"


def _emit(e: Any, head: str, types: list[Any], lines: list[str], block: str) -> list[Value]:
    if e.host:
        e.refuse_on_host()
    names = [e.fresh() for _ in types]
    e.raw(f"{', '.join(names)} = {head} {{")
    e.raw(block)
    e.splice(lines)
    e.line("}")
    return [Value(name, type) for name, type in zip(names, types, strict=False)]


def _reduce_axis(e: Any, inputs: list[Value], axis: int, combine: Combine) -> list[Value]:
    lines, block = _region(e, inputs, combine)
    shape = inputs[0].shape
    left = shape[:axis] + shape[axis + 1 :]
    types = [TensorType(left, x.dtype) for x in inputs]
    head = (
        f"tile.reduce {', '.join(x.ref for x in inputs)} axis = {axis} : "
        f"{', '.join(x.type.ir for x in inputs)} -> {', '.join(t.ir for t in types)}"
    )
    return _emit(e, head, types, lines, block)


def reduce_tensors(
    e: Any, inputs: list[Value], axis: Any, combine: Combine, keepdims: Any
) -> list[Value]:
    """Tensors of one shape, combined along an axis, several or all (None) in row-major order;
    scalars at rank 0."""
    shape = inputs[0].shape
    keep = as_flag(keepdims, "keepdims")
    axes = as_axes(axis, len(shape))
    out = inputs
    for one in reversed(axes):
        out = _reduce_axis(e, out, one, combine)
    if keep:
        kept = tuple(1 if dim in axes else n for dim, n in enumerate(shape))
        return [reshape(e, x, kept) for x in out]
    return [scalar_at_rank_0(e, x) for x in out]


def scalar_at_rank_0(e: Any, x: Value) -> Value:
    """A tensor of rank 0 as the scalar in it; others as they are."""
    if x.shape:
        return x
    return e.value(f"tile.to_scalar {x.ref} : {x.type.ir}", type_of((), x.dtype))


def _of_op(e: Any, op: str) -> Combine:
    return lambda left, right: [e.binary(op, left[0], right[0])]


def _sum_like(floating: str, integer: str):
    def apply(c: Any, x: Any, axis: Any, keepdims: Any) -> Value:
        e = c.e
        x = as_tensor(x, "x")
        x = cast(e, x, sum_dtype(x.dtype))
        combine = _of_op(e, floating if x.dtype.is_float else integer)
        return reduce_tensors(e, [x], axis, combine, keepdims)[0]

    return apply


implements("sum")(_sum_like("arith.addf", "arith.addi"))
implements("prod")(_sum_like("arith.mulf", "arith.muli"))


def _extreme(greater: bool):
    def apply(c: Any, x: Any, axis: Any, keepdims: Any, return_indices: Any) -> Any:
        e = c.e
        x = as_tensor(x, "x")
        if as_flag(return_indices, "return_indices"):
            values, positions = best_along(e, x, axis, keepdims, greater)
            return cast(e, values, x.dtype), positions
        wide = cast(e, x, compute_dtype(x.dtype))
        combine = _of_op(e, minmax_op(wide.dtype, greater))
        return cast(e, reduce_tensors(e, [wide], axis, combine, keepdims)[0], x.dtype)

    return apply


implements("max")(_extreme(True))
implements("min")(_extreme(False))


def _logical(op: str):
    def apply(c: Any, x: Any, axis: Any, keepdims: Any) -> Value:
        e = c.e
        x = truth(e, as_tensor(x, "x"))
        return reduce_tensors(e, [x], axis, _of_op(e, op), keepdims)[0]

    return apply


implements("any")(_logical("arith.ori"))
implements("all")(_logical("arith.andi"))


def best_along(e: Any, x: Value, axis: Any, keepdims: Any, greater: bool) -> tuple[Value, Value]:
    """The best elements, in the dtype they are compared in, and their i32 positions along an axis;
    along several or all (None) their positions in row-major order."""
    rank = len(x.shape)
    axes = as_axes(axis, rank)
    kept = tuple(1 if dim in axes else n for dim, n in enumerate(x.shape))
    if len(axes) > 1:
        order = (*(dim for dim in range(rank) if dim not in axes), *axes)
        x = transposed(e, x, order)
        x = reshape(e, x, (*x.shape[: rank - len(axes)], math.prod(x.shape[rank - len(axes) :])))
    at = axes[0] if len(axes) == 1 else len(x.shape) - 1
    x = cast(e, x, compute_dtype(x.dtype))
    lines, block = _region(e, [x], lambda best, new: [_beats(e, greater, best[0], new[0])])
    shape = x.shape[:at] + x.shape[at + 1 :]
    types = [TensorType(shape, x.dtype), TensorType(shape, i32)]
    head = f"tile.arg_reduce {x.ref} axis = {at} : {x.type.ir} -> {types[0].ir}, {types[1].ir}"
    out = _emit(e, head, types, lines, block)
    if as_flag(keepdims, "keepdims"):
        return reshape(e, out[0], kept), reshape(e, out[1], kept)
    return scalar_at_rank_0(e, out[0]), scalar_at_rank_0(e, out[1])


def _arg(greater: bool):
    def apply(c: Any, x: Any, axis: Any, keepdims: Any) -> Value:
        return best_along(c.e, as_tensor(x, "x"), axis, keepdims, greater)[1]

    return apply


def _beats(e: Any, greater: bool, best: Value, new: Value) -> Value:
    """Whether a new element beats the best one; a NaN beats every number."""
    if not best.dtype.is_float:
        sign = "s" if best.dtype.is_signed else "u"
        return e.compare("arith.cmpi", sign + ("gt" if greater else "lt"), new, best)
    wins = e.compare("arith.cmpf", "ugt" if greater else "ult", new, best)
    number = e.compare("arith.cmpf", "ord", best, best)
    return e.binary("arith.andi", wins, number)


implements("argmax")(_arg(True))
implements("argmin")(_arg(False))


def _inputs(x: Any) -> list[Value]:
    items = x if isinstance(x, tuple) else (x,)
    tensors = [as_tensor(item, "x") for item in items]
    if not tensors:
        raise Misuse("expected at least one tensor, got an empty tuple", argument="x")
    for tensor in tensors:
        if tensor.shape != tensors[0].shape:
            raise Misuse(
                f"expected tensors of one shape, got {shape_text(tensors[0].shape)} and "
                f"{shape_text(tensor.shape)}",
                argument="x",
            )
    return tensors


def _calling(c: Any, function: Any, inputs: list[Value]) -> Combine:
    """The region that calls a user's function."""

    def combine(left: list[Value], right: list[Value]) -> list[Value]:
        out = c.call(function, [*left, *right], {})
        out = out if isinstance(out, tuple) else (out,)
        if len(out) != len(inputs):
            raise Misuse(
                f"expected the function to give {len(inputs)} scalars, got {len(out)}",
                argument="combine",
            )
        return [_result(c, value, x.dtype) for value, x in zip(out, inputs, strict=False)]

    return combine


def _result(c: Any, value: Any, dtype: DType) -> Value:
    if is_const_number(value):
        return c.e.constant(value, dtype)
    if not (isinstance(value, Value) and value.is_scalar and value.dtype is dtype):
        raise Misuse(
            f"expected the function to give a {dtype} scalar, got {describe(value)}",
            f"a cast: .to(kiln.{dtype})",
            "combine",
        )
    return value


def _like(x: Any, out: list[Value]) -> Any:
    return tuple(out) if isinstance(x, tuple) else out[0]


@implements("reduce")
def reduce(c: Any, x: Any, axis: Any, combine: Any, keepdims: Any) -> Any:
    inputs = _inputs(x)
    return _like(x, reduce_tensors(c.e, inputs, axis, _calling(c, combine, inputs), keepdims))


def _scan(e: Any, inputs: list[Value], axis: Any, combine: Combine, reverse: Any) -> list[Value]:
    axis = as_axis(axis, len(inputs[0].shape))
    lines, block = _region(e, inputs, combine)
    types = [x.type for x in inputs]
    word = " reverse" if as_flag(reverse, "reverse") else ""
    texts = ", ".join(t.ir for t in types)
    names = ", ".join(x.ref for x in inputs)
    return _emit(
        e, f"tile.scan {names} axis = {axis}{word} : {texts} -> {texts}", types, lines, block
    )


@implements("scan")
def scan(c: Any, x: Any, axis: Any, combine: Any, reverse: Any) -> Any:
    inputs = _inputs(x)
    return _like(x, _scan(c.e, inputs, axis, _calling(c, combine, inputs), reverse))


def _running(floating: str, integer: str):
    def apply(c: Any, x: Any, axis: Any, reverse: Any) -> Value:
        e = c.e
        x = as_tensor(x, "x")
        x = cast(e, x, sum_dtype(x.dtype))
        combine = _of_op(e, floating if x.dtype.is_float else integer)
        return _scan(e, [x], axis, combine, reverse)[0]

    return apply


implements("cumsum")(_running("arith.addf", "arith.addi"))
implements("cumprod")(_running("arith.mulf", "arith.muli"))
