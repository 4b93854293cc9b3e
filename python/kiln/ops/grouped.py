"""Products of groups of rows, each with a matrix of its own, as of experts.

How many rows a group has is known on the device alone. Group e has its tiles from number
offsets[e] // BM + e on, which are as many as its rows need, or one more: so a program finds its
group by counting, and the grid has rows // BM + groups tiles whatever the offsets are.
"""

from __future__ import annotations

from typing import Any

import kiln
from kiln.ops import arrays
from kiln.ops.steps import Steps
from kiln.ops.tiles import Place, applied

OP = "grouped_matmul"
DTYPES = (kiln.bf16, kiln.f16, kiln.f32)


@kiln.kernel
def grouped_product(
    a: kiln.View, b: kiln.View, offsets: kiln.View, out: kiln.View,
    gather: kiln.View | None, scatter: kiln.View | None, operands: tuple, rows: kiln.i64,
    EPILOGUE: kiln.constexpr, TB: kiln.constexpr, PRECISION: kiln.constexpr, GROUPS: kiln.constexpr,
    BK: kiln.constexpr,
    BM: kiln.tunable = kiln.tunable(64, 16, 128),
    BN: kiln.tunable = kiln.tunable(64, 128, 256),
):  # fmt: skip
    """GROUPS is a power of two, at least as many as there are."""
    N = out.shape[1]
    i, j = kiln.grid(rows // BM + b.shape[0], kiln.cdiv(N, BN))
    group = kiln.arange(GROUPS)
    first = offsets.load((0,), (GROUPS,)).to(kiln.i32) // BM + group
    mine = (first <= i.to(kiln.i32)) & (group < b.shape[0].to(kiln.i32))
    e = kiln.sum(mine.to(kiln.i32)).to(kiln.index) - 1
    start, end = offsets[e].to(kiln.index), offsets[e + 1].to(kiln.index)
    row, column = start + (i - start // BM - e) * BM, j * BN
    if row < end:
        if gather is not None:
            at = gather[:end].load((row,), (BM,), pad=-1)
        acc = kiln.zeros((BM, BN), kiln.f32)
        for k in range(0, a.shape[1], BK):
            if gather is None:
                x = a.load((row, k), (BM, BK))
            else:
                x = a.gather((at[:, None], k + kiln.arange(BK)[None, :]))
            if TB:
                y = b[e].load((column, k), (BN, BK))
            else:
                y = b[e].load((k, column), (BK, BN))
            acc = kiln.dot(x, y, acc, transpose_b=TB, precision=PRECISION)
        place = Place(row, column, end, N, (e,))
        tile = applied(acc, place, EPILOGUE, operands).to(out.dtype)
        if scatter is None:
            out[:end].store((row, column), tile)
        else:
            to = scatter[:end].load((row,), (BM,), pad=-1)
            out.scatter((to[:, None], column + kiln.arange(BN)[None, :]), tile)


def grouped_matmul(
    a: Any,
    b: Any,
    offsets: Any,
    out: Any = None,
    *,
    transpose_b: bool = False,
    gather: Any = None,
    scatter: Any = None,
    epilogue: Any = None,
    out_dtype: kiln.DType | None = None,
    precision: str = "ieee",
    **launch: Any,
) -> Any:
    """The product of each group of rows of a with the group's own matrix.

    a            [rows, K] of f16, bf16 or f32
    b            [groups, K, N] of the same dtype
    offsets      i32 or i64 of [groups + 1]: group e has the rows from offsets[e] up to
                 offsets[e + 1], which may be none. Read on the device
    out          [rows, N]; without it memory of the inputs' framework. Rows of no group are not
                 written
    transpose_b  b is [groups, N, K]
    gather       i32 of [rows]: row r is row gather[r] of a, which has any number of rows then
    scatter      i32 of [rows]: row r of the result becomes row scatter[r] of `out`, which is given
                 then and has any number of rows; no two are the same
    epilogue     as `matmul` has it, of single rows and elements: rows count as the groups have
                 them, and the batch is that of the groups, so that `epilogues.bias` takes
                 [groups, N] and `epilogues.scaled(rows=...)` one number a row
    out_dtype    of memory for the result; that of a unless given
    precision    how f32 is read, as `matmul` has it
    launch       options of a launch, `_stream=...`, and tunables, `BM=128, BN=64, BK=64`, which the
                 model chooses otherwise

    Gives the result.

    Errors: other dtypes or shapes; no `out` beside inputs that are not NumPy's or PyTorch's.
    """
    dtype = arrays.check_dtype(OP, "a", a, DTYPES)
    shape_a, shape_b = arrays.shape_of(OP, "a", a), arrays.shape_of(OP, "b", b)
    arrays.check_dtype(OP, "b", b, (dtype,))
    if len(shape_a) != 2:
        arrays.refuse(OP, "a", f"expected [rows, K], got the shape {shape_a}")
    order = "[groups, N, K]" if transpose_b else "[groups, K, N]"
    if len(shape_b) != 3 or shape_b[2 if transpose_b else 1] != shape_a[1]:
        arrays.refuse(
            OP, "b", f"expected {order} with K = {shape_a[1]}, as a has, got the shape {shape_b}"
        )
    groups, n = shape_b[0], shape_b[1 if transpose_b else 2]
    arrays.check_dtype(OP, "offsets", offsets, (kiln.i32, kiln.i64))
    arrays.check_shape(OP, "offsets", offsets, (groups + 1,))
    rows = shape_a[0]
    for name, each in (("gather", gather), ("scatter", scatter)):
        if each is not None:
            arrays.check_dtype(OP, name, each, (kiln.i32, kiln.i64))
            if name == "gather":
                rows = (arrays.shape_of(OP, name, each) or (0,))[0]
            arrays.check_shape(OP, name, each, (rows,))
    arrays.check_precision(OP, precision)
    if scatter is not None:
        if out is None:
            arrays.refuse(OP, "out", "expected an array to scatter rows into, got none")
        extent = (arrays.shape_of(OP, "out", out) or (0,))[0]
        arrays.check_shape(OP, "out", out, (extent, n))
    elif out is None:
        out = arrays.empty(OP, a, (rows, n), out_dtype or dtype)
    else:
        arrays.check_shape(OP, "out", out, (rows, n))
    if out_dtype is not None:
        arrays.check_dtype(OP, "out", out, (out_dtype,))
    steps = Steps(OP, epilogue, (groups, rows, n), a, whole=False)
    constants = {
        "EPILOGUE": steps.functions, "TB": bool(transpose_b), "PRECISION": precision,
        "GROUPS": kiln.next_power_of_2(groups), "BK": 1024 // dtype.bits, **launch,
    }  # fmt: skip
    grouped_product(a, b, offsets, out, gather, scatter, steps.operands, rows, **constants)
    return out
