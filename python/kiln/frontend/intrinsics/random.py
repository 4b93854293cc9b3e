"""Random numbers: Philox, and the maps from its bits to distributions."""

from __future__ import annotations

import math
from typing import Any

from kiln.frontend.arithmetic.casts import cast, coerce, scalar_of
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
    if not counter.dtype.is_integer:
        raise Misuse(
            f"expected a counter of integers, got {describe(counter)}",
            "the position of each element, as in i * BLOCK + kiln.arange(BLOCK)",
            "counter",
        )
    seed = _integer(c, seed, i64, "seed")
    stream = _integer(c, stream, i32, "stream")
    if counter.dtype.bits > 32:
        return _philox_of_wide(e, seed, stream, cast(e, counter, u64))
    if counter.dtype.bits < 32:
        counter = cast(e, counter, i32)
    type = type_of(counter.shape, u32)
    text = f"tile.philox {seed.ref}, {stream.ref}, {counter.ref} : {counter.type.ir}"
    return tuple(e.results(text, [type] * 4))


def _philox_of_wide(e: Any, seed: Value, stream: Value, counter: Value) -> tuple[Value, ...]:
    """The ten rounds for a counter of 64 bits, whose upper half `tile.philox` has no operand for.
    Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011."""
    shape = counter.shape

    def high(x: Value) -> Value:
        return cast(e, binary(e, ">>", cast(e, x, u64), 32), u32)

    def products(x: Value, factor: int) -> list[Value]:
        """The low and the high word of a product of two words."""
        y = e.constant(factor, u32, shape)
        text = f"arith.mului_extended {x.ref}, {y.ref} : {x.type.ir}"
        return e.results(text, [x.type, x.type])

    key = [cast(e, cast(e, seed, u64), u32), high(seed)]
    second = coerce(e, cast(e, stream, u32), shape, u32)
    words = [cast(e, counter, u32), second, high(counter), e.constant(0, u32, shape)]
    for _ in range(10):
        low0, high0 = products(words[0], 0xD2511F53)
        low1, high1 = products(words[2], 0xCD9E8D57)
        words = [
            binary(e, "^", binary(e, "^", high1, words[1]), key[0]), low1,
            binary(e, "^", binary(e, "^", high0, words[3]), key[1]), low0,
        ]  # fmt: skip
        key = [binary(e, "+", key[0], 0x9E3779B9), binary(e, "+", key[1], 0xBB67AE85)]
    return tuple(words)


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
