"""Tiles like other tiles, triangles, and how a grid walks over a matrix."""

from __future__ import annotations

from typing import Any

from kiln.language.dtypes import DTypeLike
from kiln.language.intrinsic import alike, intrinsic
from kiln.language.values import Number, Tensor


@intrinsic
def zeros_like(x: Tensor, dtype: DTypeLike | None = None) -> Tensor:
    """A tile of zeros of the shape of x, and of its dtype unless one is given.

    Example: `acc = kiln.zeros_like(x, dtype=kiln.f64)`

    Errors: something that is not a tensor.
    """


ones_like = alike(
    zeros_like,
    "ones_like",
    """A tile of ones of the shape of x, and of its dtype unless one is given.

    Example: `count = kiln.ones_like(k)`

    Errors: something that is not a tensor.
    """,
)


@intrinsic
def full_like(x: Tensor, value: Number, dtype: DTypeLike | None = None) -> Tensor:
    """A tile of one scalar, of the shape of x, and of its dtype unless one is given.

    Example: `best = kiln.full_like(x, -kiln.inf)`

    Errors: something that is not a tensor; a value that is a tensor.
    """


@intrinsic
def eye(rows: int, columns: int | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """A matrix with ones on its diagonal and zeros elsewhere; square unless `columns` is given.

    The extents are constants; the dtype is f32 unless given.

    Example: `identity = kiln.eye(16)`

    Errors: extents that are not constants of at least 1.
    """


@intrinsic
def tril(x: Tensor, diagonal: int = 0) -> Tensor:
    """x [..., M, N] with zeros above a diagonal: the elements of row i and column j <= i + diagonal
    stay. Keeps the dtype.

    Example: `lower = kiln.tril(x)`

    Errors: a tensor of rank 1; a diagonal that is neither a constant nor an integer scalar.
    """


triu = alike(
    tril,
    "triu",
    """x [..., M, N] with zeros below a diagonal: the elements of row i and column j >= i + diagonal
    stay. Keeps the dtype.

    Example: `upper = kiln.triu(x, diagonal=1)`

    Errors: a tensor of rank 1; a diagonal that is neither a constant nor an integer scalar.
    """,
)


@intrinsic
def squeeze(x: Tensor, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """x without a dimension of extent 1, without several, or without all of them.

    Where no dimension is left the result is a scalar.

    Example: `row = kiln.squeeze(view.load((i, 0), (1, 64)), axis=0)`

    Errors: a dimension whose extent is not 1.
    """


def next_power_of_2(n: int) -> int:
    """The least power of two that is not less than a constant (1 for 0), also on the host.

    Example: `z = kiln.zeros(kiln.next_power_of_2(100), kiln.f32)`

    Errors: something that is not a constant integer, or is negative.
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 0:
        raise TypeError(f"expected an int of at least 0, got {n!r}")
    return 1 << max(n - 1, 0).bit_length()


next_power_of_2.__kiln_intrinsic__ = "next_power_of_2"


@intrinsic
def swizzle2d(i: Number, j: Number, rows: Number, columns: Number, group: Number) -> Any:
    """Another position for each position (i, j) of a rows x columns grid, so that programs that
    run at one time share their rows and columns in the second-level cache.

    Programs are numbered row by row; the numbers then go down the columns of `group` rows, column
    after column, before they go on to the next `group` rows (the last group may have fewer). All
    are integer scalars or tensors; gives two, and every position once.

    Example: `i, j = kiln.swizzle2d(i, j, kiln.num_programs(0), kiln.num_programs(1), 8)`

    Errors: floats.
    """


inf = float("inf")
nan = float("nan")
pi = 3.141592653589793

__all__ = [
    "eye", "full_like", "inf", "nan", "next_power_of_2", "ones_like", "pi", "squeeze",
    "swizzle2d", "tril", "triu", "zeros_like",
]  # fmt: skip
