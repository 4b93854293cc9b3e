"""Tiles like other tiles, triangles, and how a grid walks over a matrix."""

from __future__ import annotations

from typing import Any

from kiln.frontend.arithmetic.operators import compare_checked
from kiln.frontend.errors import Misuse
from kiln.frontend.intrinsics.shapes import to_shape
from kiln.frontend.syntax.calls import implements
from kiln.frontend.values import Value, as_axis, as_int, as_tensor, describe, is_numeric
from kiln.language import matrices
from kiln.language.dtypes import f32, i32


def _like(value: Any):
    def apply(c: Any, x: Any, dtype: Any) -> Value:
        x = as_tensor(x, "x")
        return c.intrinsic(value, [x.shape, x.dtype if dtype is None else dtype], {})

    return apply


implements("zeros_like")(_like("zeros"))
implements("ones_like")(_like("ones"))


@implements("full_like")
def full_like(c: Any, x: Any, value: Any, dtype: Any) -> Value:
    x = as_tensor(x, "x")
    return c.intrinsic("full", [x.shape, value, x.dtype if dtype is None else dtype], {})


def _below(c: Any, rows: int, columns: int, diagonal: Any) -> tuple[Value, Value]:
    """Each row's position, moved by a diagonal, and each column's: they broadcast to a matrix."""
    row = to_shape(c.e, c.intrinsic("arange", [rows], {}), (rows, 1))
    column = to_shape(c.e, c.intrinsic("arange", [columns], {}), (1, columns))
    return c.binary("+", row, diagonal), column


@implements("eye")
def eye(c: Any, rows: Any, columns: Any, dtype: Any) -> Value:
    rows = as_int(rows, "rows")
    columns = rows if columns is None else as_int(columns, "columns")
    row, column = _below(c, rows, columns, 0)
    on_it = compare_checked(c.e, "==", row, column)
    return c.intrinsic("cast", [on_it, f32 if dtype is None else dtype], {})


def _triangle(keeps: str):
    def apply(c: Any, x: Any, diagonal: Any) -> Value:
        x = as_tensor(x, "x")
        if len(x.shape) < 2:
            raise Misuse(f"expected a tensor of rank 2 or more, got {describe(x)}", argument="x")
        if isinstance(diagonal, Value) and diagonal.is_scalar and diagonal.dtype.is_integer:
            diagonal = c.intrinsic("cast", [diagonal, i32], {})
        else:
            diagonal = as_int(diagonal, "diagonal")
        row, column = _below(c, *x.shape[-2:], diagonal)
        return c.intrinsic("where", [compare_checked(c.e, keeps, row, column), x, 0], {})

    return apply


implements("tril")(_triangle(">="))
implements("triu")(_triangle("<="))


@implements("squeeze")
def squeeze(c: Any, x: Any, axis: Any) -> Value:
    x = as_tensor(x, "x")
    rank = len(x.shape)
    if axis is None:
        return to_shape(c.e, x, tuple(n for n in x.shape if n != 1))
    axes = {as_axis(one, rank) for one in (axis if isinstance(axis, tuple) else (axis,))}
    for one in axes:
        if x.shape[one] != 1:
            raise Misuse(
                f"expected a dimension of extent 1, got {x.shape[one]} along axis {one} of "
                f"{describe(x)}",
                "x[0] or x[:, 0] picks one position of a larger dimension",
                "axis",
            )
    return to_shape(c.e, x, tuple(n for dim, n in enumerate(x.shape) if dim not in axes))


@implements("next_power_of_2")
def next_power_of_2(c: Any, n: Any) -> int:
    n = as_int(n, "n")
    if n < 0:
        raise Misuse(f"expected an int of at least 0, got {n}", argument="n")
    return matrices.next_power_of_2(n)


@implements("swizzle2d")
def swizzle2d(c: Any, i: Any, j: Any, rows: Any, columns: Any, group: Any) -> tuple[Any, Any]:
    given = {"i": i, "j": j, "rows": rows, "columns": columns, "group": group}
    for name, x in given.items():
        dtype = x.dtype if isinstance(x, Value) and is_numeric(x) else None
        if not (isinstance(x, int) or (dtype is not None and dtype.is_integer)):
            raise Misuse(f"expected integers, got {describe(x)}", argument=name)
    number = c.binary("+", c.binary("*", i, columns), j)
    whole = c.binary("*", group, columns)
    first = c.binary("*", c.binary("//", number, whole), group)
    height = c.intrinsic("minimum", [c.binary("-", rows, first), group], {})
    rest = c.binary("%", number, whole)
    return c.binary("+", first, c.binary("%", rest, height)), c.binary("//", rest, height)
