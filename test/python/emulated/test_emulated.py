"""Kernels on emulated chips, against float64: what runs on a GPU, tested where there is none."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from chip_kernels import add, softmax

import kiln

CHIPS = ["sm_90a", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"]
TOLERANCE = {np.float32: 1e-6, ml_dtypes.bfloat16: 6e-3, np.float16: 8e-4}
DTYPES = list(TOLERANCE)


@kiln.kernel
def matmul(
    a: kiln.View, b: kiln.View, c: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr,
):  # fmt: skip
    M, K = a.shape
    N = b.shape[1]
    i, j = kiln.grid(kiln.cdiv(M, BM), kiln.cdiv(N, BN))
    acc = kiln.zeros((BM, BN), c.dtype)
    for k in range(0, K, BK):
        acc = kiln.dot(a.load((i * BM, k), (BM, BK)), b.load((k, j * BN), (BK, BN)), acc)
    c.store((i * BM, j * BN), acc)


def check(got: np.ndarray, want: np.ndarray, tolerance: float) -> None:
    norm = np.linalg.norm(want.ravel())
    difference = np.abs(got.astype(np.float64) - want)
    assert np.linalg.norm(difference.ravel()) <= tolerance * norm
    assert difference.max() <= 32 * tolerance * norm / np.sqrt(want.size)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shift", [0, 1])
def test_vector_add(chip: str, dtype: type, shift: int, rng) -> None:
    x, y = (rng.standard_normal(1000 + shift).astype(dtype) for _ in range(2))
    z = np.full(1000 + shift, np.nan, dtype)
    add(x[shift:], y[shift:], z[shift:], B=256, _device=f"emu:{chip}")
    want = x.astype(np.float64) + y.astype(np.float64)
    check(z[shift:], want[shift:], TOLERANCE[dtype])
    assert np.isnan(z[:shift].astype(np.float64)).all()


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (5, 781)])
def test_softmax(chip: str, dtype: type, shape: tuple[int, int], rng) -> None:
    x = rng.standard_normal(shape).astype(dtype)
    y = np.full(shape, np.nan, dtype)
    softmax(x, y, N=1 << (shape[1] - 1).bit_length(), _device=f"emu:{chip}")
    x = x.astype(np.float64)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    check(y, e / e.sum(axis=1, keepdims=True), TOLERANCE[dtype])


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("dtype", [*DTYPES, np.float64, np.int8])
@pytest.mark.parametrize("layout", ["NN", "NT", "TN"])
def test_matmul(chip: str, dtype: type, layout: str, rng) -> None:
    M, N, K = 65, 70, 96
    if dtype is np.int8:
        a, b = (rng.integers(-128, 128, shape, np.int8) for shape in [(M, K), (K, N)])
        c = np.zeros((M, N), np.int32)
    else:
        a, b = (rng.standard_normal(shape).astype(dtype) for shape in [(M, K), (K, N)])
        c = np.full((M, N), np.nan, np.float64 if dtype is np.float64 else np.float32)
    a = np.asfortranarray(a) if layout[0] == "T" else a
    b = np.asfortranarray(b) if layout[1] == "T" else b
    matmul(a, b, c, BM=64, BN=32, BK=32, _device=f"emu:{chip}")
    want = a.astype(np.float64) @ b.astype(np.float64)
    if dtype is np.int8:
        assert np.array_equal(c, want)
    else:
        check(c, want, 1e-14 if dtype is np.float64 else 1e-6)


def test_an_unknown_chip_is_an_error_that_names_those_there_are(rng) -> None:
    x = rng.standard_normal(8).astype(np.float32)
    with pytest.raises(kiln.DeviceError, match="expected a chip of target 'emu'.*sm_90a"):
        add(x, x, x, B=8, _device="emu:sm_1")


@kiln.kernel
def odd_rows(x: kiln.View, y: kiln.View, flat: kiln.View, R: kiln.constexpr, C: kiln.constexpr):
    kiln.grid(1)
    t = x.load((0, 0), (R, C)).to(kiln.f32)
    y.store((0,), kiln.sum(t, axis=1) * kiln.max(t, axis=1))
    flat.store((0,), t.reshape((R * C,)))


@kiln.kernel
def transposed(x: kiln.View, y: kiln.View, R: kiln.constexpr, C: kiln.constexpr):
    i, j = kiln.grid(kiln.cdiv(x.shape[0], R), kiln.cdiv(x.shape[1], C))
    y.store((j * C, i * R), x.load((i * R, j * C), (R, C)).T)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("shape", [(3, 7), (5, 1), (6, 10), (2, 96)])
def test_extents_that_are_no_powers_of_two(chip: str, shape: tuple[int, int], rng) -> None:
    rows, columns = shape
    # What is around the tile is never seen, and never written.
    x = np.full((rows + 2, columns + 3), np.nan, np.float32)
    x[:rows, :columns] = -rng.random(shape) - 1
    y, flat = np.full(rows + 3, 7, np.float32), np.full(rows * columns + 9, 7, np.float32)
    odd_rows(x, y, flat, R=rows, C=columns, _device=f"emu:{chip}")
    tile = x[:rows, :columns].astype(np.float64)
    check(y[:rows], tile.sum(axis=1) * tile.max(axis=1), 1e-6)
    assert (y[rows:] == 7).all()
    assert (flat[: tile.size] == tile.ravel()).all()
    assert (flat[tile.size :] == 7).all()


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("form", ["NN", "NT", "TN", "TT"])
def test_matmul_of_padded_tiles_in_every_order(chip: str, form: str, rng) -> None:
    m, n, k = 50, 90, 70
    a = rng.standard_normal((m, k) if form[0] == "N" else (k, m)).astype(np.float16)
    b = rng.standard_normal((k, n) if form[1] == "N" else (n, k)).astype(np.float16)
    a, b = (a if form[0] == "N" else a.T), (b if form[1] == "N" else b.T)
    c = np.full((m, n), np.nan, np.float32)
    matmul(a, b, c, BM=48, BN=40, BK=24, _device=f"emu:{chip}")
    check(c, a.astype(np.float64) @ b.astype(np.float64), 2e-6)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.float64])
def test_transpose_through_shared_memory(chip: str, dtype: type, rng) -> None:
    x = (rng.standard_normal((64, 96)) * 50).astype(dtype)
    y = np.zeros((96, 64), dtype)
    transposed(x, y, R=32, C=32, _device=f"emu:{chip}")
    assert (y == x.T).all()
