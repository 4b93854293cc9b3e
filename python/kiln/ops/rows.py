"""Softmax and norms of rows: a program has a row, and reads it once."""

from __future__ import annotations

from typing import Any

import kiln
from kiln.ops import arrays

DTYPES = (kiln.bf16, kiln.f16, kiln.f32, kiln.f64)
LONGEST = 1 << 24  # elements of a tile


@kiln.function
def computed(x):
    """The dtype that a row is computed in."""
    return kiln.f64 if x.dtype == kiln.f64 else kiln.f32


@kiln.kernel
def softmax_rows(x: kiln.View, out: kiln.View, BLOCK: kiln.constexpr):
    i = kiln.grid(x.shape[0])
    # Padding with minus infinity: exp makes it 0, so it counts neither here nor in the sum.
    row = x.load((i, 0), (1, BLOCK), pad=float("-inf")).to(computed(x))
    e = kiln.exp(row - kiln.max(row, axis=1, keepdims=True))
    y = e / kiln.sum(e, axis=1, keepdims=True)
    out.store((i, 0), y.to(out.dtype))


@kiln.kernel
def rms_norm_rows(
    x: kiln.View, weight: kiln.View | None, out: kiln.View, eps: kiln.f64, BLOCK: kiln.constexpr
):
    kind = computed(x)
    columns = x.shape[1]
    i = kiln.grid(x.shape[0])
    row = x.load((i, 0), (1, BLOCK)).to(kind)
    mean_square = kiln.sum(row * row, axis=1, keepdims=True) / columns.to(kind)
    y = row * kiln.rsqrt(mean_square + eps.to(kind))
    if weight is not None:
        y = y * weight.load((0,), (BLOCK,)).to(kind)[None, :]
    out.store((i, 0), y.to(out.dtype))


@kiln.kernel
def layer_norm_rows(
    x: kiln.View, weight: kiln.View | None, bias: kiln.View | None, out: kiln.View, eps: kiln.f64,
    BLOCK: kiln.constexpr,
):  # fmt: skip
    kind = computed(x)
    columns = x.shape[1]
    i = kiln.grid(x.shape[0])
    inside = kiln.arange(BLOCK)[None, :] < columns.to(kiln.i32)
    row = x.load((i, 0), (1, BLOCK)).to(kind)
    mean = kiln.sum(row, axis=1, keepdims=True) / columns.to(kind)
    centred = kiln.where(inside, row - mean, 0.0)
    variance = kiln.sum(centred * centred, axis=1, keepdims=True) / columns.to(kind)
    y = centred * kiln.rsqrt(variance + eps.to(kind))
    if weight is not None:
        y = y * weight.load((0,), (BLOCK,)).to(kind)[None, :]
    if bias is not None:
        y = y + bias.load((0,), (BLOCK,)).to(kind)[None, :]
    out.store((i, 0), y.to(out.dtype))


def softmax(x: Any, out: Any = None, **launch: Any) -> Any:
    """exp(x) over its sum along the last dimension, without overflow.

    x       [..., n] of f16, bf16, f32 or f64, n at most 16,777,216; leading dimensions that are
            dense in memory, rows at any stride
    out     of the same shape and any of these dtypes, perhaps x itself; without it memory of x's
            framework and dtype
    launch  options of a launch, `_stream=...`

    Gives the result. It is computed in f32, of f64 in f64. A row of minus infinities, or with a
    NaN, gives NaNs.

    Errors: other dtypes or shapes; no `out` beside inputs that are not NumPy's or PyTorch's.
    """
    rows, result, out, block = _rows("softmax", x, out)
    if block:
        softmax_rows(rows, result, BLOCK=block, **launch)
    return out


def rms_norm(
    x: Any, weight: Any = None, out: Any = None, *, eps: float = 1e-6, **launch: Any
) -> Any:
    """x / sqrt(mean(x²) + eps) along the last dimension, times a weight a column.

    weight  [n] of any of x's dtypes; without it no factor
    eps     of at least 0
    x, out, launch
            as `softmax` has them

    Gives the result. It is computed in f32, of f64 in f64.

    Errors: other dtypes or shapes; no `out` beside inputs that are not NumPy's or PyTorch's.
    """
    rows, result, out, block = _rows("rms_norm", x, out)
    _check_columns("rms_norm", "weight", weight, x)
    eps = _checked_eps("rms_norm", eps)
    if block:
        rms_norm_rows(rows, weight, result, eps, BLOCK=block, **launch)
    return out


def layer_norm(
    x: Any, weight: Any = None, bias: Any = None, out: Any = None, *, eps: float = 1e-5,
    **launch: Any,
) -> Any:  # fmt: skip
    """(x - mean(x)) / sqrt(var(x) + eps) along the last dimension, times a weight and plus a bias a
    column. The variance is of the centred row, over n.

    weight, bias  [n] of any of x's dtypes; without them no factor and nothing added
    eps           of at least 0
    x, out, launch
                  as `softmax` has them

    Gives the result. It is computed in f32, of f64 in f64.

    Errors: other dtypes or shapes; no `out` beside inputs that are not NumPy's or PyTorch's.
    """
    rows, result, out, block = _rows("layer_norm", x, out)
    _check_columns("layer_norm", "weight", weight, x)
    _check_columns("layer_norm", "bias", bias, x)
    eps = _checked_eps("layer_norm", eps)
    if block:
        layer_norm_rows(rows, weight, bias, result, eps, BLOCK=block, **launch)
    return out


def _rows(op: str, x: Any, out: Any) -> tuple[Any, Any, Any, int]:
    """x and `out` as rows, `out`, and the extent of a tile that holds a row; 0 without elements."""
    dtype = arrays.check_dtype(op, "x", x, DTYPES)
    shape = arrays.shape_of(op, "x", x)
    rows = arrays.rows(op, "x", x)
    if shape[-1] > LONGEST:
        arrays.refuse(op, "x", f"expected rows of at most {LONGEST} elements, got {shape[-1]}")
    out = arrays.result(op, out, x, shape, (dtype, *DTYPES))
    empty = 0 in shape
    block = 0 if empty else kiln.next_power_of_2(shape[-1])
    return rows, arrays.rows(op, "out", out), out, block


def _check_columns(op: str, name: str, vector: Any, x: Any) -> None:
    if vector is not None:
        arrays.check_dtype(op, name, vector, DTYPES)
        arrays.check_shape(op, name, vector, arrays.shape_of(op, "x", x)[-1:])


def _checked_eps(op: str, eps: float) -> float:
    if not 0 <= eps < float("inf"):
        arrays.refuse(op, "eps", f"expected a number of at least 0, got {eps}")
    return float(eps)
