"""Means, deviations and soft maxima along an axis."""

from __future__ import annotations

from typing import Any

from kiln.language.intrinsic import alike, intrinsic
from kiln.language.values import Tensor


@intrinsic
def mean(x: Tensor, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Any:
    """The mean along an axis, along several, or of all elements (a scalar).

    f64 stays; all other dtypes are summed in f32 and give f32.

    Example: `centred = x - kiln.mean(x, axis=1, keepdims=True)`

    Errors: an axis that the tensor does not have.
    """


@intrinsic
def var(
    x: Tensor,
    axis: int | tuple[int, ...] | None = None,
    ddof: int = 0,
    keepdims: bool = False,
) -> Any:
    """The variance: the sum of the squared distances to the mean, over the count less `ddof`.

    `ddof=0` is the variance of a population, as NumPy has it; `ddof=1` that of a sample, as
    PyTorch has it. Computed in two passes over the tile, so that a large mean costs no digits;
    dtypes as `mean`.

    Example: `scale = kiln.rsqrt(kiln.var(x, axis=1, keepdims=True) + 1e-5)`

    Errors: an axis that the tensor does not have; a `ddof` that is not a constant below the count.
    """


std = alike(
    var,
    "std",
    """The standard deviation, the square root of `var`.

    Arguments and dtypes as `var`.

    Example: `spread = kiln.std(x, axis=1, ddof=1)`

    Errors: as `var`.
    """,
)


@intrinsic
def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """exp(x) over its sum along an axis, of the same shape; no x is too large for it.

    Floats keep their dtype and are computed in f32 or f64; ints give f32. A row of minus
    infinity alone gives NaN.

    Example: `weights = kiln.softmax(x, axis=1)`

    Errors: an axis that the tensor does not have.
    """


@intrinsic
def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """The logarithm of `softmax`, also where that is too small for a float; dtypes as `softmax`.

    Example: `losses = -kiln.log_softmax(x, axis=1)`

    Errors: an axis that the tensor does not have.
    """


@intrinsic
def logsumexp(x: Tensor, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Any:
    """log(sum(exp(x))) along an axis, along several, or of all elements; no x is too large.

    f64 stays; all other dtypes are computed in f32 and give f32. Of minus infinities alone it is
    minus infinity.

    Example: `normaliser = kiln.logsumexp(x, axis=1)`

    Errors: an axis that the tensor does not have.
    """


__all__ = ["log_softmax", "logsumexp", "mean", "softmax", "std", "var"]
