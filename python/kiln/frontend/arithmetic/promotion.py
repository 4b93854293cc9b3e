"""Which dtype two operands meet in."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from kiln.frontend.arithmetic.literals import LARGEST
from kiln.frontend.errors import Misuse
from kiln.frontend.types import shape_text
from kiln.frontend.values import Value, describe, is_numeric, is_weak
from kiln.language.dtypes import DTYPES, DType, bool_, f32, f64, i32, i64, index

_SIGNED = {d.bits: d for d in DTYPES.values() if d.kind == "int"}


@lru_cache(maxsize=1024)
def promote_dtypes(a: DType, b: DType) -> DType:
    """The dtype of `a + b` for two run-time operands.

    Floats: the one that holds the other's values, else f32. An int with a float is the float.
    Ints of one signedness: the wider. A signed with an unsigned: the least signed type that
    holds both, at most i64. `bool` gives way to everything. `index` counts as i64, and wins
    over it.
    """
    if a is b:
        return a
    if a.is_bool or b.is_bool:
        return b if a.is_bool else a
    if a.is_float and b.is_float:
        return _promote_floats(a, b)
    if a.is_float or b.is_float:
        return a if a.is_float else b
    if index in (a, b):
        return index
    if a.kind == b.kind:
        return a if a.bits >= b.bits else b
    signed, unsigned = (a, b) if a.kind == "int" else (b, a)
    if signed.bits > unsigned.bits:
        return signed
    return _SIGNED.get(min(unsigned.bits * 2, 64), i64)


def _holds_floats(wide: DType, narrow: DType) -> bool:
    return wide.exponent >= narrow.exponent and wide.mantissa >= narrow.mantissa


def _promote_floats(a: DType, b: DType) -> DType:
    for wide, narrow in ((a, b), (b, a)):
        if _holds_floats(wide, narrow) and wide.bits > narrow.bits:
            return wide
    return f64 if f64 in (a, b) else f32


@lru_cache(maxsize=1024)
def holds(wide: DType, narrow: DType) -> bool:
    """Whether every value of `narrow` is one of `wide`: a conversion that loses nothing."""
    if wide is narrow:
        return True
    if narrow.is_float:
        return wide.is_float and _holds_floats(wide, narrow)
    if not wide.is_float:
        return wide.minimum <= narrow.minimum and narrow.maximum <= wide.maximum
    if wide.name == "f8e8m0fnu":  # has no zero
        return False
    exact = narrow.maximum.bit_length() <= wide.mantissa + 1
    return exact and max(-narrow.minimum, narrow.maximum) <= LARGEST[wide.name]


def constant_dtype(value: bool | int | float | Value, other: DType | None) -> DType:
    """The dtype that a number without one takes beside `other`, or by itself (None)."""
    if isinstance(value, Value):
        value = 0.0 if value.dtype.is_float else 0
    if other is None:
        if isinstance(value, bool):
            return bool_
        return f32 if isinstance(value, float) else i64
    if isinstance(value, bool):
        return other
    if isinstance(value, int):
        return i32 if other.is_bool else other
    return other if other.is_float else f32


def promote(a: Any, b: Any) -> DType:
    """The dtype two operands meet in; at least one exists only at run time.

    `index` scalars that meet a tensor count as i64.
    """
    for x in (a, b):
        if not is_numeric(x):
            raise Misuse(f"expected numbers, scalars or tensors, got {describe(x)}")
    if is_weak(a) and is_weak(b):
        return _promote_weak(a, b)
    if is_weak(a):
        return constant_dtype(a, b.dtype)
    if is_weak(b):
        return constant_dtype(b, a.dtype)
    return promote_dtypes(_beside(a, b), _beside(b, a))


def _promote_weak(a: Any, b: Any) -> DType:
    """The dtype that holds two numbers without one for the time being; floats as wide as f64 if
    one of them is that."""
    dtypes = [x.dtype if isinstance(x, Value) else constant_dtype(x, None) for x in (a, b)]
    if f64 in dtypes:
        return f64
    return promote_dtypes(*dtypes)


def weak_dtype(*numbers: Any) -> DType:
    """The dtype that holds what is chosen among numbers without one, until it meets another:
    floats as they are, in f64."""
    dtypes = {x.dtype if isinstance(x, Value) else constant_dtype(x, None) for x in numbers}
    if dtypes == {bool_}:
        return bool_
    return f64 if any(dtype.is_float for dtype in dtypes) else i64


def _beside(x: Value, other: Value) -> DType:
    return i64 if x.dtype is index and other.is_tensor and x.is_scalar else x.dtype


def broadcast_shapes(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape two operands meet in, as NumPy has it."""
    if a == b or not b:
        return a
    if not a:
        return b
    rank = max(len(a), len(b))
    left = (1,) * (rank - len(a)) + a
    right = (1,) * (rank - len(b)) + b
    out = []
    for m, n in zip(left, right, strict=False):
        if m not in (n, 1) and n != 1:
            raise Misuse(
                f"expected shapes that broadcast, got {shape_text(a)} and {shape_text(b)}",
                "extents that are the same or 1, from the last dimension on; x[:, None] adds a 1",
            )
        out.append(n if m == 1 else m)
    return tuple(out)


def broadcast_all(*operands: Any) -> tuple[int, ...]:
    shape: tuple[int, ...] = ()
    for x in operands:
        if isinstance(x, Value):
            shape = broadcast_shapes(shape, x.shape)
    return shape
