"""The bits of integers, element by element."""

from __future__ import annotations

from typing import Any

from kiln.language.intrinsic import alike, intrinsic


@intrinsic
def popcount(x: Any) -> Any:
    """How many bits of an integer are set: i32, of the shape of x. A negative number counts the
    bits of its two's complement.

    Example: `parity = kiln.popcount(k) & 1`

    Errors: floats and bools.
    """


clz = alike(
    popcount,
    "clz",
    """How many zeros lead the bits of an integer: i32; of 0 the width of the dtype.

    Example: `exponent = 31 - kiln.clz(k)`

    Errors: floats and bools.
    """,
)

ctz = alike(
    popcount,
    "ctz",
    """How many zeros end the bits of an integer: i32; of 0 the width of the dtype.

    Example: `lowest = kiln.ctz(k)`

    Errors: floats and bools.
    """,
)


@intrinsic
def bitreverse(x: Any) -> Any:
    """The bits of an integer in the opposite order, of the same dtype.

    Example: `z = kiln.bitreverse(k)`

    Errors: floats and bools.
    """


@intrinsic
def mulhi(a: Any, b: Any) -> Any:
    """The high half of the exact product of two integers, of the dtype that they meet in.

    Of signed integers it is the signed product's half, of unsigned ones the unsigned product's.

    Example: `z = kiln.mulhi(k, 715827883)`

    Errors: floats and bools.
    """


__all__ = ["bitreverse", "clz", "ctz", "mulhi", "popcount"]
