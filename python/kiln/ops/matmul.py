"""Products of matrices and batches of matrices."""

from __future__ import annotations

from typing import Any

import kiln
from kiln.ops import arrays, microscaling
from kiln.ops.scales import Scale, block_scaled
from kiln.ops.steps import Steps
from kiln.ops.tiles import Place, applied, batch_of, count_of, matrix_of, operands_of

OP = "matmul"
FLOATS = (kiln.bf16, kiln.f16, kiln.f32, kiln.f64)
BYTE_FLOATS = (kiln.f8e4m3fn, kiln.f8e5m2)
INTS = (kiln.i8, kiln.u8)


@kiln.function
def product_of(
    a, b, place, TA: kiln.constexpr, TB: kiln.constexpr, PRECISION: kiln.constexpr,
    MOST: kiln.constexpr, BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr,
):  # fmt: skip
    """The tile of sums at a place. The model considers no tiles of more than MOST."""
    kiln.static_assert(BM * BN <= MOST, "registers have room for a smaller tile of sums")
    a, b = matrix_of(a, place.batch), matrix_of(b, place.batch)
    acc = kiln.zeros((BM, BN), sums_of(a))
    for k in range(0, a.shape[0 if TA else 1], BK):
        x, y = operands_of(a, b, place, k, TA, TB, BM, BN, BK)
        acc = kiln.dot(x, y, acc, transpose_a=TA, transpose_b=TB, precision=PRECISION)
    return acc


@kiln.function
def sums_of(a):
    """The dtype that products of elements are summed in."""
    if a.dtype == kiln.f64:
        return kiln.f64
    return kiln.f32 if a.dtype.is_float else kiln.i32


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, out: kiln.View,
    TA: kiln.constexpr, TB: kiln.constexpr, PRECISION: kiln.constexpr, MOST: kiln.constexpr,
    BK: kiln.constexpr,
    BM: kiln.tunable = kiln.tunable(64, 16, 128, 192, 256),
    BN: kiln.tunable = kiln.tunable(64, 32, 128, 160, 192, 224, 256),
):  # fmt: skip
    M, N = out.shape[out.rank - 2], out.shape[out.rank - 1]
    i, j, z = kiln.grid(kiln.cdiv(M, BM), kiln.cdiv(N, BN), count_of(out))
    place = Place(i * BM, j * BN, M, N, batch_of(z, out))
    acc = product_of(a, b, place, TA, TB, PRECISION, MOST, BM, BN, BK)
    matrix_of(out, place.batch).store((place.row, place.column), acc.to(out.dtype))


@kiln.kernel
def product_with_epilogue(
    a: kiln.View, b: kiln.View, out: kiln.View, operands: tuple,
    EPILOGUE: kiln.constexpr, TA: kiln.constexpr, TB: kiln.constexpr, PRECISION: kiln.constexpr,
    MOST: kiln.constexpr, BK: kiln.constexpr,
    BM: kiln.tunable = kiln.tunable(64, 16, 128, 192, 256),
    BN: kiln.tunable = kiln.tunable(64, 32, 128, 160, 192, 224, 256),
):  # fmt: skip
    M, N = out.shape[out.rank - 2], out.shape[out.rank - 1]
    i, j, z = kiln.grid(kiln.cdiv(M, BM), kiln.cdiv(N, BN), count_of(out))
    place = Place(i * BM, j * BN, M, N, batch_of(z, out))
    acc = product_of(a, b, place, TA, TB, PRECISION, MOST, BM, BN, BK)
    tile = applied(acc, place, EPILOGUE, operands)
    matrix_of(out, place.batch).store((place.row, place.column), tile.to(out.dtype))


def matmul(
    a: Any,
    b: Any,
    out: Any = None,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    epilogue: Any = None,
    scale_a: Any = None,
    scale_b: Any = None,
    out_dtype: kiln.DType | None = None,
    precision: str = "ieee",
    **launch: Any,
) -> Any:
    """The product of a [..., M, K] and b [..., K, N], summed in f32.

    a, b         of one dtype: f16, bf16, f32, f64 (summed in f64), i8 or u8 (summed in i32); or of
                 f8e4m3fn and f8e5m2 in any combination. Any strides; leading dimensions broadcast
    out          [..., M, N] of any dtype that a number is converted to, in memory that neither a
                 nor b has. Without it new memory of the inputs' framework, of `out_dtype` or else
                 of the inputs' dtype, of f8 bf16, of integers i32
    transpose_a, transpose_b
                 a is [..., K, M], b is [..., N, K]
    epilogue     what is done with each tile before it is stored (see `kiln.ops.epilogues`)
    scale_a, scale_b
                 by what elements of f8 are multiplied: a number, or an array of f32 with as many
                 dimensions as matrices have, each of extent 1, of the array's own, or of a block of
                 128 each, ceil(extent / 128), in the order of the array as it is given; along K 1
                 or blocks. A vector has one number for each row of a, or column of b. Or f8e8m0fnu,
                 one for each 32 elements along K, of elements of f8, f6 or f4 (Microscaling): then
                 the other operand may have None, and elements of bf16, f16 or f32, too
    precision    how f32 is read: "ieee" exactly, "tf32" rounded to that, "tf32x3"
    launch       options of a launch, `_stream=...`, and tunables, `BM=128, BN=128, BK=64`, which
                 the model chooses otherwise

    Gives the result. Of K = 0 it is zeros, to which the epilogue is applied.

    Errors: other dtypes or shapes; no `out` beside inputs that are not NumPy's or PyTorch's.
    """
    shape_a, shape_b = arrays.shape_of(OP, "a", a), arrays.shape_of(OP, "b", b)
    for name, shape in (("a", shape_a), ("b", shape_b)):
        if len(shape) < 2:
            arrays.refuse(OP, name, f"expected at least two dimensions, got the shape {shape}")
    m, k = shape_a[-2:][::-1] if transpose_a else shape_a[-2:]
    inner, n = shape_b[-2:][::-1] if transpose_b else shape_b[-2:]
    if inner != k:
        arrays.refuse(
            OP, "b",
            f"expected an inner extent of {k}, as a has, got {inner}: a is "
            f"[..., {'K, M' if transpose_a else 'M, K'}] of shape {shape_a} and b "
            f"[..., {'N, K' if transpose_b else 'K, N'}] of shape {shape_b}",
        )  # fmt: skip
    arrays.check_precision(OP, precision)
    in_blocks = microscaling.has_blocks(scale_a, scale_b)
    if in_blocks:
        microscaling.check_operand(OP, "a", a, scale_a, shape_a, 0 if transpose_a else 1)
        microscaling.check_operand(OP, "b", b, scale_b, shape_b, 1 if transpose_b else 0)
        dtype = kiln.f8e4m3fn
    else:
        dtype = arrays.check_dtype(OP, "a", a, (*FLOATS, *BYTE_FLOATS, *INTS))
        arrays.check_dtype(OP, "b", b, BYTE_FLOATS if dtype in BYTE_FLOATS else (dtype,))
    shape = (*arrays.broadcast(OP, "b", shape_a[:-2], shape_b[:-2]), m, n)
    if out is None:
        natural = kiln.bf16 if dtype in BYTE_FLOATS else kiln.i32 if dtype in INTS else dtype
        out = arrays.empty(OP, a, shape, out_dtype or natural)
    else:
        arrays.check_shape(OP, "out", out, shape)
        if out_dtype is not None:
            arrays.check_dtype(OP, "out", out, (out_dtype,))

    scales = []
    if not in_blocks and (scale_a is not None or scale_b is not None):
        if dtype not in BYTE_FLOATS:
            arrays.refuse(
                OP, "scale_a" if scale_b is None else "scale_b",
                f"expected None beside elements of {dtype}, since scales are those of f8, got one; "
                f"ops.epilogues.scaled multiplies other results",
            )  # fmt: skip
        scales = [
            Scale(OP, "scale_a", scale_a, shape_a[-2:], 0 if transpose_a else 1),
            Scale(OP, "scale_b", scale_b, shape_b[-2:], 1 if transpose_b else 0),
        ]
        steps = [step for one, kept in zip(scales, ("rows", "columns")) for step in one.step(kept)]
        epilogue = [steps, epilogue]
    steps = Steps(OP, epilogue, shape, a)
    constants = {"TA": bool(transpose_a), "TB": bool(transpose_b), **launch}
    if in_blocks:
        microscaling.microscaled(
            a, b, out, scale_a, scale_b, steps.operands, EPILOGUE=steps.functions, **constants
        )  # fmt: skip
    elif any(scale.array is not None for scale in scales):
        block_scaled(
            a, b, out, *(scale.array for scale in scales), steps.operands,
            BLOCKS=tuple(scale.blocks for scale in scales), EPILOGUE=steps.functions, **constants,
        )  # fmt: skip
    else:
        most = _most_sums(dtype, precision, steps.whole)
        step = max(1024 // dtype.bits, 16)
        constants = {"PRECISION": precision, "MOST": most, "BK": step, **constants}
        if steps.functions:
            product_with_epilogue(
                a, b, out, steps.operands, EPILOGUE=steps.functions, **constants
            )  # fmt: skip
        else:
            product(a, b, out, **constants)
    options = {name: value for name, value in launch.items() if name.startswith("_")}
    for finish in steps.finish:
        finish(options)
    return out


def _most_sums(dtype: kiln.DType, precision: str, whole: bool) -> int:
    """How many sums of a tile leave a thread registers for operands, where no matrix unit reads
    them elsewhere, and for what an epilogue makes of whole tiles."""
    if dtype is kiln.f64:
        return 64 * 64
    return 128 * 128 if whole or (dtype is kiln.f32 and precision == "ieee") else 256 * 256
