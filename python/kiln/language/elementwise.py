"""Computing element by element, creating tiles, and moving between dtypes."""

from __future__ import annotations

from typing import Any

from kiln.language.dtypes import DTypeLike
from kiln.language.intrinsic import intrinsic
from kiln.language.values import Number, Shape, Tensor


@intrinsic
def zeros(shape: Shape, dtype: DTypeLike) -> Tensor:
    """A tile of zeros. `shape` is a tuple of constants (or one constant).

    Example: `acc = kiln.zeros((16, 16), kiln.f32)`

    Errors: extents that are not constants of at least 1; a tile of more than 16,777,216 elements.
    """


@intrinsic
def ones(shape: Shape, dtype: DTypeLike) -> Tensor:
    """A tile of ones.

    Example: `count = kiln.ones((16,), kiln.i32)`

    Errors: as `zeros`.
    """


@intrinsic
def full(shape: Shape, value: Number, dtype: DTypeLike | None = None) -> Tensor:
    """A tile of one scalar; without `dtype` a constant is i32, f32 or bool by its kind.

    Example: `best = kiln.full((16,), -kiln.inf)`

    Errors: a shape as of `zeros`; a value that is a tensor.
    """


@intrinsic
def arange(start: int, stop: int | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """The integers from `start` (0 if one bound is given) up to `stop`, exclusive.

    The bounds are constants; the dtype is i32 unless given (integers and floats).

    Example: `columns = j * 16 + kiln.arange(16)`

    Errors: bounds that are not constants, that hold no element, or that the dtype does not hold.
    """


@intrinsic
def cast(x: Any, dtype: DTypeLike) -> Any:
    """Converts a tensor or a scalar to another dtype.

    - float to float: rounded to nearest, ties to even; overflow as the format defines it;
    - float to int: rounded towards zero; what does not fit saturates; NaN gives 0;
    - int to float: rounded to nearest; to floats of 16 bits and fewer by way of f32;
    - int to int: wraps to the width; a signed source keeps its sign when widened;
    - to bool: whether it is not zero (NaN is not zero); from bool: 0 or 1.

    Example: `half = kiln.cast(x, kiln.f16)`

    Errors: something that is not a dtype; a value that is not a number, a scalar or a tensor.
    """


@intrinsic
def bitcast(x: Any, dtype: DTypeLike) -> Any:
    """Reads the bits as another dtype.

    Of a tensor the last dimension grows or shrinks if the widths differ; elements narrower
    than a byte are packed low bits first.

    Example: `bits = kiln.bitcast(x, kiln.u32)`

    Errors: a constant; a dtype without bits in memory (bool, index, tf32); a last dimension that
    the widths do not divide; scalars of two widths.
    """


@intrinsic
def abs(x: Any) -> Any:
    """The absolute value, of the same dtype; the least signed integer stays as it is.

    Example: `size = kiln.max(kiln.abs(x))`

    Errors: something that is not a number, a scalar or a tensor.
    """


@intrinsic
def isnan(x: Any) -> Any:
    """Whether each element is NaN (bool).

    Example: `z = kiln.where(kiln.isnan(x), 0.0, x)`

    Errors: something that is not a number, a scalar or a tensor.
    """


@intrinsic
def isinf(x: Any) -> Any:
    """Whether each element is plus or minus infinity (bool).

    Example: `z = kiln.where(kiln.isinf(x), 0.0, x)`

    Errors: something that is not a number, a scalar or a tensor.
    """


@intrinsic
def isfinite(x: Any) -> Any:
    """Whether each element is neither infinite nor NaN (bool).

    Example: `kiln.device_assert(kiln.isfinite(x))`

    Errors: something that is not a number, a scalar or a tensor.
    """


@intrinsic
def sign(x: Any) -> Any:
    """-1, 0 or 1 by the sign of each element, of the same dtype; NaN of a NaN, 0 of both zeros.

    Example: `step = -0.01 * kiln.sign(x)`

    Errors: something that is not a number, a scalar or a tensor.
    """


@intrinsic
def fma(a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once (floats; f16, bf16 and narrower: once in f32, then again).

    Example: `z = kiln.fma(x, y, 1.0)`

    Errors: integers: there `a * b + c` is exact.
    """


@intrinsic
def where(condition: Any, x: Any, y: Any) -> Any:
    """x where the bool condition is true, else y; broadcast, and promoted as `+` does.

    Example: `z = kiln.where(x > 0.0, x, 0.1 * x)`

    Errors: a condition that is not bool; shapes that do not broadcast.
    """


@intrinsic
def minimum(a: Any, b: Any) -> Any:
    """The lesser of each pair; NaN if either is NaN, and -0 is less than +0.

    Example: `z = kiln.minimum(x, 6.0)`

    Errors: something that is not a number, a scalar or a tensor.
    """


@intrinsic
def maximum(a: Any, b: Any) -> Any:
    """The greater of each pair; NaN if either is NaN, and -0 is less than +0.

    Example: `z = kiln.maximum(x, 0.0)`

    Errors: something that is not a number, a scalar or a tensor.
    """


@intrinsic
def clamp(x: Any, low: Any, high: Any) -> Any:
    """`minimum(maximum(x, low), high)`.

    Example: `z = kiln.clamp(x, -1.0, 1.0)`

    Errors: something that is not a number, a scalar or a tensor.
    """


@intrinsic
def philox(seed: Number, counter: Tensor, stream: Number = 0) -> tuple[Tensor, ...]:
    """Four u32 tensors of random bits (Philox 4x32-10), a pure function of the arguments.

    `counter` is a tensor of integers, each of which gives other bits: the low word of Philox's
    counter is the element's low word, the next is `stream`, the third the upper half of an
    element of 64 bits, so that positions give the same bits in i32 and i64. `seed` is an integer
    scalar of 64 bits, `stream` one of 32.

    Example: `a, b, c, d = kiln.philox(seed, k)`

    Errors: a counter that is no tensor of integers; a seed that is not an integer.
    """


@intrinsic
def rand(seed: Number, counter: Tensor, stream: Number = 0) -> Tensor:
    """Uniform f32 in [0, 1): `(bits >> 8) * 2**-24` of the first word of `philox`.

    The result has the shape of `counter`, a tensor of integers.

    Example: `keep = kiln.rand(seed, i * 16 + kiln.arange(16)) > 0.1`

    Errors: as `philox`.
    """


@intrinsic
def randn(seed: Number, counter: Tensor, stream: Number = 0) -> Tensor:
    """Normal f32 of mean 0 and variance 1, by Box and Muller.

    From the first two words of `philox`: `sqrt(-2 log u) * cos(2 pi v)` with
    `u = ((bits0 >> 8) + 1) * 2**-24` and `v = (bits1 >> 8) * 2**-24`.

    Example: `noise = kiln.randn(seed, k)`

    Errors: as `philox`.
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

    Example: `die = kiln.randint(seed, k, 1, 7)`

    Errors: as `philox`; one bound without the other.
    """


__all__ = [
    "abs", "arange", "bitcast", "cast", "clamp", "fma", "full", "isfinite", "isinf", "isnan",
    "maximum", "minimum", "ones", "philox", "rand", "randint", "randn", "sign", "where", "zeros",
]  # fmt: skip
