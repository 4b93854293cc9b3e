"""Products of every type on emulated chips, by matrix instructions or without, against float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from product_kernels import SINGLE_TOLERANCE as TOLERANCE
from product_kernels import assert_sums, batched, product, scaled, tolerance_of

import kiln

CHIPS = ["sm_80", "sm_89", "sm_90a", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"]
FEW = ["sm_90a", "gfx942"]
# Some of several fragments, padded along k; some that no fragment fits.
LARGE, SMALL = (16, 32, 96), (4, 8, 8)
E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
MX = [E4M3, E5M2, ml_dtypes.float6_e2m3fn, ml_dtypes.float6_e3m2fn, ml_dtypes.float4_e2m1fn]


def given(array: np.ndarray):
    """The array, packed if its elements share bytes."""
    packed = array.dtype.name.startswith(("int4", "uint4", "float4", "float6"))
    return kiln.PackedArray.from_numpy(array) if packed else array


def multiply(chip, a, b, c, transposed=(False, True), precision="ieee"):
    m, n = c.shape
    k = a.shape[0] if transposed[0] else a.shape[1]
    got = c.copy()
    product(given(a), given(b), got, M=m, N=n, K=k, TA=transposed[0], TB=transposed[1],
            P=precision, _device=f"emu:{chip}")  # fmt: skip
    x, y = a.astype(np.float64), b.astype(np.float64)
    x, y = x.T if transposed[0] else x, y.T if transposed[1] else y
    return got, x @ y + c, np.abs(x) @ np.abs(y) + np.abs(c)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize(
    "shape, types",
    [(LARGE, types) for types in [(E4M3, E4M3), (E5M2, E5M2), (E4M3, E5M2), (E5M2, E4M3)]]
    + [(SMALL, (E4M3, E5M2))],
)
def test_f8(chip, shape, types, rng):
    m, n, k = shape
    a, b = (rng.standard_normal((rows, k)).astype(t) for rows, t in zip((m, n), types, strict=True))
    c = rng.standard_normal((m, n)).astype(np.float32)
    assert_sums(*multiply(chip, a, b, c), tolerance_of(chip, types[0]))


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("narrow", [E4M3, E5M2])
def test_every_f8_counts(chip, narrow):
    """Each number, the least included, times one; what is not a number stays so."""
    a = np.zeros((256, 32), np.uint8)
    a[:, 3] = np.arange(256)
    a = a.view(narrow)
    b = np.zeros((16, 32), np.float32)
    b[:, 3] = 1
    c = np.zeros((256, 16), np.float32)
    got, want, _ = multiply(chip, a, b.astype(narrow), c)
    assert np.array_equal(got, want, equal_nan=True)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize(
    "shape, signs", [(LARGE, "ss"), (LARGE, "su"), (LARGE, "us"), (LARGE, "uu"), (SMALL, "su")]
)
def test_integers(chip, shape, bits, signs, rng):
    m, n, k = shape
    operands = []
    for rows, sign in zip((m, n), signs, strict=True):
        low = -(1 << (bits - 1)) if sign == "s" else 0
        kind = {"s4": ml_dtypes.int4, "u4": ml_dtypes.uint4, "s8": np.int8, "u8": np.uint8}
        operands.append(
            rng.integers(low, low + (1 << bits), (rows, k)).astype(kind[f"{sign}{bits}"])
        )
    c = rng.integers(-(1 << 31), 1 << 31, (m, n)).astype(np.int32)
    got, want, _ = multiply(chip, *operands, c)
    assert np.array_equal(got, want.astype(np.int64).astype(np.int32))


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("shape", [LARGE, SMALL])
def test_tf32x3_is_near_f32(chip, shape, rng):
    m, n, k = shape
    a, b, c = (
        (rng.standard_normal(s) * 10.0 ** rng.integers(-3, 4, s)).astype(np.float32)
        for s in ((m, k), (n, k), (m, n))
    )
    # Units below sm_90 cut a sum to 24 bits every four terms: measured 1.3 times TOLERANCE.
    assert_sums(*multiply(chip, a, b, c, precision="tf32x3"), 2 * TOLERANCE)
    got, want, terms = multiply(chip, a, b, c, precision="tf32")
    assert_sums(got, want, terms, 2.0**-9)


@pytest.mark.parametrize("chip", ["sm_90a", "gfx942"])
def test_tf32x3_keeps_what_is_not_finite(chip):
    values = np.float32([np.inf, -np.inf, np.nan, 3.4e38, 1e-30, 1.0000001, 0, -2])
    a = np.zeros((16, 16), np.float32)
    a[:8, 5] = values
    b = np.zeros((16, 16), np.float32)
    b[:, 5] = 1
    got, want, _ = multiply(chip, a, b, np.zeros((16, 16), np.float32), precision="tf32x3")
    # Zeros times infinity stand nowhere but in a's own column.
    assert np.allclose(got[:8], want[:8], rtol=2.0**-21, atol=0, equal_nan=True)


@pytest.mark.parametrize(
    "chip, kind, shape, transposed",
    [
        (chip, kind, (3, 16, 32, 32), chip in FEW)
        for chip in CHIPS
        for kind in (np.float32, np.float16, E4M3, np.int8)
    ]
    + [
        (chip, ml_dtypes.bfloat16, shape, transposed)
        for chip in FEW
        for transposed in (False, True)
        for shape in ((2, 32, 32, 32), (8, 32, 16, 16), (2, 4, 4, 4))
    ],
)
def test_batches(chip, kind, shape, transposed, rng):
    g, m, n, k = shape
    isint = kind is np.int8
    make = (lambda s: rng.integers(-99, 99, s)) if isint else rng.standard_normal
    a, b = (make(s).astype(kind) for s in ((g, m, k), (g, n, k) if transposed else (g, k, n)))
    c = np.zeros((g, m, n), np.int32 if isint else np.float32)
    batched(a, b, c, G=g, M=m, N=n, K=k, TB=transposed, _device=f"emu:{chip}")
    x, y = a.astype(np.float64), b.astype(np.float64)
    y = y.swapaxes(1, 2) if transposed else y
    assert_sums(c, x @ y, np.abs(x) @ np.abs(y) + (1 if isint else 0), tolerance_of(chip, kind))


def scaled_operands(kind, rows, k, rng):
    """Elements and scales of each block, and what they stand for."""
    values = rng.standard_normal((rows, k))
    if kind == "nv":
        elements = values.astype(ml_dtypes.float4_e2m1fn)
        scales = rng.uniform(0.01, 400, (rows, k // 16)).astype(E4M3)
        block = 16
    else:
        elements, block = values.astype(kind), 32
        scales = (2.0 ** rng.integers(-9, 10, (rows, k // 32))).astype(ml_dtypes.float8_e8m0fnu)
    wide = scales.astype(np.float64)
    return elements, scales, elements.astype(np.float64) * np.repeat(wide, block, 1)


@pytest.mark.parametrize(
    "chip, kind, shape, transposed",
    [(chip, kind, LARGE, chip in FEW) for chip in CHIPS for kind in (*MX, "nv")]
    + [
        (chip, kind, shape, True)
        for chip in FEW
        for kind in (MX[-1], "nv")
        for shape in ((32, 32, 128), (4, 8, 32))
    ],
)
def test_scaled(chip, kind, shape, transposed, rng):
    m, n, k = shape
    a, sa, x = scaled_operands(kind, m, k, rng)
    b, sb, y = scaled_operands(kind, n, k, rng)
    if kind != "nv":
        sa[1, 0] = np.nan
    b = b if transposed else np.ascontiguousarray(b.T)
    c = np.zeros((m, n), np.float32)
    scaled(given(a), sa, given(b), sb, c, M=m, N=n, K=k, S=16 if kind == "nv" else 32,
           TB=transposed, _device=f"emu:{chip}")  # fmt: skip
    if kind != "nv":
        assert np.isnan(c[1]).all()
        c, x = np.delete(c, 1, 0), np.delete(x, 1, 0)
    assert_sums(c, x @ y.T, np.abs(x) @ np.abs(y).T, TOLERANCE)


@kiln.kernel
def counted(out: kiln.View, more: kiln.View):
    kiln.grid(1)
    a = kiln.broadcast_to(kiln.arange(4, dtype=kiln.f32)[:, None], (4, 4))
    out.store((0, 0), kiln.dot(a, a.T + 1))
    more.store(0, kiln.arange(5, dtype=kiln.f32))


@pytest.mark.parametrize("chip", CHIPS)
def test_operands_that_only_the_thread_s_place_makes(chip):
    """The first use of a lane's number may be a product: it stays where others find it."""
    out, more = np.zeros((4, 4), np.float32), np.zeros(6, np.float32)
    counted(out, more, _device=f"emu:{chip}")
    a = np.broadcast_to(np.arange(4)[:, None], (4, 4))
    assert np.array_equal(out, a @ (a.T + 1)) and more.tolist() == [0, 1, 2, 3, 4, 0]
