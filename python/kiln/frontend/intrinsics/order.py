"""Sorting, the largest elements, and counts."""

from __future__ import annotations

from typing import Any

from kiln.frontend.arithmetic.casts import cast, coerce
from kiln.frontend.arithmetic.promotion import broadcast_shapes
from kiln.frontend.errors import Misuse
from kiln.frontend.syntax.calls import implements
from kiln.frontend.types import TensorType, shape_text
from kiln.frontend.values import Value, as_axis, as_flag, as_int, as_tensor, describe
from kiln.language.dtypes import bool_, i32, u8


def _keys(c: Any, x: Any) -> Value:
    """The keys of an ordering; bools are ordered as bytes."""
    x = as_tensor(x, "x")
    return cast(c.e, x, u8) if x.dtype.is_bool else x


def _unsigned(x: Value) -> str:
    return " unsigned" if x.dtype.kind == "uint" else ""


@implements("sort")
def sort(c: Any, x: Any, values: tuple[Any, ...], axis: Any, descending: Any) -> Any:
    e = c.e
    keys = _keys(c, x)
    axis = as_axis(axis, len(keys.shape))
    tensors = [keys, *(as_tensor(value, "values") for value in values)]
    for tensor in tensors:
        if tensor.shape != keys.shape:
            raise Misuse(
                f"expected tensors of one shape, got {shape_text(keys.shape)} and "
                f"{shape_text(tensor.shape)}"
            )
    word = " descending" if as_flag(descending, "descending") else ""
    names = ", ".join(t.ref for t in tensors)
    types = ", ".join(t.type.ir for t in tensors)
    text = f"tile.sort {names} axis = {axis}{word}{_unsigned(keys)} : {types} -> {types}"
    out = e.results(text, [t.type for t in tensors])
    out[0] = cast(e, out[0], x.dtype)
    return tuple(out) if values else out[0]


@implements("topk")
def topk(c: Any, x: Any, k: Any, axis: Any, largest: Any) -> tuple[Value, Value]:
    e = c.e
    keys = _keys(c, x)
    axis = as_axis(axis, len(keys.shape))
    k = as_int(k, "k")
    if not 1 <= k <= keys.shape[axis]:
        raise Misuse(f"expected 1 to {keys.shape[axis]} elements, got {k}", argument="k")
    shape = (*keys.shape[:axis], k, *keys.shape[axis + 1 :])
    types = [TensorType(shape, keys.dtype), TensorType(shape, i32)]
    word = "" if as_flag(largest, "largest") else " smallest"
    text = (
        f"tile.topk {keys.ref} axis = {axis}{word}{_unsigned(keys)} : {keys.type.ir} -> "
        f"{types[0].ir}, {types[1].ir}"
    )
    values, positions = e.results(text, types)
    return cast(e, values, x.dtype), positions


@implements("histogram")
def histogram(c: Any, x: Any, bins: Any, mask: Any) -> Value:
    e = c.e
    x = as_tensor(x, "x")
    if not x.dtype.is_integer:
        raise Misuse(f"expected integers, got {describe(x)}", "x.to(kiln.i32)", "x")
    if x.dtype.bits < 32:
        x = cast(e, x, i32)
    bins = as_int(bins, "bins")
    if bins < 1:
        raise Misuse(f"expected at least one bin, got {bins}", argument="bins")
    masked = ""
    if mask is not None:
        mask = as_tensor(mask, "mask")
        if not mask.dtype.is_bool or broadcast_shapes(mask.shape, x.shape) != x.shape:
            raise Misuse(
                f"expected bools that broadcast to x, got {describe(mask)}", argument="mask"
            )
        mask = coerce(e, mask, x.shape, bool_)
        masked = f" mask({mask.ref} : {mask.type.ir})"
    type = TensorType((bins,), i32)
    return e.value(f"tile.histogram {x.ref}{masked} : {x.type.ir} -> {type.ir}", type)
