"""Conversions between dtypes, each spelled out so that every target computes the same.

Floats of 8 bits and fewer, and tf32, are only ever converted to and from other dtypes: nothing is
computed in them, and each conversion to one rounds once. `arith.fptosi` is undefined where the
value does not fit, so the float is clamped, and NaN replaced, before it.
"""

from __future__ import annotations

from typing import Any

from kiln.frontend.arithmetic.literals import literal
from kiln.frontend.arithmetic.promotion import constant_dtype, holds
from kiln.frontend.emitter import Emitter
from kiln.frontend.errors import Misuse
from kiln.frontend.types import TensorType
from kiln.frontend.values import Value, describe, is_const_number, is_numeric, type_of
from kiln.language.dtypes import DType, bool_, f32, f64, i8, i32, i64, index


def compute_dtype(dtype: DType) -> DType:
    """The dtype that arithmetic on a dtype is done in."""
    if dtype.is_float and (dtype.bits <= 8 or dtype.bits == 19):
        return f32
    return dtype


def math_dtype(dtype: DType) -> DType:
    """The dtype that functions such as exp are computed in."""
    return dtype if dtype is f64 else f32


def scalar_of(e: Emitter, x: Any, dtype: DType | None = None) -> Value:
    """A number or a scalar as a run-time scalar of a dtype (its own if None)."""
    if is_const_number(x):
        return e.constant(x, dtype or constant_dtype(x, None))
    return x if dtype is None else cast(e, x, dtype)


def settled(e: Emitter, x: Any) -> Any:
    """A weak scalar in the dtype that a number has by itself; everything else as it is."""
    if not (isinstance(x, Value) and x.weak):
        return x
    out = cast(e, x, constant_dtype(x, None)) if x.is_scalar else x
    return Value(out.ref, out.type)


def adopted(e: Emitter, x: Value, dtype: DType) -> Value:
    """What is weak in a dtype that a number may take; everything else as it is."""
    if not x.weak or constant_dtype(x, dtype) is not dtype:
        return x
    for number in x.weak if isinstance(x.weak, tuple) else ():
        literal(number, dtype)
    out = cast(e, Value(x.ref, x.type), dtype)
    return Value(out.ref, out.type)


def widened(e: Emitter, x: Value, dtype: DType) -> Value:
    """What is written where a dtype is stored: converted if that loses nothing, else as it is."""
    if x.weak:
        return adopted(e, x, dtype)
    return cast(e, x, dtype) if x.dtype is not dtype and holds(dtype, x.dtype) else x


def index_of(e: Emitter, x: Any, argument: str) -> Value:
    """An integer scalar as an `index`."""
    if isinstance(x, bool) or not (
        isinstance(x, int) or (isinstance(x, Value) and x.is_scalar and x.dtype.is_integer)
    ):
        raise Misuse(
            f"expected an integer scalar, got {describe(x)}",
            "an int, or an integer scalar such as an extent, a loop variable or a program id",
            argument,
        )
    return scalar_of(e, x, index)


def coerce(e: Emitter, x: Any, shape: tuple[int, ...], dtype: DType) -> Value:
    """A number, scalar or tensor as a tile of a shape (a scalar for ()) and a dtype."""
    if is_const_number(x):
        return e.constant(x, dtype, shape)
    x = cast(e, x, dtype)
    if x.shape == shape:
        return x
    type = type_of(shape, dtype)
    if not x.shape:
        return e.value(f"tile.splat {x.ref} : {type.ir}", type)
    return broadcast(e, x, shape)


def broadcast(e: Emitter, x: Value, shape: tuple[int, ...]) -> Value:
    """A tensor repeated to a shape that it is known to fit."""
    if len(x.shape) < len(shape):
        wide = TensorType((1,) * (len(shape) - len(x.shape)) + x.shape, x.dtype)
        x = e.value(f"tile.reshape {x.ref} : {x.type.ir} -> {wide.ir}", wide)
    if x.shape == shape:
        return x
    type = TensorType(shape, x.dtype)
    return e.value(f"tile.broadcast {x.ref} : {x.type.ir} -> {type.ir}", type)


def cast(e: Emitter, x: Value, to: DType) -> Value:
    """A scalar or a tensor in another dtype, as `kiln.cast` documents it."""
    dtype = x.dtype
    if dtype is to:
        return x
    if not is_numeric(x):
        raise Misuse(f"expected a scalar or a tensor, got {describe(x)}")
    if isinstance(x.weak, tuple) and x.is_scalar and not to.is_bool:
        for number in x.weak:
            literal(number, to)
    if to.is_bool:
        return truth(e, x)
    if dtype.is_float:
        return _float_to_float(e, x, to) if to.is_float else _float_to_int(e, x, to)
    return _int_to_float(e, x, to) if to.is_float else _int_to_int(e, x, to)


def truth(e: Emitter, x: Value) -> Value:
    """Whether each element is not zero."""
    if x.dtype.is_bool:
        return x
    if x.dtype.is_float:
        x = cast(e, x, compute_dtype(x.dtype))
        return e.compare("arith.cmpf", "une", x, e.constant(0.0, x.dtype, x.shape))
    return e.compare("arith.cmpi", "ne", x, e.constant(0, x.dtype, x.shape))


def _float_to_float(e: Emitter, x: Value, to: DType) -> Value:
    dtype = x.dtype
    narrow = compute_dtype(dtype) is f32 and dtype is not f32
    if narrow and to is not f32:
        return cast(e, e.convert("arith.extf", x, f32), to)
    if dtype.bits < to.bits:
        if compute_dtype(to) is not to:
            return cast(e, e.convert("arith.extf", x, f32), to)
        return e.convert("arith.extf", x, to)
    if dtype.bits == to.bits or (compute_dtype(to) is not to and dtype.bits < 32):
        return cast(e, e.convert("arith.extf", x, f32), to)
    return e.convert("arith.truncf", x, to)


def _float_to_int(e: Emitter, x: Value, to: DType) -> Value:
    if x.dtype.bits < 32:
        x = cast(e, x, f32)
    if to is index:
        return cast(e, _float_to_int(e, x, i64), index)
    if to.bits < 32:
        return _float_to_narrow_int(e, x, to)
    shape, dtype = x.shape, x.dtype
    low = float(to.minimum)
    above = float(to.maximum + 1)
    too_low = e.compare("arith.cmpf", "olt", x, e.constant(low, dtype, shape))
    too_high = e.compare("arith.cmpf", "oge", x, e.constant(above, dtype, shape))
    odd = e.binary("arith.ori", too_low, too_high)
    nan = e.compare("arith.cmpf", "uno", x, x)
    odd = e.binary("arith.ori", odd, nan)
    safe = e.select(odd, e.constant(0.0, dtype, shape), x)
    out = e.convert("arith.fptosi" if to.kind == "int" else "arith.fptoui", safe, to)
    out = e.select(too_low, e.constant(to.minimum, to, shape), out)
    return e.select(too_high, e.constant(to.maximum, to, shape), out)


def _float_to_narrow_int(e: Emitter, x: Value, to: DType) -> Value:
    shape, dtype = x.shape, x.dtype
    zero = e.constant(0.0, dtype, shape)
    nan = e.compare("arith.cmpf", "uno", x, x)
    x = e.select(nan, zero, x)
    x = e.binary("arith.maximumf", x, e.constant(float(to.minimum), dtype, shape))
    x = e.binary("arith.minimumf", x, e.constant(float(to.maximum), dtype, shape))
    return e.convert("arith.trunci", e.convert("arith.fptosi", x, i32), to)


def _int_to_float(e: Emitter, x: Value, to: DType) -> Value:
    if x.dtype is index:
        x = cast(e, x, i64)
    if 1 < x.dtype.bits < 8:
        x = cast(e, x, i8 if x.dtype.is_signed else i32)
    return e.convert("arith.sitofp" if x.dtype.is_signed else "arith.uitofp", x, to)


def _int_to_int(e: Emitter, x: Value, to: DType) -> Value:
    dtype = x.dtype
    if to is index:
        op = "arith.index_cast" if dtype.is_signed else "arith.index_castui"
        return e.convert(op, x, index)
    if dtype is index:
        return e.convert("arith.index_cast", x, to)
    if dtype.bits < to.bits:
        return e.convert("arith.extsi" if dtype.is_signed else "arith.extui", x, to)
    if dtype.bits > to.bits:
        return e.convert("arith.trunci", x, to)
    return Value(x.ref, type_of(x.shape, to))


def bool_of(e: Emitter, x: Any, argument: str | None = None) -> Value:
    """A number or a scalar as a run-time bool scalar."""
    if is_const_number(x):
        return e.constant(bool(x), bool_)
    if not (isinstance(x, Value) and x.is_scalar):
        raise Misuse(f"expected a bool scalar, got {describe(x)}", argument=argument)
    return truth(e, x)
