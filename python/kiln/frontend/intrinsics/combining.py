"""Reductions and scans along an axis, with the region that combines two elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kiln.frontend.arithmetic.casts import cast, compute_dtype, truth
from kiln.frontend.arithmetic.operators import minmax_op
from kiln.frontend.errors import Misuse
from kiln.frontend.syntax.calls import implements
from kiln.frontend.syntax.subscripts import reshape
from kiln.frontend.types import ScalarType, TensorType, shape_text
from kiln.frontend.values import (
    Value,
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
    """Tensors of one shape, combined along an axis or along all (None); scalars at rank 0."""
    shape = inputs[0].shape
    keep = as_flag(keepdims, "keepdims")
    axes = range(len(shape) - 1, -1, -1) if axis is None else (as_axis(axis, len(shape)),)
    out = inputs
    for one in axes:
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
    def apply(c: Any, x: Any, axis: Any, keepdims: Any) -> Value:
        e = c.e
        x = as_tensor(x, "x")
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


def _arg(greater: bool):
    def apply(c: Any, x: Any, axis: Any) -> Value:
        e = c.e
        x = as_tensor(x, "x")
        if axis is None:
            size = 1
            for n in x.shape:
                size *= n
            x, axis = reshape(e, x, (size,)), 0
        axis = as_axis(axis, len(x.shape))
        x = cast(e, x, compute_dtype(x.dtype))
        lines, block = _region(e, [x], lambda best, new: [_beats(e, greater, best[0], new[0])])
        shape = x.shape[:axis] + x.shape[axis + 1 :]
        types = [TensorType(shape, x.dtype), TensorType(shape, i32)]
        head = (
            f"tile.arg_reduce {x.ref} axis = {axis} : {x.type.ir} -> {types[0].ir}, {types[1].ir}"
        )
        return scalar_at_rank_0(e, _emit(e, head, types, lines, block)[1])

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
