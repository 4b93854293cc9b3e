"""Random numbers: Philox, and the maps from its bits to distributions."""

from __future__ import annotations

import math
from typing import Any

from kiln.frontend.arithmetic.casts import cast, scalar_of
from kiln.frontend.arithmetic.operators import binary
from kiln.frontend.errors import Misuse
from kiln.frontend.syntax.calls import implements
from kiln.frontend.values import Value, as_tensor, describe, is_numeric, type_of
from kiln.language.dtypes import f32, i32, i64, u32, u64


def _integer(c: Any, x: Any, dtype: Any, argument: str) -> Value:
    """An integer scalar, its low bits in a dtype; ints may be signed or unsigned."""
    if isinstance(x, int) and not isinstance(x, bool):
        limit = 1 << dtype.bits
        if not -limit // 2 <= x < limit:
            raise Misuse(f"expected an int of {dtype.bits} bits, got {x}", argument=argument)
        return scalar_of(c.e, x - limit if x >= limit // 2 else x, dtype)
    if not (isinstance(x, Value) and x.is_scalar and x.dtype.is_integer):
        raise Misuse(f"expected an integer scalar, got {describe(x)}", argument=argument)
    return cast(c.e, x, dtype)


@implements("philox")
def philox(c: Any, seed: Any, counter: Any, stream: Any) -> tuple[Value, ...]:
    e = c.e
    counter = as_tensor(counter, "counter")
    if counter.dtype not in (i32, u32):
        raise Misuse(
            f"expected a counter of i32 or u32, got {describe(counter)}",
            ".to(kiln.u32) takes the low bits; `stream` tells further ones apart",
            "counter",
        )
    seed = _integer(c, seed, i64, "seed")
    stream = _integer(c, stream, i32, "stream")
    type = type_of(counter.shape, u32)
    text = f"tile.philox {seed.ref}, {stream.ref}, {counter.ref} : {counter.type.ir}"
    return tuple(e.results(text, [type] * 4))


def _uniform(e: Any, bits: Value, plus: int = 0) -> Value:
    """`((bits >> 8) + plus) * 2**-24` in f32, exact."""
    top = binary(e, ">>", bits, 8)
    if plus:
        top = binary(e, "+", top, plus)
    return binary(e, "*", cast(e, top, f32), 2.0**-24)


@implements("rand")
def rand(c: Any, seed: Any, counter: Any, stream: Any) -> Value:
    return _uniform(c.e, philox(c, seed, counter, stream)[0])


@implements("randn")
def randn(c: Any, seed: Any, counter: Any, stream: Any) -> Value:
    e = c.e
    first, second, _, _ = philox(c, seed, counter, stream)
    radius = e.unary("math.log", _uniform(e, first, 1))
    radius = e.unary("math.sqrt", binary(e, "*", radius, -2.0))
    angle = e.unary("math.cos", binary(e, "*", _uniform(e, second), 2 * math.pi))
    return e.binary("arith.mulf", radius, angle)


@implements("randint")
def randint(c: Any, seed: Any, counter: Any, low: Any, high: Any, stream: Any) -> Value:
    e = c.e
    bits = philox(c, seed, counter, stream)[0]
    if low is None and high is None:
        return bits
    for x, name in ((low, "low"), (high, "high")):
        if not is_numeric(x) or isinstance(x, (bool, float)):
            raise Misuse(
                f"expected both bounds as integer scalars, got {describe(x)}", argument=name
            )
        if isinstance(x, int) and not i32.minimum <= x <= i32.maximum + (name == "high"):
            raise Misuse(f"expected a bound that fits i32, got {x}", argument=name)
    if isinstance(low, int) and isinstance(high, int) and high <= low:
        raise Misuse(f"expected low < high, got {low} and {high}", argument="high")
    if isinstance(low, int) and isinstance(high, int):
        span: Any = high - low
    else:
        ends = [_integer(c, x, i64, "high") for x in (high, low)]
        span = cast(e, cast(e, binary(e, "-", *ends), u32), u64)
    wide = binary(e, ">>", binary(e, "*", cast(e, bits, u64), span), 32)
    offset = cast(e, cast(e, wide, u32), i32)
    if isinstance(low, Value):
        low = cast(e, low, i32)
    return binary(e, "+", offset, low)
