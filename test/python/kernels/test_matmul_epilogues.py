"""Epilogues of kiln.ops.matmul against float64: ready-made ones, users' own, reductions, MX formats."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from closeness import BF16, CHIPS, check, wide

import kiln
from kiln import ops
from kiln.ops import epilogues
from kiln.ops.epilogues import Epilogue, matrix_of

M, N, K = 33, 70, 41
REDUCED = {
    "sum": lambda x, axis: x.sum(axis), "sum_squares": lambda x, axis: (x * x).sum(axis),
    "max": lambda x, axis: x.max(axis), "min": lambda x, axis: x.min(axis),
}  # fmt: skip


@pytest.fixture
def pair(rng):
    a, b = rng.standard_normal((M, K)).astype(BF16), rng.standard_normal((K, N)).astype(BF16)
    return a, b, wide(a) @ wide(b)


def gelu(x):
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


@kiln.function
def squared(tile):
    return tile * tile


@kiln.function
def gated(tile, place, gate, limit):
    at = (place.row, place.column)
    return kiln.minimum(
        tile * matrix_of(gate, place.batch).load(at, tile.shape).to(tile.dtype), limit
    )


def test_ready_made_ones_in_order(pair, rng):
    a, b, product = pair
    rows, columns = (rng.standard_normal(n).astype(np.float32) for n in (M, N))
    matrix = rng.standard_normal((M, N)).astype(BF16)
    got = ops.matmul(
        a, b, out_dtype=kiln.f32,
        epilogue=[
            epilogues.scaled(0.5, rows=rows, columns=columns), epilogues.bias(columns),
            epilogues.row_bias(rows), kiln.gelu, epilogues.multiplied(matrix), squared,
            epilogues.residual(matrix),
        ],
    )  # fmt: skip
    want = product * 0.5 * rows[:, None] * columns + columns + rows[:, None]
    check(got, (gelu(want) * wide(matrix)) ** 2 + wide(matrix), 1e-5)


def test_one_number_of_an_array(pair):
    a, b, product = pair
    factor = np.full((), 0.25, np.float32)
    got = ops.matmul(a, b, epilogue=epilogues.scaled(factor), out_dtype=kiln.f32)
    check(got, product * 0.25)


@pytest.mark.parametrize("batch", [(), (2, 3)])
def test_a_function_with_operands(batch, rng):
    a, b = (
        rng.standard_normal((*batch, M, K)).astype(BF16),
        rng.standard_normal((K, N)).astype(BF16),
    )
    gate = rng.standard_normal((*batch[1:], M, N)).astype(np.float32)
    got = ops.matmul(a, b, epilogue=Epilogue(gated, gate, 1.5), out_dtype=kiln.f32)
    check(got, np.minimum(wide(a) @ wide(b) * gate, 1.5))


def test_sums_of_integers(rng):
    a, b = (rng.integers(-9, 9, s).astype(np.int8) for s in ((M, K), (K, N)))
    got = ops.matmul(a, b, epilogue=squared)
    check(got, (a.astype(np.int32) @ b.astype(np.int32)) ** 2)


@pytest.mark.parametrize("kind", REDUCED)
@pytest.mark.parametrize("tiles", [{}, {"BM": 16, "BN": 32}])
def test_reductions_of_rows_and_columns(kind, tiles, pair):
    a, b, product = pair
    rows, columns = np.empty(M, np.float32), np.empty(N, np.float32)
    got = ops.matmul(
        a, b, epilogue=[epilogues.row_reduction(rows, kind), epilogues.column_reduction(columns, kind)],
        out_dtype=kiln.f32, **tiles,
    )  # fmt: skip
    check(got, product)
    check(rows, REDUCED[kind](product, 1), 1e-5)
    check(columns, REDUCED[kind](product, 0), 1e-5)


def test_reductions_of_a_batch_have_the_same_bits_each_time(rng):
    a, b = (rng.standard_normal(s).astype(np.float32) for s in ((2, 3, 150, 20), (20, 90)))
    found = []
    for _ in range(2):
        rows, columns = np.empty((2, 3, 150), np.float32), np.empty((2, 3, 90), np.float32)
        ops.matmul(
            a, b, epilogue=[epilogues.row_reduction(rows), epilogues.column_reduction(columns)]
        )
        found.append((rows, columns))
    check(found[0][0], (wide(a) @ wide(b)).sum(-1), 1e-5)
    check(found[0][1], (wide(a) @ wide(b)).sum(-2), 1e-5)
    assert all(np.array_equal(x, y) for x, y in zip(*found))


FORMATS = {
    "f8e4m3fn": (ml_dtypes.float8_e4m3fn, 8, 448), "f8e5m2": (ml_dtypes.float8_e5m2, 15, 57344),
    "f4e2m1fn": (ml_dtypes.float4_e2m1fn, 2, 6),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_microscaling_formats(name, pair):
    """Scale by scale and element by element, by the specification."""
    a, b, _ = pair
    dtype, largest_exponent, largest = FORMATS[name]
    a[5] = 0
    product = ops.matmul(a, b, out_dtype=kiln.f32)
    scales = np.empty((M, 3), ml_dtypes.float8_e8m0fnu)
    packed = name.startswith("f4")
    out = kiln.PackedArray.empty((M, N), name) if packed else np.empty((M, N), dtype)
    ops.matmul(a, b, out, epilogue=epilogues.mx(scales, getattr(kiln, name)))
    blocks = np.zeros((M, 96), np.float32)
    blocks[:, :N] = product
    blocks = blocks.reshape(M, 3, 32)
    most = np.abs(blocks).max(axis=2)
    exponents = np.where(most > 0, np.frexp(most)[1] - 1, -127) - largest_exponent
    exponents = np.maximum(exponents, -127)
    assert np.array_equal(wide(scales), np.exp2(exponents.astype(np.float64)))
    want = np.clip(blocks / np.exp2(exponents.astype(np.float64))[..., None], -largest, largest)
    want = want.astype(np.float32).astype(dtype).reshape(M, 96)[:, :N]
    assert np.array_equal(wide(out.to_numpy() if packed else out), wide(want))


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("sizes, tiles", [((M, N, K), (16, 32)), ((70, 64, 72), (64, 64))])
def test_emulated_chips(chip, sizes, tiles, rng):
    """Rows at odd addresses, and such as copy engines load."""
    m, n, k = sizes
    a, b = rng.standard_normal((m, k)).astype(BF16), rng.standard_normal((k, n)).astype(BF16)
    product = wide(a) @ wide(b)
    rows, columns = np.empty(m, np.float32), np.empty(n, np.float32)
    v, r = rng.standard_normal(n).astype(np.float32), rng.standard_normal((m, n)).astype(BF16)
    reductions = [epilogues.row_reduction(rows, "max"), epilogues.column_reduction(columns)]
    got = ops.matmul(
        a, b, epilogue=[epilogues.bias(v), epilogues.residual(r), kiln.silu, *reductions],
        BM=tiles[0], BN=tiles[1], out_dtype=kiln.f32, _device=f"emu:{chip}",
    )  # fmt: skip
    want = product + v + wide(r)
    want = want / (1 + np.exp(-want))
    check(got, want, 1e-5)
    check(rows, want.max(axis=1), 1e-5)
    check(columns, want.sum(axis=0), 1e-5)


@kiln.function
def three(tile, place, x):
    return tile


A, B, SCALES = (
    np.zeros((3, 4), np.float32),
    np.zeros((4, 5), np.float32),
    np.zeros((3, 2), np.uint8),
)
BAD = {
    "no kiln function": (lambda x: x, "expected kiln functions.*@kiln.function above"),
    "parameters": (three, "expected a function of a tile, got `three` of 3 parameters"),
    "operands": (lambda: Epilogue(three), "expected a function of a tile"),
    "more operands": (lambda: Epilogue(three, A, B), "its place and 2 operands, got `three` of 3"),
    "bias": (lambda: epilogues.bias(np.zeros(3)), r"\(5,\), one number for each of the columns.*got \(3,\)"),
    "row bias": (lambda: epilogues.row_bias(np.zeros(5)), r"\(3,\), one number for each of the rows.*got \(5,\)"),
    "residual": (lambda: epilogues.residual(np.zeros((5, 3))), r"\(3, 5\), one number for each of the elements.*got \(5, 3\)"),
    "residual of more": (lambda: epilogues.residual(np.zeros((2, 3, 5))), r"leading dimensions.*got \(2, 3, 5\)"),
    "reduction": (lambda: epilogues.row_reduction(np.zeros(5, np.float32)), r"`out`.*shape \(3,\)"),
    "reduction's dtype": (lambda: epilogues.row_reduction(np.zeros(3)), "`out`.*f32, got f64"),
    "kind": (lambda: epilogues.column_reduction(np.zeros(5, np.float32), "mean"), "`kind`: expected one of sum"),
    "scales": (lambda: epilogues.mx(SCALES), "`scales`: expected elements of f8e8m0fnu, got u8"),
    "scales' shape": (lambda: epilogues.mx(SCALES.view(ml_dtypes.float8_e8m0fnu)), r"`scales`.*\(3, 1\)"),
    "format": (lambda: epilogues.mx(SCALES, kiln.bf16), "`dtype`: expected one of f8e4m3fn"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_epilogues_are_told(case):
    made, message = BAD[case]
    with pytest.raises(kiln.LaunchError, match=message):
        given = made if case in ("no kiln function", "parameters") else made()
        ops.matmul(A, B, epilogue=given)
