"""Products with weights of 4 or 8 bits, which are unpacked in the kernel."""

from __future__ import annotations

from typing import Any

import kiln
from kiln.ops import arrays
from kiln.ops.steps import Steps
from kiln.ops.tiles import Place, applied

OP = "quantized_matmul"
DTYPES = (kiln.bf16, kiln.f16, kiln.f32)
LEAST_GROUP = 32


@kiln.function
def each_group(values, GROUP: kiln.constexpr, BK: kiln.constexpr):
    """One number a group, [BN, groups of a trip], as one a weight that broadcasts."""
    if GROUP >= BK:
        return values
    rows, groups = values.shape
    spread = kiln.broadcast_to(values[:, :, None], (rows, groups, GROUP))
    return spread.reshape((rows, BK))


@kiln.function
def weights_of(
    w, scales, zeros, column, k, PACKED: kiln.constexpr, GROUP: kiln.constexpr,
    BN: kiln.constexpr, BK: kiln.constexpr,
):  # fmt: skip
    """A tile [BN, BK] of weights in f32: (number - zero) * scale."""
    if PACKED is None:
        q = w.load((column, k), (BN, BK))
    else:
        q = w.load((column, k // 2), (BN, BK // 2)).bitcast(PACKED)
    q = q.to(kiln.f32)
    groups = BK // GROUP if GROUP < BK else 1
    at = (column, k // GROUP)
    if zeros is not None:
        q = q - each_group(zeros.load(at, (BN, groups)).to(kiln.f32), GROUP, BK)
    return q * each_group(scales.load(at, (BN, groups)).to(kiln.f32), GROUP, BK)


@kiln.kernel
def quantized_product(
    a: kiln.View, w: kiln.View, scales: kiln.View, zeros: kiln.View | None, out: kiln.View,
    operands: tuple, EPILOGUE: kiln.constexpr, PACKED: kiln.constexpr, GROUP: kiln.constexpr,
    PRECISION: kiln.constexpr, BK: kiln.constexpr,
    BM: kiln.tunable = kiln.tunable(16, 32, 64, 128),
    BN: kiln.tunable = kiln.tunable(64, 128),
):  # fmt: skip
    """PACKED is the dtype of two weights that a byte holds, None where `w` has that of a weight."""
    M, N = out.shape
    i, j = kiln.grid(kiln.cdiv(M, BM), kiln.cdiv(N, BN))
    place = Place(i * BM, j * BN, M, N, ())
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, a.shape[1], BK):
        x = a.load((place.row, k), (BM, BK))
        y = weights_of(w, scales, zeros, place.column, k, PACKED, GROUP, BN, BK)
        acc = kiln.dot(x, y.to(a.dtype), acc, transpose_b=True, precision=PRECISION)
    tile = applied(acc, place, EPILOGUE, operands)
    out.store((place.row, place.column), tile.to(out.dtype))


def quantized_matmul(
    a: Any,
    weights: Any,
    scales: Any,
    out: Any = None,
    *,
    zeros: Any = None,
    group: int | None = None,
    epilogue: Any = None,
    out_dtype: kiln.DType | None = None,
    precision: str = "ieee",
    **launch: Any,
) -> Any:
    """a times the transpose of weights that are (number - zero) * scale.

    a            [..., K] of f16, bf16 or f32; leading dimensions that are dense in memory
    weights      [N, K] of i8 or u8, or a kiln.PackedArray of i4 or u4; or [N, K / 2] of i8 or u8,
                 two numbers of 4 bits in a byte, signed or unsigned as its type, the first in the
                 low bits
    scales       [N, K / group] of f16, bf16 or f32
    out          [..., N]; without it memory of the inputs' framework
    zeros        of scales' shape, of f16, bf16, f32, i8 or u8; none are 0
    group        how many weights along K have one scale: a multiple of 32, or K; K over the number
                 of scales a row unless given, which it need not divide
    epilogue     what is done with each tile before it is stored (see `kiln.ops.epilogues`)
    out_dtype    of memory for the result; that of a unless given
    precision    how f32 is read, as `matmul` has it
    launch       options of a launch, `_stream=...`, and tunables, `BM=16, BN=64`, which the model
                 chooses otherwise

    Gives the result. A weight is rounded to the dtype of a, and products are summed in f32.

    Errors: other dtypes or shapes; no `out` beside inputs that are not NumPy's or PyTorch's.
    """
    dtype = arrays.check_dtype(OP, "a", a, DTYPES)
    given = arrays.shape_of(OP, "a", a)
    matrix = arrays.rows(OP, "a", a)
    k = given[-1]
    kind = arrays.check_dtype(
        OP, "weights", weights, (kiln.u4, kiln.i4, kiln.u8, kiln.i8)
    )  # fmt: skip
    shape = arrays.shape_of(OP, "weights", weights)
    packed = None
    if len(shape) == 2 and kind.bits == 8 and k % 2 == 0 and shape[1] == k // 2 and k:
        packed = kiln.u4 if kind is kiln.u8 else kiln.i4
    elif len(shape) != 2 or shape[1] != k:
        arrays.refuse(
            OP, "weights",
            f"expected [N, {k}], or two weights in a byte [N, {k}/2], as a has K = {k}, got the "
            f"shape {shape}",
        )  # fmt: skip
    n = shape[0]
    arrays.check_dtype(OP, "scales", scales, DTYPES)
    groups = (arrays.shape_of(OP, "scales", scales) or (0,))[-1]
    group = _group(k, groups, group)
    arrays.check_shape(OP, "scales", scales, (n, kiln.cdiv(k, group)))
    if zeros is not None:
        arrays.check_dtype(OP, "zeros", zeros, (*DTYPES, kiln.i8, kiln.u8))
        arrays.check_shape(OP, "zeros", zeros, (n, kiln.cdiv(k, group)))
    arrays.check_precision(OP, precision)
    if out is None:
        out = arrays.empty(OP, a, (*given[:-1], n), out_dtype or dtype)
    arrays.check_shape(OP, "out", out, (*given[:-1], n))
    if out_dtype is not None:
        arrays.check_dtype(OP, "out", out, (out_dtype,))
    result = arrays.rows(OP, "out", out)
    steps = Steps(OP, epilogue, arrays.shape_of(OP, "out", result), a)
    whole = group >= k
    constants = {
        "EPILOGUE": steps.functions, "PACKED": packed, "PRECISION": precision,
        "GROUP": 1 << 62 if whole else group,
        "BK": 128 if whole or group % 128 == 0 else 64 if group in (32, 64) else 32, **launch,
    }  # fmt: skip
    quantized_product(matrix, weights, scales, zeros, result, steps.operands, **constants)
    options = {name: value for name, value in launch.items() if name.startswith("_")}
    for finish in steps.finish:
        finish(options)
    return out


def _group(k: int, groups: int, group: int | None) -> int:
    if group is None:
        if not groups or k % groups:
            arrays.refuse(
                OP, "scales",
                f"expected a number of scales that divides K = {k}, or `group`, got {groups}",
            )  # fmt: skip
        group = max(k // groups, 1)
    if not arrays.is_count(group, 1) or (group < k and group % LEAST_GROUP):
        arrays.refuse(
            OP, "group", f"expected a multiple of {LEAST_GROUP}, or K = {k}, got {group!r}"
        )
    return group
