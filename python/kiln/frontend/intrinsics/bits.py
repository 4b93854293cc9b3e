"""Counting, turning and multiplying the bits of integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kiln.frontend.arithmetic.casts import cast, coerce
from kiln.frontend.arithmetic.promotion import broadcast_all
from kiln.frontend.errors import Misuse
from kiln.frontend.intrinsics.arithmetic import common_dtype, operand
from kiln.frontend.syntax.calls import implements
from kiln.frontend.values import Value, describe, is_const_number
from kiln.language.dtypes import DType, i32, i64, u32, u64


def _integers(c: Any, x: Any, argument: str = "x") -> Value:
    x = operand(c, x, argument)
    if not x.dtype.is_integer or x.dtype.is_bool:
        raise Misuse(
            f"expected integers, got {describe(x)}",
            "x.to(kiln.i32), or x.bitcast(kiln.u32) for the bits of a float",
            argument,
        )
    return cast(c.e, x, i64) if x.dtype.kind == "index" else x


def _unsigned(c: Any, x: Value) -> Value:
    """The bits of an integer, in the low end of an unsigned one of at least 32."""
    if x.dtype.bits >= 32:
        return c.intrinsic("bitcast", [x, u64 if x.dtype.bits == 64 else u32], {})
    mask = (1 << x.dtype.bits) - 1
    return c.binary("&", cast(c.e, cast(c.e, x, i32), u32), mask)


def _popcount(c: Any, x: Value) -> Value:
    return c.e.unary("math.ctpop", _unsigned(c, x))


def _clz(c: Any, x: Value) -> Value:
    bits = _unsigned(c, x)
    zeros = c.e.unary("math.ctlz", bits)
    return zeros if bits.dtype.bits == x.dtype.bits else c.binary("-", zeros, 32 - x.dtype.bits)


def _ctz(c: Any, x: Value) -> Value:
    bits = _unsigned(c, x)
    if bits.dtype.bits != x.dtype.bits:
        bits = c.binary("|", bits, 1 << x.dtype.bits)
    return c.e.unary("math.cttz", bits)


def _counting(count: Callable[[Any, Value], Value]) -> Callable[..., Value]:
    return lambda c, x: cast(c.e, count(c, _integers(c, x)), i32)


implements("popcount")(_counting(_popcount))
implements("clz")(_counting(_clz))
implements("ctz")(_counting(_ctz))


@implements("bitreverse")
def bitreverse(c: Any, x: Any) -> Value:
    """Neighbours are exchanged, first single bits, then pairs, and so on up to the halves."""
    x = _integers(c, x)
    bits, width = _unsigned(c, x), x.dtype.bits
    step = 1
    while step < width:
        low = sum(((1 << step) - 1) << at for at in range(0, bits.dtype.bits, 2 * step))
        up = c.binary("<<", c.binary("&", bits, low), step)
        bits = c.binary("|", up, c.binary("&", c.binary(">>", bits, step), low))
        step *= 2
    if bits.dtype.bits == width:
        return c.intrinsic("bitcast", [bits, x.dtype], {})
    return cast(c.e, bits, x.dtype)


@implements("mulhi")
def mulhi(c: Any, a: Any, b: Any) -> Value:
    e = c.e
    a, b = (
        x if is_const_number(x) and not isinstance(x, float) else _integers(c, x, name)
        for x, name in ((a, "a"), (b, "b"))
    )
    dtype = common_dtype(a, b)
    shape = broadcast_all(a, b)
    if dtype.bits < 64:
        wide = i64 if dtype.is_signed else u64
        product = c.binary("*", coerce(e, a, shape, wide), coerce(e, b, shape, wide))
        return cast(e, c.binary(">>", product, dtype.bits), dtype)
    x, y = coerce(e, a, shape, dtype), coerce(e, b, shape, dtype)
    return _high_of_64(c, x, y, dtype)


def _high_of_64(c: Any, x: Value, y: Value, dtype: DType) -> Value:
    """The high 64 bits of a product of 64 by 64 bits, by products of 32 by 32 bits."""

    def split(v: Value) -> tuple[Value, Value]:
        bits = c.intrinsic("bitcast", [v, u64], {}) if v.dtype is not u64 else v
        return c.binary("&", bits, 0xFFFFFFFF), c.binary(">>", bits, 32)

    (low_x, high_x), (low_y, high_y) = split(x), split(y)
    middle = c.binary("*", high_x, low_y)
    carried = c.binary("+", middle, c.binary(">>", c.binary("*", low_x, low_y), 32))
    other = c.binary("+", c.binary("*", low_x, high_y), c.binary("&", carried, 0xFFFFFFFF))
    high = c.binary("+", c.binary("*", high_x, high_y), c.binary(">>", carried, 32))
    high = c.binary("+", high, c.binary(">>", other, 32))
    if dtype is u64:
        return high
    high = c.intrinsic("bitcast", [high, i64], {})
    for one, sign in ((y, x), (x, y)):
        high = c.binary("-", high, c.binary("&", one, c.binary(">>", sign, 63)))
    return high
