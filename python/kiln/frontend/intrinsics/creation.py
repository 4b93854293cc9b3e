"""Tiles from nothing, conversions, bits."""

from __future__ import annotations

import math
from typing import Any

from kiln.frontend.arithmetic.casts import cast as convert
from kiln.frontend.arithmetic.casts import coerce, scalar_of
from kiln.frontend.errors import Misuse
from kiln.frontend.syntax.calls import implements
from kiln.frontend.types import TensorType
from kiln.frontend.values import (
    Value,
    as_dtype,
    as_int,
    as_shape,
    describe,
    is_const_number,
    type_of,
)  # fmt: skip
from kiln.language.dtypes import DTYPES, bool_, f32, i32, i64


@implements("zeros")
def zeros(c: Any, shape: Any, dtype: Any) -> Value:
    return c.e.constant(0, as_dtype(dtype), as_shape(shape))


@implements("ones")
def ones(c: Any, shape: Any, dtype: Any) -> Value:
    return c.e.constant(1, as_dtype(dtype), as_shape(shape))


@implements("full")
def full(c: Any, shape: Any, value: Any, dtype: Any) -> Value:
    shape = as_shape(shape)
    if isinstance(value, Value) and value.is_scalar:
        return coerce(c.e, value, shape, value.dtype if dtype is None else as_dtype(dtype))
    if not is_const_number(value):
        raise Misuse(f"expected a number or a scalar, got {describe(value)}", argument="value")
    if dtype is None:
        dtype = bool_ if isinstance(value, bool) else f32 if isinstance(value, float) else i32
    return c.e.constant(value, as_dtype(dtype), shape)


@implements("arange")
def arange(c: Any, start: Any, stop: Any, dtype: Any) -> Value:
    e = c.e
    start = as_int(start, "start")
    if stop is None:
        start, stop = 0, start
    stop = as_int(stop, "stop")
    if stop <= start:
        raise Misuse(f"expected at least one element, got arange({start}, {stop})")
    dtype = i32 if dtype is None else as_dtype(dtype)
    if dtype.is_bool:
        raise Misuse("expected an integer or a float dtype, got bool", argument="dtype")
    counted = i32 if start >= -(2**31) and stop <= 2**31 else i64
    (extent,) = as_shape((stop - start,), "stop")
    if dtype.is_integer and not dtype.minimum <= start <= stop - 1 <= dtype.maximum:
        raise Misuse(f"expected bounds that fit {dtype}, got {start} and {stop}")
    type = TensorType((extent,), counted)
    out = e.value(f"tile.iota 0 : {type.ir}", type)
    if start:
        out = e.binary("arith.addi", out, e.constant(start, counted, (extent,)))
    return convert(e, out, dtype)


@implements("cast")
def cast(c: Any, x: Any, dtype: Any) -> Value:
    dtype = as_dtype(dtype)
    if is_const_number(x):
        return _constant(c, x, dtype)
    if not (isinstance(x, Value) and x.is_numeric):
        raise Misuse(f"expected a number, a scalar or a tensor, got {describe(x)}", argument="x")
    return convert(c.e, Value(x.ref, x.type), dtype)


def _constant(c: Any, x: Any, dtype: Any) -> Value:
    if dtype.is_bool:
        return c.e.constant(bool(x), dtype)
    if isinstance(x, float) and dtype.is_integer:
        if math.isnan(x):
            x = 0
        x = dtype.maximum if x >= dtype.maximum else dtype.minimum if x <= dtype.minimum else int(x)
    elif dtype.is_integer and not dtype.minimum <= x <= dtype.maximum:
        x &= (1 << dtype.bits) - 1
        if x > dtype.maximum:
            x -= 1 << dtype.bits
    return scalar_of(c.e, x, dtype)


@implements("bitcast")
def bitcast(c: Any, x: Any, dtype: Any) -> Value:
    e = c.e
    dtype = as_dtype(dtype)
    if not (isinstance(x, Value) and x.is_numeric):
        raise Misuse(
            f"expected a scalar or a tensor, got {describe(x)}", "a cast first: kiln.f32(x)", "x"
        )
    for one in (x.dtype, dtype):
        if one.is_bool or one.kind == "index" or one.bits == 19:
            legal = ", ".join(name for name, d in DTYPES.items() if d.bits == dtype.bits)
            raise Misuse(f"expected a dtype with bits in memory, got {one}", legal)
    if x.dtype.ir == dtype.ir:
        return Value(x.ref, type_of(x.shape, dtype))
    if x.dtype.bits == dtype.bits:
        return e.convert("arith.bitcast", x, dtype)
    if x.is_scalar:
        raise Misuse(
            f"expected a dtype of {x.dtype.bits} bits, got {dtype} of {dtype.bits}",
            argument="dtype",
        )
    bits = x.shape[-1] * x.dtype.bits
    if bits % dtype.bits:
        raise Misuse(
            f"expected a last dimension whose {bits} bits divide into {dtype}, got {describe(x)}"
        )
    type = TensorType((*x.shape[:-1], bits // dtype.bits), dtype)
    return e.value(f"tile.bitcast {x.ref} : {x.type.ir} -> {type.ir}", type)
