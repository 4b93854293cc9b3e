"""Computing element by element, creating tiles, and moving between dtypes."""

from __future__ import annotations

from typing import Any

from kiln.language.dtypes import DTypeLike
from kiln.language.intrinsic import intrinsic
from kiln.language.values import Number, Shape, Tensor


@intrinsic
def zeros(shape: Shape, dtype: DTypeLike) -> Tensor:
    """A tile of zeros. `shape` is a tuple of constants (or one constant)."""


@intrinsic
def ones(shape: Shape, dtype: DTypeLike) -> Tensor:
    """A tile of ones."""


@intrinsic
def full(shape: Shape, value: Number, dtype: DTypeLike | None = None) -> Tensor:
    """A tile of one scalar; without `dtype` a constant is i32, f32 or bool by its kind."""


@intrinsic
def arange(start: int, stop: int | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """The integers from `start` (0 if one bound is given) up to `stop`, exclusive.

    The bounds are constants; the dtype is i32 unless given (integers and floats).
    """


@intrinsic
def cast(x: Any, dtype: DTypeLike) -> Any:
    """Converts a tensor or a scalar to another dtype.

    - float to float: rounded to nearest, ties to even; overflow as the format defines it;
    - float to int: rounded towards zero; what does not fit saturates; NaN gives 0;
    - int to float: rounded to nearest; to floats of 16 bits and fewer by way of f32;
    - int to int: wraps to the width; a signed source keeps its sign when widened;
    - to bool: whether it is not zero (NaN is not zero); from bool: 0 or 1.
    """


@intrinsic
def bitcast(x: Any, dtype: DTypeLike) -> Any:
    """Reads the bits as another dtype.

    Of a tensor the last dimension grows or shrinks if the widths differ; elements narrower
    than a byte are packed low bits first.
    """


@intrinsic
def abs(x: Any) -> Any:
    """The absolute value, of the same dtype; the least signed integer stays as it is."""


@intrinsic
def isnan(x: Any) -> Any:
    """Whether each element is NaN (bool)."""


@intrinsic
def isinf(x: Any) -> Any:
    """Whether each element is plus or minus infinity (bool)."""


@intrinsic
def isfinite(x: Any) -> Any:
    """Whether each element is neither infinite nor NaN (bool)."""


@intrinsic
def sign(x: Any) -> Any:
    """-1, 0 or 1 by the sign of each element, of the same dtype; NaN of a NaN, 0 of both zeros."""


@intrinsic
def fma(a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once (floats; f16, bf16 and narrower: once in f32, then again)."""


@intrinsic
def where(condition: Any, x: Any, y: Any) -> Any:
    """x where the bool condition is true, else y; broadcast, and promoted as `+` does."""


@intrinsic
def minimum(a: Any, b: Any) -> Any:
    """The lesser of each pair; NaN if either is NaN, and -0 is less than +0."""


@intrinsic
def maximum(a: Any, b: Any) -> Any:
    """The greater of each pair; NaN if either is NaN, and -0 is less than +0."""


@intrinsic
def clamp(x: Any, low: Any, high: Any) -> Any:
    """`minimum(maximum(x, low), high)`."""


@intrinsic
def philox(seed: Number, counter: Tensor, stream: Number = 0) -> tuple[Tensor, ...]:
    """Four u32 tensors of random bits (Philox 4x32-10), a pure function of the arguments.

    `counter` is a tensor of integers, each of which gives other bits: the low word of Philox's
    counter is the element's low word, the next is `stream`, the third the upper half of an
    element of 64 bits, so that positions give the same bits in i32 and i64. `seed` is an integer
    scalar of 64 bits, `stream` one of 32.

        i = kiln.program_id(0)
        bits = kiln.philox(seed, i * BLOCK + kiln.arange(BLOCK))[0]
    """


@intrinsic
def rand(seed: Number, counter: Tensor, stream: Number = 0) -> Tensor:
    """Uniform f32 in [0, 1): `(bits >> 8) * 2**-24` of the first word of `philox`.

    The result has the shape of `counter`, a tensor of integers.

        keep = kiln.rand(seed, i * BLOCK + kiln.arange(BLOCK)) < 0.9
    """


@intrinsic
def randn(seed: Number, counter: Tensor, stream: Number = 0) -> Tensor:
    """Normal f32 of mean 0 and variance 1, by Box and Muller.

    From the first two words of `philox`: `sqrt(-2 log u) * cos(2 pi v)` with
    `u = ((bits0 >> 8) + 1) * 2**-24` and `v = (bits1 >> 8) * 2**-24`.
    """


@intrinsic
def randint(
    seed: Number,
    counter: Tensor,
    low: Number | None = None,
    high: Number | None = None,
    stream: Number = 0,
) -> Tensor:
    """Random integers: u32 of all bits, or i32 in [low, high) if bounds are given.

    With bounds it is `low + ((bits * (high - low)) >> 32)` of the first word of `philox`, with
    `high - low` taken as 32 unsigned bits.
    """


__all__ = [
    "abs", "arange", "bitcast", "cast", "clamp", "fma", "full", "isfinite", "isinf", "isnan",
    "maximum", "minimum", "ones", "philox", "rand", "randint", "randn", "sign", "where", "zeros",
]  # fmt: skip
