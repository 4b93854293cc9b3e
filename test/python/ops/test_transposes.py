"""Tiles that memory holds the other way round: the same numbers, and no element fetched alone."""

import itertools

import ml_dtypes
import numpy as np
import pytest

import kiln

FLOATS = {
    "f64": (np.float64, 1e-14), "f32": (np.float32, 2e-6), "f16": (np.float16, 2e-6),
    "bf16": (ml_dtypes.bfloat16, 2e-6), "f8e4m3fn": (ml_dtypes.float8_e4m3fn, 2e-6),
}  # fmt: skip


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View, TA: kiln.constexpr, TB: kiln.constexpr,
    BM: kiln.constexpr = 32, BN: kiln.constexpr = 48, BK: kiln.constexpr = 40,
):  # fmt: skip
    """Operands as their views have them, or transposed after their load."""
    M = a.shape[1] if TA else a.shape[0]
    K = a.shape[0] if TA else a.shape[1]
    N = b.shape[0] if TB else b.shape[1]
    i, j = kiln.grid(kiln.cdiv(M, BM), kiln.cdiv(N, BN))
    acc = kiln.zeros((BM, BN), c.dtype)
    for k in range(0, K, BK):
        if TA:
            x = a.load((k, i * BM), (BK, BM)).T
        else:
            x = a.load((i * BM, k), (BM, BK))
        if TB:
            y = b.load((j * BN, k), (BN, BK)).T
        else:
            y = b.load((k, j * BN), (BK, BN))
        acc = kiln.dot(x, y, acc)
    c.store((i * BM, j * BN), acc)


@pytest.mark.drawn(0.25)
@pytest.mark.parametrize("form", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize("kind", ["view", "tile"])
@pytest.mark.parametrize("name", [*FLOATS, "i8"])
def test_product(rng, name, kind, form):
    for m, n, k in ((64, 96, 80), (33, 57, 41)):
        if name == "i8":
            a, b = (rng.integers(-128, 128, s).astype(np.int8) for s in ((m, k), (k, n)))
        else:
            dtype, tolerance = FLOATS[name]
            a, b = (rng.standard_normal(s).astype(dtype) for s in ((m, k), (k, n)))
        ta, tb = form[0] == "T", form[1] == "T"
        x = np.ascontiguousarray(a.T) if ta else a
        y = np.ascontiguousarray(b.T) if tb else b
        wide = np.int32 if name == "i8" else np.float64 if name == "f64" else np.float32
        c = np.zeros((m, n), wide)
        if kind == "view":
            product(x.T if ta else x, y.T if tb else y, c, TA=False, TB=False)
        else:
            product(x, y, c, TA=ta, TB=tb)
        if name == "i8":
            assert np.array_equal(c, a.astype(np.int32) @ b.astype(np.int32))
            continue
        a, b = a.astype(np.float64), b.astype(np.float64)
        assert np.all(np.abs(c - a @ b) <= tolerance * (np.abs(a) @ np.abs(b)))


@kiln.kernel
def turn(
    x: kiln.View, y: kiln.View, A: kiln.constexpr, B: kiln.constexpr, C: kiln.constexpr,
    ORDER: kiln.constexpr,
):  # fmt: skip
    i = kiln.grid(kiln.cdiv(x.shape[0], A))
    tile = kiln.transpose(x.load((i * A, 0, 0), (A, B, C)), ORDER)
    if ORDER[0] == 0:
        y.store((i * A, 0, 0), tile)
    elif ORDER[1] == 0:
        y.store((0, i * A, 0), tile)
    else:
        y.store((0, 0, i * A), tile)


@pytest.mark.crossed(1)
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize(
    "dtype", [np.float64, np.float32, np.int16, np.int8, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2]
)
def test_order_of_dimensions(rng, order, dtype):
    for shape, tile in (((4, 16, 32), (2, 16, 32)), ((5, 19, 37), (3, 20, 40)), ((9, 3, 1), (4, 3, 1))):  # fmt: skip
        x = rng.integers(-50, 50, shape).astype(dtype)
        y = np.zeros([shape[d] for d in order], dtype)
        turn(x, y, A=tile[0], B=tile[1], C=tile[2], ORDER=order)
        assert np.array_equal(y, x.transpose(order))


@kiln.kernel
def turn_packed(x: kiln.View, y: kiln.View):
    y.store((0, 0), x.load((0, 0), (40, 48)).T)


@pytest.mark.parametrize("name", ["i4", "u2", "f4e2m1fn", "f6e3m2fn"])
def test_packed_elements(rng, name):
    """Elements below a byte, whose bits do not change."""
    bits = kiln.PackedArray.empty((1,), name).dtype.bits
    raw = rng.integers(0, 2**bits, (37, 44)).astype(np.uint8)
    if name == "i4":
        raw = raw.astype(np.int8) - 8
    x = kiln.PackedArray.from_numpy(raw, name)
    y = kiln.PackedArray.empty((44, 37), name)
    turn_packed[1](x, y)
    assert np.array_equal(y.to_numpy().view(np.uint8), x.to_numpy().view(np.uint8).T)


@kiln.kernel
def row_sums(x: kiln.View, y: kiln.View):
    i = kiln.grid(kiln.cdiv(x.shape[0], 32)) * 32
    y.store((i,), kiln.sum(x.load((i, 0), (32, 64)), axis=1))


def test_nothing_is_fetched_element_by_element(rng):
    """Where one of two dimensions is contiguous, vectors run along it."""
    x = rng.standard_normal((64, 64), dtype=np.float32)
    for a, b in ((x, x.T), (x.T, x), (x.T, x.T)):
        text = product.compile(a, b, x, TA=False, TB=False, BN=32, BK=32, target="cpu").ir("target")
        assert "masked.gather" not in text, text
    text = turn.compile(
        x.reshape(1, 64, 64), x.reshape(1, 64, 64), A=1, B=64, C=64, ORDER=(0, 2, 1), target="cpu"
    ).ir("target")
    assert "vector.shuffle" in text
    assert "masked.gather" not in text and "masked.scatter" not in text
